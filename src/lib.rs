//! `ackproof` proves, on real servers, what happens to an event around its ACK.
//! Suites come in, verdicts that can be recomputed from recorded evidence come out.
//! Start reading at `ARCHITECTURE.md` in this folder; the modules below stand in data-flow order.

pub mod names;
pub mod wait;

pub mod suite;

pub mod plan;

pub mod env;

pub mod brokers;

#[cfg(feature = "servers")]
pub mod workers;

pub mod faults;

#[cfg(feature = "servers")]
pub mod run;

pub mod evidence;

pub mod checks;

pub mod verdict;

pub mod reports;

#[cfg(feature = "servers")]
pub mod cli;
