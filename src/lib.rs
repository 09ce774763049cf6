//! `ackproof` proves, on real servers, what happens to an event around its ACK.
//! Suites come in, verdicts that can be recomputed from recorded evidence come out.
//! Start reading at `ARCHITECTURE.md` in this folder; the modules below stand in data-flow order.

pub mod brokers;
pub mod checks;
pub mod cli;
pub mod env;
pub mod evidence;
pub mod faults;
pub mod names;
pub mod plan;
pub mod suite;
pub mod verdict;
pub mod workers;
