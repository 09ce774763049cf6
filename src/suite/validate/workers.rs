//! Workers of a scenario: roles, patterns, destinations, options, dead letters.
//! A scene comes in; its problems go into it.
//! It must never judge an option's name or value: those are the client's, verbatim.

use std::collections::BTreeMap;

use super::bounds::{self, Bound};
use super::handler;
use crate::names::{BrokerKind, Role};
use crate::suite::model::{DeadLetterMode, Share, SubscriptionType, WorkerSpec};
use crate::suite::problem::suggest;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::source::Route;
use crate::suite::vocabulary::PATTERNS;

pub(super) fn validate(scene: &mut Scene) {
    for (name, spec) in scene.workers() {
        let route = scene.at("workers").key(name);
        scene.is_named(&scene.at("workers").name(name), name);
        if !scene.is_started(name) {
            let message = format!("no phase starts worker `{name}`");
            scene.report(Rule::NeverStarted, &scene.at("workers").name(name), message);
        }
        count(scene, &route.key("count"), spec.count);
        role(scene, &route, spec);
        options(scene, &route, &spec.options);
        dead_letter(scene, &route, spec);
        handler::validate(scene, &route, spec);
    }
    let publishes = |role| matches!(role, Role::Producer | Role::Relay);
    let mut producers = scene.workers().filter(|(_, spec)| publishes(spec.role));
    if producers.next().is_none() {
        let message = "nobody publishes the workload";
        let help = "add a worker with `role: producer`: the runner itself never publishes";
        scene.report_with_help(Rule::NoProducer, &scene.at("workers"), message, help.to_owned());
    }
    all_of_the_workload(scene);
    for (destination, spec) in &scene.scenario.topology.destinations {
        let route = scene.at("topology").key("destinations").name(destination);
        scene.is_named(&route, destination);
        if spec.subscription != SubscriptionType::Shared && scene.brokers() == [BrokerKind::Kafka] {
            let route = scene.at("topology").key("destinations").key(destination);
            let message = "Kafka has consumer groups, and no types of subscriptions";
            let help = "write `subscription: shared`: the group shares the partitions".to_owned();
            scene.report_with_help(Rule::BrokerCannot, &route.key("subscription"), message, help);
        }
        if scene.processes_of(Some(destination)) == 0 {
            let message = format!("no consumer serves destination `{destination}`");
            scene.report(Rule::Unserved, &route, message);
        }
    }
}

/// What nobody publishes would be missing from the story in silence.
fn all_of_the_workload(scene: &mut Scene) {
    let shares = || scene.workers().filter(|(_, spec)| spec.role == Role::Producer);
    let publishes = |part| shares().any(|(_, spec)| spec.publishes.is_none_or(|own| own == part));
    let (once, again) = (publishes(Share::Once), publishes(Share::Again));
    let message = match (once, again) {
        (false, true) => "nobody publishes the events for the first time",
        (true, false) if !scene.scenario.workload.again.is_empty() => {
            "nobody publishes the second publications of the workload"
        }
        _ => return,
    };
    let help = "add a producer with the other share, or leave `publishes` out".to_owned();
    scene.report_with_help(Rule::NoProducer, &scene.at("workers"), message, help);
}

fn role(scene: &mut Scene, route: &Route, spec: &WorkerSpec) {
    pattern(scene, &route.key("pattern"), spec.role, spec.pattern.as_deref());
    let needs_destination = matches!(spec.role, Role::Consumer | Role::Redriver);
    let is_known = |name: &String| scene.scenario.topology.destinations.contains_key(name);
    match &spec.destination {
        Some(name) if needs_destination && is_known(name) => {}
        Some(name) if needs_destination => {
            let known = &scene.scenario.topology.destinations;
            let help = suggest(name, known.keys().map(String::as_str));
            let message = format!("there is no destination `{name}`");
            scene.report_with_help(
                Rule::UnknownDestination,
                &route.key("destination"),
                message,
                help,
            );
        }
        Some(_) => {
            let message = format!("a {} serves no destination", spec.role);
            scene.report(Rule::WrongForRole, &route.key("destination"), message);
        }
        None if needs_destination => {
            let message = format!("a {} needs a destination", spec.role);
            scene.report(Rule::MissingForRole, &route.key("role"), message);
        }
        None => {}
    }
    if spec.publishes.is_some() && spec.role != Role::Producer {
        let message = format!("a {} publishes no part of the workload", spec.role);
        scene.report(Rule::WrongForRole, &route.key("publishes"), message);
    }
    if spec.publishes == Some(Share::Again) && scene.scenario.workload.again.is_empty() {
        let message = "the workload has no second publications";
        scene.report(Rule::NoEvent, &route.key("publishes"), message);
    }
    redrive(scene, route, spec);
}

