//! Servers of a run: booted side by side, ready by a probe, attested, leased to units.
//! Server keys come in; running servers behind links come out, or the reason why there is none.
//! It must never call a server ready because a port answers or a log line appeared.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, watch};

use super::Notices;
use crate::brokers::{self, Attestation, Broker};
use crate::env::EnvError;
use crate::env::container::{Addresses, ServerSpec};
use crate::env::engine::{Engine, ServerContainer, StartError};
use crate::env::image::{self, ImageChoice, ResolvedImage};
use crate::env::ledger::{self, Ledger};
use crate::env::link::{BoundLink, Link};
use crate::env::ports::Ports;
use crate::env::run_lock::Keep;
use crate::env::settings::Settings;
use crate::names::{BrokerKind, Grade, ServerKind};
use crate::plan::{LeaseKind, ServerKey};
use crate::reports::progress::ProgressEvent;
use crate::wait::{self, Seen};

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Tries with other ports when somebody was quicker.
const PORT_TRIES: u32 = 5;

/// What every boot of a run shares.
#[derive(Debug, Clone)]
pub struct BootSetup {
    /// The engine, or why there is none: then no server boots, and every unit says so.
    pub engine: Result<Engine, EnvError>,
    pub images: ImageChoice,
    pub recipes: Option<PathBuf>,
    pub run: String,
    pub labels: BTreeMap<String, String>,
    pub keep: Keep,
    pub settings: Settings,
    /// Shared by all servers of the run.
    pub ports: Ports,
    /// Becomes true when the run is to end early: what boots then is given up. Its sender has to
    /// live as long as the run.
    pub cancel: watch::Receiver<bool>,
}

impl BootSetup {
    async fn cancelled(&self) {
        let _ = self.cancel.clone().wait_for(|cancelled| *cancelled).await;
    }
}

/// A running, ready and attested server.
pub struct Server {
    pub key: ServerKey,
    pub container: ServerContainer,
    pub link: Link,
    pub addresses: Addresses,
    pub image: ResolvedImage,
    pub attested: Attestation,
    pub boot_ms: u64,
    pub port: Port,
}

/// The observer's way to a server.
pub enum Port {
    Broker(Arc<dyn Broker>),
    Ledger(Ledger),
}

/// All servers of a run by key; each boots once, and leases wait for it.
#[derive(Clone)]
pub struct Servers {
    boots: Arc<BTreeMap<ServerKey, Boot>>,
}

#[derive(Clone)]
struct Boot {
    outcome: watch::Receiver<Option<Result<Arc<Server>, EnvError>>>,
    /// Fair, first come first served: shared leases read, exclusive ones write.
    gate: Arc<RwLock<()>>,
}

/// A unit's hold on a server; it ends when it is dropped.
pub struct Lease {
    pub server: Arc<Server>,
    _hold: Hold,
}

#[expect(dead_code, reason = "held for their drop")]
enum Hold {
    Shared(OwnedRwLockReadGuard<()>),
    Exclusive(OwnedRwLockWriteGuard<()>),
}

impl Servers {
    /// Starts to boot every server, side by side.
    pub fn boot(
        keys: impl IntoIterator<Item = ServerKey>,
        setup: &BootSetup,
        notices: &Notices,
    ) -> Self {
        let boots = keys
            .into_iter()
            .enumerate()
            .map(|(index, key)| {
                let (sender, outcome) = watch::channel(None);
                let (setup, notices, booting) = (setup.clone(), notices.clone(), key.clone());
                tokio::spawn(async move {
                    let booted = boot_and_tell(booting, index, &setup, &notices).await;
                    let _ = sender.send(Some(booted.map(Arc::new)));
                });
                (key, Boot { outcome, gate: Arc::new(RwLock::new(())) })
            })
            .collect();
        Self { boots: Arc::new(boots) }
    }

    /// Waits for a server and its turn on it.
    ///
    /// # Errors
    /// When the server could not be booted.
    pub async fn lease(&self, key: &ServerKey, kind: LeaseKind) -> Result<Lease, EnvError> {
        let name = format!("{} {}", key.kind, key.pin);
        let boot = self
            .boots
            .get(key)
            .ok_or_else(|| EnvError::new(&name, "the plan names no such server"))?;
        let server = self.booted(boot).await?;
        let gate = Arc::clone(&boot.gate);
        let hold = match kind {
            LeaseKind::Shared => Hold::Shared(gate.read_owned().await),
            LeaseKind::Exclusive | LeaseKind::Disposable => {
                Hold::Exclusive(gate.write_owned().await)
            }
        };
        Ok(Lease { server, _hold: hold })
    }

