//! Check `effects`: effect rows per event and destination.

use serde::{Deserialize, Serialize};

use super::Bound;
use crate::names::EventSet;

/// What YAML says about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectsSpec {
    pub of: EventSet,
    pub count: Bound,
}
