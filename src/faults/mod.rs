//! Faults: one injection each, with a receipt that it landed and, where it heals, that it healed.
//! A `FaultSpec` (what YAML says) comes in; steps in the history come out; a file is one action.
//! A fault must never decide whether it landed: it records receipts, `checks` judges them.

pub mod admin;
pub mod kill;
pub mod stall;
pub mod withhold;

use serde::{Deserialize, Serialize};

use crate::names::Point;

/// One fault of a scenario, by action. Adding an action is one file and one line here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultSpec {
    Kill(kill::KillSpec),
    Stall(stall::StallSpec),
    Withhold(withhold::WithholdSpec),
    Admin(admin::AdminSpec),
}

impl FaultSpec {
    /// The fault's own id inside its scenario.
    pub fn id(&self) -> &str {
        match self {
            Self::Kill(spec) => &spec.id,
            Self::Stall(spec) => &spec.id,
            Self::Withhold(spec) => &spec.id,
            Self::Admin(spec) => &spec.id,
        }
    }

    /// The point that triggers it, if a point does.
    pub fn trigger(&self) -> Option<&PointTrigger> {
        match self {
            Self::Kill(spec) => Some(&spec.when),
            Self::Stall(spec) => Some(&spec.when),
            Self::Withhold(_) | Self::Admin(_) => None,
        }
    }

    /// The same fault at another point (for controls).
    pub fn moved_to(mut self, point: Point) -> Self {
        match &mut self {
            Self::Kill(spec) => spec.when.point = point,
            Self::Stall(spec) => spec.when.point = point,
            Self::Withhold(_) | Self::Admin(_) => {}
        }
        self
    }
}

/// A worker reaches a point with an event; the first arrival fires, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PointTrigger {
    /// Name of the worker in the scenario; any of its processes.
    pub worker: String,
    pub point: Point,
    pub event: EventRef,
}

/// Which event of the workload a trigger waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventRef {
    /// The n-th event of the workload, from 1.
    Ordinal(u32),
    /// Whichever event is the n-th to arrive at the point, from 1.
    Arrival(u32),
}
