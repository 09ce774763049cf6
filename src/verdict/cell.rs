//! One cell: subject, baseline and controls become one outcome, with a cause and a reason.
//! A cell of the plan and its judged units come in; a `CellReport` comes out.
//! It must never pass what is not examined, landed and controlled, nor fail on invalid evidence.

use std::collections::{BTreeMap, BTreeSet};

use super::command::{quoted, unchosen};
use super::control::control;
use super::judged::{Judged, Standing};
use super::known::{Known, expectations};
use super::numbers::{ages, counts, marks};
use super::rate::Runs;
use super::validity::Problem;
use super::{Ages, CellReport, ControlReport, Counts, HistoryRef, Marks, RateReport, RunRecord};
use crate::checks::{Finding, FindingResult};
use crate::evidence::History;
use crate::evidence::event::{AttestedSubject, Event};
use crate::names::{Cause, Outcome, ServerKind};
use crate::plan::{Cell, Expectation};

/// Units by id, each judged once however many cells refer to it.
pub(super) type JudgedUnits<'a> = BTreeMap<&'a str, Judged<'a>>;

/// An outcome with its cause and its reason in one sentence.
struct Decision {
    outcome: Outcome,
    cause: Option<Cause>,
    reason: String,
    hazard_shown: Option<String>,
}

impl Decision {
    fn plain(outcome: Outcome, reason: String) -> Self {
        Self { outcome, cause: None, reason, hazard_shown: None }
    }

    fn inconclusive(problem: Problem) -> Self {
        let Problem { cause, why } = problem;
        Self { cause: Some(cause), ..Self::plain(Outcome::Inconclusive, why) }
    }
}

impl Decision {
    /// The same with what the runs prove, where there are several.
    fn among(mut self, runs: &Runs<'_>, known: &Known) -> Self {
        if let Some(rate) = runs.report(&known.excused()) {
            let RateReport { runs, held, at_least, proven_per_mille, .. } = rate;
            let (percent, tenths) = (proven_per_mille / 10, proven_per_mille % 10);
            self.reason = format!(
                "holds in {held} of {runs} runs, expected at least {at_least}, which proves \
                 {percent}.{tenths} % of all with 95 % confidence; {}",
                self.reason
            );
        }
        self
    }
}

/// The report of one cell.
pub(super) fn report(cell: &Cell, units: &JudgedUnits<'_>, run: &RunRecord) -> CellReport {
    let runs = Runs::of(cell, units);
    let subject = runs.shown();
    let history = subject.and_then(|subject| subject.history);
    let (marks, counts, ages) = match (subject, history) {
        (Some(subject), Some(history)) => {
            let scope = &subject.unit.scope;
            let marks = marks(history, scope);
            (marks, counts(history, scope, &subject.findings), ages(history))
        }
        _ => (Marks::default(), Counts::default(), Ages::default()),
    };
    let (controls, missing) = controls(cell, units, run);
    let known = Known::of(cell, subject, run);
    let decision = decide(cell, units, missing, &known, &marks);
    let rate = known.as_ref().ok().and_then(|known| runs.report(&known.excused()));
    let server = ServerKind::from(cell.broker);
    CellReport {
        id: cell.id.clone(),
        scenario: cell.scenario.clone(),
        title: cell.title.clone(),
        about: cell.about.clone(),
        property: cell.property.clone(),
        values: cell.values.clone(),
        clauses: cell.clauses.clone(),
        level: cell.level,
        broker: cell.broker,
        server_pin: cell.server_pin.clone(),
        server_attested: history.and_then(|history| server_version(history, server)),
        database_pin: cell.database_pin.clone(),
        database_attested: history
            .and_then(|history| server_version(history, ServerKind::Postgres)),
        client: cell.client.clone(),
        client_attested: history.and_then(|history| client_version(history, &cell.client.library)),
        worker: cell.worker.clone(),
        pattern: cell.pattern.clone(),
        dead_letter_mode: cell.dead_letter_mode.clone(),
        only_control: cell.only_control,
        outcome: decision.outcome,
        cause: decision.cause,
        reason: decision.reason,
        hazard_shown: decision.hazard_shown,
        unsupported: cell.unsupported.clone(),
        marks,
        duration_ms: cell
            .subjects()
            .filter_map(|id| run.units.get(id))
            .map(|u| u.duration_ms)
            .sum(),
        counts,
        ages,
        faults: subject.map(|subject| subject.faults.clone()).unwrap_or_default(),
        findings: subject.map(|subject| subject.findings.clone()).unwrap_or_default(),
        controls,
        known: known.map(|known| known.issues).unwrap_or_default(),
        expectations: expectations(cell),
        rate,
        waits: waits(subject),
        histories: histories(cell, run),
        reproduce: reproduce(cell, run),
    }
}

