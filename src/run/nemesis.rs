//! The nemesis: hears every worker of a unit, records what was said, and fires faults at points.
//! Lines of workers come in, in order; records and injections come out, and held handlers go on.
//! It must never leave a handler held that no fault wants, nor fire a fault twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use super::board::Place;
use super::stage::Stage;
use crate::evidence::event::{At, Attested, AttestedSubject, CallResult, Event, Exit, Process};
use crate::faults::ground::Ground;
use crate::faults::{EventRef, FaultSpec};
use crate::names::{BrokerKind, CallOutcome, Cause, Grade, Operation, Point};
use crate::reports::progress::ProgressEvent;
use crate::suite::handler::CRASH_CODE;
use crate::suite::model::WorkerSpec;
use crate::workers::live::Said;
use crate::workers::protocol::{FromWorker, LoadedClient, PROTOCOL_VERSION};

/// Hears the workers of a unit until the channel closes.
pub async fn hear(stage: Arc<Stage>, mut said: UnboundedReceiver<Said>) {
    while let Some(said) = said.recv().await {
        match said {
            Said::Message(process, message) => message_came(&stage, process, message),
            Said::Garbage(process, why) => garbage_came(&stage, process, why),
            Said::TooMuch(process, claims) => too_much_came(&stage, process, claims),
            Said::Ended(process, exit) => process_ended(&stage, process, exit),
        }
    }
}

fn garbage_came(stage: &Stage, process: Process, what: String) {
    let log_tail = stage.worker(&process).map(|w| w.log_tail()).unwrap_or_default();
    let detail = format!("{process}: {what}");
    stage.recorder.record(Event::WorkerMisbehaved { process, what, log_tail });
    trouble(stage, Cause::RunnerError, "worker protocol", detail);
}

/// Ends a worker that says more than its scenario can come to.
fn too_much_came(stage: &Stage, process: Process, claims: u64) {
    if let Some(worker) = stage.worker(&process) {
        stage.board.note_signalled(process.clone(), 9);
        // One that has just been reaped has ended by itself.
        let _ = worker.kill();
    }
    // A unit that was stopped already, at its delivery cap for one, has its reason.
    if stage.board.halted().is_none() {
        let limits = &stage.unit.limits;
        let what = format!(
            "it made more than {claims} claims, more than {} deliveries and {} s can come to, and \
             was ended",
            limits.deliveries, limits.deadline_s
        );
        garbage_came(stage, process, what);
    }
}

fn process_ended(stage: &Stage, process: Process, exit: Exit) {
    let signalled_by_us = stage.board.signalled(&process);
    let event = Event::WorkerExited { process: process.clone(), exit, signalled_by_us };
    stage.recorder.record(event);
    stage.board.note_ended(process.clone(), exit);
    let spec = stage.unit.workers.get(stage.spec_name(&process));
    let was_to_crash = exit == Exit::Code(CRASH_CODE) && spec.is_some_and(WorkerSpec::may_crash);
    if exit == Exit::Code(0) || signalled_by_us.is_some() || was_to_crash {
        return;
    }
    let log_tail = stage.worker(&process).map(|w| w.log_tail()).unwrap_or_default();
    let what = format!("it ended by itself with {exit:?}");
    let detail = format!("{process}: {what}; its stderr ends: {log_tail}");
    stage.recorder.record(Event::WorkerMisbehaved { process, what, log_tail });
    let cause = if exit == Exit::Signal(9) { Cause::Oom } else { Cause::RunnerError };
    trouble(stage, cause, "worker", detail);
}

/// Records that the evidence is not complete, and ends the story early.
pub fn trouble(stage: &Stage, cause: Cause, place: &str, detail: String) {
    stage.board.halt(format!("{place}: {detail}"));
    stage.recorder.record(Event::Trouble { cause, place: place.to_owned(), detail });
}

