//! Check `conserved`: every event has a disposition for every destination.

use serde::{Deserialize, Serialize};

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConservedSpec {}
