//! Handlers that outlast the ack timeout: the event is given to somebody else, and must be seen to.
//! A scene comes in; its problems go into it.
//! It must never ask this of a control: a deliberate defect is caught by the check that it names.

use super::contract;
use super::handling::{MOST_RULES, ack_timeout_ms, outlasts, taken_first};
use super::reach::can_hold;
use crate::checks::CheckSpec;
use crate::faults::FaultSpec;
use crate::faults::stall::StallEnd;
use crate::names::{EventSet, Role};
use crate::suite::handler::Selection;
use crate::suite::problem::Words;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::validate::faults::kind;
use crate::suite::vocabulary::ack_timeout_option;

/// The workers' own option for how long an inbox row is kept (`PROTOCOL.md`, section 9).
const INBOX_KEEP: &str = "inbox_keep_ms";
/// From this share on the limit is reached.
const WHOLE: u32 = 100;

pub(super) fn lint(scene: &mut Scene) {
    stalls(scene);
    handlers(scene);
    windows(scene);
}

/// Inboxes that forget an event before the broker's own timer can bring it again.
fn windows(scene: &mut Scene) {
    let workers = scene.at("workers");
    for (name, spec) in scene.consumers() {
        for broker in scene.brokers().to_vec() {
            let option = |name: &str| spec.options.get(&broker)?.get(name)?.trim().parse().ok();
            let (Some(keep), Some(horizon)) = (option(INBOX_KEEP), ack_timeout_ms(spec, broker))
            else {
                continue;
            };
            let keep: u64 = keep;
            if keep >= horizon {
                continue;
            }
            let timer = ack_timeout_option(broker);
            let message = format!(
                "worker `{name}` forgets after {keep} ms what it handled, and {timer} can bring it \
                 again after {horizon} ms"
            );
            let route = workers.key(name).key("options").name(&broker.to_string()).key(INBOX_KEEP);
            let words = Words::new(message).note(contract("INB-1"));
            scene.say(Rule::DedupWindow, &route, words);
        }
    }
}

/// Rules of handlers that are slower than the limit.
fn handlers(scene: &mut Scene) {
    let workers = scene.at("workers");
    let workload = &scene.scenario.workload;
    let poison = taken_first(&Selection::Poison, workload);
    let healthy = taken_first(&Selection::Healthy, workload);
    for (name, spec) in scene.consumers() {
        for (index, rule) in spec.handler.iter().take(MOST_RULES).enumerate() {
            if !outlasts(scene, spec, rule.does) {
                continue;
            }
            let late = taken_first(&rule.of, workload);
            let both = |others: &[bool]| late.iter().zip(others).any(|(a, b)| *a && *b);
            let (late_poison, late_healthy) = (both(&poison), both(&healthy));
            let holds = |set: EventSet| match set {
                EventSet::All | EventSet::Unstruck => true,
                EventSet::Struck => false,
                EventSet::Poison => late_poison,
                EventSet::Healthy => late_healthy,
            };
            if !late.contains(&true) || looks(scene, holds) {
                continue;
            }
            let message = format!(
                "worker `{name}` outlasts the ack timeout, and no check sees the redelivery"
            );
            let route = workers.key(name).key("handler").item(index).key("does");
            let words = Words::new(message).note(contract("LIFE-2"));
            scene.say(Rule::RedeliveryUnchecked, &route, words);
        }
    }
}

/// Whether a check sees that events of its set, of which `holds` speaks, came again.
fn looks(scene: &Scene, holds: impl Fn(EventSet) -> bool) -> bool {
    scene.scenario.checks.iter().any(|check| match &check.value {
        CheckSpec::Overlap(spec) => holds(spec.of),
        CheckSpec::RedeliveryCounts(spec) => holds(spec.of),
        CheckSpec::Gaps(spec) => holds(spec.of),
        CheckSpec::Deliveries(spec) => holds(spec.of) && !spec.count.admits(1),
        _ => false,
    })
}

fn stalls(scene: &mut Scene) {
    let faults = scene.at("faults");
    for (index, fault) in scene.scenario.faults.iter().enumerate() {
        let (id, when, until) = match &fault.value {
            FaultSpec::Stall(spec) => (&spec.id, &spec.when, &spec.until),
            FaultSpec::Freeze(spec) => (&spec.id, &spec.when, &spec.until),
            _ => continue,
        };
        let is_consumer =
            scene.worker(&when.worker).is_some_and(|spec| spec.role == Role::Consumer);
        let lasts = match *until {
            StallEnd::ReceivedElsewhere => true,
            StallEnd::PercentOfAckTimeout(percent) => percent >= WHOLE,
        };
        if !is_consumer || !lasts {
            continue;
        }
        if !looks(scene, |set| can_hold(scene, when, set)) {
            let message =
                format!("fault `{id}` outlasts the ack timeout, and no check sees the redelivery");
            let route = faults.item(index).key(kind(&fault.value)).key("until");
            let words = Words::new(message).note(contract("LIFE-2"));
            scene.say(Rule::RedeliveryUnchecked, &route, words);
        }
    }
}
