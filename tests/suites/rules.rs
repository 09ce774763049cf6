//! The rules that files and requests can break: each has a golden, and each format shows it.
//! Fixtures, requests and the program itself come in; what they answer is compared with goldens.
//! It must never leave a rule without a case in which it is shown.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use ackproof::cli::init;
use ackproof::cli::validate::{MessageFormat, rules, validate};
use ackproof::names::BrokerKind;
use ackproof::plan::{self, Request};
use ackproof::suite::rule::{Rule, Severity};
use ackproof::suite::{self, Loaded};

use super::{INVALID, VALID, compare, fixtures, request, worker};

const REQUESTS: &str = "fixtures/suites/requests.txt";

/// The rules that headings of goldens name: `error[rule]: …`.
fn named(text: &str) -> BTreeSet<String> {
    let headings = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("error[").or(line.strip_prefix("warning["))?;
        Some(rest.split_once("]: ")?.0.to_owned())
    });
    headings.collect()
}

/// What every fixture shows now (another test compares it with its golden), and what requests do.
fn goldens() -> Vec<(String, String)> {
    let shown = |path: &std::path::PathBuf| (path.display().to_string(), validate(&[path]).text());
    let requests = std::fs::read_to_string(REQUESTS).unwrap();
    let fixtures = fixtures(INVALID);
    fixtures.iter().map(shown).chain([(REQUESTS.to_owned(), requests)]).collect()
}

#[test]
fn every_rule_has_a_golden_and_no_golden_has_another_rule() {
    let goldens = goldens();
    let known: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    for (path, text) in &goldens {
        let unknown: Vec<String> =
            named(text).into_iter().filter(|name| !known.contains(name.as_str())).collect();
        assert!(unknown.is_empty(), "{path} names {unknown:?}");
    }
    for rule in Rule::ALL {
        let shown = goldens.iter().find(|(path, text)| {
            (path == REQUESTS) == rule.is_of_request() && named(text).contains(rule.name())
        });
        assert!(shown.is_some(), "no golden shows `{rule}`");
    }
}

/// What the lint refuses has a neighbour that is just inside.
#[test]
fn every_rule_of_the_contract_has_a_neighbour_that_is_just_inside() {
    let of_contract = Rule::ALL.iter().filter(|rule| rule.is_of_contract());
    assert!(of_contract.clone().count() >= 7);
    for rule in of_contract {
        let outside = validate(&[format!("{INVALID}/{rule}.yaml")]);
        let rules: Vec<Rule> = outside.problems.iter().map(|problem| problem.rule).collect();
        assert_eq!(rules, [*rule], "{}", outside.text());
        assert!(outside.problems[0].note.is_some(), "`{rule}` names no clause");
        let inside = validate(&[format!("{VALID}/{rule}.yaml")]);
        assert_eq!((inside.scenarios, inside.problems.len()), (1, 0), "{}", inside.text());
    }
}

#[test]
fn problems_stand_in_the_order_of_their_places() {
    let found = validate(&[INVALID]);
    let places: Vec<_> = found.problems.iter().map(|p| (&p.file, p.line, p.column)).collect();
    assert!(places.is_sorted());
    for problem in &found.problems {
        assert_eq!(problem.severity, problem.rule.severity());
        assert!(problem.line == 0 || problem.end as usize >= problem.column, "{problem}");
        assert!(!problem.help.contains('\n') && !problem.help.is_empty(), "{problem}");
    }
}

fn asked(loaded: &Loaded, change: impl FnOnce(&mut Request)) -> String {
    let mut request = request(&["new"], vec![worker()]);
    change(&mut request);
    let problems = plan::build(loaded, &request).unwrap_err();
    problems.iter().map(|problem| format!("{problem}\n\n")).collect()
}