    async fn booted(&self, boot: &Boot) -> Result<Arc<Server>, EnvError> {
        let mut outcome = boot.outcome.clone();
        let value = outcome
            .wait_for(Option::is_some)
            .await
            .map_err(|_| EnvError::new("boot", "it was interrupted"))?;
        match value.as_ref() {
            Some(Ok(server)) => Ok(Arc::clone(server)),
            Some(Err(error)) => Err(error.clone()),
            None => Err(EnvError::new("boot", "it was interrupted")),
        }
    }

    /// Every server that came up, once all boots have ended one way or the other.
    pub async fn all(&self) -> Vec<Arc<Server>> {
        let mut servers = Vec::new();
        for boot in self.boots.values() {
            if let Ok(server) = self.booted(boot).await {
                servers.push(server);
            }
        }
        servers
    }
}

impl Server {
    /// `kafka 4.3.1`, for messages.
    pub fn name(&self) -> String {
        format!("{} {}", self.key.kind, self.key.pin)
    }

    /// The observer's port, if it is a broker.
    ///
    /// # Errors
    /// When it is a database.
    pub fn broker(&self) -> Result<&Arc<dyn Broker>, EnvError> {
        match &self.port {
            Port::Broker(broker) => Ok(broker),
            Port::Ledger(_) => Err(EnvError::new(self.name(), "it is no broker")),
        }
    }

    /// The ledger, if it is a database.
    ///
    /// # Errors
    /// When it is a broker.
    pub fn ledger(&self) -> Result<&Ledger, EnvError> {
        match &self.port {
            Port::Ledger(ledger) => Ok(ledger),
            Port::Broker(_) => Err(EnvError::new(self.name(), "it is no database")),
        }
    }
}

async fn boot_and_tell(
    key: ServerKey,
    index: usize,
    setup: &BootSetup,
    notices: &Notices,
) -> Result<Server, EnvError> {
    if let Err(error) = &setup.engine {
        // Nothing starts, and whoever looked for the engine has said why.
        return Err(error.clone());
    }
    let name = format!("{} {}", key.kind, key.pin);
    let _ = notices.send(ProgressEvent::ServerStarting { server: name.clone() });
    let booted = boot(key, index, setup).await;
    let _ = notices.send(match &booted {
        Ok(server) => ProgressEvent::ServerReady { server: name, took_ms: server.boot_ms },
        Err(error) => ProgressEvent::ServerFailed { server: name, detail: error.to_string() },
    });
    booted
}

async fn boot(key: ServerKey, index: usize, setup: &BootSetup) -> Result<Server, EnvError> {
    let engine = setup.engine.as_ref().map_err(Clone::clone)?;
    let image = tokio::select! {
        image = image_of(&key, engine, setup) => image?,
        () = setup.cancelled() => return Err(interrupted()),
    };
    let name = format!("ackproof-{}-{}-{index}", setup.run, key.kind);
    let mut last = None;
    for _ in 0..PORT_TRIES {
        if *setup.cancel.borrow() {
            return Err(interrupted());
        }
        let link = match BoundLink::bind(setup.ports.for_listener()?).await {
            Ok(link) => link,
            Err(error) => {
                last = Some(error.to_string());
                continue;
            }
        };
        let addresses = addresses(&key, link.port(), &setup.ports)?;
        let spec = server_spec(&key, addresses)?;
        let started = Instant::now();
        // Not cut off by an interruption: what the engine is about to create must be known by its
        // handle, or nobody would remove it.
        let container =
            engine.start(&spec, &image.name, &name, &setup.labels, &setup.settings, setup.keep);
        match container.await {
            Ok(container) => {
                let link = link.open(addresses.behind_link);
                let booting = Booting { key, container, link, addresses, image, started };
                return booting.finish(setup).await;
            }
            Err(StartError::PortTaken(why)) => last = Some(why),
            Err(StartError::Env(error)) => return Err(error),
        }
    }
    Err(EnvError::new(
        format!("cannot start {} {}", key.kind, key.pin),
        format!("{PORT_TRIES} choices of ports were all taken: {}", last.unwrap_or_default()),
    ))
}

fn interrupted() -> EnvError {
    EnvError::new("boot", "it was interrupted")
}

async fn image_of(
    key: &ServerKey,
    engine: &Engine,
    setup: &BootSetup,
) -> Result<ResolvedImage, EnvError> {
    // Ports are chosen later, when nothing long stands between their choice and their use.
    let spec = server_spec(key, Addresses { link: 0, behind_link: 0, observer: 0 })?;
    image::resolve(engine, &spec, setup.images, setup.recipes.as_deref()).await
}

/// The observer reads a database on the port behind its link.
fn addresses(key: &ServerKey, link: u16, ports: &Ports) -> Result<Addresses, EnvError> {
    let behind_link = ports.free()?;
    let observer = match broker_kind(key.kind) {
        Some(_) => ports.free()?,
        None => behind_link,
    };
    Ok(Addresses { link, behind_link, observer })
}

