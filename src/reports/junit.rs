//! JUnit XML for CI systems: a test suite per property, a test case per cell.
//! Verdicts come in; a document that a strict XML 1.0 reader accepts comes out.
//! It must never turn an outcome into a milder one than the table in `status` says.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestSuite};

use super::{story, text};
use crate::names::{Cause, Outcome};
use crate::verdict::{CellReport, RunReport};

/// Renders the whole report.
///
/// # Errors
/// When the XML writer refuses; no string of a report can make it do so.
pub fn render(report: &RunReport) -> io::Result<String> {
    let mut document = Report::new("ackproof");
    document.set_time(Duration::from_millis(report.run.duration_ms));
    let mut by_property: BTreeMap<&str, Vec<&CellReport>> = BTreeMap::new();
    for cell in &report.cells {
        by_property.entry(&cell.property).or_default().push(cell);
    }
    for (property, cells) in by_property {
        document.add_test_suite(suite(property, &cells, report));
    }
    if story::nothing_decided(report) {
        document.add_test_suite(nothing_decided());
    }
    document.to_string().map_err(io::Error::other)
}

fn suite(property: &str, cells: &[&CellReport], report: &RunReport) -> TestSuite {
    let mut suite = TestSuite::new(text::line(property, text::LINE));
    let total = cells.iter().map(|cell| cell.duration_ms).sum();
    suite.set_time(Duration::from_millis(total));
    let run = &report.run;
    for (name, value) in [
        ("run", run.id.as_str()),
        ("started", &run.started),
        ("ackproof", &run.ackproof),
        ("profile", &run.profile),
        ("seed", &run.seed.to_string()),
        ("suite_hash", &run.suite_hash),
        ("root_hash", &run.root_hash),
        ("controls_caught", &story::controls_of_run(report)),
    ] {
        suite.add_property(property_of(name, value));
    }
    let strict = run.strict.then(|| String::from("known deviations are failures"));
    for (name, value) in [
        ("partial", story::left_out(report)),
        ("ended_early", story::early_end(report)),
        ("strict", strict),
    ] {
        if let Some(value) = value {
            suite.add_property(property_of(name, &value));
        }
    }
    for server in &run.servers {
        let what = format!("{} ({}, {})", server.image, server.source, server.digest);
        suite.add_property(property_of(&format!("server.{}-{}", server.kind, server.pin), &what));
    }
    suite.add_test_cases(cells.iter().map(|cell| case(cell, report)));
    suite
}

/// A report without a decided cell must not read as green: CI systems count errors, not cells.
fn nothing_decided() -> TestSuite {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(Cause::NothingExamined.to_string());
    status.set_message("no cell was decided: the run is empty, or all of it is unsupported");
    let mut suite = TestSuite::new("ackproof");
    suite.add_test_case(TestCase::new("something was decided", status));
    suite
}

fn case(cell: &CellReport, report: &RunReport) -> TestCase {
    let mut case = TestCase::new(text::line(&cell.id, text::LINE), status(cell, report));
    case.set_classname(text::line(&cell.scenario.replace('/', "."), text::LINE));
    case.set_time(Duration::from_millis(cell.duration_ms));
    for (name, value) in properties(cell) {
        case.add_property(property_of(&name, &value));
    }
    case
}

/// One row an outcome, as the delivery contract's table of outcomes says.
fn status(cell: &CellReport, report: &RunReport) -> TestCaseStatus {
    let message = text::line(story::reason(cell), text::LINE);
    let mut status = match cell.outcome {
        outcome if report.counts_as_broken(outcome) => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
        Outcome::Pass | Outcome::Known => return TestCaseStatus::success(),
        Outcome::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Outcome::Inconclusive => TestCaseStatus::non_success(NonSuccessKind::Error),
        Outcome::Unsupported => TestCaseStatus::skipped(),
    };
    let kind = match (cell.outcome, cell.cause) {
        (Outcome::Inconclusive, Some(cause)) => cause.to_string(),
        (outcome, _) => outcome.to_string(),
    };
    status.set_message(message).set_type(kind);
    // Every part of it is bounded; the whole of it is bounded once more.
    status.set_description(text::block(&story::explanation(cell), text::BLOCK));
    status
}

fn properties(cell: &CellReport) -> Vec<(String, String)> {
    let named = |name: &str, value: String| (String::from(name), value);
    let mut all = vec![
        named("outcome", story::outcome(cell)),
        named("reason", cell.reason.clone()),
        named("level", cell.level.to_string()),
        named("clauses", cell.clauses.join(" ")),
        named("broker", story::broker(cell)),
        named("client", story::client(cell)),
        named("database", story::database(cell)),
        named("worker", format!("{} ({})", cell.worker, cell.pattern)),
        named("controls_caught", story::controls(cell)),
        named("lost", story::mark(cell, &cell.marks.lost)),
        named("doubled", story::mark(cell, &cell.marks.doubled)),
        named("reordered", story::mark(cell, &cell.marks.reordered)),
    ];
    if cell.outcome == Outcome::Known {
        all.push(named("known", cell.reason.clone()));
    }
    for issue in &cell.known {
        all.push((format!("known.{}", issue.check), story::known(issue)));
    }
    for expected in &cell.expectations {
        let name = format!("expectation.{}", expected.check);
        all.push((name, story::expectation(expected)));
    }
    if let Some(rate) = &cell.rate {
        all.push(named("rate", format!("{}/{}", rate.held, rate.runs)));
    }
    if let Some(hazard) = &cell.hazard_shown {
        all.push(named("hazard", hazard.clone()));
    }
    if let Some(mode) = &cell.dead_letter_mode {
        all.push(named("dead_letter_mode", mode.clone()));
    }
    for (name, value) in &cell.values {
        all.push((format!("value.{name}"), value.clone()));
    }
    for (name, number) in story::counts(&cell.counts) {
        if number.is_some() {
            all.push((format!("count.{name}"), story::graded(number)));
        }
    }
    for fault in &cell.faults {
        all.push((format!("receipt.{}", fault.id), story::receipt(fault)));
    }
    for history in &cell.histories {
        all.push((format!("sha256.{}", history.path), history.sha256.clone()));
    }
    all.push(named("reproduce", cell.reproduce.clone()));
    all
}

fn property_of(name: &str, value: &str) -> Property {
    Property::new(text::line(name, text::LINE), text::line(value, text::LINE))
}
