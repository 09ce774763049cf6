//! The vocabulary of suite files: what a person writes, before anything is resolved.
//! YAML comes in through `suite::load`; spanned, typed files come out, nothing filled in silently.
//! It must never resolve a reference or know a version: that is for `validate` and `plan`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_saphyr::Spanned;

use super::handler::HandlerRule;
use crate::checks::CheckSpec;
use crate::faults::stall::StallEnd;
use crate::faults::{EventRef, FaultSpec};
use crate::names::{BrokerKind, EventSet, Level, Point, Role};
use crate::suite::compose::{Combination, FragmentsFile};
use crate::suite::deviations::{ExpectFor, KnownSpec};

/// A suite file: scenarios about one property.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    pub kind: SuiteKind,
    /// The property that all scenarios of this file show; the folder under `suites/` has its name.
    pub property: Spanned<String>,
    /// Files of fragments, relative to this one; their anchors are known here.
    #[serde(default)]
    pub include: Vec<FragmentsFile>,
    /// Variables of all scenarios of this file.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    pub scenarios: Vec<Spanned<Scenario>>,
}

/// Marker: `kind: suite`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SuiteKind {
    Suite,
}

/// One story, for every broker that it names.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name inside the property; the full id is `property/id`.
    pub id: Spanned<String>,
    /// One line for tables.
    pub title: String,
    /// The story in words, for reports.
    pub about: String,
    /// Clauses of the delivery contract that it shows, for example `ACK-3`.
    pub clauses: Vec<Spanned<String>>,
    pub level: Level,
    pub brokers: Vec<BrokerKind>,
    /// Capabilities that the client must have; the cell is unsupported where one is lacking.
    #[serde(default)]
    pub needs: Vec<Spanned<String>>,
    pub topology: Topology,
    pub workload: Workload,
    pub workers: BTreeMap<String, Spanned<WorkerSpec>>,
    pub phases: Vec<Spanned<Phase>>,
    #[serde(default)]
    pub faults: Vec<Spanned<FaultSpec>>,
    pub checks: Vec<Spanned<CheckSpec>>,
    pub limits: Limits,
    /// A hazard scenario shows an expected loss; it passes as *hazard shown*.
    #[serde(default)]
    pub hazard: bool,
    pub controls: Vec<Spanned<ControlSpec>>,
    /// Deviations that are known: they show as `known`, and everything else still fails.
    #[serde(default)]
    pub known: Vec<KnownSpec>,
    /// Other expectations in some versions of a client or server.
    #[serde(default)]
    pub expect_for: Vec<ExpectFor>,
    /// Variables of this scenario, filled in where `${name}` stands; they go before the file's.
    #[serde(default)]
    pub vars: BTreeMap<String, String>,
    /// Axes: every combination of their values is a scenario of its own.
    #[serde(default)]
    pub matrix: BTreeMap<String, Vec<String>>,
    /// Which of the combinations this one is; not written by people.
    #[serde(skip)]
    pub combination: Option<Combination>,
}

/// Topics and who reads them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Partitions of every topic (Pulsar: 1 means a topic without partitions).
    pub partitions: u32,
    /// Who must have its own effect, by name: a Pulsar subscription or a Kafka consumer group.
    pub destinations: BTreeMap<String, Destination>,
    #[serde(default)]
    pub dead_letter: Option<DeadLetterTopology>,
    /// Settings of the server beside the fast defaults, by broker and by the server's own names.
    /// Units with the same settings share a server.
    #[serde(default)]
    pub server: BTreeMap<BrokerKind, BTreeMap<String, String>>,
    /// Settings of what the unit owns: on Kafka of its topics, by name (`retention.ms`); on Pulsar
    /// of its namespace, by policy of the admin API with its JSON (`deduplication`: `true`).
    #[serde(default)]
    pub settings: BTreeMap<BrokerKind, BTreeMap<String, String>>,
}

impl Topology {
    /// Partitions of the dead letter topic, once there is one.
    pub fn dead_letter_partitions(&self) -> u32 {
        let own = self.dead_letter.as_ref().and_then(|letters| letters.partitions);
        own.unwrap_or(self.partitions)
    }

    /// Settings of what the unit owns on this broker.
    pub fn settings_of(&self, broker: BrokerKind) -> impl Iterator<Item = (&str, &str)> {
        let own = self.settings.get(&broker).into_iter().flatten();
        own.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// A subscription or consumer group.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Destination {
    /// Pulsar's subscription type; Kafka groups have none.
    pub subscription: SubscriptionType,
}

/// Pulsar's subscription types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionType {
    Exclusive,
    Failover,
    Shared,
    KeyShared,
}

/// Which parts of the dead letter topic exist before the first message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct DeadLetterTopology {
    pub topic: Presence,
    /// The subscription (or group) of the redriver on it.
    pub subscription: Presence,
    /// Partitions of the dead letter topic; as many as the source has if left out.
    #[serde(default)]
    pub partitions: Option<u32>,
}

/// Whether a piece of topology is made when the cell is provisioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    Created,
    Absent,
}

