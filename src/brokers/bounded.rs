//! One bound for every call of every adapter, however many requests a call is made of.
//! A `Broker` comes in; the same one, whose calls end within the limit, comes out.
//! It must never change an answer.

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;

use super::{Answer, Attestation, Broker, BrokerError, UnitNames};
use crate::evidence::cursor::Cursor;
use crate::evidence::event::{LogEntry, TopicCounts};
use crate::faults::admin::AdminAction;
use crate::faults::withhold::Piece;
use crate::names::{BrokerKind, TopicRole};
use crate::suite::model::Topology;

/// The contract of [`Broker`].
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// A whole log is one request an entry on Pulsar, each of them bounded by itself: a thousand took
/// more than 10 s on a busy machine.
const LIMITS_OF_A_LOG: u32 = 6;

/// An adapter whose calls are bounded by `limit`.
pub(super) struct Bounded<B> {
    inner: B,
    limit: Duration,
}

impl<B: Broker> Bounded<B> {
    pub fn new(inner: B, limit: Duration) -> Self {
        Self { inner, limit }
    }

    async fn within<T>(
        &self,
        what: &str,
        call: impl Future<Output = Result<T, BrokerError>> + Send,
    ) -> Result<T, BrokerError> {
        self.by(self.limit, what, call).await
    }

    async fn by<T>(
        &self,
        limit: Duration,
        what: &str,
        call: impl Future<Output = Result<T, BrokerError>> + Send,
    ) -> Result<T, BrokerError> {
        tokio::time::timeout(limit, call).await.unwrap_or_else(|_| {
            Err(BrokerError {
                broker: self.inner.kind(),
                what: what.to_owned(),
                detail: format!("not done in {} ms", limit.as_millis()),
            })
        })
    }
}

#[async_trait]
impl<B: Broker> Broker for Bounded<B> {
    fn kind(&self) -> BrokerKind {
        self.inner.kind()
    }

    fn names(&self, prefix: &str, topology: &Topology) -> UnitNames {
        self.inner.names(prefix, topology)
    }

    async fn probe_ready(&self) -> Result<(), BrokerError> {
        self.within("probe", self.inner.probe_ready()).await
    }

    async fn attest(&self, artifact: Option<&str>) -> Result<Attestation, BrokerError> {
        self.within("attest the version", self.inner.attest(artifact)).await
    }

    async fn provision(&self, names: &UnitNames, topology: &Topology) -> Result<(), BrokerError> {
        self.within("provision", self.inner.provision(names, topology)).await
    }

    async fn create(
        &self,
        names: &UnitNames,
        topology: &Topology,
        piece: Piece,
    ) -> Result<Answer, BrokerError> {
        self.within("create a piece", self.inner.create(names, topology, piece)).await
    }

    async fn absent(&self, names: &UnitNames, piece: Piece) -> Result<Answer, BrokerError> {
        self.within("prove an absence", self.inner.absent(names, piece)).await
    }

    async fn cursor(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        group: &str,
    ) -> Result<Cursor, BrokerError> {
        self.within("read a cursor", self.inner.cursor(names, topic, group)).await
    }

    async fn backlog(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        group: &str,
    ) -> Result<u64, BrokerError> {
        self.within("count the backlog", self.inner.backlog(names, topic, group)).await
    }

    async fn counts(
        &self,
        names: &UnitNames,
        topic: TopicRole,
    ) -> Result<TopicCounts, BrokerError> {
        self.within("read counters", self.inner.counts(names, topic)).await
    }

    async fn read_log(
        &self,
        names: &UnitNames,
        topic: TopicRole,
    ) -> Result<Vec<LogEntry>, BrokerError> {
        let limit = self.limit * LIMITS_OF_A_LOG;
        self.by(limit, "read the log", self.inner.read_log(names, topic)).await
    }

    async fn administer(
        &self,
        names: &UnitNames,
        topic: TopicRole,
        action: AdminAction,
    ) -> Result<Answer, BrokerError> {
        self.within("administer", self.inner.administer(names, topic, action)).await
    }

    async fn remove(&self, names: &UnitNames) -> Result<(), BrokerError> {
        self.within("remove a unit", self.inner.remove(names)).await
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Read;
    use std::net::TcpListener;
    use std::time::Instant;

    use super::*;
    use crate::brokers::pulsar::PulsarObserver;

    /// A server that is frozen: the kernel accepts, nothing answers.
    #[test]
    fn a_frozen_server_does_not_hold_a_call() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let started = Instant::now();
        let limit = Duration::from_millis(200);
        let outcome = runtime.block_on(async {
            let broker = Bounded::new(PulsarObserver::new(&base)?, limit);
            broker.attest(None).await
        });
        let error = outcome.unwrap_err();
        assert!(error.to_string().contains("not done in 200 ms"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn an_answer_in_time_is_passed_on() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap();
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n4.2.4";
            std::io::Write::write_all(&mut stream, answer).unwrap();
            String::from_utf8_lossy(&request[..read]).into_owned()
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let attestation = runtime.block_on(async {
            Bounded::new(PulsarObserver::new(&base).unwrap(), LIMIT).attest(None).await.unwrap()
        });
        assert_eq!(attestation.version, "4.2.4");
        assert!(server.join().unwrap().starts_with("GET /admin/v2/brokers/version HTTP/1.1"));
    }
}
