//! Check `order`: the events of one key follow each other as they were published.
//! Effects in the order of the audit trail, or first handings-over, come in; events that came after
//! a later one of their key come out.
//! It must never hold on keys of which one event only was seen.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted};
use super::observed::{final_reads_done, handed_over};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{AuditRow, ReadWhy};
use crate::names::Grade;

/// Events of a key have to follow each other as they were published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderSpec {
    /// What has to be in order.
    pub by: OrderBy,
}

/// What is put beside the order of publication, which is the order of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderBy {
    /// Changes of the domain, for each destination: an older event that changes it after a newer
    /// one of its key is out of order, also where both had their effect before.
    Effect,
    /// The first handing-over of each event; later ones may come in any order.
    Delivery,
}

impl Check for OrderSpec {
    fn name(&self) -> &'static str {
        "order"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let (what, grade) = match self.by {
            OrderBy::Effect => ("effects", Grade::Ledger),
            OrderBy::Delivery => ("first handings-over", Grade::Claimed),
        };
        let expected = format!("{what} of each key in the order of publication");
        let mut tally = Tally::new(self.name(), expected, grade);
        let steps = match self.by {
            OrderBy::Effect if !final_reads_done(history) => {
                return tally.unknown("the audit trail was not read to its end");
            }
            OrderBy::Effect => effects(history),
            OrderBy::Delivery if scope.destinations.len() > 1 => {
                return tally
                    .unknown("a claim does not say for which of several destinations it is");
            }
            OrderBy::Delivery => deliveries(history),
        };
        let published: BTreeMap<&str, (usize, &str)> = history
            .planned()
            .enumerate()
            .map(|(nth, planned)| (planned.event.as_str(), (nth, planned.key.as_str())))
            .collect();
        let mut newest: BTreeMap<(&str, &str), (usize, &str)> = BTreeMap::new();
        let (mut keys, mut compared) = (BTreeSet::new(), 0);
        for Step { event, destination } in steps {
            let Some((nth, key)) = published.get(event).copied() else { continue };
            let (before, other) = *newest.entry((key, destination)).or_insert((nth, event));
            if before != nth {
                tally.examined();
                compared += 1;
                keys.insert(key);
            }
            if nth < before {
                tally.broken_because(event, format!("after {other} of the same key"));
            } else {
                newest.insert((key, destination), (nth, event));
            }
        }
        tally.decide(format!(
            "{} compared, of {} with several events",
            counted(compared, "step"),
            counted(keys.len() as u64, "key")
        ))
    }
}

/// One event at its place in the order that is looked at.
struct Step<'a> {
    event: &'a str,
    destination: &'a str,
}

/// Changes of the domain; what a handling corrects in its own transaction is a part of its one.
fn effects(history: &History) -> Vec<Step<'_>> {
    let mut rows: Vec<&AuditRow> = history.audit(ReadWhy::Final).collect();
    rows.sort_by_key(|row| row.audit_seq);
    let mut changed = BTreeSet::new();
    rows.retain(|row| changed.insert((&row.event, &row.destination, row.transaction)));
    rows.iter().map(|row| Step { event: &row.event, destination: &row.destination }).collect()
}

fn deliveries(history: &History) -> Vec<Step<'_>> {
    let mut first: Vec<(u64, &str)> = handed_over(history)
        .into_iter()
        .filter_map(|(event, handed)| Some((handed.first()?.seq, event)))
        .collect();
    first.sort_unstable();
    first.into_iter().map(|(_, event)| Step { event, destination: "" }).collect()
}
