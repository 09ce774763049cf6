//! The project's own rules as a test: who imports whom, what is pure, how long a file may be.
//! All text files of the project come in; a list of places that break a rule comes out.
//! It must never need a server or the network, and every rule is shown red on a bad example.
#![allow(clippy::unwrap_used)]

#[path = "tidy/rules.rs"]
mod rules;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/table.rs"]
mod table;

use ackproof::suite::model::SuiteFile;
use rules::Complaints;
use source::{Source, project};

type Rule = fn(&Source) -> Complaints;

/// Fails with one line for each place that breaks the rule.
fn tidy(rule: Rule) {
    let complaints: Vec<_> = project().iter().flat_map(rule).collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// What a rule says about an example.
fn says(rule: Rule, path: &str, text: &str) -> Complaints {
    rule(&Source::new(path, text))
}

#[test]
fn the_project_is_found() {
    let paths: Vec<_> = project().into_iter().map(|source| source.path).collect();
    for known in ["Cargo.toml", "src/names.rs", "src/checks/mod.rs", "tests/tidy/table.rs"] {
        assert!(paths.iter().any(|path| path == known), "{known} was not read");
    }
    assert!(!paths.iter().any(|path| path.contains("target/")));
}

#[test]
fn modules_import_only_what_the_table_allows() {
    tidy(rules::imports);
}

#[test]
fn a_forbidden_import_is_seen() {
    let text = "//! x\nuse crate::brokers::Broker;\nuse crate::evidence::History;\n";
    let expected = ["src/checks/effects.rs:2: `checks` must not import `crate::brokers::Broker`"];
    assert_eq!(says(rules::imports, "src/checks/effects.rs", text), expected);
    let forbidden = [
        ("src/names.rs", "use crate::plan::Plan;"),
        ("src/checks/x.rs", "use super::super::env::Link;"),
        ("src/checks/x.rs", "fn f() { crate::run::go() }"),
        ("src/reports/x.rs", "use crate::checks::{Check, Finding};"),
        ("src/reports/x.rs", "use crate::evidence::History;"),
        ("src/reports/x.rs", "use crate::checks::*;"),
        ("src/suite/x.rs", "use crate::checks::Check;"),
        ("src/suite/x.rs", "use crate::faults::kill::inject;"),
        ("src/run/x.rs", "use crate::verdict::judge;"),
        ("src/run/x.rs", "use crate::reports::write_all;"),
        ("src/brokers/kafka/x.rs", "use crate::env::ledger::Ledger;"),
        ("src/new_module.rs", "//! not in the table"),
    ];
    for (path, text) in forbidden {
        assert_eq!(says(rules::imports, path, text).len(), 1, "{path}: {text}");
    }
    let allowed = [
        ("src/reports/x.rs", "use crate::checks::{Finding, FindingResult};\nuse super::text;"),
        ("src/suite/x.rs", "use crate::checks::effects::EffectsSpec;"),
        ("src/cli/x.rs", "use crate::{checks, run};"),
        ("src/checks/x.rs", "#[cfg(test)]\nmod tests { use crate::brokers; }"),
        ("tests/live.rs", "use crate::anything;"),
    ];
    for (path, text) in allowed {
        assert_eq!(says(rules::imports, path, text), [""; 0], "{path}: {text}");
    }
}

/// The table itself: a check has no way to a broker, not even through what it may import.
#[test]
fn no_chain_of_imports_leads_from_a_judging_module_to_a_server() {
    let outside = ["env", "brokers", "workers", "run"];
    for judging in ["names", "evidence", "checks", "verdict", "reports"] {
        let (_, lists) = table::IMPORTS.iter().find(|(name, _)| *name == judging).unwrap();
        let modules = lists.iter().flat_map(|list| list.iter());
        let modules = modules.map(|path| path.split("::").next().unwrap());
        for module in modules {
            assert!(!outside.contains(&module), "{judging} may import {module}");
        }
    }
}

#[test]
fn pure_modules_have_no_network_no_process_and_no_clock() {
    tidy(rules::purity);
}

#[test]
fn impurity_is_seen() {
    let impure = [
        ("src/checks/x.rs", "use std::time::{Duration, Instant};", 2),
        ("src/verdict.rs", "fn f() { std::time::SystemTime::now() }", 2),
        ("src/plan/mod.rs", "use std::{fs, net::TcpStream};", 1),
        ("src/suite/x.rs", "use std::process::Command;", 1),
        ("src/reports/x.rs", "async fn f() { tokio::fs::write(a, b).await }", 1),
        ("src/evidence/history.rs", "use sqlx::PgPool;", 1),
    ];
    for (path, text, complaints) in impure {
        assert_eq!(says(rules::purity, path, text).len(), complaints, "{path}: {text}");
    }
    let pure = [
        ("src/checks/x.rs", "use std::time::Duration; // tokio"),
        ("src/evidence/recorder.rs", "use std::time::Instant;"),
        ("src/run/x.rs", "use tokio::sync::Mutex;"),
    ];
    for (path, text) in pure {
        assert_eq!(says(rules::purity, path, text), [""; 0], "{path}: {text}");
    }
}

#[test]
fn a_library_is_used_in_one_module() {
    tidy(rules::one_library_one_module);
}

#[test]
fn a_library_outside_its_module_is_seen() {
    let text = "use quick_junit::Report;";
    let expected = ["src/run/x.rs:1: `quick_junit` belongs into src/reports/junit.rs only"];
    assert_eq!(says(rules::one_library_one_module, "src/run/x.rs", text), expected);
    assert_eq!(says(rules::one_library_one_module, "src/reports/junit.rs", text), [""; 0]);
    let manifest = "use serde_saphyr::Spanned;";
    assert_eq!(says(rules::one_library_one_module, "src/workers/manifest.rs", manifest), [""; 0]);
    assert_eq!(says(rules::one_library_one_module, "src/workers/spawn.rs", manifest).len(), 1);
}

#[test]
fn every_source_file_has_a_head() {
    tidy(rules::head);
}

#[test]
fn a_file_without_a_head_is_seen() {
    let expected = ["src/x.rs: does not begin with a `//!` head"];
    assert_eq!(says(rules::head, "src/x.rs", "use std::fs;\n//! late\n"), expected);
    assert_eq!(says(rules::head, "src/x.rs", "//! Head.\n"), [""; 0]);
}

#[test]
fn files_functions_and_lines_are_short() {
    tidy(rules::limits);
}

#[test]
fn what_is_too_long_is_seen() {
    let file = "//! x\n".repeat(501);
    let complaint = "src/x.rs: 501 lines, at most 500: split it";
    assert_eq!(says(rules::limits, "src/x.rs", &file), [complaint]);
    let line = format!("// {}", "ä".repeat(98));
    assert_eq!(says(rules::limits, "src/x.rs", &line), ["src/x.rs:1: 101 columns"]);
    let function = format!("\nfn long() {{\n{}}}\n", "    step();\n".repeat(69));
    let complaint = "src/x.rs:2: 71 lines in one function: fn long()";
    assert_eq!(says(rules::limits, "src/x.rs", &function), [complaint]);
    let function = format!("\nfn long() {{\n{}}}\n", "    step();\n".repeat(68));
    assert_eq!(says(rules::limits, "src/x.rs", &function), [""; 0]);
}

#[test]
fn nothing_sleeps() {
    tidy(rules::no_sleep);
}

#[test]
fn a_sleep_is_seen() {
    let nap = "async fn f() { tokio::time::sleep(d).await; } // sleep";
    let expected = ["src/run/x.rs:1: `sleep`: wait for a condition with `wait::until`"];
    assert_eq!(says(rules::no_sleep, "src/run/x.rs", nap), expected);
    assert_eq!(says(rules::no_sleep, "src/wait.rs", nap), [""; 0]);
    assert_eq!(says(rules::no_sleep, "src/run/x.rs", "let s = \"sleep\";"), [""; 0]);
}

#[test]
fn no_bool_parameters_and_no_serde_tricks() {
    tidy(rules::no_blunt_tools);
}

#[test]
fn a_blunt_tool_is_seen() {
    let blunt = |text| says(rules::no_blunt_tools, "src/x.rs", text).len();
    assert_eq!(blunt("fn run(\n    keep: bool,\n) {}"), 1);
    assert_eq!(blunt("fn ok(text: &str) -> bool { let x: bool = true; x }"), 0);
    assert_eq!(blunt("struct S {\n    #[serde(flatten)]\n    rest: Rest,\n}"), 1);
    assert_eq!(blunt("fn f() { nested.iter().flatten() }"), 0);
}

#[test]
fn file_names_say_what_is_inside() {
    tidy(rules::file_names);
}

#[test]
fn a_vague_file_name_is_seen() {
    let expected = ["src/env/utils.rs: `utils` says nothing; name what it holds"];
    assert_eq!(says(rules::file_names, "src/env/utils.rs", ""), expected);
    assert_eq!(says(rules::file_names, "src/helpers/x.rs", "").len(), 1);
    assert_eq!(says(rules::file_names, "src/env/lease.rs", ""), [""; 0]);
}

#[test]
fn no_registry_and_no_machine_is_named() {
    tidy(rules::no_foreign_places);
}

#[test]
fn a_registry_or_a_path_of_a_machine_is_seen() {
    let image = concat!("image: docker", ".io/apache/kafka:4.3.1");
    assert_eq!(says(rules::no_foreign_places, "suites/pins.yaml", image).len(), 1);
    let path = concat!("cd /", "work/main && ls");
    assert_eq!(says(rules::no_foreign_places, "ci/test", path).len(), 1);
    assert_eq!(says(rules::no_foreign_places, "ci/test", concat!("OUT=/tmp", "/w/out")).len(), 1);
    for fine in ["cd fixtures/work/x", "cd \"$dir/work/x\"", "image: apache/kafka:4.3.1"] {
        assert_eq!(says(rules::no_foreign_places, "ci/test", fine), [""; 0], "{fine}");
    }
    assert_eq!(says(rules::no_foreign_places, "Cargo.lock", image), [""; 0]);
}

/// The `yaml` block of the README.
fn example(readme: &str) -> &str {
    readme.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap()
}

#[test]
fn the_suite_in_the_readme_is_one() {
    let readme = project().into_iter().find(|source| source.path == "README.md").unwrap();
    let suite: SuiteFile = serde_saphyr::from_str(example(&readme.text)).unwrap();
    assert_eq!(suite.scenarios.len(), 1);
    let wrong = example(&readme.text).replace("before_ack", "before_lunch");
    let error = serde_saphyr::from_str::<SuiteFile>(&wrong).unwrap_err().to_string();
    assert!(error.contains("before_lunch"), "{error}");
}
