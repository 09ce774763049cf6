//! The published JSON Schemas of the YAML files: what editors say is what the program says.
//! Schemas, suites and fixtures come in; every place where the two disagree comes out.
//! It must never need a server: everything here is pure.
//!
//! `UPDATE_GOLDEN=1 cargo test --test schemas` writes the schemas anew.

#![allow(clippy::unwrap_used)]

#[path = "schemas/effects.rs"]
mod effects;

use std::path::{Path, PathBuf};

use ackproof::suite;
use ackproof::suite::deviations::DeviationsFile;
use ackproof::suite::manifest::Manifest;
use ackproof::suite::model::SuiteFile;
use ackproof::suite::pins::{PinsFile, ProfileFile};
use ackproof::suite::schema::{FileKind, schema};
use ackproof::suite::vocabulary::is_id;
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};

const FOLDER: &str = "fixtures/schemas";

fn published(kind: FileKind) -> PathBuf {
    Path::new(FOLDER).join(format!("{}.schema.json", kind.name()))
}

fn validator(kind: FileKind) -> Validator {
    jsonschema::draft202012::new(&schema(kind)).unwrap()
}

/// Every YAML file below a folder, in order.
fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|e| e == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn parsed(path: &Path) -> Option<Value> {
    serde_saphyr::from_str(&std::fs::read_to_string(path).unwrap()).ok()
}

fn kind_of(file: &Value) -> Option<FileKind> {
    FileKind::ALL.into_iter().find(|kind| file["kind"] == kind.name())
}

