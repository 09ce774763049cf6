//! Check `drained`: nothing is left to deliver.

use serde::{Deserialize, Serialize};

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrainedSpec {}
