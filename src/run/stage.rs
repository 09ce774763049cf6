//! Everything that one running unit works with: its servers, names, ledger, board and workers.
//! Faults reach it as their `Ground`; phases and settle use it directly.
//! It must never be shared between units: what they share are servers, by lease.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::sync::mpsc::UnboundedSender;

use super::Notices;
use super::board::Board;
use super::servers::Server;
use super::staff;
use crate::brokers::{Broker, UnitNames};
use crate::checks::PinSubject;
use crate::env::ledger::UnitLedger;
use crate::env::process::{Program, Spawner};
use crate::env::sockets;
use crate::env::{BlockedPair, EnvError};
use crate::evidence::Recorder;
use crate::evidence::event::{At, Event, Exit, Probe, ProbeWhen, Process};
use crate::faults::ground::Ground;
use crate::names::{Role, TopicRole};
use crate::plan::Unit;
use crate::suite::model::Topology;
use crate::wait::{self, Seen};
use crate::workers::live::{LiveWorker, Said};
use crate::workers::protocol::ToWorker;

/// How long a process may take to be reaped after SIGKILL: the kernel's time, not the worker's.
const REAP: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// A program to start, and what its manifest says that its client can do.
#[derive(Debug, Clone)]
pub struct Hired {
    pub program: Program,
    pub capabilities: BTreeSet<String>,
}

/// One unit while it runs.
pub struct Stage {
    pub unit: Unit,
    /// Unique in the run, safe in every name, for example `u03`.
    pub short: String,
    /// What marks the processes of this unit's workers: run and unit.
    pub mark: String,
    pub recorder: Recorder,
    pub server: Arc<Server>,
    pub database: Arc<Server>,
    pub broker: Arc<dyn Broker>,
    pub names: UnitNames,
    pub ledger: UnitLedger,
    /// What its processes are, but for producers of another client.
    pub hired: Hired,
    pub producer: Option<Hired>,
    pub spawner: Spawner,
    pub board: Board,
    pub logs: PathBuf,
    /// What people see while it runs.
    pub notices: Notices,
    pub said: UnboundedSender<Said>,
    pub deadline: Instant,
    pub live: Mutex<BTreeMap<Process, Arc<LiveWorker>>>,
}

