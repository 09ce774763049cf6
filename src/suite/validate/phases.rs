//! Phases of a scenario: who is started and stopped, and what each phase waits for.
//! A scene comes in; its problems go into it.
//! It must never let a phase wait for what the story cannot bring about.

use std::collections::BTreeSet;

use super::Scene;
use crate::faults::FaultSpec;
use crate::faults::withhold::Piece;
use crate::names::Role;
use crate::suite::model::{Phase, Until};
use crate::suite::source::Route;

pub(super) fn validate(scene: &mut Scene) {
    let phases = scene.at("phases");
    if scene.scenario.phases.is_empty() {
        scene.report(&phases, "a story without a phase");
    }
    let mut names = BTreeSet::new();
    let mut running: BTreeSet<&str> = BTreeSet::new();
    let mut started: BTreeSet<&str> = BTreeSet::new();
    for (index, phase) in scene.scenario.phases.iter().enumerate() {
        let (phase, route) = (&phase.value, phases.item(index));
        scene.is_named(&route.key("name"), &phase.name);
        if !names.insert(phase.name.as_str()) {
            scene.report(&route.key("name"), format!("phase `{}` stands twice", phase.name));
        }
        for (n, name) in phase.start.iter().enumerate() {
            let route = route.key("start").item(n);
            if scene.known_worker(&route, name).is_some() && !running.insert(name) {
                scene.report(&route, format!("worker `{name}` is running already"));
            }
            started.insert(name);
        }
        until(scene, &route.key("until"), phase, &started);
        for (n, name) in phase.stop.iter().enumerate() {
            let route = route.key("stop").item(n);
            if scene.known_worker(&route, name).is_some() && !running.remove(name.as_str()) {
                scene.report(&route, format!("worker `{name}` is not running in this phase"));
            }
        }
    }
}

fn until(scene: &mut Scene, route: &Route, phase: &Phase, started: &BTreeSet<&str>) {
    let has_poison = !scene.scenario.workload.poison.is_empty();
    let has_letters = scene.consumers().any(|(_, spec)| spec.dead_letter.is_some());
    let faults = || scene.scenario.faults.iter().map(|fault| &fault.value);
    let refusal = match &phase.until {
        Until::Drained => None,
        Until::DeadLettered if !has_letters => Some("no consumer writes dead letters"),
        Until::DeadLettered if !has_poison => Some("no event of the workload is poison"),
        Until::DeadLettered => None,
        Until::DeadLetterRefused => {
            let is_withheld = faults().any(|fault| {
                matches!(fault, FaultSpec::Withhold(spec) if spec.piece == Piece::DeadLetterTopic)
            });
            (!is_withheld).then_some("no fault withholds the dead letter topic")
        }
        Until::Redriven => {
            let is_redriver =
                |name: &&str| scene.worker(name).is_some_and(|spec| spec.role == Role::Redriver);
            (!started.iter().any(is_redriver)).then_some("no redriver was started by then")
        }
        Until::Exited(name) => {
            let route = route.key("exited");
            let known = scene.known_worker(&route, name).is_some();
            if known && !started.contains(name.as_str()) {
                scene.report(&route, format!("worker `{name}` was not started by then"));
            }
            None
        }
        Until::FaultsDone => {
            let is_triggered = faults().any(|fault| fault.trigger().is_some());
            (!is_triggered).then_some("no fault is triggered by a point")
        }
    };
    if let Some(refusal) = refusal {
        scene.report(route, format!("this phase never ends: {refusal}"));
    }
}
