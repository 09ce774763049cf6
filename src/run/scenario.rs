//! One unit from provisioning to its sealed history: straight-line phases, no decisions.
//! A stage comes in; the story is played on it, settled, and everything it owned is removed.
//! It must never stop because something looks wrong: what was seen is recorded, others judge.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::stage::Stage;
use super::{Notices, nemesis, settle, staff, workload};
use crate::env::EnvError;
use crate::evidence::event::{Attested, AttestedSubject, Event, ReadWhy};
use crate::names::{BrokerKind, Cause, Role, TopicRole};
use crate::reports::progress::ProgressEvent;
use crate::suite::model::{Phase, Share, Until, WorkerSpec};
use crate::wait::{self, Seen};

/// Time in which a worker has to say hello: a process start, on a busy machine.
const HELLO: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Plays the whole story; what went wrong with the runner itself is recorded as trouble.
pub async fn play(stage: &Arc<Stage>, notices: &Notices) {
    attest_servers(stage);
    if let Err(error) = story(stage, notices).await {
        nemesis::trouble(stage, Cause::Environment, &error.what.clone(), error.detail);
    }
    settle::settle(stage).await;
}

fn attest_servers(stage: &Stage) {
    for server in [&stage.server, &stage.database] {
        stage.recorder.record(Event::Attested(Attested {
            subject: AttestedSubject::Server(server.key.kind),
            pin: server.key.pin.clone(),
            version: server.attested.version.clone(),
            grade: server.attested.grade,
            artifact: Some(match &server.attested.artifact {
                Some(artifact) => format!("{artifact}; image {}", server.image.digest),
                None => format!("image {}", server.image.digest),
            }),
            plausibility: server.attested.plausibility.clone(),
        }));
    }
}

async fn story(stage: &Arc<Stage>, notices: &Notices) -> Result<(), EnvError> {
    let port = |e: crate::brokers::BrokerError| EnvError::new("provision", e);
    stage.broker.provision(&stage.names, &stage.unit.topology).await.map_err(port)?;
    for fault in &stage.unit.faults {
        fault.action().stand(stage.as_ref()).await?;
    }
    for phase in &stage.unit.phases {
        if stage.board.halted().is_some() {
            return Ok(());
        }
        let unit = stage.unit.id.clone();
        let _ = notices.send(ProgressEvent::UnitPhase { unit, phase: phase.name.clone() });
        play_phase(stage, phase).await?;
    }
    Ok(())
}

async fn play_phase(stage: &Arc<Stage>, phase: &Phase) -> Result<(), EnvError> {
    stage.recorder.record(Event::Phase { name: phase.name.clone() });
    for fault in &stage.unit.faults {
        fault.action().phase_begins(&phase.name, stage.as_ref()).await?;
    }
    for worker in &phase.start {
        staff::start_worker(stage, worker).await?;
    }
    until(stage, &phase.name, &phase.until).await;
    for worker in &phase.stop {
        settle::stop_workers(stage, Some(worker)).await?;
    }
    record_reads(stage).await?;
    for fault in &stage.unit.faults {
        fault.action().phase_ended(&phase.name, stage.as_ref()).await?;
    }
    if stage.unit.faults.iter().any(|fault| fault.trigger().is_none()) {
        // What an administrator's action left behind is seen before the next phase changes it.
        record_reads(stage).await?;
    }
    Ok(())
}

/// What the broker shows at this moment: where everybody stands, what the topics hold.
async fn record_reads(stage: &Stage) -> Result<(), EnvError> {
    settle::read_topic(stage, TopicRole::Source, ReadWhy::During).await?;
    if stage.unit.topology.dead_letter.is_some() {
        settle::read_topic(stage, TopicRole::DeadLetter, ReadWhy::During).await?;
    }
    Ok(())
}

/// Waits for a phase's condition; unmet by the deadline is recorded and the story goes on.
async fn until(stage: &Arc<Stage>, phase: &str, condition: &Until) {
    let what = format!("phase {phase}: {condition:?}");
    let started = Instant::now();
    let outcome = wait::until(&what, stage.deadline, LOOK_EVERY, || async {
        if let Some(silent) = stage.board.silent_for(HELLO) {
            let detail = format!("{silent} has not said hello for {} s", HELLO.as_secs());
            nemesis::trouble(stage, Cause::RunnerError, "worker protocol", detail);
        }
        if let Some(why) = stage.board.halted() {
            return Seen::Done(Err(why));
        }
        match look(stage, condition).await {
            Seen::Done(()) => Seen::Done(Ok(())),
            Seen::NotYet(seen) => Seen::NotYet(seen),
        }
    })
    .await;
    let waited_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let (met, last_seen) = match outcome {
        Ok(Ok(())) => (true, String::from("met")),
        Ok(Err(why)) => (false, why),
        Err(error) => (false, error.last_seen),
    };
    stage.recorder.record(Event::Waited { what, waited_us, met, last_seen });
}

async fn look(stage: &Stage, condition: &Until) -> Seen<()> {
    match condition {
        Until::Drained => all_of(faults_done(stage), drained(stage).await),
        Until::DeadLettered => dead_lettered(stage).await,
        Until::DeadLetterRefused => {
            if stage.board.dead_letter_refused() {
                Seen::Done(())
            } else {
                Seen::NotYet(String::from("no dead letter was refused"))
            }
        }
        Until::Redriven => all_of(faults_done(stage), redriven(stage).await),
        Until::Assigned(worker) => assigned(stage, worker),
        Until::Exited(worker) => exited(stage, worker),
        Until::FaultsDone => faults_done(stage),
        Until::Triggered(fault) => triggered(stage, fault),
    }
}

