//! Check `effects`: changes of the domain per event and destination, as the audit trail has them.
//! Audit rows of the final read come in; events outside the bound come out.
//! It must never count what a worker says, only what the database's own trail shows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, spread};
use super::observed::{Publication, changes, final_reads_done, publications};
use super::{Bound, Check, Finding, Scope};
use crate::evidence::History;
use crate::names::{EventSet, Grade};

/// Effects of each event for each destination.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EffectsSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// How many of them each event may have.
    pub count: Bound,
}

impl Check for EffectsSpec {
    fn name(&self) -> &'static str {
        "effects"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = format!("{} effect(s) of each event ({})", self.count, self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Ledger);
        if !final_reads_done(history) {
            return tally.unknown("the audit trail was not read to its end");
        }
        let changes = changes(history);
        let publications = publications(history);
        let mut by_count: BTreeMap<u64, u64> = BTreeMap::new();
        let mut may_exist = 0;
        for event in history.ids(self.of) {
            // An unknown publication that had no effect may not exist at all.
            if publications.get(&event) == Some(&Publication::Unknown) && self.count.needs_some() {
                may_exist += 1;
                continue;
            }
            for destination in &scope.destinations {
                let made = changes.get(&(event.clone(), destination.clone())).map_or(0, |c| c.made);
                tally.examined();
                *by_count.entry(made).or_default() += 1;
                if !self.count.admits(made) {
                    tally.broken_because(&event, format!("{made} for {destination}"));
                }
            }
        }
        if self.of == EventSet::All {
            for (event, destination) in changes.keys() {
                if !publications.contains_key(event) {
                    tally.broken_because(event, format!("nobody planned it ({destination})"));
                }
            }
        }
        tally.decide(spread(&by_count, may_exist))
    }
}
