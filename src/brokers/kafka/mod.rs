//! Kafka as the observer knows it: rdkafka that assigns without a group and never commits.
//! Logical topics of a unit come in; offsets, watermarks and records as evidence come out.
//! It must never join a group, commit, create a topic by asking for it, or publish to a unit's.

mod attest;
mod client;
mod probe;
mod server;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};

use self::client::{CALL_LIMIT, Observing, REQUEST_LIMIT, Shape, Traced};
pub use self::server::server_spec;
use super::{Answer, Attestation, Broker, BrokerError, UnitNames};
use crate::evidence::cursor::Cursor;
use crate::evidence::event::{LogEntry, ReadWhy, TopicCounts};
use crate::faults::admin::AdminAction;
use crate::faults::withhold::Piece;
use crate::names::{BrokerKind, TopicRole};
use crate::suite::model::{Presence, Topology};
use crate::wait::{self, Seen};

/// Group id of clients that look at topics; nothing ever joins it or commits for it.
const OBSERVER_GROUP: &str = "ackproof-observer";

/// The observer of one Kafka broker.
pub struct KafkaObserver {
    bootstrap: String,
    admin: AdminClient<Traced>,
    look: Arc<Observing>,
    /// A client can only ask for the offsets of the group in its own configuration.
    by_group: Mutex<HashMap<String, Arc<Observing>>>,
}

impl KafkaObserver {
    /// An observer of the broker at `bootstrap` (`host:port` of the observer's listener).
    pub fn new(bootstrap: &str) -> Result<Self, BrokerError> {
        let made = |error: KafkaError| trouble("make a client", &error);
        Ok(Self {
            bootstrap: bootstrap.to_owned(),
            admin: client::config(bootstrap).create_with_context(Traced).map_err(made)?,
            look: Arc::new(client::observing(bootstrap, OBSERVER_GROUP).map_err(made)?),
            by_group: Mutex::new(HashMap::new()),
        })
    }

    /// The client that may ask for a group's offsets; kept, because a gate asks many times.
    fn of_group(&self, group: &str) -> Result<Arc<Observing>, KafkaError> {
        let mut clients = self.by_group.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = clients.get(group) {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(client::observing(&self.bootstrap, group)?);
        clients.insert(group.to_owned(), Arc::clone(&made));
        Ok(made)
    }

    /// Lets go of the clients of these groups; closing one may block, so it is done elsewhere.
    fn forget(&self, groups: &[&str]) {
        let mut clients = self.by_group.lock().unwrap_or_else(PoisonError::into_inner);
        let gone: Vec<_> = groups.iter().filter_map(|group| clients.remove(*group)).collect();
        drop(clients);
        tokio::task::spawn_blocking(move || drop(gone));
    }

    async fn shape(&self, topic: &str) -> Result<Shape, BrokerError> {
        let (look, topic) = (Arc::clone(&self.look), topic.to_owned());
        blocking("look at a topic", move || client::shape(&look, &topic)).await
    }

    /// Creates a topic and waits until every partition of it has a leader.
    async fn create_topic(
        &self,
        topic: &str,
        partitions: u32,
        settings: impl Iterator<Item = (&str, &str)>,
    ) -> Result<String, BrokerError> {
        let what = "create a topic";
        let count = i32::try_from(partitions).map_err(|e| trouble(what, &e))?;
        let mut wanted = NewTopic::new(topic, count, TopicReplication::Fixed(1));
        for (name, value) in settings {
            wanted = wanted.set(name, value);
        }
        let results = self.admin.create_topics([&wanted], &options()).await;
        let answer = match results.map_err(|e| trouble(what, &e))?.pop() {
            Some(Ok(name)) => format!("created {name}"),
            // Calls may be repeated.
            Some(Err((name, RDKafkaErrorCode::TopicAlreadyExists))) => format!("{name} exists"),
            Some(Err((name, code))) => return Err(trouble(what, &format!("{name}: {code}"))),
            None => return Err(trouble(what, &"an empty answer")),
        };
        self.until(topic, "has leaders", |shape| matches!(shape, Shape::Partitions(_))).await?;
        Ok(format!("{answer} with {partitions} partition(s)"))
    }

    async fn delete_topics(&self, topics: &[&str]) -> Result<(), BrokerError> {
        let results = self.admin.delete_topics(topics, &options()).await;
        for result in results.map_err(|e| trouble("delete topics", &e))? {
            match result {
                Ok(_) | Err((_, RDKafkaErrorCode::UnknownTopicOrPartition)) => {}
                Err((name, code)) => {
                    return Err(trouble("delete topics", &format!("{name}: {code}")));
                }
            }
        }
        Ok(())
    }

    /// The controller answers before the broker's own metadata has followed.
    async fn until(
        &self,
        topic: &str,
        what: &str,
        met: impl Fn(&Shape) -> bool,
    ) -> Result<Shape, BrokerError> {
        let what = format!("{topic} {what}");
        wait::until(&what, Instant::now() + REQUEST_LIMIT, LOOK_EVERY, || async {
            match self.shape(topic).await {
                Ok(shape) if met(&shape) => Seen::Done(Ok(shape)),
                Ok(shape) => Seen::NotYet(format!("{shape:?}")),
                Err(error) => Seen::Done(Err(error)),
            }
        })
        .await
        .map_err(|e| trouble("wait for metadata", &e.to_string()))?
    }

    /// Watermarks of every partition, or nothing if the topic is absent.
    async fn watermarks(
        &self,
        topic: &str,
    ) -> Result<Option<BTreeMap<i32, (i64, i64)>>, BrokerError> {
        let Some(partitions) = self.partitions(topic).await? else { return Ok(None) };
        let (look, topic) = (Arc::clone(&self.look), topic.to_owned());
        blocking("read watermarks", move || client::watermarks(&look, &topic, partitions))
            .await
            .map(Some)
    }

    async fn partitions(&self, topic: &str) -> Result<Option<i32>, BrokerError> {
        match self.until(topic, "has leaders", |shape| *shape != Shape::Electing).await? {
            Shape::Partitions(count) => Ok(Some(count)),
            Shape::Absent | Shape::Electing => Ok(None),
        }
    }

    async fn committed(
        &self,
        topic: &str,
        group: &str,
        partitions: i32,
    ) -> Result<BTreeMap<i32, i64>, BrokerError> {
        let what = "read committed offsets";
        let of_group = self.of_group(group).map_err(|e| trouble(what, &e))?;
        let topic = topic.to_owned();
        blocking(what, move || client::committed(&of_group, &topic, partitions)).await
    }
}

#[async_trait]
impl Broker for KafkaObserver {
    fn kind(&self) -> BrokerKind {
        BrokerKind::Kafka
    }

