//! Checks: rules over a sealed history, one a file, pure.
//! A `CheckSpec` and a `History` come in; a `Finding` with `examined`, expected and observed comes out.
//! A check must never reach a broker, a clock or another check, and never pass on nothing examined.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::evidence::History;
use crate::faults::FaultSpec;
use crate::names::{Grade, ServerKind};

pub mod conserved;
pub mod dead_letters;
pub mod deliveries;
pub mod drained;
pub mod effects;
pub mod not_advanced;
pub mod overlap;
pub mod redrive_known;
pub mod unretained;
pub mod within_limit;

/// What a check says about a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Wire name of the check.
    pub check: String,
    pub result: FindingResult,
    /// How many things were looked at; zero never holds.
    pub examined: u64,
    /// What was expected, as a sentence.
    pub expected: String,
    /// What was observed, as a sentence with numbers.
    pub observed: String,
    /// The events that break the rule (or that could not be decided), all of them.
    pub events: BTreeSet<String>,
    /// The weakest evidence that it rests on.
    pub grade: Grade,
}

/// The three answers of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingResult {
    Violated,
    Indeterminate,
    Holds,
}

/// A rule over a history. Pure: the same history gives the same finding, today and from disk.
pub trait Check {
    /// Wire name, the same as in YAML.
    fn name(&self) -> &'static str;
    /// The rule applied.
    fn examine(&self, history: &History, scope: &Scope) -> Finding;
}

/// What a check may know beside the history: what the plan says about this unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Destinations of the source topic, each of which must have its own effects.
    pub destinations: BTreeSet<String>,
    /// The redriver's subscription or group on the dead letter topic, if there is one.
    pub redriver: Option<String>,
    /// The configured ack timeout of the consumers in milliseconds, if one is configured.
    pub ack_timeout_ms: Option<u64>,
    /// The scenario says that everything is acknowledged at its end.
    pub drained: bool,
    /// Every fault must have left a receipt.
    pub faults: Vec<FaultSpec>,
    /// Who must have attested which version.
    pub pins: Vec<Pin>,
    /// Handings-over after which it counts as a hot loop.
    pub delivery_cap: u64,
}

/// Something whose version the plan pins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    pub subject: PinSubject,
    /// A full version, or a major that any version of it satisfies (`17`).
    pub version: String,
}

/// What a pin is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PinSubject {
    Server(ServerKind),
    /// The client library of every worker process of the unit.
    Client(String),
}

/// How often something may be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    Exactly(u64),
    AtLeast(u64),
    AtMost(u64),
}

/// One rule of a scenario, by kind. Adding a check is one file and one line here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckSpec {
    /// Effects per event and destination in the audit table.
    Effects(effects::EffectsSpec),
    /// Handings-over per event, supported by the broker.
    Deliveries(deliveries::DeliveriesSpec),
    /// Nothing is left: every confirmed message is acknowledged for every destination.
    Drained(drained::DrainedSpec),
    /// Every event has a disposition for every destination; none is lost.
    Conserved(conserved::ConservedSpec),
    /// Dead letters: which ids, how many copies, byte for byte.
    DeadLetters(dead_letters::DeadLettersSpec),
    /// Hazard: dead letters that were published and are not retained.
    Unretained(unretained::UnretainedSpec),
    /// Two processes were in the same event at once, by the database's own word.
    Overlap(overlap::OverlapSpec),
    /// While a fault stood, the broker's cursor did not pass these events.
    NotAdvanced(not_advanced::NotAdvancedSpec),
    /// Every redriven letter is recorded, and after the interruption it was known how far it came.
    RedriveKnown(redrive_known::RedriveKnownSpec),
    /// The handling of an event ended inside the ack timeout, by a margin.
    WithinLimit(within_limit::WithinLimitSpec),
}
