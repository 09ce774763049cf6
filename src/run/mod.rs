//! A run: boots servers, runs units side by side, and writes one sealed history for each.
//! A plan and a setup come in; histories, logs and the run's own record come out.
//! It must never decide what passes: nothing here reads a finding, and no unit is tried twice.

pub mod board;
pub mod execute;
pub mod nemesis;
pub mod scenario;
pub mod servers;
pub mod settle;
pub mod staff;
pub mod stage;
pub mod workload;

/// Where progress goes.
pub type Notices = tokio::sync::mpsc::UnboundedSender<crate::reports::progress::ProgressEvent>;
