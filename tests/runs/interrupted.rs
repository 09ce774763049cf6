//! Interruptions: a signal, or the death of the runner itself, at any moment.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::engine::{docker, left_of, runs};
use super::program::{command, ended, run, start};

const KAFKA_STORY: [&str; 4] =
    ["run", "suites", "--filter", "id(at-least-once/sigkill-before-ack@kafka*)"];

/// Reads the program's progress until a line holds all of the texts.
pub fn wait_for_line(lines: &mut impl BufRead, texts: &[&str]) {
    let mut seen = String::new();
    loop {
        let mut line = String::new();
        let read = lines.read_line(&mut line).expect("progress");
        assert!(read > 0, "the program ended before it said {texts:?}:\n{seen}");
        seen.push_str(&line);
        if texts.iter().all(|text| line.contains(text)) {
            return;
        }
    }
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().cast_signed()), signal).expect("sent");
}

pub fn stderr(child: &mut Child) -> BufReader<ChildStderr> {
    BufReader::new(child.stderr.take().expect("a pipe"))
}

/// Polls until the condition holds; an unmet one fails the test.
fn eventually(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "{what} did not come true");
        std::thread::yield_now();
    }
}

/// Pids of the workers that a runner has started.
fn children_of(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task");
    let tasks = std::fs::read_dir(path).into_iter().flatten().flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|text| {
            text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<u32>>()
        })
        .collect()
}

fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.chars().next());
    matches!(state, Some(Some(state)) if state != 'Z')
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn after_ctrl_c_reports_are_valid_and_nothing_is_left() {
    let (mut child, out) = start(&KAFKA_STORY);
    let mut lines = stderr(&mut child);
    wait_for_line(&mut lines, &["flow"]);
    signal(&child, Signal::SIGINT);
    let drain = std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    let ended = ended(child.wait_with_output().expect("it ends"), out);
    drain.join().expect("drained").expect("read");
    ended.expect_code(130).expect_strict_xml();
    let cell = ended.cell("at-least-once/sigkill-before-ack@kafka");
    assert_eq!(cell["outcome"], "inconclusive");
    assert_eq!(cell["cause"], "cancelled");
    let report = ended.report();
    assert_eq!(left_of(report["run"]["id"].as_str().expect("an id")), Vec::<String>::new());
}

/// Were boots not given up, the program would wait for a database that is never ready, far longer
/// than any test may take.
#[test]
#[ignore = "starts containers; ci/test runs it"]
fn ctrl_c_while_servers_boot_gives_the_boots_up() {
    let recipe = tempfile::tempdir().expect("a folder");
    let never_ready =
        "FROM ackproof/base-jre:bookworm-17\nENTRYPOINT [\"sh\", \"-c\", \"sleep 9999\"]\n";
    std::fs::write(recipe.path().join("Dockerfile"), never_ready).expect("written");
    docker(&["build", "-q", "-t", "ackproof/postgres:17.97", &recipe.path().display().to_string()]);
    let story = "id(violations/control-that-passes)";
    let (mut ours, out) =
        command(&["run", "fixtures/suites/violations", "--set", "stuck", "--filter", story]);
    ours.env("ACKPROOF_BOOT_DEADLINE_S", "3600").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = ours.spawn().expect("it starts");
    let mut lines = stderr(&mut child);
    // The broker is up, so the database has been booting for seconds.
    wait_for_line(&mut lines, &["server kafka 4.3.1: ready"]);
    signal(&child, Signal::SIGINT);
    let drain = std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    let ended = ended(child.wait_with_output().expect("it ends"), out);
    drain.join().expect("drained").expect("read");
    docker(&["rmi", "ackproof/postgres:17.97"]);
    ended.expect_code(130).expect_strict_xml();
    assert_eq!(ended.cell("violations/control-that-passes")["cause"], "cancelled");
    let report = ended.report();
    assert_eq!(left_of(report["run"]["id"].as_str().expect("an id")), Vec::<String>::new());
}

#[test]
#[ignore = "needs the engine; ci/test runs it"]
fn an_interrupted_build_is_ended_with_all_that_it_started() {
    let folder = ["--workers", "fixtures/hostile/slow-build"];
    let (mut child, out) = start(&[&KAFKA_STORY[..], &folder[..]].concat());
    let mut lines = stderr(&mut child);
    wait_for_line(&mut lines, &["building"]);
    eventually("the start of the build", || descendants_of(child.id()).len() >= 2);
    let build = descendants_of(child.id());
    signal(&child, Signal::SIGTERM);
    let drain = std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    let ended = ended(child.wait_with_output().expect("it ends"), out);
    drain.join().expect("drained").expect("read");
    ended.expect_code(130).expect_strict_xml();
    eventually("the end of the build", || !build.iter().any(|pid| alive(*pid)));
}

fn descendants_of(pid: u32) -> Vec<u32> {
    let children = children_of(pid);
    let below: Vec<u32> = children.iter().flat_map(|child| descendants_of(*child)).collect();
    [children, below].concat()
}

/// Three moments: servers are booting, servers are ready, workers are at work.
#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_killed_runner_leaves_nothing_that_a_sweep_does_not_take() {
    for moment in ["starting", "ready after", "flow"] {
        let before = runs();
        let (mut child, _out) = start(&KAFKA_STORY);
        wait_for_line(&mut stderr(&mut child), &[moment]);
        if moment == "flow" {
            eventually("the start of a worker", || !children_of(child.id()).is_empty());
        }
        let workers = children_of(child.id());
        signal(&child, Signal::SIGKILL);
        child.wait().expect("reaped");
        eventually("the death of all workers", || !workers.iter().any(|pid| alive(*pid)));
        run(&["clean"]).expect_code(0);
        let left: Vec<String> = runs().into_iter().filter(|run| !before.contains(run)).collect();
        let mine: Vec<String> = left.iter().flat_map(|run| left_of(run)).collect();
        assert_eq!(mine, Vec::<String>::new(), "killed while {moment}");
    }
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_run_beside_a_killed_one_is_not_touched() {
    let (mut victim, _victims) = start(&KAFKA_STORY);
    let (mut other, out) = start(&KAFKA_STORY);
    let mut lines = stderr(&mut other);
    wait_for_line(&mut stderr(&mut victim), &["ready after"]);
    signal(&victim, Signal::SIGKILL);
    victim.wait().expect("reaped");
    run(&["clean"]).expect_code(0);
    let drain = std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    let ended = ended(other.wait_with_output().expect("it ends"), out);
    drain.join().expect("drained").expect("read");
    ended.expect_code(0);
    assert_eq!(ended.cell("at-least-once/sigkill-before-ack@kafka")["outcome"], "pass");
}
