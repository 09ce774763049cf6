//! Faults of a scenario: triggers, targets, and what a broker cannot do.
//! A scene comes in; its problems go into it.
//! It must never let a fault through that could not land.

use std::collections::BTreeSet;

use crate::faults::admin::{AdminAction, AdminSpec};
use crate::faults::barrier::BarrierSpec;
use crate::faults::kill::{AfterKill, KillSpec};
use crate::faults::stall::StallEnd;
use crate::faults::unbuilt::{CutSpec, RestartSpec, SwapSpec};
use crate::faults::withhold::{Piece, WithholdSpec};
use crate::faults::{EventRef, FaultSpec, PointTrigger};
use crate::names::{BrokerKind, Point, Role, TopicRole};
use crate::suite::lint::{comes_in_time, contract};
use crate::suite::model::{Presence, WorkerSpec};
use crate::suite::problem::{Words, suggest};
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::source::Route;
use crate::suite::vocabulary::ack_timeout_option;

/// A stall longer than this share of the limit is no story but a mistake.
const MOST_PERCENT: u32 = 1000;

pub(super) fn validate(scene: &mut Scene) {
    let faults = scene.at("faults");
    let mut ids = BTreeSet::new();
    for (index, fault) in scene.scenario.faults.iter().enumerate() {
        let fault = &fault.value;
        let route = faults.item(index).key(kind(fault));
        scene.is_named(&route.key("id"), fault.id());
        if !ids.insert(fault.id()) {
            scene.report(
                Rule::DuplicateName,
                &route.key("id"),
                format!("fault `{}` stands twice", fault.id()),
            );
        }
        match fault {
            FaultSpec::Kill(spec) => kill(scene, &route, spec),
            FaultSpec::Stall(spec) => {
                let target = trigger(scene, &route.key("when"), &spec.when);
                stall(scene, &route.key("until"), &spec.until, target, Some(spec.when.event));
            }
            FaultSpec::Freeze(spec) => {
                let target = trigger(scene, &route.key("when"), &spec.when);
                stall(scene, &route.key("until"), &spec.until, target, Some(spec.when.event));
            }
            FaultSpec::Barrier(spec) => barrier(scene, &route, spec),
            FaultSpec::Withhold(spec) => withhold(scene, &route, spec),
            FaultSpec::Restart(RestartSpec { in_phase, .. })
            | FaultSpec::Cut(CutSpec { in_phase, .. })
            | FaultSpec::Swap(SwapSpec { in_phase, .. }) => {
                phase(scene, &route.key("in_phase"), in_phase);
            }
            FaultSpec::Frame(spec) => {
                if let Some(reference) = spec.event {
                    event(scene, &route.key("event"), reference);
                }
            }
            FaultSpec::Skew(spec) => {
                scene.known_worker(&route.key("worker"), &spec.worker);
            }
            FaultSpec::Admin(spec) => admin(scene, &route, spec),
        }
    }
    one_input(scene, &faults);
}

/// After a death somebody has to go on.
fn kill(scene: &mut Scene, route: &Route, spec: &KillSpec) {
    let target = trigger(scene, &route.key("when"), &spec.when);
    if spec.then == AfterKill::StayDead
        && target.is_some_and(|spec| scene.processes_of(spec.destination.as_deref()) < 2)
    {
        let help = "use `then: restart`, or a second consumer";
        let message = "nobody is left to go on after this death";
        scene.report_with_help(Rule::NobodyLeft, &route.key("then"), message, help.to_owned());
    }
}

