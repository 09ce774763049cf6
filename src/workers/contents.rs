//! SHA-256 of files and folders: paths and bytes, in the order of the paths.
//! Paths come in; one hash comes out, the same wherever the folder stands.
//! It must never depend on times, owners or the order in which a disk lists files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Of a file, or of everything in a folder.
///
/// # Errors
/// When something cannot be read.
pub fn hash(path: &Path) -> io::Result<String> {
    hash_below(&[path.to_owned()], path)
}

/// Of files and folders; names in it are relative to `base`.
///
/// # Errors
/// When something cannot be read.
pub fn hash_below(paths: &[PathBuf], base: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    files.sort();
    files.dedup();
    let mut hasher = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    };
    for file in files {
        let name = file.strip_prefix(base).unwrap_or(&file).display().to_string();
        add(name.as_bytes());
        add(&fs::read(&file)?);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
