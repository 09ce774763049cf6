//! Executes a plan: servers boot side by side, units run side by side, each leaves a history.
//! A plan and a setup come in; the run's own record comes out, also when it was interrupted.
//! It must never let one unit's trouble cost another one its result.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use super::servers::{BootSetup, Servers};
use super::stage::{Hired, Stage};
use super::{Notices, nemesis, scenario, workload};
use crate::env::EnvError;
use crate::env::health::{self, HealthTrack};
use crate::env::process::{Program, Spawner};
use crate::evidence::Recorder;
use crate::evidence::event::{Event, HISTORY_VERSION};
use crate::evidence::seal::sha256_of_file;
use crate::names::{BrokerKind, Cause};
use crate::plan::{LeaseKind, Plan, ServerKey, Unit};
use crate::reports::progress::{ProgressEvent, UnitEnding};
use crate::verdict::{ServerRun, UnitRun};

/// What whoever started the run says when a unit has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onward {
    Continue,
    /// Units that run go on to their end; no other one is started.
    StartNoMore,
}

/// Called with the id of a unit whose history is sealed, before another one takes its place.
pub type AfterUnit = Box<dyn Fn(&str) -> Onward + Send + Sync>;

/// What a run needs beside its plan.
pub struct Setup {
    pub boot: BootSetup,
    pub out: PathBuf,
    /// How many units run at once.
    pub jobs: usize,
    /// By manifest name: the worker that can be started, or why it cannot.
    pub workers: BTreeMap<String, Result<ReadyWorker, EnvError>>,
    /// Becomes true when the run is to end early.
    pub cancel: watch::Receiver<bool>,
    pub after_unit: AfterUnit,
    pub epoch: Instant,
}

/// A worker that can be started, and what its manifest promises of it.
#[derive(Debug, Clone)]
pub struct ReadyWorker {
    pub program: Program,
    /// Capabilities by broker, which its `hello` has to state alike.
    pub capabilities: BTreeMap<BrokerKind, BTreeSet<String>>,
}

/// What the runner can say about the run when it is over.
#[derive(Debug)]
pub struct Executed {
    pub servers: Vec<ServerRun>,
    pub units: BTreeMap<String, UnitRun>,
    pub cancelled: bool,
}

