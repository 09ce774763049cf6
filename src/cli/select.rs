//! What a verb works on: suites and manifests are loaded, defaults filled in, the plan is built.
//! Paths and a request as typed come in; a plan with its manifests, or every problem, comes out.
//! It must never start anything: `plan`, `images` and `run` all begin here.

use std::path::{Path, PathBuf};

use super::{exit, output};
use crate::plan::{self, Plan, Request};
use crate::suite::{self, Problem};
use crate::workers::manifest::{self, Manifest};

/// Folder of the worker manifests, seen from the working directory.
pub const WORKERS: &str = "fixtures/workers";
/// Scenarios that run when nobody names any.
const DEFAULT_PROFILE: &str = "quick";
/// Versions that run when nobody names any.
const DEFAULT_SET: &str = "current";

/// A plan and the manifests of its workers.
#[derive(Debug)]
pub struct Selected {
    pub plan: Plan,
    pub manifests: Vec<Manifest>,
}

/// Builds the plan of a request; what it leaves open gets the documented default.
///
/// # Errors
/// Every problem of every file, or else of the request.
pub fn select(paths: &[PathBuf], mut request: Request) -> Result<Selected, Vec<Problem>> {
    let loaded = suite::load(paths);
    let problems = suite::validate(&loaded);
    if !problems.is_empty() {
        return Err(problems);
    }
    if request.sets.is_empty() {
        request.sets.push(DEFAULT_SET.to_owned());
    }
    let has_default = loaded.profiles.iter().any(|read| read.file.name.value == DEFAULT_PROFILE);
    if request.profile.is_none() && request.filter.is_none() && has_default {
        request.profile = Some(DEFAULT_PROFILE.to_owned());
    }
    request.manifests = manifests(Path::new(WORKERS))?;
    let plan = plan::build(&loaded, &request)?;
    Ok(Selected { plan, manifests: request.manifests })
}

/// Says every problem and gives the exit code for them.
pub fn report(problems: &[Problem]) -> u8 {
    for problem in problems {
        output::message(&format!("{}\n", problem.rendered));
    }
    output::message(&format!("{} problem(s); nothing was run", problems.len()));
    exit::USAGE
}

/// The `worker.yaml` of every folder below, in the order of their names.
pub fn manifest_paths(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("worker.yaml")))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

fn manifests(folder: &Path) -> Result<Vec<Manifest>, Vec<Problem>> {
    let mut manifests = Vec::new();
    let mut problems = Vec::new();
    for path in manifest_paths(folder) {
        match manifest::load(&path) {
            Ok(manifest) => manifests.push(manifest),
            Err(more) => problems.extend(more),
        }
    }
    if problems.is_empty() { Ok(manifests) } else { Err(problems) }
}
