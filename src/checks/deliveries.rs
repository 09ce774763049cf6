//! Check `deliveries`: handings-over of each event to a handler, over all incarnations.
//! Workers' claims come in, with what ledger and broker show beside them; events outside come out.
//! It must never hold an `at least` on claims alone: a worker could say so without any redelivery.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::Tally;
use super::observed::{Publication, changes, is_consumer, message, publications, source_positions};
use super::{Bound, Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{Event, FaultStage, Probe, ProbeWhen, Process, ReadWhy};
use crate::names::{CallOutcome, EventSet, Grade, Operation, Point, TopicRole};

/// Handings-over of each event to a handler.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveriesSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// How many of them each event may have.
    pub count: Bound,
}

impl Check for DeliveriesSpec {
    fn name(&self) -> &'static str {
        "deliveries"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = format!("{} handing(s)-over of each event ({})", self.count, self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        if scope.destinations.len() > 1 {
            return tally.unknown("a claim does not say for which of several destinations it is");
        }
        let claims = claims(history);
        let total: u64 = claims.values().sum();
        // The broker's own count of what it sent out; equal to the claims, it supports all of them.
        let counted = history
            .counts(TopicRole::Source, ReadWhy::Final)
            .and_then(|counts| counts.messages_out)
            .filter(|sent| *sent == total);
        let publications = publications(history);
        let (mut seen, mut grades) = (BTreeMap::<u64, u64>::new(), BTreeMap::<Grade, u64>::new());
        for event in history.ids(self.of) {
            if publications.get(&event) == Some(&Publication::Unknown) && self.count.needs_some() {
                continue;
            }
            let claimed = claims.get(&event).copied().unwrap_or(0);
            let support = match counted {
                Some(_) => Support { number: claimed, grade: Grade::Broker },
                None => self.support(history, scope, &event),
            };
            let number = claimed.max(support.number);
            tally.examined();
            *seen.entry(number).or_default() += 1;
            let unsupported = matches!(self.count, Bound::AtLeast(n) if support.number < n);
            if !self.count.admits(number) {
                tally.broken_because(&event, number);
                tally.rests_on(Grade::Claimed);
            } else if unsupported {
                let shown = support.number;
                tally.undecided(&event, format!("{claimed} claimed, {shown} shown from outside"));
                tally.rests_on(Grade::Claimed);
            } else {
                tally.rests_on(support.grade);
                *grades.entry(support.grade).or_default() += 1;
            }
        }
        tally.decide(summary(&seen, &grades))
    }
}

impl DeliveriesSpec {
    /// More handings-over than were claimed break an upper bound as well; that there were not more
    /// of them is never more than a claim.
    fn support(&self, history: &History, scope: &Scope, event: &str) -> Support {
        let shown = supported(history, scope, event);
        match self.count {
            Bound::AtLeast(_) => shown,
            Bound::Exactly(_) | Bound::AtMost(_) => Support { grade: Grade::Claimed, ..shown },
        }
    }
}

/// Claims of consumers that they received the event; a redriver receives letters, not events.
pub(super) fn claims(history: &History) -> BTreeMap<String, u64> {
    let mut claims = BTreeMap::new();
    for at in history.claims_at(Point::Received) {
        if is_consumer(history, &at.process) {
            *claims.entry(at.event.clone()).or_default() += 1;
        }
    }
    claims
}

/// How many handings-over something else than a claim shows, and what shows them.
struct Support {
    number: u64,
    grade: Grade,
}

fn supported(history: &History, scope: &Scope, event: &str) -> Support {
    [by_ledger(history, event), by_broker(history, scope, event), by_log(history, scope, event)]
        .into_iter()
        .max_by_key(|support| (support.number, support.grade))
        .unwrap_or(Support { number: 0, grade: Grade::Claimed })
}

/// Processes whose transactions on this event the database saw: each had it in its hands.
fn by_ledger(history: &History, event: &str) -> Support {
    let mut seen: BTreeSet<String> = changes(history)
        .into_iter()
        .filter(|((id, _), _)| id == event)
        .flat_map(|(_, changes)| changes.applications)
        .collect();
    for record in history.events() {
        if let Event::Blocked { event: id, waiter, blocker } = record
            && id == event
        {
            seen.extend([waiter.to_string(), blocker.to_string()]);
        }
    }
    Support { number: seen.len() as u64, grade: Grade::Ledger }
}

