//! Workers that misbehave: each costs its own cell, and never the run.

use super::engine::left_of;
use super::program::run;

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn hostile_workers_are_named_and_the_reports_stay_readable() {
    let ended = run(&[
        "run",
        "suites",
        "--workers",
        "fixtures/hostile",
        "--filter",
        "id(at-least-once/sigkill-before-ack@kafka*)",
    ]);
    ended.expect_code(3).expect_strict_xml();
    let cells = ended.cells();
    assert_eq!(cells.len(), 6, "{}", ended.stdout);
    for (worker, cause, words) in [
        ("hostile-garbage", "runner_error", "this is no JSON"),
        ("hostile-megabyte-line", "runner_error", "longer than"),
        ("hostile-control-characters", "runner_error", "not UTF-8"),
        ("hostile-dies-at-start", "runner_error", "cannot load the client library"),
        ("hostile-silent", "runner_error", "has not said hello"),
        ("hostile-wrong-version", "wrong_version", "0.0.1"),
    ] {
        let cell = cells
            .iter()
            .find(|cell| cell["worker"]["name"] == worker)
            .unwrap_or_else(|| panic!("no cell of {worker}"));
        assert_eq!(cell["outcome"], "inconclusive", "{worker}: {cell:#}");
        assert_eq!(cell["cause"], cause, "{worker}: {cell:#}");
        let reason = cell["reason"].as_str().expect("a reason");
        assert!(reason.contains(words), "{worker}: {reason}");
    }
    let control = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!ended.stdout.contains(control), "control characters reached the terminal");
    let report = ended.report();
    assert_eq!(left_of(report["run"]["id"].as_str().expect("an id")), Vec::<String>::new());
}
