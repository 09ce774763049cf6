//! What a verb works on: suites and manifests are loaded, defaults filled in, the plan is built.
//! Paths and a request as typed come in; a plan with its manifests, or every problem, comes out.
//! It must never start anything: `plan`, `images` and `run` all begin here.

use std::path::{Path, PathBuf};

use super::{exit, output};
use crate::plan::{self, Plan, Request};
use crate::suite::manifest::{self, Manifest};
use crate::suite::problem::{Words, refuse_errors};
use crate::suite::rule::Rule;
use crate::suite::{self, Problem};

/// Folder of the workers, seen from the working directory, unless another one is named.
pub const WORKERS: &str = "fixtures/workers";
/// Names another folder once for all commands.
pub const WORKERS_VARIABLE: &str = "ACKPROOF_WORKERS";
/// Scenarios that run when nobody names any.
const DEFAULT_PROFILE: &str = "quick";
/// Versions that run when nobody names any.
const DEFAULT_SET: &str = "current";

/// A plan and the manifests of its workers.
#[derive(Debug)]
pub struct Selected {
    pub plan: Plan,
    /// Each with the folder that it describes.
    pub manifests: Vec<(Manifest, PathBuf)>,
}

/// Builds the plan of a request; what it leaves open gets the documented default.
///
/// # Errors
/// Every problem of every file, or else of the request.
pub fn select(
    paths: &[PathBuf],
    workers: &Path,
    mut request: Request,
) -> Result<Selected, Vec<Problem>> {
    let loaded = suite::load(paths);
    for warning in refuse_errors(suite::validate(&loaded))? {
        output::message(&format!("{}\n", warning.rendered));
    }
    if request.sets.is_empty() {
        request.sets.push(DEFAULT_SET.to_owned());
    }
    let has_default = loaded.profiles.iter().any(|read| read.file.name.value == DEFAULT_PROFILE);
    if request.profile.is_none() && request.filters.is_empty() && has_default {
        request.profile = Some(DEFAULT_PROFILE.to_owned());
    }
    let manifests = manifests(workers)?;
    request.manifests = manifests.iter().map(|(manifest, _)| manifest.clone()).collect();
    let plan = plan::build(&loaded, &request)?;
    Ok(Selected { plan, manifests })
}

/// Says every problem and gives the exit code for them.
pub fn report(problems: &[Problem]) -> u8 {
    for problem in problems {
        output::message(&format!("{}\n", problem.rendered));
    }
    output::message(&format!("{} problem(s); nothing was run", problems.len()));
    exit::USAGE
}

/// Says everything that is wrong with the environment's variables and gives the exit code for it.
pub fn refuse(problems: &[String]) -> u8 {
    for problem in problems {
        output::message(problem);
    }
    output::message("nothing was run; README, \"Options\", lists the variables");
    exit::USAGE
}

/// The `worker.yaml` of the folder itself, or of every folder below, in the order of their names.
pub fn manifest_paths(folder: &Path) -> Vec<PathBuf> {
    let own = folder.join("worker.yaml");
    if own.is_file() {
        return vec![own];
    }
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("worker.yaml")))
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}

/// The manifests of a folder, one for each version of its clients, with the folder of each.
///
/// # Errors
/// Every problem of every manifest, or that there is none.
pub fn manifests(folder: &Path) -> Result<Vec<(Manifest, PathBuf)>, Vec<Problem>> {
    let mut manifests = Vec::new();
    let mut problems = Vec::new();
    for path in manifest_paths(folder) {
        let own = path.parent().unwrap_or(folder).to_owned();
        match manifest::load(&path) {
            Ok(manifest) => {
                let variants = manifest.variants().into_iter();
                manifests.extend(variants.map(|manifest| (manifest, own.clone())));
            }
            Err(more) => problems.extend(more),
        }
    }
    if manifests.is_empty() && problems.is_empty() {
        let message = format!("no worker.yaml in {} or in a folder below", folder.display());
        let help = String::from("run from the checkout, or name the folder with --workers");
        problems.push(Problem::of_request(Rule::NoWorker, Words::new(message).help(help)));
    }
    if problems.is_empty() { Ok(manifests) } else { Err(problems) }
}
