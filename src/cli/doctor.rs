//! `ackproof doctor`: what this machine has and lacks, each with what to do about it.
//! Nothing comes in; one line for each need and an exit code come out.
//! It must never install or start anything.

use std::path::Path;

use super::{exit, output};
use crate::env::engine::Engine;
use crate::env::image::recipes_folder;
use crate::env::run_lock::state_folder;
use crate::env::sweep::leftovers;
use crate::workers::build::{cache_folder, probe_toolchain};
use crate::workers::manifest;

/// Folder of the worker manifests, seen from the working directory.
pub const WORKERS: &str = "fixtures/workers";

/// Looks at everything that a run needs.
pub async fn doctor() -> u8 {
    let mut lines = Vec::new();
    let mut lacking = false;
    let mut line = |has: bool, what: &str, detail: String| {
        lacking |= !has;
        lines.push(format!("{} {what}: {detail}", if has { "ok  " } else { "LACK" }));
    };
    let linux = cfg!(target_os = "linux");
    let os = std::env::consts::OS;
    line(linux, "system", if linux { os.into() } else { format!("{os} is not supported; use Linux") });
    match Engine::connect().await {
        Ok(engine) => {
            line(true, "container engine", engine.version().to_owned());
            if let Ok(left) = leftovers(&engine).await {
                let runs: Vec<String> =
                    left.iter().map(|(run, count)| format!("{run} ({count} containers)")).collect();
                let detail = if runs.is_empty() { "none".into() } else { runs.join(", ") };
                line(true, "runs at the engine, alive or kept", detail);
            }
        }
        Err(error) => line(false, "container engine", error.to_string()),
    }
    match recipes_folder() {
        Some(folder) => line(true, "image recipes", folder.display().to_string()),
        None => line(true, "image recipes", "none here; images must be pulled".into()),
    }
    for (path, manifest) in manifests(Path::new(WORKERS)) {
        match manifest {
            Ok(manifest) => {
                let what = format!("toolchain of worker {}", manifest.name);
                match probe_toolchain(&manifest).await {
                    Ok(version) => line(true, &what, version),
                    Err(error) => line(false, &what, error.to_string()),
                }
            }
            Err(why) => line(false, &path, why),
        }
    }
    line(true, "worker cache", cache_folder().display().to_string());
    line(true, "run locks", state_folder().display().to_string());
    output::result(&lines.join("\n"));
    if lacking { exit::INCONCLUSIVE } else { exit::OK }
}

/// Every `worker.yaml` one folder below, read.
fn manifests(folder: &Path) -> Vec<(String, Result<manifest::Manifest, String>)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return vec![(folder.display().to_string(), Err("no such folder; run from the checkout".into()))];
    };
    let mut paths: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path().join("worker.yaml")))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let manifest = manifest::load(&path).map_err(|problems| {
                problems.iter().map(|p| p.rendered.clone()).collect::<Vec<_>>().join("\n")
            });
            (path.display().to_string(), manifest)
        })
        .collect()
}