/// What is published.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// How many events; they are named `e-0001`, `e-0002`, …
    pub events: u32,
    /// How many different keys they are spread over, round robin.
    pub keys: u32,
    /// Least size of a payload in bytes (JSON, padded).
    pub payload_bytes: u32,
    /// Ordinals (from 1) of the events that handlers can be told to fail on.
    #[serde(default)]
    pub poison: Vec<u32>,
    /// Events that are published once more under the same id, after all of the others.
    #[serde(default)]
    pub again: Vec<Again>,
}

/// A second publication of an event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Again {
    /// Ordinal of the event, from 1.
    pub event: u32,
    pub payload: AgainPayload,
}

/// What a second publication carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AgainPayload {
    /// The same bytes: a duplicate.
    Same,
    /// Another amount under the same id: a conflict.
    Other,
}

/// One worker: a separate process, or several alike.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    pub role: Role,
    /// How it handles an event, for example `inbox`; producers have none.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The destination that a consumer serves.
    #[serde(default)]
    pub destination: Option<String>,
    /// How many processes of it run side by side, named `name-1`, `name-2`, …
    #[serde(default = "one")]
    pub count: u32,
    /// Client options by broker, verbatim as the client names them.
    #[serde(default)]
    pub options: BTreeMap<BrokerKind, BTreeMap<String, String>>,
    /// What its handler does with some of the events beside its pattern (a *fix* is another worker
    /// that has no such rule).
    #[serde(default)]
    pub handler: Vec<HandlerRule>,
    #[serde(default)]
    pub dead_letter: Option<DeadLetterSpec>,
    #[serde(default)]
    pub redrive: Option<RedriveSpec>,
}

fn one() -> u32 {
    1
}

/// How a consumer gets rid of what it cannot handle.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct DeadLetterSpec {
    pub mode: DeadLetterMode,
    /// Handings-over to the handler before the letter is dead.
    pub max_deliveries: u32,
    pub on_failure: OnDeadLetterFailure,
}

/// Who publishes the dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetterMode {
    /// The client's own policy.
    Client,
    /// The worker, with the full envelope.
    Application,
}

/// What a consumer does when the dead letter cannot be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnDeadLetterFailure {
    Retry,
    /// Wrong on purpose: logs the failure and acknowledges the source.
    LogAndAck,
}

/// How a redriver works through the dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct RedriveSpec {
    /// Letters of the first batch, whose effects are checked before the rest follows.
    pub pilot: u32,
    /// Letters a second after the pilot.
    pub rate_per_s: u32,
}

/// A stretch of the story: who starts, what is waited for, who stops.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    pub name: String,
    #[serde(default)]
    pub start: Vec<String>,
    pub until: Until,
    #[serde(default)]
    pub stop: Vec<String>,
}

/// What ends a phase; every condition has the unit's deadline.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// Every workload event is confirmed and acknowledged for every destination.
    Drained,
    /// The broker counts one dead letter for each poison event at least.
    DeadLettered,
    /// The publication of a dead letter was refused, and the worker said so.
    DeadLetterRefused,
    /// Nothing is left on the dead letter topic for the redriver, and the source is drained.
    Redriven,
    /// This worker (all of its processes) has ended by itself.
    Exited(String),
    /// Every fault that is triggered by a point has been injected.
    FaultsDone,
}

/// Bounds; none has a default, because each decides what a run proves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Seconds until the whole unit is given up.
    pub deadline_s: u32,
    /// Handings-over to handlers, all workers together, after which it counts as a hot loop.
    pub deliveries: u64,
}

/// A deliberate defect that a named check must catch.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct ControlSpec {
    pub id: String,
    pub defect: Defect,
    /// Wire name of the check that must fail, for example `effects`.
    pub caught_by: String,
    /// The events on which it must fail.
    #[serde(default = "struck")]
    pub strikes: EventSet,
    pub change: Change,
    /// Only on these brokers; all of the scenario's if empty.
    #[serde(default)]
    pub brokers: Vec<BrokerKind>,
}

fn struck() -> EventSet {
    EventSet::Struck
}

/// The three kinds of controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    WrongWorker,
    WrongSetting,
    WrongExpectation,
}

/// What a control overrides.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    #[serde(default)]
    pub workers: BTreeMap<String, WorkerChange>,
    /// Another point or end for a fault, by fault id.
    #[serde(default)]
    pub faults: BTreeMap<String, FaultChange>,
    #[serde(default)]
    pub dead_letter: Option<DeadLetterTopology>,
    /// Other expectations; they replace the checks of the same kind.
    #[serde(default)]
    pub checks: Vec<CheckSpec>,
}

/// Overrides of one worker.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerChange {
    #[serde(default)]
    pub pattern: Option<String>,
    /// Other rules for its handler, in place of all that it has.
    #[serde(default)]
    pub handler: Option<Vec<HandlerRule>>,
    #[serde(default)]
    pub on_dead_letter_failure: Option<OnDeadLetterFailure>,
}

/// Overrides of one fault.
#[derive(Debug, Clone, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct FaultChange {
    /// Another point for a fault that a point triggers.
    #[serde(default)]
    pub at: Option<Point>,
    /// Another event for it.
    #[serde(default)]
    pub event: Option<EventRef>,
    /// Another end for a stall.
    #[serde(default)]
    pub until: Option<StallEnd>,
}
