//! What a dead letter carries beside its message: properties, and what each of them must say.
//! A letter and what its history knows of the origin come in; right, wrong or unknown comes out.
//! It must never call a value wrong that nothing outside of the letter can refute.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Scope;
use super::observed::{HandedOver, entries, handed_over, message, other_roles};
use crate::evidence::History;
use crate::evidence::event::{CallResult, Event, LogEntry, PlannedEvent, ReadWhy};
use crate::names::{CallOutcome, Grade, Operation, Place, Position, TopicRole};

/// What a property of a dead letter must equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Carried {
    /// The event's id.
    OriginalId,
    /// The source topic; `persistent://` and the number of a partition may stand around its name.
    SourceTopic,
    /// The message in the source topic: `topic/partition@offset`, `topic/ledger:entry[:batch]`, or
    /// as Pulsar clients write it, `ledger:entry:partition[:batch]`. An index in a batch and the
    /// partition of the latter are not compared.
    SourcePosition,
    /// The subscription or consumer group on the source topic.
    SourceSubscription,
    /// Attempts before the letter: no fewer than the failed handlings, no more than the
    /// handings-over that the workers claim, of one message of the event or of all together.
    Attempts,
    /// SHA-256 of the letter's payload as it was published, in lower-case hexadecimal.
    Fingerprint,
    /// Anything but nothing.
    Any,
    /// This text.
    Text(String),
}

/// What can be said about one property.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Right,
    Wrong(String),
    Unknown(String),
}