fn all_of(first: Seen<()>, second: Seen<()>) -> Seen<()> {
    match (first, second) {
        (Seen::Done(()), Seen::Done(())) => Seen::Done(()),
        (Seen::NotYet(a), Seen::NotYet(b)) => Seen::NotYet(format!("{a}; {b}")),
        (Seen::NotYet(seen), _) | (_, Seen::NotYet(seen)) => Seen::NotYet(seen),
    }
}

/// Faults that points of workers trigger, where the worker was started at all.
fn faults_done(stage: &Stage) -> Seen<()> {
    let open: Vec<&str> = stage
        .unit
        .faults
        .iter()
        .filter(|fault| fault.trigger().is_some_and(|t| stage.was_started(&t.worker)))
        .map(|fault| fault.id())
        .filter(|fault| !stage.board.is_done(fault))
        .collect();
    if open.is_empty() {
        return Seen::Done(());
    }
    Seen::NotYet(format!("faults not done: {}", open.join(", ")))
}

/// An event of which a producer that was started still has to publish the copy.
fn missing_copy(stage: &Stage) -> Option<String> {
    let is_publisher = |spec: &WorkerSpec| {
        matches!(spec.role, Role::Producer | Role::Application)
            && spec.publishes != Some(Share::Once)
    };
    let mut workers = stage.unit.workers.iter();
    if !workers.any(|(name, spec)| is_publisher(spec) && stage.was_started(name)) {
        return None;
    }
    let again = &stage.unit.workload.again;
    again.iter().find_map(|copy| {
        let copies = again.iter().filter(|other| other.event == copy.event).count();
        let event = workload::event_id(copy.event);
        (stage.board.confirmations(&event) as usize <= copies).then_some(event)
    })
}

/// Every publication is confirmed, and no destination has anything left to acknowledge.
pub(super) async fn drained(stage: &Stage) -> Seen<()> {
    let (confirmed, planned) = (stage.board.confirmed(), stage.unit.workload.events as usize);
    if confirmed < planned {
        return Seen::NotYet(format!("{confirmed} of {planned} events are confirmed"));
    }
    if let Some(event) = missing_copy(stage) {
        return Seen::NotYet(format!("the second publication of {event} is not confirmed"));
    }
    for (destination, group) in &stage.names.destinations {
        if let Seen::NotYet(seen) = empty(stage, TopicRole::Source, destination, group).await {
            return Seen::NotYet(seen);
        }
    }
    Seen::Done(())
}

async fn redriven(stage: &Stage) -> Seen<()> {
    let redriver = &stage.names.redriver;
    match empty(stage, TopicRole::DeadLetter, "redriver", redriver).await {
        Seen::Done(()) => drained(stage).await,
        seen @ Seen::NotYet(_) => seen,
    }
}

async fn empty(stage: &Stage, topic: TopicRole, destination: &str, group: &str) -> Seen<()> {
    match stage.broker.backlog(&stage.names, topic, group).await {
        Ok(0) => Seen::Done(()),
        Ok(left) => Seen::NotYet(format!("{left} messages are left for {destination}")),
        Err(error) => Seen::NotYet(error.to_string()),
    }
}

async fn dead_lettered(stage: &Stage) -> Seen<()> {
    let wanted = stage.unit.workload.poison.len() as u64;
    match stage.broker.counts(&stage.names, TopicRole::DeadLetter).await {
        Ok(counts) if counts.messages_in.unwrap_or(0) >= wanted => drained(stage).await,
        Ok(counts) => Seen::NotYet(format!("{:?} of {wanted} dead letters", counts.messages_in)),
        Err(error) => Seen::NotYet(error.to_string()),
    }
}

fn triggered(stage: &Stage, fault: &str) -> Seen<()> {
    match stage.board.has_fired(fault) {
        true => Seen::Done(()),
        false => Seen::NotYet(format!("{fault} has not been triggered")),
    }
}

fn assigned(stage: &Stage, worker: &str) -> Seen<()> {
    let shares = stage.unit.broker == BrokerKind::Kafka;
    let waiting: Vec<String> = stage
        .alive()
        .iter()
        .filter(|live| stage.spec_name(&live.process) == worker)
        .filter(|live| match shares {
            true => !stage.board.has_partitions(&live.process),
            false => !stage.board.is_ready(&live.process),
        })
        .map(|live| live.process.to_string())
        .collect();
    if waiting.is_empty() {
        return Seen::Done(());
    }
    let what = if shares { "partitions" } else { "subscription" };
    Seen::NotYet(format!("{} without {what}", waiting.join(", ")))
}

fn exited(stage: &Stage, worker: &str) -> Seen<()> {
    let running: Vec<String> = stage
        .alive()
        .iter()
        .filter(|live| stage.spec_name(&live.process) == worker)
        .map(|live| live.process.to_string())
        .collect();
    if running.is_empty() {
        return Seen::Done(());
    }
    Seen::NotYet(format!("{} still runs", running.join(", ")))
}
