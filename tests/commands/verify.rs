//! `ackproof verify`: what is borne out, and each way in which it is not.
//! Evidence and reports that were changed go in; exit codes and what differs are compared.
//! It must never find a directory changed after it.

use std::path::Path;

use tempfile::TempDir;

use super::evidence::judged;
use crate::program::{Ended, run};
use crate::world::outcome::doubled;
use crate::world::{SUBJECT, World};

fn verify(dir: &TempDir, more: &[&str]) -> Ended {
    let report = dir.path().join("report.json");
    run(&[&["verify", report.to_str().unwrap()], more].concat())
}

fn change(dir: &TempDir, name: &str, from: &str, to: &str) {
    let path = dir.path().join(name);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    std::fs::write(&path, text.replace(from, to)).unwrap();
}

fn root_hash(dir: &TempDir) -> String {
    let text = std::fs::read_to_string(dir.path().join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    report["run"]["root_hash"].as_str().unwrap().to_owned()
}

fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(self::files(&path)),
            false => files.push((path.display().to_string(), std::fs::read(&path).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn a_report_that_follows_from_its_evidence_is_verified_whatever_it_says() {
    let mut broken = World::new();
    broken.tell(SUBJECT, doubled);
    for (world, code) in [(World::new(), 0), (broken, 1)] {
        let dir = judged(world, code);
        let before = files(dir.path());
        verify(&dir, &[]).expect_code(0);
        let hash = root_hash(&dir);
        verify(&dir, &["--expect", &hash]).expect_code(0);
        verify(&dir, &["--expect", &hash.to_uppercase()]).expect_code(0);
        assert_eq!(files(dir.path()), before, "verify writes nothing");
    }
}

#[test]
fn each_change_is_found_and_named() {
    let history = "histories/subject.ndjson";
    for (file, from, to, says) in [
        ("report.json", "\"outcome\": \"pass\"", "\"outcome\": \"fail\"", ".outcome"),
        ("report.json", "\"lost\": []", "\"lost\": [\"e-0001\"]", ".marks.lost"),
        ("report.json", "\"pass\": 1", "\"pass\": 2", "summary.pass"),
        ("report.json", "\"pass\": 1", "\"pass\": 0, \"pass\": 1", "a key may stand twice"),
        (history, "payload-1", "payload-2", "changed after the run"),
        ("plan.json", "\"seed\":7", "\"seed\":8", "run.root_hash"),
        ("run.json", "\"duration_ms\":9", "\"duration_ms\":8", "run.root_hash"),
    ] {
        let dir = judged(World::new(), 0);
        change(&dir, file, from, to);
        let ended = verify(&dir, &[]);
        ended.expect_code(1);
        assert!(ended.stdout.contains("NOT verified"), "{file}: {}", ended.stdout);
        assert!(ended.stdout.contains(says), "{file}: {}", ended.stdout);
    }
}

/// `judge` writes a report that follows from damaged evidence; the damage stays.
#[test]
fn a_report_about_a_changed_history_is_not_verified() {
    let dir = judged(World::new(), 0);
    change(&dir, "histories/subject.ndjson", "payload-1", "payload-2");
    run(&["judge", dir.path().to_str().unwrap()]).expect_code(3);
    let ended = verify(&dir, &[]);
    ended.expect_code(1);
    assert!(ended.stdout.contains("changed after the run"), "{}", ended.stdout);
}

#[test]
fn a_whole_forgery_is_found_by_the_root_hash_from_elsewhere() {
    let mut broken = World::new();
    broken.tell(SUBJECT, doubled);
    let noted = root_hash(&judged(broken, 1));
    let forged = judged(World::new(), 0);
    verify(&forged, &[]).expect_code(0);
    let ended = verify(&forged, &["--expect", &noted]);
    ended.expect_code(1);
    assert!(ended.stdout.contains(&noted), "{}", ended.stdout);
}

#[test]
fn missing_evidence_bears_nothing_out_and_what_is_no_report_is_refused() {
    let dir = judged(World::new(), 0);
    verify(&dir, &["--expect", "abc"]).expect_code(2);
    std::fs::remove_file(dir.path().join("histories/control.ndjson")).unwrap();
    let ended = verify(&dir, &[]);
    ended.expect_code(1);
    assert!(ended.stdout.contains("is missing or cannot be read"), "{}", ended.stdout);
    std::fs::write(dir.path().join("plan.json"), "{").unwrap();
    verify(&dir, &[]).expect_code(1);
    change(&dir, "report.json", "\"version\": 2", "\"version\": 1");
    verify(&dir, &[]).expect_code(2);
    std::fs::write(dir.path().join("report.json"), "{}").unwrap();
    verify(&dir, &[]).expect_code(2);
    std::fs::remove_file(dir.path().join("report.json")).unwrap();
    verify(&dir, &[]).expect_code(2);
}
