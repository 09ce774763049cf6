//! `summary.md`: the run for people, made for the summary page of a CI job.
//! Verdicts come in; GitHub-flavoured Markdown comes out that also reads well as plain text.
//! It must never let text from outside become markup, nor name a version that was not attested.

use std::collections::BTreeSet;

use super::{story, text};
use crate::names::Outcome;
use crate::verdict::{CellReport, ControlReport, RunReport};

/// Characters of one value in a table.
const VALUE: usize = 300;

/// Renders the whole report.
pub fn render(report: &RunReport) -> String {
    let mut parts = vec![head(report), table(report)];
    parts.extend(section("Broken", details(report, Outcome::Fail)));
    parts.extend(section("Inconclusive", details(report, Outcome::Inconclusive)));
    parts.extend(section("Hazards shown", hazards(report)));
    parts.extend(section("Known", known(report)));
    parts.extend(section("Expected for these versions", expectations(report)));
    parts.extend(section("Unsupported", unsupported(report)));
    parts.extend(section("Controls", controls(report)));
    parts.extend(section("Versions", versions(report)));
    parts.push(evidence(report));
    parts.join("\n\n") + "\n"
}

fn head(report: &RunReport) -> String {
    let sum = &report.summary;
    let cells = if sum.cells == 1 { "cell" } else { "cells" };
    let end = story::early_end(report).map(|why| format!(" Ended early: {}.", words(&why)));
    let partial = story::left_out(report).map(|what| {
        format!(" The profile {} is partial: {}.", code(&report.run.profile), words(&what))
    });
    format!(
        "# ackproof: {}\n\n{} {cells}: {} pass, {} fail, {} inconclusive, {} known, \
         {} unsupported. Controls caught: **{}**.{}{}",
        story::headline(report),
        sum.cells,
        sum.pass,
        sum.fail,
        sum.inconclusive,
        sum.known,
        sum.unsupported,
        story::controls_of_run(report),
        end.unwrap_or_default(),
        partial.unwrap_or_default(),
    )
}

fn table(report: &RunReport) -> String {
    let mut lines = vec![
        String::from(
            "| outcome | cell | effects / deliveries | lost | doubled | reordered | controls | \
             reason |",
        ),
        String::from("|---|---|---|---|---|---|---|---|"),
    ];
    for cell in &report.cells {
        lines.push(format!(
            "| {} | {} | {} / {} | {} | {} | {} | {} | {} |",
            cell.outcome,
            code(&cell.id).replace('|', "\\|"),
            story::bare(cell.counts.effects),
            story::bare(cell.counts.deliveries),
            mark(cell, &cell.marks.lost),
            mark(cell, &cell.marks.doubled),
            mark(cell, &cell.marks.reordered),
            story::controls(cell),
            words(story::reason(cell)),
        ));
    }
    lines.join("\n")
}

/// `no`, how many events, or `-` where nothing was decided.
fn mark(cell: &CellReport, events: &BTreeSet<String>) -> String {
    match events.len() {
        _ if story::cut_off(cell) => String::from("-"),
        0 if !story::is_decided(cell) => String::from("-"),
        0 => String::from("no"),
        n => format!("**{n}**"),
    }
}

fn section(title: &str, items: Vec<String>) -> Option<String> {
    (!items.is_empty()).then(|| format!("## {title}\n\n{}", items.join("\n")))
}

fn of(report: &RunReport, outcome: Outcome) -> impl Iterator<Item = &CellReport> {
    report.cells.iter().filter(move |cell| cell.outcome == outcome)
}

/// The whole explanation of each cell with this outcome, as a code block.
fn details(report: &RunReport, outcome: Outcome) -> Vec<String> {
    let block = |group: Vec<&CellReport>| {
        let (title, words) = match group.as_slice() {
            [cell] => (code(&cell.id), story::explanation(cell)),
            cells => (format!("{} cells", cells.len()), story::common_explanation(cells[0], cells)),
        };
        let text = text::block(&words, text::BLOCK);
        let indented: Vec<_> = text.lines().map(|line| format!("    {line}")).collect();
        format!("### {title}\n\n{}\n", indented.join("\n"))
    };
    let groups = story::alike(report).into_iter();
    groups.filter(|group| group[0].outcome == outcome).map(block).collect()
}

