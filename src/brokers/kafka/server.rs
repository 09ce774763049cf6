//! What a Kafka server container is: variables of the image's own entry script, ports, volume.
//! A pin, server settings and chosen ports come in; one `ServerSpec` for local and upstream image
//! comes out. It must never let a setting change what the runner's address plan depends on.

use std::collections::BTreeMap;

use crate::brokers::BadSetting;
use crate::env::container::{Addresses, ServerSpec};
use crate::names::ServerKind;

/// Where the image declares its volume; the named data volume is mounted there.
const DATA_PATH: &str = "/var/lib/kafka/data";

/// The words of the system's error in a Java exception.
const FULL_DISK: &[&str] = &["No space left on device"];

/// Base64url of sixteen bytes: a restart on the same volume must find the same cluster id.
const CLUSTER_ID: &str = "YWNrcHJvb2YtY2x1c3Rlcg";

/// Client port inside the container, behind the link.
const LINK_PORT: u16 = 9092;
/// Port of the observer's own listener inside the container.
const OBSERVER_PORT: u16 = 9095;

/// Properties that the address plan, the data volume and the cluster's shape depend on.
const RESERVED: [&str; 9] = [
    "advertised.listeners",
    "controller.listener.names",
    "controller.quorum.voters",
    "inter.broker.listener.name",
    "listener.security.protocol.map",
    "listeners",
    "log.dirs",
    "node.id",
    "process.roles",
];

/// Variables that the image's `KafkaDockerWrapper` reads for itself, so they are no property.
const NO_PROPERTY: [&str; 11] = [
    "KAFKA_VERSION",
    "KAFKA_HEAP_OPTS",
    "KAFKA_LOG4J_OPTS",
    "KAFKA_OPTS",
    "KAFKA_JMX_OPTS",
    "KAFKA_JVM_PERFORMANCE_OPTS",
    "KAFKA_GC_LOG_OPTS",
    "KAFKA_LOG4J_ROOT_LOGLEVEL",
    "KAFKA_LOG4J_LOGGERS",
    "KAFKA_TOOLS_LOG4J_LOGLEVEL",
    "KAFKA_JMX_HOSTNAME",
];

/// One node, one replica of everything, and limits that tests may go down to. A scenario's own
/// settings replace these by name.
const DEFAULTS: [(&str, &str); 23] = [
    // One topic of each internal kind, on one broker.
    ("offsets.topic.num.partitions", "1"),
    ("offsets.topic.replication.factor", "1"),
    ("transaction.state.log.num.partitions", "1"),
    ("transaction.state.log.replication.factor", "1"),
    ("transaction.state.log.min.isr", "1"),
    ("share.coordinator.state.topic.num.partitions", "1"),
    ("share.coordinator.state.topic.replication.factor", "1"),
    ("share.coordinator.state.topic.min.isr", "1"),
    ("default.replication.factor", "1"),
    ("min.insync.replicas", "1"),
    // A withheld topic must stay absent whatever a client asks for.
    ("auto.create.topics.enable", "false"),
    // A restart after SIGKILL waits for the session of its own dead incarnation.
    ("broker.session.timeout.ms", "3000"),
    ("broker.heartbeat.interval.ms", "500"),
    // Lower bounds only: which timeout a group has stays with the worker or the scenario.
    ("group.initial.rebalance.delay.ms", "0"),
    ("group.min.session.timeout.ms", "100"),
    ("group.consumer.min.session.timeout.ms", "100"),
    ("group.consumer.min.heartbeat.interval.ms", "50"),
    ("group.share.min.session.timeout.ms", "100"),
    ("group.share.min.heartbeat.interval.ms", "50"),
    ("group.share.min.record.lock.duration.ms", "1000"),
    // A heap of 96 MB does not hold the cleaner's default buffer of 128 MB.
    ("log.cleaner.dedupe.buffer.size", "4194304"),
    ("num.network.threads", "2"),
    ("num.io.threads", "2"),
];