fn redrive(scene: &mut Scene, route: &Route, spec: &WorkerSpec) {
    match (&spec.redrive, spec.role == Role::Redriver) {
        (None, true) => {
            scene.report(Rule::MissingForRole, &route.key("role"), "a redriver needs `redrive`")
        }
        (Some(_), false) => {
            scene.report(
                Rule::WrongForRole,
                &route.key("redrive"),
                format!("a {} redrives nothing", spec.role),
            );
        }
        (Some(redrive), true) => {
            let route = route.key("redrive");
            let most = bounds::EVENTS;
            let bound = Bound { of: "letters of the pilot", least: 1, most, why: bounds::STORY };
            bounds::keep(scene, &route.key("pilot"), redrive.pilot.into(), &bound);
            let bound = Bound { of: "letters a second", ..bound };
            bounds::keep(scene, &route.key("rate_per_s"), redrive.rate_per_s.into(), &bound);
        }
        _ => {}
    }
    if spec.role == Role::Redriver && scene.scenario.topology.dead_letter.is_none() {
        scene.report(
            Rule::NoDeadLetterTopic,
            &route.key("role"),
            "a redriver without a dead letter topic",
        );
    }
}

/// A pattern has to be one of the role's.
pub(super) fn pattern(scene: &mut Scene, route: &Route, role: Role, pattern: Option<&str>) {
    let of_role = || PATTERNS.iter().filter(move |(_, r)| *r == role).map(|(name, _)| *name);
    match pattern {
        Some(_) if role == Role::Producer => {
            scene.report(Rule::WrongForRole, route, "a producer has no pattern")
        }
        Some(name) if !of_role().any(|known| known == name) => {
            let message = format!("a {role} has no pattern `{name}`");
            scene.report_with_help(Rule::UnknownPattern, route, message, suggest(name, of_role()));
        }
        None if role != Role::Producer => {
            let help = suggest("", of_role());
            scene.report_with_help(
                Rule::MissingForRole,
                route,
                format!("a {role} needs a pattern"),
                help,
            );
        }
        _ => {}
    }
}

/// How many processes of one worker there are.
pub(super) fn count(scene: &mut Scene, route: &Route, count: u32) {
    let bound = Bound { of: "processes of a worker", least: 1, most: 64, why: bounds::MACHINE };
    bounds::keep(scene, route, count.into(), &bound);
}

/// Options of a worker are for brokers that the scenario is run on.
pub(super) fn options(
    scene: &mut Scene,
    route: &Route,
    options: &BTreeMap<BrokerKind, BTreeMap<String, String>>,
) {
    for broker in options.keys() {
        if !scene.brokers().contains(broker) {
            let message = format!("options for {broker}, on which this scenario is not run");
            scene.report(
                Rule::OtherBroker,
                &route.key("options").name(&broker.to_string()),
                message,
            );
        }
    }
}

fn dead_letter(scene: &mut Scene, route: &Route, spec: &WorkerSpec) {
    let Some(letter) = &spec.dead_letter else { return };
    let route = route.key("dead_letter");
    if spec.role != Role::Consumer {
        scene.report(Rule::WrongForRole, &route, format!("a {} writes no dead letters", spec.role));
    }
    let of = "deliveries before a letter is dead";
    let bound = Bound { of, least: 1, most: 1000, why: bounds::STORY };
    bounds::keep(scene, &route.key("max_deliveries"), letter.max_deliveries.into(), &bound);
    if scene.scenario.topology.dead_letter.is_none() {
        let message = "dead letters, and no dead letter topic in the topology";
        let help = "add `dead_letter: {topic: …, subscription: …}` to the topology";
        scene.report_with_help(Rule::NoDeadLetterTopic, &route, message, help.to_owned());
    }
    let is_declared = scene.scenario.needs.iter().any(|need| need.value == "dead_letter_policy");
    if letter.mode == DeadLetterMode::Client && !is_declared {
        let message = "the client's own policy is used, and `needs` does not ask for it";
        let help = "add `dead_letter_policy` to `needs`, or use `mode: application`";
        scene.report_with_help(Rule::UndeclaredNeed, &route.key("mode"), message, help.to_owned());
    }
    if letter.mode == DeadLetterMode::Client && scene.brokers() == [BrokerKind::Kafka] {
        scene.report(
            Rule::BrokerCannot,
            &route.key("mode"),
            "Kafka consumers have no dead letters of their own",
        );
    }
}
