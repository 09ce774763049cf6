//! A run's identity and its lock: while the file is locked, the run lives.
//! Nothing comes in but a clock and a process id; an id, a lock file and labels come out.
//! It must never remove another run's lock, and never trust a file that is not locked.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use super::EnvError;

/// Label with the run's id on every container, network and volume.
pub const LABEL_RUN: &str = "dev.ackproof.run";
/// Label with the machine on which the lock file lies.
pub const LABEL_HOST: &str = "dev.ackproof.host";
/// Label with the path of the lock file.
pub const LABEL_LOCK: &str = "dev.ackproof.lock";
/// Label that spares a run from sweeps until `clean --all`.
pub const LABEL_KEEP: &str = "dev.ackproof.keep";

/// Whether what a run started is left standing at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    Nothing,
    Everything,
}

/// A run that holds its lock.
#[derive(Debug)]
pub struct RunLock {
    id: String,
    path: PathBuf,
    keep: Keep,
    _lock: Flock<File>,
}

impl RunLock {
    /// Takes a new id and locks its file.
    ///
    /// # Errors
    /// When the state folder cannot be written.
    pub fn take(keep: Keep) -> Result<Self, EnvError> {
        let folder = state_folder().join("runs");
        let error = |e: &dyn std::fmt::Display| {
            EnvError::new(format!("cannot lock a run in {}", folder.display()), e)
        };
        fs::create_dir_all(&folder).map_err(|e| error(&e))?;
        let now = jiff::Timestamp::now().strftime("%y%m%d%H%M%S").to_string();
        for serial in 0..1000 {
            let id = format!("{now}-{:x}-{serial}", std::process::id());
            let path = folder.join(format!("{id}.lock"));
            let Ok(file) = OpenOptions::new().write(true).create_new(true).open(&path) else {
                continue;
            };
            let Ok(lock) = Flock::lock(file, FlockArg::LockExclusiveNonblock) else { continue };
            if !path.exists() {
                // A sweep took the file between its creation and its lock.
                continue;
            }
            return Ok(Self { id, path, keep, _lock: lock });
        }
        Err(error(&"no free name for a lock file"))
    }

    /// The run's id: letters, digits and dashes.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Labels for everything that the run creates at the engine.
    pub fn labels(&self) -> BTreeMap<String, String> {
        let mut labels: BTreeMap<String, String> = [
            (LABEL_RUN, self.id.clone()),
            (LABEL_HOST, machine()),
            (LABEL_LOCK, self.path.display().to_string()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        if self.keep == Keep::Everything {
            labels.insert(LABEL_KEEP.to_owned(), String::from("yes"));
        }
        labels
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Whatever is left of the run after this point belongs to the next sweep.
        let _ = fs::remove_file(&self.path);
    }
}

/// The lock file of a run on this machine.
pub fn lock_of(run: &str) -> PathBuf {
    state_folder().join("runs").join(format!("{run}.lock"))
}

/// Removes lock files that nobody holds, of runs that are dead.
pub fn remove_dead_locks() {
    let Ok(entries) = fs::read_dir(state_folder().join("runs")) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let Ok(file) = File::open(&path) else { continue };
        // Held while it is removed, so that no run can take this very file meanwhile.
        if let Ok(_held) = Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether the run that owns this lock file is gone: nobody holds the lock.
pub fn is_free(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return true };
    match Flock::lock(file, FlockArg::LockSharedNonblock) {
        Ok(_) => true,
        Err((_, errno)) => errno != nix::errno::Errno::EWOULDBLOCK,
    }
}

/// What names this machine, so that a shared engine's other users are left alone.
pub fn machine() -> String {
    fs::read_to_string("/etc/machine-id")
        .map(|id| id.trim().to_owned())
        .ok()
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| {
            nix::unistd::gethostname()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default()
        })
}

/// Where locks lie: `$XDG_STATE_HOME/ackproof`, `~/.local/state/ackproof`, or below `/tmp`.
pub fn state_folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("XDG_STATE_HOME").filter(|f| !f.is_empty()) {
        return PathBuf::from(folder).join("ackproof");
    }
    match std::env::var_os("HOME").filter(|f| !f.is_empty()) {
        Some(home) => PathBuf::from(home).join(".local/state/ackproof"),
        None => std::env::temp_dir().join(format!("ackproof-{}", nix::unistd::getuid())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_while_the_run_lives_and_free_afterwards() {
        let first = RunLock::take(Keep::Nothing).expect("a run");
        let second = RunLock::take(Keep::Everything).expect("another run");
        assert_ne!(first.id(), second.id());
        assert!(!is_free(&first.path), "the run lives");
        assert!(second.labels().contains_key(LABEL_KEEP));
        let path = first.path.clone();
        drop(first);
        assert!(is_free(&path));
        assert!(!path.exists());
    }
}
