//! What a client showed in one unit: the facts by which clients differ, none of them a verdict.
//! A history comes in; deliveries, counts, gaps, dead letters and errors come out as short texts.
//! It must never say that one of two clients is right: checks and declared deviations do that.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::checks::observed::{HandedOver, entries, handed_over, other_roles};
use crate::evidence::History;
use crate::evidence::event::{Event, PlannedEvent};
use crate::names::{CallOutcome, TopicRole, wire_name};

/// Characters of an error that are kept: what follows is addresses and stack traces.
const ERROR: usize = 160;
/// Different errors of one unit that are kept.
const ERRORS: usize = 8;

/// By event.
type HandedOvers<'a> = BTreeMap<&'a str, Vec<HandedOver<'a>>>;

/// Facts of one unit; a text is empty where there was nothing of its kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Shown {
    /// `19 × 1, 1 × 2`: events by the number of their handings-over, as workers claim them.
    pub deliveries: String,
    /// Counts that the client gave the handler, in the order of their values.
    pub redelivery_counts: String,
    /// Milliseconds from the first to the second handing-over of an event, the least and the most.
    pub first_gap_ms: String,
    /// Letters in the dead letter topic, in whichever read there were most.
    pub dead_letters: String,
    /// Properties of letters beside those of the producer.
    pub letter_properties_added: String,
    /// Properties of the producer that letters lack or have otherwise.
    pub letter_properties_lost: String,
    /// What calls of client and database gave that were not `ok`, without repetitions.
    pub errors: Vec<String>,
}

impl Shown {
    /// The facts of a history.
    pub fn of(history: &History) -> Self {
        let handed = handed_over(history);
        let letters: Vec<_> = entries(history, TopicRole::DeadLetter).collect();
        let planned: BTreeMap<&str, &PlannedEvent> =
            history.planned().map(|planned| (planned.event.as_str(), planned)).collect();
        let (mut added, mut lost) = (BTreeSet::new(), BTreeSet::new());
        let mut positions = BTreeSet::new();
        for letter in &letters {
            positions.insert(&letter.position);
            let own = letter.event.as_deref().and_then(|event| planned.get(event));
            let Some(own) = own else { continue };
            let is_new = |name: &&String| !own.properties.contains_key(*name);
            added.extend(letter.properties.keys().filter(is_new).cloned());
            let is_other =
                |(name, value): &(&String, &String)| letter.properties.get(*name) != Some(*value);
            lost.extend(own.properties.iter().filter(is_other).map(|(name, _)| name.clone()));
        }
        Self {
            deliveries: histogram(&handed),
            redelivery_counts: redelivery_counts(&handed),
            first_gap_ms: first_gap(&handed),
            dead_letters: match positions.len() {
                0 => String::new(),
                number => number.to_string(),
            },
            letter_properties_added: joined(added),
            letter_properties_lost: joined(lost),
            errors: errors(history),
        }
    }

    /// The texts by the names that reports give them.
    pub fn texts(&self) -> [(&'static str, String); 7] {
        [
            ("deliveries", self.deliveries.clone()),
            ("redelivery counts", self.redelivery_counts.clone()),
            ("first gap, ms", self.first_gap_ms.clone()),
            ("dead letters", self.dead_letters.clone()),
            ("letters: added", self.letter_properties_added.clone()),
            ("letters: lost", self.letter_properties_lost.clone()),
            ("errors", self.errors.join("; ")),
        ]
    }
}

fn histogram(handed: &HandedOvers) -> String {
    let mut events: BTreeMap<usize, usize> = BTreeMap::new();
    for times in handed.values() {
        *events.entry(times.len()).or_default() += 1;
    }
    let part = |(times, events): (usize, usize)| format!("{events} × {times}");
    events.into_iter().map(part).collect::<Vec<_>>().join(", ")
}

fn redelivery_counts(handed: &HandedOvers) -> String {
    let counts = handed.values().flatten().filter_map(|one| one.at.redelivery_count);
    let counts: BTreeSet<u32> = counts.collect();
    joined(counts.iter().map(ToString::to_string))
}

fn first_gap(handed: &HandedOvers) -> String {
    let gap = |times: &Vec<HandedOver>| Some((times.get(1)?.at_us - times.first()?.at_us) / 1000);
    let gaps: Vec<u64> = handed.values().filter_map(gap).collect();
    match (gaps.iter().min(), gaps.iter().max()) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least}–{most}"),
        _ => String::new(),
    }
}

fn errors(history: &History) -> Vec<String> {
    let others = other_roles(history);
    let mut errors = BTreeSet::new();
    for event in history.events() {
        let Event::ClaimResult(result) = event else { continue };
        if result.outcome == CallOutcome::Ok || others.contains(&result.process) {
            continue;
        }
        let words: String = result.error.iter().flat_map(|e| e.chars()).take(ERROR).collect();
        let (operation, outcome) = (wire_name(&result.operation), wire_name(&result.outcome));
        errors.insert(format!("{operation} {outcome}: {words}").trim_end_matches(": ").to_owned());
    }
    errors.into_iter().take(ERRORS).collect()
}

fn joined(words: impl IntoIterator<Item = String>) -> String {
    words.into_iter().collect::<Vec<_>>().join(", ")
}
