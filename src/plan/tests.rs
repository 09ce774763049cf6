//! Plans of this project's own suites and of fixtures, with everything that a run relies on.
//! Suites and requests go in; cells, units, seeds and problems are compared with what they must be.
//! It must never pin a version that is not the suites' own: pins change, rules do not.

#![allow(clippy::unwrap_used)]

mod selection;

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::Path;

use super::*;
use crate::faults::FaultSpec;
use crate::names::Point;
use crate::suite::model::{OnDeadLetterFailure, Presence};
use crate::suite::{Loaded, load};

const VALID: &str = "fixtures/suites/valid";
const WORKER: &str = "fixtures/suites/valid/worker.yaml";

fn request() -> Request {
    Request {
        profile: Some("quick".to_owned()),
        sets: vec!["current".to_owned(), "previous".to_owned()],
        clients: Vec::new(),
        producer: None,
        overrides: Vec::new(),
        filters: Vec::new(),
        subjects: Subjects::Scenarios,
        seed: 7,
        repeat: NonZeroU32::MIN,
        shard: None,
        without: Vec::new(),
        manifests: vec![crate::suite::manifest::load(Path::new(WORKER)).unwrap()],
    }
}

fn suites() -> Loaded {
    load(&["suites"])
}

fn plan(request: &Request) -> Plan {
    match build(&suites(), request) {
        Ok(plan) => plan,
        Err(problems) => panic!("{}", problems[0]),
    }
}

fn unit<'a>(plan: &'a Plan, part: &str) -> &'a Unit {
    let found: Vec<&Unit> = plan.units.iter().filter(|unit| unit.id.contains(part)).collect();
    found.first().unwrap_or_else(|| panic!("no unit with {part}"))
}

fn json(plan: &Plan) -> String {
    serde_json::to_string(plan).unwrap()
}

