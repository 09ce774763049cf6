//! Admin: an administrative action on a topic after a phase, with the broker's answer as receipt.

use serde::{Deserialize, Serialize};

use crate::names::TopicRole;

/// What YAML says about an administrative action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminSpec {
    pub id: String,
    pub action: AdminAction,
    pub topic: TopicRole,
    /// It is done when this phase has ended.
    pub after: String,
}

/// What an administrator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AdminAction {
    /// Pulsar: close the topic, load it again, and trim what no subscription needs.
    UnloadAndTrim,
}