fn complaints(file: &Value) -> Vec<String> {
    let Some(kind) = kind_of(file) else { return vec!["no kind".to_owned()] };
    let validator = validator(kind);
    validator.iter_errors(file).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

#[test]
fn the_published_schemas_are_those_of_the_program() {
    for kind in FileKind::ALL {
        let text = format!("{:#}\n", schema(kind));
        let path = published(kind);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let known = std::fs::read_to_string(&path).unwrap();
        let hint = "UPDATE_GOLDEN=1 cargo test --test schemas";
        assert!(known == text, "{} is not up to date: {hint}", path.display());
        assert!(jsonschema::meta::is_valid(&schema(kind)), "{}", kind.name());
    }
}

/// As they are read: with their fragments and variables filled in.
#[test]
fn every_valid_file_fits_its_schema() {
    let folders =
        ["suites", "fixtures/init", "fixtures/suites/valid", "fixtures/suites/violations"];
    let manifest = "fixtures/workers/rust/worker.yaml";
    for path in folders.into_iter().chain([manifest]) {
        let loaded = suite::load(&[path]);
        assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
        let suites = loaded.suites.iter().map(|read| &read.source);
        let pins = loaded.pins.iter().map(|read| &read.source);
        let profiles = loaded.profiles.iter().map(|read| &read.source);
        let deviations = loaded.deviations.iter().map(|read| &read.source);
        let manifests = loaded.manifests.iter().map(|read| &read.source);
        let sources = suites.chain(pins).chain(profiles).chain(deviations).chain(manifests);
        let files = sources.map(|source| (source.display.as_str(), source.filled()));
        let fragments = loaded.fragments.iter().map(|f| (f.relative.as_str(), f.text.as_str()));
        // Pieces of pieces are no YAML by themselves.
        let fragments = fragments.filter(|(_, text)| !text.contains("include:"));
        let mut checked = 0;
        for (name, text) in files.chain(fragments) {
            let mut value: Value = serde_saphyr::from_str(text).unwrap();
            // The pieces stand here by now, where people write the names of their files.
            let include = value.get_mut("include").and_then(Value::as_array_mut);
            include.into_iter().flatten().for_each(|file| *file = json!("file.yaml"));
            let found = complaints(&value);
            assert!(found.is_empty(), "{name}:\n{}", found.join("\n"));
            checked += 1;
        }
        assert!(checked > 0, "{path}");
    }
}

/// What stands in files before variables are filled in.
#[test]
fn variables_may_stand_for_every_value() {
    let example = parsed(Path::new("fixtures/suites/valid/every-word.yaml")).unwrap();
    for place in ["topology/partitions", "workload/poison/0", "level", "workers/billing/role"] {
        let mut file = example.clone();
        *file.pointer_mut(&format!("/scenarios/0/{place}")).unwrap() = json!("${name}");
        assert_eq!(complaints(&file), [""; 0], "{place}");
        *file.pointer_mut(&format!("/scenarios/0/{place}")).unwrap() = json!("name");
        assert!(!complaints(&file).is_empty(), "{place}");
    }
}

/// Whether the reader takes a file for what it says it is; the rest is for `ackproof validate`.
fn is_readable(kind: FileKind, text: &str) -> bool {
    match kind {
        FileKind::Suite => serde_saphyr::from_str::<SuiteFile>(text).is_ok(),
        FileKind::Pins => serde_saphyr::from_str::<PinsFile>(text).is_ok(),
        FileKind::Profile => serde_saphyr::from_str::<ProfileFile>(text).is_ok(),
        FileKind::Deviations => serde_saphyr::from_str::<DeviationsFile>(text).is_ok(),
        // Pieces are read where they are used.
        FileKind::Fragments => true,
        FileKind::Worker => serde_saphyr::from_str::<Manifest>(text).is_ok(),
    }
}

/// Unknown keys and words, missing keys, wrong types.
#[test]
fn what_cannot_be_read_is_refused_by_the_schema_too() {
    let mut refused = 0;
    for path in yaml_files(Path::new("fixtures/suites/invalid")) {
        // A file that is no text at all never comes to its schema.
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        // What is filled in can be judged only then.
        if ["${", "include:", "vars:", "matrix:"].iter().any(|word| text.contains(word)) {
            continue;
        }
        // What is no YAML has no structure that could be wrong.
        let Some(file) = parsed(&path) else { continue };
        if kind_of(&file).is_some_and(|kind| is_readable(kind, &text)) {
            continue;
        }
        assert!(!complaints(&file).is_empty(), "{}", path.display());
        refused += 1;
    }
    assert!(refused >= 8, "{refused} files are too few");
}

/// Words that are no Rust enum are closed in the schema all the same.
#[test]
fn foreign_words_are_refused_by_the_schema() {
    let example = parsed(Path::new("fixtures/suites/valid/every-word.yaml")).unwrap();
    assert_eq!(complaints(&example), [""; 0], "with its variables");
    let changes = [
        ("/scenarios/0/clauses/0", json!("ACK-99")),
        ("/scenarios/0/needs/0", json!("telepathy")),
        ("/scenarios/0/id", json!("Not A Name")),
        ("/scenarios/0/brokers/0", json!("carrier-pigeon")),
        ("/scenarios/0/workers/billing/pattern", json!("hope")),
        ("/scenarios/0/workers/billing/options", json!({"rabbit": {}})),
        ("/scenarios/0/controls/0/caught_by", json!("luck")),
        ("/scenarios/0/faults/0/stall/when/point", json!("before_lunch")),
        ("/scenarios/0/workload/events", json!(0)),
        ("/scenarios/0/checks/0", json!({"effects": {"of": "all"}})),
    ];
    for (place, wrong) in changes {
        let mut file = example.clone();
        *file.pointer_mut(place).unwrap() = wrong;
        assert!(!complaints(&file).is_empty(), "{place}");
    }
}

#[test]
fn every_suite_names_its_schema_for_editors() {
    let folders = ["suites", "fixtures/init"];
    for path in folders.into_iter().flat_map(|folder| yaml_files(Path::new(folder))) {
        let text = std::fs::read_to_string(&path).unwrap();
        let line = text.lines().next().unwrap();
        let named = line.strip_prefix("# yaml-language-server: $schema=").unwrap_or_default();
        let named = path.parent().unwrap().join(named);
        let kind = text.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap();
        let kind = FileKind::ALL.into_iter().find(|known| known.name() == kind).unwrap();
        let wanted = published(kind).canonicalize().unwrap();
        let todo = "begin it with `# yaml-language-server: $schema=` and the path to its schema";
        assert_eq!(named.canonicalize().ok(), Some(wanted), "{}: {todo}", path.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_name_of_the_schema_is_a_name_of_the_program(text in "[a-zA-Z0-9_. é-]{0,64}") {
        let pattern = json!({"pattern": ackproof::names::ID_PATTERN});
        let fits = jsonschema::draft202012::is_valid(&pattern, &json!(text));
        prop_assert_eq!(fits, is_id(&text));
    }
}
