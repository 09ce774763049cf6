//! The four stories with every client: what they show must not hang on one language or library.
//! All reference workers but the first go in; each of their cells must pass, for its own reasons.
//! It must never take a worker's language for granted: the runner does not know it either.

use std::collections::BTreeSet;

use super::engine::left_of;
use super::program::run;

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn the_four_stories_hold_with_every_client() {
    let all = ["--workers", "fixtures/workers", "--without", "rust"];
    let ended = run(&[&["run", "suites", "--profile", "quick"][..], &all].concat());
    ended.expect_code(0).expect_strict_xml();
    let report = ended.report();
    let summary = &report["summary"];
    assert_eq!(summary["pass"], 22, "{}", ended.stdout);
    assert_eq!(summary["controls"], summary["controls_caught"]);
    let cells = ended.cells();
    let clients: BTreeSet<&str> =
        cells.iter().filter_map(|cell| cell["client"]["family"].as_str()).collect();
    let expected =
        ["confluent-kafka", "kafka-clients", "pulsar-client-java", "pulsar-client-python"];
    assert_eq!(clients, BTreeSet::from(expected));
    for cell in &cells {
        // What was loaded said so itself, and the signal reached the process that was connected:
        // a bracket receipt is only given where its work ended with it.
        assert_eq!(cell["client"]["pin"], cell["client"]["attested"], "{cell:#}");
        let faults = cell["faults"].as_array().expect("faults");
        assert!(faults.iter().all(|fault| fault["landed"] == true), "{cell:#}");
    }
    let id = report["run"]["id"].as_str().expect("an id");
    assert_eq!(left_of(id), Vec::<String>::new());
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn two_versions_of_one_client_stand_side_by_side() {
    let story = "id(at-least-once/sigkill-before-ack) and broker(pulsar)";
    let versions = ["--clients", "current,previous", "--workers", "fixtures/workers/java"];
    let ended = run(&[&["run", "suites", "--filter", story][..], &versions].concat());
    ended.expect_code(0);
    let cells = ended.cells();
    let attested: BTreeSet<&str> =
        cells.iter().filter_map(|cell| cell["client"]["attested"].as_str()).collect();
    assert_eq!(attested.len(), 2, "{}", ended.stdout);
}

/// B30: from Java client 4.0.1 on, a message in chunks that was given back never came again; mended
/// in 4.1.3. Nothing but the pin differs.
#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_regression_is_red_on_the_broken_client_and_green_on_the_mended_one() {
    let with = |version: &str| {
        let pin = format!("pulsar-client-java={version}");
        let story = ["--filter", "id(reports/b30-*)", "--workers", "fixtures/workers/java"];
        run(&[&["run", "suites", "--pin", &pin][..], &story].concat())
    };
    let broken = with("4.0.8");
    broken.expect_code(1);
    let cell = broken.cell("reports/b30-chunked-comes-again@pulsar");
    assert_eq!(cell["client"]["attested"], "4.0.8", "{}", broken.stdout);
    let reason = cell["reason"].as_str().expect("a reason");
    assert!(reason.contains("e-0003: 1"), "the message that was given back: {reason}");
    let mended = with("4.1.3");
    mended.expect_code(0);
    let cell = mended.cell("reports/b30-chunked-comes-again@pulsar");
    assert_eq!((&cell["client"]["attested"], &cell["outcome"]), (&"4.1.3".into(), &"pass".into()));
}
