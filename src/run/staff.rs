//! Staff: starts worker processes for a unit, with everything that a `Start` has to say.
//! A worker's name in the scenario comes in; live processes, armed and recorded, come out.
//! It must never hand a worker an address that is not a link.

use std::sync::{Arc, PoisonError};

use super::stage::Stage;
use super::workload;
use crate::env::EnvError;
use crate::env::ledger;
use crate::evidence::event::{Event, Process};
use crate::faults::{EventRef, FaultSpec};
use crate::names::{BrokerKind, Properties, Role};
use crate::suite::handler::rules_of;
use crate::suite::model::WorkerSpec;
use crate::workers::live::{Hearing, LiveWorker};
use crate::workers::protocol::{
    Armed, BehaviourRule, BehaviourTable, BrokerAddress, DatabaseAddress, DeadLetter, Redrive,
    Source, Start, Target, ToWorker, WorkItem, claims_max,
};

/// Id under which the redriver of a unit records its progress, the same in every incarnation.
const REDRIVE_ID: &str = "r1";

/// Starts all processes of a worker of the scenario.
///
/// # Errors
/// When the scenario has no such worker or a process cannot be started.
pub async fn start_worker(stage: &Stage, name: &str) -> Result<Vec<Process>, EnvError> {
    let spec = spec(stage, name)?;
    let mut started = Vec::new();
    for ordinal in 1..=spec.count {
        let worker = if spec.count == 1 { name.to_owned() } else { format!("{name}-{ordinal}") };
        let process = Process { worker, incarnation: stage.next_incarnation(name, ordinal) };
        start_process(stage, name, process.clone()).await?;
        started.push(process);
    }
    Ok(started)
}

/// Starts one process of a worker of the scenario.
///
/// # Errors
/// When it cannot be started.
pub async fn start_process(stage: &Stage, name: &str, process: Process) -> Result<(), EnvError> {
    let spec = spec(stage, name)?;
    let log = stage.logs.join(format!("{}-{}.stderr", process.worker, process.incarnation));
    let hearing =
        Hearing { said: stage.said.clone(), claims_max: claims_max(&stage.unit.limits), log: &log };
    let started_as = |pid| {
        stage.recorder.record(Event::WorkerStarted {
            process: process.clone(),
            pid,
            role: spec.role,
            pattern: spec.pattern.clone().unwrap_or_default(),
        });
        stage.board.note_started(process.clone());
    };
    let worker = LiveWorker::start(
        &stage.spawner,
        stage.hired(Some(spec.role)).program.clone(),
        process.clone(),
        &stage.mark,
        hearing,
        started_as,
    )
    .await?;
    let worker = Arc::new(worker);
    let start = start_message(stage, name, spec, &process);
    // It is known before it learns what to do, so that whatever it says can be answered.
    stage.live.lock().unwrap_or_else(PoisonError::into_inner).insert(process, Arc::clone(&worker));
    worker.send(&ToWorker::Start(Box::new(start)));
    Ok(())
}

fn spec<'a>(stage: &'a Stage, name: &str) -> Result<&'a WorkerSpec, EnvError> {
    stage
        .unit
        .workers
        .get(name)
        .ok_or_else(|| EnvError::new(format!("worker {name}"), "the scenario has none"))
}

fn start_message(stage: &Stage, name: &str, spec: &WorkerSpec, process: &Process) -> Start {
    let producer = spec.role == Role::Producer;
    let destination = spec
        .destination
        .clone()
        .or_else(|| stage.unit.topology.destinations.keys().next().cloned())
        .unwrap_or_default();
    Start {
        // The database shows this name, so it says whose unit it is.
        worker: format!("{}.{}", stage.short, process.worker),
        incarnation: process.incarnation,
        role: spec.role,
        pattern: spec.pattern.clone(),
        broker: BrokerAddress { kind: stage.unit.broker, url: broker_url(stage) },
        database: (!producer).then(|| DatabaseAddress {
            url: ledger::worker_url(stage.database.link.port()),
            schema: stage.ledger.schema().to_owned(),
        }),
        source: source(stage, spec, &destination),
        target: target(stage, spec),
        dead_letter: spec.dead_letter.as_ref().map(|letter| DeadLetter {
            topic: stage.names.dead_letter.clone(),
            mode: letter.mode,
            max_deliveries: letter.max_deliveries,
            on_failure: letter.on_failure,
        }),
        options: options(stage, spec, process),
        behaviour: behaviour(stage, spec),
        armed: armed(stage, name),
        workload: workload(stage, spec),
        redrive: spec.redrive.as_ref().map(|redrive| Redrive {
            id: REDRIVE_ID.to_owned(),
            pilot: redrive.pilot,
            rate_per_s: redrive.rate_per_s,
        }),
    }
}

