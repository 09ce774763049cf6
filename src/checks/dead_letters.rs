//! Check `dead_letters`: the letters on the dead letter topic.

use serde::{Deserialize, Serialize};

use super::Bound;
use crate::names::EventSet;

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadLettersSpec {
    pub of: EventSet,
    /// Copies per event on the dead letter topic.
    pub copies: Bound,
    pub fidelity: Fidelity,
}

/// How like the original a dead letter must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fidelity {
    /// Only the event id.
    Id,
    /// The payload and every property of the producer, byte for byte; more properties may be there.
    PayloadAndProperties,
}
