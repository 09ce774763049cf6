//! The vocabulary of suite files: what a person writes, before anything is resolved.
//! YAML comes in through `suite::load`; spanned, typed files come out, nothing filled in silently.
//! It must never resolve a reference or know a version: that is for `validate` and `plan`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::handler::{Behaviour, HandlerRule};
use super::schema::{CapabilityName, ClauseId, Id, Keyed, PatternName, Scalar, Word};
use crate::checks::CheckSpec;

use super::change::ControlSpec;
use crate::faults::FaultSpec;
use crate::names::{BrokerKind, Level, Role};
use crate::suite::compose::{Combination, FragmentsFile};
use crate::suite::deviations::{ExpectFor, KnownSpec};
use crate::suite::repeat::RepeatSpec;

pub use super::workload::{Again, AgainPayload, RawPayload, Workload};

/// A suite file: scenarios about one property.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuiteFile {
    /// Says that this file is a suite.
    pub kind: SuiteKind,
    /// The property that all scenarios of this file show: a word of the author's, first in ids.
    #[schemars(with = "Id")]
    pub property: Spanned<String>,
    /// Files of fragments, relative to this one; their anchors are known here.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub include: Vec<FragmentsFile>,
    /// Variables of all scenarios of this file.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub vars: BTreeMap<String, String>,
    /// The stories.
    #[schemars(with = "Vec<Scenario>")]
    pub scenarios: Vec<Spanned<Scenario>>,
}

/// Marker: `kind: suite`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuiteKind {
    /// Scenarios about one property.
    Suite,
}

/// One story, for every broker that it names.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name inside the property; the full id is `property/id`.
    #[schemars(with = "Id")]
    pub id: Spanned<String>,
    /// One line for tables.
    #[schemars(length(min = 1))]
    pub title: String,
    /// The story in words, for reports.
    #[schemars(length(min = 1))]
    pub about: String,
    /// Clauses of the delivery contract that it shows, for example `ACK-3`.
    #[schemars(with = "Vec<ClauseId>")]
    pub clauses: Vec<Spanned<String>>,
    /// How much rests on it.
    pub level: Level,
    /// The brokers that it is run on, each in a cell of its own.
    pub brokers: Vec<BrokerKind>,
    /// Capabilities that the client must have; the cell is unsupported where one is lacking.
    #[serde(default)]
    #[schemars(with = "Vec<CapabilityName>")]
    pub needs: Vec<Spanned<String>>,
    /// Topics, and who reads them.
    pub topology: Topology,
    /// What is published.
    pub workload: Workload,
    /// The processes of the story, by name.
    #[schemars(with = "BTreeMap<Id, WorkerSpec>")]
    pub workers: BTreeMap<String, Spanned<WorkerSpec>>,
    /// The stretches of the story, one after the other.
    #[schemars(with = "Vec<Phase>")]
    pub phases: Vec<Spanned<Phase>>,
    /// What goes wrong; each leaves a receipt that it did.
    #[serde(default)]
    #[schemars(with = "Vec<FaultSpec>")]
    pub faults: Vec<Spanned<FaultSpec>>,
    /// What must hold at the end; beside them some rules always apply.
    #[schemars(with = "Vec<CheckSpec>")]
    pub checks: Vec<Spanned<CheckSpec>>,
    /// When the unit is given up.
    pub limits: Limits,
    /// How often the story is told, and in how many of the runs it must hold; once if left out.
    #[serde(default)]
    pub repeat: Option<RepeatSpec>,
    /// A hazard scenario shows an expected loss; it passes as *hazard shown*.
    #[serde(default)]
    pub hazard: bool,
    /// Deliberate defects that a named check must catch: without them a pass proves nothing.
    #[schemars(with = "Vec<ControlSpec>")]
    pub controls: Vec<Spanned<ControlSpec>>,
    /// Deviations that are known: they show as `known`, and everything else still fails.
    #[serde(default)]
    pub known: Vec<KnownSpec>,
    /// Other expectations in some versions of a client or server.
    #[serde(default)]
    pub expect_for: Vec<ExpectFor>,
    /// Variables of this scenario, filled in where `${name}` stands; they go before the file's.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub vars: BTreeMap<String, String>,
    /// Axes: every combination of their values is a scenario of its own.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Vec<Scalar>>")]
    pub matrix: BTreeMap<String, Vec<String>>,
    /// Which of the combinations this one is; not written by people.
    #[serde(skip)]
    pub combination: Option<Combination>,
}

/// Topics and who reads them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Partitions of every topic (Pulsar: 1 means a topic without partitions).
    #[schemars(range(min = 1, max = 64))]
    pub partitions: u32,
    /// Who must have its own effect, by name: a Pulsar subscription or a Kafka consumer group.
    #[schemars(with = "BTreeMap<Id, Destination>")]
    pub destinations: BTreeMap<String, Destination>,
    /// The topic for what cannot be handled; none unless it is named.
    #[serde(default)]
    pub dead_letter: Option<DeadLetterTopology>,
    /// Settings of the server beside the fast defaults, by broker and by the server's own names.
    /// Units with the same settings share a server.
    #[serde(default)]
    #[schemars(with = "Keyed<BrokerKind, BTreeMap<String, Scalar>>")]
    pub server: BTreeMap<BrokerKind, BTreeMap<String, String>>,
    /// Settings of what the unit owns: on Kafka of its topics, by name (`retention.ms`); on Pulsar
    /// of its namespace, by policy of the admin API with its JSON (`deduplication`: `true`).
    #[serde(default)]
    #[schemars(with = "Keyed<BrokerKind, BTreeMap<String, Scalar>>")]
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Destination {
    /// Pulsar's subscription type; Kafka groups have none.
    pub subscription: SubscriptionType,
}

