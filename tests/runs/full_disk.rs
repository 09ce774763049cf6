//! Servers whose disk fills up in the middle of a story: no verdict, and the server's own words.

use std::process::Stdio;

use super::engine::{docker, runs};
use super::interrupted::{stderr, wait_for_line};
use super::program::{command, ended};

/// What the kernel calls it, in the words of most servers.
const NO_SPACE: &str = "No space left on device";

/// Plays a story of one broker, takes all room of a server's volume while events flow, and expects
/// a cell that is no failure of the worker, no pass, and says who has no room.
fn fill(broker: &str, server: &str, folder: &str, words: &[&str]) {
    let story = format!("id(full-disk/story@{broker}*)");
    let (mut ours, out) = command(&["run", "fixtures/suites/full-disk", "--filter", &story]);
    ours.env("ACKPROOF_DATA_SIZE_MB", "160").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = ours.spawn().expect("it starts");
    let mut lines = stderr(&mut child);
    let unit = format!("full-disk.story@{broker}-");
    wait_for_line(&mut lines, &[&unit, "flow"]);
    let run = format!("label=dev.ackproof.run={}", run_of(child.id()));
    let name = format!("name={server}");
    let container = docker(&["ps", "-q", "--filter", &run, "--filter", &name]);
    let fill = format!("cat /dev/zero > {folder}/fill; true");
    docker(&["exec", &container, "sh", "-c", &fill]);
    let drain = std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
    let ended = ended(child.wait_with_output().expect("it ends"), out);
    drain.join().expect("drained").expect("read");
    ended.expect_code(3).expect_strict_xml();
    let cell = ended.cell(&format!("full-disk/story@{broker}"));
    assert_eq!(cell["outcome"], "inconclusive", "{cell:#}");
    assert_eq!(cell["cause"], "environment", "{cell:#}");
    let reason = cell["reason"].as_str().expect("a reason");
    assert!(reason.contains(&format!("the {server} container ran out of disk space")), "{reason}");
    assert!(words.iter().any(|words| reason.contains(words)), "{reason}");
}

/// The run of a program that is running: its id has the program's process in it.
fn run_of(pid: u32) -> String {
    let mine = format!("-{pid:x}-");
    runs().into_iter().find(|run| run.contains(&mine)).expect("its containers are there")
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_database_that_fills_up_in_a_story_is_said_to_be_full() {
    fill("kafka", "postgres", "/var/lib/postgresql/tooldata", &[NO_SPACE]);
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_kafka_broker_that_fills_up_in_a_story_is_said_to_be_full() {
    fill("kafka", "kafka", "/var/lib/kafka/data", &[NO_SPACE]);
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_pulsar_broker_that_fills_up_in_a_story_is_said_to_be_full() {
    // A write that fails, or its own look every 10 s, whichever comes first.
    fill("pulsar", "pulsar", "/pulsar/data", &["is out-of-space", NO_SPACE]);
}
