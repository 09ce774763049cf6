//! What reaches what: a fault changes what a check reads, a check is in reach of something.
//! A scene comes in; faults that nobody could notice, and checks that nothing could break, go in.
//! It must never call a fault unnoticed only because a check would be likely to hold.

use super::contract;
use crate::checks::CheckSpec;
use crate::faults::withhold::Piece;
use crate::faults::{EventRef, FaultSpec, PointTrigger};
use crate::names::{EventSet, Role, TopicRole};
use crate::suite::handler::Behaviour;
use crate::suite::problem::Words;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::validate::faults::kind;
use crate::suite::vocabulary::check_events;

pub(super) fn lint(scene: &mut Scene) {
    let (faults, checks) = (scene.at("faults"), scene.at("checks"));
    let scenario = scene.scenario;
    for (index, fault) in scenario.faults.iter().enumerate() {
        let fault = &fault.value;
        let is_resolved = fault.trigger().is_none_or(|when| scene.worker(&when.worker).is_some());
        let is_read = scenario.checks.iter().any(|check| reads(scene, &check.value, fault));
        if is_resolved && !is_read && !scenario.checks.is_empty() {
            let message = format!("no check reads what fault `{}` changes", fault.id());
            let words = Words::new(message).note(contract(clause(scene, fault)));
            let route = faults.item(index).key(kind(fault));
            scene.say(Rule::FaultUnobserved, &route, words);
        }
    }
    for (index, check) in scenario.checks.iter().enumerate() {
        let check = &check.value;
        let name = check.name();
        let is_named = scenario.controls.iter().any(|control| control.value.caught_by == name);
        let is_reached = scenario.faults.iter().any(|fault| reads(scene, check, &fault.value));
        if !is_named && !is_reached && !input_reaches(scene, check) {
            let message = format!("nothing in this scenario could break `{name}`");
            let note = "the contract's controls: what no defect and no fault could break, shows \
                        nothing";
            let route = checks.item(index).key(name);
            scene.say(Rule::CheckUntested, &route, Words::new(message).note(note));
        }
    }
}

/// Whether the event that fires a trigger can be one of the set.
pub(super) fn can_hold(scene: &Scene, when: &PointTrigger, set: EventSet) -> bool {
    let workload = &scene.scenario.workload;
    let is_redriver = scene.worker(&when.worker).is_some_and(|spec| spec.role == Role::Redriver);
    // A redriver meets nothing but dead letters.
    let (poison, healthy) = match when.event {
        _ if is_redriver => (true, false),
        EventRef::Ordinal(n) => (workload.poison.contains(&n), !workload.poison.contains(&n)),
        EventRef::Arrival(_) => (!workload.poison.is_empty(), true),
    };
    match set {
        EventSet::All | EventSet::Struck => true,
        EventSet::Unstruck => false,
        EventSet::Poison => poison,
        EventSet::Healthy => healthy,
    }
}

/// Whether a check reads something that the fault changes.
fn reads(scene: &Scene, check: &CheckSpec, fault: &FaultSpec) -> bool {
    let role = fault.trigger().and_then(|when| scene.worker(&when.worker)).map(|spec| spec.role);
    let set = check_events(check);
    let in_set = match fault.trigger() {
        Some(when) => set.is_none_or(|set| can_hold(scene, when, set)),
        // What stands in for an event here is a dead letter, or every event.
        None if is_about_letters(fault) => set != Some(EventSet::Healthy),
        None => true,
    };
    if is_wide(fault) {
        return true;
    }
    let is_letters = is_about_letters(fault);
    let of_source = role.is_some()
        || matches!(fault, FaultSpec::Admin(spec) if spec.topic == TopicRole::Source);
    let holds_up =
        matches!(fault, FaultSpec::Withhold(spec) if spec.piece == Piece::DeadLetterTopic);
    let is_stall =
        matches!(fault, FaultSpec::Stall(_) | FaultSpec::Freeze(_) | FaultSpec::Barrier(_));
    in_set
        && match check {
            CheckSpec::Conserved(_) => true,
            CheckSpec::Effects(_) | CheckSpec::Order(_) => of_source,
            CheckSpec::Deliveries(_)
            | CheckSpec::Drained(_)
            | CheckSpec::RedeliveryCounts(_)
            | CheckSpec::Gaps(_)
            | CheckSpec::NotRedelivered(_) => of_source || holds_up,
            CheckSpec::DeadLetters(_) | CheckSpec::Unretained(_) => role.is_some() || is_letters,
            CheckSpec::Messages(spec) => match spec.topic {
                TopicRole::DeadLetter => role.is_some() || is_letters,
                TopicRole::Source => role == Some(Role::Redriver) || role.is_none() && of_source,
            },
            CheckSpec::Confirmed(_) => false,
            CheckSpec::RedriveKnown(_) => {
                role == Some(Role::Redriver) || role.is_none() && is_letters
            }
            CheckSpec::Overlap(_) | CheckSpec::WithinLimit(_) => is_stall,
            CheckSpec::NotAdvanced(spec) => spec.during == fault.id(),
        }
}

