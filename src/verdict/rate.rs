//! Rates: a story that was told several times becomes one standing, with what it proves.
//! The judged runs of a cell come in; how many hold, which run to show and a bound come out.
//! It must never leave a run out: one whose evidence is bad makes the whole rate undecided.

use std::collections::BTreeSet;

use super::RateReport;
use super::cell::JudgedUnits;
use super::judged::{Judged, Standing};
use super::validity::Problem;
use crate::names::Cause;
use crate::plan::Cell;

/// What is left to chance: one time in twenty a story that holds less often looks this good.
const RISK: f64 = 0.05;

/// The runs of a cell; most cells have one.
pub(super) struct Runs<'a> {
    all: Vec<&'a Judged<'a>>,
    /// A run that the plan does not have, or that is not judged yet.
    missing: Option<&'a String>,
    /// Absent where the story is told once.
    at_least: Option<usize>,
}

impl<'a> Runs<'a> {
    pub(super) fn of(cell: &'a Cell, units: &'a JudgedUnits<'_>) -> Self {
        let missing = cell.subjects().find(|id| !units.contains_key(id.as_str()));
        let all = cell.subjects().filter_map(|id| units.get(id.as_str())).collect();
        let at_least = cell.rate.as_ref().map(|rate| rate.at_least as usize);
        Self { all, missing, at_least }
    }

    fn tally(&self, excused: &BTreeSet<&str>) -> Vec<(&'a Judged<'a>, Standing)> {
        self.all.iter().map(|run| (*run, run.standing_but_for(excused))).collect()
    }

    /// Runs that may break before the rate is missed.
    fn allowed(&self) -> usize {
        let expected = self.all.len() + usize::from(self.missing.is_some());
        self.at_least.map_or(0, |least| expected.saturating_sub(least))
    }

    /// The run to show: the first that breaks where too many do, else the first that holds.
    pub(super) fn shown(&self) -> Option<&'a Judged<'a>> {
        let tally = self.tally(&BTreeSet::new());
        let broken = || tally.iter().filter(|(_, standing)| is_broken(standing));
        let first = match broken().count() > self.allowed() {
            true => broken().next(),
            false => tally.iter().find(|(_, standing)| *standing == Standing::Good),
        };
        first.or(tally.first()).map(|(run, _)| *run)
    }

    /// What all runs come to, where a violation of these checks is accepted.
    pub(super) fn standing(&self, excused: &BTreeSet<&str>) -> Standing {
        let mut tally = self.tally(excused);
        if self.at_least.is_none() {
            return match tally.pop() {
                Some((_, standing)) => standing,
                None => Standing::Invalid(self.unplanned()),
            };
        }
        let broken = tally.iter().filter(|(_, standing)| is_broken(standing)).count();
        if broken > self.allowed() {
            return Standing::Broken(self.missed(&tally));
        }
        if self.missing.is_some() {
            return Standing::Invalid(self.unplanned());
        }
        let open = tally.into_iter().find_map(|(run, standing)| {
            let of_run =
                |Problem { cause, why }| Problem::new(cause, format!("{}: {why}", run.unit.id));
            match standing {
                Standing::Invalid(problem) => Some(Standing::Invalid(of_run(problem))),
                Standing::Open(problem) => Some(Standing::Open(of_run(problem))),
                Standing::Broken(_) | Standing::Good => None,
            }
        });
        open.unwrap_or(Standing::Good)
    }

    pub(super) fn unplanned(&self) -> Problem {
        let id = self.missing.map(String::as_str).unwrap_or_default();
        Problem::new(Cause::RunnerError, format!("the plan has no unit {id}"))
    }

    /// Why the rate is missed: the numbers, and the first run that breaks.
    fn missed(&self, tally: &[(&Judged<'_>, Standing)]) -> String {
        let held = tally.iter().filter(|(_, standing)| *standing == Standing::Good).count();
        let first = tally.iter().find_map(|(run, standing)| match standing {
            Standing::Broken(why) => Some(format!("{}: {why}", run.unit.id)),
            _ => None,
        });
        let (runs, least) = (tally.len(), self.at_least.unwrap_or(tally.len()));
        let first = first.unwrap_or_default();
        format!("holds in {held} of {runs} runs, expected at least {least}; first {first}")
    }

    /// The numbers for the reports; none where the story is told once.
    pub(super) fn report(&self, excused: &BTreeSet<&str>) -> Option<RateReport> {
        let tally = self.tally(excused);
        let count = |wanted: fn(&Standing) -> bool| {
            tally.iter().filter(|(_, standing)| wanted(standing)).count() as u32
        };
        let (runs, held) = (tally.len() as u32, count(|s| *s == Standing::Good));
        Some(RateReport {
            runs,
            held,
            broken: count(is_broken),
            at_least: self.at_least? as u32,
            proven_per_mille: proven_per_mille(runs, held),
            shown: self.shown()?.unit.id.clone(),
        })
    }
}

fn is_broken(standing: &Standing) -> bool {
    matches!(standing, Standing::Broken(_))
}

/// The least rate, in thousandths, that does not make `held` of `runs` or better rarer than `RISK`
/// (Clopper and Pearson 1934, one-sided): found by halving, rounded down.
fn proven_per_mille(runs: u32, held: u32) -> u32 {
    let (mut least, mut most) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(least, most);
        match at_least(runs, held, middle) < RISK {
            true => least = middle,
            false => most = middle,
        }
    }
    // Rounding down is safe; the small share keeps a whole number from falling below itself.
    (least * 1000.0 + 1e-9) as u32
}

/// Probability of `held` or more in `runs` when each holds with probability `p`, 0 < p < 1.
fn at_least(runs: u32, held: u32, p: f64) -> f64 {
    let choose = |k: u32| -> f64 {
        (1..=k).map(|i| f64::ln(f64::from(runs - k + i)) - f64::ln(f64::from(i))).sum()
    };
    let term = |k: u32| choose(k) + f64::from(k) * p.ln() + f64::from(runs - k) * f64::ln(1.0 - p);
    (held..=runs).map(|k| term(k).exp()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `p` with p^n = 0.05 for n of n, and 1 - 0.95^(1/n) for one of n: both have closed forms.
    #[test]
    fn the_bound_is_the_one_of_the_textbooks() {
        for runs in [2_u32, 3, 10, 20, 59, 200, 1000] {
            let all = (0.05_f64.powf(1.0 / f64::from(runs)) * 1000.0).floor() as u32;
            assert_eq!(proven_per_mille(runs, runs), all, "{runs} of {runs}");
            let one = ((1.0 - 0.95_f64.powf(1.0 / f64::from(runs))) * 1000.0).floor() as u32;
            assert_eq!(proven_per_mille(runs, 1), one, "1 of {runs}");
            assert_eq!(proven_per_mille(runs, 0), 0);
        }
        // 18 of 20: 0.7174 (tables of Clopper-Pearson limits, 95 % one-sided).
        assert_eq!(proven_per_mille(20, 18), 717);
    }

    #[test]
    fn more_runs_that_hold_prove_more() {
        for held in 1..50 {
            assert!(proven_per_mille(50, held) > proven_per_mille(50, held - 1));
        }
    }
}