#[test]
fn the_same_input_gives_the_same_plan_byte_for_byte() {
    let first = json(&plan(&request()));
    assert_eq!(first, json(&plan(&request())));
    // Neither the folder's place nor the order in which paths are named may show.
    let copy = tempfile::tempdir().unwrap();
    let loaded = suites();
    let sources = loaded.sources().map(|s| (&s.relative, &s.text));
    let fragments = loaded.fragments.iter().map(|file| (&file.relative, &file.text));
    for (relative, text) in sources.chain(fragments) {
        let path = copy.path().join(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let elsewhere = build(&load(&[copy.path()]), &request()).unwrap();
    assert_eq!(first, json(&elsewhere));
    let folders =
        ["ack-timeout", "at-least-once", "dead-letter", "redrive", "pins.yaml", "profiles"];
    let mut paths = folders.map(|name| format!("suites/{name}"));
    let forth = build(&load(&paths), &request()).unwrap();
    paths.reverse();
    assert_eq!(json(&forth), json(&build(&load(&paths), &request()).unwrap()));
    assert_eq!(forth.cells, elsewhere.cells);
    let read: Plan = serde_json::from_str(&first).unwrap();
    assert_eq!(read, elsewhere);
}

#[test]
fn a_changed_byte_changes_the_suite_hash() {
    let mut loaded = suites();
    let before = loaded.hash();
    loaded.suites[0].source.text.push('\n');
    assert_ne!(before, loaded.hash());
    let mut loaded = load(&[VALID]);
    let before = loaded.hash();
    assert_eq!(loaded.fragments.len(), 2, "one is included by the other");
    loaded.fragments[0].text.push('\n');
    assert_ne!(before, loaded.hash(), "fragments count too");
}

/// The plan of `matrix.yaml`, changed, with its fragments, changed.
fn changed(suite: (&str, &str), fragment: (&str, &str)) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("fragments")).unwrap();
    let names = ["matrix.yaml", "pins.yaml", "fragments/workers.yaml", "fragments/controls.yaml"];
    for name in names {
        let text = std::fs::read_to_string(Path::new(VALID).join(name)).unwrap();
        let (from, to) = if name == "matrix.yaml" { suite } else { ("", "") };
        let text = text.replacen(from, to, 1);
        let (from, to) = if name == "fragments/workers.yaml" { fragment } else { ("", "") };
        std::fs::write(folder.path().join(name), text.replacen(from, to, 1)).unwrap();
    }
    let request = Request { profile: None, sets: vec!["new".to_owned()], ..request() };
    build(&load(&[folder.path()]), &request).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

#[test]
fn every_combination_is_a_scenario_with_its_values() {
    let plan = changed(("", ""), ("", ""));
    let cells: Vec<&Cell> =
        plan.cells.iter().filter(|cell| cell.scenario.contains("matrix-part")).collect();
    let scenarios: Vec<&str> = cells.iter().map(|cell| cell.scenario.as_str()).collect();
    let expected = [
        "example/matrix-partitions-1-type-shared",
        "example/matrix-partitions-1-type-key-shared",
        "example/matrix-partitions-3-type-shared",
        "example/matrix-partitions-3-type-key-shared",
    ];
    assert_eq!(scenarios, expected);
    let values: Vec<(&str, &str)> =
        cells[3].values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected =
        [("bytes", "64"), ("n", "6"), ("partitions", "3"), ("struck", "3"), ("type", "key_shared")];
    assert_eq!(values, expected, "the scenario's `n` goes before the file's");
    assert_eq!(cells[3].title, "With 3 partition(s), read key_shared; ${n} stays as it is");
    assert_eq!(cells[3].about, "Of 6 events number 3 is struck. # this is text: 3");
    let unit = unit(&plan, "matrix-partitions-3-type-key-shared@");
    assert_eq!((unit.topology.partitions, unit.workload.events), (3, 6));
    let options = &unit.workers["consumer"].options[&BrokerKind::Pulsar];
    assert_eq!(options["consumer_name"], "static key_shared");
    let beside = plan.cells.iter().find(|cell| cell.id.contains("beside-a-matrix")).unwrap();
    assert_eq!(beside.values.len(), 1, "{:?}", beside.values);
}

#[test]
fn client_versions_stand_side_by_side_and_share_no_unit() {
    let file = |name: &str| format!("{VALID}/{name}.yaml");
    let loaded = load(&[file("smallest"), file("pins")]);
    let manifests: Vec<_> = request().manifests[0].variants();
    let of = |clients: &[&str], overrides: &[&str]| {
        let words = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect();
        let (clients, overrides) = (words(clients), words(overrides));
        let sets = vec!["new".to_owned()];
        let manifests = manifests.clone();
        let request = Request { profile: None, sets, clients, overrides, manifests, ..request() };
        build(&loaded, &request).unwrap_or_else(|problems| panic!("{}", problems[0]))
    };
    let ids = |plan: &Plan| -> Vec<String> {
        let versions = plan.cells.iter().map(|cell| cell.client.version.clone());
        versions.collect()
    };
    assert_eq!(ids(&of(&[], &[])), ["0.39.0"]);
    assert_eq!(ids(&of(&["older"], &[])), ["0.38.0"]);
    assert_eq!(ids(&of(&["older"], &["rdkafka=0.37.0"])), ["0.37.0"]);
    let both = of(&["older", "mixed"], &[]);
    assert_eq!(ids(&both), ["0.38.0", "0.37.0"]);
    let workers: BTreeSet<&str> = both.cells.iter().map(|cell| cell.worker.as_str()).collect();
    assert_eq!(workers.len(), 2);
    let units: BTreeSet<&str> = both.units.iter().map(|unit| unit.id.as_str()).collect();
    assert_eq!(units.len(), both.units.len());
    assert_eq!(both.units.len(), 2 * of(&[], &[]).units.len());
    for cell in &both.cells {
        let own = both.units.iter().find(|unit| unit.id == cell.subject).unwrap();
        assert_eq!(own.worker_manifest, cell.worker);
        assert!(own.id.contains(&cell.client.version), "{}", own.id);
    }
}

#[test]
fn another_client_publishes_and_has_a_pin_of_its_own() {
    let file = |name: &str| format!("{VALID}/{name}.yaml");
    let loaded = load(&[file("smallest"), file("pins")]);
    let own = request().manifests.remove(0);
    let mut other = own.clone();
    other.name = "other".to_owned();
    other.clients.retain(|broker, _| *broker == BrokerKind::Kafka);
    let client = other.clients.get_mut(&BrokerKind::Kafka).unwrap();
    (client.library, client.version) = ("kafka-clients".to_owned(), "4.3.1".to_owned());
    let planned = |producer: Option<&str>| {
        let manifests = vec![own.clone(), other.clone()];
        let (sets, producer) = (vec!["new".to_owned()], producer.map(str::to_owned));
        let request = Request { profile: None, sets, manifests, producer, ..request() };
        build(&loaded, &request).unwrap_or_else(|problems| panic!("{}", problems[0]))
    };
    let plain = planned(None);
    assert!(plain.cells.iter().all(|cell| cell.producer.is_none()));
    let mixed = planned(Some("kafka-clients"));
    let ids: Vec<&str> = mixed.cells.iter().map(|cell| cell.id.as_str()).collect();
    let by = "example/one@kafka-4.3.1+rdkafka-0.39.0+by-kafka-clients-4.3.1";
    assert_eq!(ids, [by, "example/one@kafka-4.3.1+kafka-clients-4.3.1"]);
    let unit = mixed.units.iter().find(|unit| unit.id == mixed.cells[0].subject).unwrap();
    let names: Vec<&str> = unit.manifests().map(String::as_str).collect();
    assert_eq!(names, ["example", "other"]);
    let producer = PinSubject::Producer("kafka-clients".to_owned());
    assert!(unit.scope.pins.iter().any(|pin| pin.subject == producer && pin.version == "4.3.1"));
    assert_eq!(mixed.units.len(), plain.units.len());
    let shared = mixed.units.iter().filter(|unit| plain.units.iter().any(|o| o.id == unit.id));
    assert!(shared.into_iter().all(|unit| unit.producer.is_none()), "no history is shared");
}

/// A field that changed no plan would be one that somebody fills in for nothing.
#[test]
fn a_changed_variable_axis_or_piece_changes_the_plan() {
    let plain = changed(("", ""), ("", ""));
    let without_hash = |plan: &Plan| Plan { suite_hash: String::new(), ..plan.clone() };
    for (suite, fragment) in [
        (("{n: 8,", "{n: 9,"), ("", "")),
        (("bytes: 64", "bytes: 65"), ("", "")),
        (("struck: 3", "struck: 4"), ("", "")),
        (("partitions: [1, 3]", "partitions: [1, 4]"), ("", "")),
        (("partitions: [1, 3]", "partitions: [3, 1]"), ("", "")),
        (("[shared, key_shared]", "[shared]"), ("", "")),
        (("", ""), ("pattern: inbox", "pattern: unguarded")),
        (("", ""), ("role: consumer", "count: 2\n    role: consumer")),
    ] {
        let other = changed(suite, fragment);
        assert_ne!(plain.suite_hash, other.suite_hash, "{suite:?} {fragment:?}");
        assert_ne!(without_hash(&plain), without_hash(&other), "{suite:?} {fragment:?}");
    }
    let comment = changed(("# Variables", "# Values"), ("# Pieces", "# Parts"));
    assert_ne!(plain.suite_hash, comment.suite_hash);
    assert_eq!(without_hash(&plain), without_hash(&comment));
}

#[test]
fn every_reference_of_a_cell_leads_to_a_unit_and_every_unit_is_referred_to() {
    let plan = plan(&request());
    let ids: BTreeSet<&str> = plan.units.iter().map(|unit| unit.id.as_str()).collect();
    assert_eq!(ids.len(), plan.units.len(), "unit ids are unique");
    let cells: BTreeSet<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(cells.len(), plan.cells.len(), "cell ids are unique");
    let mut used = BTreeSet::new();
    for cell in &plan.cells {
        assert!(!cell.controls.is_empty(), "{}", cell.id);
        used.extend(cell.subjects().chain([&cell.baseline]).map(String::as_str));
        used.extend(cell.controls.iter().map(|control| control.unit.as_str()));
    }
    assert_eq!(ids, used);
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-._@+~#".contains(c);
    assert!(ids.iter().all(|id| id.chars().all(is_safe)), "ids are file names");
}

#[test]
fn controls_run_once_a_client_family_and_baselines_once_a_server() {
    let plan = plan(&request());
    let controls: BTreeSet<&str> = plan
        .units
        .iter()
        .filter(|unit| matches!(unit.kind, UnitKind::Control(_)))
        .map(|unit| unit.server.pin.as_str())
        .collect();
    assert_eq!(controls, BTreeSet::from(["4.2.4", "4.3.1"]), "the first set's servers only");
    let baselines = plan.units.iter().filter(|unit| unit.kind == UnitKind::Baseline).count();
    assert_eq!(baselines, 4);
    let older = plan.cells.iter().find(|cell| cell.id.contains("@kafka-4.1.2")).unwrap();
    assert!(older.controls[0].unit.contains("@kafka-4.3.1"), "{:?}", older.controls);
    assert!(older.baseline.contains("@kafka-4.1.2"));
}

#[test]
fn a_control_is_its_scenario_with_one_defect() {
    let plan = plan(&request());
    let no_inbox = unit(&plan, "sigkill-before-ack@kafka-4.3.1+rdkafka~no-inbox");
    let subject = unit(&plan, "sigkill-before-ack@kafka-4.3.1+rdkafka");
    assert_eq!(no_inbox.workers["consumer"].pattern.as_deref(), Some("no-inbox"));
    assert_eq!(no_inbox.faults, subject.faults);
    assert_eq!(no_inbox.checks, subject.checks);
    let early = unit(&plan, "~ack-then-effect");
    assert_eq!(early.faults[0].trigger().unwrap().point, Point::AckVisible);
    let created = unit(&plan, "~subscription-created");
    let letters = created.topology.dead_letter.as_ref().unwrap();
    assert_eq!(letters.subscription, Presence::Created);
    assert!(matches!(created.faults[..], [FaultSpec::Admin(_)]), "nothing is withheld any more");
    assert_eq!(created.scope.faults, created.faults);
    let drops = &unit(&plan, "~log-and-ack").workers["consumer"];
    assert_eq!(drops.dead_letter.as_ref().unwrap().on_failure, OnDeadLetterFailure::LogAndAck);
}

#[test]
fn the_scope_says_what_checks_may_know() {
    let plan = plan(&request());
    let late = unit(&plan, "past-limit@kafka-4.3.1");
    assert_eq!(late.scope.ack_timeout_ms, Some(1500));
    assert!(late.scope.drained);
    assert_eq!(late.scope.delivery_cap, 100);
    assert_eq!(late.scope.redriver, None);
    assert_eq!(late.scope.destinations, BTreeSet::from(["billing".to_owned()]));
    assert_eq!(late.scope.pins.len(), 3);
    assert_eq!(unit(&plan, "past-limit@pulsar-4.2.4").scope.ack_timeout_ms, Some(1000));
    let redrive = unit(&plan, "interrupted@kafka-4.3.1");
    assert_eq!(redrive.scope.redriver.as_deref(), Some(REDRIVER));
    assert_eq!(unit(&plan, "missing-subscription@").scope.redriver, None);
}

#[test]
fn waits_come_from_the_configured_timers() {
    let plan = plan(&request());
    let sum = |part: &str| unit(&plan, part).waits.iter().map(|wait| wait.ms).sum::<u64>();
    assert_eq!(sum("inside-limit@kafka-4.3.1+rdkafka"), 600);
    assert_eq!(sum("past-limit@pulsar-4.2.4+pulsar"), 1000);
    assert_eq!(sum("sigkill-before-ack@kafka-4.3.1+rdkafka"), 0, "a static member");
    assert_eq!(sum("missing-topic@kafka-4.3.1"), 540, "refusal, and two backoffs");
    assert_eq!(sum("baseline@kafka-4.3.1"), 0);
}

#[test]
fn a_dead_member_without_a_name_of_its_own_costs_a_session() {
    let mut loaded = suites();
    for read in &mut loaded.suites {
        for scenario in &mut read.file.scenarios {
            for worker in scenario.value.workers.values_mut() {
                for options in worker.value.options.values_mut() {
                    options.remove("group.instance.id");
                }
            }
        }
    }
    let plan = build(&loaded, &request()).unwrap();
    let waits = &unit(&plan, "sigkill-before-ack@kafka-4.3.1").waits;
    assert_eq!(waits[0].ms, 45_000, "librdkafka's default");
}

#[test]
fn seeds_differ_by_unit_and_do_not_depend_on_the_rest_of_the_plan() {
    let all = plan(&request());
    let seeds: BTreeSet<u64> = all.units.iter().map(|unit| unit.seed).collect();
    assert_eq!(seeds.len(), all.units.len());
    assert!(seeds.iter().all(|seed| *seed < 1 << 53));
    let one = plan(&Request { filters: vec!["id(redrive/*)".to_owned()], ..request() });
    assert_eq!(one.cells.len(), 4);
    for unit in &one.units {
        assert!(all.units.contains(unit), "{}", unit.id);
    }
    let other = plan(&Request { seed: 8, ..request() });
    assert!(other.units.iter().zip(&all.units).all(|(a, b)| a.seed != b.seed));
}

#[test]
fn only_controls_makes_each_control_a_cell_that_has_to_fail() {
    let only = plan(&Request { subjects: Subjects::OnlyControls, ..request() });
    let normal = plan(&request());
    let controls: BTreeSet<&str> = normal
        .cells
        .iter()
        .flat_map(|cell| cell.controls.iter().map(|control| control.unit.as_str()))
        .collect();
    assert_eq!(only.cells.len(), controls.len());
    for cell in &only.cells {
        assert!(cell.only_control && cell.controls.is_empty());
        assert_eq!(cell.id.split_once('~').unwrap().1, cell.subject.split_once('~').unwrap().1);
    }
}

#[test]
fn a_lacking_capability_makes_the_cell_unsupported_and_runs_nothing() {
    let request = Request { profile: None, sets: vec!["new".to_owned()], ..request() };
    let plan = build(&load(&["fixtures/suites/valid"]), &request).unwrap();
    let cell = plan.cells.iter().find(|cell| cell.scenario == "example/every-word").unwrap();
    assert_eq!(cell.unsupported.as_ref().unwrap().capability, "dead_letter_policy");
    assert!(plan.units.iter().all(|unit| !unit.id.contains("every-word")));
    // A worker that is silent about a need is asked, not guessed about.
    let mut silent = request;
    silent.manifests[0].clients.values_mut().for_each(|client| client.lacks.clear());
    let problems = build(&load(&["fixtures/suites/valid"]), &silent).unwrap_err();
    assert!(problems[0].message.contains("does not say whether"), "{}", problems[0]);
    // So is one that is silent about what a handler does, whether the scenario names it or not.
    let pulsar = silent.manifests[0].clients.get_mut(&BrokerKind::Pulsar).unwrap();
    pulsar.capabilities.retain(|capability| capability != "retry_topic");
    let problems = build(&load(&["fixtures/suites/valid"]), &silent).unwrap_err();
    let asked = problems.iter().find(|p| p.message.contains("`retry_topic`")).unwrap();
    assert!(asked.rendered.contains("reconsume_later: 20 ms"), "{asked}");
}

#[test]
fn sets_that_differ_in_the_database_alone_have_ids_of_their_own() {
    let sets = ["new", "mixed", "new"].map(str::to_owned).to_vec();
    let request = Request { profile: None, sets, ..request() };
    let filters = vec!["id(example/one)".to_owned()];
    let plan = build(&load(&["fixtures/suites/valid"]), &Request { filters, ..request }).unwrap();
    let ids: Vec<&str> = plan.cells.iter().map(|cell| cell.id.as_str()).collect();
    let expected = [
        "example/one@kafka-4.3.1+rdkafka-0.39.0",
        "example/one@kafka-4.3.1+postgres-15+rdkafka-0.39.0",
    ];
    assert_eq!(ids, expected);
}

#[test]
fn what_cannot_be_planned_is_explained() {
    let wrong = |change: &dyn Fn(&mut Request)| {
        let mut request = request();
        change(&mut request);
        let problems = build(&suites(), &request).unwrap_err();
        problems.iter().map(|p| format!("{}|{:?}", p.message, p.help)).collect::<String>()
    };
    assert!(wrong(&|r| r.profile = Some("quik".into())).contains("did you mean `quick`"));
    assert!(wrong(&|r| r.sets = vec!["curent".into()]).contains("did you mean `current`"));
    assert!(wrong(&|r| r.sets.clear()).contains("no set of pins was asked for"));
    assert!(wrong(&|r| r.overrides = vec!["kafka".into()]).contains("this pins nothing"));
    assert!(wrong(&|r| r.overrides = vec!["kafak=1".into()]).contains("did you mean `kafka`"));
    assert!(wrong(&|r| r.overrides = vec!["kafka=new".into()]).contains("`new` is no version"));
    assert!(wrong(&|r| r.filters = vec!["id(nothing)".into()]).contains("takes no cell"));
    assert!(wrong(&|r| r.manifests.clear()).contains("no worker has a"));
    let all = build(&load(&["fixtures/suites/invalid"]), &request()).unwrap_err();
    assert!(all.len() > 90, "every problem of every file: {}", all.len());
}

#[test]
fn an_override_changes_the_pin_of_every_set() {
    let overrides = vec!["kafka=4.4.0".to_owned()];
    let plan = plan(&Request { overrides, ..request() });
    let kafka = plan.cells.iter().filter(|cell| cell.broker == BrokerKind::Kafka);
    let pins: BTreeSet<&str> = kafka.map(|cell| cell.server_pin.as_str()).collect();
    assert_eq!(pins, BTreeSet::from(["4.4.0"]));
}