    fn names(&self, prefix: &str, topology: &Topology) -> UnitNames {
        let source = format!("{prefix}-orders");
        UnitNames {
            dead_letter: format!("{source}.DLT"),
            source,
            destinations: topology
                .destinations
                .keys()
                .map(|name| (name.clone(), format!("{prefix}-{name}")))
                .collect(),
            redriver: format!("{prefix}-redriver"),
        }
    }

    async fn probe_ready(&self) -> Result<(), BrokerError> {
        let topic = probe::unique_topic();
        self.create_topic(&topic, 1, std::iter::empty()).await?;
        let outcome = self.probe(&topic).await;
        // Whatever was found, the probe's own topic does not stay.
        let deleted = self.delete_topics(&[&topic]).await;
        outcome.and(deleted)
    }

    async fn attest(&self, artifact: Option<&str>) -> Result<Attestation, BrokerError> {
        let what = "attest the version";
        let Some(output) = artifact else {
            return Err(trouble(what, &"no request names it, and no jar list was given"));
        };
        let mut attestation = attest::from_jars(output).map_err(|e| trouble(what, &e))?;
        let asked = attest::api_versions(&self.bootstrap, REQUEST_LIMIT).await;
        attestation.plausibility = Some(asked.map_err(|e| trouble(what, &e))?);
        Ok(attestation)
    }

    async fn provision(&self, names: &UnitNames, topology: &Topology) -> Result<(), BrokerError> {
        let own = || topology.settings_of(BrokerKind::Kafka);
        self.create_topic(&names.source, topology.partitions, own()).await?;
        if topology.dead_letter.as_ref().is_some_and(|d| d.topic == Presence::Created) {
            let partitions = topology.dead_letter_partitions();
            self.create_topic(&names.dead_letter, partitions, own()).await?;
        }
        // Groups begin with their first member; there is nothing to create for a destination.
        Ok(())
    }

    async fn create(
        &self,
        names: &UnitNames,
        topology: &Topology,
        piece: Piece,
    ) -> Result<Answer, BrokerError> {
        match piece {
            Piece::DeadLetterTopic => {
                let partitions = topology.dead_letter_partitions();
                let own = || topology.settings_of(BrokerKind::Kafka);
                let text = self.create_topic(&names.dead_letter, partitions, own()).await?;
                Ok(Answer { text, holds: true })
            }
            Piece::DeadLetterSubscription => Ok(Answer { text: NO_PIECE.to_owned(), holds: false }),
        }
    }

    async fn absent(&self, names: &UnitNames, piece: Piece) -> Result<Answer, BrokerError> {
        match piece {
            Piece::DeadLetterTopic => {
                let shape = self.shape(&names.dead_letter).await?;
                let text = match shape {
                    Shape::Absent => format!("{}: unknown topic or partition", names.dead_letter),
                    Shape::Electing => format!("{}: exists, no leader", names.dead_letter),
                    Shape::Partitions(n) => format!("{}: {n} partition(s)", names.dead_letter),
                };
                Ok(Answer { text, holds: shape == Shape::Absent })
            }
            Piece::DeadLetterSubscription => Ok(Answer { text: NO_PIECE.to_owned(), holds: false }),
        }
    }

