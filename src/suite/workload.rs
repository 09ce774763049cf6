//! What a scenario publishes: how many events, what they carry, which of them come twice.
//! YAML comes in as part of a scenario; typed numbers and payloads come out, nothing filled in.
//! It must never hold an event itself: those are made from the plan, by the run.

use schemars::JsonSchema;
use serde::Deserialize;

/// What is published.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// How many events; they are named `e-0001`, `e-0002`, …
    #[schemars(range(min = 1, max = 100_000))]
    pub events: u32,
    /// How many different keys they are spread over, round robin.
    #[schemars(range(min = 1, max = 100_000))]
    pub keys: u32,
    /// Least size of a payload in bytes (JSON, padded).
    #[schemars(range(max = 900_000))]
    pub payload_bytes: u32,
    /// Ordinals (from 1) of the events that handlers can be told to fail on.
    #[serde(default)]
    #[schemars(inner(range(min = 1, max = 100_000)))]
    pub poison: Vec<u32>,
    /// Events whose payload is these bytes and not the JSON of an order; the event id stands in
    /// header or property alone.
    #[serde(default)]
    pub bytes: Vec<RawPayload>,
    /// Events that are published once more under the same id, after all of the others.
    #[serde(default)]
    pub again: Vec<Again>,
}

/// A payload that is given byte by byte.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawPayload {
    /// Ordinal of the event, from 1.
    #[schemars(range(min = 1, max = 100_000))]
    pub event: u32,
    /// The bytes, in Base64; the empty text is the empty payload.
    pub base64: String,
}

/// A second publication of an event.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Again {
    /// Ordinal of the event, from 1.
    #[schemars(range(min = 1, max = 100_000))]
    pub event: u32,
    /// What it carries the second time.
    pub payload: AgainPayload,
    /// Ordinal of the key that it has the second time, from 1; its own if left out. With another
    /// key it can lie in another partition, and come to another consumer at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub key: Option<u32>,
}

/// What a second publication carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgainPayload {
    /// The same bytes: a duplicate.
    Same,
    /// Another amount under the same id: a conflict.
    Other,
}