/// Faults of servers, links and clocks: everybody who works meanwhile can notice them.
fn is_wide(fault: &FaultSpec) -> bool {
    match fault {
        FaultSpec::Restart(_)
        | FaultSpec::Cut(_)
        | FaultSpec::Frame(_)
        | FaultSpec::Skew(_)
        | FaultSpec::Swap(_) => true,
        FaultSpec::Kill(_)
        | FaultSpec::Stall(_)
        | FaultSpec::Freeze(_)
        | FaultSpec::Barrier(_)
        | FaultSpec::Withhold(_)
        | FaultSpec::Admin(_) => false,
    }
}

fn is_about_letters(fault: &FaultSpec) -> bool {
    match fault {
        FaultSpec::Withhold(_) => true,
        FaultSpec::Admin(spec) => spec.topic == TopicRole::DeadLetter,
        _ => false,
    }
}

/// Handlers that fail or are late, and events that come twice, are inputs as well, though no fault.
fn input_reaches(scene: &Scene, check: &CheckSpec) -> bool {
    let rules = || scene.consumers().flat_map(|(_, spec)| &spec.handler).map(|rule| rule.does);
    let is_late = rules().any(|does| matches!(does, Behaviour::Slow(_) | Behaviour::Hang));
    let behaves = rules().any(|does| does != Behaviour::Ok);
    let comes_twice = !scene.scenario.workload.again.is_empty();
    match check {
        CheckSpec::Effects(_)
        | CheckSpec::Deliveries(_)
        | CheckSpec::Drained(_)
        | CheckSpec::Conserved(_)
        | CheckSpec::RedeliveryCounts(_)
        | CheckSpec::Gaps(_)
        | CheckSpec::NotRedelivered(_)
        | CheckSpec::Order(_) => behaves || comes_twice,
        CheckSpec::DeadLetters(_) | CheckSpec::Unretained(_) | CheckSpec::RedriveKnown(_) => {
            behaves
        }
        CheckSpec::Messages(spec) => match spec.topic {
            TopicRole::DeadLetter => behaves,
            TopicRole::Source => comes_twice,
        },
        CheckSpec::Confirmed(_) => comes_twice,
        CheckSpec::Overlap(_) | CheckSpec::WithinLimit(_) => is_late,
        CheckSpec::NotAdvanced(_) => false,
    }
}

fn clause(scene: &Scene, fault: &FaultSpec) -> &'static str {
    let role = fault.trigger().and_then(|when| scene.worker(&when.worker)).map(|spec| spec.role);
    match fault {
        _ if role == Some(Role::Redriver) => "RDR-3",
        FaultSpec::Kill(_) => "ACK-3",
        FaultSpec::Stall(_) | FaultSpec::Freeze(_) | FaultSpec::Skew(_) => "LIFE-2",
        FaultSpec::Barrier(_) => "INB-2",
        FaultSpec::Cut(_) => "LIFE-1",
        FaultSpec::Frame(_) => "PRD-2",
        FaultSpec::Swap(_) => "VER-1",
        FaultSpec::Restart(_) => "ACK-1",
        FaultSpec::Withhold(spec) if spec.piece == Piece::DeadLetterTopic => "DLT-2",
        FaultSpec::Admin(spec) if spec.topic == TopicRole::Source => "ACK-1",
        FaultSpec::Withhold(_) | FaultSpec::Admin(_) => "DLQ-1",
    }
}