fn workload(stage: &Stage, spec: &WorkerSpec) -> Vec<WorkItem> {
    match spec.role {
        Role::Producer | Role::Application => workload::items(&stage.unit, spec.publishes),
        Role::Consumer | Role::Redriver | Role::Relay => Vec::new(),
    }
}

fn broker_url(stage: &Stage) -> String {
    let port = stage.server.link.port();
    match stage.unit.broker {
        BrokerKind::Kafka => format!("127.0.0.1:{port}"),
        BrokerKind::Pulsar => format!("pulsar://127.0.0.1:{port}"),
    }
}

fn source(stage: &Stage, spec: &WorkerSpec, destination: &str) -> Option<Source> {
    let declared = stage.unit.topology.destinations.get(destination);
    let subscription_type = match (stage.unit.broker, spec.role) {
        (BrokerKind::Kafka, _) => None,
        (BrokerKind::Pulsar, Role::Redriver) => Some(crate::suite::model::SubscriptionType::Shared),
        (BrokerKind::Pulsar, _) => declared.map(|declared| declared.subscription),
    };
    let (topic, subscription) = match spec.role {
        Role::Producer | Role::Application | Role::Relay => return None,
        Role::Consumer => (&stage.names.source, stage.names.destinations.get(destination)?),
        Role::Redriver => (&stage.names.dead_letter, &stage.names.redriver),
    };
    Some(Source {
        topic: topic.clone(),
        subscription: subscription.clone(),
        subscription_type,
        destination: destination.to_owned(),
    })
}

fn target(stage: &Stage, spec: &WorkerSpec) -> Option<Target> {
    match spec.role {
        Role::Consumer | Role::Application => None,
        Role::Producer | Role::Redriver | Role::Relay => {
            Some(Target { topic: stage.names.source.clone() })
        }
    }
}

/// The unit's options for this broker; `{worker}` stands for the process's own name.
fn options(stage: &Stage, spec: &WorkerSpec, process: &Process) -> Properties {
    let own = format!("{}.{}", stage.short, process.worker);
    spec.options
        .get(&stage.unit.broker)
        .map(|options| {
            options
                .iter()
                .map(|(name, value)| (name.clone(), value.replace("{worker}", &own)))
                .collect()
        })
        .unwrap_or_default()
}

fn behaviour(stage: &Stage, spec: &WorkerSpec) -> BehaviourTable {
    let workload = &stage.unit.workload;
    let rules = |ordinal| rules_of(&spec.handler, ordinal, workload).map(BehaviourRule::of);
    let events = (1..=workload.events)
        .map(|ordinal| (workload::event_id(ordinal), rules(ordinal).collect::<Vec<_>>()))
        .filter(|(_, rules)| !rules.is_empty())
        .collect();
    BehaviourTable { events }
}

/// Points that faults still wait for at this worker.
fn armed(stage: &Stage, name: &str) -> Vec<Armed> {
    stage
        .unit
        .faults
        .iter()
        .filter(|fault| match fault {
            // The others are still waited for.
            FaultSpec::Barrier(_) => !stage.board.is_done(fault.id()),
            _ => !stage.board.has_fired(fault.id()),
        })
        .filter(|fault| fault.waits_for(name))
        .filter_map(FaultSpec::trigger)
        .map(|trigger| Armed {
            point: trigger.point.armed_as(),
            event: match trigger.event {
                EventRef::Ordinal(ordinal) => Some(workload::event_id(ordinal)),
                EventRef::Arrival(_) => None,
            },
            delivery: None,
        })
        .collect()
}
