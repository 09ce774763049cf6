//! The closed vocabulary of a history: one `Record` a line, each with the runner's monotonic time.
//! What the runner saw, read or was told comes in; a stable JSON form that `judge` reads comes out.
//! It must never hold a judgement: whether something is good or bad is for `checks` and `verdict`.

use serde::{Deserialize, Serialize};

use super::cursor::Cursor;
use crate::names::{
    CallOutcome, Cause, Operation, Point, Position, Properties, Role, ServerKind, TopicRole,
};

/// Version of the history format; a reader refuses any other.
pub const HISTORY_VERSION: u32 = 1;

/// One line of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Position in this history, from 0, without gaps.
    pub seq: u64,
    /// Microseconds of the runner's monotonic clock since the run started.
    pub at_us: u64,
    pub event: Event,
}

/// Which worker process said or did something: its name and which start of it (from 1).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    pub worker: String,
    pub incarnation: u32,
}

impl std::fmt::Display for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.worker, self.incarnation)
    }
}

/// Everything that a history can hold. `claim_*` come from a worker, the rest from outside of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// First line: what this history is about.
    Unit {
        version: u32,
        unit: String,
        run: String,
        seed: u64,
    },
    /// A version as answered by the server, or by the client library that a worker loaded.
    Attested(Attested),
    /// One event of the workload, before anything was published.
    Planned(PlannedEvent),
    /// Phases follow each other; a phase lasts until the next one.
    Phase {
        name: String,
    },
    /// A condition that the runner waited for, met or not.
    Waited {
        what: String,
        waited_us: u64,
        met: bool,
        last_seen: String,
    },

    WorkerStarted {
        process: Process,
        pid: u32,
        role: Role,
        pattern: String,
    },
    /// The kernel's wait status, and the signal that the runner had sent, if any.
    WorkerExited {
        process: Process,
        exit: Exit,
        signalled_by_us: Option<i32>,
    },
    /// The worker broke the protocol, or died before it was ready.
    WorkerMisbehaved {
        process: Process,
        what: String,
        log_tail: String,
    },

    ClaimOptions {
        process: Process,
        effective: Properties,
    },
    ClaimReady {
        process: Process,
    },
    ClaimRebalance {
        process: Process,
        change: String,
        partitions: Vec<String>,
    },
    ClaimAt(At),
    ClaimResult(CallResult),
    ClaimProgress {
        process: Process,
        redrive: String,
        done: u64,
        stage: String,
    },
    ClaimBye {
        process: Process,
        reason: String,
        error: Option<String>,
    },

    /// What the runner itself read about one event while a worker was held, or after its death.
    Probe(Probe),
    /// A step in the life of one fault; only receipts, no opinion.
    Fault(FaultStep),
    /// Backends of two workers in one event at once, as the database names them.
    Blocked {
        event: String,
        waiter: Process,
        blocker: Process,
    },

    /// A row of the runner-owned audit table, in its own order.
    AuditRow(AuditRow),
    InboxRow {
        event: String,
        destination: String,
        fingerprint: String,
    },
    QuarantineRow {
        event: String,
        destination: String,
        fingerprint: String,
    },
    RedriveRow {
        redrive: String,
        event: String,
    },

    /// One message that the broker still holds, read by the observer.
    LogEntry(LogEntry),
    /// End of a complete read of a topic's log; without it the entries before are only a part.
    LogRead {
        topic: TopicRole,
        why: ReadWhy,
        entries: u64,
    },
    /// Where a destination stands in a topic, as the broker answers.
    Stands {
        topic: TopicRole,
        destination: String,
        why: ReadWhy,
        cursor: Cursor,
    },
    /// Counts that the broker keeps of a topic.
    TopicCounts(TopicCounts),

    /// Whose sockets went where, by the kernel's tables.
    Sockets {
        why: String,
        process: Process,
        through_links: u32,
        direct: Vec<String>,
    },
    /// Database backends of this unit that are still there.
    Backends {
        left: u32,
    },
    /// One of the five steps of settle, done or not.
    Settle {
        step: SettleStep,
        done: bool,
        detail: String,
    },
    /// State of a server's container as the engine gives it.
    Container(ContainerState),
    /// A server's own words, from its log, that its disk is full.
    DiskFull {
        server: ServerKind,
        line: String,
    },
    /// The delivery cap was reached; the unit was stopped there.
    CapReached {
        deliveries: u64,
        cap: u64,
    },
    /// A stretch in which the runner itself did not run as it should have.
    Gap {
        gap_us: u64,
        ended_us: u64,
    },
    /// Sum of the health track over this unit.
    Health {
        largest_gap_us: u64,
        load_1m: f64,
        steal_ticks: u64,
    },
    /// The runner could not find something out; the evidence is not complete.
    Trouble {
        cause: Cause,
        place: String,
        detail: String,
    },
    /// Last line; without it the history is a torso.
    Sealed {
        records: u64,
    },
}

