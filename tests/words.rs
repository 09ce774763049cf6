//! `ackproof explain`: every word of the language has its meaning, place and example.
//! Words go in; explanations come out, through the library and through the program.
//! It must never need a server: everything here is pure.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::LazyLock;

use ackproof::checks::{AlwaysOn, CHECKS, CheckSpec, FindingResult, check_names};
use ackproof::cli::explain::{Explanations, list, vocabulary};
use ackproof::faults::FaultSpec;
use ackproof::names;
use ackproof::suite::schema::{FileKind, schema_of};
use ackproof::suite::vocabulary::{CAPABILITIES, CLAUSES, PATTERNS};
use ackproof::suite::words::Word;
use schemars::JsonSchema;

fn explained(word: &str) -> String {
    static FROM_SUITES: LazyLock<Explanations> =
        LazyLock::new(|| Explanations::open(Path::new("suites")));
    FROM_SUITES.of(word).unwrap_or_else(|problem| panic!("{problem}"))
}

fn program(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackproof"));
    command.env("ACKPROOF_WORKERS", "fixtures/workers/rust");
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(arguments).output().unwrap()
}

#[test]
fn every_word_of_every_schema_has_a_meaning_and_a_place() {
    let words = vocabulary();
    assert!(words.all().len() > 200, "{} words are too few", words.all().len());
    for word in words.all() {
        let shown = format!("{}: {:?}, {:?}", word.word, word.meaning, word.places);
        // A sentence, which is also what ends a doc comment.
        assert!(word.meaning.len() > 8 && word.meaning.ends_with(['.', '…', ')']), "{shown}");
        assert!(!word.places.is_empty(), "{shown}");
        assert!(explained(&word.word).contains(&word.meaning), "{shown}");
    }
}

/// The words that serde takes for an enum, without what stands behind them.
fn words_of<T: JsonSchema>() -> Vec<String> {
    let schema = schema_of::<T>();
    let variants = schema["oneOf"].as_array().unwrap().iter();
    let words: Vec<String> = variants
        .filter_map(|variant| {
            let key = || variant["properties"].as_object()?.keys().next().map(String::as_str);
            variant["const"].as_str().or_else(key).map(str::to_owned)
        })
        .collect();
    assert!(!words.is_empty());
    words
}

#[test]
fn every_closed_vocabulary_is_explained() {
    let mut words: BTreeSet<String> = BTreeSet::new();
    words.extend(words_of::<names::BrokerKind>());
    words.extend(words_of::<names::ServerKind>());
    words.extend(words_of::<names::Point>());
    words.extend(words_of::<names::Role>());
    words.extend(words_of::<names::Operation>());
    words.extend(words_of::<names::CallOutcome>());
    words.extend(words_of::<names::EventSet>());
    words.extend(words_of::<names::Grade>());
    words.extend(words_of::<names::TopicRole>());
    words.extend(words_of::<names::Outcome>());
    words.extend(words_of::<names::Cause>());
    words.extend(words_of::<names::Level>());
    words.extend(words_of::<CheckSpec>());
    words.extend(words_of::<FaultSpec>());
    words.extend(words_of::<AlwaysOn>());
    words.extend(words_of::<FindingResult>());
    let listed = CLAUSES.iter().chain(CHECKS).copied().chain(check_names());
    let capabilities = CAPABILITIES.iter().map(|(word, _)| *word);
    let patterns = PATTERNS.iter().map(|(word, _)| *word);
    let kinds = FileKind::ALL.into_iter().map(FileKind::name);
    words.extend(listed.chain(capabilities).chain(patterns).chain(kinds).map(str::to_owned));
    let all = list();
    for word in words {
        explained(&word);
        let is_listed = all.split([' ', ',', '\n']).any(|listed| listed == word);
        assert!(is_listed, "{word} is not in the list");
    }
}

