//! Repetition: a story that is told several times and judged as a rate.
//! YAML comes in; how often, from which seed, and how many of the runs must hold comes out.
//! It must never be a retry: a run that fails counts as one that failed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A story that is told several times, for what stays racy although points decide its timing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepeatSpec {
    /// How often the story is told; every run has a seed of its own.
    #[schemars(range(min = 2, max = 1000))]
    pub runs: u32,
    /// In how many of the runs every check must hold at least. The report states beside it the
    /// rate that this proves with 95 percent confidence.
    #[schemars(range(min = 1, max = 1000))]
    pub at_least: u32,
    /// What the seeds of the runs are made from; `--seed` if left out.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    pub seed: Option<u64>,
}
