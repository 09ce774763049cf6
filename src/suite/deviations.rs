//! Deviations that everybody knows about, and what is expected instead in some versions.
//! YAML of scenarios and of `kind: deviations` comes in; typed entries come out.
//! It must never decide whether one of them showed: that is for the verdict.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::checks::{CheckSpec, PinSubject};
use crate::names::{ServerKind, wire_name};
use crate::suite::pins::Globs;
use crate::suite::schema::{RuleName, Scalar, URL_PATTERN};

/// A file of deviations, beside the suites that they are about.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviationsFile {
    /// Says that this file has deviations.
    pub kind: DeviationsKind,
    /// The deviations.
    pub deviations: Vec<DeviationSpec>,
}

/// Marker: `kind: deviations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeviationsKind {
    /// Deviations that everybody knows about.
    Deviations,
}

/// A deviation of several scenarios.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviationSpec {
    /// Globs over `property/scenario`; each has to match something.
    pub scenarios: Vec<String>,
    /// Wire name of the check that is violated.
    #[schemars(with = "RuleName")]
    pub check: String,
    /// In which versions of which client or server.
    #[serde(rename = "for")]
    pub versions_of: VersionsOf,
    /// What is wrong there, in a sentence.
    pub reason: String,
    /// Where a reader can see it.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// The last day on which it is accepted, for example `2027-06-30`.
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub expires: String,
    /// Whether it has to show each time.
    pub occurs: Occurs,
}

/// A deviation of the scenario that it stands in.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownSpec {
    /// Wire name of the check that is violated.
    #[schemars(with = "RuleName")]
    pub check: String,
    /// In which versions of which client or server.
    #[serde(rename = "for")]
    pub versions_of: VersionsOf,
    /// What is wrong there, in a sentence.
    pub reason: String,
    /// Where a reader can see it.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// The last day on which it is accepted, for example `2027-06-30`.
    #[schemars(regex(pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"))]
    pub expires: String,
    /// Whether it has to show each time.
    pub occurs: Occurs,
}

/// Versions of one thing: a client library or a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VersionsOf {
    /// Name of a client library, as worker manifests have it.
    #[serde(default)]
    pub client: Option<String>,
    /// A server.
    #[serde(default)]
    pub server: Option<ServerKind>,
    /// A range: `<6.10`, or `>=4.1, <4.3`.
    #[schemars(with = "Scalar")]
    pub versions: String,
}

/// Other expectations in some versions: they replace the scenario's checks of the same kind.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectFor {
    /// Name of a client library, as worker manifests have it.
    #[serde(default)]
    pub client: Option<String>,
    /// A server.
    #[serde(default)]
    pub server: Option<ServerKind>,
    /// A range: `<6.10`, or `>=4.1, <4.3`.
    #[schemars(with = "Scalar")]
    pub versions: String,
    /// What is expected there.
    pub checks: Vec<CheckSpec>,
}

/// Whether a deviation shows in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Occurs {
    /// It is gone when it does not show once, and the entry with it.
    Always,
    /// It may show or not, as races do.
    Sometimes,
}

impl fmt::Display for Occurs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&wire_name(self))
    }
}

impl From<&DeviationSpec> for KnownSpec {
    fn from(spec: &DeviationSpec) -> Self {
        Self {
            check: spec.check.clone(),
            versions_of: spec.versions_of.clone(),
            reason: spec.reason.clone(),
            url: spec.url.clone(),
            expires: spec.expires.clone(),
            occurs: spec.occurs,
        }
    }
}

impl DeviationSpec {
    /// Its globs over `property/scenario`.
    pub fn globs(&self) -> Globs {
        Globs::of(self.scenarios.iter().map(String::as_str))
    }
}

impl VersionsOf {
    /// Whose versions; absent where that is not said, or said twice.
    pub fn subject(&self) -> Option<PinSubject> {
        subject(self.client.as_deref(), self.server)
    }
}

impl ExpectFor {
    /// Whose versions; absent where that is not said, or said twice.
    pub fn subject(&self) -> Option<PinSubject> {
        subject(self.client.as_deref(), self.server)
    }
}

fn subject(client: Option<&str>, server: Option<ServerKind>) -> Option<PinSubject> {
    match (client, server) {
        (Some(library), None) => Some(PinSubject::Client(library.to_owned())),
        (None, Some(server)) => Some(PinSubject::Server(server)),
        _ => None,
    }
}
