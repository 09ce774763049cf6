//! Verdicts: findings of subject, controls and baseline become one outcome a cell.
//! A plan, the run's own record and the histories come in; a `RunReport` comes out, pure.
//! It must never pass what was not examined, landed and controlled, and never read a clock.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::checks::Finding;
use crate::names::{BrokerKind, Cause, Grade, Level, Outcome, ServerKind};
use crate::plan::{ClientPin, LeftOut};
use crate::suite::change::Defect;
use crate::suite::deviations::Occurs;
use crate::suite::manifest::Lack;

mod barrier;
mod bracket;
mod cell;
mod claims;
pub mod command;
mod control;
mod judged;
mod judgement;
mod known;
mod landing;
mod numbers;
mod rate;
pub mod shown;
mod validity;

pub use judgement::{fails, judge};

/// Version of the report document.
pub const REPORT_VERSION: u32 = 2;

/// What the runner recorded about the run itself (`run.json`): part of the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    pub version: u32,
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    pub ackproof: String,
    pub command: Vec<String>,
    pub host: Host,
    pub duration_ms: u64,
    /// Set when a signal ended the run early.
    pub cancelled: bool,
    /// `--fail-fast`: the cell that failed and after which no unit was started.
    pub stopped_after: Option<String>,
    /// `--strict`: a known deviation that shows counts as a failure.
    pub strict: bool,
    pub servers: Vec<ServerRun>,
    /// By unit id; a unit that is missing never started.
    pub units: BTreeMap<String, UnitRun>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub os: String,
    pub kernel: String,
    pub cpus: u32,
    pub memory_mb: u64,
    pub engine: String,
}

/// A server that the run started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerRun {
    pub kind: ServerKind,
    pub pin: String,
    pub image: String,
    /// Image id or repository digest.
    pub digest: String,
    /// `local` or `upstream`.
    pub source: String,
    pub boot_ms: u64,
}

/// How one unit went, as far as the runner can say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitRun {
    /// Path of the history below the output directory.
    pub history: String,
    pub sha256: String,
    pub started_ms: u64,
    pub duration_ms: u64,
    /// What it waited for, longest first, in milliseconds.
    pub waits: Vec<(String, u64)>,
}

/// All verdicts of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunReport {
    pub version: u32,
    pub run: RunInfo,
    pub cells: Vec<CellReport>,
    pub summary: Summary,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunInfo {
    pub id: String,
    pub started: String,
    pub ackproof: String,
    pub command: Vec<String>,
    pub seed: u64,
    pub profile: String,
    pub host: Host,
    pub duration_ms: u64,
    pub cancelled: bool,
    /// The cell that failed and after which no unit was started.
    pub stopped_after: Option<String>,
    /// Known deviations count as failures.
    pub strict: bool,
    /// Cells that were left out; with any, the profile is only partly shown.
    pub left_out: Vec<LeftOut>,
    pub suite_hash: String,
    /// SHA-256 over the paths and hashes of `plan.json`, `run.json` and all histories.
    pub root_hash: String,
    pub servers: Vec<ServerRun>,
}

/// One cell with its outcome and all that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellReport {
    pub id: String,
    pub scenario: String,
    pub title: String,
    pub about: String,
    pub property: String,
    /// Variables and axes of the scenario with their values here; empty for most.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    pub clauses: Vec<String>,
    pub level: Level,
    pub broker: BrokerKind,
    pub server_pin: String,
    /// What the broker answered.
    pub server_attested: Option<String>,
    pub database_pin: String,
    pub database_attested: Option<String>,
    pub client: ClientPin,
    pub client_attested: Option<String>,
    pub worker: String,
    pub pattern: String,
    pub dead_letter_mode: Option<String>,
    /// Its worker or setting is a deliberate defect (`--only-controls`): it has to fail.
    pub only_control: bool,
    pub outcome: Outcome,
    /// Set exactly when the outcome is inconclusive.
    pub cause: Option<Cause>,
    /// One sentence: why this outcome, with the numbers.
    pub reason: String,
    /// `hazard shown: 3 events` for a hazard scenario that passed.
    pub hazard_shown: Option<String>,
    pub unsupported: Option<Lack>,
    pub marks: Marks,
    pub duration_ms: u64,
    pub counts: Counts,
    pub ages: Ages,
    pub faults: Vec<FaultReport>,
    pub findings: Vec<Finding>,
    pub controls: Vec<ControlReport>,
    /// Known issues in whose range this cell was.
    pub known: Vec<KnownReport>,
    /// Checks that were declared for these versions, in the place of the scenario's own.
    pub expectations: Vec<ExpectationReport>,
    /// How often the story held, where it was told several times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateReport>,
    /// What the configured timers forced, in milliseconds.
    pub waits: Vec<(String, u64)>,
    pub histories: Vec<HistoryRef>,
    /// The command that runs this cell again.
    pub reproduce: String,
}