/// The container of a Kafka broker (combined mode, one node) with the given pin.
///
/// `settings` are broker properties by Kafka's own names, for example `log.retention.ms`.
pub fn server_spec(
    pin: &str,
    settings: &BTreeMap<String, String>,
    addresses: Addresses,
) -> Result<ServerSpec, BadSetting> {
    Ok(ServerSpec {
        kind: ServerKind::Kafka,
        pin: pin.to_owned(),
        local_image: format!("ackproof/kafka:{pin}"),
        upstream_image: format!("apache/kafka:{pin}"),
        command: Vec::new(),
        env: environment(settings, addresses)?,
        ports: vec![(addresses.behind_link, LINK_PORT), (addresses.observer, OBSERVER_PORT)],
        data_path: DATA_PATH.to_owned(),
        full_disk: FULL_DISK,
        contents: "/opt/kafka/libs/*.jar",
        attest_command: Some(super::attest::command()),
    })
}

/// Every variable of the container; nothing else in it may begin with `KAFKA_`.
fn environment(
    settings: &BTreeMap<String, String>,
    addresses: Addresses,
) -> Result<Vec<(String, String)>, BadSetting> {
    let mut properties: BTreeMap<String, String> =
        DEFAULTS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    for (name, value) in settings {
        if RESERVED.contains(&name.as_str()) {
            return Err(BadSetting::new(ServerKind::Kafka, name, "the runner sets it itself"));
        }
        properties.insert(name.clone(), value.clone());
    }
    properties.extend(address_plan(addresses));

    let mut env = vec![
        ("CLUSTER_ID".to_owned(), CLUSTER_ID.to_owned()),
        ("KAFKA_HEAP_OPTS".to_owned(), "-Xmx96m -Xss256k".to_owned()),
        (
            "KAFKA_JVM_PERFORMANCE_OPTS".to_owned(),
            "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData".to_owned(),
        ),
        ("KAFKA_GC_LOG_OPTS".to_owned(), "-Xlog:disable".to_owned()),
    ];
    for (name, value) in properties {
        env.push((variable(&name)?, value));
    }
    Ok(env)
}

