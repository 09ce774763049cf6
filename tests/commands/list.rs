//! `ackproof list`: scenarios and clauses, for people and for programs.
//! Suites go in; tables and documents are compared with what the suites say.
//! It must never pin how many scenarios the project has.

use serde_json::Value;

use crate::program::run;

const SUITES: &str = "fixtures/suites/valid";

fn json(arguments: &[&str]) -> Value {
    let ended = run(arguments);
    ended.expect_code(0);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn scenarios_are_listed_with_what_they_are_about() {
    let listing = json(&["list", SUITES, "--json"]);
    let scenarios = listing["scenarios"].as_array().unwrap();
    let one = scenarios.iter().find(|s| s["id"] == "example/every-word").unwrap();
    for key in ["title", "level"] {
        assert!(one[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {one:#}");
    }
    for key in ["brokers", "clauses", "controls"] {
        assert!(one[key].as_array().is_some_and(|list| !list.is_empty()), "{key}: {one:#}");
    }
    let table = run(&["list", SUITES]);
    table.expect_code(0);
    let line = table.stdout.lines().find(|line| line.starts_with("example/every-word")).unwrap();
    assert!(line.contains(one["title"].as_str().unwrap()), "{line}");
    assert!(table.stdout.lines().last().unwrap().contains("scenarios"), "{}", table.stdout);
}

#[test]
fn the_contract_names_the_clauses_that_nothing_shows() {
    let contract = json(&["list", "suites", "--contract", "--json"]);
    let clauses = contract["clauses"].as_array().unwrap();
    let of =
        |name: &str| clauses.iter().find(|c| c["clause"] == name).unwrap()["scenarios"].clone();
    let ack: Vec<String> = serde_json::from_value(of("ACK-3")).unwrap();
    assert!(ack.contains(&"at-least-once/sigkill-before-ack".to_owned()), "{ack:?}");
    let open: Vec<&str> = clauses
        .iter()
        .filter(|clause| clause["scenarios"].as_array().unwrap().is_empty())
        .map(|clause| clause["clause"].as_str().unwrap())
        .collect();
    let table = run(&["list", "suites", "--contract"]);
    table.expect_code(0);
    let shown = clauses.len() - open.len();
    let count = format!("{shown} of {} clauses are shown by a scenario", clauses.len());
    assert!(table.stdout.contains(&count), "{}", table.stdout);
    let (shown, lacking) = table.stdout.split_once("\nno scenario shows").unwrap();
    for clause in clauses {
        let (id, says) = (clause["clause"].as_str().unwrap(), clause["says"].as_str().unwrap());
        let table = if open.contains(&id) { lacking } else { shown };
        let line = table.lines().find(|line| line.starts_with(&format!("{id} "))).unwrap();
        assert!(line.contains(says) && !says.is_empty(), "{line}");
    }
}

#[test]
fn a_profile_narrows_the_list_and_an_unknown_one_is_a_problem() {
    let count = |arguments: &[&str]| json(arguments)["scenarios"].as_array().unwrap().len();
    let quick = count(&["list", "suites", "--profile", "quick", "--json"]);
    assert!(quick > 0 && quick <= count(&["list", "suites", "--json"]));
    let wrong = run(&["list", "suites", "--profile", "quik"]);
    wrong.expect_code(2);
    assert!(wrong.stderr.contains("did you mean `quick`?"), "{}", wrong.stderr);
}
