//! The end of a run on the console: one line a cell, what went wrong, and what it rests on.
//! Verdicts, the output directory and a style come in; plain or coloured text comes out.
//! It must never let a control character from outside reach a terminal, nor colour a pipe.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::Path;

use super::{JSON, JUNIT, SUMMARY, story, text};
use crate::names::Outcome;
use crate::verdict::{CellReport, RunReport};

/// Characters of a reason in the table; the whole of it is in the reports.
const REASON: usize = 160;

/// How text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Plain,
    Coloured,
}

impl Style {
    /// Colours only for a terminal, and only where `NO_COLOR` is unset or empty and `TERM` is not
    /// `dumb` (the convention of no-color.org).
    pub fn of(stream: &impl IsTerminal) -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let dumb = set("TERM").is_some_and(|term| term == "dumb");
        match stream.is_terminal() && set("NO_COLOR").is_none() && !dumb {
            true => Self::Coloured,
            false => Self::Plain,
        }
    }

    fn paint(self, outcome: Outcome, text: &str) -> String {
        let code = match outcome {
            Outcome::Fail => 31,
            Outcome::Inconclusive => 33,
            Outcome::Known => 36,
            Outcome::Unsupported => 90,
            Outcome::Pass => 32,
        };
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// Renders the table and what follows it; `out` is the directory that the reports are in.
pub fn render(report: &RunReport, out: &Path, style: Style) -> String {
    let groups = story::alike(report);
    let mut lines = table(&report.cells, &groups, style);
    let needs_words = |o: Outcome| o == Outcome::Inconclusive || report.counts_as_broken(o);
    for group in groups.iter().filter(|group| needs_words(group[0].outcome)) {
        let first = group[0];
        let (title, words) = match group.len() {
            1 => (text::line(&first.id, text::LINE), story::explanation(first)),
            n => (format!("{n} cells"), story::common_explanation(first, group)),
        };
        lines.push(String::new());
        lines.push(style.paint(first.outcome, &title));
        lines.extend(words.lines().map(|line| format!("  {line}")));
    }
    if !report.counts_as_broken(Outcome::Known) {
        lines.extend(known(&report.cells, style));
    }
    lines.push(String::new());
    lines.extend(closing(report, out));
    lines.join("\n") + "\n"
}

/// What is known of the cells whose outcome it is; the table has no room for it.
fn known(cells: &[CellReport], style: Style) -> Vec<String> {
    let mut lines = Vec::new();
    for cell in cells.iter().filter(|cell| cell.outcome == Outcome::Known) {
        lines.push(String::new());
        lines.push(style.paint(cell.outcome, &text::line(&cell.id, text::LINE)));
        lines.extend(cell.known.iter().map(|issue| format!("  known: {}", story::known(issue))));
    }
    lines
}

fn table(cells: &[CellReport], groups: &[Vec<&CellReport>], style: Style) -> Vec<String> {
    let ids: Vec<_> = cells.iter().map(|cell| text::line(&cell.id, text::LINE)).collect();
    let width = ids.iter().map(|id| id.chars().count()).max().unwrap_or(0).max("cell".len());
    let mut lines = vec![format!(
        "{:<12}  {:<width$}  {:>20}  reason",
        "outcome", "cell", "effects/deliveries"
    )];
    for (cell, id) in cells.iter().zip(ids) {
        let mark = style.paint(cell.outcome, &format!("{:<12}", mark(cell.outcome)));
        let numbers =
            format!("{}/{}", story::bare(cell.counts.effects), story::bare(cell.counts.deliveries));
        let shared = groups.iter().find(|g| g.len() > 1 && g.iter().any(|one| one.id == cell.id));
        let reason = match shared {
            Some(group) => format!("{}, {} cells: see below", story::outcome(cell), group.len()),
            None => text::line(story::reason(cell), REASON),
        };
        lines.push(format!("{mark}  {id:<width$}  {numbers:>20}  {reason}"));
    }
    lines
}

fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Fail => "FAIL",
        Outcome::Inconclusive => "INCONCLUSIVE",
        Outcome::Known => "KNOWN",
        Outcome::Unsupported => "UNSUPPORTED",
        Outcome::Pass => "PASS",
    }
}

fn closing(report: &RunReport, out: &Path) -> Vec<String> {
    let out = text::line(&out.display().to_string(), text::LINE);
    let profile = text::line(&report.run.profile, 120);
    let partial =
        story::left_out(report).map(|what| format!("profile {profile} is partial: {what}"));
    let rest = [
        format!("controls caught: {}", story::controls_of_run(report)),
        format!("root hash: {}", text::line(&report.run.root_hash, 120)),
        format!("reports: {out}/{{{JUNIT},{JSON},{SUMMARY}}}"),
    ];
    std::iter::once(summary_line(report)).chain(partial).chain(rest).collect()
}

/// `nothing broken; cells: 4, 3 pass, 1 known`: outcomes that did not occur are left out.
fn summary_line(report: &RunReport) -> String {
    let sum = &report.summary;
    let mut line = format!("{}; cells: {}", story::headline(report), sum.cells);
    for (number, word) in [
        (sum.pass, "pass"),
        (sum.fail, "fail"),
        (sum.inconclusive, "inconclusive"),
        (sum.known, "known"),
        (sum.unsupported, "unsupported"),
    ] {
        if number > 0 {
            // Writing into a String cannot fail.
            let _ = write!(line, ", {number} {word}");
        }
    }
    if let Some(why) = story::early_end(report) {
        let _ = write!(line, " ({why})");
    }
    line
}
