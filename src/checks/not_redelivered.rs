//! Check `not_redelivered`: what was acknowledged is not handed over again.
//! ACKs, as the worker reported or the broker showed them, and handings-over come in; events that
//! came again afterwards come out.
//! It must never take another message of the event (a redriven copy) for the acknowledged one.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::Tally;
use super::observed::{HandedOver, handed_over, message, other_roles, source_positions};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{CallResult, Event, ReadWhy};
use crate::names::{CallOutcome, EventSet, Grade, Operation, Position, TopicRole};

/// None of these events may come again after its ACK.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NotRedeliveredSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// From when on.
    pub since: Since,
}

/// From when on an event must not come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// The client's acknowledge call came back well.
    Reported,
    /// The runner saw at the broker that it was acknowledged.
    Visible,
}

impl Check for NotRedeliveredSpec {
    fn name(&self) -> &'static str {
        "not_redelivered"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let since = match self.since {
            Since::Reported => "its ACK was reported",
            Since::Visible => "the broker showed its ACK",
        };
        let expected = format!("no event ({}) handed over after {since}", self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        if scope.destinations.len() > 1 {
            return tally.unknown("a claim does not say for which of several destinations it is");
        }
        let handed = handed_over(history);
        let acks = match self.since {
            Since::Reported => reported(history, &handed),
            Since::Visible => visible(history, scope),
        };
        // That nothing came again is the workers' word, unless the broker sent out no more.
        let claimed: usize = handed.values().map(Vec::len).sum();
        let sent = history.counts(TopicRole::Source, ReadWhy::Final).and_then(|c| c.messages_out);
        if self.since == Since::Reported || sent != Some(claimed as u64) {
            tally.rests_on(Grade::Claimed);
        }
        let positions = source_positions(history);
        let mut came_again = 0;
        for event in history.ids(self.of) {
            let messages = positions.get(&event).map_or(0, BTreeSet::len);
            let handed = handed.get(event.as_str()).map(Vec::as_slice).unwrap_or_default();
            for ack in acks.get(&event).into_iter().flatten() {
                tally.examined();
                for later in handed.iter().filter(|later| later.seq > ack.seq) {
                    match ack.is_of(later, messages) {
                        Some(true) => {
                            came_again += 1;
                            tally.broken_because(&event, format!("again to {}", later.at.process));
                        }
                        Some(false) => {}
                        None => tally.undecided(&event, "came again, perhaps as another message"),
                    }
                }
            }
        }
        tally.decide(format!("{came_again} of {claimed} handings-over after an ACK"))
    }
}

/// The first ACK of one message of an event.
struct Acked {
    /// Number of the record that shows it.
    seq: u64,
    /// The message, if it is known.
    position: Option<Position>,
}

impl Acked {
    /// Whether this is the message that was handed over. Without a position it is the same one only
    /// where no two `messages` of the event are known.
    fn is_of(&self, handed: &HandedOver<'_>, messages: usize) -> Option<bool> {
        match (&self.position, handed.at.position.as_ref().map(message)) {
            (Some(acked), Some(handed)) => Some(*acked == handed),
            _ => (messages < 2).then_some(true),
        }
    }
}

/// First ACKs by event, from records in their order.
#[derive(Default)]
struct Acks(BTreeMap<String, Vec<Acked>>);

impl Acks {
    fn add(&mut self, event: &str, seq: u64, position: Option<Position>) {
        let of = self.0.entry(event.to_owned()).or_default();
        if of.iter().all(|known| known.position != position) {
            of.push(Acked { seq, position });
        }
    }
}

fn reported(
    history: &History,
    handed: &BTreeMap<&str, Vec<HandedOver<'_>>>,
) -> BTreeMap<String, Vec<Acked>> {
    let others = other_roles(history);
    let mut acks = Acks::default();
    for record in history.records() {
        let Event::ClaimResult(result) = &record.event else { continue };
        let is_ack = result.operation == Operation::Ack && result.outcome == CallOutcome::Ok;
        if !is_ack || others.contains(&result.process) {
            continue;
        }
        let mut of = handed.get(result.event.as_str()).into_iter().flatten();
        // The handing-over that it belongs to says which message it was.
        let its_own = of.rfind(|one| one.seq < record.seq && belongs(result, one));
        let position = its_own.and_then(|one| one.at.position.as_ref()).map(message);
        acks.add(&result.event, record.seq, position);
    }
    acks.0
}

fn belongs(result: &CallResult, handed: &HandedOver<'_>) -> bool {
    handed.at.process == result.process
        && result.delivery.is_none_or(|delivery| delivery == handed.at.delivery)
}

/// Looks of the runner at the broker while the story went on.
fn visible(history: &History, scope: &Scope) -> BTreeMap<String, Vec<Acked>> {
    let positions = source_positions(history);
    let mut acks = Acks::default();
    for record in history.records() {
        match &record.event {
            Event::Probe(probe)
                if probe.acked == Some(true) && scope.destinations.contains(&probe.destination) =>
            {
                let position = probe.position.as_ref().map(message);
                acks.add(&probe.event, record.seq, position);
            }
            Event::Stands { topic: TopicRole::Source, destination, why, cursor }
                if *why == ReadWhy::During && scope.destinations.contains(destination) =>
            {
                for (event, positions) in &positions {
                    for position in positions.iter().filter(|p| cursor.acknowledges(p)) {
                        acks.add(event, record.seq, Some(position.clone()));
                    }
                }
            }
            _ => {}
        }
    }
    acks.0
}