/// What is wrong with a message at this place of a worker's talk, if anything.
fn out_of_order(stage: &Stage, process: &Process, message: &FromWorker) -> Option<String> {
    let hello = matches!(message, FromWorker::Hello { .. });
    if stage.board.has_parted(process) {
        return Some(String::from("it went on after its bye"));
    }
    if hello != stage.board.is_silent(process) {
        let what = if hello { "it said hello twice" } else { "it spoke before its hello" };
        return Some(String::from(what));
    }
    let event = match message {
        FromWorker::At { event, .. } | FromWorker::Result { event: Some(event), .. } => event,
        _ => return None,
    };
    let known = stage.unit.workload.events;
    let planned = (1..=known).any(|ordinal| super::workload::event_id(ordinal) == *event);
    (!planned).then(|| {
        let shown: String = event.chars().take(40).flat_map(char::escape_default).collect();
        format!("it names event '{shown}', which the workload does not have")
    })
}

fn message_came(stage: &Arc<Stage>, process: Process, message: FromWorker) {
    if let Some(what) = out_of_order(stage, &process, &message) {
        garbage_came(stage, process, what);
        return;
    }
    match message {
        FromWorker::Hello { protocol, clients, capabilities, .. } => {
            capabilities_agree(stage, &process, &capabilities);
            hello(stage, process, protocol, clients);
        }
        FromWorker::Options { effective } => {
            stage.recorder.record(Event::ClaimOptions { process, effective });
        }
        FromWorker::Ready {} => {
            stage.board.note_ready(process.clone());
            stage.recorder.record(Event::ClaimReady { process });
        }
        FromWorker::Rebalance { kind, partitions } => {
            stage.board.note_rebalance(&process, &kind, &partitions);
            stage.recorder.record(Event::ClaimRebalance { process, change: kind, partitions });
        }
        FromWorker::At {
            point,
            event,
            delivery,
            redelivery_count,
            position,
            fingerprint,
            held,
        } => {
            let at = At {
                process,
                point,
                event,
                delivery,
                redelivery_count,
                position,
                fingerprint,
                held,
            };
            point_reached(stage, at);
        }
        FromWorker::Result { operation, event, outcome, position, error, delivery } => {
            let event = event.unwrap_or_default();
            result_came(
                stage,
                CallResult { process, operation, event, outcome, delivery, position, error },
            );
        }
        FromWorker::Progress { redrive, done, stage: of, .. } => {
            stage.recorder.record(Event::ClaimProgress { process, redrive, done, stage: of });
        }
        FromWorker::Bye { reason, error } => {
            stage.board.note_parted(process.clone());
            stage.recorder.record(Event::ClaimBye { process, reason, error });
        }
    }
}

fn hello(
    stage: &Stage,
    process: Process,
    protocol: u32,
    clients: BTreeMap<BrokerKind, LoadedClient>,
) {
    stage.board.note_hello(&process);
    if protocol != PROTOCOL_VERSION {
        let detail = format!("{process} speaks version {protocol}, not {PROTOCOL_VERSION}");
        trouble(stage, Cause::RunnerError, "worker protocol", detail);
        return;
    }
    let Some(client) = clients.get(&stage.unit.broker) else {
        let detail = format!("{process} has no client for {}", stage.unit.broker);
        trouble(stage, Cause::RunnerError, "worker protocol", detail);
        return;
    };
    let pin = stage.client_pin(&process);
    if client.version != pin {
        let detail = format!("{process} loaded {} {}, not {pin}", client.library, client.version);
        trouble(stage, Cause::WrongVersion, "client", detail);
    }
    stage.recorder.record(Event::Attested(Attested {
        subject: AttestedSubject::Client { process, library: client.library.clone() },
        pin,
        version: client.version.clone(),
        grade: Grade::Claimed,
        artifact: None,
        plausibility: client.native.clone(),
    }));
}

/// A plan rests on the manifest's word; a worker that can do something else was not planned for.
fn capabilities_agree(
    stage: &Stage,
    process: &Process,
    stated: &BTreeMap<BrokerKind, Vec<String>>,
) {
    let stated: BTreeSet<String> =
        stated.get(&stage.unit.broker).into_iter().flatten().cloned().collect();
    let promised = &stage.hired(stage.role(process)).capabilities;
    if stated != *promised {
        let differ: Vec<&str> = stated.symmetric_difference(promised).map(String::as_str).collect();
        let detail = format!(
            "{process} and its manifest disagree on what its {} client can do: {}",
            stage.unit.broker,
            differ.join(", ")
        );
        trouble(stage, Cause::RunnerError, "worker manifest", detail);
    }
}

