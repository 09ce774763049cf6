//! Check `overlap`: two processes were in the same event at once.
//! Waits that the database names, and looks at the ledger while one was held, come in; events
//! without any such proof come out.
//! It must never hold on claims alone: that two received it says nothing about *at once*.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted};
use super::observed::{changes, is_consumer};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{Event, FaultStage, Process};
use crate::names::{EventSet, Grade, Point};

/// Two processes must have been in each of these events at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverlapSpec {
    /// The events that it is about.
    pub of: EventSet,
}

impl Check for OverlapSpec {
    fn name(&self) -> &'static str {
        "overlap"
    }

    fn examine(&self, history: &History, _scope: &Scope) -> Finding {
        let expected = format!("two processes in each event ({}) at once", self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Ledger);
        let (mut waited, mut worked) = (0, 0);
        for event in history.ids(self.of) {
            tally.examined();
            if blocked(history, &event) {
                waited += 1;
            } else if worked_meanwhile(history, &event) {
                worked += 1;
            } else if receivers(history, &event).len() > 1 {
                tally.rests_on(Grade::Claimed);
                tally.undecided(&event, "two processes say that they received it, no more");
            } else {
                tally.rests_on(Grade::Claimed);
                tally.broken_because(&event, "one process at most received it");
            }
        }
        let waited = counted(waited, "event");
        tally.decide(format!("the database saw a wait in {waited}, a second effect in {worked}"))
    }
}

/// The database named one process as waiting for the other in this event.
fn blocked(history: &History, event: &str) -> bool {
    history.events().any(|record| {
        matches!(record, Event::Blocked { event: id, waiter, blocker }
            if id == event && waiter != blocker)
    })
}

fn receivers<'a>(history: &'a History, event: &str) -> BTreeSet<&'a Process> {
    let received = history.claims_at(Point::Received);
    let received = received.filter(|at| at.event == event && is_consumer(history, &at.process));
    received.map(|at| &at.process).collect()
}

/// Without a lock nobody waits. Then it takes both: while one process was held before its effect,
/// the runner saw more effects than when that began (so they are another's), and in the end both
/// have made one.
fn worked_meanwhile(history: &History, event: &str) -> bool {
    let made: BTreeSet<String> = changes(history)
        .into_iter()
        .filter(|((id, _), _)| id == event)
        .flat_map(|(_, changes)| changes.applications)
        .collect();
    holds(history, event).into_iter().any(|hold| {
        let another = made.iter().any(|application| *application != hold.process.to_string());
        let seen = hold.effects(history, event).is_some_and(|(first, most)| most > first);
        seen && another && made.contains(&hold.process.to_string())
    })
}

/// A stretch of the history in which a process was held before its effect was committed.
struct Hold<'a> {
    process: &'a Process,
    from: u64,
    to: u64,
}

impl Hold<'_> {
    /// Effects of the event when the runner first looked during the hold, and the most that it saw
    /// then; older ones say nothing of who was in the event meanwhile.
    fn effects(&self, history: &History, event: &str) -> Option<(u64, u64)> {
        let inside = history.records().iter();
        let inside = inside.filter(|record| self.from < record.seq && record.seq < self.to);
        let (mut first, mut most) = (None, 0);
        let mut rows = BTreeSet::new();
        for record in inside {
            match &record.event {
                Event::Probe(probe) if probe.event == event => {
                    first = first.or(Some(probe.effects));
                    most = most.max(probe.effects);
                }
                Event::AuditRow(row) if row.event == event => {
                    rows.insert(row.audit_seq);
                }
                _ => {}
            }
        }
        Some((first?, most.max(rows.len() as u64)))
    }
}

fn holds<'a>(history: &'a History, event: &str) -> Vec<Hold<'a>> {
    let mut holds = Vec::new();
    let mut open: Option<(&'a str, &'a Process, u64)> = None;
    for record in history.records() {
        let Event::Fault(step) = &record.event else { continue };
        match &step.stage {
            FaultStage::Triggered {
                process: Some(process),
                point: Some(point),
                event: Some(id),
            } if id == event && is_before_commit(*point) => {
                open = Some((&step.fault, process, record.seq));
            }
            FaultStage::Held { process, .. } => {
                if let Some((fault, holder, from)) = open
                    && fault == step.fault
                    && holder == process
                {
                    holds.push(Hold { process, from, to: record.seq });
                    open = None;
                }
            }
            _ => {}
        }
    }
    holds
}

fn is_before_commit(point: Point) -> bool {
    matches!(point, Point::Received | Point::BeforeEffect | Point::InTransaction)
}
