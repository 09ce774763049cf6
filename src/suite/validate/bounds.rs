//! Numbers of a scenario: how much may be asked of a broker, a machine and an hour.
//! A scene comes in; a problem for each number outside of its bound goes into it.
//! It must never leave a number without a greatest value: a typing error would run for days.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::names::BrokerKind;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::source::Route;

/// Events of a workload at most; each is evidence that is kept and judged in memory.
pub(super) const EVENTS: u64 = 100_000;
/// Why processes and partitions have a greatest number.
pub(super) const MACHINE: &str = "all of them run on one machine";
/// Why events and what is counted like them have a greatest number.
pub(super) const STORY: &str = "a scenario is a story, no benchmark";

/// Bytes of a payload at most: room is left for the envelope and for the properties beside it.
const PAYLOAD: u64 = 900_000;
/// Why payloads have a greatest size.
const LIMIT: &str = "a broker's default message limit is 1 MiB";

/// What a number may be, both ends included.
pub(super) struct Bound {
    /// What is counted, for the message.
    pub of: &'static str,
    pub least: u64,
    pub most: u64,
    /// Why it is bounded.
    pub why: &'static str,
}

/// A problem at the route when the number is outside.
pub(super) fn keep(scene: &mut Scene, route: &Route, number: u64, bound: &Bound) {
    if (bound.least..=bound.most).contains(&number) {
        return;
    }
    let message = format!("{number} {}: {} to {} are allowed", bound.of, bound.least, bound.most);
    // Why there is a greatest number is no answer to a missing one.
    let help = (number > bound.most).then(|| bound.why.to_owned());
    scene.report_with_help(Rule::OutOfBounds, route, message, help);
}

/// Things of one kind in a scenario at most: each is looked at beside all of the others.
const LIST: u64 = 64;

/// Whether every list of the scenario is short enough to be looked at.
pub(super) fn is_a_story(scene: &mut Scene) -> bool {
    let before = scene.problems.len();
    let scenario = scene.scenario;
    let mut lists = vec![
        ("clauses", scene.at("clauses"), scenario.clauses.len()),
        ("capabilities", scene.at("needs"), scenario.needs.len()),
        ("brokers", scene.at("brokers"), scenario.brokers.len()),
        (
            "destinations",
            scene.at("topology").key("destinations"),
            scenario.topology.destinations.len(),
        ),
        ("workers", scene.at("workers"), scenario.workers.len()),
        ("phases", scene.at("phases"), scenario.phases.len()),
        ("faults", scene.at("faults"), scenario.faults.len()),
        ("checks", scene.at("checks"), scenario.checks.len()),
        ("controls", scene.at("controls"), scenario.controls.len()),
        ("known deviations", scene.at("known"), scenario.known.len()),
        ("expectations", scene.at("expect_for"), scenario.expect_for.len()),
    ];
    for (index, phase) in scenario.phases.iter().enumerate() {
        let route = scene.at("phases").item(index);
        lists.push(("workers to start", route.key("start"), phase.value.start.len()));
        lists.push(("workers to stop", route.key("stop"), phase.value.stop.len()));
    }
    for (index, control) in scenario.controls.iter().enumerate() {
        let (control, route) = (&control.value, scene.at("controls").item(index));
        let change = route.key("change");
        lists.push(("brokers", route.key("brokers"), control.brokers.len()));
        lists.push(("workers", change.key("workers"), control.change.workers.len()));
        lists.push(("faults", change.key("faults"), control.change.faults.len()));
        lists.push(("checks", change.key("checks"), control.change.checks.len()));
    }
    for (of, route, length) in lists {
        let bound = Bound { of, least: 0, most: LIST, why: STORY };
        keep(scene, &route, length as u64, &bound);
    }
    scene.problems.len() == before
}

pub(super) fn validate(scene: &mut Scene) {
    workload(scene);
    let topology = &scene.scenario.topology;
    let route = scene.at("topology");
    let bound = Bound { of: "partitions", least: 1, most: 64, why: MACHINE };
    keep(scene, &route.key("partitions"), topology.partitions.into(), &bound);
    if topology.destinations.is_empty() {
        let message = "without a destination nobody has to have an effect";
        scene.report(Rule::NoDestination, &route.key("destinations"), message);
    }
    let bound = Bound { of: "partitions", ..bound };
    if let Some(partitions) = topology.dead_letter.as_ref().and_then(|letters| letters.partitions) {
        let route = route.key("dead_letter").key("partitions");
        keep(scene, &route, partitions.into(), &bound);
    }
    settings(scene, &route.key("server"), &topology.server);
    settings(scene, &route.key("settings"), &topology.settings);
    limits(scene);
    repeat(scene);
}

/// Settings are for brokers that the scenario is run on.
pub(super) fn settings(
    scene: &mut Scene,
    route: &Route,
    settings: &BTreeMap<BrokerKind, BTreeMap<String, String>>,
) {
    for broker in settings.keys() {
        if !scene.brokers().contains(broker) {
            let message = format!("for {broker}, on which this scenario is not run");
            scene.report(Rule::OtherBroker, &route.name(&broker.to_string()), message);
        }
    }
}

