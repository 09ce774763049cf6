//! Phases of a scenario: who is started and stopped, and what each phase waits for.
//! A scene comes in; its problems go into it.
//! It must never let a worker be started twice, or be named while it does not run.

use std::collections::BTreeSet;

use crate::suite::model::{Phase, Until};
use crate::suite::problem::suggest;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::source::Route;

pub(super) fn validate(scene: &mut Scene) {
    let phases = scene.at("phases");
    if scene.scenario.phases.is_empty() {
        scene.report(Rule::NoPhase, &phases, "a story without a phase");
    }
    let mut names = BTreeSet::new();
    let mut running: BTreeSet<&str> = BTreeSet::new();
    let mut started: BTreeSet<&str> = BTreeSet::new();
    for (index, phase) in scene.scenario.phases.iter().enumerate() {
        let (phase, route) = (&phase.value, phases.item(index));
        scene.is_named(&route.key("name"), &phase.name);
        if !names.insert(phase.name.as_str()) {
            scene.report(
                Rule::DuplicateName,
                &route.key("name"),
                format!("phase `{}` stands twice", phase.name),
            );
        }
        for (n, name) in phase.start.iter().enumerate() {
            let route = route.key("start").item(n);
            if scene.known_worker(&route, name).is_some() && !running.insert(name) {
                scene.report(
                    Rule::StartOrder,
                    &route,
                    format!("worker `{name}` is running already"),
                );
            }
            started.insert(name);
        }
        until(scene, &route.key("until"), phase, &started);
        for (n, name) in phase.stop.iter().enumerate() {
            let route = route.key("stop").item(n);
            if scene.known_worker(&route, name).is_some() && !running.remove(name.as_str()) {
                scene.report(
                    Rule::StartOrder,
                    &route,
                    format!("worker `{name}` is not running in this phase"),
                );
            }
        }
    }
}

/// A phase that waits for a worker has to have it; whether the wait ever ends is for the lint.
fn until(scene: &mut Scene, route: &Route, phase: &Phase, started: &BTreeSet<&str>) {
    let (name, route) = match &phase.until {
        Until::Exited(name) => (name, route.key("exited")),
        Until::Assigned(name) => (name, route.key("assigned")),
        Until::Triggered(fault) => return of_fault(scene, &route.key("triggered"), fault),
        _ => return,
    };
    let known = scene.known_worker(&route, name).is_some();
    if known && !started.contains(name.as_str()) {
        scene.report(Rule::StartOrder, &route, format!("worker `{name}` was not started by then"));
    }
}

fn of_fault(scene: &mut Scene, route: &Route, id: &str) {
    let ids = || scene.scenario.faults.iter().map(|fault| fault.value.id());
    if !ids().any(|known| known == id) {
        let help = suggest(id, ids());
        let message = format!("there is no fault `{id}`");
        scene.report_with_help(Rule::UnknownFault, route, message, help);
    }
}
