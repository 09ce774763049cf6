//! Receipts: did each fault land where the scenario wanted it, by what the runner itself saw?
//! A fault's spec and its steps in the history come in; a report with one sentence comes out.
//! It must never take a worker's claim as the proof: ledger, broker and kernel have to agree.

use super::FaultReport;
use super::barrier::barrier;
use super::bracket::kill;
use crate::checks::Scope;
use crate::evidence::History;
use crate::evidence::event::{Event, FaultStage, Process};
use crate::faults::admin::AdminSpec;
use crate::faults::freeze::FreezeSpec;
use crate::faults::kill::AfterKill;
use crate::faults::stall::{StallEnd, StallSpec};
use crate::faults::withhold::WithholdSpec;
use crate::faults::{EventRef, FaultSpec, PointTrigger, unbuilt};
use crate::names::{Point, wire_name};

/// Landed with its proof, or not with the reason.
pub(super) type Landing = Result<String, String>;

/// Where and when a point trigger fired.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fired<'a> {
    pub seq: u64,
    pub process: &'a Process,
    pub event: &'a str,
}

/// Receipts of all faults of a unit, in the order of its scenario.
pub(super) fn receipts(history: &History, scope: &Scope) -> Vec<FaultReport> {
    scope.faults.iter().map(|fault| receipt(fault, history, scope)).collect()
}

fn receipt(fault: &FaultSpec, history: &History, scope: &Scope) -> FaultReport {
    let (kind, target, landing, healed) = match fault {
        FaultSpec::Kill(spec) => {
            let healed = match spec.then {
                AfterKill::Restart => restarted(history, fault.id()),
                AfterKill::StayDead => None,
            };
            ("kill", spec.when.worker.clone(), kill(spec, history), healed)
        }
        FaultSpec::Stall(spec) => {
            ("stall", spec.when.worker.clone(), stall(spec, history, scope), None)
        }
        FaultSpec::Freeze(spec) => {
            let healed = Some(healed(history, fault.id()));
            ("freeze", spec.when.worker.clone(), freeze(spec, history, scope), healed)
        }
        FaultSpec::Barrier(spec) => {
            let names: Vec<&str> = spec.workers().into_iter().collect();
            ("barrier", names.join(", "), barrier(spec, history), None)
        }
        FaultSpec::Withhold(spec) => {
            let healed = spec.heal_in.as_ref().map(|_| healed(history, fault.id()));
            ("withhold", wire_name(&spec.piece), withheld(spec, history), healed)
        }
        FaultSpec::Admin(spec) => {
            ("admin", spec.topic.to_string(), administered(spec, history), None)
        }
        FaultSpec::Restart(_)
        | FaultSpec::Cut(_)
        | FaultSpec::Frame(_)
        | FaultSpec::Skew(_)
        | FaultSpec::Swap(_) => {
            let why = unbuilt::reason(fault).unwrap_or("this fault was never injected");
            ("unbuilt", String::from("nothing"), Err(why.to_owned()), None)
        }
    };
    FaultReport {
        id: fault.id().to_owned(),
        kind: kind.to_owned(),
        trigger: trigger(fault),
        target,
        landed: landing.is_ok(),
        receipt: landing.unwrap_or_else(|why| why),
        healed,
    }
}

fn trigger(fault: &FaultSpec) -> String {
    match fault {
        FaultSpec::Kill(_) | FaultSpec::Stall(_) | FaultSpec::Freeze(_) | FaultSpec::Barrier(_) => {
            match fault.trigger() {
                Some(PointTrigger { point, event: EventRef::Ordinal(n), .. }) => {
                    format!("{point} of event {n}")
                }
                Some(PointTrigger { point, event: EventRef::Arrival(n), .. }) => {
                    format!("{point}, arrival {n}")
                }
                None => String::from("start"),
            }
        }
        FaultSpec::Admin(spec) => format!("after phase {}", spec.after),
        _ => String::from("start"),
    }
}

/// Steps of one fault with the numbers of their records.
pub(super) fn steps<'a>(
    history: &'a History,
    fault: &'a str,
) -> impl Iterator<Item = (u64, &'a FaultStage)> {
    history.records().iter().filter_map(move |record| match &record.event {
        Event::Fault(step) if step.fault == fault => Some((record.seq, &step.stage)),
        _ => None,
    })
}

