//! Check `dead_letters`: which letters are on the dead letter topic, how many copies, how faithful.
//! Reads of the dead letter topic come in; missing, extra, surplus and altered letters come out.
//! It must never take a letter for missing that may have been redriven and trimmed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted};
use super::observed::{entries, keeps_acknowledged, message};
use super::{Bound, Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{Event, LogEntry, PlannedEvent, ReadWhy};
use crate::names::{EventSet, Grade, Position, TopicRole};

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadLettersSpec {
    pub of: EventSet,
    /// Copies per event on the dead letter topic.
    pub copies: Bound,
    pub fidelity: Fidelity,
}

/// How like the original a dead letter must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// Only the event id.
    Id,
    /// The payload and every property of the producer, byte for byte; more properties may be there.
    PayloadAndProperties,
}

impl Check for DeadLettersSpec {
    fn name(&self) -> &'static str {
        "dead_letters"
    }

    fn examine(&self, history: &History, _scope: &Scope) -> Finding {
        let like = match self.fidelity {
            Fidelity::Id => "by id",
            Fidelity::PayloadAndProperties => "payload and properties as published",
        };
        let expected = format!(
            "{} dead letter(s) of each event ({}), no others, {like}",
            self.copies, self.of
        );
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        if history.log(TopicRole::DeadLetter, ReadWhy::Final).is_none() {
            return tally.unknown("the dead letter topic was not read to its end");
        }
        let letters = letters(history);
        let planned: BTreeMap<_, _> = history.planned().map(|p| (p.event.as_str(), p)).collect();
        let set = history.ids(self.of);
        let redriven = redriven(history);
        let keeps = keeps_acknowledged(history);
        for event in &set {
            let copies = letters.get(event.as_str()).map_or(0, BTreeMap::len) as u64;
            tally.examined();
            if copies == 0 && redriven.contains(event.as_str()) && !keeps {
                tally.undecided(event, "redriven, and what was acknowledged may be trimmed");
            } else if !self.admits(copies) {
                tally.broken_because(event, counted(copies, "letter"));
            }
        }
        for (event, copies) in &letters {
            if !set.contains(*event) {
                tally.broken_because(event, "a dead letter that should not be there");
            }
            for letter in copies.values() {
                if let Some(why) = self.altered(planned.get(event).copied(), letter) {
                    tally.broken_because(event, format!("at {}: {why}", letter.position));
                }
            }
        }
        let copies = letters.values().map(|copies| copies.len() as u64).sum();
        tally.decide(format!(
            "{} of {}",
            counted(copies, "letter"),
            counted(letters.len() as u64, "event")
        ))
    }
}

impl DeadLettersSpec {
    /// Distinct ids are exact, so an upper bound alone does not excuse a missing letter; only a
    /// bound of none does.
    fn admits(&self, copies: u64) -> bool {
        let none = !self.copies.admits(1) && !self.copies.needs_some();
        self.copies.admits(copies) && (copies > 0 || none)
    }

    fn altered(&self, planned: Option<&PlannedEvent>, letter: &LogEntry) -> Option<String> {
        let planned = planned.filter(|_| self.fidelity == Fidelity::PayloadAndProperties)?;
        if planned.payload_sha256 != letter.payload_sha256 {
            return Some(String::from("the payload is another one"));
        }
        planned.properties.iter().find_map(|(name, value)| match letter.properties.get(name) {
            None => Some(format!("property '{name}' is missing")),
            Some(other) if other != value => Some(format!("property '{name}' was changed")),
            Some(_) => None,
        })
    }
}

/// Letters of all reads by event id and position: one that a read has seen was there. A letter
/// without an id is named by its position.
fn letters(history: &History) -> BTreeMap<&str, BTreeMap<Position, &LogEntry>> {
    let mut letters: BTreeMap<&str, BTreeMap<Position, &LogEntry>> = BTreeMap::new();
    for entry in entries(history, TopicRole::DeadLetter) {
        let id = entry.event.as_deref().unwrap_or("a letter without an event id");
        // Several events may be in one entry, so the whole position keeps them apart.
        let position = match &entry.event {
            Some(_) => entry.position.clone(),
            None => message(&entry.position),
        };
        letters.entry(id).or_default().insert(position, entry);
    }
    letters
}

fn redriven(history: &History) -> BTreeSet<&str> {
    let rows = history.events().filter_map(|event| match event {
        Event::RedriveRow { event, .. } => Some(event.as_str()),
        _ => None,
    });
    rows.collect()
}
