//! The broker adapters against real servers, whose truth is known because the test made it.
//! Containers are started from the adapters' own specs; answers are compared with what was done.
//! It must never run unasked: `ACKPROOF_LIVE=1` starts containers.

#![allow(clippy::unwrap_used)]

mod live;

use std::time::{Duration, Instant};

use ackproof::brokers::{Broker, UnitNames};
use ackproof::evidence::cursor::Cursor;
use ackproof::evidence::event::LogEntry;
use ackproof::faults::admin::AdminAction;
use ackproof::faults::withhold::Piece;
use ackproof::names::{BrokerKind, TopicRole};
use ackproof::suite::model::Presence::{Absent, Created};
use ackproof::wait::{self, Seen};
use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, StreamConsumer};
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{FutureProducer, FutureRecord, Producer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

use live::{Server, pins, topology};

const SOURCE: TopicRole = TopicRole::Source;
const LETTERS: TopicRole = TopicRole::DeadLetter;

/// What a log holds that the cursor does not acknowledge must be the backlog.
async fn assert_backlog(
    broker: &dyn Broker,
    names: &UnitNames,
    topic: TopicRole,
    group: &str,
    expected: u64,
) -> Cursor {
    let log = broker.read_log(names, topic).await.unwrap();
    let cursor = broker.cursor(names, topic, group).await.unwrap();
    let open = log.iter().filter(|entry| !cursor.acknowledges(&entry.position)).count();
    assert_eq!(open as u64, expected, "{cursor:?} in a log of {}", log.len());
    assert_eq!(broker.backlog(names, topic, group).await.unwrap(), expected);
    cursor
}

fn ids(log: &[LogEntry]) -> Vec<&str> {
    let mut ids: Vec<&str> = log.iter().filter_map(|entry| entry.event.as_deref()).collect();
    ids.sort_unstable();
    ids
}

fn events(from: u32, to: u32) -> Vec<String> {
    (from..=to).map(|n| format!("e-{n:04}")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "starts containers; ci/test runs it"]
async fn kafka() {
    for pin in pins("ACKPROOF_LIVE_KAFKA", "4.3.1") {
        let server = Server::start(BrokerKind::Kafka, &pin).await;
        let broker = server.broker.as_ref();
        let attested = broker.attest(server.attest_output().as_deref()).await.unwrap();
        eprintln!("{attested:?}");
        assert_eq!(attested.version, pin);
        assert!(broker.attest(None).await.is_err());
        kafka_missing_topic(broker).await;
        kafka_log_and_groups(&server).await;
        kafka_open_transaction(&server).await;
    }
}

/// Looking for a topic must not make it.
async fn kafka_missing_topic(broker: &dyn Broker) {
    let topology = topology(2, Absent, Absent);
    let names = broker.names("u-0", &topology);
    broker.provision(&names, &topology).await.unwrap();
    broker.provision(&names, &topology).await.unwrap();
    assert_eq!(broker.cursor(&names, LETTERS, &names.redriver).await.unwrap(), Cursor::Absent);
    assert!(broker.read_log(&names, LETTERS).await.unwrap().is_empty());
    assert!(!broker.counts(&names, LETTERS).await.unwrap().exists);
    let absent = broker.absent(&names, Piece::DeadLetterTopic).await.unwrap();
    assert!(absent.holds, "{absent:?}");
    let made = broker.create(&names, &topology, Piece::DeadLetterTopic).await.unwrap();
    assert!(made.holds && made.text.ends_with("2 partition(s)"), "{made:?}");
    assert!(!broker.absent(&names, Piece::DeadLetterTopic).await.unwrap().holds);
    assert!(!broker.create(&names, &topology, Piece::DeadLetterSubscription).await.unwrap().holds);
    let refused = broker.administer(&names, SOURCE, AdminAction::UnloadAndTrim).await.unwrap();
    assert!(!refused.holds);
    broker.remove(&names).await.unwrap();
    broker.remove(&names).await.unwrap();
    assert!(broker.absent(&names, Piece::DeadLetterTopic).await.unwrap().holds);
}

fn client(server: &Server) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", format!("127.0.0.1:{}", server.addresses.link));
    config
}

async fn kafka_log_and_groups(server: &Server) {
    let (broker, topology) = (server.broker.as_ref(), topology(2, Created, Absent));
    let names = broker.names("u-1", &topology);
    broker.provision(&names, &topology).await.unwrap();
    let group = &names.destinations["billing"];
    let producer: FutureProducer = client(server).create().unwrap();
    for (n, event) in events(1, 20).iter().enumerate() {
        let headers = OwnedHeaders::new()
            .insert(Header { key: "ce_id", value: Some(event) })
            .insert(Header { key: "odd", value: Some(&[0xff_u8, b'x'][..]) });
        let (key, payload) = (format!("k-{}", n % 3), format!("{{\"n\":{n}}}"));
        let record = FutureRecord::to(&names.source)
            .key(&key)
            .payload(&payload)
            .headers(headers)
            .partition(i32::try_from(n % 2).unwrap());
        producer.send(record, Duration::from_secs(5)).await.unwrap();
    }
    let started = Instant::now();
    let log = broker.read_log(&names, SOURCE).await.unwrap();
    eprintln!("kafka: read_log of 20 in {} ms", started.elapsed().as_millis());
    assert_eq!(ids(&log), events(1, 20));
    assert_eq!(log[0].key.as_deref(), Some("k-0"));
    assert_eq!(log[0].properties["odd"], "\u{fffd}x");
    assert_eq!(log[0].position.to_string(), format!("{}/0@0", names.source));
    let counts = broker.counts(&names, SOURCE).await.unwrap();
    assert_eq!((counts.messages_in, counts.retained), (Some(20), Some(20)));
    let cursor = assert_backlog(broker, &names, SOURCE, group, 20).await;
    assert_eq!(cursor, Cursor::Committed(vec![]));

    let member: StreamConsumer = client(server)
        .set("group.id", group)
        .set("auto.offset.reset", "earliest")
        .set("enable.auto.commit", "false")
        .create()
        .unwrap();
    member.subscribe(&[&names.source]).unwrap();
    for _ in 0..7 {
        let message = member.recv().await.unwrap();
        member.commit_message(&message, CommitMode::Sync).unwrap();
    }
    assert_backlog(broker, &names, SOURCE, group, 13).await;
    let started = Instant::now();
    for _ in 0..20 {
        broker.cursor(&names, SOURCE, group).await.unwrap();
    }
    eprintln!("kafka: a cursor in {} us", started.elapsed().as_micros() / 20);
    assert_backlog(broker, &names, SOURCE, &names.destinations["shipping"], 20).await;
    assert_only_member(server, group, 1).await;
    assert_only_member(server, "ackproof-observer", 0).await;

    server.crash().await;
    assert_backlog(broker, &names, SOURCE, group, 13).await;
    drop(member);
    broker.remove(&names).await.unwrap();
    assert!(!broker.counts(&names, SOURCE).await.unwrap().exists);
}

/// The observer asks for a group's offsets and is no member of it.
async fn assert_only_member(server: &Server, group: &str, members: usize) {
    let (config, group) = (client(server), group.to_owned());
    let found = tokio::task::spawn_blocking(move || {
        let asking: BaseConsumer = config.create().unwrap();
        let list = asking.fetch_group_list(Some(&group), Duration::from_secs(5)).unwrap();
        list.groups().iter().map(|g| g.members().len()).sum::<usize>()
    });
    assert_eq!(found.await.unwrap(), members);
}

/// Offsets of a group are read although a transaction over them is open.
async fn kafka_open_transaction(server: &Server) {
    let (broker, topology) = (server.broker.as_ref(), topology(1, Created, Absent));
    let names = broker.names("u-2", &topology);
    broker.provision(&names, &topology).await.unwrap();
    let group = names.destinations["billing"].clone();
    let (config, topic, in_group) = (client(server), names.source.clone(), group.clone());
    let producer = tokio::task::spawn_blocking(move || {
        let wait = Duration::from_secs(20);
        let mut transactional = config.clone();
        let producer: FutureProducer =
            transactional.set("transactional.id", "live").create().unwrap();
        producer.init_transactions(wait).unwrap();
        producer.begin_transaction().unwrap();
        drop(producer.send_result(FutureRecord::<(), _>::to(&topic).payload("x")).unwrap());
        producer.flush(wait).unwrap();
        let mut member = config;
        let member: BaseConsumer = member.set("group.id", &in_group).create().unwrap();
        let mut offsets = TopicPartitionList::new();
        offsets.add_partition_offset(&topic, 0, Offset::Offset(1)).unwrap();
        let metadata = member.group_metadata().unwrap();
        producer.send_offsets_to_transaction(&offsets, &metadata, wait).unwrap();
        producer
    });
    let producer = producer.await.unwrap();
    let started = Instant::now();
    let cursor = broker.cursor(&names, SOURCE, &group).await.unwrap();
    assert_eq!(cursor, Cursor::Committed(vec![]), "what is not committed does not count");
    assert_eq!(broker.read_log(&names, SOURCE).await.unwrap().len(), 1);
    assert!(started.elapsed() < Duration::from_secs(3), "an unstable read does not wait");
    tokio::task::spawn_blocking(move || {
        producer.commit_transaction(Duration::from_secs(20)).unwrap();
    })
    .await
    .unwrap();
    // The coordinator writes the offsets' marker after it has answered.
    let deadline = Instant::now() + Duration::from_secs(20);
    let committed = Cursor::Committed(vec![(0, 1)]);
    wait::until("the commit", deadline, Duration::from_millis(50), || async {
        match broker.cursor(&names, SOURCE, &group).await.unwrap() {
            cursor if cursor == committed => Seen::Done(()),
            cursor => Seen::NotYet(format!("{cursor:?}")),
        }
    })
    .await
    .unwrap();
    broker.remove(&names).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "starts containers; ci/test runs it"]
async fn pulsar() {
    for pin in pins("ACKPROOF_LIVE_PULSAR", "4.2.4") {
        let server = Server::start(BrokerKind::Pulsar, &pin).await;
        let attested = server.broker.attest(None).await.unwrap();
        assert_eq!(attested.version, pin);
        pulsar_missing_topic(server.broker.as_ref()).await;
        pulsar_log_and_subscriptions(&server).await;
        pulsar_trim(&server).await;
        pulsar_partitions(&server).await;
    }
}

async fn pulsar_missing_topic(broker: &dyn Broker) {
    let topology = topology(1, Absent, Absent);
    let names = broker.names("u-0", &topology);
    broker.provision(&names, &topology).await.unwrap();
    broker.provision(&names, &topology).await.unwrap();
    assert_eq!(broker.cursor(&names, LETTERS, &names.redriver).await.unwrap(), Cursor::Absent);
    assert!(broker.read_log(&names, LETTERS).await.unwrap().is_empty());
    assert!(!broker.counts(&names, LETTERS).await.unwrap().exists);
    for piece in [Piece::DeadLetterTopic, Piece::DeadLetterSubscription] {
        let absent = broker.absent(&names, piece).await.unwrap();
        assert!(absent.holds, "{absent:?}");
    }
    let nothing = broker.administer(&names, LETTERS, AdminAction::UnloadAndTrim).await.unwrap();
    assert!(!nothing.holds && nothing.text.contains("404"), "{nothing:?}");
    assert!(broker.create(&names, &topology, Piece::DeadLetterTopic).await.unwrap().holds);
    assert!(!broker.absent(&names, Piece::DeadLetterTopic).await.unwrap().holds);
    assert!(broker.absent(&names, Piece::DeadLetterSubscription).await.unwrap().holds);
    assert!(broker.create(&names, &topology, Piece::DeadLetterSubscription).await.unwrap().holds);
    let there = broker.absent(&names, Piece::DeadLetterSubscription).await.unwrap();
    assert!(!there.holds && there.text.contains("redriver"), "{there:?}");
    broker.remove(&names).await.unwrap();
    broker.remove(&names).await.unwrap();
    assert!(broker.absent(&names, Piece::DeadLetterTopic).await.unwrap().holds);
}

/// Publishes through the server's own REST producer, which takes properties and keys.
async fn publish(server: &Server, topic: &str, from: u32, to: u32) {
    let messages: Vec<_> = events(from, to)
        .iter()
        .map(|event| {
            serde_json::json!({
                "key": format!("key of {event}"),
                "payload": format!("payload of {event}"),
                "properties": {"ce_id": event, "RECONSUMETIMES": "1", "Odd Key": "a\r\n\"b\" ü"},
            })
        })
        .collect();
    let schema = r#"{"name":"","schema":"","type":"STRING","properties":{}}"#;
    let body = serde_json::json!({
        "producerName": format!("live-{from}"), "valueSchema": schema, "messages": messages,
    });
    let url = format!("http://127.0.0.1:{}/topics/persistent/{topic}", server.addresses.observer);
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = http.post(url).json(&body).send().await.unwrap();
    let (status, text) = (answer.status(), answer.text().await.unwrap());
    assert!(status.is_success() && text.matches("\"errorCode\":0").count() > 0, "{status} {text}");
}

/// Acknowledges the next messages of a subscription.
async fn skip(server: &Server, topic: &str, subscription: &str, count: u32) {
    let url = format!(
        "http://127.0.0.1:{}/admin/v2/persistent/{topic}/subscription/{subscription}/skip/{count}",
        server.addresses.observer
    );
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    assert!(http.post(url).send().await.unwrap().status().is_success());
}

async fn pulsar_log_and_subscriptions(server: &Server) {
    let (broker, topology) = (server.broker.as_ref(), topology(1, Created, Created));
    let names = broker.names("u-1", &topology);
    broker.provision(&names, &topology).await.unwrap();
    publish(server, &names.source, 1, 20).await;
    let started = Instant::now();
    let log = broker.read_log(&names, SOURCE).await.unwrap();
    eprintln!("pulsar: read_log of 20 in {} ms", started.elapsed().as_millis());
    assert_eq!(ids(&log), events(1, 20));
    assert_eq!(log[0].key.as_deref(), Some("key of e-0001"));
    assert_eq!(log[0].properties["RECONSUMETIMES"], "1", "names keep their case");
    assert_eq!(log[0].properties["Odd Key"], "a\r\n\"b\" ü");
    let counts = broker.counts(&names, SOURCE).await.unwrap();
    assert_eq!(counts.retained, Some(20));
    // The server does not count what comes through its REST producer; a client's is counted.
    assert_eq!(counts.messages_in, Some(0));
    assert_eq!(counts.subscriptions, ["billing", "shipping"], "reading leaves no cursor");
    assert_backlog(broker, &names, SOURCE, "billing", 20).await;
    skip(server, &names.source, "billing", 7).await;
    assert_backlog(broker, &names, SOURCE, "billing", 13).await;
    assert_backlog(broker, &names, SOURCE, "shipping", 20).await;
    let started = Instant::now();
    for _ in 0..10 {
        broker.read_log(&names, SOURCE).await.unwrap();
    }
    eprintln!("pulsar: again in {} ms", started.elapsed().as_millis() / 10);
    let started = Instant::now();
    for _ in 0..20 {
        broker.cursor(&names, SOURCE, "billing").await.unwrap();
    }
    eprintln!("pulsar: a cursor in {} us", started.elapsed().as_micros() / 20);
    assert!(broker.backlog(&names, SOURCE, "nobody").await.is_err());
    assert_eq!(broker.cursor(&names, SOURCE, "nobody").await.unwrap(), Cursor::Absent);

    server.crash().await;
    let after = broker.read_log(&names, SOURCE).await.unwrap();
    assert_eq!(after, log);
    broker.remove(&names).await.unwrap();
    assert!(!broker.counts(&names, SOURCE).await.unwrap().exists);
}

/// What nobody subscribes to is gone after unload and trim; what somebody does stays.
async fn pulsar_trim(server: &Server) {
    let (broker, topology) = (server.broker.as_ref(), topology(1, Created, Absent));
    let names = broker.names("u-2", &topology);
    broker.provision(&names, &topology).await.unwrap();
    publish(server, &names.source, 1, 5).await;
    publish(server, &names.dead_letter, 1, 3).await;
    let source = broker.read_log(&names, SOURCE).await.unwrap();
    assert_eq!(ids(&broker.read_log(&names, LETTERS).await.unwrap()), events(1, 3));
    for topic in [SOURCE, LETTERS] {
        let started = Instant::now();
        let done = broker.administer(&names, topic, AdminAction::UnloadAndTrim).await.unwrap();
        eprintln!("pulsar: {} ms, {}", started.elapsed().as_millis(), done.text);
        assert!(done.holds, "{done:?}");
    }
    assert_eq!(broker.read_log(&names, SOURCE).await.unwrap(), source);
    assert!(broker.read_log(&names, LETTERS).await.unwrap().is_empty(), "the letters are lost");
    assert_eq!(broker.counts(&names, LETTERS).await.unwrap().retained, Some(0));

    broker.create(&names, &topology, Piece::DeadLetterSubscription).await.unwrap();
    publish(server, &names.dead_letter, 4, 5).await;
    let done = broker.administer(&names, LETTERS, AdminAction::UnloadAndTrim).await.unwrap();
    assert!(done.holds, "{done:?}");
    assert_eq!(ids(&broker.read_log(&names, LETTERS).await.unwrap()), events(4, 5));
    assert_backlog(broker, &names, LETTERS, &names.redriver, 2).await;
    // Acknowledged and trimmed: gone from the log, and still acknowledged.
    let letters = broker.read_log(&names, LETTERS).await.unwrap();
    skip(server, &names.dead_letter, &names.redriver, 2).await;
    broker.administer(&names, LETTERS, AdminAction::UnloadAndTrim).await.unwrap();
    let cursor = assert_backlog(broker, &names, LETTERS, &names.redriver, 0).await;
    assert!(letters.iter().all(|letter| cursor.acknowledges(&letter.position)), "{cursor:?}");
    broker.remove(&names).await.unwrap();
}

async fn pulsar_partitions(server: &Server) {
    let (broker, topology) = (server.broker.as_ref(), topology(3, Created, Created));
    let names = broker.names("u-3", &topology);
    broker.provision(&names, &topology).await.unwrap();
    broker.provision(&names, &topology).await.unwrap();
    // One request spreads its messages evenly.
    publish(server, &names.source, 1, 12).await;
    let log = broker.read_log(&names, SOURCE).await.unwrap();
    assert_eq!(ids(&log), events(1, 12));
    assert!(log.iter().all(|entry| entry.position.topic == names.source));
    skip(server, &format!("{}-partition-1", names.source), "billing", 3).await;
    assert_backlog(broker, &names, SOURCE, "billing", 9).await;
    let done = broker.administer(&names, SOURCE, AdminAction::UnloadAndTrim).await.unwrap();
    eprintln!("pulsar: {}", done.text);
    assert!(done.holds, "{done:?}");
    assert_backlog(broker, &names, SOURCE, "billing", 9).await;
    // A partition's ledger that everybody acknowledged goes; its positions stay acknowledged.
    for subscription in ["billing", "shipping"] {
        skip(server, &format!("{}-partition-1", names.source), subscription, 4).await;
    }
    broker.administer(&names, SOURCE, AdminAction::UnloadAndTrim).await.unwrap();
    let cursor = assert_backlog(broker, &names, SOURCE, "billing", 8).await;
    let open = log.iter().filter(|entry| !cursor.acknowledges(&entry.position)).count();
    assert_eq!(open, 8, "{cursor:?}");
    broker.remove(&names).await.unwrap();
}
