//! `ackproof doctor`: what this machine has and lacks, each with what to do about it.
//! A folder of workers comes in; one line for each need and an exit code come out.
//! It must never install or start anything.

use std::path::Path;

use super::select::manifest_paths;
use super::{exit, output};
use crate::env::engine::Engine;
use crate::env::image::recipes_folder;
use crate::env::run_lock::state_folder;
use crate::env::sweep::leftovers;
use crate::suite::manifest;
use crate::workers::build::probe_toolchain;
use crate::workers::cache;

/// Looks at everything that a run needs.
pub async fn doctor(workers: &Path) -> u8 {
    let mut lines = Vec::new();
    let mut lacking = false;
    let mut line = |has: bool, what: &str, detail: String| {
        lacking |= !has;
        lines.push(format!("{} {what}: {detail}", if has { "ok  " } else { "LACK" }));
    };
    let linux = cfg!(target_os = "linux");
    let os = std::env::consts::OS;
    line(
        linux,
        "system",
        if linux { os.into() } else { format!("{os} is not supported; use Linux") },
    );
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
    let paths = manifest_paths(workers);
    if paths.is_empty() {
        let folder = workers.display();
        let detail =
            format!("no worker.yaml in {folder} or in a folder below; name it with --workers");
        line(false, "workers", detail);
    }
    for path in paths {
        let what = path.display().to_string();
        match manifest::load(&path) {
            Ok(manifest) => match probe_toolchain(&manifest).await {
                Ok(version) => line(true, &what, format!("toolchain {version}")),
                Err(error) => line(false, &what, error.to_string()),
            },
            Err(problems) => {
                line(false, &what, format!("{} problem(s); see validate", problems.len()));
            }
        }
    }
    line(true, "worker cache", cache::root().display().to_string());
    line(true, "run locks", state_folder().display().to_string());
    let code = if lacking { exit::INCONCLUSIVE } else { exit::OK };
    output::result(&lines.join("\n"), code)
}
