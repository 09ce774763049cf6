//! Built workers on disk, by the hash of what they were built from, each with its own checksum.
//! What a build made comes in; the place where it is kept, whole and unchanged, comes out.
//! It must never give out an entry that is torn or was changed: such a one is removed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};

use super::contents;

/// Name of the file beside an artifact that says what it is.
const CHECKSUM: &str = "artifact.sha256";

/// The cache of one worker.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// The cache of a worker with this name.
    pub fn of(worker: &str) -> Self {
        Self { folder: root().join("workers").join(worker) }
    }

    /// Where the worker's tools put what they make.
    pub fn target(&self) -> PathBuf {
        self.folder.join("target")
    }

    /// Waits until no other run builds this worker; dropped, the next one may.
    ///
    /// # Errors
    /// When the lock cannot be had.
    pub fn lock(&self) -> io::Result<Flock<fs::File>> {
        fs::create_dir_all(self.target())?;
        let file = fs::File::create(self.folder.join("lock"))?;
        Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, errno)| errno.into())
    }

    /// What was built from these inputs, if it is here and as it was; anything else goes away.
    ///
    /// # Errors
    /// When it cannot be read, or removed.
    pub fn find(&self, inputs: &str) -> io::Result<Option<PathBuf>> {
        let entry = self.entry(inputs);
        if !entry.exists() {
            return Ok(None);
        }
        let noted = fs::read_to_string(entry.join(CHECKSUM)).unwrap_or_default();
        let artifact = artifact_in(&entry)?;
        if let Some(artifact) = artifact
            && contents::hash(&artifact)? == noted
        {
            return Ok(Some(artifact));
        }
        fs::remove_dir_all(&entry)?;
        Ok(None)
    }

    /// Keeps what was built: a folder is moved, a file is copied. It appears whole or not at all.
    ///
    /// # Errors
    /// When it is not there, or cannot be kept.
    pub fn keep(&self, inputs: &str, built: &Path) -> io::Result<PathBuf> {
        let entry = self.entry(inputs);
        let partial = entry.with_extension(format!("partial-{}", std::process::id()));
        let _ = fs::remove_dir_all(&partial);
        fs::create_dir_all(&partial)?;
        let name = built.file_name().map_or_else(|| PathBuf::from("worker"), PathBuf::from);
        let inside = partial.join(&name);
        match built.is_dir() {
            // Its files keep their times, by which some languages know what they have compiled.
            true => fs::rename(built, &inside)?,
            false => drop(fs::copy(built, &inside)?),
        }
        fs::write(partial.join(CHECKSUM), contents::hash(&inside)?)?;
        fs::rename(&partial, &entry)?;
        Ok(entry.join(name))
    }

    fn entry(&self, inputs: &str) -> PathBuf {
        self.folder.join("built").join(inputs)
    }
}

/// The only thing in an entry beside its checksum.
fn artifact_in(entry: &Path) -> io::Result<Option<PathBuf>> {
    let mut found = None;
    for file in fs::read_dir(entry)? {
        let file = file?;
        if file.file_name() != CHECKSUM && found.replace(file.path()).is_some() {
            return Ok(None);
        }
    }
    Ok(found)
}

/// Where built workers are kept: `$ACKPROOF_CACHE`, else `ackproof` in the user's cache folder.
pub fn root() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    from("ACKPROOF_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|folder| folder.join("ackproof")))
        .or_else(|| from("HOME").map(|folder| folder.join(".cache/ackproof")))
        .unwrap_or_else(|| std::env::temp_dir().join("ackproof-cache"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache { folder: folder.path().join("worker") };
        drop(cache.lock().unwrap());
        (folder, cache)
    }

    #[test]
    fn what_was_kept_is_found_until_it_is_changed() {
        let (_folder, cache) = cache();
        let file = cache.target().join("program");
        fs::write(&file, "one").unwrap();
        assert_eq!(cache.find("aa").unwrap(), None);
        let kept = cache.keep("aa", &file).unwrap();
        assert!(file.exists(), "a file that was built stays with the tools");
        assert_eq!(cache.find("aa").unwrap(), Some(kept.clone()));
        fs::write(&kept, "two").unwrap();
        assert_eq!(cache.find("aa").unwrap(), None, "a changed entry is no entry");
        assert!(!kept.exists());
    }

    #[test]
    fn a_folder_is_kept_whole() {
        let (_folder, cache) = cache();
        let site = cache.target().join("site");
        fs::create_dir_all(site.join("inside")).unwrap();
        fs::write(site.join("inside/a.py"), "a").unwrap();
        let kept = cache.keep("aa", &site).unwrap();
        assert_eq!(cache.find("aa").unwrap(), Some(kept.clone()));
        fs::write(kept.join("inside/b.py"), "").unwrap();
        assert_eq!(cache.find("aa").unwrap(), None, "one file more is another folder");
    }

    #[test]
    fn an_entry_without_its_checksum_is_a_torso() {
        let (_folder, cache) = cache();
        let file = cache.target().join("program");
        fs::write(&file, "one").unwrap();
        let kept = cache.keep("aa", &file).unwrap();
        fs::remove_file(kept.with_file_name(CHECKSUM)).unwrap();
        assert_eq!(cache.find("aa").unwrap(), None);
        assert!(cache.keep("bb", &cache.target().join("nothing")).is_err());
        assert_eq!(cache.find("bb").unwrap(), None);
    }
}
