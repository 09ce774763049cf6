//! Golden histories: every check gives the answer that its folder is named after.
//! `fixtures/histories/<check>[.<variant>]/{holds,violated,indeterminate}/*.ndjson` come in, with
//! the folder's `spec.json`; a list of all disagreements comes out.
//! It must never let a check exist that was not seen to hold, to fail and to be unable to tell.

#![allow(clippy::unwrap_used)]

mod golden;
mod story;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ackproof::checks::{AlwaysOn, CheckSpec, Finding, FindingResult, Scope, check_names};
use ackproof::evidence::History;
use ackproof::names::wire_name;
use serde::{Deserialize, Serialize};

const RESULTS: [FindingResult; 3] =
    [FindingResult::Holds, FindingResult::Violated, FindingResult::Indeterminate];

/// What is applied to the histories of a folder: a check of a scenario, or a rule always on.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub rule: Rule,
    pub scope: Scope,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    Check(CheckSpec),
    Always(AlwaysOn),
}

impl Spec {
    fn name(&self) -> &'static str {
        match &self.rule {
            Rule::Check(check) => check.name(),
            Rule::Always(rule) => rule.name(),
        }
    }

    fn examine(&self, history: &History) -> Finding {
        match &self.rule {
            Rule::Check(check) => check.examine(history, &self.scope),
            Rule::Always(rule) => rule.examine(history, &self.scope),
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/histories")
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn spec(folder: &Path) -> Spec {
    let text = fs::read_to_string(folder.join("spec.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_history_is_judged_as_its_folder_says() {
    let mut wrong = Vec::new();
    let mut judged = 0;
    for folder in sorted(&root()) {
        let spec = spec(&folder);
        for expected in RESULTS {
            for path in sorted(&folder.join(wire_name(&expected))) {
                let history = History::parse(&fs::read_to_string(&path).unwrap()).unwrap();
                let finding = spec.examine(&history);
                judged += 1;
                let shown = path.strip_prefix(root()).unwrap().display().to_string();
                if finding.result != expected {
                    wrong.push(format!("{shown}: {:?}: {}", finding.result, finding.observed));
                }
                if finding.check != spec.name() {
                    wrong.push(format!("{shown}: is called {}", finding.check));
                }
                if finding.result == FindingResult::Holds && finding.examined == 0 {
                    wrong.push(format!("{shown}: holds on nothing"));
                }
            }
        }
    }
    assert!(judged > 100, "only {judged} histories were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_check_is_without_all_three_answers() {
    let mut seen: BTreeMap<&'static str, BTreeSet<FindingResult>> = BTreeMap::new();
    for folder in sorted(&root()) {
        let spec = spec(&folder);
        let base = name(&folder);
        assert_eq!(base.split('.').next().unwrap(), spec.name(), "{base} has another check's spec");
        for result in RESULTS {
            let paths = sorted(&folder.join(wire_name(&result)));
            assert!(!paths.is_empty(), "{base} has no history that is {result:?}");
            seen.entry(spec.name()).or_default().insert(result);
        }
    }
    for check in check_names() {
        let answers = seen.get(check).map_or(0, BTreeSet::len);
        assert_eq!(answers, RESULTS.len(), "{check} has golden histories for {answers} answers");
    }
}

#[test]
fn an_empty_history_never_holds() {
    for folder in sorted(&root()) {
        let path = folder.join("indeterminate/empty.ndjson");
        assert_eq!(fs::read_to_string(&path).unwrap(), "", "{}", path.display());
        let finding = spec(&folder).examine(&History::default());
        assert_eq!(finding.result, FindingResult::Indeterminate, "{}", name(&folder));
    }
}

/// What a person reads has the numbers in it, not only the three answers.
#[test]
fn observations_are_sentences_with_numbers() {
    let observed = |folder: &str, name: &str| {
        let mut cases = golden::cases().into_iter();
        let case = cases.find(|case| case.folder == folder && case.name == name).unwrap();
        case.spec.examine(&case.story.history()).observed
    };
    for (folder, name, text) in [
        ("effects", "one-each", "2 events with 1"),
        ("effects", "none", "1 event with 0, 1 event with 1; e-0002: 0 for shop"),
        ("effects", "nobody-planned-it", "2 events with 1; e-0007: nobody planned it (shop)"),
        (
            "effects",
            "unknown-publication-without-effect",
            "1 event with 1, 1 unknown publication that may not exist",
        ),
        (
            "deliveries.exactly",
            "twice",
            "events × handings-over: 1 × 1, 1 × 2; shown: 1 by claimed; e-0002: 2",
        ),
        ("deliveries.exactly", "once-each", "events × handings-over: 2 × 1; shown: 2 by claimed"),
        ("deliveries", "nothing-struck", "no event; nothing was examined"),
        ("drained", "one-left", "2 messages, left: e-0002; e-0002: orders/0@1 is left (shop)"),
        (
            "conserved",
            "unknown-publication-may-exist",
            "1 effect, 1 publication that may exist, lost: none",
        ),
        ("hot_loop", "once-each", "2 handings over of 2 events"),
        ("hot_loop", "stopped-at-the-cap", "20 handings over of 2 events; e-0002: 2 times"),
        ("links_only", "through-links", "2 sockets through links"),
        ("within_limit", "past-the-limit", "at most 1400 ms of 1000 ms; e-0001: 1400 ms"),
        ("unretained", "counted-and-gone", "2 published, 0 events kept; gone: e-0002, e-0003"),
        ("dead_letters", "one-twice", "3 letters of 2 events"),
        ("not_advanced", "stays", "1 reading"),
        (
            "redrive_known",
            "recorded-and-copied",
            "2 letters recorded; at the interruption 1 known, then 1",
        ),
        (
            "overlap",
            "the-second-waits-for-the-first",
            "the database saw a wait in 1 event, a second effect in 0",
        ),
        (
            "published",
            "acknowledged-and-trimmed",
            "0 messages in the log; 1 acknowledged by all and trimmed, which is legal",
        ),
        ("settled", "nothing-changed", "audit rows: 1, then 1"),
    ] {
        assert_eq!(observed(folder, name), text, "{folder}/{name}");
    }
}

/// The checks of handings-over, times, copies and order: what they expect, and what they saw.
#[test]
fn later_checks_speak_in_sentences_with_numbers_too() {
    let mut cases = golden::cases();
    for (folder, name, expected, observed) in golden::SENTENCES.iter().copied() {
        let at = cases.iter().position(|case| case.folder == folder && case.name == name);
        let at = at.unwrap_or_else(|| panic!("there is no {folder}/{name}"));
        let case = cases.swap_remove(at);
        let finding = case.spec.examine(&case.story.history());
        assert_eq!(finding.expected, expected, "{folder}/{name}");
        assert_eq!(finding.observed, observed, "{folder}/{name}");
    }
}

/// A claim does not say for which destination it is, so with two of them no number is a number.
#[test]
fn claims_of_several_destinations_cannot_be_told() {
    let mut told = 0;
    for mut case in golden::cases() {
        let by_claims = [
            ("deliveries.exactly", "once-each"),
            ("redelivery_counts", "as-expected"),
            ("gaps", "between-the-two"),
            ("not_redelivered", "never-again"),
            ("not_redelivered.visible", "never-again-and-counted"),
            ("order.delivery", "as-published"),
            ("dead_letters.attempts", "each-failure"),
        ];
        if by_claims.contains(&(case.folder, case.name)) {
            told += 1;
            case.spec.scope.destinations.insert(String::from("warehouse"));
            let finding = case.spec.examine(&case.story.history());
            let shown = format!("{}: {}", case.folder, finding.observed);
            assert_eq!(finding.result, FindingResult::Indeterminate, "{shown}");
        }
    }
    assert_eq!(told, 7);
}

/// The same history gives the same finding, and the events that it names are in it.
#[test]
fn findings_are_pure_and_name_the_events_that_break_the_rule() {
    for case in golden::cases() {
        let history = case.story.history();
        let first = case.spec.examine(&history);
        assert_eq!(first, case.spec.examine(&history));
        if let Some(events) = case.events {
            let events: BTreeSet<_> = events.iter().map(|n| story::id(*n)).collect();
            assert_eq!(first.events, events, "{}/{}: {}", case.folder, case.name, first.observed);
        }
        if let Some(grade) = case.grade {
            assert_eq!(first.grade, grade, "{}/{}", case.folder, case.name);
        }
    }
}

#[test]
fn the_committed_histories_are_those_that_are_told_here() {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        write_golden_histories();
    }
    for case in golden::cases() {
        let path = path_of(&case);
        let committed = fs::read_to_string(&path).unwrap_or_else(|_| {
            panic!("{} is missing: UPDATE_GOLDEN=1 cargo test --test histories", path.display())
        });
        assert_eq!(committed, case.story.ndjson(), "{}", path.display());
    }
}

fn path_of(case: &golden::Case) -> PathBuf {
    let folder = root().join(case.folder).join(wire_name(&case.result));
    folder.join(format!("{}.ndjson", case.name))
}

/// `UPDATE_GOLDEN=1 cargo test --test histories` writes fixtures/histories anew.
fn write_golden_histories() {
    for case in golden::cases() {
        let path = path_of(&case);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, case.story.ndjson()).unwrap();
        let spec = serde_json::to_string_pretty(&case.spec).unwrap() + "\n";
        fs::write(root().join(case.folder).join("spec.json"), spec).unwrap();
    }
}
