//! Withhold: a piece of topology is not there, by the broker's own answer, until a phase makes it.

use serde::{Deserialize, Serialize};

/// What YAML says about a missing piece.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithholdSpec {
    pub id: String,
    pub piece: Piece,
    /// The phase at whose start it is created; never, if absent.
    #[serde(default)]
    pub heal_in: Option<String>,
}

/// A piece of topology that can be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    DeadLetterSubscription,
    DeadLetterTopic,
}
