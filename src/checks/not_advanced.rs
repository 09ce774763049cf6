//! Check `not_advanced`: the cursor stays behind while a fault stands.

use serde::{Deserialize, Serialize};

use crate::names::EventSet;

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotAdvancedSpec {
    pub of: EventSet,
    /// Id of the fault that stands meanwhile.
    pub during: String,
}
