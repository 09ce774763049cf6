//! `ackproof run`: plan, execute, record, judge, report; the whole pipeline once.
//! Options come in; evidence and reports on disk, a table for people and an exit code come out.
//! It must never judge before the evidence is on disk: verdicts come from there, as for anybody.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, watch};

use super::evidence::OutputDirectory;
use super::fail_fast::{self, FirstFailure};
use super::select::Selected;
use super::{evidence, exit, interrupt, lock, output, record, select};
use crate::env::EnvError;
use crate::env::engine::Engine;
use crate::env::image::{ImageChoice, recipes_folder};
use crate::env::ports::Ports;
use crate::env::run_lock::{Keep, RunLock};
use crate::env::settings::Settings;
use crate::env::sweep::{SweepScope, sweep};
use crate::plan::{Plan, Request};
use crate::reports;
use crate::reports::progress::{Progress, ProgressEvent};
use crate::run::Notices;
use crate::run::execute::{ReadyWorker, Setup, execute};
use crate::run::servers::BootSetup;
use crate::suite::manifest::Manifest;
use crate::workers::build::{self, BuiltWorker};

/// What the command line asks for.
#[derive(Debug)]
pub struct Options {
    pub paths: Vec<PathBuf>,
    pub workers: PathBuf,
    pub request: Request,
    pub manner: Manner,
    pub command: Vec<String>,
}

/// How a plan is run, whatever it holds.
#[derive(Debug)]
pub struct Manner {
    pub out: PathBuf,
    pub images: ImageChoice,
    pub keep: Keep,
    pub jobs: Option<usize>,
    pub on_failure: OnFailure,
    pub known: Known,
    pub progress: Shown,
    /// The file that images and workers have to agree with, if any.
    pub lock: Option<PathBuf>,
}

/// What a run does when a cell has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    GoOn,
    StartNoMore,
}

/// How much of a run's progress people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    Everything,
    Nothing,
}

/// What a known deviation counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    Tolerated,
    Failure,
}

/// Runs everything that was asked for and reports on it.
pub async fn run(options: Options) -> u8 {
    let selected = match select::select(&options.paths, &options.workers, options.request.clone()) {
        Ok(selected) => selected,
        Err(problems) => return select::report(&problems),
    };
    run_selected(&options.manner, options.command, &selected).await
}

/// Runs a plan that is made already.
pub async fn run_selected(manner: &Manner, command: Vec<String>, selected: &Selected) -> u8 {
    let epoch = Instant::now();
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(problems) => return select::refuse(&problems),
    };
    let out = match evidence::claim(&manner.out) {
        Ok(out) => out,
        Err(error) => {
            output::message(&format!("cannot use --out: {error}"));
            return exit::USAGE;
        }
    };
    match run_plan(manner, settings, command, &out, selected, epoch).await {
        Ok(code) => code,
        Err(error) => {
            output::message(&error);
            exit::INCONCLUSIVE
        }
    }
}

async fn run_plan(
    manner: &Manner,
    settings: Settings,
    command: Vec<String>,
    claimed: &OutputDirectory,
    selected: &Selected,
    epoch: Instant,
) -> Result<u8, String> {
    let Selected { plan, manifests } = selected;
    let run_lock = RunLock::take(manner.keep).map_err(|e| e.to_string())?;
    let out = &claimed.path;
    let mut record = record::begun(&run_lock, command, manner.known);
    let (notices, showing) = show_progress(manner.progress);
    let _ =
        notices.send(ProgressEvent::PlanReady { cells: plan.cells.len(), units: plan.units.len() });
    let mut cancel = interrupt::on_signal("ending units, removing servers, writing reports");
    let engine = Engine::connect().await;
    match &engine {
        Ok(engine) => tokio::select! {
            () = sweep_dead_runs(engine, &notices) => {}
            _ = cancel.wait_for(|cancelled| *cancelled) => {}
        },
        // Said here once: every server and every unit lacks it.
        Err(error) => drop(notices.send(ProgressEvent::Note { text: error.to_string() })),
    }
    if let Some(path) = &manner.lock {
        let engine = engine.as_ref().map_err(ToString::to_string)?;
        lock::refuse_others(engine, selected, manner.images, &run_lock.labels(), path).await?;
    }
    // Not before: a run that is refused leaves the evidence of an earlier one alone.
    claimed.clear().map_err(|e| e.to_string())?;
    evidence::write(out, evidence::PLAN, plan).map_err(|e| e.to_string())?;
    record.host = record::host(engine.as_ref().ok());
    let first_failure = Arc::new(FirstFailure::of(plan, out, record.clone()));
    let setup = Setup {
        boot: BootSetup {
            engine: engine.clone(),
            images: manner.images,
            recipes: recipes_folder(),
            run: run_lock.id().to_owned(),
            labels: run_lock.labels(),
            keep: manner.keep,
            ports: Ports::new(settings.ports.clone()),
            settings,
            cancel: cancel.clone(),
        },
        out: out.to_owned(),
        jobs: manner.jobs.unwrap_or_else(|| record::cpus() * 4),
        // Without an engine nothing can run, and a build would only delay that answer.
        workers: match &engine {
            Ok(_) => build_workers(plan, manifests, &notices, cancel.clone()).await,
            Err(_) => BTreeMap::new(),
        },
        cancel,
        after_unit: fail_fast::after_unit(&first_failure, manner.on_failure),
        epoch,
    };
    let executed = execute(plan, setup, notices).await.map_err(|e| e.to_string())?;
    showing.await.map_err(|e| e.to_string())?;
    record.duration_ms = u64::try_from(epoch.elapsed().as_millis()).unwrap_or(u64::MAX);
    record.cancelled = executed.cancelled;
    record.stopped_after = first_failure.cell();
    record.servers = executed.servers;
    record.units = executed.units;
    evidence::write(out, evidence::RUN, &record).map_err(|e| {
        format!("the run has ended and cannot be judged: {e}; free what is lacking and run again")
    })?;
    drop(run_lock);
    finish(out)
}