/// Runs all units of a plan.
///
/// # Errors
/// When not even a spawner or the output folders can be had.
pub async fn execute(plan: &Plan, setup: Setup, notices: Notices) -> Result<Executed, EnvError> {
    let out = setup.out.clone();
    for folder in ["histories", "logs"] {
        let path = out.join(folder);
        std::fs::create_dir_all(&path)
            .map_err(|e| EnvError::new(format!("cannot create {}", path.display()), e))?;
    }
    let keys: BTreeSet<ServerKey> =
        plan.units.iter().flat_map(|unit| [unit.server.clone(), unit.database.clone()]).collect();
    let servers = Servers::boot(keys, &setup.boot, &notices);
    let shared = Arc::new(Shared {
        servers: servers.clone(),
        spawner: Spawner::start()?,
        health: HealthTrack::start(),
        permits: Semaphore::new(setup.jobs.max(1)),
        of: plan.units.len(),
        setup,
        notices,
        done: Mutex::new(BTreeMap::new()),
        closed: AtomicBool::new(false),
    });
    let mut running = JoinSet::new();
    for (index, unit) in longest_first(&plan.units).into_iter().enumerate() {
        running.spawn(run_unit(Arc::clone(&shared), unit, index));
    }
    while let Some(ended) = running.join_next().await {
        if let Err(error) = ended {
            tracing::error!(%error, "a unit's task ended badly; its history is not sealed");
        }
    }
    let runs = shut_down(&servers, &out).await;
    let units = std::mem::take(&mut *shared.done.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(Executed { servers: runs, units, cancelled: *shared.setup.cancel.borrow() })
}

struct Shared {
    servers: Servers,
    spawner: Spawner,
    health: HealthTrack,
    permits: Semaphore,
    of: usize,
    setup: Setup,
    notices: Notices,
    done: Mutex<BTreeMap<String, UnitRun>>,
    /// Set when no other unit is to be started.
    closed: AtomicBool,
}

/// Units with long forced waits start first, so that none of them is alone at the end.
fn longest_first(units: &[Unit]) -> Vec<Unit> {
    let mut units = units.to_vec();
    units.sort_by_key(|unit| std::cmp::Reverse(unit.waits.iter().map(|wait| wait.ms).sum::<u64>()));
    units
}

async fn run_unit(shared: Arc<Shared>, unit: Unit, index: usize) {
    let Ok(_permit) = shared.permits.acquire().await else { return };
    if *shared.setup.cancel.borrow() || shared.closed.load(Ordering::SeqCst) {
        return;
    }
    let id = unit.id.clone();
    let history = format!("histories/{id}.ndjson");
    let path = shared.setup.out.join(&history);
    let recorder = match Recorder::create(&path, shared.setup.epoch) {
        Ok(recorder) => recorder,
        Err(error) => {
            let why = format!("cannot write {}: {error}", path.display());
            let ending = UnitEnding::Trouble(why);
            let _ = shared.notices.send(ProgressEvent::UnitEnded { unit: id, ending, took_ms: 0 });
            return;
        }
    };
    recorder.record(Event::Unit {
        version: HISTORY_VERSION,
        unit: id.clone(),
        run: shared.setup.boot.run.clone(),
        seed: unit.seed,
    });
    for (planned, _) in workload::events(&unit) {
        recorder.record(Event::Planned(planned));
    }
    let begun = Instant::now();
    let steal = health::steal_ticks();
    let on_stage = OnceLock::new();
    let trouble = guarded(&shared, unit, index, &recorder, &on_stage).await.err();
    // Waiting for servers is the run's time, not the unit's.
    let played = on_stage.get().map_or(Duration::ZERO, Instant::elapsed);
    if let Some((cause, error)) = &trouble {
        recorder.record(Event::Trouble {
            cause: *cause,
            place: error.what.clone(),
            detail: error.detail.clone(),
        });
    }
    record_health(&shared, &recorder, begun, steal);
    let sealed = recorder.seal();
    let duration_ms = millis(played);
    let ending = match (&trouble, sealed) {
        (Some((Cause::Cancelled, _)), _) => UnitEnding::Cancelled,
        (Some((_, error)), _) => UnitEnding::Trouble(error.to_string()),
        (None, Err(error)) => {
            UnitEnding::Trouble(format!("cannot write {}: {error}", path.display()))
        }
        (None, Ok(())) => UnitEnding::Recorded,
    };
    let run = UnitRun {
        history,
        sha256: sha256_of_file(&path).unwrap_or_default(),
        started_ms: millis(on_stage.get().unwrap_or(&begun).duration_since(shared.setup.epoch)),
        duration_ms,
        waits: waits(&path),
    };
    shared.done.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), run);
    if (shared.setup.after_unit)(&id) == Onward::StartNoMore {
        shared.closed.store(true, Ordering::SeqCst);
    }
    // A unit that lacks a server or a worker never began: what it lacks has been said once.
    if on_stage.get().is_some() {
        let ended = ProgressEvent::UnitEnded { unit: id, ending, took_ms: duration_ms };
        let _ = shared.notices.send(ended);
    }
}

/// Leases, plays and clears up; an interruption ends it wherever it is.
async fn guarded(
    shared: &Shared,
    unit: Unit,
    index: usize,
    recorder: &Recorder,
    on_stage: &OnceLock<Instant>,
) -> Result<(), (Cause, EnvError)> {
    let mut cancel = shared.setup.cancel.clone();
    let stop = async move {
        let _ = cancel.wait_for(|cancelled| *cancelled).await;
    };
    tokio::select! {
        () = stop => {
            Err((Cause::Cancelled, EnvError::new("interrupted", "a signal ended the run early")))
        }
        outcome = run_on_servers(shared, unit, index, recorder, on_stage) => outcome,
    }
}