/// The command that was given, with a filter for this cell in the place of its own selection.
fn reproduce(cell: &Cell, run: &RunRecord) -> String {
    let given = unchosen(&run.command);
    let mut words = vec![String::from("ackproof")];
    words.extend(given.iter().map(|word| quoted(word)));
    words.push(format!("--filter 'id({})'", cell.id));
    words.join(" ")
}

/// Whether a cell fails by its subject and its baseline alone: no control can change that.
pub(super) fn fails(cell: &Cell, units: &JudgedUnits<'_>, run: &RunRecord) -> bool {
    let known = Known::of(cell, Runs::of(cell, units).shown(), run);
    // What only a cell with its controls can come to stays open.
    let open = Problem::new(Cause::ControlNotCaught, "no control was judged yet");
    decide(cell, units, Some(open), &known, &Marks::default()).outcome == Outcome::Fail
}

/// Precedence as the design has it: invalid evidence, a broken guarantee, what is not shown, what
/// is known.
fn decide(
    cell: &Cell,
    units: &JudgedUnits<'_>,
    missing: Option<Problem>,
    known: &Result<Known, Problem>,
    marks: &Marks,
) -> Decision {
    if let Some(lack) = &cell.unsupported {
        let reason = format!("no {}: {}", lack.capability, lack.reason);
        return Decision::plain(Outcome::Unsupported, reason);
    }
    let runs = Runs::of(cell, units);
    let Some(subject) = runs.shown() else {
        return Decision::inconclusive(runs.unplanned());
    };
    if let Some(problem) = subject.invalid() {
        return Decision::inconclusive(problem.clone());
    }
    if let Some(problem) = baseline(cell, units) {
        return Decision::inconclusive(problem);
    }
    let known = match known {
        Ok(known) => known,
        Err(problem) => return Decision::inconclusive(problem.clone()),
    };
    match runs.standing(&known.excused()) {
        Standing::Broken(why) => {
            Decision::plain(Outcome::Fail, format!("{why}{}", known.expired()))
        }
        Standing::Invalid(problem) | Standing::Open(problem) => Decision::inconclusive(problem),
        // The subject of such a cell is the defect itself, so holding is what went wrong.
        Standing::Good if cell.only_control => Decision::inconclusive(Problem::new(
            Cause::ControlNotCaught,
            "every check holds: the defect was not caught",
        )),
        Standing::Good => match missing {
            Some(problem) => Decision::inconclusive(problem),
            None => held(cell, subject, known, marks).among(&runs, known),
        },
    }
}

/// Nothing is broken but what is known, and everything is shown: so is what is missing of it.
fn held(cell: &Cell, subject: &Judged<'_>, known: &Known, marks: &Marks) -> Decision {
    if let Some(missed) = known.missed() {
        return Decision::plain(Outcome::Fail, missed);
    }
    match known.shown() {
        Some(shown) => Decision::plain(Outcome::Known, shown),
        None => passed(cell, subject, marks),
    }
}

fn baseline(cell: &Cell, units: &JudgedUnits<'_>) -> Option<Problem> {
    let failed =
        |why: String| Some(Problem::new(Cause::BaselineFailed, format!("baseline: {why}")));
    match units.get(cell.baseline.as_str()).map(Judged::standing) {
        Some(Standing::Good) => None,
        Some(Standing::Invalid(problem)) if problem.cause == Cause::Cancelled => Some(problem),
        Some(Standing::Invalid(problem) | Standing::Open(problem)) => failed(problem.why),
        Some(Standing::Broken(why)) => failed(why),
        None => failed(format!("the plan has no unit {}", cell.baseline)),
    }
}

