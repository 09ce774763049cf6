//! Brokers as the observer knows them: provision, observe, administer, attest.
//! Logical topics and destinations of one unit come in; facts of the evidence vocabulary come out.
//! An adapter must never publish, join a worker's group, commit, or keep a durable cursor anywhere.

#[cfg(feature = "servers")]
mod adapters;
#[cfg(feature = "servers")]
mod bounded;
#[cfg(feature = "servers")]
pub mod kafka;
#[cfg(feature = "servers")]
pub mod pulsar;

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::evidence::cursor::Cursor;
use crate::evidence::event::{LogEntry, TopicCounts};
use crate::faults::admin::AdminAction;
use crate::faults::withhold::Piece;
use crate::names::{BrokerKind, Grade, TopicRole};
use crate::suite::model::Topology;

#[cfg(feature = "servers")]
pub use adapters::{BadSetting, connect, server_spec};

/// Property (Pulsar) or header (Kafka) in which workers carry the event's id.
pub const EVENT_ID: &str = "ce_id";

/// Physical names of what one unit owns on a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitNames {
    /// Kafka: `<prefix>-orders`; Pulsar: `public/<prefix>/orders`, no scheme, no partition suffix.
    pub source: String,
    /// Kafka: `<source>.DLT`; Pulsar: `<source>-<subscription>-DLQ`.
    pub dead_letter: String,
    /// Group or subscription by destination.
    pub destinations: BTreeMap<String, String>,
    /// Group or subscription of the redriver on the dead letter topic.
    pub redriver: String,
}

impl UnitNames {
    /// The physical topic of a role.
    pub fn topic(&self, role: TopicRole) -> &str {
        match role {
            TopicRole::Source => &self.source,
            TopicRole::DeadLetter => &self.dead_letter,
        }
    }
}

/// Who answered which version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    pub version: String,
    pub grade: Grade,
    pub artifact: Option<String>,
    pub plausibility: Option<String>,
}

/// An answer of a broker to something that was asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The broker's own words, shortened.
    pub text: String,
    /// Whether what was asked for (or what was to be proven) is so.
    pub holds: bool,
}

/// What could not be found out; never a verdict.
#[derive(Debug, thiserror::Error)]
#[error("{broker}: cannot {what}: {detail}")]
pub struct BrokerError {
    pub broker: BrokerKind,
    pub what: String,
    pub detail: String,
}

/// The observer's port to one running broker. Every call is bounded by a client timeout of 10 s at
/// most (`read_log`: 60 s), may be repeated, and may be made from several tasks at once.
#[async_trait]
pub trait Broker: Send + Sync {
    fn kind(&self) -> BrokerKind;

    /// Names for a unit; `prefix` is unique in the run and safe in every name.
    fn names(&self, prefix: &str, topology: &Topology) -> UnitNames;

    /// One try of the readiness probe: create, produce and consume where units will, then remove.
    async fn probe_ready(&self) -> Result<(), BrokerError>;

    /// The version that answers; `artifact` is the output of the server's attest command.
    async fn attest(&self, artifact: Option<&str>) -> Result<Attestation, BrokerError>;

    /// Creates topics and subscriptions as the topology says, and nothing that it withholds.
    async fn provision(&self, names: &UnitNames, topology: &Topology) -> Result<(), BrokerError>;

    /// Creates a piece that was withheld.
    async fn create(
        &self,
        names: &UnitNames,
        topology: &Topology,
        piece: Piece,
    ) -> Result<Answer, BrokerError>;

    /// Proves that a piece is absent.
    async fn absent(&self, names: &UnitNames, piece: Piece) -> Result<Answer, BrokerError>;

    /// Where a destination stands in a topic; `group` is the physical group or subscription.
    async fn cursor(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        group: &str,
    ) -> Result<Cursor, BrokerError>;

    /// Messages that the group still has to acknowledge in the topic (exact, not an estimate).
    async fn backlog(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        group: &str,
    ) -> Result<u64, BrokerError>;

    /// Counters and subscriptions of a topic. `why` is filled in by the caller (as `During`).
    async fn counts(&self, names: &UnitNames, topic: TopicRole)
    -> Result<TopicCounts, BrokerError>;

    /// Every message that the topic still holds, in log order; an absent topic is an empty log.
    async fn read_log(
        &self,
        names: &UnitNames,
        topic: TopicRole,
    ) -> Result<Vec<LogEntry>, BrokerError>;

    /// Does what an administrator would do and says what the broker answered.
    async fn administer(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        action: AdminAction,
    ) -> Result<Answer, BrokerError>;

    /// Removes everything that the unit owns.
    async fn remove(&self, names: &UnitNames) -> Result<(), BrokerError>;
}