/// A version and who said it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attested {
    pub subject: AttestedSubject,
    /// What the plan asked for.
    pub pin: String,
    /// What answered.
    pub version: String,
    pub grade: crate::names::Grade,
    /// Image id, jar name and hash, artifact hash: whatever names the bytes.
    pub artifact: Option<String>,
    /// A further answer that makes the version plausible (Kafka's API versions).
    pub plausibility: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AttestedSubject {
    Server(ServerKind),
    /// The client library inside this worker process.
    Client {
        process: Process,
        library: String,
    },
}

/// One event of the workload as the plan made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedEvent {
    pub event: String,
    pub key: String,
    pub payload_sha256: String,
    pub properties: Properties,
    pub poison: bool,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

/// A worker says that it is at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct At {
    pub process: Process,
    pub point: Point,
    pub event: String,
    /// The worker's own ordinal of the handing-over of this event, from 1, per incarnation.
    pub delivery: u32,
    pub redelivery_count: Option<u32>,
    pub position: Option<Position>,
    pub fingerprint: Option<String>,
    /// Suspended there until the runner lets it go on.
    pub held: bool,
}

/// A worker says how a call of its client or database ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallResult {
    pub process: Process,
    pub operation: Operation,
    pub event: String,
    pub outcome: CallOutcome,
    pub delivery: Option<u32>,
    pub position: Option<Position>,
    pub error: Option<String>,
}

/// When, in the life of a fault, the runner looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeWhen {
    /// The worker is held at the point; nothing was done yet.
    Before,
    /// The fault is done (for a kill: after the wait status).
    After,
}

/// One look at ledger and broker for one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    pub fault: String,
    pub when: ProbeWhen,
    pub event: String,
    pub destination: String,
    /// Committed effect rows of this event and destination that the runner's own connection sees.
    pub effects: u64,
    /// Whether the broker shows the message at `position` as acknowledged.
    pub acked: Option<bool>,
    pub position: Option<Position>,
    /// Distinct events that the redriver had recorded as republished.
    pub redriven: Option<u64>,
}

/// A step of a fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultStep {
    pub fault: String,
    pub stage: FaultStage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FaultStage {
    /// The trigger fired: this worker, this point, this event (no point: a phase began).
    Triggered { process: Option<Process>, point: Option<Point>, event: Option<String> },
    /// A process was ended through its pidfd and reaped.
    Killed { process: Process, signal: i32, exit: Exit },
    /// A process was told to stop, and the kernel's word on whether it did.
    Frozen { process: Process, proof: String, stopped: bool },
    /// A handler was held at its point, and for how long.
    Held { process: Process, held_us: u64, until: String, reached: bool },
    /// Handlers came together at a barrier: who was held there, and whom the database showed
    /// waiting for one of them, when all were let go.
    Gathered {
        point: Point,
        held: Vec<Process>,
        waiting: Vec<Process>,
        wanted: u32,
        held_us: u64,
        complete: bool,
    },
    /// A piece of topology is not there, as the broker answers.
    Withheld { piece: String, proof: String, absent: bool },
    /// An administrative action was answered by the broker.
    Administered { action: String, answer: String, took_effect: bool },
    /// What the fault had changed is back, as the broker or the kernel shows.
    Healed { proof: String, verified: bool },
}

/// A change of a domain table, written by the runner-owned trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditRow {
    pub audit_seq: i64,
    pub operation: String,
    pub transaction: i64,
    pub backend_pid: i32,
    /// `worker/incarnation` as the connection named itself.
    pub application: String,
    pub event: String,
    pub destination: String,
    pub values: String,
    pub why: ReadWhy,
}

/// Which of the reads a record belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadWhy {
    /// While a fault stands, in a phase.
    During,
    /// Step 5 of settle.
    Final,
    /// Once more at teardown; what changed after the final read is a finding.
    Teardown,
}

/// A message as the observer read it from the broker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogEntry {
    pub topic: TopicRole,
    pub why: ReadWhy,
    pub position: Position,
    /// Event id from its declared place, if it is there.
    pub event: Option<String>,
    pub key: Option<String>,
    pub payload_sha256: String,
    pub payload_bytes: u64,
    pub properties: Properties,
}

/// Counters and subscriptions of a topic as the broker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TopicCounts {
    pub topic: TopicRole,
    pub why: ReadWhy,
    pub exists: bool,
    /// Messages that were ever published to it since it was loaded (Pulsar: msgInCounter).
    pub messages_in: Option<u64>,
    /// Messages that the broker still holds.
    pub retained: Option<u64>,
    pub subscriptions: Vec<String>,
    /// Deliveries by subscription since it was loaded (Pulsar: msgOutCounter).
    pub messages_out: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SettleStep {
    Heal,
    Expected,
    StopWorkers,
    NoBackend,
    FinalReads,
}

/// What the engine says of a server's container.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainerState {
    pub server: ServerKind,
    pub running: bool,
    pub oom_killed: bool,
    pub started_at: String,
    pub exit_code: Option<i64>,
}