fn controls(
    cell: &Cell,
    units: &JudgedUnits<'_>,
    run: &RunRecord,
) -> (Vec<ControlReport>, Option<Problem>) {
    let none = || Problem::new(Cause::ControlNotCaught, "no control shows that it could fail");
    let mut missing = cell.controls.is_empty().then(none);
    let mut reports = Vec::new();
    for reference in &cell.controls {
        let Some(judged) = units.get(reference.unit.as_str()) else {
            let why = format!("the plan has no unit {}", reference.unit);
            missing = missing.or(Some(Problem::new(Cause::RunnerError, why)));
            continue;
        };
        let path = run.units.get(&reference.unit).map(|unit| unit.history.clone());
        let (report, problem) = control(reference, judged, path.unwrap_or_default());
        reports.push(report);
        missing = missing.or(problem);
    }
    (reports, missing)
}

fn passed(cell: &Cell, subject: &Judged<'_>, marks: &Marks) -> Decision {
    let examined: u64 = subject.findings.iter().map(|finding| finding.examined).sum();
    let (checks, faults) = (subject.findings.len(), subject.faults.len());
    let caught = cell.controls.len();
    let mut reason = format!(
        "{checks} checks hold on {examined} things examined, faults landed: {faults}, controls \
         caught: {caught}/{caught}"
    );
    for expected in &cell.expectations {
        let Expectation { check, of, versions } = expected;
        reason.push_str(&format!("; {check} as expected of {of} {versions}"));
    }
    let decision = Decision::plain(Outcome::Pass, reason);
    if !cell.hazard {
        return decision;
    }
    let gone = hazard(&subject.findings, marks);
    match gone.len() {
        0 => {
            let why = "the expected loss was not seen: no event is lost or gone";
            Decision::inconclusive(Problem::new(Cause::NothingExamined, why))
        }
        1 => Decision { hazard_shown: Some(String::from("hazard shown: 1 event")), ..decision },
        n => Decision { hazard_shown: Some(format!("hazard shown: {n} events")), ..decision },
    }
}

/// Events that a hazard scenario shows as lost.
fn hazard<'a>(findings: &'a [Finding], marks: &'a Marks) -> BTreeSet<&'a String> {
    let shown = findings.iter().filter(|finding| finding.result == FindingResult::Holds);
    shown.flat_map(|finding| &finding.events).chain(&marks.lost).collect()
}

pub(super) fn server_version(history: &History, kind: ServerKind) -> Option<String> {
    history.events().find_map(|event| match event {
        Event::Attested(attested) if attested.subject == AttestedSubject::Server(kind) => {
            Some(attested.version.clone())
        }
        _ => None,
    })
}

pub(super) fn client_version(history: &History, library: &str) -> Option<String> {
    history.events().find_map(|event| match event {
        Event::Attested(attested) => match &attested.subject {
            AttestedSubject::Client { library: loaded, .. } if loaded == library => {
                Some(attested.version.clone())
            }
            _ => None,
        },
        _ => None,
    })
}

fn waits(subject: Option<&Judged<'_>>) -> Vec<(String, u64)> {
    let waits = subject.map(|subject| subject.unit.waits.as_slice()).unwrap_or_default();
    waits.iter().map(|wait| (wait.what.clone(), wait.ms)).collect()
}

/// Evidence of the cell: its subject, its controls, its baseline.
fn histories(cell: &Cell, run: &RunRecord) -> Vec<HistoryRef> {
    if cell.unsupported.is_some() {
        return Vec::new();
    }
    let controls = cell.controls.iter().map(|control| &control.unit);
    let units = cell.subjects().chain(controls).chain([&cell.baseline]);
    let reference = |unit: &String| {
        run.units.get(unit).map(|ran| HistoryRef {
            unit: unit.clone(),
            path: ran.history.clone(),
            sha256: ran.sha256.clone(),
        })
    };
    units.filter_map(reference).collect()
}