/// What a history knows of where letters come from.
pub(super) struct Origins<'a> {
    topics: BTreeSet<&'a str>,
    /// Messages of each event in the source topic.
    positions: BTreeMap<&'a str, BTreeSet<Position>>,
    /// Events that a read of the source topic has seen.
    read: BTreeSet<&'a str>,
    /// Their payloads there.
    payloads: BTreeSet<(&'a str, &'a str)>,
    subscriptions: BTreeSet<&'a str>,
    /// The broker listed them.
    listed: bool,
    handed: BTreeMap<&'a str, Vec<HandedOver<'a>>>,
    /// Failed handlings, and letters that were confirmed, with the numbers of their records.
    failed: Vec<(u64, &'a CallResult)>,
    written: Vec<(u64, &'a CallResult)>,
    /// A claim does not say for which of several destinations it is.
    one_destination: bool,
}

impl<'a> Origins<'a> {
    pub(super) fn of(history: &'a History, scope: &Scope) -> Self {
        let handed = handed_over(history);
        let read = entries(history, TopicRole::Source)
            .filter_map(|entry| Some((entry.event.as_deref()?, &entry.position)));
        let published =
            history.results(Operation::Publish).chain(history.results(Operation::Redrive));
        let published = published.filter(|result| result.outcome == CallOutcome::Ok);
        let published = published.filter_map(|r| Some((r.event.as_str(), r.position.as_ref()?)));
        let in_source: Vec<(&str, &Position)> = read.chain(published).collect();
        let topics: BTreeSet<&str> = in_source.iter().map(|(_, p)| p.topic.as_str()).collect();
        // What is handed over from a retry topic is not where the event comes from.
        let received = handed.iter().flat_map(|(event, handed)| {
            handed.iter().filter_map(move |one| Some((*event, one.at.position.as_ref()?)))
        });
        let received = received.filter(|(_, position)| topics.contains(position.topic.as_str()));
        let mut positions: BTreeMap<&str, BTreeSet<Position>> = BTreeMap::new();
        for (event, position) in in_source.iter().copied().chain(received) {
            positions.entry(event).or_default().insert(message(position));
        }
        let results = history.records().iter().filter_map(|record| match &record.event {
            Event::ClaimResult(result) => Some((record.seq, result)),
            _ => None,
        });
        let (written, others): (Vec<_>, Vec<_>) =
            results.partition(|(_, result)| result.operation == Operation::DeadLetter);
        let listed = listed(history);
        let payloads = entries(history, TopicRole::Source)
            .filter_map(|entry| Some((entry.event.as_deref()?, entry.payload_sha256.as_str())));
        Self {
            read: entries(history, TopicRole::Source).filter_map(|e| e.event.as_deref()).collect(),
            payloads: payloads.collect(),
            listed: !listed.is_empty(),
            subscriptions: if listed.is_empty() { stated(history) } else { listed },
            failed: others.into_iter().filter(|(_, result)| is_failed(result)).collect(),
            written,
            one_destination: scope.destinations.len() < 2,
            topics,
            positions,
            handed,
        }
    }

    /// Whether a property of the letter says what it must.
    pub(super) fn answer(
        &self,
        name: &str,
        must: &Carried,
        letter: &'a LogEntry,
        planned: &'a PlannedEvent,
    ) -> Answer {
        let Some(value) = letter.properties.get(name) else {
            return Answer::Wrong(format!("property '{name}' is missing"));
        };
        let shown: String = value.chars().take(80).collect();
        let equal = |right: bool, what: &str| match right {
            true => Answer::Right,
            false => Answer::Wrong(format!("property '{name}' is '{shown}', not {what}")),
        };
        let event = planned.event.as_str();
        match must {
            Carried::OriginalId => equal(value == event, "the event's id"),
            Carried::Fingerprint => {
                let right = self.fingerprint(letter, planned);
                equal(value == right, "the fingerprint of the payload")
            }
            Carried::Any => equal(!value.is_empty(), "anything"),
            Carried::Text(text) => equal(value == text, &format!("'{text}'")),
            Carried::SourceTopic if self.topics.is_empty() => {
                Answer::Unknown(String::from("nothing says what the source topic is called"))
            }
            Carried::SourceTopic => equal(self.is_source(value), "the source topic"),
            Carried::SourceSubscription if self.subscriptions.is_empty() => {
                Answer::Unknown(String::from("nothing says who subscribes to the source topic"))
            }
            Carried::SourceSubscription => {
                equal(self.subscriptions.contains(value.as_str()), "a subscription of the source")
            }
            Carried::SourcePosition => match self.positions.get(event) {
                None => Answer::Unknown(String::from("nothing says where the event came from")),
                Some(known) => {
                    equal(known.iter().any(|p| self.is_at(value, p)), "where the event came from")
                }
            },
            Carried::Attempts => self.attempts(name, value, letter, event),
        }
    }

    /// That of the letter itself where such a payload was published under the event's id (a
    /// conflict is), else that of the workload.
    fn fingerprint(&self, letter: &'a LogEntry, planned: &'a PlannedEvent) -> &'a str {
        match self.payloads.contains(&(planned.event.as_str(), letter.payload_sha256.as_str())) {
            true => &letter.payload_sha256,
            false => &planned.payload_sha256,
        }
    }

    /// What supports an answer.
    pub(super) fn grade(&self, must: &Carried, event: &str) -> Grade {
        let by_broker = match must {
            Carried::Attempts => false,
            Carried::SourcePosition => self.read.contains(event),
            Carried::SourceSubscription => self.listed,
            Carried::SourceTopic => !self.read.is_empty(),
            Carried::OriginalId | Carried::Fingerprint | Carried::Any | Carried::Text(_) => true,
        };
        if by_broker { Grade::Broker } else { Grade::Claimed }
    }

    fn is_source(&self, topic: &str) -> bool {
        self.topics.contains(topic) || self.topics.contains(bare(topic))
    }

    fn is_at(&self, value: &str, position: &Position) -> bool {
        if value.contains('/') {
            let stated = value.parse::<Position>().map(|stated| message(&stated));
            return stated.is_ok_and(|stated| {
                stated.place == position.place && bare(&stated.topic) == position.topic
            });
        }
        let numbers: Option<Vec<i64>> = value.split(':').map(|part| part.parse().ok()).collect();
        match (position.place, numbers.as_deref()) {
            (Place::Entry { ledger, entry, .. }, Some([of, at, _] | [of, at, _, _])) => {
                u64::try_from(*of) == Ok(ledger) && *at == entry
            }
            _ => false,
        }
    }

    fn attempts(&self, name: &str, value: &str, letter: &LogEntry, event: &str) -> Answer {
        let handed = self.handed.get(event).map(Vec::as_slice).unwrap_or_default();
        let Ok(stated) = value.parse::<u64>() else {
            let shown: String = value.chars().take(80).collect();
            return Answer::Wrong(format!("property '{name}' is '{shown}', not a number"));
        };
        if !self.one_destination || handed.is_empty() {
            return Answer::Unknown(String::from("no claim says how many attempts there were"));
        }
        let written = self.written.iter().find(|(_, result)| {
            result.outcome == CallOutcome::Ok && result.position.as_ref() == Some(&letter.position)
        });
        let until = written.map_or(u64::MAX, |(seq, _)| *seq);
        let counts = self.attempts_until(event, handed, until);
        if counts.iter().any(|(failed, received)| (*failed..=*received).contains(&stated)) {
            return Answer::Right;
        }
        let most = counts.iter().map(|(_, received)| *received).max().unwrap_or(0);
        if written.is_none() && (1..=most).contains(&stated) {
            return Answer::Unknown(String::from("nothing says when the letter was written"));
        }
        Answer::Wrong(format!("property '{name}' is {stated}, with {most} handings-over before it"))
    }

    /// Failed handlings (one at least) and handings-over before a record, of each message of the
    /// event, and of all of them together.
    fn attempts_until(
        &self,
        event: &str,
        handed: &[HandedOver<'_>],
        until: u64,
    ) -> Vec<(u64, u64)> {
        let mut by_message: BTreeMap<Option<&Position>, (u64, u64)> = BTreeMap::new();
        let mut all = (0, 0);
        let before = handed.iter().filter(|one| one.seq < until);
        for one in before {
            let failed = self.failed.iter().any(|(seq, result)| {
                *seq < until
                    && result.event == event
                    && result.process == one.at.process
                    && result.delivery == Some(one.at.delivery)
            });
            for counts in [by_message.entry(one.at.position.as_ref()).or_default(), &mut all] {
                *counts = (counts.0 + u64::from(failed), counts.1 + 1);
            }
        }
        by_message.into_values().chain([all]).map(|(f, received)| (f.max(1), received)).collect()
    }
}

/// A failure that counts as an attempt, by the worker protocol: one of the handler, not one of the
/// database behind it.
fn is_failed(result: &CallResult) -> bool {
    let by_handler = match result.outcome {
        CallOutcome::Conflict => true,
        CallOutcome::Error => {
            matches!(result.error.as_deref(), Some("poison" | "rejected" | "undecodable"))
        }
        _ => false,
    };
    result.operation == Operation::Effect && by_handler
}

/// Who reads the source topic, as the broker lists them.
fn listed(history: &History) -> BTreeSet<&str> {
    let counts = history.counts(TopicRole::Source, ReadWhy::Final);
    counts.into_iter().flat_map(|counts| &counts.subscriptions).map(String::as_str).collect()
}

/// The groups that consumers name, where no broker lists them by topic.
fn stated(history: &History) -> BTreeSet<&str> {
    let others = other_roles(history);
    let groups = history.events().filter_map(|event| match event {
        Event::ClaimOptions { process, effective } if !others.contains(process) => {
            effective.get("group.id").map(String::as_str)
        }
        _ => None,
    });
    groups.collect()
}

/// A topic's name without the scheme before it and the number of a partition after it.
fn bare(topic: &str) -> &str {
    let name = topic.strip_prefix("persistent://").unwrap_or(topic);
    match name.rsplit_once("-partition-") {
        Some((whole, number)) if number.parse::<u32>().is_ok() => whole,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_topic_has_neither_scheme_nor_partition() {
        assert_eq!(
            bare("persistent://public/default/orders-partition-12"),
            "public/default/orders"
        );
        assert_eq!(bare("orders"), "orders");
        assert_eq!(bare("orders-partition-"), "orders-partition-");
        assert_eq!(bare("orders-partition-x"), "orders-partition-x");
        assert_eq!(bare("a-partition-1-b"), "a-partition-1-b");
    }
}
