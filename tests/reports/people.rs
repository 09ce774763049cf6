//! What console, summary and JUnit tell people, beyond the goldens: said once, and as what it is.
//! Samples come in, changed in one way at a time; the words of the renderers are compared.
//! It must never depend on the order or layout of a report: those are the goldens' matter.

use std::path::Path;

use ackproof::names::{Cause, Outcome};
use ackproof::reports::console::{self, Style};
use ackproof::reports::{junit, markdown};
use ackproof::verdict::{CellReport, RunReport};

use crate::sample;

/// Renderers for people, each with its name.
fn for_people(report: &RunReport) -> [(&'static str, String); 2] {
    let console = console::render(report, Path::new("out"), Style::Plain);
    [("console", console), ("summary", markdown::render(report))]
}

#[test]
fn controls_that_fail_as_the_real_worker_are_as_they_must_be() {
    let mut report = sample("fail-with-lost-event");
    report.cells[0].only_control = true;
    report.cells[0].controls.clear();
    (report.summary.controls, report.summary.controls_caught) = (0, 0);
    for (name, text) in for_people(&report) {
        assert!(text.contains("every control fails, as each of them must"), "{name}: {text}");
        assert!(text.contains("1/1") && !text.contains("a guarantee is broken"), "{name}: {text}");
    }
    assert_eq!(report.exit_code(), 1);
    // One that holds is what is wrong here.
    let mut holding = report.cells[0].clone();
    (holding.outcome, holding.cause) = (Outcome::Inconclusive, Some(Cause::ControlNotCaught));
    report.cells.push(holding);
    (report.summary.cells, report.summary.inconclusive) = (2, 1);
    for (name, text) in for_people(&report) {
        assert!(text.contains("not every control fails"), "{name}: {text}");
        assert!(text.contains("1/2"), "{name}: {text}");
    }
    // A run of real workers is what it was.
    report.cells[0].only_control = false;
    for (name, text) in for_people(&report) {
        assert!(text.contains("a guarantee is broken"), "{name}: {text}");
    }
}

#[test]
fn what_several_cells_lack_is_said_once_with_their_number() {
    let mut report = sample("inconclusive-each-cause");
    let cause = Some(Cause::Environment);
    let lacking = report.cells.iter().find(|cell| cell.cause == cause).unwrap().clone();
    let reason = String::from("no image for kafka 4.3.1: nobody has it");
    report.cells = (1..=3)
        .map(|n| format!("a/cell-{n}@kafka"))
        .map(|id| CellReport { id, reason: reason.clone(), ..lacking.clone() })
        .collect();
    let other = CellReport { reason: String::from("another one"), ..lacking };
    report.cells.insert(1, other);
    for (name, text) in for_people(&report) {
        assert_eq!(
            text.matches("3 cells").count(),
            if name == "console" { 4 } else { 1 },
            "{text}"
        );
        assert!(text.contains("cells: a/cell-1@kafka, a/cell-2@kafka, a/cell-3@kafka"), "{text}");
        assert_eq!(text.matches("next: ").count(), 2, "{name}: {text}");
        assert!(text.contains("another one"), "{name}: {text}");
    }
    let (_, console) = &for_people(&report)[0];
    assert_eq!(console.matches(&reason).count(), 1, "{console}");
    // Cells that were decided each have their own words, whatever these are.
    report.cells.iter_mut().for_each(|cell| cell.outcome = Outcome::Fail);
    for (name, text) in for_people(&report) {
        assert!(!text.contains("3 cells"), "{name}: {text}");
    }
}

#[test]
fn a_story_that_was_cut_off_shows_no_results() {
    let mut report = sample("fail-with-lost-event");
    for cause in [Cause::Environment, Cause::Cancelled] {
        let cell = &mut report.cells[0];
        (cell.outcome, cell.cause) = (Outcome::Inconclusive, Some(cause));
        let lost = cell.marks.lost.first().unwrap().clone();
        let xml = junit::render(&report).unwrap();
        let texts = for_people(&report).map(|(_, text)| text);
        let shown = cause == Cause::Environment;
        for text in texts.iter().chain([&xml]) {
            assert_eq!(text.contains("violated, examined"), shown, "{cause}: {text}");
            assert_eq!(text.contains("fault: "), shown, "{cause}: {text}");
        }
        assert_eq!(xml.contains(&format!("name=\"lost\" value=\"{lost}")), shown, "{xml}");
        assert_eq!(texts[1].contains("| **23** | **1** |"), shown, "{}", texts[1]);
    }
}

#[test]
fn each_control_is_listed_with_a_cell_of_its_own() {
    let report = sample("pass-with-hazard");
    let text = markdown::render(&report);
    let list = text.split("## Controls").nth(1).unwrap().split("## ").next().unwrap();
    let with_control = report.cells.iter().filter(|cell| !cell.controls.is_empty());
    for cell in with_control {
        assert!(list.contains(&format!("of `{}` by", cell.id)), "{}: {list}", cell.id);
    }
}