/// All of its processes have to come to one event, and two at least.
fn barrier(scene: &mut Scene, route: &Route, spec: &BarrierSpec) {
    let when = route.key("when");
    let mut processes = trigger(scene, &when, &spec.when).map_or(0, |first| first.count);
    for (index, name) in spec.with.iter().enumerate() {
        let route = route.key("with").item(index);
        if spec.when.worker == *name || spec.with[..index].contains(name) {
            scene.report(Rule::DuplicateItem, &route, format!("`{name}` stands twice"));
        }
        let Some(other) = scene.known_worker(&route, name) else { return };
        if !scene.is_started(name) {
            let message = format!("worker `{name}` is never started, so that it never comes");
            scene.report(Rule::NeverStarted, &route, message);
        }
        passes(scene, &route, other.role, spec.when.point);
        processes = processes.saturating_add(other.count);
    }
    let known = scene.worker(&spec.when.worker).is_some();
    if known && processes < 2 {
        let message = "one process alone meets nobody".to_owned();
        let help = "add workers under `with`, or processes (`count`)".to_owned();
        scene.report_with_help(Rule::BarrierNeverMeets, route, message, help);
    }
    if matches!(spec.when.event, EventRef::Arrival(_)) {
        let message = "the n-th arrivals are not one event".to_owned();
        let help = "name the event by its `ordinal`".to_owned();
        scene.report_with_help(Rule::BarrierNeverMeets, &when.key("event"), message, help);
    }
    if spec.when.point == Point::AckVisible {
        let message = "the second one never comes there: what is acknowledged is done".to_owned();
        let help = "let them meet at a point before the ACK".to_owned();
        scene.report_with_help(Rule::BarrierNeverMeets, &when.key("point"), message, help);
    }
}

/// The broker has to be able to do it, and on something.
fn admin(scene: &mut Scene, route: &Route, spec: &AdminSpec) {
    phase(scene, &route.key("after"), &spec.after);
    let AdminAction::UnloadAndTrim = spec.action;
    if scene.brokers().contains(&BrokerKind::Kafka) {
        let message = "Kafka cannot unload a topic: its retention ignores who reads";
        let help = "leave kafka out of `brokers`";
        scene.report_with_help(Rule::BrokerCannot, &route.key("action"), message, help.to_owned());
    }
    if spec.topic == TopicRole::DeadLetter && scene.scenario.topology.dead_letter.is_none() {
        scene.report(Rule::NoDeadLetterTopic, &route.key("topic"), "there is no dead letter topic");
    }
}

/// The word of the action, as in YAML.
pub(in crate::suite) fn kind(fault: &FaultSpec) -> &'static str {
    match fault {
        FaultSpec::Kill(_) => "kill",
        FaultSpec::Stall(_) => "stall",
        FaultSpec::Freeze(_) => "freeze",
        FaultSpec::Barrier(_) => "barrier",
        FaultSpec::Withhold(_) => "withhold",
        FaultSpec::Admin(_) => "admin",
        FaultSpec::Restart(_) => "restart",
        FaultSpec::Cut(_) => "cut",
        FaultSpec::Frame(_) => "frame",
        FaultSpec::Skew(_) => "skew",
        FaultSpec::Swap(_) => "swap",
    }
}

fn trigger<'a>(
    scene: &mut Scene<'a>,
    route: &Route,
    when: &PointTrigger,
) -> Option<&'a WorkerSpec> {
    event(scene, &route.key("event"), when.event);
    let spec = scene.known_worker(&route.key("worker"), &when.worker)?;
    if !scene.is_started(&when.worker) {
        let message =
            format!("worker `{}` is never started, so that it cannot be struck", when.worker);
        scene.report(Rule::NeverStarted, &route.key("worker"), message);
    }
    passes(scene, &route.key("point"), spec.role, when.point);
    Some(spec)
}

/// The workload has to have the event.
pub(super) fn event(scene: &mut Scene, route: &Route, event: EventRef) {
    let events = scene.scenario.workload.events;
    let (ordinal, key) = match event {
        EventRef::Ordinal(n) => (n, "ordinal"),
        EventRef::Arrival(n) => (n, "arrival"),
    };
    if ordinal == 0 || ordinal > events {
        let message = format!("there is no event {ordinal}: the workload has {events}");
        let help = "ordinals count from 1".to_owned();
        scene.report_with_help(Rule::UnknownEvent, &route.key(key), message, help);
    }
}

/// A worker has to pass the point.
pub(super) fn passes(scene: &mut Scene, route: &Route, role: Role, point: Point) {
    let consumer_only = [
        Point::BeforeEffect,
        Point::InTransaction,
        Point::EffectCommitted,
        Point::BeforeNack,
        Point::DlqPublished,
    ];
    let passes = match role {
        Role::Producer | Role::Application | Role::Relay => false,
        Role::Consumer => point != Point::Redriven,
        Role::Redriver => !consumer_only.contains(&point),
    };
    if !passes {
        scene.report(Rule::PointNotPassed, route, format!("a {role} never passes `{point}`"));
    }
}

