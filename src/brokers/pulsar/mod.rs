//! Pulsar as the observer knows it: admin REST alone, with no client and no cursor of its own.
//! Logical topics of a unit come in; cursors, backlogs and entries as evidence come out.
//! It must never create a cursor that the unit does not own, nor publish to a unit's topic.

mod admin;
mod entry;
mod server;
mod stats;
mod topic;
mod wire;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use reqwest::Method;

use self::admin::{Admin, Reply, trouble};
pub use self::server::server_spec;
use self::topic::{Shape, Topic};
use super::{Answer, Attestation, Broker, BrokerError, UnitNames};
use crate::evidence::cursor::Cursor;
use crate::evidence::event::{LogEntry, ReadWhy, TopicCounts};
use crate::faults::admin::AdminAction;
use crate::faults::withhold::Piece;
use crate::names::{BrokerKind, Grade, TopicRole};
use crate::suite::model::{Presence, Topology};
use crate::wait::{self, Seen};

/// A new subscription begins with everything that the topic still holds.
const EARLIEST: &str = r#"{"ledgerId":-1,"entryId":-1}"#;

/// How long a topic may take to answer after an unload, or a namespace to be gone.
const SETTLE_LIMIT: Duration = Duration::from_secs(8);
/// How often something that is about to change is looked at again.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The observer of one Pulsar.
pub struct PulsarObserver {
    admin: Admin,
}

impl PulsarObserver {
    /// `admin_base` is `http://127.0.0.1:PORT` of the admin interface.
    pub fn new(admin_base: &str) -> Result<Self, BrokerError> {
        Ok(Self { admin: Admin::new(admin_base)? })
    }

    fn topic<'a>(&'a self, name: &'a str) -> Topic<'a> {
        Topic::new(&self.admin, name)
    }

    async fn create_namespace(&self, namespace: &str) -> Result<(), BrokerError> {
        let path = namespace_path(namespace);
        made("create a namespace", self.admin.call(Method::PUT, &path, None).await?).map(drop)
    }

    /// A policy of a namespace by its name in the admin API, for example `deduplication` with
    /// `true`. Setting it again is harmless.
    async fn set_policy(
        &self,
        namespace: &str,
        policy: &str,
        json: &str,
    ) -> Result<(), BrokerError> {
        let what = format!("set the namespace policy {policy} to {json}");
        let mut path = namespace_path(namespace);
        path.push(policy);
        let reply = self.admin.call(Method::POST, &path, Some(json)).await?;
        if reply.is_success() { Ok(()) } else { Err(trouble(&what, &reply.shown())) }
    }

    async fn delete_namespace(&self, namespace: &str) -> Result<(), BrokerError> {
        let what = "delete a namespace";
        let path = namespace_path(namespace);
        let force = [("force", "true")];
        let delete = async || {
            let response = self.admin.response(Method::DELETE, &path, &force, None).await?;
            admin::reply(response).await
        };
        wait::until(what, Instant::now() + SETTLE_LIMIT, LOOK_EVERY, || async {
            match delete().await {
                Ok(reply) if reply.is_success() || reply.status == 404 => Seen::Done(Ok(())),
                // Something in it is just being closed or loaded.
                Ok(reply) if reply.status == 409 || reply.status >= 500 => {
                    Seen::NotYet(reply.shown())
                }
                Ok(reply) => Seen::Done(Err(trouble(what, &reply.shown()))),
                Err(error) => Seen::Done(Err(error)),
            }
        })
        .await
        .map_err(|e| trouble(what, &e.to_string()))?
    }

    async fn create_topic(&self, topic: &str, partitions: u32) -> Result<Reply, BrokerError> {
        let topic = self.topic(topic);
        let reply = if partitions == 1 {
            self.admin.call(Method::PUT, &topic.path(&[]), None).await?
        } else {
            let count = partitions.to_string();
            self.admin.call(Method::PUT, &topic.path(&["partitions"]), Some(&count)).await?
        };
        made("create a topic", reply)
    }

    async fn create_subscription(&self, topic: &str, name: &str) -> Result<Reply, BrokerError> {
        let topic = self.topic(topic);
        let path = topic.path(&["subscription", name]);
        made("create a subscription", self.admin.call(Method::PUT, &path, Some(EARLIEST)).await?)
    }

    /// Asks until the topic answers: right after an unload it is just being loaded again.
    async fn until_answered(&self, method: Method, path: &[&str]) -> Result<Reply, BrokerError> {
        let what = format!("an answer to {method} {}", path.join("/"));
        wait::until(&what, Instant::now() + SETTLE_LIMIT, LOOK_EVERY, || async {
            match self.admin.call(method.clone(), path, None).await {
                Ok(reply) if reply.status >= 500 => Seen::NotYet(reply.shown()),
                answered => Seen::Done(answered),
            }
        })
        .await
        .map_err(|e| trouble("have the topic answer", &e.to_string()))?
    }

