//! A worker's manifest: how it is built and run, and what its client libraries can do, as data.
//! YAML of `kind: worker` comes in; a typed manifest or all of its problems come out.
//! It must never be asked of a running worker: planning is pure, a `hello` only has to agree.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names::BrokerKind;
use crate::suite::pins::is_pin;
use crate::suite::problem::{Problem, suggest};
use crate::suite::rule::Rule;
use crate::suite::schema::{CapabilityName, Keyed, Scalar, URL_PATTERN, Version, Word};
use crate::suite::source::{Route, Source};
use crate::suite::vocabulary::{CAPABILITIES, concerns, is_url, is_word};
use crate::suite::{Read, open, parse, variant};

/// Why a cell cannot be run, as data with a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lack {
    /// What is missing.
    #[schemars(with = "CapabilityName")]
    pub capability: String,
    /// Why it is missing, in a sentence.
    pub reason: String,
    /// Where a reader can see that it is missing.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
}

/// Other versions of one client at most.
const MOST_OTHERS: usize = 50;

/// What a folder under `fixtures/workers` says about its program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Says that this file is a worker's manifest.
    pub kind: WorkerKind,
    /// Stands in cells and reports.
    #[schemars(with = "Word")]
    pub name: String,
    /// The programming language, as the worker's `hello` states it.
    pub language: String,
    /// What has to be installed to build it.
    pub toolchain: Toolchain,
    /// Files and folders that the artifact depends on, relative to the manifest.
    pub inputs: Vec<String>,
    /// Files that pin the libraries and their hashes, relative to the manifest: `--locked` compares
    /// them, or all inputs if none is named.
    #[serde(default)]
    pub lock_files: Vec<String>,
    /// How it is built, in the folder of the manifest.
    pub build: Build,
    /// Command that starts it; `{artifact}` and `{target}` are filled in.
    #[schemars(length(min = 1))]
    pub run: Vec<String>,
    /// The client library for each broker that it can work with.
    #[schemars(with = "Keyed<BrokerKind, ClientManifest>")]
    pub clients: BTreeMap<BrokerKind, ClientManifest>,
    /// Whether these are the versions that the file names first; see `variants`.
    #[serde(skip, default = "usual")]
    pub is_usual: bool,
}

fn usual() -> bool {
    true
}

/// Marker: `kind: worker`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkerKind {
    /// The manifest of a worker.
    Worker,
}

/// What has to be installed to build the worker.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toolchain {
    /// Name of the tool, for messages.
    pub name: String,
    /// Command that succeeds where the toolchain is there.
    #[schemars(length(min = 1))]
    pub probe: Vec<String>,
}

/// How the worker is built.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Command that builds it.
    #[schemars(length(min = 1))]
    pub command: Vec<String>,
    /// Variables of that command.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Scalar>")]
    pub env: BTreeMap<String, String>,
    /// Path of what the build makes; `{target}` is the folder for build products.
    pub artifact: String,
}

/// A client library inside the worker.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientManifest {
    /// Name of the library; stands in cells.
    #[schemars(with = "Word")]
    pub library: String,
    /// The version that the worker's `hello` has to state.
    #[schemars(with = "Version")]
    pub version: String,
    /// What the client can do.
    #[schemars(with = "Vec<CapabilityName>")]
    pub capabilities: Vec<String>,
    /// What it cannot do, each with reason and source.
    #[serde(default)]
    pub lacks: Vec<Lack>,
    /// Other versions that the worker can be built with: `--pin LIBRARY=VERSION` or a set of client
    /// versions chooses one, and `{LIBRARY.version}` stands for it wherever the worker is built.
    #[serde(default)]
    pub others: Vec<OtherVersion>,
}

/// Another version of a client library.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OtherVersion {
    /// What `{LIBRARY.version}` stands for, and what the worker's `hello` has to state.
    #[schemars(with = "Version")]
    pub version: String,
    /// What this version can do, where that is something else.
    #[schemars(with = "Option<Vec<CapabilityName>>")]
    pub capabilities: Option<Vec<String>>,
    /// What this version cannot do, where that is something else.
    pub lacks: Option<Vec<Lack>>,
}

/// Reads one manifest.
///
/// # Errors
/// Every problem of the file, located.
pub fn load(path: &Path) -> Result<Manifest, Vec<Problem>> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let source = open(path, &name.unwrap_or_default()).map_err(|problem| vec![problem])?;
    let file: Manifest = parse::typed(&source)?;
    let read = Read { source, file };
    let mut problems = Vec::new();
    validate(&read, &mut problems);
    problems.extend(read.source.unprintable());
    if problems.is_empty() { Ok(read.file) } else { Err(problems) }
}

