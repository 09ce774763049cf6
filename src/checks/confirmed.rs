//! Check `confirmed`: publications that the producer reported as confirmed by the broker.
//! Results of publications come in; events with another number of confirmations come out.
//! It must never take an unknown result for a confirmation, nor for none.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted, spread};
use super::observed::{entries, message};
use super::{Bound, Check, Finding, Scope};
use crate::evidence::History;
use crate::names::{CallOutcome, EventSet, Grade, Operation, Position, TopicRole};

/// Confirmations that the producer has to have for each event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmedSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// Confirmed publications of each event.
    pub count: Bound,
}

impl Check for ConfirmedSpec {
    fn name(&self) -> &'static str {
        "confirmed"
    }

    fn examine(&self, history: &History, _scope: &Scope) -> Finding {
        let expected =
            format!("{} confirmed publication(s) of each event ({})", self.count, self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        let reports = reports(history);
        if reports.is_empty() {
            return tally.unknown("no producer reported any publication");
        }
        let read: BTreeSet<(&str, Position)> = entries(history, TopicRole::Source)
            .filter_map(|entry| Some((entry.event.as_deref()?, message(&entry.position))))
            .collect();
        let mut by_count: BTreeMap<u64, u64> = BTreeMap::new();
        let mut unknown = 0;
        for event in history.ids(self.of) {
            let reports = reports.get(event.as_str()).cloned().unwrap_or_default();
            let confirmed = reports.confirmed.len() as u64 + reports.nowhere;
            tally.examined();
            *by_count.entry(confirmed).or_default() += 1;
            unknown += reports.unknown;
            // The read-back makes more than a claim of it.
            let is_read = |position: &&Position| read.contains(&(&event, message(position)));
            if confirmed == 0 || reports.nowhere > 0 || !reports.confirmed.iter().all(is_read) {
                tally.rests_on(Grade::Claimed);
            }
            match self.count.decides(confirmed, confirmed + reports.unknown) {
                Some(true) => {}
                Some(false) => tally.broken_because(&event, confirmed),
                None => {
                    let unknown = reports.unknown;
                    tally.undecided(&event, format!("{confirmed}, and {unknown} unknown"));
                }
            }
        }
        let spread = spread(&by_count, 0);
        tally.decide(match unknown {
            0 => spread,
            _ => format!("{spread}; {}", counted(unknown, "unknown result")),
        })
    }
}

/// What a producer said about one event.
#[derive(Debug, Clone, Default)]
struct Reports<'a> {
    confirmed: BTreeSet<&'a Position>,
    /// Confirmed by a client that does not say where.
    nowhere: u64,
    unknown: u64,
}

fn reports(history: &History) -> BTreeMap<&str, Reports<'_>> {
    let mut reports: BTreeMap<&str, Reports<'_>> = BTreeMap::new();
    for result in history.results(Operation::Publish) {
        let of = reports.entry(&result.event).or_default();
        match (result.outcome, &result.position) {
            (CallOutcome::Ok, Some(position)) => {
                of.confirmed.insert(position);
            }
            (CallOutcome::Ok, None) => of.nowhere += 1,
            (CallOutcome::Unknown, _) => of.unknown += 1,
            _ => {}
        }
    }
    reports
}
