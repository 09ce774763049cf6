//! Builds workers with their own language's tools, cached by the content of their inputs.
//! A manifest and its folder come in; a program that can be started comes out.
//! It must never build again what is unchanged, nor run an artifact whose inputs have changed.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::env::EnvError;
use crate::env::process::Program;
use crate::env::tool;
use crate::suite::manifest::Manifest;

/// A worker that can be started, and the hash of what will run.
#[derive(Debug, Clone)]
pub struct BuiltWorker {
    pub program: Program,
    /// SHA-256 of the inputs it was built from.
    pub inputs_sha256: String,
}

/// Gives the worker of a manifest, building it if its inputs are not in the cache.
///
/// # Errors
/// When the toolchain is missing or the build fails; the error shows the build's last lines.
pub async fn build(manifest: &Manifest, folder: &Path) -> Result<BuiltWorker, EnvError> {
    let what = format!("worker {}", manifest.name);
    let hash = inputs_hash(manifest, folder).map_err(|e| EnvError::new(&what, e))?;
    let cache = cache_folder().join("workers").join(&manifest.name);
    let target = cache.join("target");
    let kept = cache.join("built").join(&hash);
    let place = |text: &str| {
        text.replace("{target}", &target.display().to_string())
            .replace("{folder}", &folder.display().to_string())
    };
    let built = PathBuf::from(place(&manifest.build.artifact));
    let name = built.file_name().map_or_else(|| PathBuf::from("worker"), PathBuf::from);
    let artifact = kept.join(name);
    if !artifact.is_file() {
        probe_toolchain(manifest).await?;
        run_build(manifest, folder, &place).await?;
        fs::create_dir_all(&kept)
            .and_then(|()| copy_atomically(&built, &artifact))
            .map_err(|e| EnvError::new(&what, format!("{}: {e}", artifact.display())))?;
    }
    let command = manifest
        .run
        .iter()
        .map(|part| place(part).replace("{artifact}", &artifact.display().to_string()))
        .collect();
    let program = Program { command, folder: folder.to_owned(), env: Default::default() };
    Ok(BuiltWorker { program, inputs_sha256: hash })
}

/// Two runs may build at once: the file appears whole or not at all.
fn copy_atomically(from: &Path, to: &Path) -> std::io::Result<()> {
    let partial = to.with_extension(format!("partial-{}", std::process::id()));
    fs::copy(from, &partial)?;
    fs::rename(&partial, to)
}

/// Asks the toolchain for its version.
///
/// # Errors
/// When it is not there; the error names it and the worker that needs it.
pub async fn probe_toolchain(manifest: &Manifest) -> Result<String, EnvError> {
    let what = format!("toolchain {} of worker {}", manifest.toolchain.name, manifest.name);
    let error = |e: String| EnvError::new(&what, e);
    let (program, arguments) = manifest
        .toolchain
        .probe
        .split_first()
        .ok_or_else(|| error(String::from("the manifest's probe is empty")))?;
    let output = tokio::process::Command::new(program)
        .args(arguments)
        .output()
        .await
        .map_err(|e| error(format!("cannot run {program}: {e}; install it")))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

async fn run_build(
    manifest: &Manifest,
    folder: &Path,
    place: &dyn Fn(&str) -> String,
) -> Result<(), EnvError> {
    let what = format!("building worker {}", manifest.name);
    let command: Vec<String> = manifest.build.command.iter().map(|part| place(part)).collect();
    let Some((program, arguments)) = command.split_first() else {
        return Err(EnvError::new(&what, "the manifest's build command is empty"));
    };
    let mut build = tokio::process::Command::new(program);
    build.args(arguments).current_dir(folder);
    for (name, value) in &manifest.build.env {
        build.env(name, place(value));
    }
    let mark = format!("build/{}/{}", std::process::id(), manifest.name);
    tool::run(&what, mark, build).await
}

/// SHA-256 over the paths and bytes of all inputs, in the order of their paths.
fn inputs_hash(manifest: &Manifest, folder: &Path) -> std::io::Result<String> {
    let mut files = Vec::new();
    for input in &manifest.inputs {
        collect(&folder.join(input), &mut files)?;
    }
    hash_of(files, folder)
}

/// SHA-256 over the paths and bytes of the files that pin the worker's libraries.
///
/// # Errors
/// When one of them cannot be read.
pub fn lock_hash(manifest: &Manifest, folder: &Path) -> std::io::Result<String> {
    if manifest.lock_files.is_empty() {
        return inputs_hash(manifest, folder);
    }
    hash_of(manifest.lock_files.iter().map(|file| folder.join(file)).collect(), folder)
}

/// SHA-256 over the paths and bytes of files, in the order of their paths.
fn hash_of(mut files: Vec<PathBuf>, folder: &Path) -> std::io::Result<String> {
    files.sort();
    let mut hasher = Sha256::new();
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
        let bytes = fs::read(&file)?;
        hasher.update((name.len() as u64).to_be_bytes());
        hasher.update(name);
        hasher.update((bytes.len() as u64).to_be_bytes());
        hasher.update(bytes);
    }
    Ok(hex(&hasher.finalize()))
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where built workers are kept: `$ACKPROOF_CACHE`, else `ackproof` in the user's cache folder.
pub fn cache_folder() -> PathBuf {
    let from = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    from("ACKPROOF_CACHE")
        .or_else(|| from("XDG_CACHE_HOME").map(|folder| folder.join("ackproof")))
        .or_else(|| from("HOME").map(|folder| folder.join(".cache/ackproof")))
        .unwrap_or_else(|| std::env::temp_dir().join("ackproof-cache"))
}
