//! Kill: a signal through the pidfd of a worker that is held at a point, bracketed by two reads.

use serde::{Deserialize, Serialize};

use super::PointTrigger;

/// What YAML says about a kill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KillSpec {
    pub id: String,
    pub when: PointTrigger,
    /// What follows the death.
    pub then: AfterKill,
}

/// What follows the death of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterKill {
    /// The same worker starts again, as its next incarnation.
    Restart,
    StayDead,
}
