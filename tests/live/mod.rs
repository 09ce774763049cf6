//! A server for the live tests: a container made by hand from a `ServerSpec`, gone at the end.
//! A broker and a pin come in; a ready, observed server comes out.
//! It must never end a container that it did not start.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ackproof::brokers::{self, Broker};
use ackproof::env::container::{Addresses, ServerSpec};
use ackproof::names::BrokerKind;
use ackproof::suite::model::{
    DeadLetterTopology, Destination, Presence, SubscriptionType, Topology,
};
use ackproof::wait::{self, Seen};

/// Pins to try, from a variable like `ACKPROOF_LIVE_KAFKA=4.3.1,4.4.0`.
pub fn pins(variable: &str, default: &str) -> Vec<String> {
    let pins = std::env::var(variable).unwrap_or_else(|_| default.to_owned());
    pins.split(',').map(str::to_owned).collect()
}

pub struct Server {
    id: String,
    volume: String,
    spec: ServerSpec,
    pub addresses: Addresses,
    pub broker: Arc<dyn Broker>,
}

impl Server {
    /// Starts it and waits until the adapter's own probe says ready.
    pub async fn start(kind: BrokerKind, pin: &str) -> Self {
        let [link, observer] = free_ports();
        // No proxy stands before the server here, so the link is the server's own port.
        let addresses = Addresses { link, behind_link: link, observer };
        let spec = brokers::server_spec(kind, pin, &BTreeMap::new(), addresses).unwrap();
        let volume = format!("ackproof-live-{link}");
        let mut run = vec!["run".to_owned(), "-d".to_owned()];
        run.extend(["-v".to_owned(), format!("{volume}:{}", spec.data_path)]);
        if let Ok(network) = std::env::var("ACKPROOF_LIVE_NETWORK") {
            run.extend(["--network".to_owned(), network]);
        }
        for (host, inside) in &spec.ports {
            run.extend(["-p".to_owned(), format!("127.0.0.1:{host}:{inside}")]);
        }
        for (name, value) in &spec.env {
            run.extend(["-e".to_owned(), format!("{name}={value}")]);
        }
        run.push(spec.local_image.clone());
        run.extend(spec.command.clone());
        let id = docker(&run);
        let broker = brokers::connect(kind, addresses).unwrap();
        let server = Self { id, volume, spec, addresses, broker };
        let started = Instant::now();
        server.ready().await;
        eprintln!("{kind} {pin}: ready after {} ms", started.elapsed().as_millis());
        server
    }

    async fn ready(&self) {
        let deadline = Instant::now() + Duration::from_secs(180);
        wait::until("the server", deadline, Duration::from_millis(50), || async {
            match self.broker.probe_ready().await {
                Ok(()) => Seen::Done(()),
                Err(error) => Seen::NotYet(error.to_string()),
            }
        })
        .await
        .unwrap();
    }

    /// SIGKILL and a start of the same container.
    pub async fn crash(&self) {
        docker(&["kill".to_owned(), "-s".to_owned(), "KILL".to_owned(), self.id.clone()]);
        docker(&["start".to_owned(), self.id.clone()]);
        let started = Instant::now();
        self.ready().await;
        eprintln!("{}: ready {} ms after a crash", self.spec.kind, started.elapsed().as_millis());
    }

    pub fn attest_output(&self) -> Option<String> {
        let command = self.spec.attest_command.clone()?;
        Some(docker(&[vec!["exec".to_owned(), self.id.clone()], command].concat()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("docker").args(["rm", "-f", "-v", &self.id]).output();
        let _ = Command::new("docker").args(["volume", "rm", "-f", &self.volume]).output();
    }
}

fn docker(arguments: &[String]) -> String {
    let output = Command::new("docker").args(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "docker {}: {error}", arguments.join(" "));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Two free ports below the range from which the kernel takes its own.
fn free_ports() -> [u16; 2] {
    let mut seed = u64::from(std::process::id()) ^ u64::from(clock_nanos());
    let mut next = || loop {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let port = 20_000 + u16::try_from((seed >> 33) % 12_000).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    };
    [next(), next()]
}

fn clock_nanos() -> u32 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos()
}

pub fn topology(partitions: u32, topic: Presence, subscription: Presence) -> Topology {
    let shared = Destination { subscription: SubscriptionType::Shared };
    Topology {
        partitions,
        destinations: BTreeMap::from([
            ("billing".to_owned(), shared.clone()),
            ("shipping".to_owned(), shared),
        ]),
        dead_letter: Some(DeadLetterTopology { topic, subscription, partitions: None }),
        server: BTreeMap::new(),
        settings: BTreeMap::new(),
    }
}
