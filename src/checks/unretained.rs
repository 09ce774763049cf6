//! Check `unretained`, of hazard scenarios: dead letters that were published and are gone.
//! The broker's counts before an administrative fault and its log after it come in; letters that
//! are still there come out, or the names of those that are gone.
//! It must never show a hazard where it was not proven that the letters were ever published.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted, named};
use super::observed::final_cursors;
use super::{Check, Finding, FindingResult, Scope};
use crate::evidence::History;
use crate::evidence::event::{Event, FaultStage, ReadWhy, TopicCounts};
use crate::names::{EventSet, Grade, TopicRole};

/// Dead letters of these events must be gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnretainedSpec {
    /// The events that it is about.
    pub of: EventSet,
}

impl Check for UnretainedSpec {
    fn name(&self) -> &'static str {
        "unretained"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = format!("dead letters ({}) that were published and are gone", self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        let Some(done) = administered(history) else {
            return tally.unknown("no administrative action took effect");
        };
        let Some(kept) = kept_after(history, done) else {
            return tally.unknown("the dead letter topic was not read to its end afterwards");
        };
        let set = history.ids(self.of);
        for event in &set {
            tally.examined();
            if kept.contains(event.as_str()) {
                tally.broken_because(event, "still there");
            }
        }
        let published = counts_before(history, done);
        if kept.is_disjoint(&set.iter().map(String::as_str).collect()) {
            match published {
                None => tally.doubt("the broker's counts were not read before the action"),
                Some(counts) if !counts.subscriptions.is_empty() => {
                    tally.doubt(format!("subscribed to by {}", counts.subscriptions.join(", ")));
                }
                Some(counts) if counts.messages_in.unwrap_or(0) < set.len() as u64 => {
                    tally.doubt("the broker did not count one letter for each event");
                }
                Some(_) => {}
            }
            would_come_again(history, scope, &set, &mut tally);
        }
        let published = published.and_then(|counts| counts.messages_in);
        let published = published.map_or_else(|| String::from("?"), |number| number.to_string());
        let gone = set.iter().filter(|event| !kept.contains(event.as_str()));
        let mut finding = tally.decide(format!(
            "{published} published, {} kept; gone: {}",
            counted(kept.len() as u64, "event"),
            named(gone)
        ));
        if finding.result == FindingResult::Holds {
            finding.events = set;
        }
        finding
    }
}

/// Number of the record in which the first administrative action took effect.
fn administered(history: &History) -> Option<u64> {
    history.records().iter().find_map(|record| match &record.event {
        Event::Fault(step) => match step.stage {
            FaultStage::Administered { took_effect: true, .. } => Some(record.seq),
            _ => None,
        },
        _ => None,
    })
}

/// The last counts of the dead letter topic before that record.
fn counts_before(history: &History, done: u64) -> Option<&TopicCounts> {
    let before = history.records().iter().take_while(|record| record.seq < done);
    let counts = before.filter_map(|record| match &record.event {
        Event::TopicCounts(counts) if counts.topic == TopicRole::DeadLetter => Some(counts),
        _ => None,
    });
    counts.last()
}

/// Events with a letter in the last complete read after that record; `None` without such a read.
fn kept_after(history: &History, done: u64) -> Option<BTreeSet<&str>> {
    let mut complete = None;
    let mut reading = BTreeSet::new();
    for record in history.records().iter().filter(|record| record.seq > done) {
        match &record.event {
            Event::LogEntry(entry) if entry.topic == TopicRole::DeadLetter => {
                reading.extend(entry.event.as_deref());
            }
            Event::LogRead { topic: TopicRole::DeadLetter, .. } => {
                complete = Some(std::mem::take(&mut reading));
            }
            _ => {}
        }
    }
    complete
}

/// A letter is not gone for good while its source message would be handed out again.
fn would_come_again(history: &History, scope: &Scope, set: &BTreeSet<String>, tally: &mut Tally) {
    let Some(log) = history.log(TopicRole::Source, ReadWhy::Final) else { return };
    let cursors = final_cursors(history, &scope.destinations).unwrap_or_default();
    for entry in log {
        let Some(event) = entry.event.as_ref().filter(|event| set.contains(*event)) else {
            continue;
        };
        if cursors.values().any(|cursor| !cursor.acknowledges(&entry.position)) {
            tally.undecided(event, "its source message is not acknowledged, so it comes again");
        }
    }
}
