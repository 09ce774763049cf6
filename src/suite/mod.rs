//! Suite files: YAML text in, typed and spanned files out, all problems of all files at once.
//! `load` reads files; `validate` checks references and the contract lint; both give `Problem`s.
//! It must never fill in a value that matters, and never touch a network or a server.

pub mod change;
pub(crate) mod compose;
pub mod control;
pub mod deviations;
pub mod handler;
mod lint;
mod load;
pub mod machinery;
pub mod manifest;
pub mod meanings;
mod mend;
pub mod model;
pub(crate) mod parse;
pub mod pins;
pub mod problem;
pub mod repeat;
pub mod rule;
mod scene;
pub mod schema;
pub mod source;
pub mod time;
mod validate;
mod variant;
pub mod versions;
pub mod vocabulary;
pub mod words;
pub mod workload;

use sha2::{Digest, Sha256};

use crate::suite::deviations::DeviationsFile;
use crate::suite::manifest::Manifest;
pub use load::load;
pub(crate) use load::open;
use model::{Scenario, SuiteFile};
use pins::{PinsFile, ProfileFile};
pub use problem::Problem;
use source::Source;
pub use validate::validate;

/// A file that could be read as what its `kind:` says.
#[derive(Debug, Clone)]
pub struct Read<T> {
    pub source: Source,
    pub file: T,
}

/// A file that suites include; its pieces are read where they are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fragments {
    /// Below the folder that was given, with `/`: what the suite hash covers.
    pub relative: String,
    pub text: String,
}

/// All files under the given paths, in the order of their paths.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    pub suites: Vec<Read<SuiteFile>>,
    pub pins: Vec<Read<PinsFile>>,
    pub profiles: Vec<Read<ProfileFile>>,
    pub deviations: Vec<Read<DeviationsFile>>,
    pub manifests: Vec<Read<Manifest>>,
    /// What suites include.
    pub fragments: Vec<Fragments>,
    /// What could not be read; `validate` finds the rest.
    pub problems: Vec<Problem>,
}

impl Loaded {
    /// Every scenario with its file, in the order of the files.
    pub fn scenarios(&self) -> impl Iterator<Item = (&Read<SuiteFile>, usize, &Scenario)> {
        self.suites.iter().flat_map(|suite| {
            let scenarios = suite.file.scenarios.iter().enumerate();
            scenarios.map(move |(index, scenario)| (suite, index, &scenario.value))
        })
    }

    /// Every file that could be read, of whatever kind.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        let suites = self.suites.iter().map(|read| &read.source);
        let pins = self.pins.iter().map(|read| &read.source);
        let profiles = self.profiles.iter().map(|read| &read.source);
        let deviations = self.deviations.iter().map(|read| &read.source);
        let manifests = self.manifests.iter().map(|read| &read.source);
        suites.chain(pins).chain(profiles).chain(deviations).chain(manifests)
    }

    /// SHA-256 over path and bytes of suites, fragments, pins, profiles and deviations, in the
    /// order of their paths. Lengths go in front, so that no two sets of files can look alike.
    pub fn hash(&self) -> String {
        let suites = self.suites.iter().map(|read| &read.source);
        let pins = self.pins.iter().map(|read| &read.source);
        let profiles = self.profiles.iter().map(|read| &read.source);
        let deviations = self.deviations.iter().map(|read| &read.source);
        let sources = suites.chain(pins).chain(profiles).chain(deviations);
        let sources = sources.map(|s| [&s.relative, &s.text]);
        let fragments = self.fragments.iter().map(|f| [&f.relative, &f.text]);
        let mut files: Vec<[&String; 2]> = sources.chain(fragments).collect();
        files.sort();
        let mut hash = Sha256::new();
        for file in files {
            for part in file {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part.as_bytes());
            }
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// `property/scenario`.
pub fn scenario_id(suite: &SuiteFile, scenario: &Scenario) -> String {
    format!("{}/{}", suite.property.value, scenario.id.value)
}
