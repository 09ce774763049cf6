//! Checks of a scenario: what each needs to have something to examine.
//! A scene comes in; its problems go into it.
//! It must never accept a check that the story leaves with nothing to look at.

use super::Scene;
use crate::checks::CheckSpec;
use crate::faults::FaultSpec;
use crate::names::{EventSet, Role};
use crate::suite::model::Until;
use crate::suite::problem::suggest;
use crate::suite::source::Route;
use crate::suite::vocabulary::{ack_timeout_option, check_events, check_name};

pub(super) fn validate(scene: &mut Scene) {
    let checks = scene.at("checks");
    if scene.scenario.checks.is_empty() {
        let message = "a scenario without a check passes whatever happens";
        scene.report(&checks, message);
    }
    for (index, check) in scene.scenario.checks.iter().enumerate() {
        let route = checks.item(index).key(check_name(&check.value));
        one(scene, &route, &check.value);
    }
    let shows_loss =
        scene.scenario.checks.iter().any(|c| matches!(c.value, CheckSpec::Unretained(_)));
    if scene.scenario.hazard && !shows_loss {
        let message = "a hazard scenario has to show its loss";
        scene.report_with_help(&scene.at("hazard"), message, "add `unretained`".to_owned());
    }
    if shows_loss && !scene.scenario.hazard {
        let message = "an expected loss, and the scenario is no hazard";
        scene.report_with_help(&checks, message, "add `hazard: true`".to_owned());
    }
}

/// A check of the scenario, or one that a control puts in its place.
pub(super) fn one(scene: &mut Scene, route: &Route, check: &CheckSpec) {
    if let Some(set) = check_events(check) {
        event_set(scene, &route.key("of"), set);
    }
    if let Some(why) = lacking(scene, check) {
        scene.report(route, format!("nothing to examine: {why}"));
    }
    match check {
        CheckSpec::NotAdvanced(spec) => during(scene, &route.key("during"), &spec.during),
        CheckSpec::WithinLimit(_) => within_limit(scene, route),
        _ => {}
    }
}

/// The set has to have members in this story.
pub(super) fn event_set(scene: &mut Scene, route: &Route, set: EventSet) {
    let is_struck = scene.scenario.faults.iter().any(|fault| fault.value.trigger().is_some());
    let poison = scene.scenario.workload.poison.len();
    let why = match set {
        EventSet::Struck if !is_struck => "no fault strikes an event",
        EventSet::Poison if poison == 0 => "no event is poison",
        EventSet::Healthy if poison >= scene.scenario.workload.events as usize => {
            "every event is poison"
        }
        _ => return,
    };
    scene.report(route, format!("`{set}` is empty: {why}"));
}

fn lacking(scene: &Scene, check: &CheckSpec) -> Option<&'static str> {
    match check {
        CheckSpec::DeadLetters(_) | CheckSpec::Unretained(_) => {
            if scene.scenario.topology.dead_letter.is_none() {
                return Some("the topology has no dead letter topic");
            }
            let writes = scene.consumers().any(|(_, spec)| spec.dead_letter.is_some());
            (!writes).then_some("no consumer writes dead letters")
        }
        CheckSpec::RedriveKnown(_) => {
            let mut redrivers = scene.workers().filter(|(_, spec)| spec.role == Role::Redriver);
            (!redrivers.any(|(name, _)| scene.is_started(name))).then_some("no redriver is started")
        }
        CheckSpec::Overlap(_) => {
            let destinations = scene.scenario.topology.destinations.keys();
            let most = destinations.map(|name| scene.processes_of(Some(name))).max();
            (most.unwrap_or_default() < 2)
                .then_some("fewer than two consumers serve the same destination")
        }
        CheckSpec::Drained(_) => {
            let last = scene.scenario.phases.last().map(|phase| &phase.value.until);
            (!matches!(last, Some(Until::Drained | Until::Redriven)))
                .then_some("the last phase waits neither for `drained` nor for `redriven`")
        }
        _ => None,
    }
}

fn during(scene: &mut Scene, route: &Route, id: &str) {
    let faults = || scene.scenario.faults.iter().map(|fault| &fault.value);
    match faults().find(|fault| fault.id() == id) {
        None => {
            let help = suggest(id, faults().map(FaultSpec::id));
            scene.report_with_help(route, format!("there is no fault `{id}`"), help);
        }
        Some(FaultSpec::Kill(_) | FaultSpec::Admin(_)) => {
            scene.report(route, format!("fault `{id}` is over at once: nothing lasts during it"));
        }
        Some(_) => {}
    }
}

fn within_limit(scene: &mut Scene, route: &Route) {
    for broker in scene.brokers() {
        let option = ack_timeout_option(*broker);
        let is_set = scene.consumers().any(|(_, spec)| {
            spec.options.get(broker).is_some_and(|options| options.contains_key(option))
        });
        if !is_set {
            let message = format!("on {broker} no consumer has an ack timeout");
            let help = format!("set the option `{option}` of a consumer for {broker}");
            scene.report_with_help(route, message, help);
        }
    }
}
