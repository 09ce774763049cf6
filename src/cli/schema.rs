//! `ackproof schema`: the JSON Schema of a kind of YAML file, for editors and other programs.
//! A kind comes in; its schema as text comes out, the same bytes for the same program.
//! It must never read a file: the schema is this program's, not that of a suite.

use clap::ValueEnum;

use crate::suite::schema::{self, FileKind};

/// Kinds of files, as the command line spells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Scenarios about one property.
    Suite,
    /// Sets of versions.
    Pins,
    /// A choice of scenarios.
    Profile,
    /// Deviations that everybody knows about.
    Deviations,
    /// Pieces that suites include.
    Fragments,
    /// A worker's manifest.
    Worker,
}

impl From<Kind> for FileKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Suite => Self::Suite,
            Kind::Pins => Self::Pins,
            Kind::Profile => Self::Profile,
            Kind::Deviations => Self::Deviations,
            Kind::Fragments => Self::Fragments,
            Kind::Worker => Self::Worker,
        }
    }
}

/// The schema as it is printed and published.
pub fn text(kind: FileKind) -> String {
    format!("{:#}\n", schema::schema(kind))
}
