//! The words every other module shares: brokers, points, event sets, positions, outcomes.
//! It takes text and gives closed enums, so that YAML, histories and reports spell them alike.
//! It must never import another module of this crate, nor know a clock, a file or a network.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Properties of a message by name (Pulsar properties, Kafka headers), as text.
pub type Properties = BTreeMap<String, String>;

/// A message broker that `ackproof` can start and observe.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BrokerKind {
    /// Apache Kafka: a destination is a consumer group, an ACK is a committed offset.
    Kafka,
    /// Apache Pulsar: a destination is a subscription, and each message has its own ACK.
    Pulsar,
}

/// A server that a plan pins: a broker, or the database behind the workers.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    /// Apache Kafka, a broker.
    Kafka,
    /// Apache Pulsar, a broker.
    Pulsar,
    /// PostgreSQL, the database in which workers have their effects.
    Postgres,
}

impl From<BrokerKind> for ServerKind {
    fn from(kind: BrokerKind) -> Self {
        match kind {
            BrokerKind::Kafka => Self::Kafka,
            BrokerKind::Pulsar => Self::Pulsar,
        }
    }
}

/// A named moment in a worker's handling of one event; only *armed* points suspend the handler.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    /// The client has handed the message to the handler; nothing was done yet.
    Received,
    /// The handler is about to begin the transaction of its effect.
    BeforeEffect,
    /// The effect is written in a transaction that is not committed.
    InTransaction,
    /// The effect is committed.
    EffectCommitted,
    /// The handler is about to acknowledge.
    BeforeAck,
    /// The client's acknowledge call came back; most clients only queue or group it.
    AckReturned,
    /// A gate of the runner: held at `ack_returned` until the broker shows the ACK.
    AckVisible,
    /// The handler failed and is about to give the message back.
    BeforeNack,
    /// The publication of a dead letter was confirmed; its source is not acknowledged.
    DlqPublished,
    /// A redriver has republished a letter and recorded it.
    Redriven,
}

impl Point {
    /// The point that the worker itself has to be armed with.
    pub fn armed_as(self) -> Self {
        match self {
            Self::AckVisible => Self::AckReturned,
            other => other,
        }
    }
}

/// What a worker does for the scenario.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Publishes the workload and tells what the broker confirmed.
    Producer,
    /// Receives for one destination, has effects in the database, and acknowledges.
    Consumer,
    /// Brings dead letters back into the source topic.
    Redriver,
    /// Changes the domain and writes its outbox in one transaction. Not built yet.
    Application,
    /// Publishes what the outbox holds. Not built yet.
    Relay,
}

/// What a worker reported about one call of its client or database.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A message was sent to a topic.
    Publish,
    /// A message was acknowledged.
    Ack,
    /// A message was given back.
    Nack,
    /// A dead letter was published.
    DeadLetter,
    /// A dead letter was published to the source topic again.
    Redrive,
    /// The handler changed the database.
    Effect,
}

/// How such a call ended, in the worker's own words.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// The call succeeded.
    Ok,
    /// The call failed, and nothing was done.
    Error,
    /// Whether it was done cannot be told.
    Unknown,
    /// The event was handled before: nothing was changed.
    Duplicate,
    /// The event was handled before with other contents: nothing was changed.
    Conflict,
}

/// Which events of a scenario a rule is about.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EventSet {
    /// Every event of the workload.
    All,
    /// Those that a fault of this unit struck.
    Struck,
    /// Those that no fault struck.
    Unstruck,
    /// Those that the workload marks as poison.
    Poison,
    /// Those that are not poison.
    Healthy,
}

/// How well a number is supported: by a claim only, or by something the worker cannot forge.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// A worker says so, and nothing else does.
    Claimed,
    /// Read from tables of the database that no worker can write.
    Ledger,
    /// Read from the broker itself.
    Broker,
    /// Seen on the connection between worker and server.
    Wire,
    /// Read from an installed file: a version and its hash.
    Artifact,
}

/// Where a topic stands in the scenario.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TopicRole {
    /// The topic that the workload is published to.
    Source,
    /// The topic for letters that could not be handled.
    DeadLetter,
}

/// The outcome of a cell, worst first where nothing invalidates the evidence.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A guarantee is broken.
    Fail,
    /// The evidence does not carry a verdict; the cause says why.
    Inconclusive,
    /// A declared deviation showed as it was declared.
    Known,
    /// The client or broker lacks a capability that the scenario needs.
    Unsupported,
    /// Every check held on something examined, every fault landed, every control was caught.
    Pass,
}