fn hazards(report: &RunReport) -> Vec<String> {
    let shown = |cell: &CellReport| {
        let hazard = cell.hazard_shown.as_ref()?;
        Some(format!(
            "- {}: {}; lost: {}",
            code(&cell.id),
            words(hazard),
            words(&story::events(&cell.marks.lost))
        ))
    };
    report.cells.iter().filter_map(shown).collect()
}

/// Every known issue that a cell was in the range of, whether it showed or not.
fn known(report: &RunReport) -> Vec<String> {
    let mut lines = Vec::new();
    for cell in &report.cells {
        let issues = cell.known.iter().map(story::known);
        lines.extend(issues.map(|issue| format!("- {}: {}", code(&cell.id), words(&issue))));
    }
    lines
}

fn expectations(report: &RunReport) -> Vec<String> {
    let mut lines = Vec::new();
    for cell in &report.cells {
        let expected = cell.expectations.iter().map(story::expectation);
        lines.extend(expected.map(|line| format!("- {}: {}", code(&cell.id), words(&line))));
    }
    lines
}

fn unsupported(report: &RunReport) -> Vec<String> {
    let line = |cell: &CellReport| match &cell.unsupported {
        Some(lack) => format!(
            "- {}: lacks {}: {} ({})",
            code(&cell.id),
            code(&lack.capability),
            words(&lack.reason),
            words(&lack.url)
        ),
        None => format!("- {}: {}", code(&cell.id), words(&cell.reason)),
    };
    of(report, Outcome::Unsupported).map(line).collect()
}

/// Several cells may refer to one control; each is listed once, with the first of its cells.
fn controls(report: &RunReport) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let of_cell = |cell: &'_ CellReport| {
        let first = cell.controls.iter().filter(|control| seen.insert(control.history.clone()));
        let line = |control: &ControlReport| {
            let caught = if control.caught { "caught" } else { "**not caught**" };
            format!(
                "- {caught}: {} of {} by {}: {}",
                code(&control.id),
                code(&cell.id),
                code(&control.caught_by),
                words(&control.reason)
            )
        };
        first.map(line).collect::<Vec<_>>()
    };
    report.cells.iter().flat_map(of_cell).collect()
}

fn versions(report: &RunReport) -> Vec<String> {
    let mut lines = BTreeSet::new();
    for cell in &report.cells {
        lines.insert(format!("- broker: {}", words(&story::broker(cell))));
        lines.insert(format!("- client: {}", words(&story::client(cell))));
        lines.insert(format!("- database: {}", words(&story::database(cell))));
    }
    for server in &report.run.servers {
        lines.insert(format!(
            "- image: {} ({}, {})",
            code(&server.image),
            words(&server.source),
            code(&server.digest)
        ));
    }
    lines.into_iter().collect()
}

fn evidence(report: &RunReport) -> String {
    let run = &report.run;
    format!(
        "## Evidence\n\n- root hash: {}\n- suite hash: {}\n- run: {}, started {}, seed {}, \
         profile {}, ackproof {}\n- command: {}",
        code(&run.root_hash),
        code(&run.suite_hash),
        code(&run.id),
        words(&run.started),
        run.seed,
        words(&run.profile),
        words(&run.ackproof),
        code(&run.command.join(" ")),
    )
}

/// Text in which nothing is markup.
pub(super) fn words(text: &str) -> String {
    let mut out = String::new();
    for c in text::line(text, VALUE).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' | '$' | '@' => {
                out.push('\\');
                out.push(c);
            }
            other => out.push(other),
        }
    }
    out
}

/// A code span; a backtick in it cannot end it.
fn code(text: &str) -> String {
    let inside = text::line(text, VALUE).replace('`', "'");
    match inside.trim().is_empty() {
        true => String::from("(empty)"),
        false => format!("`{inside}`"),
    }
}
