//! Controls of a scenario: each has to change something, and a check has to be there to catch it.
//! A scene comes in; its problems go into it.
//! It must never let a scenario through that no deliberate defect puts to the test.

use std::collections::BTreeSet;

use super::{bounds, checks, faults, handler, workers};
use crate::checks::{CHECKS, CheckSpec};
use crate::faults::FaultSpec;
use crate::suite::change::{Change, ControlSpec, Defect};
use crate::suite::control::Story;
use crate::suite::problem::suggest;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::source::Route;

pub(super) fn validate(scene: &mut Scene) {
    let controls = scene.at("controls");
    let mut ids = BTreeSet::new();
    for (index, control) in scene.scenario.controls.iter().enumerate() {
        let (control, route) = (&control.value, controls.item(index));
        scene.is_named(&route.key("id"), &control.id);
        if !ids.insert(control.id.as_str()) {
            scene.report(
                Rule::DuplicateName,
                &route.key("id"),
                format!("control `{}` stands twice", control.id),
            );
        }
        one(scene, &route, control);
    }
    for broker in scene.brokers() {
        let covers =
            |control: &ControlSpec| control.brokers.is_empty() || control.brokers.contains(broker);
        if !scene.scenario.controls.iter().any(|control| covers(&control.value)) {
            let message = format!("no control on {broker}: a pass would prove nothing");
            let help = "add a control: a deliberate defect that one of the checks must catch";
            scene.report_with_help(Rule::NoControl, &controls, message, help.to_owned());
        }
    }
}

fn one(scene: &mut Scene, route: &Route, control: &ControlSpec) {
    for (index, broker) in control.brokers.iter().enumerate() {
        if !scene.brokers().contains(broker) {
            let message = format!("the scenario is not run on {broker}");
            scene.report(Rule::OtherBroker, &route.key("brokers").item(index), message);
        }
    }
    checks::event_set(scene, &route.key("strikes"), control.strikes);
    let change = route.key("change");
    let before_references = scene.problems.len();
    changed_workers(scene, &change.key("workers"), &control.change);
    changed_faults(scene, &change.key("faults"), &control.change);
    changed_topology(scene, &change, &control.change);
    for (index, check) in control.change.checks.iter().enumerate() {
        let route = change.key("checks").item(index).key(check.name());
        checks::one(scene, &route, check);
    }
    let before = Story::of(scene.scenario);
    let after = before.clone().with(&control.change);
    // A change that names nothing that exists is reported as such already.
    if before == after && scene.problems.len() == before_references {
        let message = format!("control `{}` changes nothing", control.id);
        scene.report_with_help(
            Rule::ControlChangesNothing,
            &change,
            message,
            "name a defect under `change`".to_owned(),
        );
    }
    let expects_only = before.workers == after.workers
        && before.faults == after.faults
        && before.topology == after.topology;
    let is_expectation = control.defect == Defect::WrongExpectation;
    if before != after && expects_only != is_expectation {
        let message = match control.defect {
            Defect::WrongExpectation => "a wrong expectation changes checks and nothing else",
            Defect::WrongWorker | Defect::WrongSetting => "only expectations are changed here",
        };
        scene.report(Rule::ControlKind, &route.key("defect"), message);
    }
    caught_by(scene, &route.key("caught_by"), control, &before, &after);
}

fn caught_by(
    scene: &mut Scene,
    route: &Route,
    control: &ControlSpec,
    before: &Story,
    after: &Story,
) {
    let name = control.caught_by.as_str();
    if !CHECKS.contains(&name) {
        let help = suggest(name, CHECKS.iter().copied());
        return scene.report_with_help(
            Rule::UnknownCheck,
            route,
            format!("there is no check `{name}`"),
            help,
        );
    }
    let runs_it = |checks: &[CheckSpec]| checks.iter().any(|check| check.name() == name);
    // A check that only the control has says nothing about those of the scenario.
    let (own, changed) = (&before.checks, &after.checks);
    let is_missing = !runs_it(own) || !runs_it(changed);
    if !own.is_empty() && !changed.is_empty() && is_missing {
        let missing_in = if runs_it(own) { changed } else { own };
        let runs: Vec<&str> = missing_in.iter().map(CheckSpec::name).collect();
        let message = format!("this scenario does not run the check `{name}`");
        scene.report_with_help(
            Rule::CheckNotRun,
            route,
            message,
            format!("it runs: {}", runs.join(", ")),
        );
    }
}