async fn run_on_servers(
    shared: &Shared,
    unit: Unit,
    index: usize,
    recorder: &Recorder,
    on_stage: &OnceLock<Instant>,
) -> Result<(), (Cause, EnvError)> {
    let environment = |error| (Cause::Environment, error);
    let server = shared.servers.lease(&unit.server, unit.lease).await.map_err(boot_failed)?;
    let database =
        shared.servers.lease(&unit.database, LeaseKind::Shared).await.map_err(boot_failed)?;
    let named = |name: &String| match shared.setup.workers.get(name) {
        Some(Ok(worker)) => Ok(Hired::of(worker, unit.broker)),
        Some(Err(error)) => Err((Cause::Toolchain, error.clone())),
        None => Err((Cause::Toolchain, EnvError::new(name, "the plan names no such worker"))),
    };
    let hired = named(&unit.worker_manifest)?;
    let producer = unit.producer.as_ref().map(|own| named(&own.manifest)).transpose()?;
    let _ = on_stage.set(Instant::now());
    let _ = shared.notices.send(ProgressEvent::UnitStarted {
        unit: unit.id.clone(),
        ordinal: index + 1,
        of: shared.of,
    });
    let broker = Arc::clone(server.server.broker().map_err(environment)?);
    let short = format!("u{index:03}");
    let schema = format!("{short}_{}", shared.setup.boot.run.replace('-', "_"));
    let ledger = database.server.ledger().map_err(environment)?;
    let ledger = ledger.unit(&schema, &format!("{short}.")).await.map_err(environment)?;
    let logs = shared.setup.out.join("logs").join(&unit.id);
    std::fs::create_dir_all(&logs)
        .map_err(|e| environment(EnvError::new(format!("cannot create {}", logs.display()), e)))?;
    let (said, hearing) = mpsc::unbounded_channel();
    let prefix = format!("ap-{}-{short}", shared.setup.boot.run);
    let stage = Arc::new(Stage {
        names: broker.names(&prefix, &unit.topology),
        deadline: Instant::now() + Duration::from_secs(u64::from(unit.limits.deadline_s)),
        unit,
        mark: prefix,
        short,
        recorder: recorder.clone(),
        server: Arc::clone(&server.server),
        database: Arc::clone(&database.server),
        broker,
        ledger,
        hired,
        producer,
        spawner: shared.spawner.clone(),
        board: Default::default(),
        logs,
        notices: shared.notices.clone(),
        said,
        live: Default::default(),
    });
    let _guard = KillOnDrop(Arc::clone(&stage));
    let hearing = AbortOnDrop(tokio::spawn(nemesis::hear(Arc::clone(&stage), hearing)));
    scenario::play(&stage, &shared.notices).await;
    drop(hearing);
    if let Err(error) = stage.broker.remove(&stage.names).await {
        tracing::warn!(%error, unit = stage.unit.id, "topics are left; they go with the server");
    }
    if let Err(error) = stage.ledger.remove().await {
        tracing::warn!(%error, unit = stage.unit.id, "a schema is left; it goes with the server");
    }
    Ok(())
}

fn boot_failed(error: EnvError) -> (Cause, EnvError) {
    let cause = if error.detail.contains("(OOM)") { Cause::Oom } else { Cause::Environment };
    (cause, error)
}

impl Hired {
    fn of(worker: &ReadyWorker, broker: BrokerKind) -> Self {
        let capabilities = worker.capabilities.get(&broker).cloned().unwrap_or_default();
        Self { program: worker.program.clone(), capabilities }
    }
}

/// Whatever way a unit ends, none of its workers lives on.
struct KillOnDrop(Arc<Stage>);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        for worker in self.0.alive() {
            self.0.board.note_signalled(worker.process.clone(), 9);
            let _ = worker.kill();
        }
        for worker in self.0.all() {
            worker.end_family();
        }
    }
}

/// The hearing holds the stage, whose sender keeps the hearing's channel open: ended by hand.
struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn record_health(shared: &Shared, recorder: &Recorder, begun: Instant, steal_before: u64) {
    let gaps = shared.health.gaps_since(begun);
    for gap in &gaps {
        recorder.record(Event::Gap {
            gap_us: micros(gap.length),
            ended_us: micros(gap.ended.duration_since(shared.setup.epoch)),
        });
    }
    recorder.record(Event::Health {
        largest_gap_us: gaps.iter().map(|gap| micros(gap.length)).max().unwrap_or(0),
        load_1m: health::load_1m(),
        steal_ticks: health::steal_ticks().saturating_sub(steal_before),
    });
}

/// What a unit waited for, longest first, by its own history.
fn waits(history: &Path) -> Vec<(String, u64)> {
    let Ok(history) = crate::evidence::History::read(history) else { return Vec::new() };
    let mut waits: Vec<(String, u64)> = history
        .events()
        .filter_map(|event| match event {
            Event::Waited { what, waited_us, .. } => Some((what.clone(), waited_us / 1000)),
            _ => None,
        })
        .collect();
    waits.sort_by_key(|(_, ms)| std::cmp::Reverse(*ms));
    waits
}

/// Saves the servers' logs, says what ran, and removes everything.
async fn shut_down(servers: &Servers, out: &Path) -> Vec<ServerRun> {
    let mut runs = Vec::new();
    let mut removals = JoinSet::new();
    for server in servers.all().await {
        runs.push(ServerRun {
            kind: server.key.kind,
            pin: server.key.pin.clone(),
            image: server.image.name.clone(),
            digest: server.image.digest.clone(),
            source: server.image.source.to_owned(),
            boot_ms: server.boot_ms,
        });
        let log = out.join("logs").join(format!("{}-{}.log", server.key.kind, server.key.pin));
        removals.spawn(async move {
            // A log that cannot be saved must not hide what the run found.
            if let Err(error) = server.container.save_log(&log).await {
                tracing::warn!(%error, "a server's log is not saved");
            }
            server.container.remove().await;
        });
    }
    while removals.join_next().await.is_some() {}
    runs
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
