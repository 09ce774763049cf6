//! Known issues and expectations in plans: which cells have them, and that every field arrives.
//! Fixtures and small changes to them come in; cells, units and problems are compared.
//! It must never depend on the suites' own deviations: those come and go.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use super::*;
use crate::suite::model::Scenario;
use crate::suite::problem::Problem;
use crate::suite::{Loaded, load, manifest};

const VALID: &str = "fixtures/suites/valid";
const SCENARIO: &str = "example/by-version";

fn request() -> Request {
    Request {
        profile: None,
        sets: vec!["new".to_owned(), "old".to_owned()],
        clients: Vec::new(),
        producer: None,
        overrides: Vec::new(),
        filters: vec!["id(example/*[en])".to_owned()],
        subjects: Subjects::Scenarios,
        seed: 7,
        repeat: std::num::NonZeroU32::MIN,
        shard: None,
        without: Vec::new(),
        manifests: vec![manifest::load(Path::new(&format!("{VALID}/worker.yaml"))).unwrap()],
    }
}

fn planned(loaded: &Loaded, request: &Request) -> Plan {
    match build(loaded, request) {
        Ok(plan) => plan,
        Err(problems) => panic!("{}", problems[0]),
    }
}

fn plan() -> Plan {
    planned(&load(&[VALID]), &request())
}

fn cell<'a>(plan: &'a Plan, id: &str) -> &'a Cell {
    let found = plan.cells.iter().find(|cell| cell.id.starts_with(id));
    found.unwrap_or_else(|| panic!("no cell {id}"))
}

fn unit<'a>(plan: &'a Plan, id: &str) -> &'a Unit {
    plan.units.iter().find(|unit| unit.id == id).unwrap()
}

/// `check of versions`, in the order of the cell.
fn known(plan: &Plan, id: &str) -> Vec<String> {
    let issues = cell(plan, id).known.iter();
    issues.map(|issue| format!("{} {} {}", issue.check, issue.of, issue.versions)).collect()
}

fn expected(plan: &Plan, id: &str) -> Vec<String> {
    let all = cell(plan, id).expectations.iter();
    all.map(|e| format!("{} {} {}", e.check, e.of, e.versions)).collect()
}

fn by_version(loaded: &mut Loaded) -> &mut Scenario {
    let scenarios = loaded.suites.iter_mut().flat_map(|read| read.file.scenarios.iter_mut());
    let mut scenarios = scenarios.map(|scenario| &mut scenario.value);
    scenarios.find(|scenario| scenario.id.value == "by-version").unwrap()
}

#[test]
fn cells_have_the_issues_that_their_pins_may_show() {
    let plan = plan();
    let drained = "drained client rdkafka <0.40";
    // Only a part of 17 is meant: the verdict knows which version answered.
    let published = "published server postgres >=17.2, <17.5";
    let effects = "effects server kafka <4.2";
    assert_eq!(known(&plan, "example/by-version@kafka-4.3.1"), [drained, published]);
    assert_eq!(known(&plan, "example/by-version@kafka-4.1.2"), [drained, effects]);
    assert_eq!(known(&plan, "example/by-version@pulsar-4.2.4"), [published]);
    assert_eq!(known(&plan, "example/by-version@pulsar-4.0.7"), [""; 0]);
    assert_eq!(known(&plan, "example/one@kafka-4.1.2"), [effects]);
    assert_eq!(known(&plan, "example/one@kafka-4.3.1"), [""; 0]);
    let issue = &cell(&plan, "example/by-version@kafka-4.3.1").known[1];
    assert_eq!(
        (issue.url.as_str(), issue.occurs),
        ("https://issues.example.org/2", Occurs::Always)
    );
    let said = (issue.reason.as_str(), issue.expires.to_string());
    assert_eq!(said, ("for this fixture", String::from("2028-02-29")));
}

