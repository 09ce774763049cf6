//! Check `unretained`: dead letters that were published and are gone.

use serde::{Deserialize, Serialize};

use crate::names::EventSet;

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnretainedSpec {
    pub of: EventSet,
}
