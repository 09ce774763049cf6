//! Words that suites may use and that no Rust type lists: patterns, capabilities, clauses.
//! It takes nothing and gives tables, so that a new word is one line here.
//! It must never hold a rule: what a word means is known by workers, checks and the contract.

use crate::checks::CheckSpec;
use crate::names::{BrokerKind, EventSet, Role};

/// Patterns of the reference workers, by role (`fixtures/workers/PROTOCOL.md`).
pub const PATTERNS: &[(&str, Role)] = &[
    ("inbox", Role::Consumer),
    ("inbox-before", Role::Consumer),
    ("inbox-after", Role::Consumer),
    ("find-then-insert", Role::Consumer),
    ("ignore-fingerprint", Role::Consumer),
    ("no-inbox", Role::Consumer),
    ("unguarded", Role::Consumer),
    ("ack-then-effect", Role::Consumer),
    ("announce-without-effect", Role::Consumer),
    ("keep-id", Role::Redriver),
    ("ack-before-republish", Role::Redriver),
    ("outbox", Role::Application),
    ("outbox-apart", Role::Application),
    ("status-column", Role::Relay),
    ("last-seen-id", Role::Relay),
    ("unlocked-scan", Role::Relay),
];

const KAFKA: &[BrokerKind] = &[BrokerKind::Kafka];
const PULSAR: &[BrokerKind] = &[BrokerKind::Pulsar];
const BOTH: &[BrokerKind] = &[BrokerKind::Kafka, BrokerKind::Pulsar];

/// What a client can do or lacks, and on which brokers the question makes sense.
pub const CAPABILITIES: &[(&str, &[BrokerKind])] = &[
    ("ack_receipt", PULSAR),
    ("ack_timeout", PULSAR),
    ("auto_commit", KAFKA),
    ("batch_index_ack", PULSAR),
    ("chunking", PULSAR),
    ("consumer_protocol", KAFKA),
    ("cooperative_rebalance", KAFKA),
    ("cumulative_ack", PULSAR),
    ("dead_letter_policy", BOTH),
    ("dead_letter_properties", PULSAR),
    ("dead_letter_subscription", PULSAR),
    ("exclusive", PULSAR),
    ("failover", PULSAR),
    ("idempotent_producer", KAFKA),
    ("key_shared", PULSAR),
    ("manual_commit", KAFKA),
    ("max_poll_interval", KAFKA),
    ("nack_delay", PULSAR),
    ("negative_ack", BOTH),
    ("redelivery_count", BOTH),
    ("retry_topic", PULSAR),
    ("share_groups", KAFKA),
    ("shared", PULSAR),
    ("static_membership", KAFKA),
    ("transactions", BOTH),
];

/// Whether a capability is one of this broker's clients; nothing else is asked of them.
pub fn concerns(capability: &str, broker: BrokerKind) -> bool {
    CAPABILITIES.iter().any(|(name, brokers)| *name == capability && brokers.contains(&broker))
}

/// Clauses of the delivery contract.
pub const CLAUSES: &[&str] = &[
    "PRD-1", "PRD-2", "PRD-3", "PRD-4", "SUB-1", "SUB-2", "SUB-3", "SUB-4", "ACK-1", "ACK-2",
    "ACK-3", "ACK-4", "ACK-5", "ACK-6", "LIFE-1", "LIFE-2", "LIFE-3", "RTY-1", "RTY-2", "RTY-3",
    "RTY-4", "DLQ-1", "DLQ-2", "DLQ-3", "DLQ-4", "RDR-1", "RDR-2", "RDR-3", "INB-1", "INB-2",
    "INB-3", "EXT-1", "OBS-1", "VER-1", "OUT-1", "OUT-2", "OUT-3", "OUT-4", "OUT-5", "OUT-6",
    "OUT-7", "PRO-1", "PRO-2", "CON-1", "CON-2", "CON-3", "CON-4", "CON-5", "CON-6", "CON-7",
    "CON-8", "DLT-1", "DLT-2", "DLT-3", "SNP-1", "SNP-2", "SNP-3",
];

/// The events that a check is about, where it says so.
pub fn check_events(spec: &CheckSpec) -> Option<EventSet> {
    match spec {
        CheckSpec::Effects(spec) => Some(spec.of),
        CheckSpec::Deliveries(spec) => Some(spec.of),
        CheckSpec::DeadLetters(spec) => Some(spec.of),
        CheckSpec::Unretained(spec) => Some(spec.of),
        CheckSpec::Overlap(spec) => Some(spec.of),
        CheckSpec::NotAdvanced(spec) => Some(spec.of),
        CheckSpec::RedriveKnown(spec) => Some(spec.of),
        CheckSpec::WithinLimit(spec) => Some(spec.of),
        CheckSpec::Messages(spec) => Some(spec.of),
        CheckSpec::Confirmed(spec) => Some(spec.of),
        CheckSpec::RedeliveryCounts(spec) => Some(spec.of),
        CheckSpec::Gaps(spec) => Some(spec.of),
        CheckSpec::NotRedelivered(spec) => Some(spec.of),
        CheckSpec::Drained(_) | CheckSpec::Conserved(_) | CheckSpec::Order(_) => None,
    }
}

/// The option in which a client is told its ack timeout, under the client's own name.
pub fn ack_timeout_option(broker: BrokerKind) -> &'static str {
    match broker {
        BrokerKind::Pulsar => "ack_timeout_ms",
        BrokerKind::Kafka => "max.poll.interval.ms",
    }
}

/// Characters of a name at most: file systems take 255 bytes, and paths join several names.
const MAX_NAME: usize = 60;

/// What `is_id` asks for, in words.
pub const ID_HELP: &str = "names are lower-case letters, digits and dashes, begin with a letter, \
     and have at most 60 characters, because they stand in paths";

/// Whether a text can name something that comes to stand in paths, topics and groups.
pub fn is_id(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(inner)
}

/// Whether a text of somebody else can stand there too: letters, digits, dots, dashes, and
/// underscores, but no `..`.
pub fn is_word(text: &str) -> bool {
    text.len() <= MAX_NAME
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
}

/// Whether a reader's browser could follow it.
pub fn is_url(text: &str) -> bool {
    let place = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    place.is_some_and(|place| !place.is_empty() && !text.contains(char::is_whitespace))
}
