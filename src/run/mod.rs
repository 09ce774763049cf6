//! A run: boots servers, runs units side by side, and writes one sealed history for each.
//! A plan and a setup come in; histories, logs and the run's own record come out.
//! It must never decide what passes: nothing here reads a finding, and no unit is tried twice.

pub mod board;
pub mod execute;
pub mod nemesis;
pub mod scenario;
pub mod servers;
pub mod settle;
pub mod stage;
pub mod staff;
pub mod workload;

/// What happens while a run goes on, for whoever shows progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    ServerStarting { server: String },
    ServerReady { server: String, boot_ms: u64 },
    ServerFailed { server: String, why: String },
    UnitStarted { unit: String },
    UnitPhase { unit: String, phase: String },
    UnitEnded { unit: String, duration_ms: u64, trouble: Option<String> },
}

/// Where notices go.
pub type Notices = tokio::sync::mpsc::UnboundedSender<Notice>;