impl Stage {
    /// A worker process that was started, dead or alive.
    pub fn worker(&self, process: &Process) -> Option<Arc<LiveWorker>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).get(process).cloned()
    }

    /// All worker processes that were ever started.
    pub fn all(&self) -> Vec<Arc<LiveWorker>> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.values().cloned().collect()
    }

    /// All worker processes that are not reaped yet.
    pub fn alive(&self) -> Vec<Arc<LiveWorker>> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.values()
            .filter(|worker| self.board.ended(&worker.process).is_none())
            .cloned()
            .collect()
    }

    /// The number that the next start of the n-th process of a worker gets.
    pub fn next_incarnation(&self, name: &str, ordinal: u32) -> u32 {
        let alone = self.unit.workers.get(name).is_none_or(|spec| spec.count == 1);
        let worker = if alone { name.to_owned() } else { format!("{name}-{ordinal}") };
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let started = live.keys().filter(|process| process.worker == worker).count();
        u32::try_from(started).unwrap_or(u32::MAX - 1) + 1
    }

    /// Name in the scenario of the worker that a process belongs to.
    pub fn spec_name<'a>(&'a self, process: &'a Process) -> &'a str {
        if self.unit.workers.contains_key(&process.worker) {
            return &process.worker;
        }
        process.worker.rsplit_once('-').map_or(&process.worker, |(name, _)| name)
    }

    /// Whether any process of a worker was started.
    pub fn was_started(&self, name: &str) -> bool {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.keys().any(|process| self.spec_name(process) == name)
    }

    /// The version that a process has to have loaded.
    pub fn client_pin(&self, process: &Process) -> String {
        let is_other = self.producer.is_some() && self.role(process) == Some(Role::Producer);
        let pins = self.unit.scope.pins.iter();
        let mut own = pins.filter(|pin| match pin.subject {
            PinSubject::Client(_) => !is_other,
            PinSubject::Producer(_) => is_other,
            PinSubject::Server(_) => false,
        });
        own.next().map(|pin| pin.version.clone()).unwrap_or_default()
    }

    /// What a worker of this role is.
    pub fn hired(&self, role: Option<Role>) -> &Hired {
        let other = self.producer.as_ref().filter(|_| role == Some(Role::Producer));
        other.unwrap_or(&self.hired)
    }

    /// Role of the worker that a process belongs to.
    pub fn role(&self, process: &Process) -> Option<Role> {
        self.unit.workers.get(self.spec_name(process)).map(|spec| spec.role)
    }

    /// A worker that is to be told something.
    fn told(&self, process: &Process, what: &str) -> Result<Arc<LiveWorker>, EnvError> {
        let error = || EnvError::new(format!("cannot {what} {process}"), "it was not started");
        self.worker(process).ok_or_else(error)
    }

    /// The topic that a process receives from, and its physical group there.
    fn receives_from(&self, process: &Process) -> (TopicRole, String, String) {
        let spec = self.unit.workers.get(self.spec_name(process));
        let destination = spec
            .and_then(|spec| spec.destination.clone())
            .or_else(|| self.unit.topology.destinations.keys().next().cloned())
            .unwrap_or_default();
        match self.role(process) {
            Some(Role::Redriver) => {
                (TopicRole::DeadLetter, self.names.redriver.clone(), destination)
            }
            _ => {
                let group = self.names.destinations.get(&destination).cloned().unwrap_or_default();
                (TopicRole::Source, group, destination)
            }
        }
    }

    /// Waits until a process is reaped.
    ///
    /// # Errors
    /// When it is not reaped by then.
    pub async fn reaped(&self, process: &Process, deadline: Instant) -> Result<Exit, EnvError> {
        let what = format!("{process} to be reaped");
        wait::until(&what, deadline, LOOK_EVERY, || async {
            match self.board.ended(process) {
                Some(exit) => Seen::Done(exit),
                None => Seen::NotYet(String::from("it has not ended")),
            }
        })
        .await
        .map_err(|e| EnvError::new("worker", e))
    }
}

#[async_trait]
impl Ground for Stage {
    fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    fn broker(&self) -> &dyn Broker {
        self.broker.as_ref()
    }

    fn topology(&self) -> &Topology {
        &self.unit.topology
    }

