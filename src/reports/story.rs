//! What every report for people says in the same words: numbers, events, receipts, next steps.
//! Parts of a cell's report come in; short texts come out, safe to show.
//! It must never know a format: no XML, no Markdown, no colour.

use std::collections::BTreeSet;

use super::text;
use crate::checks::{Finding, FindingResult};
use crate::names::{Cause, Outcome};
use crate::verdict::{
    CellReport, Counts, ExpectationReport, FaultReport, Graded, KnownReport, KnownStatus, RunReport,
};

/// Events that are named before the rest is only counted.
pub const NAMED_EVENTS: usize = 20;

/// `e-0001, e-0002 and 3 more`, or `none`.
pub fn events(ids: &BTreeSet<String>) -> String {
    if ids.is_empty() {
        return String::from("none");
    }
    let named: Vec<_> = ids.iter().take(NAMED_EVENTS).map(|id| text::line(id, 120)).collect();
    match ids.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// The events of a mark; an empty mark of a cell that was not decided says nothing, and says so.
pub fn mark(cell: &CellReport, ids: &BTreeSet<String>) -> String {
    if cut_off(cell) || ids.is_empty() && !is_decided(cell) {
        return String::from("not decided");
    }
    events(ids)
}

/// Whether a cell's outcome says anything about the guarantee.
pub fn is_decided(cell: &CellReport) -> bool {
    !matches!(cell.outcome, Outcome::Inconclusive | Outcome::Unsupported)
}

/// A story that an interruption ended: what is missing at its end was not lost.
pub fn cut_off(cell: &CellReport) -> bool {
    cell.cause == Some(Cause::Cancelled)
}

/// What the run as a whole says, worst first.
pub fn headline(report: &RunReport) -> &'static str {
    let sum = &report.summary;
    if only_controls(report) {
        match sum.fail == sum.cells {
            true => "every control fails, as each of them must",
            false => "not every control fails, and each of them must",
        }
    } else if sum.fail > 0 {
        "a guarantee is broken"
    } else if sum.known > 0 && report.run.strict {
        "a known deviation showed, which --strict counts as broken"
    } else if sum.cells == sum.unsupported + sum.inconclusive {
        "nothing was decided"
    } else if sum.inconclusive > 0 {
        "nothing broken, but not everything was decided"
    } else if sum.known > 0 {
        "nothing broken but what is known"
    } else {
        "nothing broken"
    }
}

/// Whether the controls ran as if they were the real worker (`--only-controls`).
pub fn only_controls(report: &RunReport) -> bool {
    !report.cells.is_empty() && report.cells.iter().all(|cell| cell.only_control)
}

