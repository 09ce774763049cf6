//! Checks of a scenario: what each needs to have something to examine.
//! A scene comes in; its problems go into it.
//! It must never accept a check that the story leaves with nothing to look at.

use super::bounds::{self, keep};
use crate::checks::dead_letters::DeadLettersSpec;
use crate::checks::gaps::GapsSpec;
use crate::checks::not_redelivered::Since;
use crate::checks::redelivery_counts::RedeliveryCountsSpec;
use crate::checks::{Bound, CheckSpec};
use crate::faults::FaultSpec;
use crate::names::{EventSet, Role, TopicRole};
use crate::suite::model::Until;
use crate::suite::problem::suggest;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::source::Route;
use crate::suite::vocabulary::{ack_timeout_option, check_events};

pub(super) fn validate(scene: &mut Scene) {
    let checks = scene.at("checks");
    if scene.scenario.checks.is_empty() {
        let message = "a scenario without a check passes whatever happens";
        scene.report(Rule::NoCheck, &checks, message);
    }
    for (index, check) in scene.scenario.checks.iter().enumerate() {
        let route = checks.item(index).key(check.value.name());
        one(scene, &route, &check.value);
    }
    let shows_loss =
        scene.scenario.checks.iter().any(|c| matches!(c.value, CheckSpec::Unretained(_)));
    if scene.scenario.hazard && !shows_loss {
        let message = "a hazard scenario has to show its loss";
        scene.report_with_help(
            Rule::HazardMismatch,
            &scene.at("hazard"),
            message,
            "add `unretained`".to_owned(),
        );
    }
    if shows_loss && !scene.scenario.hazard {
        let message = "an expected loss, and the scenario is no hazard";
        scene.report_with_help(
            Rule::HazardMismatch,
            &checks,
            message,
            "add `hazard: true`".to_owned(),
        );
    }
}

/// A check of the scenario, or one that a control puts in its place.
pub(super) fn one(scene: &mut Scene, route: &Route, check: &CheckSpec) {
    if let Some(set) = check_events(check) {
        event_set(scene, &route.key("of"), set);
    }
    if let Some(why) = lacking(scene, check) {
        scene.report(Rule::NothingToExamine, route, format!("nothing to examine: {why}"));
    }
    match check {
        CheckSpec::NotAdvanced(spec) => during(scene, &route.key("during"), &spec.during),
        CheckSpec::WithinLimit(_) => within_limit(scene, route),
        CheckSpec::Messages(spec) => bound(scene, &route.key("count"), spec.count),
        CheckSpec::Confirmed(spec) => bound(scene, &route.key("count"), spec.count),
        CheckSpec::Effects(spec) => bound(scene, &route.key("count"), spec.count),
        CheckSpec::Deliveries(spec) => bound(scene, &route.key("count"), spec.count),
        CheckSpec::RedeliveryCounts(spec) => redelivery_counts(scene, route, spec),
        CheckSpec::Gaps(spec) => gaps(scene, route, spec),
        CheckSpec::DeadLetters(spec) => {
            bound(scene, &route.key("copies"), spec.copies);
            carries(scene, &route.key("carries"), spec);
        }
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
    scene.report(Rule::NothingToExamine, route, format!("`{set}` is empty: {why}"));
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
        CheckSpec::Messages(spec) if spec.topic == TopicRole::DeadLetter => {
            let absent = scene.scenario.topology.dead_letter.is_none();
            absent.then_some("the topology has no dead letter topic")
        }
        CheckSpec::NotRedelivered(spec) if spec.since == Since::Visible => {
            let mut faults = scene.scenario.faults.iter().map(|fault| &fault.value);
            let looks = |fault: &FaultSpec| !matches!(fault, FaultSpec::Admin(_));
            (!faults.any(looks)).then_some("no fault makes the runner look at the broker meanwhile")
        }
        CheckSpec::Order(_) => {
            let workload = &scene.scenario.workload;
            (workload.keys >= workload.events).then_some("every key has one event only")
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
            scene.report_with_help(
                Rule::UnknownFault,
                route,
                format!("there is no fault `{id}`"),
                help,
            );
        }
        Some(FaultSpec::Kill(_) | FaultSpec::Admin(_)) => {
            scene.report(
                Rule::NothingToExamine,
                route,
                format!("fault `{id}` is over at once: nothing lasts during it"),
            );
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
            scene.report_with_help(Rule::NoAckTimeout, route, message, help);
        }
    }
}

/// A number that nothing can be below, or above, decides nothing.
fn bound(scene: &mut Scene, route: &Route, bound: Bound) {
    let most = scene.scenario.limits.deliveries;
    match bound {
        Bound::AtLeast(0) => {
            scene.report(Rule::VacuousCheck, route, "`at_least: 0` holds whatever happens");
        }
        Bound::AtMost(number) if number >= most => {
            let message = format!("`at_most: {number}` holds whatever happens");
            let help =
                format!("the story is stopped at {most} deliveries (`limits`): expect fewer");
            scene.report_with_help(Rule::VacuousCheck, route, message, help);
        }
        _ => {}
    }
}

fn redelivery_counts(scene: &mut Scene, route: &Route, spec: &RedeliveryCountsSpec) {
    if spec.sequence.is_none() && spec.resets.is_none() {
        let help = "add `sequence`, `resets` or both".to_owned();
        scene.report_with_help(
            Rule::VacuousCheck,
            route,
            "nothing is expected of the counts",
            help,
        );
    }
    if spec.sequence.as_ref().is_some_and(Vec::is_empty) {
        let message = "an empty sequence: an event that is handed over has a count";
        scene.report(Rule::VacuousCheck, &route.key("sequence"), message);
    }
    if let Some(resets) = spec.resets {
        bound(scene, &route.key("resets"), resets);
    }
    let needs = &scene.scenario.needs;
    if !needs.iter().any(|capability| capability.value == "redelivery_count") {
        let message = "the client has to hand a count to the application";
        let help = "add `redelivery_count` to `needs`".to_owned();
        scene.report_with_help(Rule::UndeclaredNeed, route, message, help);
    }
}

fn gaps(scene: &mut Scene, route: &Route, spec: &GapsSpec) {
    if spec.at_least_ms.is_none() && spec.at_most_ms.is_none() {
        let help = "add `at_least_ms`, `at_most_ms` or both".to_owned();
        scene.report_with_help(Rule::VacuousCheck, route, "nothing is expected of the gaps", help);
    }
    let why = "no scenario takes longer than an hour";
    let allowed = bounds::Bound { of: "ms between two", least: 1, most: 3_600_000, why };
    for (key, ms) in [("at_least_ms", spec.at_least_ms), ("at_most_ms", spec.at_most_ms)] {
        if let Some(ms) = ms {
            keep(scene, &route.key(key), ms, &allowed);
        }
    }
    if let (Some(least), Some(most)) = (spec.at_least_ms, spec.at_most_ms)
        && most < least
    {
        let message = format!("no gap is {least} ms at least and {most} ms at most");
        scene.report(Rule::OutOfBounds, &route.key("at_most_ms"), message);
    }
}

fn carries(scene: &mut Scene, route: &Route, spec: &DeadLettersSpec) {
    let none = spec.copies.admits(0) && !spec.copies.admits(1);
    if none && !spec.carries.is_empty() {
        scene.report(Rule::VacuousCheck, route, "no letter is expected that could carry it");
    }
    if spec.carries.keys().any(String::is_empty) {
        scene.report(Rule::EmptyText, route, "a property without a name");
    }
}