/// Why a cell is inconclusive; a closed list, because a reader acts on it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Something else than the pinned version answered.
    WrongVersion,
    /// A process or container was killed for lack of memory.
    Oom,
    /// A server, an image or the container engine failed.
    Environment,
    /// A tool that builds or runs a worker failed or is missing.
    Toolchain,
    /// `ackproof` itself or a worker's side of the protocol failed.
    RunnerError,
    /// A history is missing, cannot be read, or was changed after the run.
    DamagedEvidence,
    /// What a fault took away was not seen to be back.
    HealNotVerified,
    /// The story fails without any fault.
    BaselineFailed,
    /// A fault has no receipt that it struck where it should.
    FaultNotLanded,
    /// A deliberate defect went unnoticed.
    ControlNotCaught,
    /// A check had nothing to look at.
    NothingExamined,
    /// The run was interrupted.
    Cancelled,
}

/// Level of a scenario: core must hold everywhere, extended is cheap to leave out.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Must hold everywhere.
    Core,
    /// Holds everywhere too, and is cheap to leave out.
    Extended,
    /// Shows what a client or broker does; nothing rests on it.
    Informational,
}

/// Regular expression of a name in suites, for schemas; `suite::vocabulary::is_id` is the rule.
pub const ID_PATTERN: &str = "^[a-z][a-z0-9-]{0,59}$";

/// The wire name of a closed enum (its serde name), for messages and reports.
pub fn wire_name<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(other) => other.to_string(),
        Err(_) => String::from("?"),
    }
}

macro_rules! display_by_wire_name {
    ($($kind:ty),+) => {$(
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&wire_name(self))
            }
        }
    )+};
}
display_by_wire_name!(
    BrokerKind,
    ServerKind,
    Point,
    Role,
    Operation,
    CallOutcome,
    EventSet,
    Grade,
    TopicRole,
    Outcome,
    Cause,
    Level
);

/// One place in one topic's log: `topic/partition@offset` or `topic/ledger:entry[:batch]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Physical topic name, without a scheme or partition suffix.
    pub topic: String,
    pub place: Place,
}

/// The broker's own coordinates inside a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    Offset { partition: i32, offset: i64 },
    Entry { ledger: u64, entry: i64, batch: Option<i32> },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Offset { partition, offset } => {
                write!(f, "{}/{partition}@{offset}", self.topic)
            }
            Place::Entry { ledger, entry, batch: None } => {
                write!(f, "{}/{ledger}:{entry}", self.topic)
            }
            Place::Entry { ledger, entry, batch: Some(batch) } => {
                write!(f, "{}/{ledger}:{entry}:{batch}", self.topic)
            }
        }
    }
}

/// A text that is no position; the worker that sent it breaks the protocol.
#[derive(Debug, thiserror::Error)]
#[error("'{0}' is no position: expected topic/partition@offset or topic/ledger:entry[:batch]")]
pub struct BadPosition(String);

impl FromStr for Position {
    type Err = BadPosition;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadPosition(text.chars().take(120).collect());
        let (topic, place) = text.rsplit_once('/').ok_or_else(bad)?;
        let place = parse_place(place).ok_or_else(bad)?;
        Ok(Self { topic: topic.to_owned(), place })
    }
}

fn parse_place(text: &str) -> Option<Place> {
    if let Some((partition, offset)) = text.split_once('@') {
        return Some(Place::Offset {
            partition: partition.parse().ok()?,
            offset: offset.parse().ok()?,
        });
    }
    let mut parts = text.split(':');
    let ledger = parts.next()?.parse().ok()?;
    let entry = parts.next()?.parse().ok()?;
    let batch = parts.next().map(str::parse).transpose().ok()?;
    parts.next().is_none().then_some(Place::Entry { ledger, entry, batch })
}

impl Serialize for Position {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_survive_a_round_trip() {
        for text in ["u-1-orders/0@42", "public/default/orders/7:0", "a/b/7:1:3"] {
            let position: Position = text.parse().expect("a position");
            assert_eq!(position.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_position_is_refused() {
        for text in ["", "orders", "orders/x@1", "orders/1", "orders/1:2:3:4"] {
            assert!(text.parse::<Position>().is_err(), "{text}");
        }
    }
}
