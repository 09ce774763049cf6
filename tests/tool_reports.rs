//! Public reports about tools like this one: where the runner's own tests show how it stands there.
//! A table comes in, and the sources of the tests; a list of rows that name nothing comes out.
//! It must never run what it names: those tests have their own files, and some need an engine.

use std::fs;
use std::path::Path;

/// A report, the test that is about it, and what that test shows.
struct Row(&'static str, &'static str, &'static str, &'static str);

const TABLE: [Row; 13] = [
    Row(
        "B97",
        "tests/runs/interrupted.rs",
        "a_killed_runner_leaves_nothing_that_a_sweep_does_not_take",
        "What a runner leaves that was ended by SIGKILL is swept by its labels.",
    ),
    Row(
        "B97",
        "tests/runs/interrupted.rs",
        "a_run_beside_a_killed_one_is_not_touched",
        "The sweep leaves the containers of a living run alone.",
    ),
    Row(
        "B97",
        "src/env/sweep.rs",
        "what_has_no_labels_of_ours_is_never_touched",
        "Nor does it touch what others started.",
    ),
    Row(
        "B99",
        "src/brokers/kafka/server.rs",
        "the_link_is_advertised_and_the_observer_mapped",
        "Host ports are chosen and fixed before the container starts, none is left to the engine.",
    ),
    Row(
        "B99",
        "tests/brokers_live.rs",
        "kafka",
        "After SIGKILL and a start of the same container it is asked at the same address.",
    ),
    Row(
        "B103",
        "src/brokers/kafka/server.rs",
        "the_link_is_advertised_and_the_observer_mapped",
        "What the broker advertises to workers is the runner's link.",
    ),
    Row(
        "B103",
        "src/env/sockets.rs",
        "our_own_connection_is_seen_and_a_listener_is_not",
        "The connections of a process are read from the kernel.",
    ),
    Row(
        "B103",
        "tests/verdicts/validity.rs",
        "a_worker_past_its_link_invalidates_the_evidence",
        "A worker that was seen to go past its link makes the cell inconclusive, never green.",
    ),
    Row(
        "B105",
        "tests/brokers_live.rs",
        "pulsar",
        "Topics are made, written, and read as soon as the ready probe succeeds.",
    ),
    Row(
        "B105",
        "tests/runs/broken.rs",
        "a_server_that_never_gets_ready_is_named_with_the_end_of_its_log",
        "A server whose probe never succeeds is an error of the environment, not of a client.",
    ),
    Row(
        "B107",
        "tests/reports.rs",
        "any_code_point_anywhere_stays_valid_xml",
        "Whatever a worker writes, JUnit XML stays well-formed.",
    ),
    Row(
        "B107",
        "tests/reports.rs",
        "every_junit_report_is_strict_xml",
        "A strict reader takes every report of the samples.",
    ),
    Row(
        "B111",
        "tests/runs/broken.rs",
        "without_an_engine_every_cell_says_what_to_do",
        "An engine that does not answer as it should is said once, with what to do, and ends with \
         a code of its own.",
    ),
];

#[test]
fn every_report_about_tools_has_a_test_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for Row(report, file, test, sentence) in TABLE {
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        if !text.contains(&format!("fn {test}(")) {
            wrong.push(format!("{report}: {file} has no test {test}"));
        }
        if !sentence.ends_with('.') {
            wrong.push(format!("{report}: no sentence says what {test} shows"));
        }
    }
    for report in ["B97", "B99", "B103", "B105", "B107", "B111"] {
        if !TABLE.iter().any(|Row(told, ..)| *told == report) {
            wrong.push(format!("{report}: no test is named"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