fn changed_workers(scene: &mut Scene, route: &Route, change: &Change) {
    for (name, changed) in &change.workers {
        let Some(spec) = scene.known_worker(&route.name(name), name) else { continue };
        if changed.pattern.is_some() {
            let route = route.key(name).key("pattern");
            workers::pattern(scene, &route, spec.role, changed.pattern.as_deref());
        }
        if let Some(rules) = &changed.handler {
            let route = route.key(name);
            handler::rules(scene, &route, spec, rules);
        }
        workers::options(scene, &route.key(name), &changed.options);
        if let Some(count) = changed.count {
            workers::count(scene, &route.key(name).key("count"), count);
        }
        if changed.on_dead_letter_failure.is_some() && spec.dead_letter.is_none() {
            let message = format!("worker `{name}` writes no dead letters");
            scene.report(
                Rule::ChangeDoesNotFit,
                &route.key(name).key("on_dead_letter_failure"),
                message,
            );
        }
    }
}

fn changed_topology(scene: &mut Scene, route: &Route, change: &Change) {
    bounds::settings(scene, &route.key("settings"), &change.settings);
    let route = route.key("subscriptions");
    for name in change.subscriptions.keys() {
        let known = &scene.scenario.topology.destinations;
        if !known.contains_key(name) {
            let help = suggest(name, known.keys().map(String::as_str));
            let message = format!("there is no destination `{name}`");
            scene.report_with_help(Rule::UnknownDestination, &route.name(name), message, help);
        }
    }
}

fn changed_faults(scene: &mut Scene, route: &Route, change: &Change) {
    for (id, changed) in &change.faults {
        let faults = || scene.scenario.faults.iter().map(|fault| &fault.value);
        let Some(fault) = faults().find(|fault| fault.id() == id) else {
            let help = suggest(id, faults().map(|fault| fault.id()));
            scene.report_with_help(
                Rule::UnknownFault,
                &route.name(id),
                format!("there is no fault `{id}`"),
                help,
            );
            continue;
        };
        let route = route.key(id);
        let target = fault.trigger().and_then(|when| scene.worker(&when.worker));
        match (changed.at, target) {
            (Some(point), Some(spec)) => {
                faults::passes(scene, &route.key("at"), spec.role, point);
            }
            (Some(_), None) if fault.trigger().is_none() => {
                scene.report(
                    Rule::ChangeDoesNotFit,
                    &route.key("at"),
                    format!("no point triggers fault `{id}`"),
                );
            }
            _ => {}
        }
        match (changed.event, fault.trigger()) {
            (Some(event), Some(_)) => faults::event(scene, &route.key("event"), event),
            (Some(_), None) => {
                scene.report(
                    Rule::ChangeDoesNotFit,
                    &route.key("event"),
                    format!("no event triggers fault `{id}`"),
                );
            }
            (None, _) => {}
        }
        match (&changed.until, fault) {
            (Some(end), FaultSpec::Stall(_)) => {
                let own = fault.trigger().map(|when| when.event);
                faults::stall(scene, &route.key("until"), end, target, changed.event.or(own));
            }
            (Some(_), _) => {
                scene.report(
                    Rule::ChangeDoesNotFit,
                    &route.key("until"),
                    format!("fault `{id}` is no stall"),
                );
            }
            (None, _) => {}
        }
    }
}
