//! Rules of handlers: each has to concern an event, and be reached by one.
//! A scene and one of its workers come in; its problems go into the scene.
//! It must never accept a rule without an effect: it would look as if something were tested.

use super::bounds::{self, Bound};
use crate::names::{BrokerKind, Role};
use crate::suite::handler::{Behaviour, HandlerRule, Selection};
use crate::suite::lint::{MOST_RULES, taken};
use crate::suite::model::WorkerSpec;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::source::Route;
use crate::suite::vocabulary::ack_timeout_option;

pub(super) fn validate(scene: &mut Scene, worker: &Route, spec: &WorkerSpec) {
    rules(scene, worker, spec, &spec.handler);
}

/// The worker's own rules, or those that a control puts in their place.
pub(super) fn rules(scene: &mut Scene, worker: &Route, spec: &WorkerSpec, rules: &[HandlerRule]) {
    let route = worker.key("handler");
    if spec.role != Role::Consumer && !rules.is_empty() {
        scene.report(Rule::WrongForRole, &route, format!("a {} handles no events", spec.role));
        return;
    }
    let bound =
        Bound { of: "rules of a handler", least: 0, most: MOST_RULES as u64, why: bounds::STORY };
    bounds::keep(scene, &route, rules.len() as u64, &bound);
    // Events that an earlier rule, which is never used up, decides for.
    let mut decided = vec![false; taken(&Selection::All, &scene.scenario.workload).len()];
    for (index, rule) in rules.iter().take(MOST_RULES).enumerate() {
        let route = route.item(index);
        selection(scene, &route.key("of"), &rule.of);
        if let Some(times) = rule.times {
            let bound = Bound { of: "times", least: 1, most: 1000, why: bounds::STORY };
            bounds::keep(scene, &route.key("times"), times.into(), &bound);
        }
        time(scene, &route.key("does"), spec, rule.does);
        let delays = matches!(rule.does, Behaviour::ReconsumeLater(_));
        if delays && scene.brokers().contains(&BrokerKind::Kafka) {
            let message = "Kafka clients have no retry topic of their own";
            scene.report(Rule::BrokerCannot, &route.key("does"), message);
        }
        let own = taken(&rule.of, &scene.scenario.workload);
        let is_open = |(own, decided): (&bool, &bool)| *own && !*decided;
        if own.contains(&true) && !own.iter().zip(&decided).any(is_open) {
            let message =
                "no event reaches this rule: the ones before it decide for all of its events";
            scene.report(Rule::UnreachedRule, &route, message);
        }
        if rule.times.is_none() {
            decided.iter_mut().zip(&own).for_each(|(decided, own)| *decided |= *own);
        }
    }
}

fn selection(scene: &mut Scene, route: &Route, of: &Selection) {
    let workload = &scene.scenario.workload;
    if let Selection::Events(ordinals) = of {
        let beyond = ordinals.iter().find(|n| **n == 0 || **n > workload.events);
        if let Some(ordinal) = beyond {
            let message =
                format!("there is no event {ordinal}: the workload has {}", workload.events);
            return scene.report_with_help(
                Rule::UnknownEvent,
                route,
                message,
                "ordinals count from 1".to_owned(),
            );
        }
    }
    // What lies outside of its bound is reported there.
    if workload.events > 0 && !taken(of, workload).contains(&true) {
        scene.report(Rule::NoEvent, route, "this concerns no event of the workload");
    }
}

/// A relative time needs the value that it refers to, on every broker.
fn time(scene: &mut Scene, route: &Route, spec: &WorkerSpec, does: Behaviour) {
    if !does.time().is_some_and(|time| time.needs_ack_timeout()) {
        return;
    }
    for broker in scene.brokers() {
        let option = ack_timeout_option(*broker);
        if !spec.options.get(broker).is_some_and(|options| options.contains_key(option)) {
            let message = format!("on {broker} this worker has no ack timeout");
            let help = format!("set its option `{option}` for {broker}, or write an absolute time");
            scene.report_with_help(Rule::NoAckTimeout, route, message, help);
        }
    }
}
