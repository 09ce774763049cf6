//! Waits that the configured timers force on a unit, however fast the machine is.
//! A story and its broker come in; named milliseconds come out.
//! It must never measure anything: these are what the settings say, to be compared with what was.

use super::ComputedWait;
use crate::faults::FaultSpec;
use crate::faults::freeze::FreezeSpec;
use crate::faults::kill::AfterKill;
use crate::faults::stall::{StallEnd, StallSpec};
use crate::names::{BrokerKind, Role};
use crate::suite::control::Story;
use crate::suite::handler::{Behaviour, HandlerRule, rules_of};
use crate::suite::model::{OnDeadLetterFailure, Phase, Until, WorkerSpec, Workload};
use crate::suite::vocabulary::ack_timeout_option;

/// librdkafka's defaults (CONFIGURATION.md) for what a suite leaves unset.
const KAFKA_DEFAULTS: &[(&str, u64)] = &[
    ("session.timeout.ms", 45_000),
    ("producer.message.timeout.ms", 300_000),
    ("producer.topic.metadata.propagation.max.ms", 30_000),
];

/// The reference workers' default wait after a failure (`PROTOCOL.md`, section 9).
const DEFAULT_BACKOFF_MS: u64 = 50;

/// An option of a worker in milliseconds, or the client's default where it is known.
pub(super) fn option_ms(spec: &WorkerSpec, broker: BrokerKind, name: &str) -> Option<u64> {
    let given = spec.options.get(&broker).and_then(|options| options.get(name));
    match given {
        Some(text) => text.trim().parse().ok(),
        None if broker == BrokerKind::Kafka => {
            KAFKA_DEFAULTS.iter().find(|(known, _)| *known == name).map(|(_, ms)| *ms)
        }
        None => None,
    }
}

/// The waits of a story, in the order of faults, phases and workers.
pub(super) fn compute(
    story: &Story,
    broker: BrokerKind,
    phases: &[Phase],
    workload: &Workload,
) -> Vec<ComputedWait> {
    let mut waits: Vec<ComputedWait> =
        story.faults.iter().filter_map(|fault| fault_wait(story, broker, fault)).collect();
    if phases.iter().any(|phase| phase.until == Until::DeadLetterRefused) {
        waits.extend(refusal_wait(story, broker));
    }
    for (name, spec) in &story.workers {
        waits.extend(backoff_wait(name, spec, broker, workload));
        waits.extend(slow_wait(name, spec, broker, workload));
    }
    waits
}

fn fault_wait(story: &Story, broker: BrokerKind, fault: &FaultSpec) -> Option<ComputedWait> {
    let target = story.workers.get(&fault.trigger()?.worker)?;
    match fault {
        FaultSpec::Stall(StallSpec { id, until, .. })
        | FaultSpec::Freeze(FreezeSpec { id, until, .. }) => {
            let option = ack_timeout_option(broker);
            let limit = option_ms(target, broker, option)?;
            Some(match *until {
                StallEnd::ReceivedElsewhere => ComputedWait {
                    what: format!("stall {id}: {option} until the event is received elsewhere"),
                    ms: limit,
                },
                StallEnd::PercentOfAckTimeout(percent) => ComputedWait {
                    what: format!("stall {id}: {percent} percent of {option}"),
                    ms: limit.saturating_mul(u64::from(percent)) / 100,
                },
            })
        }
        FaultSpec::Kill(spec) if broker == BrokerKind::Kafka && spec.then == AfterKill::Restart => {
            // A static member takes its partitions over at once; any other waits for the session.
            let options = target.options.get(&broker);
            if options.is_some_and(|options| options.contains_key("group.instance.id")) {
                return None;
            }
            let ms = option_ms(target, broker, "session.timeout.ms")?;
            let what = format!("kill {}: session.timeout.ms of the dead member", spec.id);
            Some(ComputedWait { what, ms })
        }
        _ => None,
    }
}

/// How long a client tries before it says that the letter was refused.
fn refusal_wait(story: &Story, broker: BrokerKind) -> Option<ComputedWait> {
    if broker != BrokerKind::Kafka {
        return None;
    }
    // librdkafka has two, and the Java client one.
    let options = [
        "producer.message.timeout.ms",
        "producer.topic.metadata.propagation.max.ms",
        "producer.max.block.ms",
    ];
    let writers = story.workers.values().filter(|spec| {
        spec.dead_letter.as_ref().is_some_and(|letter| {
            matches!(letter.on_failure, OnDeadLetterFailure::Retry | OnDeadLetterFailure::LogAndAck)
        })
    });
    let (ms, option) = writers
        .flat_map(|spec| {
            options.iter().filter_map(|option| Some((option_ms(spec, broker, option)?, *option)))
        })
        .min()?;
    Some(ComputedWait { what: format!("dead letter refused: {option}"), ms })
}

/// Failed handlings wait one after the other: the handler takes one event at a time.
fn backoff_wait(
    name: &str,
    spec: &WorkerSpec,
    broker: BrokerKind,
    workload: &Workload,
) -> Option<ComputedWait> {
    let letter = spec.dead_letter.as_ref()?;
    if spec.role != Role::Consumer || spec.handler.is_empty() {
        return None;
    }
    let given = spec.options.get(&broker).and_then(|options| options.get("attempt_backoff_ms"));
    let list: Vec<u64> = match given {
        Some(text) => text.split(',').filter_map(|part| part.trim().parse().ok()).collect(),
        None => vec![DEFAULT_BACKOFF_MS],
    };
    let last = *list.last()?;
    let most = u64::from(letter.max_deliveries.saturating_sub(1));
    // What a list leaves open is its last wait again.
    let each = |failures: u64| -> u64 {
        let listed: u64 = list.iter().take(failures as usize).sum();
        listed + last * failures.saturating_sub(list.len() as u64)
    };
    let ms = (1..=workload.events).map(|event| each(failures(spec, event, workload, most))).sum();
    (ms > 0).then(|| ComputedWait { what: format!("backoff of {name} on failing events"), ms })
}

/// How often the handler gives an event back before it is done with it: `most` at most.
fn failures(spec: &WorkerSpec, event: u32, workload: &Workload, most: u64) -> u64 {
    match rules_of(&spec.handler, event, workload).next() {
        Some(HandlerRule { does: Behaviour::Fail, times, .. }) => {
            times.map_or(most, |times| most.min(times.into()))
        }
        _ => 0,
    }
}

/// Handlers work on one event at a time, so that slow ones add up.
fn slow_wait(
    name: &str,
    spec: &WorkerSpec,
    broker: BrokerKind,
    workload: &Workload,
) -> Option<ComputedWait> {
    if spec.handler.is_empty() {
        return None;
    }
    let limit = option_ms(spec, broker, ack_timeout_option(broker));
    let slow = |event: u32| match rules_of(&spec.handler, event, workload).next()?.does {
        Behaviour::Slow(time) => time.ms(limit),
        _ => None,
    };
    let ms: u64 =
        (1..=workload.events).filter_map(slow).sum::<u64>() / u64::from(spec.count.max(1));
    (ms > 0).then(|| ComputedWait { what: format!("slow handling of {name}"), ms })
}
