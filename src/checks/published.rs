//! Rule `published`, always on: what the broker confirmed to a producer can be read.
//! Confirmations and the complete log of the source topic come in; confirmed and missing come out.
//! It must never count an unconfirmed publication, nor a message that was acknowledged and trimmed.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Tally, counted};
use super::observed::{entries, final_cursors, keeps_acknowledged, message};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::cursor::Cursor;
use crate::evidence::event::ReadWhy;
use crate::names::{Grade, Position, TopicRole};

/// The rule; it has nothing to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published;

impl Check for Published {
    fn name(&self) -> &'static str {
        "published"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = String::from("every confirmed message is readable, or acknowledged by all");
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        if history.log(TopicRole::Source, ReadWhy::Final).is_none() {
            return tally.unknown("the source topic was not read to its end");
        }
        let read: Vec<_> = entries(history, TopicRole::Source).collect();
        let ids: BTreeSet<_> = read.iter().filter_map(|entry| entry.event.as_deref()).collect();
        let at: BTreeSet<_> =
            read.iter().map(|entry| (entry.event.as_deref(), message(&entry.position))).collect();
        let keeps = keeps_acknowledged(history);
        let cursors = final_cursors(history, &scope.destinations);
        let mut trimmed = 0;
        for (event, positions) in history.confirmed() {
            if positions.is_empty() {
                tally.examined();
                match ids.contains(event.as_str()) {
                    true => tally.rests_on(Grade::Broker),
                    false if keeps => tally.broken_because(&event, "confirmed, and not readable"),
                    false => tally.undecided(&event, "confirmed, but nothing says where"),
                }
            }
            for position in positions.iter().map(message) {
                tally.examined();
                // Pulsar with retention 0 drops what everybody has acknowledged, and may.
                if at.contains(&(Some(event.as_str()), position.clone())) {
                    continue;
                }
                let gone = format!("confirmed at {position}, and not readable there");
                match &cursors {
                    Err(why) if !keeps => tally.undecided(&event, format!("{gone}; {why}")),
                    Ok(all) if !keeps && acknowledged_by_all(all, &position) => trimmed += 1,
                    _ => tally.broken_because(&event, gone),
                }
            }
        }
        let read = format!("{} in the log", counted(read.len() as u64, "message"));
        tally.decide(match trimmed {
            0 => read,
            _ => format!("{read}; {trimmed} acknowledged by all and trimmed, which is legal"),
        })
    }
}

fn acknowledged_by_all(cursors: &BTreeMap<&str, &Cursor>, position: &Position) -> bool {
    !cursors.is_empty() && cursors.values().all(|cursor| cursor.acknowledges(position))
}
