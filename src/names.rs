//! The words every other module shares: brokers, points, event sets, positions, outcomes.
//! It takes text and gives closed enums, so that YAML, histories and reports spell them alike.
//! It must never import another module of this crate, nor know a clock, a file or a network.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Properties of a message by name (Pulsar properties, Kafka headers), as text.
pub type Properties = BTreeMap<String, String>;

/// A message broker that `ackproof` can start and observe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrokerKind {
    Kafka,
    Pulsar,
}

/// A server that a plan pins: a broker, or the database behind the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerKind {
    Kafka,
    Pulsar,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Point {
    Received,
    BeforeEffect,
    InTransaction,
    EffectCommitted,
    BeforeAck,
    /// The client's acknowledge call came back; most clients only queue or group it.
    AckReturned,
    /// A gate of the runner: held at `ack_returned` until the broker shows the ACK.
    AckVisible,
    BeforeNack,
    DlqPublished,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Producer,
    Consumer,
    Redriver,
    /// Changes the domain and writes its outbox in one transaction.
    Application,
    /// Publishes what the outbox holds.
    Relay,
}

/// What a worker reported about one call of its client or database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    Publish,
    Ack,
    Nack,
    DeadLetter,
    Redrive,
    Effect,
}

/// How such a call ended, in the worker's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    Ok,
    Error,
    Unknown,
    Duplicate,
    Conflict,
}

/// Which events of a scenario a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    Claimed,
    Ledger,
    Broker,
    Wire,
    Artifact,
}

/// Where a topic stands in the scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicRole {
    Source,
    DeadLetter,
}

/// The outcome of a cell, worst first where nothing invalidates the evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Fail,
    Inconclusive,
    Known,
    Unsupported,
    Pass,
}

/// Why a cell is inconclusive; a closed list, because a reader acts on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    WrongVersion,
    Oom,
    Environment,
    Toolchain,
    RunnerError,
    HealNotVerified,
    BaselineFailed,
    FaultNotLanded,
    ControlNotCaught,
    NothingExamined,
    Cancelled,
}

/// Level of a scenario: core must hold everywhere, extended is cheap to leave out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    Core,
    Extended,
    Informational,
}

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
