//! Controls: was the deliberate defect caught by the check that it names, on the events it strikes?
//! A control's reference and its judged unit come in; a report and what is missing come out.
//! It must never count a control as caught that failed in another way, or on other events.

use std::collections::BTreeSet;

use super::ControlReport;
use super::judged::{Judged, said};
use super::validity::Problem;
use crate::checks::Finding;
use crate::names::Cause;
use crate::plan::ControlRef;

/// What a control comes to: the report, and the problem unless it was caught.
pub(super) fn control(
    reference: &ControlRef,
    judged: &Judged<'_>,
    history: String,
) -> (ControlReport, Option<Problem>) {
    let verdict = caught(reference, judged);
    let finding = named(reference, judged)
        .max_by_key(|finding| finding.events.len())
        .or_else(|| judged.findings.iter().find(|f| f.check == reference.caught_by));
    let (reason, problem) = match verdict {
        Ok(reason) => (reason, None),
        Err(problem) => {
            let why = format!("control {}: {}", reference.id, problem.why);
            (problem.why, Some(Problem::new(problem.cause, why)))
        }
    };
    let report = ControlReport {
        id: reference.id.clone(),
        defect: reference.defect,
        caught: problem.is_none(),
        caught_by: reference.caught_by.clone(),
        reason,
        finding: finding.cloned(),
        history,
    };
    (report, problem)
}

fn named<'a>(
    reference: &'a ControlRef,
    judged: &'a Judged<'_>,
) -> impl Iterator<Item = &'a Finding> {
    judged.violated().filter(|finding| finding.check == reference.caught_by)
}

fn caught(reference: &ControlRef, judged: &Judged<'_>) -> Result<String, Problem> {
    if let Some(problem) = judged.invalid() {
        return Err(problem.clone());
    }
    if let Some(problem) = judged.not_landed() {
        return Err(problem);
    }
    let not = |why: String| Problem::new(Cause::ControlNotCaught, why);
    let strikes = judged.history.map(|history| history.ids(reference.strikes)).unwrap_or_default();
    if strikes.is_empty() {
        return Err(not(format!("it strikes no event ({})", reference.strikes)));
    }
    let check = &reference.caught_by;
    let failed: BTreeSet<&String> =
        named(reference, judged).flat_map(|finding| &finding.events).collect();
    if named(reference, judged).next().is_none() {
        let instead = judged.findings.iter().find(|finding| finding.check == *check);
        let instead = instead.map_or_else(|| String::from("was not examined"), said);
        return Err(not(format!("{check} did not fail: {instead}")));
    }
    let missed: Vec<_> = strikes.iter().filter(|event| !failed.contains(event)).collect();
    if !missed.is_empty() {
        return Err(not(format!("{check} did not fail on {}", list(missed))));
    }
    // The same events may break other rules as well; any other event is another failure.
    for finding in judged.violated() {
        let others: Vec<_> = finding.events.difference(&strikes).collect();
        if finding.events.is_empty() {
            return Err(not(format!("it failed on no event: {}", said(finding))));
        }
        if !others.is_empty() {
            let check = &finding.check;
            return Err(not(format!(
                "{check} failed on {} too, which it does not strike",
                list(others)
            )));
        }
    }
    Ok(format!("{check} failed on {}", list(strikes.iter().collect())))
}

fn list(events: Vec<&String>) -> String {
    crate::checks::named(events)
}