fn result_came(stage: &Stage, result: CallResult) {
    // A producer of a few messages is gone before anything else makes the runner look.
    if result.operation == Operation::Publish && stage.board.is_first_of(&result.process) {
        stage.sample_sockets("publish");
    }
    match (result.operation, result.outcome) {
        (Operation::Ack, CallOutcome::Ok) => stage.board.note_acked(&result.process, &result.event),
        (Operation::Publish, CallOutcome::Ok) => stage.board.note_confirmed(&result.event),
        (Operation::DeadLetter, CallOutcome::Error | CallOutcome::Unknown) => {
            stage.board.note_dead_letter_refused(&result.event);
        }
        _ => {}
    }
    stage.recorder.record(Event::ClaimResult(result));
}

fn point_reached(stage: &Arc<Stage>, at: At) {
    stage.recorder.record(Event::ClaimAt(at.clone()));
    if at.point == Point::Received {
        let deliveries = stage.board.note_received(&at.event, at.process.clone());
        let cap = stage.unit.limits.deliveries;
        if deliveries > cap && stage.board.halted().is_none() {
            stage.recorder.record(Event::CapReached { deliveries, cap });
            stage.board.halt("the delivery cap was reached");
        }
    }
    if at.point == Point::AckReturned {
        stage.board.note_acknowledged(&at);
    }
    if !at.held {
        return;
    }
    match answer(stage, &at) {
        Answer::Stay => {}
        Answer::Strike(fault) => {
            let stage = Arc::clone(stage);
            tokio::spawn(async move {
                if let Err(error) = fault.action().strike(&at, stage.as_ref()).await {
                    trouble(&stage, Cause::RunnerError, fault.id(), error.to_string());
                }
                let (unit, id) = (stage.unit.id.clone(), fault.id().to_owned());
                let _ = stage.notices.send(ProgressEvent::FaultStruck { unit, fault: id });
                stage.board.note_done(fault.id());
            });
        }
        Answer::GoOn => stage.proceed(&at),
    }
}

/// What a held handler is told.
enum Answer {
    GoOn,
    /// A barrier has it; it goes on with the others.
    Stay,
    Strike(FaultSpec),
}

fn answer(stage: &Stage, at: &At) -> Answer {
    let barriers = stage.unit.faults.iter().filter_map(|fault| match fault {
        FaultSpec::Barrier(spec) => Some((fault, spec)),
        _ => None,
    });
    for (fault, spec) in barriers {
        let is_event = match spec.when.event {
            EventRef::Ordinal(ordinal) => super::workload::event_id(ordinal) == at.event,
            EventRef::Arrival(_) => false,
        };
        let comes = is_event && spec.when.point == at.point;
        if !comes || !spec.wants(stage.spec_name(&at.process)) {
            continue;
        }
        match stage.board.come_to_barrier(fault.id(), at) {
            Place::First => {
                stage.board.fire(fault.id());
                return Answer::Strike(fault.clone());
            }
            Place::Later => return Answer::Stay,
            Place::Closed => {}
        }
    }
    fault_for(stage, at).map_or(Answer::GoOn, Answer::Strike)
}

/// The fault that this arrival fires, if any.
fn fault_for(stage: &Stage, at: &At) -> Option<FaultSpec> {
    for fault in &stage.unit.faults {
        let Some(trigger) = fault.trigger() else { continue };
        if matches!(fault, FaultSpec::Barrier(_)) {
            continue;
        }
        let here =
            trigger.worker == stage.spec_name(&at.process) && trigger.point.armed_as() == at.point;
        if !here || stage.board.has_fired(fault.id()) {
            continue;
        }
        let due = match trigger.event {
            EventRef::Ordinal(ordinal) => super::workload::event_id(ordinal) == at.event,
            EventRef::Arrival(nth) => stage.board.count_arrival(fault.id()) == nth,
        };
        if due && stage.board.fire(fault.id()) {
            return Some(fault.clone());
        }
    }
    None
}
