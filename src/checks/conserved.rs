//! Check `conserved`: every event has a disposition for every destination; none is lost or doubled.
//! Accounts by event and destination come in; lost, doubled and contradictory events come out.
//! It must never count an unknown publication as lost, nor pass one by where a read is missing.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::disposition::{Account, Fate, accounts};
use super::finding::{Tally, counted, named};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::names::{Grade, wire_name};

/// Every event must have a disposition for every destination, and none is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConservedSpec {}

impl Check for ConservedSpec {
    fn name(&self) -> &'static str {
        "conserved"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = match scope.drained {
            true => "every published event has exactly one disposition for each destination",
            false => {
                "every published event has a disposition for each destination, and one effect \
                      at most"
            }
        };
        let mut tally = Tally::new(self.name(), expected.to_owned(), Grade::Ledger);
        let accounts = match accounts(history, scope) {
            Ok(accounts) => accounts,
            Err(why) => return tally.unknown(why),
        };
        let mut sums = Sums::default();
        for ((event, destination), account) in &accounts {
            sums.add(event, account);
            if account.fate == Fate::MayExist {
                continue;
            }
            tally.examined();
            if account.effects > 1 {
                tally.broken_because(event, format!("{} for {destination}", account.effects));
            }
            match (&account.fate, account.illegal_overlap(scope)) {
                (Fate::Lost(why), _) => {
                    tally.broken_because(event, format!("lost for {destination}: {why}"));
                }
                (Fate::Undecided(why), _) => tally.undecided(event, why),
                (_, Some((a, b))) => {
                    let (a, b) = (wire_name(&a), wire_name(&b));
                    tally.broken_because(event, format!("both {a} and {b} for {destination}"));
                }
                _ => {}
            }
        }
        tally.decide(sums.sentence())
    }
}

#[derive(Default)]
struct Sums {
    by_disposition: BTreeMap<String, u64>,
    may_exist: u64,
    lost: BTreeSet<String>,
}

impl Sums {
    fn add(&mut self, event: &str, account: &Account) {
        for disposition in &account.dispositions {
            *self.by_disposition.entry(wire_name(disposition)).or_default() += 1;
        }
        match account.fate {
            Fate::MayExist => self.may_exist += 1,
            Fate::Lost(_) => {
                self.lost.insert(event.to_owned());
            }
            Fate::Accounted | Fate::Undecided(_) => {}
        }
    }

    fn sentence(&self) -> String {
        let mut parts: Vec<String> = self
            .by_disposition
            .iter()
            .map(|(disposition, events)| format!("{events} {disposition}"))
            .collect();
        if self.may_exist > 0 {
            parts.push(format!("{} that may exist", counted(self.may_exist, "publication")));
        }
        parts.push(format!("lost: {}", named(&self.lost)));
        parts.join(", ")
    }
}
