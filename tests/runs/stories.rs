//! The four stories of the quick profile: green with real workers, red with the controls.

use std::collections::BTreeSet;

use super::engine::left_of;
use super::program::{Ended, run};

/// Every cell passes, every control was caught, and nothing is left.
fn expect_green(ended: &Ended, cells: usize) {
    ended.expect_code(0).expect_strict_xml();
    let report = ended.report();
    let summary = &report["summary"];
    assert_eq!(summary["pass"], cells, "{}", ended.stdout);
    assert_eq!(summary["controls"], summary["controls_caught"]);
    assert!(summary["controls"].as_u64() > Some(0));
    let caught = summary["controls"].to_string();
    assert!(ended.stdout.contains(&format!("controls caught: {caught}/{caught}")));
    let run = report["run"]["id"].as_str().expect("an id");
    assert_eq!(left_of(run), Vec::<String>::new());
    let (report, again) = (ended.text("report.json"), run_judge(ended));
    assert!(again.stderr.contains("the same, byte for byte"), "{}", again.stderr);
    assert_eq!(again.code, 0);
    assert_eq!(ended.text("report.json"), report);
    // A report that says something else than the evidence is kept, and does not pass for nothing.
    std::fs::write(ended.path("report.json"), report.replace("pass", "fail")).expect("written");
    assert_eq!(run_judge(ended).code, 3);
    assert_eq!(ended.text("report.json"), report);
    assert!(ended.path("report.json.former").is_file());
}

fn run_judge(ended: &Ended) -> Ended {
    run(&["judge", ended.out.path().to_str().expect("UTF-8")])
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn the_quick_profile_is_green_on_both_brokers() {
    let ended = run(&["run", "suites", "--profile", "quick"]);
    expect_green(&ended, 11);
    let cells = ended.cells();
    let brokers: BTreeSet<&str> =
        cells.iter().filter_map(|cell| cell["broker"]["name"].as_str()).collect();
    assert_eq!(brokers, BTreeSet::from(["kafka", "pulsar"]));
    for cell in &cells {
        let faults = cell["faults"].as_array().expect("faults");
        assert!(faults.iter().all(|fault| fault["landed"] == true), "{cell:#}");
        let findings = cell["findings"].as_array().expect("findings");
        assert!(!findings.is_empty() && findings.iter().all(|f| f["examined"].as_u64() > Some(0)));
    }
    a_changed_history_is_not_believed(&ended);
}

/// One byte of a history changed afterwards spoils its cell, and only its own.
fn a_changed_history_is_not_believed(ended: &Ended) {
    let cell = ended.cell("at-least-once/sigkill-before-ack@kafka");
    let path = cell["histories"][0]["path"].as_str().expect("a path").to_owned();
    let text = ended.text(&path);
    std::fs::write(ended.path(&path), text.replacen("e-0007", "e-0008", 1)).expect("written");
    let again = run_judge(ended);
    assert_eq!(again.code, 3, "{}", again.stdout);
    assert!(again.stderr.contains("DIFFERS"), "{}", again.stderr);
    assert_eq!(ended.cell("at-least-once/sigkill-before-ack@kafka")["outcome"], "inconclusive");
    assert_eq!(ended.cell("redrive/interrupted@kafka")["outcome"], "pass");
    std::fs::write(ended.path(&path), text).expect("written back");
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn the_quick_profile_is_green_on_the_previous_versions() {
    let ended = run(&["run", "suites", "--profile", "quick", "--set", "previous"]);
    expect_green(&ended, 11);
    let attested = |start: &str| ended.cell(start)["broker"]["attested"].clone();
    assert_eq!(attested("redrive/interrupted@kafka"), "4.1.2");
    assert_eq!(attested("redrive/interrupted@pulsar"), "4.0.7");
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn controls_as_the_real_worker_fail_by_the_check_that_they_name() {
    let ended = run(&["run", "suites", "--only-controls"]);
    ended.expect_code(1).expect_strict_xml();
    let cells = ended.cells();
    assert!(cells.len() >= 13, "{}", ended.stdout);
    for (start, check) in [
        ("at-least-once/sigkill-before-ack@kafka-4.3.1+rdkafka-0.39.0~no-inbox", "effects"),
        ("at-least-once/sigkill-before-ack@pulsar-4.2.4+pulsar-6.9.1~ack-then", "conserved"),
        ("dead-letter/missing-topic@kafka-4.3.1+rdkafka-0.39.0~log-and-ack", "conserved"),
        ("redrive/interrupted@pulsar-4.2.4+pulsar-6.9.1~ack-before", "conserved"),
    ] {
        let cell = ended.cell(start);
        assert_eq!(cell["outcome"], "fail", "{start}");
        let findings = cell["findings"].as_array().expect("findings");
        let named = findings.iter().find(|finding| finding["check"] == check).expect(check);
        assert_eq!(named["outcome"], "violated", "{start}: {named:#}");
        assert!(!named["events"].as_array().expect("events").is_empty());
    }
    assert!(cells.iter().all(|cell| cell["outcome"] == "fail"), "{}", ended.stdout);
}

/// Times of all units by the run's own record, in the order of their starts.
fn spans(ended: &Ended) -> Vec<(u64, u64)> {
    let record: serde_json::Value = serde_json::from_str(&ended.text("run.json")).expect("JSON");
    let units = record["units"].as_object().expect("units");
    let ms = |unit: &serde_json::Value, key: &str| unit[key].as_u64().expect("a number");
    let span = |unit| (ms(unit, "started_ms"), ms(unit, "started_ms") + ms(unit, "duration_ms"));
    let mut spans: Vec<_> = units.values().map(span).collect();
    spans.sort_unstable();
    spans
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn with_one_job_no_two_units_overlap() {
    let story = "id(at-least-once/sigkill-before-ack@kafka*)";
    let alone = run(&["run", "suites", "--filter", story, "--jobs", "1"]);
    alone.expect_code(0);
    assert!(spans(&alone).windows(2).all(|pair| pair[0].1 <= pair[1].0), "{:?}", spans(&alone));
    let together = run(&["run", "suites", "--filter", story, "--jobs", "4"]);
    together.expect_code(0);
    assert!(spans(&together).windows(2).any(|pair| pair[0].1 > pair[1].0));
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn the_first_suite_that_init_writes_is_green() {
    for broker in ["kafka", "pulsar"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dir = folder.path().join("first").display().to_string();
        run(&["init", &dir, "--broker", broker]).expect_code(0);
        expect_green(&run(&["run", &dir]), 1);
    }
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn handlers_do_what_they_are_told() {
    let ended = run(&["run", "fixtures/suites/behaviours"]);
    expect_green(&ended, 12);
    let rate = &ended.cell("behaviours/forgotten-ack@pulsar")["rate"];
    assert_eq!(
        (&rate["runs"], &rate["held"], &rate["proven_per_mille"]),
        (&3.into(), &3.into(), &368.into())
    );
    assert!(ended.cell("behaviours/crash@kafka")["rate"].is_null());
}