    async fn unload_and_trim(&self, name: &str) -> Result<Answer, BrokerError> {
        let topic = self.topic(name);
        let unloaded = self.until_answered(Method::PUT, &topic.path(&["unload"])).await?;
        if !unloaded.is_success() {
            return Ok(unloaded.answer("unload"));
        }
        let trimmed = self.until_answered(Method::POST, &topic.path(&["trim"])).await?;
        let mut left = Vec::new();
        for (part, internal) in topic.internal().await? {
            let ledgers: Vec<String> =
                internal.ledgers.iter().map(|ledger| ledger.ledger_id.to_string()).collect();
            let part = part.rsplit('/').next().unwrap_or_default();
            let entries = internal.number_of_entries;
            left.push(format!("{part} has ledgers [{}], {entries} entries", ledgers.join(" ")));
        }
        Ok(Answer {
            text: format!(
                "unload: {}; trim: {}; left: {}",
                unloaded.shown(),
                trimmed.shown(),
                left.join("; ")
            ),
            holds: trimmed.is_success(),
        })
    }
}

#[async_trait]
impl Broker for PulsarObserver {
    fn kind(&self) -> BrokerKind {
        BrokerKind::Pulsar
    }

    fn names(&self, prefix: &str, topology: &Topology) -> UnitNames {
        let source = format!("public/{prefix}/orders");
        // The name that clients give it: after the subscription whose letters it takes.
        let first = topology.destinations.keys().next().map_or("", String::as_str);
        UnitNames {
            dead_letter: format!("{source}-{first}-DLQ"),
            source,
            destinations: topology
                .destinations
                .keys()
                .map(|name| (name.clone(), name.clone()))
                .collect(),
            redriver: "redriver".to_owned(),
        }
    }

    async fn probe_ready(&self) -> Result<(), BrokerError> {
        let what = "probe";
        // Health answers 200 while the tenant is still missing, so it is not enough.
        let health = self.admin.call(Method::GET, &["brokers", "health"], None).await?;
        if !health.is_success() {
            return Err(trouble(what, &format!("health: {}", health.shown())));
        }
        let namespaces: Option<Vec<String>> =
            self.admin.get(&["namespaces", "public"], &[]).await?;
        if !namespaces.unwrap_or_default().iter().any(|name| name == "public/default") {
            return Err(trouble(what, &"namespace public/default does not exist yet"));
        }
        let namespace = probe_namespace();
        let topic = format!("{namespace}/probe");
        let used = async {
            self.create_namespace(&namespace).await?;
            self.create_topic(&topic, 1).await?;
            self.create_subscription(&topic, "probe").await.map(drop)
        };
        let outcome = used.await;
        outcome.and(self.delete_namespace(&namespace).await)
    }

    async fn attest(&self, _artifact: Option<&str>) -> Result<Attestation, BrokerError> {
        let reply = self.admin.call(Method::GET, &["brokers", "version"], None).await?;
        let version = version_of(&reply)
            .ok_or_else(|| trouble("attest the version", &reply.shown()))?
            .to_owned();
        Ok(Attestation { version, grade: Grade::Broker, artifact: None, plausibility: None })
    }

    async fn provision(&self, names: &UnitNames, topology: &Topology) -> Result<(), BrokerError> {
        self.create_namespace(namespace_of(names)).await?;
        for (policy, json) in topology.settings_of(BrokerKind::Pulsar) {
            self.set_policy(namespace_of(names), policy, json).await?;
        }
        self.create_topic(&names.source, topology.partitions).await?;
        for subscription in names.destinations.values() {
            // Before the first message: what nobody subscribes to may be trimmed.
            self.create_subscription(&names.source, subscription).await?;
        }
        let Some(dead_letter) = &topology.dead_letter else { return Ok(()) };
        if dead_letter.topic == Presence::Created {
            self.create_topic(&names.dead_letter, topology.dead_letter_partitions()).await?;
            if dead_letter.subscription == Presence::Created {
                self.create_subscription(&names.dead_letter, &names.redriver).await?;
            }
        }
        Ok(())
    }

    async fn create(
        &self,
        names: &UnitNames,
        topology: &Topology,
        piece: Piece,
    ) -> Result<Answer, BrokerError> {
        let (what, reply) = match piece {
            Piece::DeadLetterTopic => {
                let partitions = topology.dead_letter_partitions();
                let reply = self.create_topic(&names.dead_letter, partitions).await?;
                (format!("create topic {}", names.dead_letter), reply)
            }
            Piece::DeadLetterSubscription => {
                let reply = self.create_subscription(&names.dead_letter, &names.redriver).await?;
                (format!("create subscription {} at earliest", names.redriver), reply)
            }
        };
        Ok(Answer { text: format!("{what}: {}", reply.shown()), holds: reply.made_or_there() })
    }

