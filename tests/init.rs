//! `ackproof init`: what it writes is a suite that validates, plans, and is the one of the README.
//! Command lines go in, those of the README among them; folders and exit codes come out.
//! It must never need a server: `tests/runs` runs what is written here.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

use ackproof::cli::init::{Choice, files};
use ackproof::names::BrokerKind;
use ackproof::suite::schema::{FileKind, schema};
use ackproof::suite::{self, pins::PinsFile};
use serde_json::Value;

/// The program in a folder of its own.
fn program(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ackproof"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap()
}

fn expect_code(output: &Output, code: i32) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = format!("{}\n{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{said}");
}

/// The arguments of the lines `$ ackproof …` in the README's block about `init`.
fn commands_of_the_readme() -> Vec<Vec<String>> {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let blocks = readme.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let block = blocks.into_iter().find(|block| block.contains("$ ackproof init")).unwrap();
    let lines = block.lines().filter_map(|line| line.strip_prefix("$ ackproof "));
    lines
        .map(|line| line.split('#').next().unwrap().split_whitespace().map(str::to_owned).collect())
        .collect()
}

/// All but the run itself, which needs servers.
#[test]
fn the_commands_of_the_readme_do_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let commands = commands_of_the_readme();
    let verbs: Vec<&str> = commands.iter().map(|words| words[0].as_str()).collect();
    assert_eq!(verbs, ["init", "validate", "run"]);
    for words in commands.iter().filter(|words| words[0] != "run") {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        expect_code(&program(folder.path(), &words), 0);
    }
    let written = folder.path().join(commands[0].last().unwrap());
    let written = written.join("at-least-once/killed-before-ack.yaml");
    let suite = std::fs::read_to_string(written).unwrap();
    let readme = std::fs::read_to_string("README.md").unwrap();
    let shown = readme.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    // The first lines are for editors and for who meets the file first.
    let below_the_comments = suite.split_once("\nkind:").unwrap().1;
    assert_eq!(shown.strip_prefix("kind:").unwrap(), below_the_comments);
}

#[test]
fn whatever_is_chosen_validates_and_plans_for_every_client() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (broker, partitions) in [("kafka", "3"), ("kafka", "64"), ("pulsar", "1"), ("pulsar", "5")]
    {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("first").display().to_string();
        let choice = ["--broker", broker, "--partitions", partitions];
        let arguments = [["init", dir.as_str()].as_slice(), &choice].concat();
        let said = program(root, &arguments);
        expect_code(&said, 0);
        let said = String::from_utf8(said.stdout).unwrap();
        assert!(said.contains(&format!("  ackproof run {dir}\n")), "{said}");
        expect_code(&program(root, &["validate", &dir]), 0);
        let plan = program(root, &["plan", &dir]);
        expect_code(&plan, 0);
        let plan = String::from_utf8(plan.stdout).unwrap();
        assert!(plan.contains("profile quick") && plan.contains("cells (3)"), "{plan}");
        assert!(plan.contains(&format!("killed-before-ack@{broker}-")), "{plan}");
        let loaded = suite::load(&[&dir]);
        let topology = &loaded.suites[0].file.scenarios[0].value.topology;
        assert_eq!(topology.partitions.to_string(), partitions);
    }
}

#[test]
fn what_is_written_fits_the_schemas_that_are_written_beside_it() {
    for broker in [BrokerKind::Kafka, BrokerKind::Pulsar] {
        let files = files(Choice { broker, partitions: 2 });
        let mut checked = 0;
        for (name, text) in files.iter().filter(|(name, _)| name.ends_with(".yaml")) {
            let value: Value = serde_saphyr::from_str(text).unwrap();
            let kind = FileKind::ALL.into_iter().find(|kind| value["kind"] == kind.name()).unwrap();
            let validator = jsonschema::draft202012::new(&schema(kind)).unwrap();
            let wrong: Vec<_> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "{name}: {}", wrong.join("\n"));
            let line = text.lines().next().unwrap();
            let named = line.strip_prefix("# yaml-language-server: $schema=").unwrap();
            let folder = if name.contains('/') { "../" } else { "" };
            let beside = format!("schemas/{}.schema.json", kind.name());
            assert_eq!(named, format!("{folder}{beside}"), "{name}");
            assert!(files.iter().any(|(other, _)| *other == beside), "{beside} is not written");
            checked += 1;
        }
        assert_eq!(checked, 3);
    }
}

#[test]
fn the_versions_are_those_of_the_project() {
    let files = files(Choice { broker: BrokerKind::Kafka, partitions: 3 });
    let (_, text) = files.iter().find(|(name, _)| *name == "pins.yaml").unwrap();
    let ours: PinsFile = serde_saphyr::from_str(text).unwrap();
    let theirs = std::fs::read_to_string("suites/pins.yaml").unwrap();
    let theirs: PinsFile = serde_saphyr::from_str(&theirs).unwrap();
    let plain = |file: &PinsFile| format!("{:?}", file.sets.keys().collect::<Vec<_>>());
    assert_eq!(plain(&ours), plain(&theirs));
    assert!(ours.sets.contains_key("current"));
}

#[test]
fn nothing_is_ever_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine");
    std::fs::create_dir(&mine).unwrap();
    std::fs::write(mine.join("notes.txt"), "mine").unwrap();
    let refused = program(folder.path(), &["init", "mine"]);
    expect_code(&refused, 2);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(message.contains("there is something in this place already"), "{message}");
    assert_eq!(std::fs::read_dir(&mine).unwrap().count(), 1);
    expect_code(&program(folder.path(), &["init", "mine/notes.txt"]), 2);
    assert_eq!(std::fs::read_to_string(mine.join("notes.txt")).unwrap(), "mine");
    // An empty folder is as good as a new one.
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    expect_code(&program(folder.path(), &["init", "empty"]), 0);
    expect_code(&program(folder.path(), &["init", "empty"]), 2);
}

#[test]
fn partitions_are_those_that_a_suite_may_have() {
    let folder = tempfile::tempdir().unwrap();
    for partitions in ["0", "65", "three", "-1"] {
        let arguments = ["init", "first", "--partitions", partitions];
        expect_code(&program(folder.path(), &arguments), 2);
        assert!(!folder.path().join("first").exists(), "{partitions}");
    }
}

/// `validate` reads the manifests of the workers too, where they are and where it is told.
#[test]
fn validate_reads_the_manifests_of_workers() {
    let folder = tempfile::tempdir().unwrap();
    expect_code(&program(folder.path(), &["init", "first"]), 0);
    let worker = folder.path().join("fixtures/workers/odd");
    std::fs::create_dir_all(&worker).unwrap();
    let manifest = std::fs::read_to_string("fixtures/suites/valid/worker.yaml").unwrap();
    std::fs::write(worker.join("worker.yaml"), &manifest).unwrap();
    expect_code(&program(folder.path(), &["validate", "first"]), 0);
    let wrong = manifest.replace("capabilities: [", "capabilities: [telepathy, ");
    assert_ne!(wrong, manifest);
    std::fs::write(worker.join("worker.yaml"), wrong).unwrap();
    let refused = program(folder.path(), &["validate", "first"]);
    expect_code(&refused, 2);
    assert!(String::from_utf8(refused.stdout).unwrap().contains("telepathy"));
    expect_code(&program(folder.path(), &["validate", "first", "--workers", "first"]), 2);
}
