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
use crate::suite::{Read, open, parse};

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
    let lists = [("capabilities", client.capabilities.len()), ("lacks", client.lacks.len())];
    for (key, length) in lists {
        if length > CAPABILITIES.len() {
            let message = format!("{length} {key}: there are {} at most", CAPABILITIES.len());
            problems.push(source.problem(Rule::OutOfBounds, &route.key(key), message));
        }
    }
    let known = || CAPABILITIES.iter().map(|(name, _)| *name).filter(|name| concerns(name, broker));
    for (index, capability) in client.capabilities.iter().take(CAPABILITIES.len()).enumerate() {
        if concerns(capability, broker) {
            continue;
        }
        let message = format!("{broker} clients have no capability `{capability}`");
        let help = suggest(capability, known());
        let route = route.key("capabilities").item(index);
        problems.push(source.problem_with_help(Rule::UnknownCapability, &route, message, help));
    }
    for (index, lack) in client.lacks.iter().take(CAPABILITIES.len()).enumerate() {
        let route = route.key("lacks").item(index);
        if !concerns(&lack.capability, broker) {
            let message = format!("{broker} clients have no capability `{}`", lack.capability);
            let help = suggest(&lack.capability, known());
            problems.push(source.problem_with_help(
                Rule::UnknownCapability,
                &route.key("capability"),
                message,
                help,
            ));
        }
        if client.capabilities.contains(&lack.capability) {
            let message = format!("`{}` is both there and lacking", lack.capability);
            problems.push(source.problem(Rule::Contradiction, &route.key("capability"), message));
        }
        if !is_url(&lack.url) {
            let help = Some("say where a reader can see that the client lacks it".to_owned());
            problems.push(source.problem_with_help(
                Rule::BadUrl,
                &route.key("url"),
                "this is no URL",
                help,
            ));
        }
    }
}