/// A story that was told several times: what its runs came to, and what that proves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateReport {
    pub runs: u32,
    /// Runs in which every check holds.
    pub held: u32,
    /// Runs in which a check is violated; the rest was not decided.
    pub broken: u32,
    pub at_least: u32,
    /// With 95 percent confidence the story holds at least this often, in thousandths of all runs
    /// (one-sided Clopper-Pearson bound, rounded down).
    pub proven_per_mille: u32,
    /// The run that counts, deliveries and findings of the cell are from.
    pub shown: String,
}

/// The three closing questions: may it be lost, doubled, reordered? Events that were.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Marks {
    pub lost: BTreeSet<String>,
    pub doubled: BTreeSet<String>,
    pub reordered: BTreeSet<String>,
}

/// A number and what supports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graded {
    pub value: u64,
    pub grade: Grade,
}

/// Separate numbers that must never be taken for one another; absent where nothing observed them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Events that were confirmed, or that the broker or the ledger shows.
    pub published: Option<Graded>,
    /// Events whose publication the broker confirmed.
    pub confirmed: Option<Graded>,
    /// Events of which neither is known: they may exist.
    pub unknown: Option<Graded>,
    /// Handings-over to handlers of consumers.
    pub deliveries: Option<Graded>,
    /// Changes of the domain, by event and destination.
    pub effects: Option<Graded>,
    /// Of these, beyond the first for an event and destination.
    pub duplicates: Option<Graded>,
    /// Copies that were set apart because their fingerprint is another one.
    pub conflicts: Option<Graded>,
    /// Distinct events that ever had a dead letter.
    pub dead_letters_ever: Option<Graded>,
    /// Distinct events whose dead letter still waits.
    pub dead_letters_unresolved: Option<Graded>,
    /// Events by destination that would be handed out again.
    pub backlog: Option<Graded>,
    /// Events by destination that nothing would bring back.
    pub lost: Option<Graded>,
    /// Published events by destination without an effect, whatever became of them.
    pub unresolved: Option<Graded>,
}

/// Ages in milliseconds by the runner's clock; absent where nothing of the kind happened.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ages {
    /// Longest time from the first to the last handing-over of one event.
    pub retry_ms: Option<u64>,
    /// Longest time from a dead letter's publication to its redrive.
    pub dlq_ms: Option<u64>,
    /// Longest time from an effect's commit to its acknowledgement's return.
    pub ack_latency_ms: Option<u64>,
}

/// One fault with its receipt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultReport {
    pub id: String,
    pub kind: String,
    pub trigger: String,
    pub target: String,
    pub landed: bool,
    /// The proof in one sentence.
    pub receipt: String,
    /// Absent for faults that do not heal.
    pub healed: Option<bool>,
}

/// One control: was the defect caught by the check that it names, on the events that it strikes?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlReport {
    pub id: String,
    pub defect: Defect,
    pub caught: bool,
    pub caught_by: String,
    /// Why it was caught, or why not.
    pub reason: String,
    pub finding: Option<Finding>,
    pub history: String,
}

/// A known issue that is declared for the versions of a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownReport {
    /// Wire name of the check that it is about.
    pub check: String,
    /// `client pulsar`, `server kafka`.
    pub of: String,
    /// The range, as it is declared.
    pub versions: String,
    /// The version that is inside it: the attested one where it is known.
    pub version: String,
    pub reason: String,
    pub url: String,
    /// The last day, UTC, on which it is accepted.
    pub expires: String,
    pub occurs: Occurs,
    pub status: KnownStatus,
}

/// What became of a known issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KnownStatus {
    /// The check is violated, as declared.
    Shown,
    /// The check is violated, and the run was started after the last day.
    Expired,
    /// The check holds.
    NotShown,
    /// The evidence says neither.
    Undecided,
}

/// A check that was declared for some versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectationReport {
    /// Wire name of the check.
    pub check: String,
    /// `client pulsar`, `server kafka`.
    pub of: String,
    /// The range, as it is declared.
    pub versions: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryRef {
    pub unit: String,
    pub path: String,
    pub sha256: String,
}

/// Numbers of cells by outcome, and of controls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    pub cells: u64,
    pub pass: u64,
    pub fail: u64,
    pub inconclusive: u64,
    pub known: u64,
    pub unsupported: u64,
    pub controls: u64,
    pub controls_caught: u64,
}
