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
