//! `ackproof rerun`: which cells are run again, as what, and where to.
//! Output directories go in; the plan of the second run and what it says are compared.
//! It must never need a server: a run in vain plans and records like any other.

use serde_json::Value;
use tempfile::TempDir;

use super::evidence::{judged, without_engine};
use crate::program::{Ended, run};
use crate::world::World;

const STORY: &str = "property(redrive)";

fn plan(dir: &TempDir) -> Value {
    serde_json::from_str(&std::fs::read_to_string(dir.path().join("plan.json")).unwrap()).unwrap()
}

fn again(earlier: &TempDir) -> (Ended, TempDir) {
    let out = tempfile::tempdir().unwrap();
    let (dir, to) = (earlier.path().to_str().unwrap(), out.path().to_str().unwrap());
    (without_engine(&["rerun", dir, "--out", to]), out)
}

#[test]
fn what_was_not_decided_is_run_again_with_the_same_units_and_seeds() {
    let earlier = without_engine(&["run", "suites", "--filter", STORY, "--seed", "77"]);
    earlier.expect_code(3);
    let (ended, out) = again(&earlier.out);
    ended.expect_code(3);
    let (before, after) = (plan(&earlier.out), plan(&out));
    assert_eq!(before["seed"], 77);
    assert_eq!(before, after, "nothing was decided, so all of it is run again");
    // What reports of the second run name as its command plans the same cells.
    let record: Value =
        serde_json::from_str(&std::fs::read_to_string(out.path().join("run.json")).unwrap())
            .unwrap();
    let command: Vec<String> = serde_json::from_value(record["command"].clone()).unwrap();
    let (options, out) = command[1..].split_at(command.len() - 3);
    assert_eq!(out[0], "--out");
    let options: Vec<&str> = options.iter().skip(1).map(String::as_str).collect();
    let planned = run(&[&["plan", "--json"], &options[..]].concat());
    planned.expect_code(0);
    let planned: Value = serde_json::from_str(&planned.stdout).unwrap();
    assert_eq!(planned["cells"], after["cells"]);
    assert_eq!(planned["units"], after["units"]);
}

#[test]
fn only_what_failed_or_was_inconclusive_is_run_again() {
    let mut earlier = without_engine(&["run", "suites", "--filter", STORY]);
    earlier.expect_code(3);
    // A cell that the client does not support is decided: it is not run again.
    let mut before = plan(&earlier.out);
    let lack = serde_json::json!({"capability": "x", "reason": "y", "url": "z"});
    before["cells"][0]["unsupported"] = lack;
    earlier.stdout.clear();
    std::fs::write(earlier.out.path().join("plan.json"), before.to_string()).unwrap();
    let (ended, out) = again(&earlier.out);
    ended.expect_code(3);
    let after = plan(&out);
    assert_eq!(after["cells"].as_array().unwrap()[..], before["cells"].as_array().unwrap()[1..]);
    let ids = |key: &str| -> Vec<String> {
        let units = after["units"].as_array().unwrap();
        units.iter().map(|unit| unit[key].to_string()).collect()
    };
    let gone = before["cells"][0]["subject"].to_string();
    assert!(!ids("id").contains(&gone), "{:?}", ids("id"));
    assert!(ended.stderr.contains("of 2 cells again"), "{}", ended.stderr);
}

#[test]
fn where_all_passed_there_is_nothing_to_run() {
    let earlier = judged(World::new(), 0);
    let (ended, out) = again(&earlier);
    ended.expect_code(0);
    assert!(ended.stderr.contains("none of 1 cells"), "{}", ended.stderr);
    assert!(std::fs::read_dir(out.path()).unwrap().next().is_none());
}

#[test]
fn the_evidence_of_the_earlier_run_is_not_overwritten() {
    let earlier = without_engine(&["run", "suites", "--filter", STORY]);
    let dir = earlier.out.path().to_str().unwrap();
    let before = earlier.text("run.json");
    let ended = without_engine(&["rerun", dir, "--out", &format!("{dir}/../{}", name(&earlier))]);
    ended.expect_code(2);
    assert_eq!(earlier.text("run.json"), before);
    without_engine(&["rerun", "fixtures"]).expect_code(2);
    let stranger = ["rerun", dir, "--workers", "fixtures/suites/valid", "--out", "target/never"];
    let ended = without_engine(&stranger);
    ended.expect_code(2);
    assert!(ended.stderr.contains("of the earlier run is not here"), "{}", ended.stderr);
}

fn name(ended: &Ended) -> String {
    ended.out.path().file_name().unwrap().to_str().unwrap().to_owned()
}