/// The end has to come, and a limit has to be there.
pub(super) fn stall(
    scene: &mut Scene,
    route: &Route,
    end: &StallEnd,
    target: Option<&WorkerSpec>,
    event: Option<EventRef>,
) {
    let Some(target) = target else { return };
    match end {
        StallEnd::ReceivedElsewhere => {
            if !comes_in_time(scene, target) {
                let message = "there is no other consumer by then that could receive the event";
                let words = Words::new(message).note(contract("LIFE-2"));
                scene.say(Rule::StallNeverEnds, route, words);
            }
        }
        StallEnd::PercentOfAckTimeout(percent) => {
            if *percent == 0 || *percent > MOST_PERCENT {
                let message = format!("a share from 1 to {MOST_PERCENT} percent");
                scene.report(Rule::OutOfBounds, &route.key("percent_of_ack_timeout"), message);
            }
        }
    }
    // A second publication comes to another worker without any limit.
    let published_again = scene
        .scenario
        .workload
        .again
        .iter()
        .any(|again| again.key.is_some() && event == Some(EventRef::Ordinal(again.event)));
    if *end == StallEnd::ReceivedElsewhere && published_again {
        return;
    }
    for broker in scene.brokers() {
        let option = ack_timeout_option(*broker);
        if !target.options.get(broker).is_some_and(|options| options.contains_key(option)) {
            let message = format!("on {broker} the stalled worker has no limit to stall against");
            let help = format!("set its option `{option}` for {broker}");
            scene.report_with_help(Rule::NoAckTimeout, route, message, help);
        }
    }
}

fn withhold(scene: &mut Scene, route: &Route, spec: &WithholdSpec) {
    if let Some(name) = &spec.heal_in {
        phase(scene, &route.key("heal_in"), name);
    }
    let piece = route.key("piece");
    let Some(topology) = &scene.scenario.topology.dead_letter else {
        return scene.report(
            Rule::NoDeadLetterTopic,
            &piece,
            "there is no dead letter topic to withhold anything of",
        );
    };
    let (presence, key, refused, why) = match spec.piece {
        Piece::DeadLetterSubscription => (
            topology.subscription,
            "subscription",
            BrokerKind::Kafka,
            "Kafka keeps messages whether a group exists or not: nothing can be withheld",
        ),
        Piece::DeadLetterTopic => (
            topology.topic,
            "topic",
            BrokerKind::Pulsar,
            "Pulsar makes the topic for its first producer: it cannot be withheld",
        ),
    };
    if presence == Presence::Created {
        let message = "the topology creates the piece that this fault withholds";
        let help = format!("write `{key}: absent` under `topology.dead_letter`");
        scene.report_with_help(Rule::WithheldButCreated, &piece, message, help);
    }
    if scene.brokers().contains(&refused) {
        let help = format!("leave {refused} out of `brokers`");
        scene.report_with_help(Rule::BrokerCannot, &piece, why, help);
    }
}

fn phase(scene: &mut Scene, route: &Route, name: &str) {
    let names = || scene.scenario.phases.iter().map(|phase| phase.value.name.as_str());
    if !names().any(|known| known == name) {
        let help = suggest(name, names());
        scene.report_with_help(
            Rule::UnknownPhase,
            route,
            format!("there is no phase `{name}`"),
            help,
        );
    }
}

/// Independent inputs stay independent: one kind of triggered fault, and none beside a withhold.
fn one_input(scene: &mut Scene, route: &Route) {
    let faults = scene.scenario.faults.iter().map(|fault| &fault.value);
    let kinds: BTreeSet<&str> =
        faults.filter(|f| !matches!(f, FaultSpec::Admin(_))).map(kind).collect();
    if kinds.len() > 1 {
        let kinds: Vec<&str> = kinds.into_iter().collect();
        let message = format!("two inputs in one scenario: {}", kinds.join(" and "));
        let help = "write a scenario for each, so that a failure has one cause";
        scene.report_with_help(Rule::TwoInputs, route, message, help.to_owned());
    }
}
