//! Builds workers with their own language's tools, cached by the content of their inputs.
//! A manifest and its folder come in; a program that can be started comes out.
//! It must never build again what is unchanged, nor run an artifact whose inputs have changed.

use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::contents;
use crate::env::EnvError;
use crate::env::process::Program;
use crate::env::tool;
use crate::evidence::seal::sha256_of;
use crate::suite::manifest::{Build, Manifest};

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
    let error = |e: std::io::Error| EnvError::new(&what, e);
    let hash = inputs_hash(manifest, folder).map_err(error)?;
    let cache = Cache::of(&manifest.name);
    let target = cache.target();
    let place = |text: &str| {
        text.replace("{target}", &target.display().to_string())
            .replace("{folder}", &folder.display().to_string())
    };
    let waiting = cache.clone();
    let lock = tokio::task::spawn_blocking(move || waiting.lock()).await;
    let _lock = lock.map_err(|e| EnvError::new(&what, e))?.map_err(error)?;
    let artifact = match cache.find(&hash).map_err(error)? {
        Some(artifact) => artifact,
        None => {
            probe_toolchain(manifest).await?;
            run_build(manifest, folder, &place).await?;
            let built = PathBuf::from(place(&manifest.build.artifact));
            cache.keep(&hash, &built).map_err(|e| {
                EnvError::new(&what, format!("cannot keep {}: {e}", built.display()))
            })?
        }
    };
    let command = manifest
        .run
        .iter()
        .map(|part| place(part).replace("{artifact}", &artifact.display().to_string()))
        .collect();
    let program = Program { command, folder: folder.to_owned(), env: Default::default() };
    Ok(BuiltWorker { program, inputs_sha256: hash })
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
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let command = manifest.toolchain.probe.join(" ");
        return Err(error(format!("`{command}` ended with {}: {said}", output.status)));
    }
    // Some tools paint their version, and say more than it.
    let said = console::strip_ansi_codes(&String::from_utf8_lossy(&output.stdout)).into_owned();
    Ok(said.lines().next().unwrap_or_default().trim().to_owned())
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

/// SHA-256 over all inputs and over how they are built.
fn inputs_hash(manifest: &Manifest, folder: &Path) -> std::io::Result<String> {
    let files = hash_of(&manifest.inputs, folder)?;
    let Build { command, env, artifact } = &manifest.build;
    let how = format!("{files} {command:?} {env:?} {artifact}");
    Ok(sha256_of(how.as_bytes()))
}

/// SHA-256 over the paths and bytes of the files that pin the worker's libraries.
///
/// # Errors
/// When one of them cannot be read.
pub fn lock_hash(manifest: &Manifest, folder: &Path) -> std::io::Result<String> {
    match manifest.lock_files.is_empty() {
        true => hash_of(&manifest.inputs, folder),
        false => hash_of(&manifest.lock_files, folder),
    }
}

fn hash_of(paths: &[String], folder: &Path) -> std::io::Result<String> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| folder.join(path)).collect();
    contents::hash_below(&paths, folder)
}
