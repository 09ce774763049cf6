//! Settle: heal and expect, stop the workers, wait for their backends, then the final reads.
//! A stage whose story has ended comes in; five recorded steps and a teardown read come out.
//! It must never skip a later step because an earlier one failed: what is missing is recorded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::nemesis;
use super::scenario;
use super::stage::Stage;
use crate::env::EnvError;
use crate::env::ledger::Table;
use crate::evidence::event::{Event, ReadWhy, SettleStep};
use crate::faults::ground::Ground;
use crate::names::{Cause, TopicRole};
use crate::wait::{self, Seen};
use crate::workers::live::LiveWorker;

/// Time after SIGTERM in which a worker has to end in good order.
const GRACE: Duration = Duration::from_secs(5);
/// Time in which the database has to notice that a worker is gone: its connection check runs every
/// 500 ms.
const BACKENDS_GONE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Settles a unit; a step that could not be done is recorded with its reason.
pub async fn settle(stage: &Arc<Stage>) {
    step(stage, SettleStep::Heal, Ok(String::from("every heal is recorded with its fault")));
    step(stage, SettleStep::Expected, expected(stage).await);
    step(stage, SettleStep::StopWorkers, stop_workers(stage, None).await);
    step(stage, SettleStep::NoBackend, no_backend(stage).await);
    step(stage, SettleStep::FinalReads, final_reads(stage).await);
    if let Err(error) = read_positions(stage, ReadWhy::Teardown).await {
        nemesis::trouble(stage, Cause::Environment, "teardown read", error.to_string());
    }
    containers(stage).await;
}

fn step(stage: &Stage, step: SettleStep, outcome: Result<String, EnvError>) {
    let (done, detail) = match outcome {
        Ok(detail) => (true, detail),
        Err(error) => (false, error.to_string()),
    };
    stage.recorder.record(Event::Settle { step, done, detail });
}

/// Waits for the end that the scenario promises, unless its story was stopped early.
async fn expected(stage: &Arc<Stage>) -> Result<String, EnvError> {
    if let Some(why) = stage.board.halted() {
        return Err(EnvError::new("the story was stopped early", why));
    }
    if !stage.unit.scope.drained {
        return Ok(String::from("the scenario does not promise to be drained"));
    }
    wait::until("the unit to be drained", stage.deadline, LOOK_EVERY, || async {
        match stage.board.halted() {
            Some(why) => Seen::Done(Err(EnvError::new("stopped early", why))),
            None => match scenario::drained(stage).await {
                Seen::Done(()) => Seen::Done(Ok(String::from("drained"))),
                Seen::NotYet(seen) => Seen::NotYet(seen),
            },
        }
    })
    .await
    .map_err(|e| EnvError::new("settle", e))?
}

/// Ends the processes of one worker, or all: TERM, a grace, then KILL; each is reaped.
///
/// # Errors
/// When one had to be killed or could not be reaped.
pub async fn stop_workers(stage: &Stage, only: Option<&str>) -> Result<String, EnvError> {
    let workers: Vec<_> = stage
        .alive()
        .into_iter()
        .filter(|live| only.is_none_or(|name| stage.spec_name(&live.process) == name))
        .collect();
    stage.sample_sockets("stop");
    for worker in &workers {
        stage.board.note_signalled(worker.process.clone(), 15);
        // A worker that has just been reaped needs no signal.
        let _ = worker.terminate();
    }
    let grace = Instant::now() + GRACE;
    let mut stubborn = Vec::new();
    for worker in &workers {
        if stage.reaped(&worker.process, grace).await.is_err() {
            stubborn.push(worker.process.to_string());
            stage.kill(&worker.process).await?;
        } else if family_gone(worker, grace).await.is_err() {
            stubborn.push(format!("what {} had started", worker.process));
            worker.end_family();
        }
    }
    if stubborn.is_empty() {
        return Ok(format!("{} processes ended in good order", workers.len()));
    }
    let detail =
        format!("{} did not end within {} s of SIGTERM", stubborn.join(", "), GRACE.as_secs());
    Err(EnvError::new("stop workers", detail))
}

/// A worker behind a launcher ends after the launcher has.
async fn family_gone(worker: &LiveWorker, grace: Instant) -> Result<(), wait::WaitError> {
    wait::until("the worker's children to end", grace, LOOK_EVERY, || async {
        match worker.family().len() {
            0 => Seen::Done(()),
            left => Seen::NotYet(format!("{left} live")),
        }
    })
    .await
}

