//! The environment of a run: server containers, links, worker processes, the ledger, leases.
//! Server keys and unit ids come in; running, ready and attested servers at link addresses come out.
//! It must never leave anything behind, and never hand a server's own address to a worker.

pub mod container;
