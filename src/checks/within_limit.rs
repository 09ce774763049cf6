//! Check `within_limit`: handled inside the ack timeout.

use serde::{Deserialize, Serialize};

use crate::names::EventSet;

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithinLimitSpec {
    pub of: EventSet,
}
