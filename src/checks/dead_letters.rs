//! Check `dead_letters`: which letters are on the dead letter topic, how many copies, how faithful.
//! Reads of the dead letter topic come in; missing, extra, surplus and altered letters come out.
//! It must never take a letter for missing that may have been redriven and trimmed.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::carried::{Answer, Carried, Origins};
use super::finding::{Tally, counted, named};
use super::observed::{entries, keeps_acknowledged, message};
use super::{Bound, Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{Event, LogEntry, PlannedEvent, ReadWhy};
use crate::names::{EventSet, Grade, Position, TopicRole};

/// Dead letters of some events, as they can be read from the dead letter topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLettersSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// Copies per event on the dead letter topic.
    pub copies: Bound,
    /// How like the original each of them must be.
    pub fidelity: Fidelity,
    /// Properties that each letter must carry, by name, and what they must equal.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub carries: BTreeMap<String, Carried>,
}

/// How like the original a dead letter must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let mut tally = Tally::new(self.name(), self.expected(), Grade::Broker);
        let Some(kept) = history.log(TopicRole::DeadLetter, ReadWhy::Final) else {
            return tally.unknown("the dead letter topic was not read to its end");
        };
        let kept: BTreeSet<String> =
            kept.iter().filter_map(|letter| letter.event.clone()).collect();
        let letters = letters(history);
        let planned: BTreeMap<_, _> = history.planned().map(|p| (p.event.as_str(), p)).collect();
        let set = history.ids(self.of);
        let redriven = redriven(history);
        let origins = Origins::of(history, scope);
        let keeps = keeps_acknowledged(history);
        for event in &set {
            let copies = letters.get(event.as_str()).map_or(0, BTreeMap::len) as u64;
            tally.examined();
            if copies == 0 && redriven.contains(event.as_str()) && !keeps {
                tally.undecided(event, "redriven, and what was acknowledged may be trimmed");
            } else if !self.admits(copies) {
                tally.broken_because(event, counted(copies, "letter"));
            } else if copies > 0 && !kept.contains(event) && !redriven.contains(event.as_str()) {
                tally.broken_because(event, "it was there, nobody redrove it, and it is gone");
            }
        }
        for (event, copies) in &letters {
            if !set.contains(*event) {
                tally.broken_because(event, "a dead letter that should not be there");
            }
            let Some(planned) = planned.get(event).copied() else { continue };
            for letter in copies.values() {
                if let Some(why) = self.altered(planned, letter) {
                    tally.broken_because(event, format!("at {}: {why}", letter.position));
                }
                self.carried(&origins, planned, letter, &mut tally);
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

    fn expected(&self) -> String {
        let like = match self.fidelity {
            Fidelity::Id => "by id",
            Fidelity::PayloadAndProperties => "payload and properties as published",
        };
        let letters =
            format!("{} dead letter(s) of each event ({}), no others", self.copies, self.of);
        match self.carries.is_empty() {
            true => format!("{letters}, {like}"),
            false => format!("{letters}, {like}, carrying {}", named(self.carries.keys())),
        }
    }

    fn carried<'a>(
        &self,
        origins: &Origins<'a>,
        planned: &'a PlannedEvent,
        letter: &'a LogEntry,
        tally: &mut Tally,
    ) {
        for (name, must) in &self.carries {
            let answer = origins.answer(name, must, letter, planned);
            if !matches!(answer, Answer::Unknown(_)) {
                tally.rests_on(origins.grade(must, &planned.event));
            }
            match answer {
                Answer::Right => {}
                Answer::Wrong(why) => {
                    tally.broken_because(&planned.event, format!("at {}: {why}", letter.position));
                }
                Answer::Unknown(why) => {
                    tally.undecided(&planned.event, format!("property '{name}': {why}"));
                }
            }
        }
    }

    fn altered(&self, planned: &PlannedEvent, letter: &LogEntry) -> Option<String> {
        if self.fidelity != Fidelity::PayloadAndProperties {
            return None;
        }
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
