//! The way from evidence to verdicts: every unit judged, every cell decided, the run summed up.
//! Plan, run record and histories come in; a `RunReport` comes out, the same each time.
//! It must never read a clock, a file or an environment: `judge` on old evidence says the same.

use std::collections::BTreeMap;

use super::cell::{JudgedUnits, report};
use super::judged::{Histories, Judged};
use super::{CellReport, REPORT_VERSION, RunInfo, RunRecord, RunReport, Summary};
use crate::names::Outcome;
use crate::plan::{Cell, Plan, Unit};

/// Gives every cell of the plan its outcome. A history that could not be read is given as the
/// reason why not; a unit without an entry never ran.
pub fn judge(plan: &Plan, run: &RunRecord, histories: &Histories, root_hash: &str) -> RunReport {
    let units: JudgedUnits<'_> = plan
        .units
        .iter()
        .map(|unit| (unit.id.as_str(), Judged::of(unit, run, histories)))
        .collect();
    let cells: Vec<_> = plan.cells.iter().map(|cell| report(cell, &units, run)).collect();
    let summary = summary(plan, &cells);
    RunReport {
        version: REPORT_VERSION,
        run: RunInfo {
            id: run.id.clone(),
            started: run.started.clone(),
            ackproof: run.ackproof.clone(),
            command: run.command.clone(),
            seed: plan.seed,
            profile: plan.profile.clone(),
            host: run.host.clone(),
            duration_ms: run.duration_ms,
            cancelled: run.cancelled,
            stopped_after: run.stopped_after.clone(),
            strict: run.strict,
            left_out: plan.left_out.clone(),
            suite_hash: plan.suite_hash.clone(),
            root_hash: root_hash.to_owned(),
            servers: run.servers.clone(),
        },
        cells,
        summary,
    }
}

/// Whether a cell fails already, while other units still run: its subject and its baseline have
/// left their histories, and no control can change what they say.
pub fn fails(plan: &Plan, cell: &Cell, run: &RunRecord, histories: &Histories) -> bool {
    let recorded = |unit: &'_ Unit| histories.get(&unit.id)?.as_ref().ok();
    let units: JudgedUnits<'_> = plan
        .units
        .iter()
        .filter(|unit| cell.subjects().chain([&cell.baseline]).any(|id| *id == unit.id))
        .filter_map(|unit| {
            Some((unit.id.as_str(), Judged::examined(unit, &run.id, recorded(unit)?)))
        })
        .collect();
    units.contains_key(cell.subject.as_str()) && super::cell::fails(cell, &units, run)
}

fn summary(plan: &Plan, cells: &[CellReport]) -> Summary {
    let count = |outcome: Outcome| cells.iter().filter(|cell| cell.outcome == outcome).count();
    // Cells share controls: each is counted once, by the unit that ran it.
    let mut controls: BTreeMap<&str, bool> = BTreeMap::new();
    for (cell, report) in plan.cells.iter().zip(cells) {
        for reference in &cell.controls {
            let caught = report.controls.iter().any(|c| c.id == reference.id && c.caught);
            if report.controls.iter().any(|control| control.id == reference.id) {
                controls.insert(&reference.unit, caught);
            }
        }
    }
    Summary {
        cells: cells.len() as u64,
        pass: count(Outcome::Pass) as u64,
        fail: count(Outcome::Fail) as u64,
        inconclusive: count(Outcome::Inconclusive) as u64,
        known: count(Outcome::Known) as u64,
        unsupported: count(Outcome::Unsupported) as u64,
        controls: controls.len() as u64,
        controls_caught: controls.values().filter(|caught| **caught).count() as u64,
    }
}

impl RunReport {
    /// The exit code of a run with this report: 0 nothing broken, 1 a guarantee is broken,
    /// 3 nothing broken but something inconclusive. An empty run, or one whose cells are all
    /// unsupported, has shown nothing: 3. An interruption (130) is the caller's.
    pub fn exit_code(&self) -> u8 {
        let shown = self.cells.iter().any(|cell| cell.outcome != Outcome::Unsupported);
        let any = |outcome: Outcome| self.cells.iter().any(|cell| cell.outcome == outcome);
        let broken = self.cells.iter().any(|cell| self.counts_as_broken(cell.outcome));
        match (broken, any(Outcome::Inconclusive) || !shown) {
            (true, _) => 1,
            (false, true) => 3,
            (false, false) => 0,
        }
    }

    /// Whether an outcome is a failure to whoever acts on this report: under `--strict`, what is
    /// known is one too. This is the one place that says so, for exit codes and reports alike.
    pub fn counts_as_broken(&self, outcome: Outcome) -> bool {
        outcome == Outcome::Fail || outcome == Outcome::Known && self.run.strict
    }
}
