//! The evidence of a run on disk: plan, the run's own record, all histories; one root hash.
//! An output directory comes in; everything that a verdict rests on, or why it cannot, comes out.
//! It must never repair or leave out a file: what is damaged is an error at its place.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::evidence::History;
use crate::evidence::seal::{root_hash, sha256_of_file};
use crate::plan::{PLAN_VERSION, Plan};
use crate::verdict::{self, RunRecord, RunReport};

/// Name of the plan below the output directory.
pub const PLAN: &str = "plan.json";
/// Name of the run's own record below the output directory.
pub const RUN: &str = "run.json";
/// Locked while a run writes into the directory.
const LOCK: &str = ".ackproof.lock";
/// Version of `run.json`.
pub const RUN_VERSION: u32 = 2;

/// Evidence that cannot be judged at all.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}")]
pub struct EvidenceError {
    path: String,
    why: String,
}

fn error(path: &Path, why: impl std::fmt::Display) -> EvidenceError {
    EvidenceError { path: path.display().to_string(), why: why.to_string() }
}

/// Everything that a verdict rests on.
#[derive(Debug)]
pub struct Evidence {
    pub plan: Plan,
    pub run: RunRecord,
    /// By unit: its history, or why it cannot be used.
    pub histories: BTreeMap<String, Result<History, String>>,
    pub root_hash: String,
}

/// Reads the evidence below `dir` and judges it.
///
/// # Errors
/// When plan or run record cannot be read; a bad history only spoils its own unit.
pub fn judge(dir: &Path) -> Result<RunReport, EvidenceError> {
    let Evidence { plan, run, histories, root_hash } = gather(dir)?;
    Ok(verdict::judge(&plan, &run, &histories, &root_hash))
}

/// Reads the evidence below `dir`.
///
/// # Errors
/// When plan or run record cannot be read; a bad history only spoils its own unit.
pub fn gather(dir: &Path) -> Result<Evidence, EvidenceError> {
    let (plan, run) = (plan(dir)?, record(dir)?);
    let mut hashes = Vec::new();
    for name in [PLAN, RUN] {
        let path = dir.join(name);
        hashes.push((name.to_owned(), sha256_of_file(&path).map_err(|e| error(&path, e))?));
    }
    let mut histories = BTreeMap::new();
    for (unit, ran) in &run.units {
        let path = dir.join(&ran.history);
        // A pipe or device in its place would never end.
        let found =
            if path.is_file() { sha256_of_file(&path).unwrap_or_default() } else { String::new() };
        let history = if found == ran.sha256 {
            History::read(&path).map_err(|e| e.to_string())
        } else {
            Err(altered(&ran.history, &found))
        };
        hashes.push((ran.history.clone(), found));
        histories.insert(unit.clone(), history);
    }
    Ok(Evidence { plan, run, histories, root_hash: root_hash(&hashes) })
}

/// The plan of a run.
///
/// # Errors
/// When it cannot be read, or has another version than this program reads.
pub fn plan(dir: &Path) -> Result<Plan, EvidenceError> {
    versioned(&dir.join(PLAN), PLAN_VERSION)
}

/// What the runner recorded of the run itself.
///
/// # Errors
/// When it cannot be read, or has another version than this program reads.
pub fn record(dir: &Path) -> Result<RunRecord, EvidenceError> {
    versioned(&dir.join(RUN), RUN_VERSION)
}

/// A document, once it says that it has the version that is known: another one may look otherwise.
///
/// # Errors
/// When it cannot be read, or has another version.
pub fn versioned<T: DeserializeOwned>(path: &Path, known: u32) -> Result<T, EvidenceError> {
    let value: serde_json::Value = read(path)?;
    match value["version"].as_u64() {
        Some(found) if found == u64::from(known) => {
            serde_json::from_value(value).map_err(|e| error(path, e))
        }
        Some(found) => {
            let why = format!("it has version {found}, this program reads version {known}");
            Err(error(path, why))
        }
        None => Err(error(path, "it has no version: it is no document of a run")),
    }
}

