//! Stall: a handler is held at a point until something else was seen, or for a share of a limit.

use serde::{Deserialize, Serialize};

use super::PointTrigger;

/// What YAML says about a stall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StallSpec {
    pub id: String,
    pub when: PointTrigger,
    pub until: StallEnd,
}

/// What ends a stall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StallEnd {
    /// Another process received the same event: proof that the limit was passed.
    ReceivedElsewhere,
    /// Percent of the worker's ack timeout (Pulsar) or max.poll.interval.ms (Kafka).
    PercentOfAckTimeout(u32),
}
