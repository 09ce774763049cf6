//! The lines between runner and worker, as `fixtures/workers/PROTOCOL.md` defines them.
//! Typed messages go out, one JSON object a line; lines of a worker come in, parsed strictly.
//! It must never guess what a worker meant: a line that is no message is an error that teaches.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names::{BrokerKind, CallOutcome, Operation, Point, Position, Properties, Role};
use crate::suite::handler::{Behaviour, HandlerRule};
use crate::suite::model::{Limits, OnDeadLetterFailure, SubscriptionType};

/// Version of the protocol that this runner speaks.
pub const PROTOCOL_VERSION: u32 = 1;
/// Longest line that is taken from a worker, in bytes; a longer one breaks the protocol.
pub const LINE_BYTES_MAX: usize = 64 * 1024;

/// Claims that one delivery may come to: every point of every pattern and the results of its calls
/// are fewer than this.
const CLAIMS_PER_DELIVERY: u64 = 16;
/// Claims a second of the scenario's deadline: a call that fails is tried again every so often.
const CLAIMS_PER_SECOND: u64 = 100;
/// Claims that belong to neither: hello, options, ready, rebalances, bye.
const CLAIMS_BESIDE: u64 = 1000;

/// Claims that one worker process may make in a scenario with these limits.
pub fn claims_max(limits: &Limits) -> u64 {
    let of_deliveries = limits.deliveries.saturating_mul(CLAIMS_PER_DELIVERY);
    let of_time = u64::from(limits.deadline_s) * CLAIMS_PER_SECOND;
    of_deliveries.saturating_add(of_time).saturating_add(CLAIMS_BESIDE)
}

/// Runner to worker.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToWorker {
    Start(Box<Start>),
    Proceed { point: Point, event: String, delivery: u32 },
}

/// Everything that a worker has to know; it learns nothing else.
#[derive(Debug, Clone, Serialize)]
pub struct Start {
    pub worker: String,
    pub incarnation: u32,
    pub role: Role,
    pub pattern: Option<String>,
    pub broker: BrokerAddress,
    pub database: Option<DatabaseAddress>,
    pub source: Option<Source>,
    pub target: Option<Target>,
    pub dead_letter: Option<DeadLetter>,
    pub options: Properties,
    pub behaviour: BehaviourTable,
    pub armed: Vec<Armed>,
    pub workload: Vec<WorkItem>,
    pub redrive: Option<Redrive>,
}

#[derive(Debug, Clone, Serialize)]
pub struct BrokerAddress {
    pub kind: BrokerKind,
    pub url: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct DatabaseAddress {
    pub url: String,
    pub schema: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Source {
    pub topic: String,
    pub subscription: String,
    pub subscription_type: Option<SubscriptionType>,
    pub destination: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct Target {
    pub topic: String,
}

#[derive(Debug, Clone, Serialize)]
pub struct DeadLetter {
    pub topic: String,
    pub mode: crate::suite::model::DeadLetterMode,
    pub max_deliveries: u32,
    pub on_failure: OnDeadLetterFailure,
}

/// What the handler does with an event beside its pattern; the first rule that is not used up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BehaviourRule {
    pub does: &'static str,
    /// Milliseconds, where the word takes a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Only for so many first handings-over of the event to this process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

impl BehaviourRule {
    /// The rule in the protocol's words; relative times are resolved by then.
    pub fn of(rule: &HandlerRule) -> Self {
        let does = match rule.does {
            Behaviour::Ok => "ok",
            Behaviour::Fail => "fail",
            Behaviour::FailForGood => "fail_for_good",
            Behaviour::Undecodable => "undecodable",
            Behaviour::Decode => "decode",
            Behaviour::Slow(_) => "slow",
            Behaviour::Hang => "hang",
            Behaviour::ForgetAck => "forget_ack",
            Behaviour::Nack => "nack",
            Behaviour::ReconsumeLater(_) => "reconsume_later",
            Behaviour::Crash => "crash",
        };
        let ms = rule.does.time().and_then(|time| time.ms(None));
        Self { does, ms, times: rule.times }
    }
}

/// Rules by event id; an event without one is handled as the pattern says.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BehaviourTable {
    pub events: BTreeMap<String, Vec<BehaviourRule>>,
}

/// A point at which the worker has to hold; `None` means any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Armed {
    pub point: Point,
    pub event: Option<String>,
    pub delivery: Option<u32>,
}

#[derive(Debug, Clone, Serialize)]
pub struct WorkItem {
    pub event: String,
    pub key: Option<String>,
    /// Base64.
    pub payload: String,
    pub properties: Properties,
}

#[derive(Debug, Clone, Serialize)]
pub struct Redrive {
    pub id: String,
    pub pilot: u32,
    pub rate_per_s: u32,
}

/// Worker to runner.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum FromWorker {
    Hello {
        protocol: u32,
        language: String,
        clients: BTreeMap<BrokerKind, LoadedClient>,
        capabilities: BTreeMap<BrokerKind, Vec<String>>,
    },
    Options {
        effective: Properties,
    },
    Ready {},
    Rebalance {
        kind: String,
        partitions: Vec<String>,
    },
    At {
        point: Point,
        event: String,
        delivery: u32,
        redelivery_count: Option<u32>,
        position: Option<Position>,
        fingerprint: Option<String>,
        held: bool,
    },
    Result {
        operation: Operation,
        event: Option<String>,
        outcome: CallOutcome,
        position: Option<Position>,
        error: Option<String>,
        delivery: Option<u32>,
    },
    Progress {
        redrive: String,
        done: u64,
        of: Option<u64>,
        stage: String,
    },
    Bye {
        reason: String,
        error: Option<String>,
    },
}

/// A client library as the worker really loaded it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadedClient {
    pub library: String,
    pub version: String,
    pub native: Option<String>,
}

/// Parses one line of a worker.
///
/// # Errors
/// When it is no message; the text shows the line and says what to look at.
pub fn parse(line: &str) -> Result<FromWorker, String> {
    serde_json::from_str(line).map_err(|error| {
        let shown: String = line.chars().take(200).flat_map(char::escape_default).collect();
        format!(
            "stdout line is no message of protocol {PROTOCOL_VERSION}: {error}; the line: {shown}; \
             is it meant for people? then it belongs on stderr (see fixtures/workers/PROTOCOL.md)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_about_a_point_is_read() {
        let line = r#"{"type":"at","point":"before_ack","event":"e-0007","delivery":1,
            "redelivery_count":null,"position":"u-orders/0@6","held":true}"#;
        let message = parse(&line.replace('\n', "")).expect("a message");
        assert!(matches!(message, FromWorker::At { point: Point::BeforeAck, held: true, .. }));
    }

    #[test]
    fn the_cap_of_claims_follows_from_the_limits() {
        let cap = |deliveries, deadline_s| claims_max(&Limits { deadline_s, deliveries });
        assert_eq!(cap(200, 60), 16 * 200 + 100 * 60 + 1000);
        assert_eq!(cap(u64::MAX, 1), u64::MAX);
    }

    #[test]
    fn garbage_is_shown_escaped_and_short() {
        let error = parse(&format!("\u{7}hello{}", "x".repeat(100_000))).expect_err("garbage");
        assert!(error.contains("\\u{7}hello") && error.len() < 1000, "{error}");
        assert!(error.contains("stderr"));
    }

    #[test]
    fn an_unknown_field_is_refused() {
        assert!(parse(r#"{"type":"ready","colour":"red"}"#).is_err());
    }
}