    async fn absent(&self, names: &UnitNames, piece: Piece) -> Result<Answer, BrokerError> {
        let topic = &names.dead_letter;
        if self.topic(topic).shape().await? == Shape::Absent {
            // What does not exist has no subscription either.
            return Ok(Answer { text: format!("topic {topic}: 404"), holds: true });
        }
        if piece == Piece::DeadLetterTopic {
            return Ok(Answer { text: format!("topic {topic} exists"), holds: false });
        }
        let all = subscriptions(&self.topic(topic).stats().await?);
        Ok(Answer {
            text: format!("subscriptions of {topic}: [{}]", all.join(" ")),
            holds: !all.contains(&names.redriver),
        })
    }

    /// `Absent` where the topic or the subscription is.
    async fn cursor(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        group: &str,
    ) -> Result<Cursor, BrokerError> {
        let mut parts = Vec::new();
        for (_, internal) in self.topic(names.topic(topic)).internal().await? {
            parts.push(internal);
        }
        let cursor = match parts.as_slice() {
            [] => Ok(Cursor::Absent),
            [one] => stats::cursor(one, group),
            several => stats::partitioned_cursor(several, group),
        };
        cursor.map_err(|e| trouble("read internalStats", &e))
    }

    /// Counted in entries: a batch counts once until all of its messages are acknowledged.
    async fn backlog(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        group: &str,
    ) -> Result<u64, BrokerError> {
        let mut sum = 0;
        for part in self.topic(names.topic(topic)).stats().await? {
            let Some(subscription) = part.subscriptions.get(group) else {
                // Never 0: that would say that somebody has read everything.
                return Err(trouble("count the backlog", &format!("no subscription {group}")));
            };
            sum += u64::try_from(subscription.msg_backlog).unwrap_or(0);
        }
        Ok(sum)
    }

    /// Counters begin at 0 whenever the topic is loaded; `retained` counts entries.
    async fn counts(
        &self,
        names: &UnitNames,
        topic: TopicRole,
    ) -> Result<TopicCounts, BrokerError> {
        let name = names.topic(topic);
        let stats = self.topic(name).stats().await?;
        let internal = self.topic(name).internal().await?;
        let exists = !stats.is_empty();
        Ok(TopicCounts {
            topic,
            why: ReadWhy::During,
            exists,
            messages_in: exists.then(|| stats.iter().map(|part| part.msg_in_counter).sum()),
            retained: exists.then(|| internal.iter().map(|(_, i)| i.number_of_entries).sum()),
            subscriptions: subscriptions(&stats),
            messages_out: exists.then(|| stats.iter().map(|part| part.msg_out_counter).sum()),
        })
    }

    async fn read_log(
        &self,
        names: &UnitNames,
        topic: TopicRole,
    ) -> Result<Vec<LogEntry>, BrokerError> {
        self.topic(names.topic(topic)).read(topic).await
    }

    async fn administer(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        action: AdminAction,
    ) -> Result<Answer, BrokerError> {
        match action {
            AdminAction::UnloadAndTrim => self.unload_and_trim(names.topic(topic)).await,
        }
    }

    async fn remove(&self, names: &UnitNames) -> Result<(), BrokerError> {
        self.delete_namespace(namespace_of(names)).await
    }
}

/// Names of the subscriptions that any part has, sorted.
fn subscriptions(parts: &[stats::Stats]) -> Vec<String> {
    let mut names: Vec<String> =
        parts.iter().flat_map(|part| part.subscriptions.keys().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

fn made(what: &str, reply: Reply) -> Result<Reply, BrokerError> {
    if reply.made_or_there() { Ok(reply) } else { Err(trouble(what, &reply.shown())) }
}

/// `public/u-1` of `public/u-1/orders`.
fn namespace_of(names: &UnitNames) -> &str {
    names.source.rsplit_once('/').map_or(names.source.as_str(), |(namespace, _)| namespace)
}

fn namespace_path(namespace: &str) -> Vec<&str> {
    ["namespaces"].into_iter().chain(namespace.splitn(2, '/')).collect()
}

/// A namespace that no other probe has, whichever process made it.
fn probe_namespace() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("public/ackproof-probe-{}-{:x}", std::process::id(), since.as_nanos())
}

/// The whole answer if it is a version and nothing else.
fn version_of(reply: &Reply) -> Option<&str> {
    let text = reply.text.trim();
    let version = text.starts_with(|c: char| c.is_ascii_digit())
        && text.len() <= 40
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b".-".contains(&b));
    (reply.is_success() && version).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_version_is_one() {
        let version = |status, text: &str| {
            version_of(&Reply { status, text: text.to_owned() }).map(str::to_owned)
        };
        assert_eq!(version(200, "4.2.4").as_deref(), Some("4.2.4"));
        assert_eq!(version(200, "5.0.0-M1\n").as_deref(), Some("5.0.0-M1"));
        for (status, text) in
            [(500, "4.2.4"), (200, ""), (200, "<html>"), (200, "4.2.4 x"), (200, "v4")]
        {
            assert_eq!(version(status, text), None, "{status} {text:?}");
        }
    }

    #[test]
    fn probes_and_namespaces_have_their_own_names() {
        assert_ne!(probe_namespace(), probe_namespace());
        assert_eq!(namespace_path("public/u-1"), ["namespaces", "public", "u-1"]);
    }
}
