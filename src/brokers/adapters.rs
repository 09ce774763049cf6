//! From a broker's kind to its adapter: the only place that knows which brokers there are.
//! A kind, a pin and addresses come in; a container as data, or a connected observer, comes out.
//! It must never hold anything that only one broker needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Broker, BrokerError, bounded, kafka, pulsar};
use crate::env::container::{Addresses, ServerSpec};
use crate::names::{BrokerKind, ServerKind};

/// The container of a broker at this pin; `settings` are by the server's own names.
pub fn server_spec(
    kind: BrokerKind,
    pin: &str,
    settings: &BTreeMap<String, String>,
    addresses: Addresses,
) -> Result<ServerSpec, BadSetting> {
    match kind {
        BrokerKind::Kafka => kafka::server_spec(pin, settings, addresses),
        BrokerKind::Pulsar => pulsar::server_spec(pin, settings, addresses),
    }
}

/// The observer of a broker; it connects lazily, so the server may still be booting.
pub fn connect(kind: BrokerKind, addresses: Addresses) -> Result<Arc<dyn Broker>, BrokerError> {
    let observer = format!("127.0.0.1:{}", addresses.observer);
    Ok(match kind {
        BrokerKind::Kafka => bounded(kafka::KafkaObserver::new(&observer)?),
        BrokerKind::Pulsar => bounded(pulsar::PulsarObserver::new(&format!("http://{observer}"))?),
    })
}

fn bounded(broker: impl Broker + 'static) -> Arc<dyn Broker> {
    Arc::new(bounded::Bounded::new(broker, bounded::LIMIT))
}

/// A server setting that cannot be passed on as it is.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{server} setting '{name}': {why}")]
pub struct BadSetting {
    pub server: ServerKind,
    pub name: String,
    pub why: String,
}

impl BadSetting {
    pub(super) fn new(server: ServerKind, name: &str, why: &str) -> Self {
        let name = name.chars().take(80).collect();
        Self { server, name, why: why.to_owned() }
    }
}