#[test]
fn requests_show_the_problems_of_their_golden() {
    let load = || {
        let files = ["smallest", "pins", "profile"].map(|name| format!("{VALID}/{name}.yaml"));
        suite::load(&files)
    };
    let (suites, mut unmatched, mut needy) = (load(), load(), load());
    let need = suite::load(&["suites/ack-timeout"]).suites[0].file.scenarios[0].value.needs.clone();
    needy.suites[0].file.scenarios[0].value.needs = need;
    for read in &mut unmatched.profiles {
        read.file.scenarios[0].value = "example/eno".to_owned();
    }
    let mut misspelt = load();
    let worker = misspelt.suites[0].file.scenarios[0].value.workers.values_mut().next().unwrap();
    worker.value.client_options.insert("rdkakfa".to_owned(), Default::default());
    let ranges = ["by-version", "pins"].map(|name| format!("{VALID}/{name}.yaml"));
    let answers = [
        asked(&suite::load(&ranges), |request| request.overrides = vec!["kafka=4".to_owned()]),
        asked(&suites, |request| request.sets = Vec::new()),
        asked(&suites, |request| request.sets = vec!["nwe".to_owned(), "zebra".to_owned()]),
        asked(&suites, |request| {
            let pins = ["kafka", "kafak=4.3.1", "kafka=newest"];
            request.overrides = pins.map(str::to_owned).to_vec();
        }),
        asked(&suites, |request| {
            let pins = ["rdkafka=0.39.1", "rdkakfa=0.39.0"];
            request.overrides = pins.map(str::to_owned).to_vec();
        }),
        asked(&suites, |request| request.clients = vec!["odler".to_owned()]),
        asked(&suites, |request| request.producer = Some("rdkakfa".to_owned())),
        // The worker at hand has one version of each.
        asked(&suites, |request| request.clients = vec!["older".to_owned()]),
        asked(&misspelt, |_| {}),
        asked(&suites, |request| request.filters = vec!["name(x)".to_owned()]),
        asked(&suites, |request| request.filters = vec!["id(x".to_owned()]),
        asked(&suites, |request| request.filters = vec!["id(nothing/*)".to_owned()]),
        asked(&suites, |request| request.filters = vec!["none()".to_owned()]),
        asked(&suites, |request| request.shard = Some("3/2".to_owned())),
        asked(&suites, |request| request.without = vec!["pulsra".to_owned()]),
        asked(&suites, |request| request.profile = Some("quikc".to_owned())),
        asked(&unmatched, |request| request.profile = Some("quick".to_owned())),
        asked(&suites, |request| request.manifests = Vec::new()),
        asked(&suites, |request| request.manifests.push(request.manifests[0].clone())),
        asked(&needy, |request| {
            for client in request.manifests[0].clients.values_mut() {
                client.capabilities.clear();
                client.lacks.clear();
            }
        }),
    ];
    let mut failures = Vec::new();
    let choice = init::Choice { broker: BrokerKind::Kafka, partitions: 3 };
    let occupied = init::init(Path::new("suites"), choice).unwrap_err();
    let unpinned = validate(&["suites/redrive"]).problems.remove(0);
    let answers = format!("{}{occupied}\n\n{unpinned}\n\n", answers.concat());
    compare(Path::new(REQUESTS), &answers, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn programs_and_reviews_are_told_the_same() {
    let paths = ["many-problems", "check-untested", "not-utf8"]
        .map(|name| format!("{INVALID}/{name}.yaml"));
    let found = validate(&paths);
    let mut failures = Vec::new();
    for (format, golden) in [(MessageFormat::Json, "jsonl"), (MessageFormat::Github, "github")] {
        let text = found.shown(format);
        assert_eq!(text.lines().count(), found.problems.len());
        let golden = format!("fixtures/suites/problems.{golden}");
        compare(Path::new(&golden), &text, &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A name could end a workflow command early, and begin another.
#[test]
fn a_workflow_command_ends_where_it_should() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a,b:c%\n::error::x.yaml");
    std::fs::write(&path, "kind: sweet\n").unwrap();
    let text = validate(&[&path]).shown(MessageFormat::Github);
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("a%2Cb%3Ac%25%0A%3A%3Aerror%3A%3Ax.yaml,line=1,"), "{text}");
}

/// Exit code and standard output of `ackproof validate`.
fn program(arguments: &[&str], surroundings: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackproof"));
    command.arg("validate").args(arguments).env_remove("GITHUB_ACTIONS");
    command.env("ACKPROOF_WORKERS", "fixtures/workers/rust");
    let output = command.envs(surroundings.iter().copied()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn severities_decide_the_exit_code() {
    let warning = format!("{INVALID}/check-untested.yaml");
    let error = format!("{INVALID}/unknown-check.yaml");
    assert_eq!(program(&[&warning], &[]).0, Some(0));
    assert_eq!(program(&[&warning, "--deny-warnings"], &[]).0, Some(2));
    assert_eq!(program(&[&error], &[]).0, Some(2));
    assert_eq!(program(&[VALID, "--deny-warnings"], &[]).0, Some(0));
}

#[test]
fn the_environment_adds_annotations_and_a_format_replaces_them() {
    let path = format!("{INVALID}/unknown-check.yaml");
    let here = [("GITHUB_ACTIONS", "true")];
    let (_, human) = program(&[&path], &[]);
    let (_, both) = program(&[&path], &here);
    let (_, github) = program(&[&path, "--message-format", "github"], &[]);
    assert_eq!(both, format!("{human}{github}"));
    assert!(github.starts_with("::error file=fixtures/suites/invalid/unknown-check.yaml,line="));
    let (_, chosen) = program(&[&path, "--message-format", "human"], &here);
    assert_eq!(chosen, human);
    let (_, json) = program(&[&path, "--message-format", "json"], &here);
    let first: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
    for key in ["rule", "severity", "file", "line", "column", "end", "message", "help"] {
        assert!(!first[key].is_null(), "no {key} in {json}");
    }
}

#[test]
fn the_rules_are_listed_one_a_line() {
    let (code, text) = program(&["--rules"], &[]);
    assert_eq!((code, text.as_str()), (Some(0), rules().as_str()));
    let of_files = Rule::ALL.iter().filter(|rule| !rule.is_of_request());
    assert_eq!(text.lines().count(), of_files.clone().count());
    for (line, rule) in text.lines().zip(of_files) {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        let severity = match rule.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        assert_eq!(words, [rule.name(), severity]);
    }
}
