//! Words of reports and of the worker protocol that no YAML file has, for `ackproof explain`.
//! Types come in that other modules own; their schema comes out, with only the keys that hold them.
//! It must never be written or read: `reports::json` and `workers::protocol` have the real forms.

use schemars::JsonSchema;

use crate::checks::{AlwaysOn, FindingResult};
use crate::names::{CallOutcome, Cause, Grade, Operation, Outcome};

/// The words of `report.json`.
#[derive(Debug, JsonSchema)]
pub struct ReportWords {
    /// What became of the cells of the plan.
    pub cells: Vec<Cell>,
}

/// One cell: a scenario with the versions that it was run on.
#[derive(Debug, JsonSchema)]
pub struct Cell {
    /// What it came to, the worst first.
    pub outcome: Outcome,
    /// Why it is inconclusive.
    #[serde(default)]
    pub cause: Option<Cause>,
    /// What its checks say, those of the scenario and those that always apply.
    pub findings: Vec<Finding>,
}

/// What a check says.
#[derive(Debug, JsonSchema)]
pub struct Finding {
    /// The check: one of the scenario's, or a rule that always applies.
    pub check: AlwaysOn,
    /// The answer.
    pub outcome: FindingResult,
    /// How many things were looked at; nothing holds on zero.
    pub examined: u64,
    /// The weakest evidence that it rests on.
    pub grade: Grade,
}

/// The words of the worker protocol.
#[derive(Debug, JsonSchema)]
pub struct ProtocolWords {
    /// A worker's claim about one call of its client or database.
    pub result: CallResult,
}

/// A claim of a worker.
#[derive(Debug, JsonSchema)]
pub struct CallResult {
    /// What was called.
    pub operation: Operation,
    /// How it ended.
    pub outcome: CallOutcome,
}