/// That the trigger fired, on the worker, point and event that the scenario names.
pub(super) fn fired<'a>(
    history: &'a History,
    fault: &'a str,
    when: &PointTrigger,
) -> Result<Fired<'a>, String> {
    fired_by(history, fault, when, &[&when.worker])
}

/// The same, where any of several workers may have been the first.
pub(super) fn fired_by<'a>(
    history: &'a History,
    fault: &'a str,
    when: &PointTrigger,
    workers: &[&str],
) -> Result<Fired<'a>, String> {
    let triggered = steps(history, fault).find_map(|(seq, stage)| match stage {
        FaultStage::Triggered { process, point, event } => Some((seq, process, point, event)),
        _ => None,
    });
    let Some((seq, process, point, event)) = triggered else {
        return Err(format!("never triggered: no {} at {}", when.worker, when.point));
    };
    let (Some(process), Some(point), Some(event)) = (process, point, event) else {
        return Err(String::from("triggered without a worker, a point and an event"));
    };
    if !workers.iter().any(|worker| is_process_of(&process.worker, worker)) {
        return Err(format!("triggered by {process}, not by {}", workers.join(" or ")));
    }
    // The gate of the runner is armed at the point that the worker knows.
    if *point != when.point && *point != when.point.armed_as() {
        return Err(format!("triggered at {point}, not at {}", when.point));
    }
    if let EventRef::Ordinal(ordinal) = when.event {
        let at = (ordinal as usize).checked_sub(1);
        let wanted = at.and_then(|at| history.planned().nth(at)).map(|p| p.event.as_str());
        if wanted != Some(event) {
            return Err(format!("triggered by {event}, not by event {ordinal}"));
        }
    }
    Ok(Fired { seq, process, event })
}

/// `consumer-2` is a process of worker `consumer`.
pub(super) fn is_process_of(process: &str, worker: &str) -> bool {
    let ordinal = process.strip_prefix(worker).map(|rest| rest.strip_prefix('-').unwrap_or(rest));
    ordinal.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Numbers of the records in which another process received this event.
pub(super) fn received_by_others<'a>(
    history: &'a History,
    fired: Fired<'a>,
) -> impl Iterator<Item = (u64, &'a Process)> {
    history.records().iter().filter_map(move |record| match &record.event {
        Event::ClaimAt(at)
            if at.point == Point::Received
                && at.event == fired.event
                && at.process != *fired.process =>
        {
            Some((record.seq, &at.process))
        }
        _ => None,
    })
}

/// Numbers of the records in which the database shows another process waiting for this one.
fn waiting_for<'a>(
    history: &'a History,
    fired: Fired<'a>,
) -> impl Iterator<Item = (u64, &'a Process)> {
    history.records().iter().filter_map(move |record| match &record.event {
        Event::Blocked { event, waiter, blocker }
            if event == fired.event && blocker == fired.process && waiter != blocker =>
        {
            Some((record.seq, waiter))
        }
        _ => None,
    })
}

/// Stopped by the kernel's word while it had the event, for as long as the scenario wants.
fn freeze(spec: &FreezeSpec, history: &History, scope: &Scope) -> Landing {
    let fired = fired(history, &spec.id, &spec.when)?;
    let process = fired.process;
    let mut frozen = steps(history, &spec.id).filter_map(|(seq, stage)| match stage {
        FaultStage::Frozen { process: of, proof, stopped } if of == process => {
            Some((seq, proof, *stopped))
        }
        _ => None,
    });
    match frozen.next() {
        None => Err(format!("{process} was not frozen")),
        Some((_, proof, false)) => Err(format!("{process} did not stop: {proof}")),
        Some((seq, _, true)) if seq < fired.seq => {
            Err(format!("{process} was frozen before it had the event"))
        }
        Some((_, proof, true)) => {
            let held = held_until(&spec.id, &spec.until, fired, history, scope)?;
            Ok(format!("{held}; {proof}"))
        }
    }
}

fn stall(spec: &StallSpec, history: &History, scope: &Scope) -> Landing {
    let fired = fired(history, &spec.id, &spec.when)?;
    held_until(&spec.id, &spec.until, fired, history, scope)
}

