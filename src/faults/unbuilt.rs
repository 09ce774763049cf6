//! Faults that suites can already name and that the runner cannot inject yet.
//! What YAML says comes in and is planned as unsupported with its reason; nothing is ever injected.
//! A fault must never stay here once it is built: it gets a file of its own, and loses its reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EventRef, Fault, FaultSpec};
use crate::names::ID_PATTERN;
use crate::suite::time::Time;

/// Restart of a server on its own data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestartSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// Which server goes down.
    pub target: Server,
    /// How it goes down.
    pub how: HowDown,
    /// Phase in whose middle it happens.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub in_phase: String,
    /// Time until it is started again.
    pub down_for: Time,
}

/// The server behind a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Server {
    /// The broker of the scenario.
    Broker,
    /// The database behind the workers.
    Database,
}

/// How a server goes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HowDown {
    /// Asked to stop, and left to finish.
    Stopped,
    /// Ended by SIGKILL, with nothing finished.
    Killed,
    /// Frozen with all of its connections open.
    Paused,
}

/// A link that passes nothing for a while.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CutSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// The server at the end of the link.
    pub link: Server,
    /// What its connections see.
    pub how: HowCut,
    /// Phase in whose middle it happens.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub in_phase: String,
    /// Time until the link is whole again.
    pub lasts: Time,
}

/// What happens to connections of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HowCut {
    /// Connections are reset and new ones are refused.
    Refused,
    /// Bytes vanish, connections stay open.
    Silent,
}

/// One frame of a protocol on a link, struck on the wire.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrameSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// The server at the end of the link.
    pub link: Server,
    /// Name of the frame in its own protocol, for example `SendReceipt` or `OffsetCommit`.
    pub frame: String,
    /// The frame about this event; the first one of its name if left out.
    #[serde(default)]
    pub event: Option<EventRef>,
    /// What happens to it.
    pub action: FrameAction,
}

/// What happens to a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FrameAction {
    /// It does not arrive.
    Drop,
    /// It arrives later.
    Hold,
    /// It arrives twice.
    Duplicate,
    /// The connection ends with it.
    Sever,
}

/// The clock of a worker runs ahead or behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SkewSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// Name of the worker in the scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub worker: String,
    /// Seconds; less than zero is behind.
    pub by_s: i32,
}

/// Another version of a server on the same data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwapSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// Which server is exchanged.
    pub target: Server,
    /// Set of pins that has the other version.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub to: String,
    /// Phase in whose middle it happens.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub in_phase: String,
}

impl Fault for RestartSpec {}
impl Fault for CutSpec {}
impl Fault for FrameSpec {}
impl Fault for SkewSpec {}
impl Fault for SwapSpec {}

/// Why a fault cannot be injected yet; `None` for those that can.
pub fn reason(fault: &FaultSpec) -> Option<&'static str> {
    match fault {
        FaultSpec::Restart(_) => Some("servers cannot be restarted in the middle of a story yet"),
        FaultSpec::Cut(_) => Some("links pass bytes through, they cannot be cut yet"),
        FaultSpec::Frame(_) => Some("links do not know the frames of a protocol yet"),
        FaultSpec::Skew(_) => Some("workers cannot be started with another clock yet"),
        FaultSpec::Swap(_) => Some("servers cannot be exchanged on their data yet"),
        FaultSpec::Kill(_)
        | FaultSpec::Stall(_)
        | FaultSpec::Freeze(_)
        | FaultSpec::Barrier(_)
        | FaultSpec::Withhold(_)
        | FaultSpec::Admin(_) => None,
    }
}
