//! What handlers do with their events in the end, by their rules.
//! A worker and the workload come in; events that are never done with, or late, come out.
//! It must never call an event stuck that a rule lets go after some times.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::names::BrokerKind;
use crate::suite::handler::{Behaviour, Selection};
use crate::suite::model::{DeadLetterMode, WorkerSpec, Workload};
use crate::suite::scene::Scene;
use crate::suite::vocabulary::ack_timeout_option;

/// Events of a workload at most; one beyond that is a problem of its own.
const MOST: usize = 100_000;
/// Events that the lint looks at: what a rule does, it does to one of the first if to any.
pub(super) const FIRST: usize = 1_000;
/// Rules of a handler that are looked at; more of them are a problem of their own.
pub(in crate::suite) const MOST_RULES: usize = 100;
/// max.poll.interval.ms where nobody sets it.
const KAFKA_DEFAULT_MS: u64 = 300_000;

/// For each event of the workload, whether a selection takes it.
pub(in crate::suite) fn taken(of: &Selection, workload: &Workload) -> Vec<bool> {
    marked(of, workload, MOST)
}

/// The same for the first events only.
pub(super) fn taken_first(of: &Selection, workload: &Workload) -> Vec<bool> {
    marked(of, workload, FIRST)
}

fn marked(of: &Selection, workload: &Workload, most: usize) -> Vec<bool> {
    let mut events = vec![false; (workload.events as usize).min(most)];
    let mut mark = |ordinals: &[u32], value: bool| {
        for ordinal in ordinals {
            if let Some(event) = (*ordinal as usize).checked_sub(1).and_then(|n| events.get_mut(n))
            {
                *event = value;
            }
        }
    };
    match of {
        Selection::Poison => mark(&workload.poison, true),
        Selection::Events(ordinals) => mark(ordinals, true),
        Selection::All => events.fill(true),
        Selection::Healthy => {
            events.fill(true);
            for ordinal in &workload.poison {
                if let Some(event) =
                    (*ordinal as usize).checked_sub(1).and_then(|n| events.get_mut(n))
                {
                    *event = false;
                }
            }
        }
        Selection::Every(step) => {
            let step = (*step).max(1) as usize;
            events.iter_mut().skip(step - 1).step_by(step).for_each(|event| *event = true);
        }
    }
    events
}

/// For each event, whether the handler never comes to an end with it.
pub(super) fn stuck(spec: &WorkerSpec, workload: &Workload, letters: Letters) -> Vec<bool> {
    let own = spec.dead_letter.as_ref().map(|letter| letter.mode);
    let is_stuck = |does: Behaviour| match does {
        Behaviour::Fail | Behaviour::FailForGood | Behaviour::Undecodable => {
            own.is_none() || letters == Letters::Refused
        }
        Behaviour::Nack => own != Some(DeadLetterMode::Client),
        Behaviour::Hang | Behaviour::ForgetAck => true,
        Behaviour::Ok
        | Behaviour::Decode
        | Behaviour::Slow(_)
        | Behaviour::ReconsumeLater(_)
        | Behaviour::Crash => false,
    };
    let unreadable = unreadable(workload);
    let mut events = vec![false; (workload.events as usize).min(FIRST)];
    let mut decided = events.clone();
    // Rules with `times` are used up; the first one without decides for good.
    let rules = spec.handler.iter().take(MOST_RULES);
    for rule in rules.filter(|rule| rule.times.is_none()) {
        let (stuck, unread) = (is_stuck(rule.does), is_stuck(Behaviour::Undecodable));
        for (n, _) in
            taken_first(&rule.of, workload).iter().enumerate().filter(|(_, taken)| **taken)
        {
            if !decided[n] {
                decided[n] = true;
                let fails = rule.does == Behaviour::Decode && unreadable.contains(&n);
                events[n] = if fails { unread } else { stuck };
            }
        }
    }
    events
}

/// Places (from 0) of the events that a handler cannot read as the JSON of an order.
fn unreadable(workload: &Workload) -> BTreeSet<usize> {
    let is_order = |payload: &[u8]| match serde_json::from_slice(payload) {
        Ok(Value::Object(order)) => {
            order.get("entity").is_some_and(Value::is_string)
                && order.get("amount").is_some_and(Value::is_i64)
        }
        _ => false,
    };
    let raw = workload.bytes.iter().take(MOST);
    let unreadable = raw.filter(|raw| STANDARD.decode(&raw.base64).is_ok_and(|p| !is_order(&p)));
    unreadable.filter_map(|raw| (raw.event as usize).checked_sub(1)).collect()
}

/// Whether dead letters can be written at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Letters {
    Taken,
    Refused,
}

/// Whether a rule can make a dead letter of an event.
pub(super) fn makes_letters(spec: &WorkerSpec) -> bool {
    let can = |does: Behaviour| {
        does.fails()
            || matches!(does, Behaviour::Decode | Behaviour::Nack | Behaviour::ReconsumeLater(_))
    };
    spec.dead_letter.is_some() && spec.handler.iter().any(|rule| can(rule.does))
}

/// The worker's ack timeout on a broker; none where it is off, or no number.
pub(super) fn ack_timeout_ms(spec: &WorkerSpec, broker: BrokerKind) -> Option<u64> {
    let set = spec.options.get(&broker).and_then(|own| own.get(ack_timeout_option(broker)));
    match (set, broker) {
        (Some(text), _) => text.trim().parse().ok().filter(|limit| *limit > 0),
        (None, BrokerKind::Kafka) => Some(KAFKA_DEFAULT_MS),
        (None, BrokerKind::Pulsar) => None,
    }
}

/// Whether the handling outlasts the worker's ack timeout on one of the scenario's brokers.
pub(super) fn outlasts(scene: &Scene, spec: &WorkerSpec, does: Behaviour) -> bool {
    scene.brokers().iter().any(|broker| {
        let Some(limit) = ack_timeout_ms(spec, *broker) else { return false };
        match does {
            Behaviour::Slow(time) => time.ms(Some(limit)).is_some_and(|ms| ms >= limit),
            Behaviour::Hang => true,
            // Kafka's client goes on polling: what it was not told of, stays where it is.
            Behaviour::ForgetAck => *broker == BrokerKind::Pulsar,
            _ => false,
        }
    })
}
