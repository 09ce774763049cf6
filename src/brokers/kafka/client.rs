//! rdkafka as an observer uses it: look at topics, offsets and records, and leave no trace.
//! Topic and group names come in; watermarks, committed offsets and log entries come out.
//! It must never subscribe, commit, or read "stable" offsets, which an open transaction hides.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Headers, Message};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use crate::brokers::EVENT_ID;
use crate::evidence::event::{LogEntry, ReadWhy};
use crate::evidence::seal::sha256_of;
use crate::names::{Place, Position, Properties, TopicRole};

/// Bound of one request to the broker.
pub(super) const REQUEST_LIMIT: Duration = Duration::from_secs(5);
/// Bound of an admin request, whose answer waits for the controller.
pub(super) const CALL_LIMIT: Duration = Duration::from_secs(9);
/// Bound of reading a whole log.
const READ_LIMIT: Duration = Duration::from_secs(45);

/// Sends librdkafka's words to `tracing`, where they belong to the unit's log and not to a screen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traced;

impl ClientContext for Traced {
    fn log(&self, _level: RDKafkaLogLevel, facility: &str, text: &str) {
        tracing::debug!(target: "librdkafka", facility, "{text}");
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(target: "librdkafka", %error, "{reason}");
    }
}

impl ConsumerContext for Traced {}

pub(super) type Observing = BaseConsumer<Traced>;

/// Settings of every client here.
pub(super) fn config(bootstrap: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config
        .set("bootstrap.servers", bootstrap)
        .set("client.id", "ackproof-observer")
        .set("broker.address.family", "v4")
        .set("allow.auto.create.topics", "false")
        // After a freeze or restart of the broker the next call should find it at once.
        .set("reconnect.backoff.ms", "50")
        .set("reconnect.backoff.max.ms", "500")
        .set("topic.metadata.propagation.max.ms", "1000")
        .set("socket.timeout.ms", REQUEST_LIMIT.as_millis().to_string())
        .set_log_level(RDKafkaLogLevel::Warning);
    config
}

/// A client that may look at `group`; it never joins it, because it never subscribes.
pub(super) fn observing(bootstrap: &str, group: &str) -> Result<Observing, KafkaError> {
    config(bootstrap)
        .set("group.id", group)
        .set("enable.auto.commit", "false")
        .set("enable.auto.offset.store", "false")
        .set("enable.partition.eof", "true")
        .set("auto.offset.reset", "error")
        // Unstable reads: offsets and records behind an open transaction are shown as they are.
        .set("isolation.level", "read_uncommitted")
        .set("fetch.wait.max.ms", "50")
        .create_with_context(Traced)
}

/// What a topic looks like now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    Absent,
    /// It exists, but a partition has no leader yet.
    Electing,
    Partitions(i32),
}

/// Asks the broker, not the client's cache.
pub(super) fn shape(client: &Observing, topic: &str) -> Result<Shape, KafkaError> {
    let metadata = client.fetch_metadata(Some(topic), REQUEST_LIMIT)?;
    let Some(found) = metadata.topics().iter().find(|t| t.name() == topic) else {
        return Ok(Shape::Absent);
    };
    match found.error().map(RDKafkaErrorCode::from) {
        None => {}
        Some(RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic) => {
            return Ok(Shape::Absent);
        }
        Some(RDKafkaErrorCode::LeaderNotAvailable) => return Ok(Shape::Electing),
        Some(code) => return Err(KafkaError::MetadataFetch(code)),
    }
    let partitions = found.partitions();
    if partitions.is_empty() || partitions.iter().any(|p| p.leader() < 0) {
        return Ok(Shape::Electing);
    }
    Ok(Shape::Partitions(i32::try_from(partitions.len()).unwrap_or(i32::MAX)))
}

/// First offset still held and next offset to be written, of every partition.
pub(super) fn watermarks(
    client: &Observing,
    topic: &str,
    partitions: i32,
) -> Result<BTreeMap<i32, (i64, i64)>, KafkaError> {
    (0..partitions).map(|p| Ok((p, client.fetch_watermarks(topic, p, REQUEST_LIMIT)?))).collect()
}

/// Committed offsets of the client's own group, by partition; partitions without one are left out.
pub(super) fn committed(
    client: &Observing,
    topic: &str,
    partitions: i32,
) -> Result<BTreeMap<i32, i64>, KafkaError> {
    let mut asked = TopicPartitionList::new();
    for partition in 0..partitions {
        asked.add_partition(topic, partition);
    }
    let answer = client.committed_offsets(asked, REQUEST_LIMIT)?;
    let mut offsets = BTreeMap::new();
    for element in answer.elements() {
        element.error()?;
        if let Offset::Offset(offset) = element.offset() {
            offsets.insert(element.partition(), offset);
        }
    }
    Ok(offsets)
}

