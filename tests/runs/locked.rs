//! `pins.lock` on real images: what is locked runs, and whatever else is behind a pin does not.
//! A folder of suites with a lock goes in, intact or changed; exit codes and messages are compared.
//! It must never write into the project's own lock.

use std::path::Path;

use tempfile::TempDir;

use super::engine::runs;
use super::program::{Ended, run};

const LOCK: &str = "pins.lock";

/// The pins and one small story of this project, in a folder of their own.
fn suites() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in ["pins.yaml", "inbox/kept-long-enough.yaml"] {
        let to = folder.path().join(Path::new(file).file_name().expect("a name"));
        std::fs::copy(Path::new("suites").join(file), to).expect("copied");
    }
    folder
}

fn verb(verb: &[&str], suites: &TempDir) -> Ended {
    let path = suites.path().to_str().expect("UTF-8");
    let filter = ["--filter", "broker(kafka)"];
    run(&[verb, &[path], &filter].concat())
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_locked_run_wants_what_is_locked_and_nothing_else() {
    let suites = suites();
    let file = suites.path().join(LOCK);
    let before = runs();
    let missing = verb(&["run", "--locked"], &suites);
    assert_eq!(missing.code, 3, "{}", missing.stderr);
    assert!(missing.stderr.contains("pins.lock"), "{}", missing.stderr);
    assert!(missing.stderr.contains("`ackproof images --lock`"), "{}", missing.stderr);
    assert!(!missing.path("junit.xml").exists(), "nothing was run");

    let written = verb(&["images", "--lock"], &suites);
    written.expect_code(0);
    let lock = std::fs::read_to_string(&file).expect("a lock");
    assert!(lock.contains("\"kafka-4.3.1\"") && !lock.contains("pulsar-4"), "{lock}");
    verb(&["run", "--locked"], &suites).expect_code(0);
    assert_eq!(std::fs::read_to_string(&file).expect("a lock"), lock, "a run writes no lock");

    let is_hash = |line: &&str| line.contains("\"kafka-4.3.1\"");
    let line = lock.lines().find(is_hash).expect("an entry");
    let hash = line.split('"').nth(3).expect("a hash");
    let other = "0".repeat(64);
    std::fs::write(&file, lock.replace(hash, &other)).expect("written");
    let refused = verb(&["run", "--locked"], &suites);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    let said = format!("kafka-4.3.1: locked is sha256 {other}, here is {hash}");
    assert!(refused.stderr.contains(&said), "{}", refused.stderr);
    assert!(!refused.path("junit.xml").exists(), "nothing was run");

    std::fs::write(&file, lock.replace("\"rdkafka\": \"", "\"rdkafka\": \"9")).expect("written");
    let refused = verb(&["run", "--locked"], &suites);
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(refused.stderr.contains("worker rust: locked is rdkafka 9"), "{}", refused.stderr);
    assert_eq!(runs(), before);
}
