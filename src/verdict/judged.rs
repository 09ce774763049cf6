//! One unit by itself: its history examined by every rule, its faults' receipts, its problems.
//! A unit of the plan and its history come in; findings and one standing come out.
//! It must never know of other units: controls and baseline are put together elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use super::landing::receipts;
use super::validity::{Problem, problems};
use super::{FaultReport, RunRecord};
use crate::checks::{AlwaysOn, Finding, FindingResult};
use crate::evidence::History;
use crate::names::Cause;
use crate::plan::Unit;

/// Histories by unit id, each readable or with the reason why not.
pub(super) type Histories = BTreeMap<String, Result<History, String>>;

/// A unit with all that its evidence says.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    pub unit: &'a Unit,
    pub history: Option<&'a History>,
    pub findings: Vec<Finding>,
    pub faults: Vec<FaultReport>,
    pub problems: Vec<Problem>,
}

/// What a unit comes to, by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// The evidence cannot be used.
    Invalid(Problem),
    /// A rule is violated.
    Broken(String),
    /// Nothing is violated, and something is not shown.
    Open(Problem),
    /// Every rule holds on something examined, and every fault landed.
    Good,
}

impl<'a> Judged<'a> {
    pub(super) fn of(unit: &'a Unit, run: &RunRecord, histories: &'a Histories) -> Self {
        match histories.get(&unit.id) {
            Some(Ok(history)) => Self::examined(unit, &run.id, history),
            Some(Err(why)) => Self::without(unit, torso(run, why)),
            None => Self::without(unit, absent(unit, run)),
        }
    }

    fn without(unit: &'a Unit, problem: Problem) -> Self {
        let (findings, faults) = (Vec::new(), Vec::new());
        Self { unit, history: None, findings, faults, problems: vec![problem] }
    }

    pub(super) fn examined(unit: &'a Unit, run_id: &str, history: &'a History) -> Self {
        let faults = receipts(history, &unit.scope);
        let mut problems = problems(unit, run_id, history, &faults);
        let asked = unit.checks.iter().map(|check| check.examine(history, &unit.scope));
        let always = AlwaysOn::ALL.iter().map(|rule| rule.examine(history, &unit.scope));
        let findings: Vec<_> = asked.chain(always).collect();
        // A worker that went past its link is no broken guarantee: nothing about links is proven.
        let past = findings.iter().find(|finding| {
            finding.check == AlwaysOn::LinksOnly.name() && finding.result == FindingResult::Violated
        });
        problems.extend(past.map(|finding| Problem::new(Cause::Environment, said(finding))));
        Self { unit, history: Some(history), findings, faults, problems }
    }

    /// Violated findings that speak about a guarantee.
    pub(super) fn violated(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| {
            finding.result == FindingResult::Violated && finding.check != AlwaysOn::LinksOnly.name()
        })
    }

    /// The first problem that makes the evidence useless.
    pub(super) fn invalid(&self) -> Option<&Problem> {
        self.problems.iter().find(|problem| problem.invalidates())
    }

    /// The first fault that did not land.
    pub(super) fn not_landed(&self) -> Option<Problem> {
        let fault = self.faults.iter().find(|fault| !fault.landed)?;
        let why = format!("{} did not land: {}", fault.id, fault.receipt);
        Some(Problem::new(Cause::FaultNotLanded, why))
    }

    /// The worst that this unit comes to, in the order of the design.
    pub(super) fn standing(&self) -> Standing {
        self.standing_but_for(&BTreeSet::new())
    }

    /// The same where a violation of these checks is accepted.
    pub(super) fn standing_but_for(&self, excused: &BTreeSet<&str>) -> Standing {
        if let Some(problem) = self.invalid() {
            return Standing::Invalid(problem.clone());
        }
        let violated = self.violated().filter(|f| !excused.contains(f.check.as_str()));
        let violated: Vec<_> = violated.map(said).collect();
        if !violated.is_empty() {
            return Standing::Broken(violated.join("; "));
        }
        if let Some(problem) = self.not_landed().or_else(|| self.problems.first().cloned()) {
            return Standing::Open(problem);
        }
        let open = self.findings.iter().find(|f| f.result == FindingResult::Indeterminate);
        if let Some(finding) = open {
            return Standing::Open(Problem::new(Cause::NothingExamined, said(finding)));
        }
        Standing::Good
    }
}

/// A finding as a sentence.
pub(super) fn said(finding: &Finding) -> String {
    format!("{}: expected {}; {}", finding.check, finding.expected, finding.observed)
}

fn torso(run: &RunRecord, why: &str) -> Problem {
    match run.cancelled {
        true => Problem::new(Cause::Cancelled, format!("the run was ended early: {why}")),
        false => Problem::new(Cause::DamagedEvidence, format!("the history cannot be used: {why}")),
    }
}

fn absent(unit: &Unit, run: &RunRecord) -> Problem {
    if let (Some(cell), false) = (&run.stopped_after, run.units.contains_key(&unit.id)) {
        let why = format!("{} was not started, because {cell} had failed (--fail-fast)", unit.id);
        return Problem::new(Cause::Cancelled, why);
    }
    match (run.cancelled, run.units.contains_key(&unit.id)) {
        (true, _) => Problem::new(Cause::Cancelled, format!("{} was not run to its end", unit.id)),
        (false, true) => {
            Problem::new(Cause::DamagedEvidence, format!("{} left no history", unit.id))
        }
        (false, false) => Problem::new(Cause::RunnerError, format!("{} never started", unit.id)),
    }
}
