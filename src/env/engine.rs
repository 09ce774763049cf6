//! The container engine: connect, start a server as data says, look at it, remove it.
//! A `ServerSpec`, an image and labels come in; a running, labelled container comes out.
//! It must never start a container without the run's labels, nor bind a port beyond 127.0.0.1.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use bollard::Docker;
use bollard::container::LogOutput;
use bollard::exec::{StartExecOptions, StartExecResults};
use bollard::models::{ExecConfig, HostConfig, VolumeCreateRequest};
use bollard::query_parameters::{LogsOptionsBuilder, RemoveVolumeOptionsBuilder};
use futures_util::StreamExt;
use testcontainers::core::{IntoContainerPort, Mount};
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, GenericImage, ImageExt};

use super::EnvError;
use super::container::ServerSpec;
use super::run_lock::Keep;
use super::settings::Settings;
use crate::evidence::event::ContainerState;

/// Characters of a log line that are kept.
const LINE_CHARS: usize = 400;
/// How long the engine may take to create and start a container.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A connection to the engine that `DOCKER_HOST` names, or to the local one.
#[derive(Debug, Clone)]
pub struct Engine {
    docker: Docker,
    version: String,
}

/// A server's container on its labelled volume.
#[derive(Debug)]
pub struct ServerContainer {
    engine: Engine,
    spec: ServerSpec,
    id: String,
    container: Mutex<Option<ContainerAsync<GenericImage>>>,
    volume: String,
    keep: Keep,
    searched: tokio::sync::Mutex<Searched>,
}

/// How far a log was searched for a full disk, and what was found.
#[derive(Debug, Default)]
struct Searched {
    /// Seconds of the system clock.
    until_s: u64,
    found: Option<String>,
}

/// Why a container did not start; a taken port is worth another try with other ports.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("port already taken: {0}")]
    PortTaken(String),
    #[error(transparent)]
    Env(#[from] EnvError),
}

impl Engine {
    /// Connects and asks for the engine's version.
    ///
    /// # Errors
    /// When no engine answers; the error says what to do.
    pub async fn connect() -> Result<Self, EnvError> {
        let help = "start a Docker engine (ci/engine ensure does it on Debian as root), \
                    or set DOCKER_HOST";
        let error = |e: bollard::errors::Error| {
            EnvError::new("no container engine answers", format!("{e}; {help}"))
        };
        let docker = Docker::connect_with_defaults().map_err(error)?;
        // Engines refuse versions of their interface that are too old or too new for them.
        let docker = docker.negotiate_version().await.map_err(error)?;
        let answer = docker.version().await.map_err(error)?;
        let version = format!(
            "{} (API {})",
            answer.version.unwrap_or_default(),
            answer.api_version.unwrap_or_default()
        );
        Ok(Self { docker, version })
    }

    /// The engine's version as it answered.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The connection itself, for its neighbours in this folder.
    pub(super) fn docker(&self) -> &Docker {
        &self.docker
    }

    /// Starts a server's container on a new labelled volume.
    ///
    /// # Errors
    /// `PortTaken` when a port was taken meanwhile; anything else is final.
    pub async fn start(
        &self,
        spec: &ServerSpec,
        image: &str,
        name: &str,
        labels: &BTreeMap<String, String>,
        settings: &Settings,
        keep: Keep,
    ) -> Result<ServerContainer, StartError> {
        let what = format!("cannot start {} {} from image {image}", spec.kind, spec.pin);
        let volume = VolumeCreateRequest {
            name: Some(name.to_owned()),
            labels: Some(labels.clone().into_iter().collect()),
            driver_opts: settings.data_mb.map(limited),
            ..VolumeCreateRequest::default()
        };
        self.docker.create_volume(volume).await.map_err(|e| EnvError::new(&what, e))?;
        let request = request(spec, image, name, labels, settings.memory_mb);
        match request.start().await {
            Ok(container) => Ok(ServerContainer {
                engine: self.clone(),
                spec: spec.clone(),
                id: container.id().to_owned(),
                container: Mutex::new(Some(container)),
                volume: name.to_owned(),
                keep,
                searched: Default::default(),
            }),
            Err(error) => {
                self.discard(name).await;
                Err(classify(&what, &error))
            }
        }
    }

