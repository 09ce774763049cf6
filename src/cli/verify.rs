//! `ackproof verify`: does the evidence beside a report bear it out?
//! A `report.json` and perhaps a root hash come in; agreement, or every difference, comes out.
//! It must never write anything: whoever verifies leaves what was found as it was.

use std::path::Path;

use serde_json::Value;

use super::{evidence, exit, output};
use crate::names::Cause;
use crate::reports::json::{self, Document};
use crate::verdict::REPORT_VERSION;

/// Differences that are shown before the rest is only counted.
const SHOWN: usize = 40;

/// Judges the evidence again and compares it with the report, and with a root hash from elsewhere.
pub fn verify(report: &Path, expect: Option<&RootHash>) -> u8 {
    let claimed: Document = match evidence::versioned(report, REPORT_VERSION) {
        Ok(document) => document,
        Err(error) => {
            output::message(&format!("this is no report that can be verified: {error}"));
            return exit::USAGE;
        }
    };
    let folder = match report.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let shown = match evidence::judge(folder) {
        Ok(report) => json::document(&report),
        Err(error) => {
            output::message(&format!("NOT verified: the evidence cannot be judged: {error}"));
            return exit::BROKEN;
        }
    };
    let mut differences = Vec::new();
    if let Some(RootHash(expected)) = expect
        && *expected != shown.run.root_hash
    {
        let found = &shown.run.root_hash;
        differences.push(format!("root hash: {expected} was expected, the evidence has {found}"));
    }
    let damaged = shown.cells.iter().filter(|cell| cell.cause == Some(Cause::DamagedEvidence));
    differences.extend(damaged.map(|cell| format!("cells[{}]: {}", cell.id, cell.reason)));
    match (serde_json::to_value(&claimed), serde_json::to_value(&shown)) {
        (Ok(claimed), Ok(shown)) => compare("", &claimed, &shown, &mut differences),
        (Err(error), _) | (_, Err(error)) => {
            output::message(&format!("cannot compare: {error}"));
            return exit::INCONCLUSIVE;
        }
    }
    if differences.is_empty() && !is_as_written(report, &shown) {
        // Readers that take the first of two equal keys would see another report than this one.
        differences.push("its text is not as ackproof writes it: a key may stand twice".to_owned());
    }
    if differences.is_empty() {
        let cells = shown.cells.len();
        let text = format!(
            "verified: {cells} verdicts follow from the evidence; root hash {}",
            shown.run.root_hash
        );
        return output::result(&text, exit::OK);
    }
    let count = differences.len();
    let mut lines = vec![format!(
        "NOT verified: {count} differences between report, evidence and what the run recorded"
    )];
    lines.extend(differences.iter().take(SHOWN).map(|difference| format!("  {difference}")));
    if count > SHOWN {
        lines.push(format!("  and {} more", count - SHOWN));
    }
    output::result(&lines.join("\n"), exit::BROKEN)
}

/// Whether the file holds the document in the one form in which it is written.
fn is_as_written(report: &Path, document: &Document) -> bool {
    let text = std::fs::read_to_string(report).ok();
    text.is_some_and(|text| json::text(document).is_ok_and(|written| written == text))
}

/// SHA-256 in lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RootHash(String);

impl std::str::FromStr for RootHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(text.to_ascii_lowercase()));
        }
        Err("a root hash has 64 hexadecimal digits; the end of a run and its reports name it"
            .into())
    }
}

/// Every place where two documents say something else.
fn compare(at: &str, claimed: &Value, shown: &Value, differences: &mut Vec<String>) {
    match (claimed, shown) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: std::collections::BTreeSet<&String> =
                left.keys().chain(right.keys()).collect();
            for key in keys {
                let path = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                let absent = &Value::Null;
                let (left, right) = (left.get(key), right.get(key));
                compare(&path, left.unwrap_or(absent), right.unwrap_or(absent), differences);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{at}[{}]", name(index, right)), left, right, differences);
            }
        }
        _ if claimed == shown => {}
        _ => differences.push(format!(
            "{at}: the report says {}, the evidence says {}",
            short(claimed),
            short(shown)
        )),
    }
}

/// What an entry of a list calls itself, or its place.
fn name(index: usize, entry: &Value) -> String {
    let keys = ["id", "name", "unit", "check"];
    let named = keys.iter().find_map(|key| entry.get(key)?.as_str());
    named.map_or_else(|| index.to_string(), str::to_owned)
}

fn short(value: &Value) -> String {
    const MOST: usize = 160;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_difference_is_named_by_its_place() {
        let claimed =
            serde_json::json!({"a": 1, "cells": [{"id": "x", "outcome": "pass"}], "l": [1]});
        let shown = serde_json::json!({"b": 1, "cells": [{"id": "x", "outcome": "fail"}], "l": []});
        let mut differences = Vec::new();
        compare("", &claimed, &shown, &mut differences);
        let expected = [
            "a: the report says 1, the evidence says null",
            "b: the report says null, the evidence says 1",
            "cells[x].outcome: the report says \"pass\", the evidence says \"fail\"",
            "l: the report says [1], the evidence says []",
        ];
        assert_eq!(differences, expected);
    }

    #[test]
    fn a_root_hash_is_whole() {
        assert_eq!("AB".repeat(32).parse(), Ok(RootHash("ab".repeat(32))));
        for wrong in [String::new(), "ab".repeat(31), "xy".repeat(32)] {
            assert!(wrong.parse::<RootHash>().is_err(), "{wrong}");
        }
    }
}
