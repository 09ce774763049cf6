//! Check `not_advanced`: the cursor stays behind these events while a fault stands.
//! Readings of the cursor between a fault's proof and its healing come in; events that it passed
//! come out.
//! It must never hold on a reading that was taken before a handler had the events at all.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted};
use super::observed::{is_consumer, source_positions};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::cursor::Cursor;
use crate::evidence::event::{Event, FaultStage, ReadWhy};
use crate::names::{EventSet, Grade, ID_PATTERN, Point, TopicRole};

/// The cursor must stay behind these events while a fault stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotAdvancedSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// Id of the fault that stands meanwhile.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub during: String,
}

impl Check for NotAdvancedSpec {
    fn name(&self) -> &'static str {
        "not_advanced"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected =
            format!("no cursor passes an event ({}) while {} stands", self.of, self.during);
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        let Some((from, to)) = self.window(history) else {
            return tally.unknown(format!("{} was not seen to stand", self.during));
        };
        let set = history.ids(self.of);
        let handed_over = history.records().iter().find_map(|record| match &record.event {
            Event::ClaimAt(at) if at.point == Point::Received && set.contains(&at.event) => {
                is_consumer(history, &at.process).then_some(record.seq)
            }
            _ => None,
        });
        let readings: Vec<(u64, &str, &Cursor)> =
            readings(history, scope).filter(|(seq, _, _)| from < *seq && *seq < to).collect();
        let told = |seq: u64| handed_over.is_some_and(|handed_over| handed_over < seq);
        if !readings.iter().any(|(seq, _, _)| told(*seq)) {
            return tally.unknown("no reading of the cursor after a handler had one of the events");
        }
        let positions = source_positions(history);
        for event in &set {
            let Some(positions) = positions.get(event).filter(|positions| !positions.is_empty())
            else {
                tally.undecided(event, "nothing says where it is in the source topic");
                continue;
            };
            for (_, destination, cursor) in &readings {
                tally.examined();
                if positions.iter().any(|position| cursor.acknowledges(position)) {
                    tally.broken_because(event, format!("{destination} has passed it"));
                }
            }
        }
        tally.decide(counted(readings.len() as u64, "reading"))
    }
}

impl NotAdvancedSpec {
    /// From the proof that the piece is absent to its healing, or to the end.
    fn window(&self, history: &History) -> Option<(u64, u64)> {
        let mut from = None;
        for record in history.records() {
            let Event::Fault(step) = &record.event else { continue };
            match (step.fault == self.during, &step.stage, from) {
                (true, FaultStage::Withheld { absent: true, .. }, None) => from = Some(record.seq),
                (true, FaultStage::Healed { .. }, Some(from)) => return Some((from, record.seq)),
                _ => {}
            }
        }
        from.map(|from| (from, u64::MAX))
    }
}

fn readings<'a>(
    history: &'a History,
    scope: &'a Scope,
) -> impl Iterator<Item = (u64, &'a str, &'a Cursor)> {
    history.records().iter().filter_map(|record| match &record.event {
        Event::Stands { topic: TopicRole::Source, destination, why: ReadWhy::During, cursor }
            if scope.destinations.contains(destination) =>
        {
            Some((record.seq, destination.as_str(), cursor))
        }
        _ => None,
    })
}