/// `LINK` for workers, `OBSERVER` for the runner, `BROKER` for the server itself: with a mapped
/// port as its only address the broker cannot reach itself and transactions never commit.
fn address_plan(addresses: Addresses) -> Vec<(String, String)> {
    let Addresses { link, observer, .. } = addresses;
    [
        ("node.id", "1".to_owned()),
        ("process.roles", "broker,controller".to_owned()),
        ("controller.quorum.voters", "1@localhost:9093".to_owned()),
        ("controller.listener.names", "CONTROLLER".to_owned()),
        ("inter.broker.listener.name", "BROKER".to_owned()),
        ("log.dirs", DATA_PATH.to_owned()),
        (
            "listeners",
            format!(
                "LINK://:{LINK_PORT},OBSERVER://:{OBSERVER_PORT},\
                 CONTROLLER://:9093,BROKER://:9094"
            ),
        ),
        (
            "advertised.listeners",
            format!(
                "LINK://127.0.0.1:{link},OBSERVER://127.0.0.1:{observer},BROKER://localhost:9094"
            ),
        ),
        (
            "listener.security.protocol.map",
            "LINK:PLAINTEXT,OBSERVER:PLAINTEXT,CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT".to_owned(),
        ),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// The variable that `kafka.docker.KafkaDockerWrapper` turns into this property: it drops
/// `KAFKA_`, lowers the case and reads `_` as `.`, `__` as `_` and `___` as `-`.
fn variable(property: &str) -> Result<String, BadSetting> {
    let refuse = |why: &str| Err(BadSetting::new(ServerKind::Kafka, property, why));
    let mut name = String::from("KAFKA_");
    let mut last_was_separator = true;
    for c in property.chars() {
        let separator = match c {
            '.' => Some("_"),
            '_' => Some("__"),
            '-' => Some("___"),
            'a'..='z' | '0'..='9' => None,
            _ => return refuse("only a-z, 0-9, '.', '_' and '-' reach the server"),
        };
        // Two in a row, or one at an end, would be read back as something else.
        if separator.is_some() && last_was_separator {
            return refuse("a separator must stand between letters or digits");
        }
        last_was_separator = separator.is_some();
        match separator {
            Some(text) => name.push_str(text),
            None => name.push(c.to_ascii_uppercase()),
        }
    }
    if last_was_separator {
        return refuse("a separator must stand between letters or digits");
    }
    if NO_PROPERTY.contains(&name.as_str()) || name[6..].contains("KAFKA_") {
        return refuse("the image's entry script reads this variable as something else");
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const PORTS: Addresses = Addresses { link: 20001, behind_link: 20002, observer: 20003 };

    fn value<'a>(spec: &'a ServerSpec, name: &str) -> Vec<&'a str> {
        spec.env.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect()
    }

    /// What the image makes of a variable (rule of `KafkaDockerWrapper`).
    fn read_back(variable: &str) -> String {
        variable["KAFKA_".len()..]
            .to_lowercase()
            .replace('_', ".")
            .replace("...", "-")
            .replace("..", "_")
    }

    #[test]
    fn a_property_name_survives_the_image_s_rule() {
        for property in ["log.retention.ms", "node.id", "a.b-c_d", "sasl.oauthbearer.x-y.z_1"] {
            assert_eq!(read_back(&variable(property).unwrap()), property);
        }
        assert_eq!(variable("log.retention.ms").unwrap(), "KAFKA_LOG_RETENTION_MS");
    }

    #[test]
    fn a_name_that_would_arrive_as_another_is_refused() {
        for property in
            ["", ".", "a.", "_a", "a..b", "a._b", "A.b", "a b", "a=b", "a\nb", "heap.opts", "ü"]
        {
            assert!(variable(property).is_err(), "{property:?}");
        }
        assert!(variable("my.kafka.port").is_err(), "3.9 drops every KAFKA_ in a name");
    }

    #[test]
    fn the_link_is_advertised_and_the_observer_mapped() {
        let spec = server_spec("4.3.1", &BTreeMap::new(), PORTS).unwrap();
        assert_eq!(
            value(&spec, "KAFKA_ADVERTISED_LISTENERS"),
            ["LINK://127.0.0.1:20001,OBSERVER://127.0.0.1:20003,BROKER://localhost:9094"]
        );
        assert_eq!(
            value(&spec, "KAFKA_LISTENERS"),
            ["LINK://:9092,OBSERVER://:9095,CONTROLLER://:9093,BROKER://:9094"]
        );
        assert_eq!(spec.ports, [(20002, 9092), (20003, 9095)]);
        assert_eq!(spec.local_image, "ackproof/kafka:4.3.1");
        assert_eq!(spec.upstream_image, "apache/kafka:4.3.1");
        assert_eq!(value(&spec, "KAFKA_LOG_DIRS"), [spec.data_path.as_str()]);
    }

    #[test]
    fn a_scenario_s_setting_replaces_a_default_once() {
        let settings = BTreeMap::from([
            ("broker.session.timeout.ms".to_owned(), "9000".to_owned()),
            ("log.retention.ms".to_owned(), "1000".to_owned()),
        ]);
        let spec = server_spec("4.3.1", &settings, PORTS).unwrap();
        assert_eq!(value(&spec, "KAFKA_BROKER_SESSION_TIMEOUT_MS"), ["9000"]);
        assert_eq!(value(&spec, "KAFKA_LOG_RETENTION_MS"), ["1000"]);
    }

    #[test]
    fn the_address_plan_cannot_be_overridden() {
        for name in RESERVED {
            let settings = BTreeMap::from([(name.to_owned(), "x".to_owned())]);
            assert!(server_spec("4.3.1", &settings, PORTS).is_err(), "{name}");
        }
    }
}