async fn no_backend(stage: &Stage) -> Result<String, EnvError> {
    let deadline = Instant::now() + BACKENDS_GONE;
    let outcome = wait::until("the workers' backends to end", deadline, LOOK_EVERY, || async {
        match stage.ledger.backends().await {
            Ok(0) => Seen::Done(()),
            Ok(left) => Seen::NotYet(format!("{left} backends are left")),
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await;
    let left = stage.ledger.backends().await?;
    stage.recorder.record(Event::Backends { left });
    outcome.map_err(|e| EnvError::new("settle", e))?;
    Ok(String::from("no backend of the unit is left"))
}

async fn final_reads(stage: &Stage) -> Result<String, EnvError> {
    for row in stage.ledger.texts(Table::Inbox).await? {
        if let [event, destination, fingerprint] = row.as_slice() {
            stage.recorder.record(Event::InboxRow {
                event: event.clone(),
                destination: destination.clone(),
                fingerprint: fingerprint.clone(),
            });
        }
    }
    for row in stage.ledger.texts(Table::Quarantine).await? {
        if let [event, destination, fingerprint] = row.as_slice() {
            stage.recorder.record(Event::QuarantineRow {
                event: event.clone(),
                destination: destination.clone(),
                fingerprint: fingerprint.clone(),
            });
        }
    }
    for row in stage.ledger.texts(Table::RedriveProgress).await? {
        if let [redrive, event] = row.as_slice() {
            stage
                .recorder
                .record(Event::RedriveRow { redrive: redrive.clone(), event: event.clone() });
        }
    }
    read_positions(stage, ReadWhy::Final).await?;
    read_topic(stage, TopicRole::Source, ReadWhy::Final).await?;
    if stage.unit.topology.dead_letter.is_some() {
        read_topic(stage, TopicRole::DeadLetter, ReadWhy::Final).await?;
    }
    Ok(String::from("audit trail, tables, positions, counts and logs are read"))
}

/// The audit trail and where everybody stands: what must not move any more after the final read.
async fn read_positions(stage: &Stage, why: ReadWhy) -> Result<(), EnvError> {
    for row in stage.ledger.audit(why).await? {
        stage.recorder.record(Event::AuditRow(row));
    }
    if why == ReadWhy::Teardown {
        stands(stage, TopicRole::Source, why).await?;
        if stage.unit.topology.dead_letter.is_some() {
            stands(stage, TopicRole::DeadLetter, why).await?;
        }
    }
    Ok(())
}

/// Everything that the broker shows of a topic: positions, counts, then the log itself.
///
/// # Errors
/// When the broker does not answer; what was read until then is recorded.
pub async fn read_topic(stage: &Stage, topic: TopicRole, why: ReadWhy) -> Result<(), EnvError> {
    let port = |e: crate::brokers::BrokerError| EnvError::new("read", e);
    stands(stage, topic, why).await?;
    let mut counts = stage.broker.counts(&stage.names, topic).await.map_err(port)?;
    counts.why = why;
    stage.recorder.record(Event::TopicCounts(counts));
    let entries = stage.broker.read_log(&stage.names, topic).await.map_err(port)?;
    let read = entries.len() as u64;
    for mut entry in entries {
        entry.why = why;
        stage.recorder.record(Event::LogEntry(entry));
    }
    stage.recorder.record(Event::LogRead { topic, why, entries: read });
    Ok(())
}

async fn stands(stage: &Stage, topic: TopicRole, why: ReadWhy) -> Result<(), EnvError> {
    // Checks know destinations by the plan's names, the broker by its own.
    let redriver = stage.unit.scope.redriver.clone().unwrap_or_else(|| String::from("redriver"));
    let groups: Vec<(String, String)> = match topic {
        TopicRole::Source => stage.names.destinations.clone().into_iter().collect(),
        TopicRole::DeadLetter => vec![(redriver, stage.names.redriver.clone())],
    };
    for (destination, group) in groups {
        let cursor = stage
            .broker
            .cursor(&stage.names, topic, &group)
            .await
            .map_err(|e| EnvError::new("read", e))?;
        stage.recorder.record(Event::Stands { topic, destination, why, cursor });
    }
    Ok(())
}

/// Whether the servers still run, and whether one of them has ever said that its disk is full.
async fn containers(stage: &Stage) {
    for server in [&stage.server, &stage.database] {
        match server.container.full_disk().await {
            Ok(Some(line)) => {
                stage.recorder.record(Event::DiskFull { server: server.key.kind, line });
            }
            Ok(None) => {}
            Err(error) => {
                nemesis::trouble(stage, Cause::Environment, "server log", error.to_string());
            }
        }
        match server.container.state().await {
            Ok(state) => stage.recorder.record(Event::Container(state)),
            Err(error) => {
                nemesis::trouble(stage, Cause::Environment, "container state", error.to_string());
            }
        }
    }
}
