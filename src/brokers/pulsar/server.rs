//! What a Pulsar server container is: standalone, configured by the image's own script.
//! A pin, server settings and chosen ports come in; one `ServerSpec` for local and upstream image
//! comes out. It must never let a setting change what the runner's address plan depends on.

use std::collections::BTreeMap;

use crate::brokers::BadSetting;
use crate::env::container::{Addresses, ServerSpec};
use crate::names::ServerKind;

/// Binary protocol inside the container, behind the link.
const SERVICE_PORT: u16 = 6650;
/// Admin REST inside the container: the observer's only way in.
const ADMIN_PORT: u16 = 8080;

/// The words of the system's error, and those of the bookie, which stops to write before that. (It
/// warns in similar words of a disk that is almost full.)
const FULL_DISK: &[&str] = &["No space left on device", "is out-of-space"];

/// Rewrites the configuration from the environment (idempotent, so a restart works), then becomes
/// the server. No functions worker, no stream storage.
const START: &str = "bin/apply-config-from-env.py conf/standalone.conf \
                     && exec bin/pulsar standalone -nfw -nss";

/// Keys that the address plan or the shape of the server depends on.
const RESERVED: [&str; 6] = [
    // A restarted container may have another address; only a loopback one keeps its bookie.
    "advertisedAddress",
    "brokerServicePort",
    "webServicePort",
    "bindAddress",
    "clusterName",
    // Units are removed with their namespace.
    "forceDeleteNamespaceAllowed",
];

/// Less to start, and limits that tests may go down to. A scenario's own settings replace these.
const DEFAULTS: [(&str, &str); 13] = [
    ("systemTopicEnabled", "false"),
    ("topicLevelPoliciesEnabled", "false"),
    ("webSocketServiceEnabled", "false"),
    ("loadBalancerEnabled", "false"),
    ("numIOThreads", "2"),
    ("numHttpServerThreads", "8"),
    ("managedLedgerCacheSizeMB", "8"),
    ("dbStorage_writeCacheMaxSizeMb", "8"),
    ("dbStorage_readAheadCacheMaxSizeMb", "8"),
    ("dbStorage_rocksDB_blockCacheSize", "8388608"),
    // At the default of 1000 short delays are not what they say.
    ("delayedDeliveryTickTimeMillis", "100"),
    // A frozen consumer is noticed in 5 to 9 s instead of a minute.
    ("keepAliveIntervalSeconds", "5"),
    // What nobody reads must go by a named action only, never by a clock of the server.
    ("brokerDeleteInactiveTopicsEnabled", "false"),
];

/// The container of a standalone Pulsar with the given pin.
///
/// `settings` are keys of `standalone.conf`, for example `subscriptionExpirationTimeMinutes`.
pub fn server_spec(
    pin: &str,
    settings: &BTreeMap<String, String>,
    addresses: Addresses,
) -> Result<ServerSpec, BadSetting> {
    Ok(ServerSpec {
        kind: ServerKind::Pulsar,
        pin: pin.to_owned(),
        local_image: format!("ackproof/pulsar:{pin}"),
        upstream_image: format!("apachepulsar/pulsar:{pin}"),
        command: ["bash", "-c", START].map(str::to_owned).to_vec(),
        env: environment(settings)?,
        ports: vec![(addresses.behind_link, SERVICE_PORT), (addresses.observer, ADMIN_PORT)],
        data_path: "/pulsar/data".to_owned(),
        full_disk: FULL_DISK,
        contents: "/pulsar/lib/*.jar",
        // The admin interface names the version that runs.
        attest_command: None,
    })
}

fn environment(settings: &BTreeMap<String, String>) -> Result<Vec<(String, String)>, BadSetting> {
    let mut keys: BTreeMap<String, String> =
        DEFAULTS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    for (key, value) in settings {
        check(key, value).map_err(|why| BadSetting::new(ServerKind::Pulsar, key, why))?;
        keys.insert(key.clone(), value.clone());
    }
    keys.insert("advertisedAddress".to_owned(), "127.0.0.1".to_owned());
    keys.insert("forceDeleteNamespaceAllowed".to_owned(), "true".to_owned());

    let mut env = vec![
        ("PULSAR_MEM".to_owned(), "-Xmx192m -XX:MaxDirectMemorySize=128m".to_owned()),
        (
            "PULSAR_GC".to_owned(),
            "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData".to_owned(),
        ),
        // A single space turns the GC log off; empty would mean the default.
        ("PULSAR_GC_LOG".to_owned(), " ".to_owned()),
    ];
    env.extend(keys.into_iter().map(|(key, value)| (format!("PULSAR_PREFIX_{key}"), value)));
    Ok(env)
}

/// The script writes `key=value` lines, and the key is part of a variable's name.
fn check(key: &str, value: &str) -> Result<(), &'static str> {
    if RESERVED.contains(&key) {
        return Err("the runner sets it itself");
    }
    let named = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !named || !key.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err("only letters, digits and '_' reach the server, with a letter first");
    }
    if value.contains(['\n', '\r', '\0']) {
        return Err("the value must be one line");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const PORTS: Addresses = Addresses { link: 20001, behind_link: 20002, observer: 20003 };

    fn spec(settings: &[(&str, &str)]) -> Result<ServerSpec, BadSetting> {
        let settings = settings.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        server_spec("4.2.4", &settings, PORTS)
    }

    fn value<'a>(spec: &'a ServerSpec, name: &str) -> Vec<&'a str> {
        spec.env.iter().filter(|(n, _)| n == name).map(|(_, v)| v.as_str()).collect()
    }

    #[test]
    fn one_spec_serves_both_images() {
        let spec = spec(&[]).unwrap();
        assert_eq!(spec.local_image, "ackproof/pulsar:4.2.4");
        assert_eq!(spec.upstream_image, "apachepulsar/pulsar:4.2.4");
        assert_eq!(spec.ports, [(20002, 6650), (20003, 8080)]);
        assert_eq!(value(&spec, "PULSAR_PREFIX_advertisedAddress"), ["127.0.0.1"]);
        assert_eq!(value(&spec, "PULSAR_GC_LOG"), [" "]);
        assert_eq!(spec.command[2].matches("exec ").count(), 1, "the server must be process 1");
        assert!(!spec.command[2].contains("  "), "{}", spec.command[2]);
    }

    #[test]
    fn a_scenario_s_setting_replaces_a_default_once() {
        let spec = spec(&[("keepAliveIntervalSeconds", "30"), ("maxMessageSize", "9")]).unwrap();
        assert_eq!(value(&spec, "PULSAR_PREFIX_keepAliveIntervalSeconds"), ["30"]);
        assert_eq!(value(&spec, "PULSAR_PREFIX_maxMessageSize"), ["9"]);
    }

    #[test]
    fn what_would_not_arrive_is_refused() {
        for key in ["", "a b", "a=b", "a.b", "1a", "_a", "a\nb", "ü", "advertisedAddress"] {
            assert!(spec(&[(key, "x")]).is_err(), "{key:?}");
        }
        assert!(spec(&[("maxMessageSize", "1\nadvertisedAddress=evil")]).is_err());
    }
}
