//! `pins.lock`: what was behind the pins when somebody wrote it down, for `--locked` to compare.
//! Hashes of images and worker lock files come in; a file beside `pins.yaml`, or what differs from
//! it, comes out. It must never be changed by a run: only `ackproof images --lock` writes it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::select::Selected;
use crate::env::EnvError;
use crate::env::content::content;
use crate::env::engine::Engine;
use crate::env::image::{self, ImageChoice};
use crate::plan::{Plan, ServerKey};
use crate::run::servers::{NO_ADDRESSES, server_spec};
use crate::suite::parse::json;
use crate::workers::build::lock_hash;

/// Version of the file; a reader refuses any other.
const VERSION: u32 = 1;
/// Name of the file, beside the `pins.yaml` that it is about.
pub const NAME: &str = "pins.lock";
/// What to do when the file is missing or old.
const NEXT: &str = "`ackproof images --lock` writes what is here";

/// The whole file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    pub version: u32,
    /// By `kafka-4.3.1`: SHA-256 of the server's software, the same on every machine.
    pub servers: BTreeMap<String, String>,
    /// By name of the worker.
    pub workers: BTreeMap<String, WorkerLock>,
}

/// What is behind a worker's client versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerLock {
    /// By library: the version in the manifest.
    pub clients: BTreeMap<String, String>,
    /// SHA-256 of the files that pin its libraries, which name the hashes of their artifacts.
    pub lock_files: String,
}

impl Lock {
    /// Reads the file.
    ///
    /// # Errors
    /// What is wrong with it, and what to do.
    pub fn read(path: &Path) -> Result<Self, String> {
        let error = |why: String| format!("{}: {why}; {NEXT}", path.display());
        let text = fs::read_to_string(path).map_err(|e| error(e.to_string()))?;
        let lock: Self = json(&text).map_err(error)?;
        match lock.version {
            VERSION => Ok(lock),
            other => Err(error(format!("version {other} is not {VERSION}"))),
        }
    }

