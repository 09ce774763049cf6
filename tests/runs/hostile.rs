//! Workers that misbehave: each costs its own cell, and never the run.

use super::engine::left_of;
use super::program::run;

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_worker_behind_a_launcher_works_and_dies_with_it() {
    let folder = "fixtures/hostile/behind-a-launcher";
    let story = "id(at-least-once/sigkill-before-ack@kafka*)";
    let ended = run(&["run", "suites", "--workers", folder, "--filter", story]);
    ended.expect_code(0);
    let cell = ended.cell("at-least-once/sigkill-before-ack@kafka");
    let findings = cell["findings"].as_array().expect("findings");
    let links = findings.iter().find(|f| f["check"] == "links_only").expect("links_only");
    // The shell has no socket: what was seen are the sockets of its child.
    assert!(links["examined"].as_u64() > Some(0), "{links:#}");
    forget("behind-a-launcher");
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn hostile_workers_are_named_and_the_reports_stay_readable() {
    for (worker, cause, words) in [
        ("garbage", "runner_error", "this is no JSON"),
        ("megabyte-line", "runner_error", "longer than"),
        ("control-characters", "runner_error", "not UTF-8"),
        ("dies-at-start", "runner_error", "cannot load the client library"),
        ("silent", "runner_error", "has not said hello"),
        ("wrong-version", "wrong_version", "0.0.1"),
        ("flood", "runner_error", "it made more than"),
    ] {
        let folder = format!("fixtures/hostile/{worker}");
        let story = "id(at-least-once/sigkill-before-ack@kafka*)";
        let ended = run(&["run", "suites", "--workers", &folder, "--filter", story]);
        ended.expect_code(3).expect_strict_xml();
        let cell = ended.cell("at-least-once/sigkill-before-ack@kafka");
        assert_eq!(cell["outcome"], "inconclusive", "{worker}: {cell:#}");
        assert_eq!(cell["cause"], cause, "{worker}: {cell:#}");
        let reason = cell["reason"].as_str().expect("a reason");
        assert!(reason.contains(words), "{worker}: {reason}");
        let control = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!ended.stdout.contains(control), "control characters reached the terminal");
        let report = ended.report();
        let id = report["run"]["id"].as_str().expect("an id");
        assert_eq!(left_of(id), Vec::<String>::new());
        forget(&format!("hostile-{worker}"));
    }
}

/// Takes a worker out of the cache that nobody will ask for again.
fn forget(worker: &str) {
    let folder = ackproof::workers::cache::root().join("workers").join(worker);
    std::fs::remove_dir_all(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
}
