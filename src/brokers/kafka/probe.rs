//! The readiness probe of Kafka: one record through a topic of its own, and a group's coordinator.
//! A name that nobody else uses comes in; "units can work here" or what is missing comes out.
//! It must never touch a topic or group of a unit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::util::Timeout;

use super::client::{self, REQUEST_LIMIT};
use super::{KafkaObserver, OBSERVER_GROUP, blocking, trouble};
use crate::brokers::BrokerError;
use crate::names::TopicRole;

/// What the probe writes and must read back.
const RECORD: &[u8] = b"ackproof probe";

/// A topic name that no other probe on this broker has, whichever process made it.
pub(super) fn unique_topic() -> String {
    static TRIES: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (pid, tries) = (std::process::id(), TRIES.fetch_add(1, Ordering::Relaxed));
    format!("ackproof-probe-{pid}-{:x}-{tries}", since.as_micros())
}

impl KafkaObserver {
    /// Produces to the probe's topic, reads it back, and asks a group's coordinator.
    pub(super) async fn probe(&self, topic: &str) -> Result<(), BrokerError> {
        self.produce(topic).await?;
        let Some(marks) = self.watermarks(topic).await? else {
            return Err(trouble("probe", &"the topic is gone"));
        };
        let (bootstrap, name) = (self.bootstrap.clone(), topic.to_owned());
        let read = blocking("read the probe's record", move || {
            let reader = client::observing(&bootstrap, OBSERVER_GROUP)?;
            client::read(&reader, TopicRole::Source, &name, &marks)
        });
        let read = read.await?;
        if !matches!(read.as_slice(), [one] if one.payload_bytes == RECORD.len() as u64) {
            return Err(trouble("probe", &format!("{} records instead of one", read.len())));
        }
        // The first use of any group makes the offsets topic, which takes a second or two that
        // the first unit should not pay.
        let (look, name) = (Arc::clone(&self.look), topic.to_owned());
        blocking("ask a group's coordinator", move || client::committed(&look, &name, 1)).await?;
        Ok(())
    }

    async fn produce(&self, topic: &str) -> Result<(), BrokerError> {
        let what = "produce the probe's record";
        let producer: FutureProducer<client::Traced> = client::config(&self.bootstrap)
            .set("message.timeout.ms", REQUEST_LIMIT.as_millis().to_string())
            .set("acks", "all")
            .create_with_context(client::Traced)
            .map_err(|e| trouble(what, &e))?;
        let record = FutureRecord::<(), _>::to(topic).payload(RECORD);
        let sent = producer.send(record, Timeout::After(REQUEST_LIMIT)).await;
        // Dropping a producer joins its polling thread.
        tokio::task::spawn_blocking(move || drop(producer));
        sent.map(drop).map_err(|(error, _)| trouble(what, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_probes_share_a_topic() {
        let (one, two) = (unique_topic(), unique_topic());
        assert_ne!(one, two);
        assert!(one.len() < 100 && one.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
    }
}
