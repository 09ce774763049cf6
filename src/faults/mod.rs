//! Faults: one injection each, with a receipt that it landed and, where it heals, that it healed.
//! A `FaultSpec` (what YAML says) comes in; steps in the history come out; a file is one action.
//! A fault must never decide whether it landed: it records receipts, `checks` judges them.

pub mod admin;
pub mod barrier;
pub mod freeze;
pub mod ground;
pub mod kill;
pub mod stall;
pub mod unbuilt;
pub mod withhold;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::env::EnvError;
use crate::evidence::event::{At, Event, FaultStage, FaultStep, ProbeWhen};
use crate::names::{ID_PATTERN, Point};
use ground::Ground;

/// What a fault does, by the occasion on which it acts. Each occasion that a fault does not know
/// is left alone. An error means that it could not be found out whether it landed.
#[async_trait]
pub trait Fault: Send + Sync {
    /// A worker is held at the fault's point, with the fault's event; the fault lets it go on, or
    /// ends it.
    async fn strike(&self, _held: &At, _ground: &dyn Ground) -> Result<(), EnvError> {
        Ok(())
    }

    /// The topology was provisioned; nothing was started yet.
    async fn stand(&self, _ground: &dyn Ground) -> Result<(), EnvError> {
        Ok(())
    }

    /// A phase begins.
    async fn phase_begins(&self, _phase: &str, _ground: &dyn Ground) -> Result<(), EnvError> {
        Ok(())
    }

    /// A phase has ended: its condition was met, its workers to be stopped are stopped.
    async fn phase_ended(&self, _phase: &str, _ground: &dyn Ground) -> Result<(), EnvError> {
        Ok(())
    }
}

/// Records one step in the life of a fault.
fn record(ground: &dyn Ground, fault: &str, stage: FaultStage) {
    ground.recorder().record(Event::Fault(FaultStep { fault: fault.to_owned(), stage }));
}

/// Records that a point fired a fault, whose sockets go where, and what the runner sees before it
/// does anything.
async fn record_trigger(
    ground: &dyn Ground,
    fault: &str,
    when: &PointTrigger,
    held: &At,
) -> Result<(), EnvError> {
    record(
        ground,
        fault,
        FaultStage::Triggered {
            process: Some(held.process.clone()),
            point: Some(when.point),
            event: Some(held.event.clone()),
        },
    );
    ground.sample_sockets(fault);
    record_look(ground, fault, ProbeWhen::Before, held).await
}

/// Records the runner's own look at ledger and broker.
async fn record_look(
    ground: &dyn Ground,
    fault: &str,
    when: ProbeWhen,
    held: &At,
) -> Result<(), EnvError> {
    let seen = ground.probe(fault, when, held).await?;
    ground.recorder().record(Event::Probe(seen));
    Ok(())
}

/// One fault of a scenario, by action.
// Adding an action is one file and one line here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FaultSpec {
    /// A worker is killed (SIGKILL) while it is held at a point.
    Kill(kill::KillSpec),
    /// A handler is held at a point, past a limit or for a share of it.
    Stall(stall::StallSpec),
    /// A worker process is stopped at a point, with its timers and heartbeats, and thawed later.
    Freeze(freeze::FreezeSpec),
    /// Several handlers are held at a point with the same event, and go on at once.
    Barrier(barrier::BarrierSpec),
    /// A piece of topology is missing.
    Withhold(withhold::WithholdSpec),
    /// An administrator does something to a topic.
    Admin(admin::AdminSpec),
    /// A server is restarted on its own data. Not built yet: such a cell is unsupported.
    Restart(unbuilt::RestartSpec),
    /// A link passes nothing for a while. Not built yet: such a cell is unsupported.
    Cut(unbuilt::CutSpec),
    /// One frame on a link is struck. Not built yet: such a cell is unsupported.
    Frame(unbuilt::FrameSpec),
    /// A worker's clock is wrong. Not built yet: such a cell is unsupported.
    Skew(unbuilt::SkewSpec),
    /// A server gets another version on its data. Not built yet: such a cell is unsupported.
    Swap(unbuilt::SwapSpec),
}

impl FaultSpec {
    /// The fault's own id inside its scenario.
    pub fn id(&self) -> &str {
        match self {
            Self::Kill(spec) => &spec.id,
            Self::Stall(spec) => &spec.id,
            Self::Freeze(spec) => &spec.id,
            Self::Barrier(spec) => &spec.id,
            Self::Withhold(spec) => &spec.id,
            Self::Admin(spec) => &spec.id,
            Self::Restart(spec) => &spec.id,
            Self::Cut(spec) => &spec.id,
            Self::Frame(spec) => &spec.id,
            Self::Skew(spec) => &spec.id,
            Self::Swap(spec) => &spec.id,
        }
    }

    /// What it does.
    pub fn action(&self) -> &dyn Fault {
        match self {
            Self::Kill(spec) => spec,
            Self::Stall(spec) => spec,
            Self::Freeze(spec) => spec,
            Self::Barrier(spec) => spec,
            Self::Withhold(spec) => spec,
            Self::Admin(spec) => spec,
            Self::Restart(spec) => spec,
            Self::Cut(spec) => spec,
            Self::Frame(spec) => spec,
            Self::Skew(spec) => spec,
            Self::Swap(spec) => spec,
        }
    }

    /// The point that triggers it, if a point does.
    pub fn trigger(&self) -> Option<&PointTrigger> {
        match self {
            Self::Kill(spec) => Some(&spec.when),
            Self::Stall(spec) => Some(&spec.when),
            Self::Freeze(spec) => Some(&spec.when),
            Self::Barrier(spec) => Some(&spec.when),
            _ => None,
        }
    }

    /// The trigger, to be changed by a control.
    pub fn trigger_mut(&mut self) -> Option<&mut PointTrigger> {
        match self {
            Self::Kill(spec) => Some(&mut spec.when),
            Self::Stall(spec) => Some(&mut spec.when),
            Self::Freeze(spec) => Some(&mut spec.when),
            Self::Barrier(spec) => Some(&mut spec.when),
            _ => None,
        }
    }

    /// Whether its point is armed at the processes of this worker.
    pub fn waits_for(&self, worker: &str) -> bool {
        match self {
            Self::Barrier(spec) => spec.wants(worker),
            _ => self.trigger().is_some_and(|when| when.worker == worker),
        }
    }
}

/// A worker reaches a point with an event; the first arrival fires, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointTrigger {
    /// Name of the worker in the scenario; any of its processes.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub worker: String,
    /// The moment at which the worker is held.
    pub point: Point,
    /// The event that the worker has in hand then.
    pub event: EventRef,
}

/// Which event of the workload a trigger waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventRef {
    /// The n-th event of the workload, from 1.
    Ordinal(#[schemars(range(min = 1))] u32),
    /// Whichever event is the n-th to arrive at the point, from 1.
    Arrival(#[schemars(range(min = 1))] u32),
}