/// A server whose container was started and that is not known to be ready.
struct Booting {
    key: ServerKey,
    container: ServerContainer,
    link: Link,
    addresses: Addresses,
    image: ResolvedImage,
    started: Instant,
}

impl Booting {
    /// Waits for it, asks for its version, and removes what does not get so far.
    async fn finish(self, setup: &BootSetup) -> Result<Server, EnvError> {
        let outcome = tokio::select! {
            outcome = self.attested(setup.settings.boot_deadline) => outcome,
            () = setup.cancelled() => Err(interrupted()),
        };
        let Self { key, container, link, addresses, image, .. } = self;
        match outcome {
            Ok((port, attested, boot_ms)) => {
                Ok(Server { key, container, link, addresses, image, attested, boot_ms, port })
            }
            Err(error) => {
                container.remove().await;
                Err(error)
            }
        }
    }

    async fn attested(&self, patience: Duration) -> Result<(Port, Attestation, u64), EnvError> {
        let port = match broker_kind(self.key.kind) {
            Some(kind) => Port::Broker(
                brokers::connect(kind, self.addresses).map_err(|e| EnvError::new("observer", e))?,
            ),
            None => Port::Ledger(Ledger::at(self.addresses.behind_link)),
        };
        ready(&port, &self.container, patience).await?;
        let boot_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let attested = attest(&port, &self.container).await?;
        Ok((port, attested, boot_ms))
    }
}

async fn ready(
    port: &Port,
    container: &ServerContainer,
    patience: Duration,
) -> Result<(), EnvError> {
    let name = format!("{} {}", container.spec().kind, container.spec().pin);
    let what = format!("{name} to be ready");
    let outcome = wait::until(&what, Instant::now() + patience, LOOK_EVERY, || async {
        if let Some(end) = ended(container).await {
            return Seen::Done(Err(end));
        }
        let probe = match port {
            Port::Broker(broker) => broker.probe_ready().await.map_err(|e| e.to_string()),
            Port::Ledger(ledger) => ledger.probe_ready().await.map_err(|e| e.to_string()),
        };
        match probe {
            Ok(()) => Seen::Done(Ok(())),
            Err(why) => Seen::NotYet(why),
        }
    })
    .await;
    let why = match outcome {
        Ok(Ok(())) => {
            return match port {
                Port::Broker(_) => Ok(()),
                Port::Ledger(ledger) => ledger.prepare().await,
            };
        }
        Ok(Err(end)) => end,
        Err(error) => error.to_string(),
    };
    if let Ok(Some(line)) = container.full_disk().await {
        let detail = format!("{why}; it ran out of disk space: {line}");
        return Err(EnvError::new(format!("{name} never became ready"), detail));
    }
    let tail = container.log_tail(12).await;
    Err(EnvError::new(format!("{name} never became ready"), format!("{why}; its log ends: {tail}")))
}

/// Why a container is not running any more, if so.
async fn ended(container: &ServerContainer) -> Option<String> {
    let state = container.state().await.ok()?;
    if state.running {
        return None;
    }
    let oom = if state.oom_killed { ", killed for lack of memory (OOM)" } else { "" };
    Some(format!("its container ended with exit code {:?}{oom}", state.exit_code))
}

async fn attest(port: &Port, container: &ServerContainer) -> Result<Attestation, EnvError> {
    match port {
        Port::Broker(broker) => {
            let artifact = match &container.spec().attest_command {
                Some(command) => Some(container.exec(command).await?),
                None => None,
            };
            broker.attest(artifact.as_deref()).await.map_err(|e| EnvError::new("attestation", e))
        }
        Port::Ledger(ledger) => Ok(Attestation {
            version: ledger.version().await?,
            grade: Grade::Ledger,
            artifact: None,
            plausibility: None,
        }),
    }
}

/// No port is used where only images matter.
pub const NO_ADDRESSES: Addresses = Addresses { link: 0, behind_link: 0, observer: 0 };

/// The container of a server key; the one place that knows all kinds.
///
/// # Errors
/// When a server setting cannot be passed on.
pub fn server_spec(key: &ServerKey, addresses: Addresses) -> Result<ServerSpec, EnvError> {
    match broker_kind(key.kind) {
        Some(kind) => brokers::server_spec(kind, &key.pin, &key.settings, addresses)
            .map_err(|e| EnvError::new("server settings", e)),
        None => Ok(ledger::server_spec(&key.pin, addresses)),
    }
}

fn broker_kind(kind: ServerKind) -> Option<BrokerKind> {
    match kind {
        ServerKind::Kafka => Some(BrokerKind::Kafka),
        ServerKind::Pulsar => Some(BrokerKind::Pulsar),
        ServerKind::Postgres => None,
    }
}