fn altered(name: &str, found: &str) -> String {
    if found.is_empty() {
        return format!("{name} is missing or cannot be read");
    }
    format!("{name} was changed after the run: its SHA-256 differs")
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, EvidenceError> {
    if path.exists() && !path.is_file() {
        return Err(error(path, "it is no regular file"));
    }
    let bytes = std::fs::read(path).map_err(|e| error(path, e))?;
    serde_json::from_slice(&bytes).map_err(|e| error(path, e))
}

/// Writes a part of the evidence, whole or not at all.
///
/// # Errors
/// When it cannot be written.
pub fn write<T: Serialize>(dir: &Path, name: &str, value: &T) -> Result<(), EvidenceError> {
    let path = dir.join(name);
    let text = serde_json::to_string_pretty(value).map_err(|e| error(&path, e))?;
    crate::reports::write_atomically(dir, name, &(text + "\n")).map_err(|e| error(&path, e))
}

/// An output directory that this run alone may write, until it is dropped.
#[derive(Debug)]
pub struct OutputDirectory {
    pub path: PathBuf,
    _lock: Flock<File>,
}

/// Takes the output directory for this run; what an earlier run wrote there stays as it is.
///
/// # Errors
/// When it cannot be created, holds anything but a run's output, or is in use.
pub fn claim(dir: &Path) -> Result<OutputDirectory, EvidenceError> {
    if dir.exists() && !dir.is_dir() {
        return Err(error(dir, "it is a file; name a folder"));
    }
    std::fs::create_dir_all(dir).map_err(|e| error(dir, e))?;
    let dir = dir.canonicalize().map_err(|e| error(dir, e))?;
    if !holds_nothing_else(&dir, LOCK).map_err(|e| error(&dir, e))? && !is_output(&dir) {
        let why = "it holds files that are no run's output; name an empty or a new folder";
        return Err(error(&dir, why));
    }
    let lock = File::create(dir.join(LOCK)).map_err(|e| error(&dir, e))?;
    let lock = Flock::lock(lock, FlockArg::LockExclusiveNonblock)
        .map_err(|_| error(&dir, "another run writes into it; name another folder"))?;
    Ok(OutputDirectory { path: dir, _lock: lock })
}

impl OutputDirectory {
    /// Removes what an earlier run wrote, and nothing else: from here on this run is what is here.
    ///
    /// # Errors
    /// When something cannot be removed.
    pub fn clear(&self) -> Result<(), EvidenceError> {
        let files =
            [RUN, crate::reports::JUNIT, crate::reports::JSON, crate::reports::SUMMARY, PLAN];
        for path in files.map(|name| self.path.join(name)) {
            if path.is_file() {
                std::fs::remove_file(&path).map_err(|e| error(&path, e))?;
            }
        }
        for path in ["histories", "logs"].map(|name| self.path.join(name)) {
            if path.is_dir() {
                std::fs::remove_dir_all(&path).map_err(|e| error(&path, e))?;
            }
        }
        Ok(())
    }
}

impl Drop for OutputDirectory {
    /// A run that was refused before it wrote anything leaves no folder of its own.
    fn drop(&mut self) {
        if holds_nothing_else(&self.path, LOCK).unwrap_or(false) {
            let _ = std::fs::remove_file(self.path.join(LOCK));
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

fn holds_nothing_else(dir: &Path, name: &str) -> std::io::Result<bool> {
    Ok(std::fs::read_dir(dir)?.filter_map(Result::ok).all(|entry| entry.file_name() == name))
}

/// Whether an earlier run wrote here: its plan says so, in any version.
fn is_output(dir: &Path) -> bool {
    let plan = read::<serde_json::Value>(&dir.join(PLAN));
    plan.is_ok_and(|plan| plan["suite_hash"].is_string() && plan["units"].is_array())
}