/// Publications of the event that every destination has acknowledged: each was handed over once at
/// least (an event that was redriven, or published twice, has several).
fn by_log(history: &History, scope: &Scope, event: &str) -> Support {
    let positions = source_positions(history);
    let acknowledged = positions.get(event).into_iter().flatten().filter(|position| {
        scope.destinations.iter().all(|destination| {
            let cursor = history.cursor(TopicRole::Source, destination, ReadWhy::Final);
            cursor.is_some_and(|cursor| cursor.acknowledges(position))
        })
    });
    // One publication may stand there as several messages: that is how clients send chunks.
    let published = [Operation::Publish, Operation::Redrive]
        .into_iter()
        .flat_map(|operation| history.results(operation))
        .filter(|result| result.event == event && result.outcome != CallOutcome::Error)
        .count()
        .max(1);
    Support { number: acknowledged.count().min(published) as u64, grade: Grade::Broker }
}

/// The broker showed the message as not acknowledged while a process held it. Where that process
/// then died and the message is acknowledged after all, somebody else was handed it; without the
/// acknowledgement, another process's later claim says so, and is graded as one.
fn by_broker(history: &History, scope: &Scope, event: &str) -> Support {
    let holders = open_holders(history, event);
    let dead = holders.iter().filter(|holder| holder.died).count() as u64;
    let acknowledged = scope.destinations.iter().any(|destination| {
        let cursor = history.cursor(TopicRole::Source, destination, ReadWhy::Final);
        let acked = |probe: &Probe| {
            let position = probe.position.as_ref().map(message);
            position.is_some_and(|position| cursor.is_some_and(|c| c.acknowledges(&position)))
        };
        holders.iter().any(|holder| acked(holder.probe))
    });
    if dead > 0 && acknowledged {
        return Support { number: dead + 1, grade: Grade::Broker };
    }
    let later = holders.iter().any(|holder| received_later(history, holder, event));
    let number = holders.len() as u64 + u64::from(later);
    Support { number, grade: Grade::Claimed }
}

/// A consumer that held an unacknowledged message when the runner looked.
struct Holder<'a> {
    process: &'a Process,
    probe: &'a Probe,
    /// Number of the record of that look.
    seq: u64,
    /// It was killed, and the message was still unacknowledged afterwards.
    died: bool,
}

fn open_holders<'a>(history: &'a History, event: &str) -> Vec<Holder<'a>> {
    let mut holders = Vec::new();
    for record in history.records() {
        let Event::Probe(probe) = &record.event else { continue };
        let looked = probe.when == ProbeWhen::Before && probe.event == event;
        if !looked || probe.acked != Some(false) {
            continue;
        }
        let steps = || history.fault_steps(&probe.fault).map(|(_, stage)| stage);
        let process = steps().find_map(|stage| match stage {
            FaultStage::Triggered { process, event: Some(id), .. } if id == event => {
                process.as_ref()
            }
            _ => None,
        });
        let Some(process) = process.filter(|process| is_consumer(history, process)) else {
            continue;
        };
        let killed = steps().any(
            |stage| matches!(stage, FaultStage::Killed { process: dead, .. } if dead == process),
        );
        let still_open = history.events().any(|other| {
            matches!(other, Event::Probe(after) if after.fault == probe.fault
                && after.when == ProbeWhen::After
                && after.event == event
                && after.acked == Some(false))
        });
        let seq = record.seq;
        holders.push(Holder { process, probe, seq, died: killed && still_open });
    }
    holders
}

fn received_later(history: &History, holder: &Holder<'_>, event: &str) -> bool {
    history.records().iter().any(|record| {
        record.seq > holder.seq
            && matches!(&record.event, Event::ClaimAt(at) if at.point == Point::Received
                && at.event == event
                && at.process != *holder.process
                && is_consumer(history, &at.process))
    })
}

fn summary(seen: &BTreeMap<u64, u64>, grades: &BTreeMap<Grade, u64>) -> String {
    let seen = seen.iter().map(|(number, events)| format!("{events} × {number}"));
    let seen = seen.collect::<Vec<_>>().join(", ");
    let grades = grades.iter().map(|(grade, events)| format!("{events} by {grade}"));
    let grades = grades.collect::<Vec<_>>().join(", ");
    match (seen.is_empty(), grades.is_empty()) {
        (true, _) => String::from("no event"),
        (false, true) => format!("events × handings-over: {seen}"),
        (false, false) => format!("events × handings-over: {seen}; shown: {grades}"),
    }
}
