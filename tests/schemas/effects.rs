//! No key without an effect: whatever of a suite is taken away or changed, the plan is another one.
//! Every key and every value of the example with all words come in, one change at a time; a change
//! that the program takes and that changes nothing comes out.
//! It must never count the hash of the files as an effect: that changes with every letter.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::Path;

use ackproof::names::BrokerKind;
use ackproof::plan::{Request, Subjects, build};
use ackproof::suite;
use ackproof::suite::manifest::{self, Manifest};
use ackproof::suite::schema::{FileKind, schema};
use ackproof::suite::vocabulary::CAPABILITIES;
use serde_json::{Value, json};

const EXAMPLE: &str = "fixtures/suites/valid/every-word.yaml";
const PINS: &str = "fixtures/suites/valid/pins.yaml";

/// Places that may be otherwise, each with the reason.
const EXPLAINED: [(&str, &str); 2] = [
    ("/scenarios/0/controls/0/brokers", "the scenario is for this broker alone"),
    ("/scenarios/0/needs", "what this client can do it need not be asked for"),
];

/// A worker that can do all that clients of its brokers are ever asked for.
fn able() -> Manifest {
    let mut manifest = manifest::load(Path::new("fixtures/suites/valid/worker.yaml")).unwrap();
    for (broker, client) in &mut manifest.clients {
        let concerns = |of: &[BrokerKind]| of.contains(broker);
        let all = CAPABILITIES.iter().filter(|(_, of)| concerns(of));
        client.capabilities = all.map(|(name, _)| (*name).to_owned()).collect();
        client.lacks = Vec::new();
    }
    manifest
}

fn request() -> Request {
    Request {
        profile: None,
        sets: vec!["new".to_owned()],
        clients: Vec::new(),
        producer: None,
        overrides: Vec::new(),
        filters: Vec::new(),
        subjects: Subjects::Scenarios,
        seed: 1,
        repeat: NonZeroU32::MIN,
        shard: None,
        without: Vec::new(),
        manifests: vec![able()],
    }
}

/// The plan of a suite file, or why there is none.
fn planned(file: &Value) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("suite.yaml");
    std::fs::write(&path, format!("{file:#}")).unwrap();
    let loaded = suite::load(&[path.as_path(), Path::new(PINS)]);
    let mut plan = build(&loaded, &request()).map_err(|problems| {
        problems
            .iter()
            .map(|problem| format!("{}: {}\n", problem.rule, problem.message))
            .collect::<String>()
    })?;
    plan.suite_hash = String::new();
    Ok(serde_json::to_string(&plan).unwrap())
}

/// Every place below a value, as JSON pointers; parts of lists and mappings come after them.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        let place = format!("{at}/{escaped}");
        all.push(place.clone());
        places(value, &place, all);
    };
    match value {
        Value::Object(keys) => keys.iter().for_each(|(key, value)| below(key, value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| below(&n.to_string(), item));
        }
        _ => {}
    }
}

/// The closed lists of words in a schema: an `enum`, or alternatives that are a word each.
fn lists(value: &Value, found: &mut Vec<BTreeSet<String>>) {
    let words = |of: &Value| -> Vec<String> {
        let listed = of["enum"].as_array().into_iter().flatten();
        listed.chain(of.get("const")).filter_map(Value::as_str).map(str::to_owned).collect()
    };
    found.push(words(value).into_iter().collect());
    for alternatives in ["oneOf", "anyOf"].iter().filter_map(|key| value[*key].as_array()) {
        found.push(alternatives.iter().flat_map(words).collect());
    }
    match value {
        Value::Object(keys) => keys.values().for_each(|value| lists(value, found)),
        Value::Array(items) => items.iter().for_each(|item| lists(item, found)),
        _ => {}
    }
}

/// Other values that could stand in a place.
fn others(value: &Value, known: &[BTreeSet<String>]) -> Vec<Value> {
    match value {
        Value::Number(number) => {
            let number = number.as_i64().unwrap();
            vec![json!(number + 1), json!(number - 1), json!(number * 2)]
        }
        Value::Bool(flag) => vec![json!(!flag)],
        Value::String(text) => {
            let words = known.iter().filter(|list| list.contains(text)).flatten();
            let other = words.filter(|word| *word != text).map(|word| json!(word));
            other.chain([json!(format!("{text}x")), json!(format!("{text}1"))]).collect()
        }
        _ => Vec::new(),
    }
}

fn without(file: &Value, place: &str) -> Value {
    let mut file = file.clone();
    let (parent, name) = place.rsplit_once('/').unwrap();
    match file.pointer_mut(parent).unwrap() {
        Value::Object(keys) => drop(keys.remove(&name.replace("~1", "/").replace("~0", "~"))),
        Value::Array(items) => drop(items.remove(name.parse().unwrap())),
        _ => unreachable!("a place stands in a list or a mapping"),
    }
    file
}

#[test]
fn no_key_and_no_value_of_a_suite_is_without_effect() {
    let example = super::parsed(Path::new(EXAMPLE)).unwrap();
    let plan = planned(&example).unwrap();
    assert!(plan.contains("\"unsupported\":null"), "the example is planned as a story to be run");
    let mut known = Vec::new();
    lists(&schema(FileKind::Suite), &mut known);
    let (mut all, mut idle, mut taken) = (Vec::new(), Vec::new(), 0);
    places(&example, "", &mut all);
    all.retain(|place| !EXPLAINED.iter().any(|(start, _)| place.starts_with(start)));
    for place in &all {
        let removed = planned(&without(&example, place));
        taken += usize::from(removed.is_ok());
        if removed.as_ref() == Ok(&plan) {
            idle.push(format!("{place} can be left out"));
        }
        for other in others(example.pointer(place).unwrap(), &known) {
            let mut file = example.clone();
            *file.pointer_mut(place).unwrap() = other.clone();
            let changed = planned(&file);
            taken += usize::from(changed.is_ok());
            if changed.as_ref() == Ok(&plan) {
                idle.push(format!("{place} can be {other}"));
            }
            // One that is taken and plans something else is enough.
            if changed.is_ok() {
                break;
            }
        }
    }
    assert!(all.len() > 200 && taken > 100, "{} places, {taken} changes taken", all.len());
    assert_eq!(idle, [""; 0]);
}