    /// Removes a container that was created but did not start, and its volume.
    async fn discard(&self, name: &str) {
        let options =
            bollard::query_parameters::RemoveContainerOptionsBuilder::new().force(true).v(true);
        let _ = self.docker.remove_container(name, Some(options.build())).await;
        self.remove_volume(name).await;
    }

    async fn remove_volume(&self, name: &str) {
        let options = RemoveVolumeOptionsBuilder::new().force(true).build();
        if let Err(error) = self.docker.remove_volume(name, Some(options)).await {
            tracing::warn!(%error, volume = name, "a volume could not be removed; a sweep will");
        }
    }
}

/// Options of the local driver for a volume that is full at this size, in MiB.
fn limited(megabytes: u32) -> HashMap<String, String> {
    let options = [
        ("type", String::from("tmpfs")),
        ("device", String::from("tmpfs")),
        ("o", format!("size={megabytes}m")),
    ];
    options.map(|(name, value)| (name.to_owned(), value)).into()
}

fn request(
    spec: &ServerSpec,
    image: &str,
    name: &str,
    labels: &BTreeMap<String, String>,
    memory_mb: Option<u32>,
) -> testcontainers::ContainerRequest<GenericImage> {
    let (image, tag) = image.rsplit_once(':').unwrap_or((image, "latest"));
    let mut request = GenericImage::new(image, tag)
        .with_container_name(name)
        .with_labels(labels.clone())
        .with_cmd(spec.command.clone())
        .with_mount(Mount::volume_mount(name, spec.data_path.clone()))
        .with_startup_timeout(START_TIMEOUT)
        .with_host_config_modifier(move |config| confine(config, memory_mb));
    for (variable, value) in &spec.env {
        request = request.with_env_var(variable, value);
    }
    for (host, container) in &spec.ports {
        request = request.with_mapped_port(*host, container.tcp());
    }
    request
}

/// Published ports answer on 127.0.0.1 only: no test server is anybody else's business.
/// A server may be held to less memory than the machine has.
fn confine(config: &mut HostConfig, memory_mb: Option<u32>) {
    config.memory = memory_mb.map(|megabytes| i64::from(megabytes) * 1024 * 1024);
    config.memory_swap = config.memory;
    for bindings in config.port_bindings.iter_mut().flat_map(HashMap::values_mut) {
        for binding in bindings.iter_mut().flatten() {
            binding.host_ip = Some(String::from("127.0.0.1"));
        }
    }
}

fn classify(what: &str, error: &testcontainers::TestcontainersError) -> StartError {
    let text = chain(error);
    let taken = ["port is already allocated", "address already in use"];
    if taken.iter().any(|phrase| text.contains(phrase)) {
        return StartError::PortTaken(text);
    }
    StartError::Env(EnvError::new(what, text))
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}

impl ServerContainer {
    /// What it was started from.
    pub fn spec(&self) -> &ServerSpec {
        &self.spec
    }

    /// The engine's id of the container.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What the engine says of it now.
    ///
    /// # Errors
    /// When the engine does not answer or does not know it any more.
    pub async fn state(&self) -> Result<ContainerState, EnvError> {
        let error =
            |e| EnvError::new(format!("cannot inspect the {} container", self.spec.kind), e);
        let answer = self.engine.docker.inspect_container(self.id(), None).await.map_err(error)?;
        let state = answer.state.unwrap_or_default();
        Ok(ContainerState {
            server: self.spec.kind,
            running: state.running.unwrap_or(false),
            oom_killed: state.oom_killed.unwrap_or(false),
            started_at: state.started_at.unwrap_or_default(),
            exit_code: state.exit_code,
        })
    }