/// Pulsar's subscription types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionType {
    /// One consumer at a time; a second one is refused.
    Exclusive,
    /// One consumer at a time; another one stands by and takes over.
    Failover,
    /// Messages are spread over all consumers.
    Shared,
    /// Messages are spread over all consumers, those of one key to one consumer at a time.
    KeyShared,
}

/// Which parts of the dead letter topic exist before the first message.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLetterTopology {
    /// Whether the dead letter topic is made.
    pub topic: Presence,
    /// The subscription (or group) of the redriver on it.
    pub subscription: Presence,
    /// Partitions of the dead letter topic; as many as the source has if left out.
    #[serde(default)]
    #[schemars(range(min = 1, max = 64))]
    pub partitions: Option<u32>,
}

/// Whether a piece of topology is made when the cell is provisioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Presence {
    /// It is there before the first message.
    Created,
    /// It is not there unless something makes it.
    Absent,
}

/// One worker: a separate process, or several alike.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerSpec {
    /// What it does for the story.
    pub role: Role,
    /// How it handles an event, for example `inbox`; producers have none.
    #[serde(default)]
    #[schemars(with = "Option<PatternName>")]
    pub pattern: Option<String>,
    /// The destination that a consumer serves.
    #[serde(default)]
    #[schemars(with = "Option<Id>")]
    pub destination: Option<String>,
    /// How many processes of it run side by side, named `name-1`, `name-2`, …
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub count: u32,
    /// Client options by broker, verbatim as the client names them.
    #[serde(default)]
    #[schemars(with = "Keyed<BrokerKind, BTreeMap<String, Scalar>>")]
    pub options: BTreeMap<BrokerKind, BTreeMap<String, String>>,
    /// Options of one client library alone, by its name: beside those of its broker, or in their
    /// place. Clients differ in what they can be told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<Word, BTreeMap<String, Scalar>>")]
    pub client_options: BTreeMap<String, BTreeMap<String, String>>,
    /// What its handler does with some of the events beside its pattern (a *fix* is another worker
    /// that has no such rule).
    #[serde(default)]
    pub handler: Vec<HandlerRule>,
    /// Which part of the workload a producer publishes; all of it if left out.
    #[serde(default)]
    pub publishes: Option<Share>,
    /// How a consumer gets rid of what it cannot handle; it never does unless this is given.
    #[serde(default)]
    pub dead_letter: Option<DeadLetterSpec>,
    /// How a redriver works through the dead letters; redrivers need it, nobody else has it.
    #[serde(default)]
    pub redrive: Option<RedriveSpec>,
}

/// A part of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Every event once.
    Once,
    /// The second publications (`workload.again`) alone.
    Again,
}

fn one() -> u32 {
    1
}

impl WorkerSpec {
    /// Whether a rule of its handler lets a process of it end itself.
    pub fn may_crash(&self) -> bool {
        self.handler.iter().any(|rule| rule.does == Behaviour::Crash)
    }
}

/// How a consumer gets rid of what it cannot handle.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeadLetterSpec {
    /// Who publishes the dead letter.
    pub mode: DeadLetterMode,
    /// Handings-over to the handler before the letter is dead.
    #[schemars(range(min = 1, max = 1000))]
    pub max_deliveries: u32,
    /// What follows when the dead letter cannot be published.
    pub on_failure: OnDeadLetterFailure,
}

/// Who publishes the dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeadLetterMode {
    /// The client's own policy.
    Client,
    /// The worker, with the full envelope.
    Application,
}

/// What a consumer does when the dead letter cannot be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnDeadLetterFailure {
    /// The source is not acknowledged, and the event comes again.
    Retry,
    /// Wrong on purpose: logs the failure and acknowledges the source.
    LogAndAck,
}

/// How a redriver works through the dead letters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedriveSpec {
    /// Letters of the first batch, whose effects are checked before the rest follows.
    #[schemars(range(min = 1, max = 100_000))]
    pub pilot: u32,
    /// Letters a second after the pilot.
    #[schemars(range(min = 1, max = 100_000))]
    pub rate_per_s: u32,
}

/// A stretch of the story: who starts, what is waited for, who stops.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Name of the phase, for reports and for what refers to it.
    #[schemars(with = "Id")]
    pub name: String,
    /// Workers that are started at its beginning.
    #[serde(default)]
    #[schemars(with = "Vec<Id>")]
    pub start: Vec<String>,
    /// What ends the phase.
    pub until: Until,
    /// Workers that are stopped in good order at its end.
    #[serde(default)]
    #[schemars(with = "Vec<Id>")]
    pub stop: Vec<String>,
}

/// What ends a phase; every condition has the unit's deadline.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
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
    /// Every process of this consumer is ready, and on Kafka each of them has partitions: nothing
    /// published from here on meets a group that is still sharing them out.
    Assigned(#[schemars(with = "Id")] String),
    /// This worker (all of its processes) has ended by itself.
    Exited(#[schemars(with = "Id")] String),
    /// Every fault that is triggered by a point has been injected.
    FaultsDone,
    /// This fault has been triggered: its worker stands at the point, with the event.
    Triggered(#[schemars(with = "Id")] String),
}

/// Bounds; none has a default, because each decides what a run proves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Seconds until the whole unit is given up.
    #[schemars(range(min = 1, max = 3600))]
    pub deadline_s: u32,
    /// Handings-over to handlers, all workers together, after which it counts as a hot loop.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub deliveries: u64,
}
