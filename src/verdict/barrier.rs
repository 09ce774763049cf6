//! The receipt of a barrier: were all of its processes in the event at the same instant?
//! A fault's spec and its steps in the history come in; one sentence, or why not, comes out.
//! It must never count a process on its claim alone: the ledger has to agree with each.

use std::collections::BTreeSet;

use super::landing::{Fired, Landing, fired_by, is_process_of, steps};
use crate::evidence::History;
use crate::evidence::event::{Event, FaultStage, Process};
use crate::faults::barrier::BarrierSpec;
use crate::names::Point;

/// Whether all that the barrier wanted were there together, before any of them went on.
pub(super) fn barrier(spec: &BarrierSpec, history: &History) -> Landing {
    let workers: Vec<&str> = spec.workers().into_iter().collect();
    let fired = fired_by(history, &spec.id, &spec.when, &workers)?;
    let gathered = steps(history, &spec.id).find_map(|(seq, stage)| match stage {
        FaultStage::Gathered { held, waiting, wanted, held_us, complete, .. } => {
            Some((seq, held, waiting, *wanted, held_us / 1000, *complete))
        }
        _ => None,
    });
    let Some((opened, held, waiting, wanted, ms, complete)) = gathered else {
        return Err(format!("nobody was gathered at {} with {}", spec.when.point, fired.event));
    };
    let there: BTreeSet<&Process> = held.iter().chain(waiting).collect();
    let point = spec.when.point;
    let shown = listed(&there);
    if !complete || there.len() < 2 || there.len() < wanted as usize {
        let few = format!("{} of {wanted} came to {point} with {}", there.len(), fired.event);
        return Err(format!("{few} in {ms} ms: {shown}"));
    }
    if let Some(stranger) = there.iter().find(|p| !is_one_of(p, &workers)) {
        return Err(format!("{stranger} is none of {}", workers.join(", ")));
    }
    for process in held {
        if !is_held(history, fired, process, point, opened) {
            return Err(format!("{process} was not held at {point} with {}", fired.event));
        }
    }
    for process in waiting {
        if !waits(history, fired, process, held, opened) {
            return Err(format!("the database did not show {process} waiting for one of them"));
        }
    }
    ledger_agrees(history, spec, fired, opened)?;
    let how = match waiting.is_empty() {
        true => format!("all held at {point}"),
        false => format!("{} waiting for the lock", listed(&waiting.iter().collect())),
    };
    Ok(format!("{shown} were in {} at once, {how}; let go after {ms} ms", fired.event))
}

fn is_one_of(process: &Process, workers: &[&str]) -> bool {
    workers.iter().any(|worker| is_process_of(&process.worker, worker))
}

fn listed(processes: &BTreeSet<&Process>) -> String {
    let names: Vec<String> = processes.iter().map(ToString::to_string).collect();
    names.join(" and ")
}

/// It said so, before all were let go.
fn is_held(history: &History, fired: Fired<'_>, who: &Process, at: Point, opened: u64) -> bool {
    history.records().iter().any(|record| {
        record.seq < opened
            && matches!(&record.event, Event::ClaimAt(claim)
                if claim.held && claim.process == *who && claim.point == at
                    && claim.event == fired.event)
    })
}

/// The database said so, after the first one came and before all were let go.
fn waits(
    history: &History,
    fired: Fired<'_>,
    who: &Process,
    held: &[Process],
    opened: u64,
) -> bool {
    history.records().iter().any(|record| {
        fired.seq < record.seq
            && record.seq < opened
            && matches!(&record.event, Event::Blocked { event, waiter, blocker }
                if event == fired.event && waiter == who && held.contains(blocker))
    })
}

/// The last look before they were let go: at a point before the commit nobody had an effect.
fn ledger_agrees(
    history: &History,
    spec: &BarrierSpec,
    fired: Fired<'_>,
    opened: u64,
) -> Result<(), String> {
    let looks =
        history.records().iter().filter(|record| fired.seq < record.seq && record.seq < opened);
    let mut looks = looks.filter_map(|record| match &record.event {
        Event::Probe(probe) if probe.fault == spec.id && probe.event == fired.event => Some(probe),
        _ => None,
    });
    let Some(probe) = looks.next_back() else {
        return Err(format!("nobody looked at {} while they were held", fired.event));
    };
    let before =
        matches!(spec.when.point, Point::Received | Point::BeforeEffect | Point::InTransaction);
    match probe.effects {
        0 if !before => Err(format!("no effect of {} was there", fired.event)),
        effects if before && effects > 0 => {
            Err(format!("{effects} effect(s) of {} were there already", fired.event))
        }
        _ => Ok(()),
    }
}
