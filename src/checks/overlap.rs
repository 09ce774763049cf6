//! Check `overlap`: two processes in one event at once.

use serde::{Deserialize, Serialize};

use crate::names::EventSet;

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OverlapSpec {
    pub of: EventSet,
}
