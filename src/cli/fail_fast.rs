//! `--fail-fast`: the first cell that fails ends the start of other units.
//! Ids of units come in as their histories are sealed; whether to go on comes out.
//! It must never stand in for the verdicts: they are made afterwards, from all that is on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::run::OnFailure;
use crate::evidence::History;
use crate::plan::Plan;
use crate::run::execute::{AfterUnit, Onward};
use crate::verdict::{self, RunRecord};

/// Watches for the first failure of a run.
#[derive(Debug)]
pub struct FirstFailure {
    plan: Plan,
    out: PathBuf,
    /// What is recorded of the run before its units.
    run: RunRecord,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    ended: BTreeSet<String>,
    failed: Option<String>,
}

/// What a run asks after each unit.
pub fn after_unit(first: &Arc<FirstFailure>, on_failure: OnFailure) -> AfterUnit {
    let first = Arc::clone(first);
    match on_failure {
        OnFailure::GoOn => Box::new(|_| Onward::Continue),
        OnFailure::StartNoMore => Box::new(move |unit| first.unit_ended(unit)),
    }
}

impl FirstFailure {
    /// For a run that writes its histories below `out`.
    pub fn of(plan: &Plan, out: &Path, run: RunRecord) -> Self {
        Self { plan: plan.clone(), out: out.to_owned(), run, seen: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cell that failed first, if any did.
    pub fn cell(&self) -> Option<String> {
        self.seen().failed.clone()
    }

    /// Looks at the cells that the end of this unit may have decided.
    pub fn unit_ended(&self, unit: &str) -> Onward {
        let mut seen = self.seen();
        seen.ended.insert(unit.to_owned());
        if seen.failed.is_none() {
            let decided = self.plan.cells.iter().filter(|cell| {
                let mut needed = cell.subjects().chain([&cell.baseline]);
                needed.clone().any(|id| id == unit) && needed.all(|id| seen.ended.contains(id))
            });
            let mut histories = BTreeMap::new();
            let failed = decided.into_iter().find(|cell| {
                for unit in cell.subjects().chain([&cell.baseline]) {
                    let read = || {
                        let path = self.out.join(format!("histories/{unit}.ndjson"));
                        History::read(&path).map_err(|error| error.to_string())
                    };
                    histories.entry(unit.clone()).or_insert_with(read);
                }
                verdict::fails(&self.plan, cell, &self.run, &histories)
            });
            seen.failed = failed.map(|cell| cell.id.clone());
        }
        if seen.failed.is_some() { Onward::StartNoMore } else { Onward::Continue }
    }
}
