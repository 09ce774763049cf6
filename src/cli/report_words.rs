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

/// The words of this project's texts.
#[derive(Debug, JsonSchema)]
pub struct Texts {
    /// A word that README, plans and reports use in one sense only.
    pub term: Term,
}

/// Words with one sense in README, plans and reports.
#[derive(Debug, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// A folder's files of `kind: suite`, with their pins and profiles.
    Suite,
    /// A story in a suite: topology, workload, workers, phases, faults and checks.
    Scenario,
    /// A scenario on one server version with one client version; it has one outcome.
    Cell,
    /// A thing to run: the subject of a cell, one of its controls, or a baseline. Each has a
    /// topology and a history of its own.
    Unit,
    /// The unit of a cell whose story is told as the scenario says, with the real worker.
    Subject,
    /// The same story without any fault: a check that fails there says nothing about the fault.
    Baseline,
    /// The same story with a deliberate defect, which a named check must catch on the events that
    /// were struck; otherwise the cell is inconclusive.
    Control,
    /// Proof, from ledger or broker and not from a worker's claim alone, that a fault struck where
    /// and when it should.
    Receipt,
    /// What is on disk of a run: plan, record and histories, all under one root hash.
    Evidence,
    /// Everything that was seen of one unit, a line each, in the order in which it was recorded.
    History,
    /// What became of an event at one destination: effect, dead letter, a place in the backlog.
    Disposition,
    /// What a check says of a unit: holds, violated or undecided, on how many things.
    Finding,
    /// How many of several tellings of a story held, with the lowest rate that this proves.
    Rate,
    /// A named set of versions.
    Pins,
    /// A run that leaves out cells which its profile has.
    Partial,
    /// A TCP relay between a worker and a server, through which every connection of a worker goes.
    Link,
    /// Tables that a worker writes and a trigger audits, where effects are counted.
    Ledger,
    /// What the runner itself reads of broker and database, without consuming anything.
    Observer,
}