    /// Runs a command inside and gives what it printed.
    ///
    /// # Errors
    /// When it cannot be run or ends with another code than 0.
    pub async fn exec(&self, command: &[String]) -> Result<String, EnvError> {
        let what =
            format!("cannot run `{}` in the {} container", command.join(" "), self.spec.kind);
        let error = |e: bollard::errors::Error| EnvError::new(&what, e);
        let config = ExecConfig {
            cmd: Some(command.to_vec()),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            ..ExecConfig::default()
        };
        let docker = &self.engine.docker;
        let exec = docker.create_exec(self.id(), config).await.map_err(error)?;
        let mut printed = String::new();
        let started = docker.start_exec(&exec.id, None::<StartExecOptions>).await.map_err(error)?;
        if let StartExecResults::Attached { mut output, .. } = started {
            while let Some(chunk) = output.next().await {
                printed.push_str(&String::from_utf8_lossy(&chunk.map_err(error)?.into_bytes()));
            }
        }
        let ended = docker.inspect_exec(&exec.id).await.map_err(error)?;
        match ended.exit_code {
            Some(0) => Ok(printed),
            code => Err(EnvError::new(&what, format!("exit code {code:?}: {printed}"))),
        }
    }

    /// The last lines of its log, for an error message.
    pub async fn log_tail(&self, lines: usize) -> String {
        let options =
            LogsOptionsBuilder::new().stdout(true).stderr(true).tail(&lines.to_string()).build();
        let mut logs = self.engine.docker.logs(self.id(), Some(options));
        let mut text = String::new();
        while let Some(Ok(chunk)) = logs.next().await {
            text.push_str(&log_text(chunk));
        }
        text
    }

    /// The first line since its start in which the server says that its disk is full, if any.
    ///
    /// # Errors
    /// When the engine does not give the log.
    pub async fn full_disk(&self) -> Result<Option<String>, EnvError> {
        let mut searched = self.searched.lock().await;
        if searched.found.is_none() {
            // One second of overlap: lines have the engine's time, in whole seconds here.
            let from_s = searched.until_s.saturating_sub(1);
            let now_s = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
            searched.found = self.search(from_s).await?;
            searched.until_s = now_s;
        }
        Ok(searched.found.clone())
    }

    async fn search(&self, from_s: u64) -> Result<Option<String>, EnvError> {
        let error = |e| EnvError::new(format!("cannot read the {} log", self.spec.kind), e);
        let since = i32::try_from(from_s).unwrap_or(i32::MAX);
        let options = LogsOptionsBuilder::new().stdout(true).stderr(true).since(since).build();
        let mut logs = self.engine.docker.logs(self.id(), Some(options));
        let mut rest = String::new();
        while let Some(chunk) = logs.next().await {
            rest.push_str(&log_text(chunk.map_err(error)?));
            if let Some(line) = full_disk_in(&rest, self.spec.full_disk) {
                return Ok(Some(line));
            }
            // The last line may go on in the next chunk.
            rest.drain(..rest.rfind('\n').map_or(0, |at| at + 1));
        }
        Ok(None)
    }

    /// Writes its whole log to a file.
    ///
    /// # Errors
    /// When the file cannot be written or the engine does not answer.
    pub async fn save_log(&self, path: &Path) -> Result<(), EnvError> {
        let error = |e: &dyn std::fmt::Display| {
            EnvError::new(format!("cannot save log {}", path.display()), e)
        };
        let options = LogsOptionsBuilder::new().stdout(true).stderr(true).tail("all").build();
        let mut logs = self.engine.docker.logs(self.id(), Some(options));
        let mut file = std::fs::File::create(path).map_err(|e| error(&e))?;
        while let Some(chunk) = logs.next().await {
            let text = log_text(chunk.map_err(|e| error(&e))?);
            file.write_all(text.as_bytes()).map_err(|e| error(&e))?;
        }
        Ok(())
    }

    /// Removes the container and its volume, or leaves both if the run is kept.
    pub async fn remove(&self) {
        let container = self.container.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(container) = container else { return };
        if self.keep == Keep::Everything {
            // Dropping it would remove it.
            std::mem::forget(container);
            return;
        }
        if let Err(error) = container.rm().await {
            tracing::warn!(%error, "a container could not be removed; a sweep will");
        }
        self.engine.remove_volume(&self.volume).await;
    }
}

/// The first line with one of the phrases, short enough to be shown.
fn full_disk_in(log: &str, phrases: &[&str]) -> Option<String> {
    let mut lines = log.lines();
    let line = lines.find(|line| phrases.iter().any(|phrase| line.contains(phrase)))?;
    Some(line.trim().chars().take(LINE_CHARS).collect())
}

fn log_text(chunk: LogOutput) -> String {
    String::from_utf8_lossy(&chunk.into_bytes()).into_owned()
}
