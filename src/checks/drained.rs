//! Check `drained`: nothing is left to deliver.
//! The final log of the source topic and each destination's position come in; events that are not
//! acknowledged come out.
//! It must never take an estimate of a backlog for a backlog of none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted, named};
use super::observed::{final_cursors, final_reads_done, message, source_positions};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::ReadWhy;
use crate::names::{Grade, TopicRole};

/// Nothing may be left to acknowledge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrainedSpec {}

impl Check for DrainedSpec {
    fn name(&self) -> &'static str {
        "drained"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = String::from("every message is acknowledged for every destination");
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        if !final_reads_done(history) {
            return tally.unknown("the final reads were not done");
        }
        let Some(log) = history.log(TopicRole::Source, ReadWhy::Final) else {
            return tally.unknown("the source topic was not read to its end");
        };
        let cursors = match final_cursors(history, &scope.destinations) {
            Ok(cursors) => cursors,
            Err(why) => return tally.unknown(why),
        };
        let mut positions = source_positions(history);
        for entry in log.iter().filter(|entry| entry.event.is_none()) {
            // A message without an event id is named by its position: it can be left over as well.
            let position = message(&entry.position);
            positions.entry(position.to_string()).or_default().insert(position);
        }
        let mut left = Vec::new();
        for (event, positions) in &positions {
            if positions.is_empty() {
                tally.undecided(event, "confirmed, but nothing says where");
            }
            for (destination, cursor) in &cursors {
                for position in positions {
                    tally.examined();
                    if !cursor.acknowledges(position) {
                        tally.broken_because(event, format!("{position} is left ({destination})"));
                        left.push(event.clone());
                    }
                }
            }
        }
        let messages = counted(positions.values().map(|p| p.len() as u64).sum(), "message");
        match left.is_empty() {
            true => tally.decide(format!("{messages}, none left")),
            false => tally.decide(format!("{messages}, left: {}", named(&left))),
        }
    }
}