/// The fixtures use every key, but for faults that nothing can inject yet.
#[test]
fn every_key_of_yaml_has_an_example() {
    let words = vocabulary();
    let is_unbuilt = |word: &&Word| word.group == "faults" && word.meaning.contains("Not built");
    let unbuilt: Vec<&str> =
        words.all().iter().filter(is_unbuilt).map(|word| word.word.as_str()).collect();
    let fixtures = Explanations::open(Path::new("fixtures/suites/valid"));
    let mut without = Vec::new();
    for word in words.all() {
        let place = word.places[0].text();
        let is_yaml = FileKind::ALL.iter().any(|kind| word.places[0].file == kind.name());
        let is_late = place.split('.').any(|step| unbuilt.contains(&step));
        // A file of pieces that uses pieces of another one is no YAML by itself.
        let is_elsewhere =
            (word.places[0].file.as_str(), place.as_str()) == ("fragments", "include");
        if word.holds.is_none() || !is_yaml || is_late || is_elsewhere {
            continue;
        }
        let shown = fixtures.of(&word.word).unwrap() + "\n" + &explained(&word.word);
        let mut meanings = shown.split("\n\n").filter(|text| text.contains(&word.meaning));
        if !meanings.any(|text| text.contains("example (")) {
            without.push(place);
        }
    }
    let todo = "use them in fixtures/suites/valid/every-word.yaml";
    assert!(without.is_empty(), "{todo}:\n{}", without.join("\n"));
}

#[test]
fn a_word_with_several_meanings_shows_all_of_them() {
    let text = explained("count");
    assert!(text.matches("count  (keys)").count() >= 2, "{text}");
    for part in [
        "How many of them each event may have.",
        "suite: scenarios[].checks[].effects.count",
        "suite: scenarios[].controls[].change.checks[].deliveries.count",
        "whole number, 1 to 64",
        "may be left out: then it is `1`",
        "suite: scenarios[].workers.NAME.count",
        "ack-timeout/past-limit",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let text = explained("drained");
    assert!(text.contains("drained  (checks)") && text.contains("drained  (ends of a phase)"));
    assert!(text.contains("scenarios[].controls[].caught_by: drained"), "{text}");
}

#[test]
fn spelling_does_not_matter_where_only_one_word_can_be_meant() {
    assert_eq!(explained("ack-3"), explained("ACK-3"));
    assert_eq!(explained("Before-Ack"), explained("before_ack"));
}

#[test]
fn examples_are_cut_from_the_suites_with_their_place() {
    let text = explained("before_ack");
    assert!(text.contains("example (suites/"), "{text}");
    let elsewhere = Explanations::open(Path::new("/nonexistent")).of("before_ack").unwrap();
    assert!(elsewhere.contains("example (an example):"), "{elsewhere}");
    assert!(!elsewhere.contains("used by"), "{elsewhere}");
}

#[test]
fn an_unknown_word_names_the_nearest_ones() {
    let wrong = program(&["explain", "deliverys"]);
    assert_eq!(wrong.status.code(), Some(2));
    let message = String::from_utf8(wrong.stderr).unwrap();
    assert!(message.contains("there is no word `deliverys`"), "{message}");
    assert!(message.contains("`deliveries`"), "{message}");
    let far = program(&["explain", "xylophone"]);
    assert_eq!(far.status.code(), Some(2));
    assert!(String::from_utf8(far.stderr).unwrap().contains("`ackproof explain` lists all words"));
}

#[test]
fn the_program_explains_lists_and_prints_schemas() {
    let listed = program(&["explain"]);
    assert_eq!(listed.status.code(), Some(0));
    assert_eq!(String::from_utf8(listed.stdout).unwrap(), list());
    let word = program(&["explain", "hot_loop"]);
    assert_eq!(word.status.code(), Some(0));
    assert!(String::from_utf8(word.stdout).unwrap().contains("delivery cap was not reached"));
    for kind in FileKind::ALL {
        let schema = program(&["schema", kind.name()]);
        assert_eq!(schema.status.code(), Some(0));
        let published = format!("fixtures/schemas/{}.schema.json", kind.name());
        assert_eq!(
            String::from_utf8(schema.stdout).unwrap(),
            std::fs::read_to_string(published).unwrap()
        );
    }
}