    fn names(&self) -> &UnitNames {
        &self.names
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn ack_timeout_ms(&self) -> Option<u64> {
        self.unit.scope.ack_timeout_ms
    }

    async fn probe(&self, fault: &str, when: ProbeWhen, held: &At) -> Result<Probe, EnvError> {
        let (topic, group, destination) = self.receives_from(&held.process);
        let effects = self.ledger.effects(&held.event, &destination).await?;
        let acked = match &held.position {
            None => None,
            Some(position) => {
                let cursor = self
                    .broker
                    .cursor(&self.names, topic, &group)
                    .await
                    .map_err(|e| EnvError::new("bracket", e))?;
                Some(cursor.acknowledges(position))
            }
        };
        let redriven = match self.role(&held.process) {
            Some(Role::Redriver) => Some(self.ledger.redriven().await?),
            _ => None,
        };
        Ok(Probe {
            fault: fault.to_owned(),
            when,
            event: held.event.clone(),
            destination,
            effects,
            acked,
            position: held.position.clone(),
            redriven,
        })
    }

    fn sample_sockets(&self, why: &str) {
        let links = [self.server.link.port(), self.database.link.port()];
        for worker in self.alive() {
            // A process that the worker started is the worker as well.
            let mut family = worker.family();
            family.push(worker.pid);
            family.sort_unstable();
            family.dedup();
            let remotes = family.into_iter().flat_map(sockets::remotes_of);
            let through = |port: u16| links.contains(&port);
            let (linked, direct): (Vec<_>, Vec<_>) =
                remotes.partition(|remote| remote.ip().is_loopback() && through(remote.port()));
            self.recorder.record(Event::Sockets {
                why: why.to_owned(),
                process: worker.process.clone(),
                through_links: u32::try_from(linked.len()).unwrap_or(u32::MAX),
                direct: direct.iter().map(ToString::to_string).collect(),
            });
        }
    }

    async fn kill(&self, process: &Process) -> Result<Exit, EnvError> {
        let worker = self.told(process, "kill")?;
        self.board.note_signalled(process.clone(), 9);
        worker.kill().map_err(|e| EnvError::new(format!("cannot kill {process}"), e))?;
        self.reaped(process, Instant::now() + REAP).await
    }

    async fn freeze(&self, process: &Process) -> Result<String, EnvError> {
        let worker = self.told(process, "freeze")?;
        worker.freeze();
        state_is(&worker, "stopped", |letter| letter == 'T').await
    }

    async fn thaw(&self, process: &Process) -> Result<String, EnvError> {
        let worker = self.told(process, "thaw")?;
        worker.thaw();
        state_is(&worker, "running", |letter| letter != 'T').await
    }

    async fn start_again(&self, process: &Process) -> Result<(), EnvError> {
        let next = Process { worker: process.worker.clone(), incarnation: process.incarnation + 1 };
        staff::start_process(self, self.spec_name(process), next).await
    }

    fn proceed(&self, held: &At) {
        if let Some(worker) = self.worker(&held.process) {
            worker.send(&ToWorker::Proceed {
                point: held.point,
                event: held.event.clone(),
                delivery: held.delivery,
            });
        }
    }

    fn received_elsewhere(&self, held: &At) -> bool {
        self.board.received_by_another(&held.event, &held.process)
    }

    fn has_received(&self, process: &Process, event: &str) -> bool {
        self.board.has_received(process, event)
    }

    fn acknowledged_by(&self, process: &Process) -> Vec<At> {
        self.board.acknowledged_by(process)
    }

    fn worker_of<'a>(&'a self, process: &'a Process) -> &'a str {
        self.spec_name(process)
    }

    fn processes_of(&self, worker: &str) -> u32 {
        self.unit.workers.get(worker).map_or(0, |spec| spec.count)
    }

    fn at_barrier(&self, fault: &str) -> Vec<At> {
        self.board.at_barrier(fault)
    }

    fn close_barrier(&self, fault: &str) -> Vec<At> {
        self.board.close_barrier(fault)
    }

    async fn record_blocked(&self, held: &At) -> Result<Vec<BlockedPair>, EnvError> {
        let pairs = self.ledger.blocked().await?;
        for pair in &pairs {
            self.recorder.record(Event::Blocked {
                event: held.event.clone(),
                waiter: pair.waiter.clone(),
                blocker: pair.blocker.clone(),
            });
        }
        Ok(pairs)
    }
}

/// Waits until the kernel shows every process of a worker in a state; the signal alone proves none.
async fn state_is(
    worker: &LiveWorker,
    what: &str,
    is: impl Fn(char) -> bool,
) -> Result<String, EnvError> {
    let waited = format!("{} to be {what}", worker.process);
    wait::until(&waited, Instant::now() + REAP, LOOK_EVERY, || async {
        let states = worker.states();
        let shown: Vec<String> = states.iter().map(|(pid, s)| format!("{pid} {s}")).collect();
        let shown = shown.join(", ");
        match !states.is_empty() && states.iter().all(|(_, letter)| is(*letter)) {
            true => Seen::Done(format!("process states: {shown}")),
            false => Seen::NotYet(format!("process states: {shown}")),
        }
    })
    .await
    .map_err(|e| EnvError::new("process state", e))
}
