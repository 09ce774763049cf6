//! Check `redrive_known`: how far a redrive came.

use serde::{Deserialize, Serialize};

use crate::names::EventSet;

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedriveKnownSpec {
    pub of: EventSet,
}
