//! One entry of a ledger as Pulsar's REST interface gives it: headers about it, payload as body.
//! Headers and bytes come in; the messages of the entry come out, one or a batch.
//! It must never take a malformed batch for messages.

use std::collections::BTreeMap;

use reqwest::header::HeaderMap;

use super::wire;
use crate::brokers::EVENT_ID;
use crate::evidence::cursor::EntryId;
use crate::evidence::event::{LogEntry, ReadWhy};
use crate::evidence::seal::sha256_of;
use crate::names::{Place, Position, Properties, TopicRole};

/// All properties as one JSON object; `{}` for a batch, whose messages carry their own.
const PROPERTIES: &str = "x-pulsar-property";
const PARTITION_KEY: &str = "x-pulsar-partition-key";
/// Present exactly if the payload is a batch, also of one message.
const BATCH: &str = "x-pulsar-num-batch-message";
const ENCRYPTED: &str = "x-pulsar-is-encrypted";
/// Entries that the broker wrote for itself (commits and aborts of transactions).
const MARKER: &str = "x-pulsar-marker-type";
/// More messages than any client puts into a batch.
const MOST_IN_BATCH: usize = 100_000;

/// The part of the answer that describes the entry.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct EntryHead {
    properties: Properties,
    key: Option<String>,
    batch: Option<usize>,
    marker: bool,
}

impl EntryHead {
    /// Reads the headers; `Err` says which one is malformed.
    pub fn of(headers: &HeaderMap) -> Result<Self, String> {
        let text = |name: &str| headers.get(name).map(|value| latin1(value.as_bytes()));
        let properties: BTreeMap<String, String> = match text(PROPERTIES) {
            None => BTreeMap::new(),
            Some(json) => {
                serde_json::from_str(&json).map_err(|error| format!("{PROPERTIES}: {error}"))?
            }
        };
        let encrypted = text(ENCRYPTED).is_some_and(|value| value == "true");
        let batch = match text(BATCH) {
            // What is encrypted cannot be taken apart.
            Some(count) if !encrypted => {
                let count = count.parse().ok().filter(|count| *count <= MOST_IN_BATCH);
                Some(count.ok_or_else(|| format!("{BATCH} is no count"))?)
            }
            _ => None,
        };
        Ok(Self { properties, key: text(PARTITION_KEY), batch, marker: text(MARKER).is_some() })
    }
}

/// Jetty writes header values as ISO 8859-1 and puts a space for every character beyond it.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

/// The messages of an entry, in their order; none for a marker.
pub(super) fn messages(
    role: TopicRole,
    topic: &str,
    id: EntryId,
    head: EntryHead,
    body: &[u8],
) -> Result<Vec<LogEntry>, String> {
    if head.marker {
        return Ok(Vec::new());
    }
    let Some(count) = head.batch else {
        return Ok(vec![log_entry(role, topic, id, None, head.properties, head.key, body)]);
    };
    let batch = wire::batch(body, count)
        .ok_or_else(|| format!("{}:{}: {count} messages do not fill the batch", id.0, id.1))?;
    let entries = batch.into_iter().zip(0..).map(|(message, index)| {
        log_entry(role, topic, id, Some(index), message.properties, message.key, message.payload)
    });
    Ok(entries.collect())
}

fn log_entry(
    role: TopicRole,
    topic: &str,
    (ledger, entry): EntryId,
    batch: Option<i32>,
    properties: Properties,
    key: Option<String>,
    payload: &[u8],
) -> LogEntry {
    LogEntry {
        topic: role,
        // The trait leaves it to the caller to say why it reads.
        why: ReadWhy::During,
        position: Position {
            topic: topic.to_owned(),
            place: Place::Entry { ledger, entry, batch },
        },
        event: properties.get(EVENT_ID).cloned(),
        key,
        payload_sha256: sha256_of(payload),
        payload_bytes: payload.len() as u64,
        properties,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn head(headers: &[(&'static str, &[u8])]) -> Result<EntryHead, String> {
        let map = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap())
        });
        EntryHead::of(&map.collect())
    }

    fn read(head: EntryHead, body: &[u8]) -> Result<Vec<LogEntry>, String> {
        messages(TopicRole::Source, "public/u/orders", (3, 7), head, body)
    }

    #[test]
    fn a_single_message_is_read() {
        // As a 4.2.4 server answered: ü is one byte, and \u003d stands for =.
        let json = b"{\"ce_id\":\"e-1\",\"Odd:\xfc\\n\":\"a\\r\\nb \\\"x\\\"\\u003d\"}";
        let head = head(&[(PROPERTIES, json), (PARTITION_KEY, b"k-\xfc 1")]).unwrap();
        let [entry] = read(head, b"{}").unwrap().try_into().unwrap();
        assert_eq!(entry.event.as_deref(), Some("e-1"));
        assert_eq!(entry.key.as_deref(), Some("k-ü 1"));
        assert_eq!(entry.properties["Odd:ü\n"], "a\r\nb \"x\"=");
        assert_eq!(entry.position.to_string(), "public/u/orders/3:7");
        assert_eq!(entry.payload_bytes, 2);
    }

    #[test]
    fn a_batch_gives_each_of_its_messages() {
        let head = head(&[(PROPERTIES, b"{}"), (PARTITION_KEY, b"k10"), (BATCH, b"2")]).unwrap();
        let mut body = Vec::new();
        for n in [b'1', b'2'] {
            // properties { key: "ce_id" value: "eN" }, payload_size: 1
            let meta = [10, 11, 10, 5, b'c', b'e', b'_', b'i', b'd', 18, 2, b'e', n, 24, 1];
            body.extend(15_u32.to_be_bytes());
            body.extend(meta);
            body.push(n);
        }
        let entries = read(head, &body).unwrap();
        let ids: Vec<_> = entries.iter().map(|e| e.event.as_deref().unwrap()).collect();
        assert_eq!(ids, ["e1", "e2"]);
        assert_eq!(entries[1].position.to_string(), "public/u/orders/3:7:1");
        assert_eq!(entries[1].key, None, "the entry's key is that of its first message only");
    }

    #[test]
    fn what_is_malformed_is_an_error() {
        assert!(head(&[(PROPERTIES, b"{\"a\":")]).is_err());
        assert!(head(&[(PROPERTIES, b"[1]")]).is_err());
        for count in [&b"-1"[..], b"x", b"", b"99999999"] {
            assert!(head(&[(BATCH, count)]).is_err());
        }
        assert!(read(head(&[(BATCH, b"3")]).unwrap(), b"abc").is_err());
    }

    #[test]
    fn markers_are_no_messages_and_secrets_stay_whole() {
        assert_eq!(read(head(&[(MARKER, b"22")]).unwrap(), b"x"), Ok(vec![]));
        let sealed = head(&[(BATCH, b"3"), (ENCRYPTED, b"true")]).unwrap();
        assert_eq!(read(sealed, b"abc").unwrap().len(), 1);
    }
}