/// Held with its event until the end that the scenario wants.
fn held_until(
    fault: &str,
    end: &StallEnd,
    fired: Fired<'_>,
    history: &History,
    scope: &Scope,
) -> Landing {
    let held = steps(history, fault).find_map(|(seq, stage)| match stage {
        FaultStage::Held { process, held_us, reached, .. } if process == fired.process => {
            Some((seq, *held_us, *reached))
        }
        _ => None,
    });
    let Fired { process, event, .. } = fired;
    let Some((released, held_us, reached)) = held else {
        return Err(format!("{process} was not held with {event}"));
    };
    let held_ms = held_us / 1000;
    if !reached {
        return Err(format!("{process} was held with {event} for {held_ms} ms in vain"));
    }
    match *end {
        StallEnd::ReceivedElsewhere => {
            let inside = |(seq, _): &(u64, &Process)| fired.seq < *seq && *seq < released;
            if let Some((_, other)) = received_by_others(history, fired).find(inside) {
                let until = format!("until {other} received it");
                return Ok(format!("{process} held {event} for {held_ms} ms, {until}"));
            }
            // It may have had the event before; the database's word is better than its own anyway.
            let Some((_, other)) = waiting_for(history, fired).find(inside) else {
                return Err(format!("nobody else received {event} while {process} held it"));
            };
            let until = format!("while {other} waited for it in the database");
            Ok(format!("{process} held {event} for {held_ms} ms, {until}"))
        }
        StallEnd::PercentOfAckTimeout(percent) => {
            let Some(limit_ms) = scope.ack_timeout_ms else {
                return Err(String::from("no ack timeout is configured"));
            };
            if held_us.saturating_mul(100) < limit_ms.saturating_mul(1000 * u64::from(percent)) {
                let short = format!("less than {percent} % of {limit_ms} ms");
                return Err(format!("{process} held {event} for {held_ms} ms, {short}"));
            }
            Ok(format!("{process} held {event} for {held_ms} ms, {percent} % of {limit_ms} ms"))
        }
    }
}

fn withheld(spec: &WithholdSpec, history: &History) -> Landing {
    let piece = wire_name(&spec.piece);
    let mut proofs = steps(history, &spec.id).filter_map(|(_, stage)| match stage {
        FaultStage::Withheld { proof, absent, .. } => Some((proof, *absent)),
        _ => None,
    });
    match (proofs.next(), proofs.find(|(_, absent)| !absent)) {
        (None, _) => Err(format!("nobody looked whether the {piece} is absent")),
        (Some((proof, false)), _) | (Some(_), Some((proof, _))) => {
            Err(format!("the {piece} is there: {proof}"))
        }
        (Some((proof, true)), None) => Ok(format!("the {piece} is absent: {proof}")),
    }
}

fn administered(spec: &AdminSpec, history: &History) -> Landing {
    let action = wire_name(&spec.action);
    let answer = steps(history, &spec.id).find_map(|(_, stage)| match stage {
        FaultStage::Administered { answer, took_effect, .. } => Some((answer, *took_effect)),
        _ => None,
    });
    match answer {
        None => Err(format!("{action} was never done")),
        Some((answer, false)) => Err(format!("{action} took no effect: {answer}")),
        Some((answer, true)) => Ok(format!("{action} took effect: {answer}")),
    }
}

fn healed(history: &History, fault: &str) -> bool {
    let last = steps(history, fault).filter_map(|(_, stage)| match stage {
        FaultStage::Healed { verified, .. } => Some(*verified),
        _ => None,
    });
    last.last().unwrap_or(false)
}

/// Whether a later incarnation of the killed worker became ready; absent if nothing was killed.
fn restarted(history: &History, fault: &str) -> Option<bool> {
    let (seq, dead) = steps(history, fault).find_map(|(seq, stage)| match stage {
        FaultStage::Killed { process, .. } => Some((seq, process)),
        _ => None,
    })?;
    let back = history.records().iter().any(|record| {
        record.seq > seq
            && matches!(&record.event, Event::ClaimReady { process }
                if process.worker == dead.worker && process.incarnation > dead.incarnation)
    });
    let denied = steps(history, fault)
        .any(|(_, stage)| matches!(stage, FaultStage::Healed { verified: false, .. }));
    Some(back && !denied)
}

#[cfg(test)]
mod tests {
    use super::is_process_of;

    #[test]
    fn a_worker_has_numbered_processes_and_no_namesakes() {
        for process in ["consumer", "consumer-1", "consumer-12"] {
            assert!(is_process_of(process, "consumer"), "{process}");
        }
        for process in ["consumer-b", "consumers", "slow-consumer", "consumer-1-2"] {
            assert!(!is_process_of(process, "consumer"), "{process}");
        }
    }
}