fn workload(scene: &mut Scene) {
    let workload = &scene.scenario.workload;
    let route = scene.at("workload");
    let bound = Bound { of: "events", least: 1, most: EVENTS, why: STORY };
    keep(scene, &route.key("events"), workload.events.into(), &bound);
    let most = u64::from(workload.events).clamp(1, EVENTS);
    let why = "every key has an event at least";
    let bound = Bound { of: "keys", least: 1, most, why };
    keep(scene, &route.key("keys"), workload.keys.into(), &bound);
    let bound = Bound { of: "bytes of a payload", least: 0, most: PAYLOAD, why: LIMIT };
    keep(scene, &route.key("payload_bytes"), workload.payload_bytes.into(), &bound);
    let mut seen = BTreeSet::new();
    for (index, ordinal) in workload.poison.iter().enumerate() {
        let route = route.key("poison").item(index);
        if *ordinal == 0 || *ordinal > workload.events {
            let message =
                format!("there is no event {ordinal}: the workload has {}", workload.events);
            scene.report_with_help(
                Rule::UnknownEvent,
                &route,
                message,
                "ordinals count from 1".to_owned(),
            );
        } else if !seen.insert(ordinal) {
            scene.report(Rule::DuplicateItem, &route, format!("event {ordinal} stands twice"));
        }
    }
    bytes(scene, &route);
    again(scene, &route);
}

/// Payloads byte by byte are of events that there are, once each, and Base64.
fn bytes(scene: &mut Scene, route: &Route) {
    let workload = &scene.scenario.workload;
    let mut seen = BTreeSet::new();
    for (index, raw) in workload.bytes.iter().enumerate() {
        let route = route.key("bytes").item(index);
        if raw.event == 0 || raw.event > workload.events {
            let (event, events) = (raw.event, workload.events);
            let message = format!("there is no event {event}: the workload has {events}");
            let help = "ordinals count from 1".to_owned();
            scene.report_with_help(Rule::UnknownEvent, &route.key("event"), message, help);
        } else if !seen.insert(raw.event) {
            let message = format!("event {} stands twice", raw.event);
            scene.report(Rule::DuplicateItem, &route.key("event"), message);
        }
        let route = route.key("base64");
        match STANDARD.decode(&raw.base64) {
            Ok(payload) => {
                let bound = Bound { of: "bytes of a payload", least: 0, most: PAYLOAD, why: LIMIT };
                keep(scene, &route, payload.len() as u64, &bound);
            }
            Err(error) => scene.report(Rule::BadBase64, &route, format!("no Base64: {error}")),
        }
    }
    let bound = Bound { of: "payloads", least: 0, most: EVENTS, why: STORY };
    keep(scene, &route.key("bytes"), workload.bytes.len() as u64, &bound);
}

/// Second publications are of events that there are.
fn again(scene: &mut Scene, route: &Route) {
    let workload = &scene.scenario.workload;
    for (index, again) in workload.again.iter().enumerate() {
        if again.event == 0 || again.event > workload.events {
            let message =
                format!("there is no event {}: the workload has {}", again.event, workload.events);
            let route = route.key("again").item(index).key("event");
            scene.report_with_help(
                Rule::UnknownEvent,
                &route,
                message,
                "ordinals count from 1".to_owned(),
            );
        }
    }
    let most = u64::from(workload.keys).clamp(1, EVENTS);
    let bound = Bound { of: "as a key", least: 1, most, why: "the workload has no more keys" };
    for (index, key) in workload.again.iter().enumerate().filter_map(|(n, a)| Some((n, a.key?))) {
        keep(scene, &route.key("again").item(index).key("key"), key.into(), &bound);
    }
    let most = EVENTS;
    let bound = Bound { of: "second publications", least: 0, most, why: STORY };
    keep(scene, &route.key("again"), workload.again.len() as u64, &bound);
}

fn limits(scene: &mut Scene) {
    let limits = &scene.scenario.limits;
    let route = scene.at("limits");
    let why = "one scenario must not hold up all the others";
    let bound = Bound { of: "seconds", least: 1, most: 3600, why };
    keep(scene, &route.key("deadline_s"), limits.deadline_s.into(), &bound);
    let bound = Bound { of: "deliveries", least: 1, most: 10_000_000, why: STORY };
    keep(scene, &route.key("deliveries"), limits.deliveries, &bound);
    let destinations = scene.scenario.topology.destinations.len() as u64;
    let workload = &scene.scenario.workload;
    let messages = u64::from(workload.events).saturating_add(workload.again.len() as u64);
    let least = messages.saturating_mul(destinations);
    if limits.deliveries > 0 && limits.deliveries < least {
        let message = format!("the story needs {least} deliveries at least");
        scene.report(Rule::OutOfBounds, &route.key("deliveries"), message);
    }
}

fn repeat(scene: &mut Scene) {
    let Some(repeat) = scene.scenario.repeat else { return };
    let route = scene.at("repeat");
    let why = "each run takes its share of an hour";
    let bound = Bound { of: "runs", least: 2, most: 1000, why };
    keep(scene, &route.key("runs"), repeat.runs.into(), &bound);
    let (most, why) = (u64::from(repeat.runs).max(1), "there are no more runs");
    let bound = Bound { of: "runs in which all checks hold", least: 1, most, why };
    keep(scene, &route.key("at_least"), repeat.at_least.into(), &bound);
    let why = "readers of the reports may hold numbers in floating point";
    let bound = Bound { of: "as a seed", least: 0, most: (1 << 53) - 1, why };
    keep(scene, &route.key("seed"), repeat.seed.unwrap_or_default(), &bound);
}
