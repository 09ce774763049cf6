//! `ackproof validate`: every problem of every suite file, or what was read.
//! Paths come in; problems and a summary for people come out.
//! It must never start anything: it is what an editor or a pre-commit hook runs.

use std::path::Path;

use serde::Serialize;

use super::select::{WORKERS, manifest_paths};
use crate::suite::{self, Problem, manifest};

/// What validation found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Validation {
    pub suites: usize,
    pub scenarios: usize,
    pub problems: Vec<Problem>,
}

/// Reads and examines everything under the paths.
pub fn validate<P: AsRef<Path>>(paths: &[P]) -> Validation {
    let loaded = suite::load(paths);
    let mut problems = suite::validate(&loaded);
    // A file alone is what an editor looks at; a folder is what is run.
    let folder = paths.iter().map(AsRef::as_ref).find(|path| path.is_dir());
    if let Some(folder) = folder
        && !loaded.suites.is_empty()
        && loaded.pins.is_empty()
    {
        let help = "a run needs versions: copy a file of `kind: pins` into the folder, or name one \
                    along with it";
        let message = "there is no set of pins with these suites";
        problems.push(Problem::of_file(&folder.display().to_string(), message, Some(help.into())));
    }
    Validation { suites: loaded.suites.len(), scenarios: loaded.scenarios().count(), problems }
}

impl Validation {
    /// The same with the problems of the workers' manifests: in the folder, or where workers are
    /// unless one is named. What was read already is not told twice.
    pub fn with_workers(mut self, folder: Option<&Path>) -> Self {
        let paths = manifest_paths(folder.unwrap_or(Path::new(WORKERS)));
        if let (Some(folder), true) = (folder, paths.is_empty()) {
            let message = "no worker.yaml in this folder or in a folder below";
            self.problems.push(Problem::of_file(&folder.display().to_string(), message, None));
        }
        for path in paths {
            self.problems.extend(manifest::load(&path).err().unwrap_or_default());
        }
        self.problems.sort();
        self.problems.dedup();
        self
    }

    /// For people: the problems with their carets, then one line that counts.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            text.push_str(&problem.rendered);
            text.push_str("\n\n");
        }
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let read =
            format!("{}, {}", count(self.suites, "suite"), count(self.scenarios, "scenario"));
        let verdict = match self.problems.len() {
            0 => "no problems".to_owned(),
            n => count(n, "problem"),
        };
        text.push_str(&format!("{read}: {verdict}\n"));
        text
    }
}