/// Records that a group still has to get: those from its offset (or the log's start) to the end.
pub(super) fn backlog(marks: &BTreeMap<i32, (i64, i64)>, committed: &BTreeMap<i32, i64>) -> u64 {
    marks
        .iter()
        .map(|(partition, (low, high))| {
            // Below the low watermark nothing can be handed out any more.
            let from = committed.get(partition).map_or(*low, |next| *low.max(next));
            u64::try_from(high - from).unwrap_or(0)
        })
        .sum()
}

/// Reads every record between the watermarks, by partition and offset.
///
/// Control records of transactions take offsets but are no messages, so the end is the client's
/// "end of partition" and not a count. Errs when the end was not reached in time.
pub(super) fn read(
    client: &Observing,
    role: TopicRole,
    topic: &str,
    marks: &BTreeMap<i32, (i64, i64)>,
) -> Result<Vec<LogEntry>, KafkaError> {
    let mut open = TopicPartitionList::new();
    for (partition, (low, high)) in marks {
        if low < high {
            open.add_partition_offset(topic, *partition, Offset::Offset(*low))?;
        }
    }
    if open.count() == 0 {
        return Ok(Vec::new());
    }
    client.assign(&open)?;
    let deadline = Instant::now() + READ_LIMIT;
    let mut entries = BTreeMap::new();
    let mut ended = BTreeSet::new();
    let outcome = loop {
        let wait = deadline.saturating_duration_since(Instant::now());
        if wait.is_zero() {
            break Err(KafkaError::MessageConsumption(RDKafkaErrorCode::OperationTimedOut));
        }
        match client.poll(wait.min(Duration::from_millis(100))) {
            None => {}
            Some(Ok(message)) => {
                entries.insert(
                    (message.partition(), message.offset()),
                    log_entry(role, topic, &message),
                );
            }
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                ended.insert(partition);
                if ended.len() == open.count() {
                    break Ok(());
                }
            }
            // A broker that just came back refuses at first; the deadline decides.
            Some(Err(error)) if is_passing(&error) => {}
            Some(Err(error)) => break Err(error),
        }
    };
    client.unassign()?;
    outcome.map(|()| entries.into_values().collect())
}

/// Errors of connections, which librdkafka mends by itself.
fn is_passing(error: &KafkaError) -> bool {
    matches!(
        error.rdkafka_error_code(),
        Some(
            RDKafkaErrorCode::BrokerTransportFailure
                | RDKafkaErrorCode::AllBrokersDown
                | RDKafkaErrorCode::OperationTimedOut
        )
    )
}

fn log_entry(role: TopicRole, topic: &str, message: &BorrowedMessage<'_>) -> LogEntry {
    let payload = message.payload().unwrap_or_default();
    let properties = properties(
        message
            .headers()
            .into_iter()
            .flat_map(|headers| headers.iter().map(|h| (h.key.to_owned(), h.value))),
    );
    LogEntry {
        topic: role,
        // The trait leaves it to the caller to say why it reads.
        why: ReadWhy::During,
        position: Position {
            topic: topic.to_owned(),
            place: Place::Offset { partition: message.partition(), offset: message.offset() },
        },
        event: properties.get(EVENT_ID).cloned(),
        key: message.key().map(|key| String::from_utf8_lossy(key).into_owned()),
        payload_sha256: sha256_of(payload),
        payload_bytes: payload.len() as u64,
        properties,
    }
}

/// Headers as text. A name may stand several times: the last one is what clients' maps keep.
fn properties<'a>(headers: impl Iterator<Item = (String, Option<&'a [u8]>)>) -> Properties {
    headers
        .map(|(name, value)| {
            (name, String::from_utf8_lossy(value.unwrap_or_default()).into_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backlog_counts_from_the_offset_or_the_start() {
        let marks = BTreeMap::from([(0, (2, 10)), (1, (0, 5)), (2, (7, 7))]);
        assert_eq!(backlog(&marks, &BTreeMap::new()), 8 + 5);
        assert_eq!(backlog(&marks, &BTreeMap::from([(0, 9), (1, 5)])), 1);
    }

    #[test]
    fn an_offset_outside_the_log_is_bounded_by_it() {
        let marks = BTreeMap::from([(0, (6, 10))]);
        assert_eq!(backlog(&marks, &BTreeMap::from([(0, 1)])), 4, "trimmed records are gone");
        assert_eq!(backlog(&marks, &BTreeMap::from([(0, 99)])), 0, "after a truncation");
    }

    #[test]
    fn headers_become_text_and_the_last_of_a_name_stays() {
        let headers: [(&str, Option<&[u8]>); 4] = [
            ("ce_id", Some(b"e-0001")),
            ("ce_id", Some(b"e-0002")),
            ("null", None),
            ("odd", Some(&[0xff, b'x'])),
        ];
        let properties = properties(headers.map(|(k, v)| (k.to_owned(), v)).into_iter());
        assert_eq!(properties["ce_id"], "e-0002");
        assert_eq!(properties["null"], "");
        assert_eq!(properties["odd"], "\u{fffd}x");
    }
}