#[test]
fn expectations_replace_the_checks_of_their_kind_in_their_versions() {
    let plan = plan();
    let client = ["effects client rdkafka 0.39", "conserved client rdkafka 0.39"];
    let server = "deliveries server kafka >=4.1, <4.3";
    assert_eq!(expected(&plan, "example/by-version@kafka-4.3.1"), client);
    assert_eq!(
        expected(&plan, "example/by-version@kafka-4.1.2"),
        [&[server], &client[..]].concat()
    );
    assert_eq!(expected(&plan, "example/by-version@pulsar-4.2.4"), [""; 0]);
    let checks = |id: &str| serde_json::to_string(&unit(&plan, id).checks).unwrap();
    let own = r#"{"drained":{}}"#;
    let three = r#"{"deliveries":{"of":"struck","count":{"at_least":3}}}"#;
    let of_client = concat!(
        r#"{"effects":{"of":"all","count":{"at_most":1}}},"#,
        r#"{"effects":{"of":"struck","count":{"exactly":1}}},{"conserved":{}}"#
    );
    let old = checks("example.by-version@kafka-4.1.2+rdkafka");
    assert_eq!(old, format!("[{own},{three},{of_client}]"));
    let new = checks("example.by-version@kafka-4.3.1+rdkafka");
    let two = three.replace('3', "2");
    assert_eq!(new, format!("[{two},{own},{of_client}]"));
    assert!(checks("example.by-version@pulsar-4.2.4+pulsar").contains(r#""exactly":1}}},{"del"#));
}

/// A defect that one expectation catches may be none by another.
#[test]
fn controls_are_shared_only_where_the_same_is_expected() {
    let plan = plan();
    let control = |id: &str| cell(&plan, id).controls[0].unit.clone();
    assert_eq!(
        control("example/by-version@pulsar-4.0.7"),
        control("example/by-version@pulsar-4.2.4"),
    );
    assert_eq!(control("example/one@kafka-4.1.2"), control("example/one@kafka-4.3.1"));
    for pin in ["4.1.2", "4.3.1"] {
        let unit_id = control(&format!("example/by-version@kafka-{pin}"));
        assert_eq!(unit_id, format!("example.by-version@kafka-{pin}+rdkafka~no-inbox"));
        let subject = unit(&plan, &format!("example.by-version@kafka-{pin}+rdkafka"));
        assert_eq!(unit(&plan, &unit_id).checks, subject.checks);
    }
}

#[test]
fn controls_that_are_cells_know_nothing() {
    let request = Request { subjects: Subjects::OnlyControls, ..request() };
    let mut loaded = load(&[VALID]);
    let plan = planned(&loaded, &request);
    assert!(plan.cells.iter().all(|cell| cell.known.is_empty()));
    let cells = || plan.cells.iter().filter(|cell| cell.scenario == SCENARIO);
    let ids: Vec<&str> = cells().map(|cell| cell.id.split('+').next().unwrap()).collect();
    // One for each expectation, by the first pin that has it.
    assert_eq!(
        ids,
        ["kafka-4.3.1", "kafka-4.1.2", "pulsar-4.2.4"].map(|pin| { format!("{SCENARIO}@{pin}") })
    );
    let first = "example/by-version@kafka-4.3.1";
    let before = expected(&plan, first);
    assert_eq!(before.len(), 2);
    // What a control expects instead is nobody's declaration.
    let effects =
        serde_json::from_str(r#"{"effects":{"of":"all","count":{"exactly":2}}}"#).unwrap();
    by_version(&mut loaded).controls[0].value.change.checks.push(effects);
    assert_eq!(expected(&planned(&loaded, &request), first), before[1..]);
}

/// One change to the fixture, and what it is about.
type Edit = (&'static str, fn(&mut Loaded));

#[test]
fn every_field_of_a_deviation_changes_the_plan() {
    let edits: [Edit; 16] = [
        ("known", |l| drop(by_version(l).known.pop())),
        ("check", |l| by_version(l).known[0].check = String::from("effects")),
        ("client", |l| {
            by_version(l).known[0].versions_of.client = Some(String::from("pulsar"));
        }),
        ("server", |l| {
            let of = &mut by_version(l).known[1].versions_of;
            (of.server, of.versions) = (Some(ServerKind::Kafka), String::from(">=4"));
        }),
        ("versions", |l| by_version(l).known[0].versions_of.versions = String::from("<0.41")),
        ("reason", |l| by_version(l).known[0].reason.push('!')),
        ("url", |l| by_version(l).known[0].url.push('9')),
        ("expires", |l| by_version(l).known[0].expires = String::from("2027-07-01")),
        ("occurs", |l| by_version(l).known[0].occurs = Occurs::Always),
        ("deviations", |l| drop(l.deviations.pop())),
        ("scenarios", |l| drop(l.deviations[0].file.deviations[0].scenarios.pop())),
        ("of a file", |l| l.deviations[0].file.deviations[0].occurs = Occurs::Sometimes),
        ("expect_for", |l| drop(by_version(l).expect_for.pop())),
        ("expect_for.server", |l| {
            let expect = &mut by_version(l).expect_for[0];
            (expect.server, expect.client) = (None, Some(String::from("pulsar")));
            expect.versions = String::from(">=6");
        }),
        ("expect_for.versions", |l| {
            by_version(l).expect_for[0].versions = String::from(">=4.1, <4.2");
        }),
        ("expect_for.checks", |l| drop(by_version(l).expect_for[1].checks.pop())),
    ];
    // The hash is the text's, which these edits leave alone.
    let before = plan();
    for (what, edit) in edits {
        let mut loaded = load(&[VALID]);
        edit(&mut loaded);
        let after = Plan { suite_hash: before.suite_hash.clone(), ..planned(&loaded, &request()) };
        assert_ne!(after, before, "{what}");
    }
}

#[test]
fn the_suite_hash_covers_deviations() {
    let mut loaded = load(&[VALID]);
    let before = loaded.hash();
    loaded.deviations[0].source.text.push('\n');
    assert_ne!(before, loaded.hash());
}

#[test]
fn what_cannot_be_told_or_is_expected_twice_is_a_problem_at_its_place() {
    let wrong = |edit: fn(&mut Scenario)| {
        let mut loaded = load(&[VALID]);
        edit(by_version(&mut loaded));
        let problems = build(&loaded, &request()).unwrap_err();
        let said = |p: &Problem| format!("{}:{} {} ({:?})", p.line, p.column, p.message, p.help);
        problems.iter().map(said).collect::<Vec<_>>()
    };
    let part = wrong(|scenario| {
        let expect = &mut scenario.expect_for[0];
        (expect.server, expect.versions) = (Some(ServerKind::Postgres), String::from("<17.5"));
    });
    assert_eq!(part.len(), 1, "{part:?}");
    let said = "the pin 17 may be inside or outside of `<17.5` (\"pin a full version";
    assert!(part[0].contains(said), "{part:?}");
    let twice = wrong(|scenario| {
        let check = scenario.expect_for[0].checks[0].clone();
        scenario.expect_for[1].checks.push(check);
    });
    let said = "`deliveries` is expected twice on kafka-4.1.2+rdkafka-0.39.0 (\"the other \
                one is for server kafka >=4.1, <4.3\")";
    assert_eq!(twice.len(), 1, "{twice:?}");
    assert!(twice[0].contains(said), "{twice:?}");
}
