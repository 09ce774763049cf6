//! The plan: suites × pins × filter, resolved into cells and units with nothing optional left.
//! Validated suites, pins and the command line come in; a `Plan` comes out that a run only obeys.
//! It must never look at a server or a clock: the same input gives the same plan, byte for byte.

mod baseline;
mod build;
mod clients;
mod deviation;
mod filter;
mod request;
mod shard;
mod slot;
mod unit;
mod waits;

#[cfg(test)]
mod deviation_tests;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::checks::{CheckSpec, PinSubject, Scope};
use crate::faults::FaultSpec;
use crate::names::{BrokerKind, EventSet, Level, ServerKind};
use crate::suite::change::Defect;
use crate::suite::deviations::Occurs;
use crate::suite::manifest::Lack;
use crate::suite::model::{Limits, Phase, Topology, WorkerSpec, Workload};
use crate::suite::versions::VersionRange;

pub use build::build;
pub use request::{Request, Subjects, scenarios};

/// Logical name of the redriver's subscription or group on the dead letter topic.
pub const REDRIVER: &str = "redriver";

/// Version of the plan document; a reader refuses any other.
pub const PLAN_VERSION: u32 = 2;

/// Everything that a run will do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub version: u32,
    /// SHA-256 over the suite files that were used, in the order of their paths.
    pub suite_hash: String,
    pub seed: u64,
    pub profile: String,
    /// What `--without` took away: with an entry, the profile is only partly shown.
    pub left_out: Vec<LeftOut>,
    pub cells: Vec<Cell>,
    pub units: Vec<Unit>,
}

impl Plan {
    /// The part of a plan that gives these cells their outcomes.
    pub fn only(mut self, cells: &BTreeSet<String>) -> Self {
        self.cells.retain(|cell| cells.contains(&cell.id));
        let mut needed = BTreeSet::new();
        for cell in &self.cells {
            needed.extend(cell.subjects().chain([&cell.baseline]));
            needed.extend(cell.controls.iter().map(|control| &control.unit));
        }
        self.units.retain(|unit| needed.contains(&unit.id));
        self
    }
}

/// Cells that are missing on purpose, because something that they need is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// The word after `--without`.
    pub word: String,
    pub cells: Vec<String>,
}

/// One scenario on one server pin with one client: what gets an outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// Stable id: `property/scenario@broker-pin+client-version`, with `#2` for the second time.
    pub id: String,
    /// `property/scenario`.
    pub scenario: String,
    pub title: String,
    pub about: String,
    pub property: String,
    /// Variables and axes of the scenario with their values here; empty for most.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
    pub clauses: Vec<String>,
    pub level: Level,
    pub hazard: bool,
    pub broker: BrokerKind,
    pub server_pin: String,
    pub database_pin: String,
    pub client: ClientPin,
    /// Who publishes, where that is another client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<ClientPin>,
    /// Name of the worker manifest.
    pub worker: String,
    /// Pattern of the consumer under test.
    pub pattern: String,
    /// How dead letters are published, if they are: `client` or `application`.
    pub dead_letter_mode: Option<String>,
    /// Unit with the real worker.
    pub subject: String,
    /// The story is told more than once, and judged as a rate; not so for most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    pub controls: Vec<ControlRef>,
    /// Unit without any fault on the same server and client.
    pub baseline: String,
    /// Set where the client or broker lacks a capability; then no unit is run.
    pub unsupported: Option<Lack>,
    /// `--only-controls`: the subject is a control, so no control of its own can be asked for.
    pub only_control: bool,
    /// Deviations that may show here, by the pins.
    pub known: Vec<KnownIssue>,
    /// Which of the subject's checks are the ones for these versions.
    pub expectations: Vec<Expectation>,
}

impl Cell {
    /// The units with the real worker, in the order of their runs.
    pub fn subjects(&self) -> impl Iterator<Item = &String> + Clone {
        let others = self.rate.iter().flat_map(|rate| &rate.others);
        std::iter::once(&self.subject).chain(others)
    }
}

/// What a story that is told several times comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The units beside the subject that tell the same story, each with a seed of its own.
    pub others: Vec<String>,
    /// In how many of all of them every check must hold.
    pub at_least: u32,
}

/// A deviation that everybody knows about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownIssue {
    /// Wire name of the check that is violated.
    pub check: String,
    pub of: PinSubject,
    pub versions: VersionRange,
    pub reason: String,
    pub url: String,
    /// The last day, UTC, on which it is accepted.
    pub expires: Date,
    pub occurs: Occurs,
}

/// A check that was declared for some versions, in the place of the scenario's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Wire name of the check.
    pub check: String,
    pub of: PinSubject,
    pub versions: VersionRange,
}

/// The client library that a cell's workers use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPin {
    pub library: String,
    pub version: String,
}

/// A client that publishes for the workers of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProducerPin {
    pub client: ClientPin,
    /// Name of its worker's manifest.
    pub manifest: String,
}

/// A control that a cell refers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlRef {
    pub id: String,
    pub defect: Defect,
    pub unit: String,
    /// Wire name of the check that must fail.
    pub caught_by: String,
    /// The events on which it must fail.
    pub strikes: EventSet,
}

/// What a unit is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitKind {
    Subject,
    Control(String),
    Baseline,
}

/// One story run once: it has one history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Stable id, also the name of its history file.
    pub id: String,
    pub kind: UnitKind,
    pub broker: BrokerKind,
    pub server: ServerKey,
    pub database: ServerKey,
    pub lease: LeaseKind,
    pub worker_manifest: String,
    /// Who publishes, where that is another client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub producer: Option<ProducerPin>,
    pub seed: u64,
    pub topology: Topology,
    pub workload: Workload,
    pub workers: BTreeMap<String, WorkerSpec>,
    pub phases: Vec<Phase>,
    pub faults: Vec<FaultSpec>,
    pub checks: Vec<CheckSpec>,
    pub limits: Limits,
    pub scope: Scope,
    pub waits: Vec<ComputedWait>,
}

impl Unit {
    /// Names of the manifests whose programs it starts.
    pub fn manifests(&self) -> impl Iterator<Item = &String> {
        let producer = self.producer.iter().map(|producer| &producer.manifest);
        std::iter::once(&self.worker_manifest).chain(producer)
    }
}

/// Which server a unit needs; units with the same key may share one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerKey {
    pub kind: ServerKind,
    pub pin: String,
    /// Server settings beside the fast defaults, by the server's own names.
    pub settings: BTreeMap<String, String>,
}

/// How a unit holds its broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseKind {
    Shared,
    Exclusive,
    Disposable,
}

/// A wait that the configured timers force, however fast the machine is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputedWait {
    pub what: String,
    pub ms: u64,
}