    /// Puts these entries into the file; entries of other pins stay.
    ///
    /// # Errors
    /// When the file cannot be written, or the one that is there cannot be read.
    pub fn add_to(self, path: &Path) -> Result<(), String> {
        let mut all = match path.exists() {
            true => Self::read(path)?,
            false => Self::default(),
        };
        all.version = VERSION;
        all.servers.extend(self.servers);
        all.workers.extend(self.workers);
        let text = serde_json::to_string_pretty(&all).map_err(|e| e.to_string())? + "\n";
        let partial = path.with_extension("lock.partial");
        fs::write(&partial, text)
            .and_then(|()| fs::rename(&partial, path))
            .map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Every entry that is otherwise here, as a sentence; nothing where all is as it is locked.
    pub fn differs_from(&self, here: &Self) -> Vec<String> {
        let servers = here.servers.iter().filter_map(|(pin, found)| match self.servers.get(pin) {
            Some(locked) if locked == found => None,
            Some(locked) => Some(format!("{pin}: locked is sha256 {locked}, here is {found}")),
            None => Some(format!("{pin}: the lock does not have it, here is sha256 {found}")),
        });
        let workers =
            here.workers.iter().filter_map(|(name, found)| match self.workers.get(name) {
                Some(locked) if locked == found => None,
                Some(locked) => {
                    Some(format!("worker {name}: {}", worker_difference(locked, found)))
                }
                None => Some(format!("worker {name}: the lock does not have it")),
            });
        servers.chain(workers).collect()
    }
}

fn worker_difference(locked: &WorkerLock, found: &WorkerLock) -> String {
    for (library, version) in &found.clients {
        let known = locked.clients.get(library).map_or("none", String::as_str);
        if known != version {
            return format!("locked is {library} {known}, here is {version}");
        }
    }
    format!("its lock files are sha256 {}, locked is {}", found.lock_files, locked.lock_files)
}

/// Where the lock of these suites is: beside the first `pins.yaml` at or above a path.
pub fn place(paths: &[PathBuf]) -> PathBuf {
    let above = paths.iter().flat_map(|path| path.ancestors());
    let mut with_pins = above.filter(|folder| folder.join("pins.yaml").is_file());
    let first = with_pins.next().or(paths.first().map(PathBuf::as_path));
    first.unwrap_or(Path::new(".")).join(NAME)
}

/// What is behind the pins of a plan on this machine.
///
/// # Errors
/// When an image cannot be had or read, or a worker's files cannot be read.
pub async fn found(
    engine: &Engine,
    selected: &Selected,
    choice: ImageChoice,
    labels: &BTreeMap<String, String>,
) -> Result<Lock, EnvError> {
    let mut lock = Lock { version: VERSION, ..Lock::default() };
    let recipes = image::recipes_folder();
    for key in servers(&selected.plan) {
        let spec = server_spec(&key, NO_ADDRESSES)?;
        let image = image::resolve(engine, &spec, choice, recipes.as_deref()).await?;
        let hash = content(engine, &image, &spec, labels).await?;
        lock.servers.insert(format!("{}-{}", key.kind, key.pin), hash);
    }
    let is_needed =
        |name: &String| selected.plan.units.iter().any(|u| u.manifests().any(|own| own == name));
    let needed = selected.manifests.iter().filter(|(manifest, _)| is_needed(&manifest.name));
    for (manifest, folder) in needed {
        let what = format!("lock files of worker {}", manifest.name);
        let lock_files = lock_hash(manifest, folder).map_err(|e| EnvError::new(what, e))?;
        let clients = manifest.clients.values();
        let clients = clients.map(|client| (client.library.clone(), client.version.clone()));
        let worker = WorkerLock { clients: clients.collect(), lock_files };
        lock.workers.insert(manifest.name.clone(), worker);
    }
    Ok(lock)
}

/// The servers of a plan, each once, whatever their settings.
fn servers(plan: &Plan) -> Vec<ServerKey> {
    let keys = plan.units.iter().flat_map(|unit| [&unit.server, &unit.database]);
    let plain = keys.map(|key| ServerKey { settings: BTreeMap::new(), ..key.clone() });
    plain.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Says why this plan must not be run with `--locked`; nothing where all is as it is locked.
///
/// # Errors
/// When the lock cannot be read, or what is here cannot be found out, or is something else.
pub async fn refuse_others(
    engine: &Engine,
    selected: &Selected,
    choice: ImageChoice,
    labels: &BTreeMap<String, String>,
    path: &Path,
) -> Result<(), String> {
    let lock = Lock::read(path)?;
    let here = found(engine, selected, choice, labels).await.map_err(|e| e.to_string())?;
    let differences = lock.differs_from(&here);
    if differences.is_empty() {
        return Ok(());
    }
    let list = differences.join("\n  ");
    Err(format!(
        "not what {} says, and --locked wants nothing else:\n  {list}\n{NEXT}",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn lock(kafka: &str, rdkafka: &str, files: &str) -> Lock {
        let clients = BTreeMap::from([(String::from("rdkafka"), rdkafka.to_owned())]);
        let worker = WorkerLock { clients, lock_files: files.to_owned() };
        Lock {
            version: VERSION,
            servers: BTreeMap::from([(String::from("kafka-4.3.1"), kafka.to_owned())]),
            workers: BTreeMap::from([(String::from("rust"), worker)]),
        }
    }

    #[test]
    fn every_difference_is_named() {
        let locked = lock("aa", "0.39.0", "ff");
        assert_eq!(locked.differs_from(&locked), [""; 0]);
        let said = |here: &Lock| locked.differs_from(here).join("|");
        let kafka = "kafka-4.3.1: locked is sha256 aa, here is bb";
        assert_eq!(said(&lock("bb", "0.39.0", "ff")), kafka);
        let client = "worker rust: locked is rdkafka 0.39.0, here is 0.38.0";
        assert_eq!(said(&lock("aa", "0.38.0", "ee")), client);
        let files = "worker rust: its lock files are sha256 ee, locked is ff";
        assert_eq!(said(&lock("aa", "0.39.0", "ee")), files);
        let nothing = Lock { version: VERSION, ..Lock::default() };
        let missing = nothing.differs_from(&locked).join("|");
        assert!(missing.contains("kafka-4.3.1: the lock does not have it, here is sha256 aa"));
        assert!(missing.contains("worker rust: the lock does not have it"));
        // What this plan does not need may be locked all the same.
        assert_eq!(locked.differs_from(&nothing), [""; 0]);
    }

    #[test]
    fn a_lock_keeps_what_others_have_written() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("pins.yaml"), "").unwrap();
        let inside = folder.path().join("inbox/one.yaml");
        let path = place(&[inside]);
        assert_eq!(path, folder.path().join(NAME));
        assert!(Lock::read(&path).unwrap_err().contains("images --lock"));
        lock("aa", "0.39.0", "ff").add_to(&path).unwrap();
        let mut other = lock("bb", "0.39.0", "ff");
        other.servers = BTreeMap::from([(String::from("kafka-4.1.2"), String::from("cc"))]);
        other.add_to(&path).unwrap();
        let both = Lock::read(&path).unwrap();
        assert_eq!((both.servers["kafka-4.3.1"].as_str(), both.servers.len()), ("aa", 2));
        fs::write(&path, r#"{"version": 9, "servers": {}, "workers": {}}"#).unwrap();
        assert!(Lock::read(&path).unwrap_err().contains("version 9 is not 1"));
        let servers = r#"{"kafka-4.3.1": "aa", "kafka-4.3.1": "bb"}"#;
        let merged = format!(r#"{{"version": 1, "servers": {servers}, "workers": {{}}}}"#);
        fs::write(&path, merged).unwrap();
        let twice = Lock::read(&path).unwrap_err();
        assert!(twice.contains("duplicate"), "{twice}");
        fs::write(&path, "{").unwrap();
        assert!(Lock::read(&path).is_err() && lock("aa", "0", "f").add_to(&path).is_err());
    }
}
