//! Claims of consumers against what everybody can know: the workload, the broker's log, themselves.
//! A unit of the plan and its history come in; each worker that contradicts them comes out.
//! It must never ask for more than was read: where a broker has trimmed its log, nothing is said.

use std::collections::{BTreeMap, BTreeSet};

use super::validity::Problem;
use crate::checks::observed::{
    entries, keeps_acknowledged, message, other_roles, source_positions,
};
use crate::evidence::History;
use crate::evidence::event::{At, CallResult, Event, Process, ReadWhy};
use crate::names::{CallOutcome, Cause, Operation, Point, Position, TopicRole};
use crate::plan::Unit;
use crate::suite::workload::{Again, AgainPayload};

/// The first contradiction of each process.
pub(super) fn contradicted(unit: &Unit, history: &History) -> Vec<Problem> {
    let known = Known::of(unit, history);
    let others = other_roles(history);
    let mut received: BTreeSet<(&Process, &str, u32)> = BTreeSet::new();
    let mut wrong: BTreeMap<&Process, String> = BTreeMap::new();
    for event in history.events() {
        let (process, why) = match event {
            Event::ClaimAt(at) => {
                if at.point == Point::Received {
                    received.insert((&at.process, &at.event, at.delivery));
                }
                (&at.process, known.contradicts(at))
            }
            Event::ClaimResult(result) => {
                let is_known = |delivery| {
                    received.contains(&(&result.process, result.event.as_str(), delivery))
                };
                let is_unheard = of_a_handling(result) && !result.delivery.is_none_or(is_known);
                let why = || {
                    let (event, delivery) = (&result.event, result.delivery.unwrap_or_default());
                    format!("a result of delivery {delivery} of {event}, which it never received")
                };
                (&result.process, is_unheard.then(why))
            }
            _ => continue,
        };
        if let Some(why) = why.filter(|_| !others.contains(process)) {
            wrong.entry(process).or_insert(why);
        }
    }
    let problem = |(process, why): (&Process, String)| {
        Problem::new(Cause::RunnerError, format!("{process} claims what cannot be: {why}"))
    };
    wrong.into_iter().map(problem).collect()
}

fn of_a_handling(result: &CallResult) -> bool {
    use Operation::{Ack, DeadLetter, Effect, Nack};
    matches!(result.operation, Effect | Ack | Nack | DeadLetter)
}

/// What is known of the messages in the source topic without any consumer.
struct Known<'a> {
    /// Contents that each event may have.
    payloads: BTreeMap<&'a str, BTreeSet<&'a str>>,
    /// The event of each message that was read.
    events: BTreeMap<Position, &'a str>,
    /// Where each event stands, of those whose places are all known.
    positions: BTreeMap<String, BTreeSet<Position>>,
}

impl<'a> Known<'a> {
    fn of(unit: &Unit, history: &'a History) -> Self {
        let mut payloads: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (ordinal, planned) in (1_u32..).zip(history.planned()) {
            let has_other =
                |again: &Again| again.event == ordinal && again.payload == AgainPayload::Other;
            // Its other contents may have been trimmed before anybody read them.
            if !unit.workload.again.iter().any(has_other) {
                payloads.entry(&planned.event).or_default().insert(&planned.payload_sha256);
            }
        }
        let mut events = BTreeMap::new();
        for entry in entries(history, TopicRole::Source) {
            let Some(event) = entry.event.as_deref() else { continue };
            // Several messages of one batch have one position.
            if message(&entry.position) == entry.position {
                events.insert(entry.position.clone(), event);
            }
            if let Some(known) = payloads.get_mut(event) {
                known.insert(&entry.payload_sha256);
            }
        }
        Self { payloads, events, positions: positions(history) }
    }

    fn contradicts(&self, at: &At) -> Option<String> {
        let event = &at.event;
        let payloads = self.payloads.get(event.as_str());
        if let (Some(fingerprint), Some(known)) = (&at.fingerprint, payloads)
            && !known.contains(fingerprint.as_str())
        {
            return Some(format!("{event} with contents that nobody published ({fingerprint})"));
        }
        let position = at.position.as_ref()?;
        let other = self.events.get(position).filter(|other| **other != event.as_str());
        if let Some(other) = other {
            return Some(format!("{event} at {position}, where the broker has {other}"));
        }
        let known = self.positions.get(event)?;
        let is_elsewhere = !known.contains(&message(position));
        is_elsewhere.then(|| format!("{event} at {position}, where the broker has no such message"))
    }
}

/// Where events stand, if the broker keeps all messages and they were read to the end.
fn positions(history: &History) -> BTreeMap<String, BTreeSet<Position>> {
    if !keeps_acknowledged(history) || history.log(TopicRole::Source, ReadWhy::Final).is_none() {
        return BTreeMap::new();
    }
    let mut positions = source_positions(history);
    for operation in [Operation::Publish, Operation::Redrive] {
        for result in history.results(operation) {
            match (&result.position, result.outcome) {
                (Some(position), CallOutcome::Ok) => {
                    let known = positions.entry(result.event.clone()).or_default();
                    known.insert(message(position));
                }
                // It may stand anywhere, or may have stood there.
                _ => drop(positions.remove(&result.event)),
            }
        }
    }
    positions
}
