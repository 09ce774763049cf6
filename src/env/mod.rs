//! The environment of a run: server containers, links, worker processes, the ledger, leases.
//! Server keys and unit ids come in; running, ready servers at link addresses come out.
//! It must never leave anything behind, and never hand a server's own address to a worker.

pub mod container;
#[cfg(feature = "servers")]
pub mod content;
#[cfg(feature = "servers")]
pub mod engine;
#[cfg(feature = "servers")]
pub mod family;
#[cfg(feature = "servers")]
pub mod health;
#[cfg(feature = "servers")]
pub mod image;
#[cfg(feature = "servers")]
pub mod ledger;
#[cfg(feature = "servers")]
pub mod link;
#[cfg(feature = "servers")]
pub mod ports;
#[cfg(feature = "servers")]
pub mod process;
#[cfg(feature = "servers")]
pub mod run_lock;
#[cfg(feature = "servers")]
pub mod settings;
#[cfg(feature = "servers")]
pub mod sockets;
#[cfg(feature = "servers")]
pub mod sweep;
#[cfg(feature = "servers")]
pub mod tool;

use crate::evidence::event::Process;

/// Something about the environment that could not be had; what to do next is part of the text.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{what}: {detail}")]
pub struct EnvError {
    pub what: String,
    pub detail: String,
}

impl EnvError {
    /// An error about `what`, with its cause.
    pub fn new(what: impl Into<String>, detail: impl std::fmt::Display) -> Self {
        Self { what: what.into(), detail: detail.to_string() }
    }
}

/// A backend that waits for another one's lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedPair {
    pub waiter: Process,
    pub blocker: Process,
}
