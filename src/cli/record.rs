//! What is recorded of a run before its first unit: who, when, where, with which command.
//! The run's lock, its command and the engine come in; a `RunRecord` without units comes out.
//! It must never judge, nor be written before the run is over.

use std::collections::BTreeMap;

use super::evidence;
use super::run::Known;
use crate::env::engine::Engine;
use crate::env::run_lock::RunLock;
use crate::verdict::{Host, RunRecord};

/// The record of a run that begins now.
pub fn begun(lock: &RunLock, command: Vec<String>, known: Known) -> RunRecord {
    RunRecord {
        version: evidence::RUN_VERSION,
        id: lock.id().to_owned(),
        started: jiff::Timestamp::now().to_string(),
        ackproof: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        host: host(None),
        duration_ms: 0,
        cancelled: false,
        stopped_after: None,
        strict: known == Known::Failure,
        servers: Vec::new(),
        units: BTreeMap::new(),
    }
}

/// This machine, and the engine that answered.
pub fn host(engine: Option<&Engine>) -> Host {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let memory_kib: u64 = read("/proc/meminfo")
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse().ok())
        .unwrap_or(0);
    let os = read("/etc/os-release")
        .lines()
        .find_map(|line| Some(line.strip_prefix("PRETTY_NAME=")?.trim_matches('"').to_owned()))
        .unwrap_or_else(|| std::env::consts::OS.to_owned());
    Host {
        os,
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        cpus: u32::try_from(cpus()).unwrap_or(u32::MAX),
        memory_mb: memory_kib / 1024,
        engine: engine.map_or_else(|| String::from("none"), |e| e.version().to_owned()),
    }
}

/// How many cores this program may use; 1 where nobody knows.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