/// `without java (3 cells left out)`, where something was left out: the profile is partial.
pub fn left_out(report: &RunReport) -> Option<String> {
    let left_out = &report.run.left_out;
    let words = left_out.iter().map(|entry| {
        let count = entry.cells.len();
        let cells = if count == 1 { "cell" } else { "cells" };
        format!("without {} ({count} {cells} left out)", text::line(&entry.word, 120))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Why the run ended before its end, where it did.
pub fn early_end(report: &RunReport) -> Option<String> {
    let stopped =
        report.run.stopped_after.as_ref().map(|cell| {
            format!("no unit was started after {} failed", text::line(cell, text::LINE))
        });
    let interrupted = report.run.cancelled.then(|| String::from("the run was interrupted"));
    let both: Vec<String> = stopped.into_iter().chain(interrupted).collect();
    (!both.is_empty()).then(|| both.join(", and "))
}

/// An empty run, or one that no client or broker supports: no success, though no cell says so.
pub fn nothing_decided(report: &RunReport) -> bool {
    report.summary.cells == report.summary.unsupported
}

/// `10 (ledger)`, or `not observed`.
pub fn graded(number: Option<Graded>) -> String {
    match number {
        Some(Graded { value, grade }) => format!("{value} ({grade})"),
        None => String::from("not observed"),
    }
}

/// `12`, or `-` where nothing observed it.
pub fn bare(number: Option<Graded>) -> String {
    number.map_or_else(|| String::from("-"), |graded| graded.value.to_string())
}

/// All counts by their names in the report document, in its order.
pub fn counts(counts: &Counts) -> [(&'static str, Option<Graded>); 12] {
    let Counts {
        published,
        confirmed,
        unknown,
        deliveries,
        effects,
        duplicates,
        conflicts,
        dead_letters_ever,
        dead_letters_unresolved,
        backlog,
        lost,
        unresolved,
    } = counts;
    [
        ("published", *published),
        ("confirmed", *confirmed),
        ("unknown", *unknown),
        ("deliveries", *deliveries),
        ("effects", *effects),
        ("duplicates", *duplicates),
        ("conflicts", *conflicts),
        ("dead_letters_ever", *dead_letters_ever),
        ("dead_letters_unresolved", *dead_letters_unresolved),
        ("backlog", *backlog),
        ("lost", *lost),
        ("unresolved", *unresolved),
    ]
}

/// `4.3.1, attested 4.3.1`, or what is missing.
pub fn attested(pin: &str, answer: Option<&str>) -> String {
    let pin = text::line(pin, 120);
    match answer {
        Some(answer) => format!("{pin}, attested {}", text::line(answer, 120)),
        None => format!("{pin}, not attested"),
    }
}

/// `pulsar 4.2.4, attested 4.2.4`.
pub fn broker(cell: &CellReport) -> String {
    let versions = attested(&cell.server_pin, cell.server_attested.as_deref());
    format!("{} {versions}", cell.broker)
}

/// `pulsar-client 4.2.4, attested 4.2.4`.
pub fn client(cell: &CellReport) -> String {
    let versions = attested(&cell.client.version, cell.client_attested.as_deref());
    format!("{} {versions}", text::line(&cell.client.library, 120))
}

/// `postgres 17, attested 17.5`.
pub fn database(cell: &CellReport) -> String {
    format!("postgres {}", attested(&cell.database_pin, cell.database_attested.as_deref()))
}

/// A fault and its receipt in one line.
pub fn receipt(fault: &FaultReport) -> String {
    let landed = if fault.landed { "landed" } else { "NOT landed" };
    let healed = match fault.healed {
        Some(true) => ", healed",
        Some(false) => ", NOT healed",
        None => "",
    };
    let story = format!("{} of {} (trigger: {})", fault.kind, fault.target, fault.trigger);
    let story = text::line(&story, text::LINE);
    format!("{story}, {landed}{healed}: {}", text::line(&fault.receipt, text::LINE))
}

/// `2/3`: controls of this cell that were caught, and all of them; `-` where it has none.
pub fn controls(cell: &CellReport) -> String {
    if cell.controls.is_empty() {
        return String::from("-");
    }
    let caught = cell.controls.iter().filter(|control| control.caught).count();
    format!("{caught}/{}", cell.controls.len())
}

/// `2/3` for the whole run, each control counted once however many cells refer to it. Where the
/// controls are the cells, one that fails was caught.
pub fn controls_of_run(report: &RunReport) -> String {
    let sum = &report.summary;
    match only_controls(report) {
        true => format!("{}/{}", sum.fail, sum.cells),
        false => format!("{}/{}", sum.controls_caught, sum.controls),
    }
}

/// A known issue, what became of it, and until when it is accepted, in one line.
pub fn known(issue: &KnownReport) -> String {
    let KnownReport { check, of, versions, version, reason, url, expires, occurs, status } = issue;
    let status = match status {
        KnownStatus::Shown => "showed",
        KnownStatus::Expired => "showed and is PAST its last day",
        KnownStatus::NotShown => "did not show",
        KnownStatus::Undecided => "was not decided",
    };
    let line = format!(
        "{check} in {of} {versions} (here {version}) {status}; occurs {occurs}, accepted until \
         {expires}: {reason} {url}"
    );
    text::line(&line, text::LINE)
}

/// Which checks are the ones for the versions of a cell, in one line each.
pub fn expectation(expected: &ExpectationReport) -> String {
    let ExpectationReport { check, of, versions } = expected;
    text::line(&format!("{check} as expected of {of} {versions}"), text::LINE)
}

/// The findings that do not hold, worst first.
pub fn broken(cell: &CellReport) -> Vec<&Finding> {
    let mut broken: Vec<_> =
        cell.findings.iter().filter(|f| f.result != FindingResult::Holds).collect();
    broken.sort_by_key(|finding| finding.result);
    broken
}

/// The sentence of a cell: its hazard where one was shown, else its reason.
pub fn reason(cell: &CellReport) -> &str {
    cell.hazard_shown.as_deref().unwrap_or(&cell.reason)
}

/// `inconclusive: fault_not_landed`, `pass`, …
pub fn outcome(cell: &CellReport) -> String {
    match (cell.outcome, cell.cause) {
        (Outcome::Inconclusive, Some(cause)) => format!("inconclusive: {cause}"),
        (outcome, _) => outcome.to_string(),
    }
}

/// Cells in their order; those that are inconclusive for one and the same reason stand together, in
/// the place of the first of them.
pub fn alike(report: &RunReport) -> Vec<Vec<&CellReport>> {
    let mut groups: Vec<Vec<&CellReport>> = Vec::new();
    for cell in &report.cells {
        let same = |group: &&mut Vec<&CellReport>| {
            let first = group[0];
            cell.outcome == Outcome::Inconclusive
                && (first.outcome, first.cause, &first.reason)
                    == (cell.outcome, cell.cause, &cell.reason)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
}

/// What cells that stand together have in common, said once.
pub fn common_explanation(first: &CellReport, cells: &[&CellReport]) -> String {
    let mut lines = vec![format!("{}: {}", outcome(first), text::line(&first.reason, text::LINE))];
    lines.extend(first.cause.map(|cause| format!("next: {}", next_step(cause))));
    let ids: BTreeSet<String> = cells.iter().map(|cell| cell.id.clone()).collect();
    lines.push(format!("cells: {}", events(&ids)));
    lines.push(format!("reproduce the first: {}", text::line(&first.reproduce, text::LINE)));
    lines.join("\n")
}

/// Everything that explains a cell which did not pass, as lines of plain text.
pub fn explanation(cell: &CellReport) -> String {
    let mut lines = vec![format!("{}: {}", outcome(cell), text::line(&cell.reason, text::LINE))];
    if let Some(cause) = cell.cause {
        lines.push(format!("next: {}", next_step(cause)));
    }
    if !cell.values.is_empty() {
        let values = cell.values.iter().map(|(name, value)| format!("{name}: {value}"));
        let values = values.collect::<Vec<_>>().join(", ");
        lines.push(format!("values: {}", text::line(&values, text::LINE)));
    }
    if let Some(lack) = &cell.unsupported {
        let lack = format!("{}: {} ({})", lack.capability, lack.reason, lack.url);
        lines.push(format!("lacking: {}", text::line(&lack, text::LINE)));
    }
    for issue in &cell.known {
        lines.push(format!("known: {}", known(issue)));
    }
    for expected in &cell.expectations {
        lines.push(format!("expectation: {}", expectation(expected)));
    }
    if cut_off(cell) {
        let seen =
            "findings: none, for the story was cut off; what was seen of it is in report.json";
        lines.extend((!cell.findings.is_empty()).then(|| seen.to_owned()));
    } else {
        lines.extend(broken(cell).into_iter().flat_map(finding_lines));
        lines.extend(cell.faults.iter().map(|fault| format!("fault: {}", receipt(fault))));
        for control in cell.controls.iter().filter(|control| !control.caught) {
            let text = format!("{} by {}: {}", control.id, control.caught_by, control.reason);
            lines.push(format!("control not caught: {}", text::line(&text, text::LINE)));
        }
    }
    for history in &cell.histories {
        lines.push(format!("evidence: {}", text::line(&history.path, text::LINE)));
    }
    lines.push(format!("reproduce: {}", text::line(&cell.reproduce, text::LINE)));
    lines.join("\n")
}

fn finding_lines(finding: &Finding) -> [String; 4] {
    let word = match finding.result {
        FindingResult::Violated => "violated",
        FindingResult::Indeterminate => "undecided",
        FindingResult::Holds => "holds",
    };
    let check = text::line(&finding.check, 120);
    [
        format!("{check} {word}, examined {}, by {} evidence", finding.examined, finding.grade),
        format!("  expected: {}", text::line(&finding.expected, text::LINE)),
        format!("  observed: {}", text::line(&finding.observed, text::LINE)),
        format!("  events ({}): {}", finding.events.len(), events(&finding.events)),
    ]
}

/// What a reader does about an inconclusive cell.
pub fn next_step(cause: Cause) -> &'static str {
    match cause {
        Cause::WrongVersion => {
            "something else than the pin answered; compare pin and attested version, then pull or \
             build the pinned image, or change pins.yaml"
        }
        Cause::Oom => {
            "a process ran out of memory; give the container engine more, or run fewer units at \
             once with --jobs 1"
        }
        Cause::Environment => {
            "a server, network or disk failed; run `ackproof doctor`, then read the server's log \
             under logs/ in the output directory"
        }
        Cause::Toolchain => {
            "a tool that builds or runs the worker is missing; `ackproof doctor` names it"
        }
        Cause::RunnerError => {
            "the reason says what failed: a worker that breaks the protocol is to be mended there, \
             and anything else is a fault of ackproof: run the cell again with --keep and report \
             it with its history"
        }
        Cause::DamagedEvidence => {
            "evidence that is missing, torn or changed after the run cannot be judged; get the \
             output directory as the run left it, or run the cell again"
        }
        Cause::HealNotVerified => {
            "what the fault changed was not seen to be back, so nothing after it counts; read the \
             fault's receipt and the server's log"
        }
        Cause::BaselineFailed => {
            "the story fails without any fault, so its faults prove nothing; make the baseline \
             pass first"
        }
        Cause::FaultNotLanded => {
            "there is no receipt that the fault struck; check that its worker reaches the point \
             with that event, then run the cell alone"
        }
        Cause::ControlNotCaught => {
            "a deliberate defect went unnoticed, so a pass here would mean nothing; read the \
             control's finding and its history"
        }
        Cause::NothingExamined => {
            "a check had nothing to look at; see whether the workload ran and the needed reads \
             were made"
        }
        Cause::Cancelled => {
            "the run ended before this cell was done, by an interruption or --fail-fast; \
             `ackproof rerun` runs what is missing"
        }
    }
}
