//! Public reports on paper: a suite each, and two hand-made histories that its checks tell apart.
//! `suites/reports/<id>.yaml` and stories come in; a list of all disagreements comes out.
//! It must never judge by anything but the checks that stand in the suite itself.

#![allow(clippy::unwrap_used)]

#[path = "replays/kafka.rs"]
mod kafka;
#[path = "replays/pulsar.rs"]
mod pulsar;
mod story;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ackproof::checks::{CheckSpec, FindingResult, Scope};
use ackproof::evidence::History;
use ackproof::names::Role;
use ackproof::suite::model::{Presence, Scenario, Until};
use ackproof::suite::{Loaded, load};

use story::Story;

/// One report: what was seen where it holds, and where it does not.
pub struct Replay {
    /// For example `b01`.
    pub report: &'static str,
    /// Wire name of the check that tells the buggy history.
    pub broken: &'static str,
    pub fixed: Story,
    pub buggy: Story,
}

fn replays() -> Vec<Replay> {
    pulsar::replays().into_iter().chain(kafka::replays()).collect()
}

fn suites() -> Loaded {
    load(&["suites"])
}

/// The scenarios of a report, by its id.
fn scenarios<'a>(loaded: &'a Loaded, report: &str) -> Vec<&'a Scenario> {
    let of_report = |id: &str| id == report || id.starts_with(&format!("{report}-"));
    loaded
        .scenarios()
        .filter(|(read, _, _)| read.file.property.value == "reports")
        .map(|(_, _, scenario)| scenario)
        .filter(|scenario| of_report(&scenario.id.value))
        .collect()
}

/// What the plan would say about the scenario, where the client can do what it needs.
fn scope(scenario: &Scenario) -> Scope {
    let topology = &scenario.topology;
    let redrives = scenario.workers.values().any(|spec| spec.value.role == Role::Redriver);
    let subscribed =
        topology.dead_letter.as_ref().is_some_and(|l| l.subscription == Presence::Created);
    let last = scenario.phases.last().map(|phase| &phase.value.until);
    Scope {
        destinations: topology.destinations.keys().cloned().collect(),
        redriver: (redrives || subscribed).then(|| String::from("redriver")),
        ack_timeout_ms: Some(1000),
        drained: matches!(last, Some(Until::Drained | Until::Redriven)),
        faults: scenario.faults.iter().map(|fault| fault.value.clone()).collect(),
        pins: Vec::new(),
        delivery_cap: scenario.limits.deliveries,
    }
}

fn answers(scenario: &Scenario, history: &History) -> Vec<(&'static str, FindingResult, String)> {
    let scope = scope(scenario);
    let examine = |check: &CheckSpec| {
        let finding = check.examine(history, &scope);
        (check.name(), finding.result, finding.observed)
    };
    scenario.checks.iter().map(|check| examine(&check.value)).collect()
}

#[test]
fn the_checks_of_a_report_tell_its_two_histories_apart() {
    let loaded = suites();
    let mut wrong = Vec::new();
    for replay in replays() {
        let report = replay.report;
        let found = scenarios(&loaded, report);
        if found.is_empty() {
            wrong.push(format!("{report}: no scenario in suites/reports"));
        }
        for scenario in found {
            for (check, result, observed) in answers(scenario, &replay.fixed.history()) {
                if result != FindingResult::Holds {
                    wrong.push(format!("{report} fixed: {check} is {result:?}: {observed}"));
                }
            }
            let buggy = answers(scenario, &replay.buggy.history());
            let tells = |(check, result, _): &(&str, FindingResult, String)| {
                *check == replay.broken && *result == FindingResult::Violated
            };
            if !buggy.iter().any(tells) {
                wrong.push(format!("{report} buggy: {} is not violated: {buggy:?}", replay.broken));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_suite_of_a_report_has_its_histories() {
    let loaded = suites();
    let told: BTreeSet<&str> = replays().iter().map(|replay| replay.report).collect();
    for (read, _, scenario) in loaded.scenarios() {
        if read.file.property.value == "reports" {
            let id = &scenario.id.value;
            let report = id.split('-').next().unwrap_or_default();
            assert!(told.contains(report), "{id} has no histories");
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/replays")
}

/// The files are what a stranger can read and judge; `UPDATE_GOLDEN=1` writes them anew.
#[test]
fn the_histories_on_disk_are_the_stories() {
    let mut wrong = Vec::new();
    for replay in replays() {
        for (name, story) in [("fixed", &replay.fixed), ("buggy", &replay.buggy)] {
            let path = root().join(replay.report).join(format!("{name}.ndjson"));
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, story.ndjson()).unwrap();
            }
            if fs::read_to_string(&path).ok() != Some(story.ndjson()) {
                wrong.push(path.display().to_string());
            }
        }
    }
    assert!(wrong.is_empty(), "differ (UPDATE_GOLDEN=1 writes them): {}", wrong.join(", "));
}