/// Judges what is on disk and writes the reports.
fn finish(out: &Path) -> Result<u8, String> {
    let report = evidence::judge(out).map_err(|e| format!("cannot judge: {e}"))?;
    reports::write_all(out, &report).map_err(|e| format!("cannot write reports: {e}"))?;
    let style = reports::console::Style::of(&std::io::stdout());
    let code = if report.run.cancelled { exit::INTERRUPTED } else { report.exit_code() };
    Ok(output::result(&reports::console::render(&report, out, style), code))
}

async fn sweep_dead_runs(engine: &Engine, notices: &Notices) {
    match sweep(engine, SweepScope::DeadRuns).await {
        Ok(swept) if swept.runs.is_empty() => {}
        Ok(swept) => {
            let text = format!(
                "removed what {} earlier runs had left ({} containers, {} volumes)",
                swept.runs.len(),
                swept.containers,
                swept.volumes
            );
            let _ = notices.send(ProgressEvent::Note { text });
        }
        Err(error) => {
            let _ = notices.send(ProgressEvent::Note { text: error.to_string() });
        }
    }
}

/// Shows progress until the last sender is gone.
fn show_progress(shown: Shown) -> (Notices, tokio::task::JoinHandle<()>) {
    let (sender, mut events) = mpsc::unbounded_channel();
    let showing = tokio::spawn(async move {
        let progress = match shown {
            Shown::Everything => Progress::on_stderr(),
            Shown::Nothing => Progress::quiet(),
        };
        while let Some(event) = events.recv().await {
            progress.tell(&event);
        }
        progress.finish();
    });
    (sender, showing)
}

async fn build_workers(
    plan: &Plan,
    manifests: &[(Manifest, PathBuf)],
    notices: &Notices,
    mut cancel: watch::Receiver<bool>,
) -> BTreeMap<String, Result<ReadyWorker, EnvError>> {
    let mut workers = BTreeMap::new();
    for (manifest, folder) in manifests {
        if !plan.units.iter().any(|unit| unit.manifests().any(|name| *name == manifest.name)) {
            continue;
        }
        let worker = manifest.name.clone();
        let _ = notices.send(ProgressEvent::WorkerBuilding { worker: worker.clone() });
        let begun = Instant::now();
        let built = match folder.canonicalize() {
            Ok(folder) => tokio::select! {
                built = build::build(manifest, &folder) => {
                    built.map(|built| ready(manifest, built))
                }
                _ = cancel.wait_for(|cancelled| *cancelled) => {
                    Err(EnvError::new(&worker, "its build was interrupted"))
                }
            },
            Err(error) => Err(EnvError::new(folder.display().to_string(), error)),
        };
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let _ = notices.send(match &built {
            Ok(_) => ProgressEvent::WorkerBuilt { worker: worker.clone(), took_ms },
            Err(error) => ProgressEvent::Note { text: error.to_string() },
        });
        workers.insert(worker, built);
    }
    workers
}

fn ready(manifest: &Manifest, built: BuiltWorker) -> ReadyWorker {
    let capabilities = manifest
        .clients
        .iter()
        .map(|(broker, client)| (*broker, client.capabilities.iter().cloned().collect()))
        .collect();
    ReadyWorker { program: built.program, capabilities }
}