    /// `Absent` where the topic is; a group that never committed there has an empty `Committed`.
    async fn cursor(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        group: &str,
    ) -> Result<Cursor, BrokerError> {
        let topic = names.topic(topic);
        let Some(partitions) = self.partitions(topic).await? else { return Ok(Cursor::Absent) };
        let committed = self.committed(topic, group, partitions).await?;
        Ok(Cursor::Committed(committed.into_iter().collect()))
    }

    /// High watermark minus committed offset. Control records of transactions count, as they do
    /// in every lag of Kafka.
    async fn backlog(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        group: &str,
    ) -> Result<u64, BrokerError> {
        let topic = names.topic(topic);
        let Some(partitions) = self.partitions(topic).await? else { return Ok(0) };
        // Offsets first: what is committed or written between the reads makes the number larger,
        // never smaller than it was at the end.
        let committed = self.committed(topic, group, partitions).await?;
        let Some(marks) = self.watermarks(topic).await? else { return Ok(0) };
        Ok(client::backlog(&marks, &committed))
    }

    /// Groups are not a property of a Kafka topic, so `subscriptions` stays empty.
    async fn counts(
        &self,
        names: &UnitNames,
        topic: TopicRole,
    ) -> Result<TopicCounts, BrokerError> {
        let marks = self.watermarks(names.topic(topic)).await?;
        let sum = |pick: fn(&(i64, i64)) -> i64| {
            marks.as_ref().map(|m| m.values().map(pick).sum::<i64>().unsigned_abs())
        };
        Ok(TopicCounts {
            topic,
            why: ReadWhy::During,
            exists: marks.is_some(),
            messages_in: sum(|(_, high)| *high),
            retained: sum(|(low, high)| high - low),
            subscriptions: Vec::new(),
            messages_out: None,
        })
    }

    async fn read_log(
        &self,
        names: &UnitNames,
        topic: TopicRole,
    ) -> Result<Vec<LogEntry>, BrokerError> {
        let name = names.topic(topic).to_owned();
        let Some(marks) = self.watermarks(&name).await? else { return Ok(Vec::new()) };
        let bootstrap = self.bootstrap.clone();
        blocking("read the log", move || {
            // An assignment belongs to one client, and several reads may run side by side.
            let reader = client::observing(&bootstrap, OBSERVER_GROUP)?;
            client::read(&reader, topic, &name, &marks)
        })
        .await
    }

    async fn administer(
        &self,
        _names: &UnitNames,
        _topic: TopicRole,
        action: AdminAction,
    ) -> Result<Answer, BrokerError> {
        match action {
            AdminAction::UnloadAndTrim => {
                let text = "Kafka has no unload and no trim by subscription".to_owned();
                Ok(Answer { text, holds: false })
            }
        }
    }

    async fn remove(&self, names: &UnitNames) -> Result<(), BrokerError> {
        self.delete_topics(&[&names.source, &names.dead_letter]).await?;
        let groups: Vec<&str> =
            names.destinations.values().chain([&names.redriver]).map(String::as_str).collect();
        self.forget(&groups);
        let results = self.admin.delete_groups(&groups, &options()).await;
        for result in results.map_err(|e| trouble("delete groups", &e))? {
            match result {
                Ok(_)
                | Err((_, RDKafkaErrorCode::GroupIdNotFound))
                // A killed member's session still runs; offsets went with the topics, and the
                // group ends with that session.
                | Err((_, RDKafkaErrorCode::NonEmptyGroup)) => {}
                Err((name, code)) => {
                    return Err(trouble("delete groups", &format!("{name}: {code}")));
                }
            }
        }
        Ok(())
    }
}

/// Why nothing happens for a dead letter subscription.
/// How often something that is about to change is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(20);
const NO_PIECE: &str = "Kafka has no subscriptions that exist before their first member";

/// rdkafka's calls block: they go to threads that may.
async fn blocking<T: Send + 'static>(
    what: &str,
    call: impl FnOnce() -> Result<T, KafkaError> + Send + 'static,
) -> Result<T, BrokerError> {
    match tokio::task::spawn_blocking(call).await {
        Ok(answer) => answer.map_err(|e| trouble(what, &e)),
        Err(error) => Err(trouble(what, &error)),
    }
}

fn options() -> AdminOptions {
    AdminOptions::new().request_timeout(Some(CALL_LIMIT)).operation_timeout(Some(REQUEST_LIMIT))
}

fn trouble(what: &str, detail: &(impl std::fmt::Display + ?Sized)) -> BrokerError {
    BrokerError { broker: BrokerKind::Kafka, what: what.to_owned(), detail: detail.to_string() }
}