/// Adds what is wrong with a manifest that could be read.
pub(crate) fn validate(read: &Read<Manifest>, problems: &mut Vec<Problem>) {
    let (source, file) = (&read.source, &read.file);
    let root = Route::default();
    if !is_word(&file.name) {
        let message = format!("`{}` cannot stand in ids", file.name);
        problems.push(source.problem(Rule::BadName, &root.key("name"), message));
    }
    for (route, command) in [
        (root.key("toolchain").key("probe"), &file.toolchain.probe),
        (root.key("build").key("command"), &file.build.command),
        (root.key("run"), &file.run),
    ] {
        if command.is_empty() {
            problems.push(source.problem(Rule::EmptyCommand, &route, "an empty command"));
        }
    }
    if file.clients.is_empty() {
        problems.push(source.problem(
            Rule::NoClient,
            &root.key("clients"),
            "a worker without a client",
        ));
    }
    for (broker, client) in &file.clients {
        validate_client(source, *broker, client, problems);
        let version = variant::placeholder(client);
        if !client.others.is_empty() && !file.texts().any(|text| text.contains(&version)) {
            let message = format!("nothing asks for {version}: every build would be the same");
            let route = root.key("clients").key(&broker.to_string()).key("others");
            let help = Some("write it into `build`, `inputs` or `lock_files`".to_owned());
            problems.push(source.problem_with_help(Rule::Contradiction, &route, message, help));
        }
    }
}

fn validate_client(
    source: &Source,
    broker: BrokerKind,
    client: &ClientManifest,
    problems: &mut Vec<Problem>,
) {
    let route = Route::default().key("clients").key(&broker.to_string());
    if !is_word(&client.library) {
        let message = format!("`{}` cannot stand in ids", client.library);
        problems.push(source.problem(Rule::BadName, &route.key("library"), message));
    }
    if !is_pin(&client.version) {
        let message = format!("`{}` is no version", client.version);
        problems.push(source.problem(Rule::BadVersion, &route.key("version"), message));
    }
    let abilities = Abilities { capabilities: &client.capabilities, lacks: &client.lacks };
    abilities.validate(source, broker, &route, problems);
    for (index, other) in client.others.iter().take(MOST_OTHERS + 1).enumerate() {
        let route = route.key("others").item(index);
        if index == MOST_OTHERS {
            let message = format!("{} other versions: at most {MOST_OTHERS}", client.others.len());
            problems.push(source.problem(Rule::OutOfBounds, &route, message));
            continue;
        }
        if !is_pin(&other.version) {
            let message = format!("`{}` is no version", other.version);
            problems.push(source.problem(Rule::BadVersion, &route.key("version"), message));
        }
        let mut earlier = client.others[..index].iter().map(|other| &other.version);
        if other.version == client.version || earlier.any(|version| *version == other.version) {
            let message = format!("version {} stands here already", other.version);
            problems.push(source.problem(Rule::DuplicateItem, &route.key("version"), message));
        }
        let abilities = Abilities {
            capabilities: other.capabilities.as_ref().unwrap_or(&client.capabilities),
            lacks: other.lacks.as_ref().unwrap_or(&client.lacks),
        };
        if other.capabilities.is_some() || other.lacks.is_some() {
            abilities.validate(source, broker, &route, problems);
        }
    }
}

/// What a client can do and what it cannot.
struct Abilities<'a> {
    capabilities: &'a [String],
    lacks: &'a [Lack],
}

impl Abilities<'_> {
    fn validate(
        &self,
        source: &Source,
        broker: BrokerKind,
        route: &Route,
        problems: &mut Vec<Problem>,
    ) {
        let lists = [("capabilities", self.capabilities.len()), ("lacks", self.lacks.len())];
        for (key, length) in lists {
            if length > CAPABILITIES.len() {
                let message = format!("{length} {key}: there are {} at most", CAPABILITIES.len());
                problems.push(source.problem(Rule::OutOfBounds, &route.key(key), message));
            }
        }
        let names = CAPABILITIES.iter().map(|(name, _)| *name);
        let known: Vec<&str> = names.filter(|name| concerns(name, broker)).collect();
        let mut is_known = |name: &String, route: &Route| {
            if !known.contains(&name.as_str()) {
                let message = format!("{broker} clients have no capability `{name}`");
                let help = suggest(name, known.iter().copied());
                let rule = Rule::UnknownCapability;
                problems.push(source.problem_with_help(rule, route, message, help));
            }
        };
        for (index, capability) in self.capabilities.iter().take(CAPABILITIES.len()).enumerate() {
            is_known(capability, &route.key("capabilities").item(index));
        }
        for (index, lack) in self.lacks.iter().take(CAPABILITIES.len()).enumerate() {
            is_known(&lack.capability, &route.key("lacks").item(index).key("capability"));
        }
        for (index, lack) in self.lacks.iter().take(CAPABILITIES.len()).enumerate() {
            let route = route.key("lacks").item(index);
            if self.capabilities.contains(&lack.capability) {
                let message = format!("`{}` is both there and lacking", lack.capability);
                let route = route.key("capability");
                problems.push(source.problem(Rule::Contradiction, &route, message));
            }
            if !is_url(&lack.url) {
                let help = Some("say where a reader can see that the client lacks it".to_owned());
                let (route, message) = (route.key("url"), "this is no URL");
                problems.push(source.problem_with_help(Rule::BadUrl, &route, message, help));
            }
        }
    }
}
