//! What a person asks to have planned: profile, pins, filters, shard, repetitions, workers.
//! Words from the command line come in; matchers and resolved pins come out, or located problems.
//! It must never guess what was meant: an unknown name is a problem that names the known ones.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use super::clients;
use super::shard::Shard;
use crate::names::{BrokerKind, Level, ServerKind};
use crate::suite::manifest::Manifest;
use crate::suite::pins::{Globs, glob, is_pin};
use crate::suite::problem::{Problem, Words, suggest};
use crate::suite::rule::Rule;
use crate::suite::source::Route;
use crate::suite::{Loaded, Read, scenario_id};

const SERVERS: [ServerKind; 3] = [ServerKind::Kafka, ServerKind::Pulsar, ServerKind::Postgres];
/// Repetitions of each cell at most.
const REPETITIONS: u32 = 1000;

/// What to plan.
#[derive(Debug, Clone)]
pub struct Request {
    /// Name of a profile; every scenario if absent.
    pub profile: Option<String>,
    /// Names of sets of pins; one at least.
    pub sets: Vec<String>,
    /// Names of sets of client versions; the versions of the manifests if there is none.
    pub clients: Vec<String>,
    /// The client library that publishes for all others, where its broker is used.
    pub producer: Option<String>,
    /// `kafka=4.4.0` or `rdkafka=0.38.0`, for every set.
    pub overrides: Vec<String>,
    /// Filter expressions: what one of them takes is taken; everything if there is none.
    pub filters: Vec<String>,
    pub subjects: Subjects,
    pub seed: u64,
    /// How often each cell is run, each time with its own seed.
    pub repeat: NonZeroU32,
    /// `2/5`: the second of five parts of the plan.
    pub shard: Option<String>,
    /// Toolchains, languages, workers or brokers that are not there: their cells are left out.
    pub without: Vec<String>,
    pub manifests: Vec<Manifest>,
}

/// What the cells of a plan are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subjects {
    /// The real workers, each put to the test by its controls.
    Scenarios,
    /// The controls themselves: every cell has to fail.
    OnlyControls,
}

/// One set of pins, with the overrides applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PinSet {
    pins: BTreeMap<ServerKind, String>,
}

impl PinSet {
    pub(super) fn broker(&self, broker: BrokerKind) -> &str {
        self.pins.get(&broker.into()).map_or("", String::as_str)
    }

    pub(super) fn database(&self) -> &str {
        self.pins.get(&ServerKind::Postgres).map_or("", String::as_str)
    }
}

/// The sets in the order that was asked for.
pub(super) fn sets(
    loaded: &Loaded,
    request: &Request,
    overrides: &Overrides,
    problems: &mut Vec<Problem>,
) -> Vec<PinSet> {
    let known = || loaded.pins.iter().flat_map(|read| read.file.sets.iter());
    if request.sets.is_empty() {
        problems.push(Problem::of_request(
            Rule::UnknownSet,
            Words::new("no set of pins was asked for"),
        ));
    }
    let mut found = Vec::new();
    for name in &request.sets {
        let Some((_, pins)) = known().find(|(set, _)| *set == name) else {
            let help = suggest(name, known().map(|(set, _)| set.as_str()));
            let words = Words::new(format!("there is no set of pins `{name}`")).help(help);
            problems.push(Problem::of_request(Rule::UnknownSet, words));
            continue;
        };
        let mut pins: BTreeMap<ServerKind, String> =
            pins.iter().map(|(server, pin)| (*server, pin.value.clone())).collect();
        pins.extend(overrides.servers.clone());
        found.push(PinSet { pins });
    }
    found
}

/// Versions that stand in for those of every set.
#[derive(Debug, Default)]
pub(super) struct Overrides {
    servers: BTreeMap<ServerKind, String>,
    /// By library.
    pub(super) clients: BTreeMap<String, String>,
}

impl Overrides {
    pub(super) fn read(request: &Request, problems: &mut Vec<Problem>) -> Self {
        const WHERE: &str = "--pin";
        let mut overrides = Self::default();
        for text in &request.overrides {
            let mut wrong = |rule, range, message: String, help: Option<String>| {
                let words = Words::new(message).help(help);
                problems.push(Problem::at(rule, WHERE, text, range, words));
            };
            let Some((name, pin)) = text.split_once('=') else {
                wrong(Rule::BadPin, 0..text.len(), "this pins nothing".to_owned(), None);
                continue;
            };
            let behind = name.len() + 1..text.len();
            if !is_pin(pin) {
                wrong(Rule::BadVersion, behind, format!("`{pin}` is no version"), None);
                continue;
            }
            let server = SERVERS.into_iter().find(|server| server.to_string() == name);
            if let Some(server) = server {
                overrides.servers.insert(server, pin.to_owned());
            } else if clients::libraries(request).any(|library| library == name) {
                if let Some((message, help)) = clients::unknown(name, pin, request) {
                    wrong(Rule::BadPin, behind, message, help);
                }
                overrides.clients.insert(name.to_owned(), pin.to_owned());
            } else {
                let servers = SERVERS.map(|server| server.to_string());
                let servers = servers.iter().map(String::as_str);
                let help = suggest(name, servers.chain(clients::libraries(request)));
                let message = format!("there is no server or client library `{name}`");
                wrong(Rule::BadPin, 0..name.len(), message, help);
            }
        }
        overrides
    }
}

/// Which scenarios a profile takes; all of its globs have to match something.
pub(super) struct Profile {
    pub(super) name: String,
    globs: Globs,
    levels: Vec<Level>,
}

impl Profile {
    pub(super) fn takes(&self, scenario: &str, level: Level) -> bool {
        let is_of_level = self.levels.is_empty() || self.levels.contains(&level);
        is_of_level && self.globs.take(scenario)
    }
}

/// Ids of the scenarios that a profile takes; all of them without one.
///
/// # Errors
/// Every problem of the profile.
pub fn scenarios(loaded: &Loaded, name: Option<&str>) -> Result<BTreeSet<String>, Vec<Problem>> {
    let all: Vec<(String, Level)> =
        loaded.scenarios().map(|(read, _, s)| (scenario_id(&read.file, s), s.level)).collect();
    let ids: Vec<String> = all.iter().map(|(id, _)| id.clone()).collect();
    let mut problems = Vec::new();
    let profile = profile(loaded, name, &ids, &mut problems);
    let taken = all.into_iter().filter(|(id, level)| profile.takes(id, *level));
    if problems.is_empty() { Ok(taken.map(|(id, _)| id).collect()) } else { Err(problems) }
}

pub(super) fn profile(
    loaded: &Loaded,
    name: Option<&str>,
    scenarios: &[String],
    problems: &mut Vec<Problem>,
) -> Profile {
    let Some(name) = name else {
        return Profile { name: "all".to_owned(), globs: Globs::of(["*"]), levels: Vec::new() };
    };
    let mut profile = Profile { name: name.to_owned(), globs: Globs::of([]), levels: Vec::new() };
    let names = || loaded.profiles.iter().map(|read| read.file.name.value.as_str());
    let Some(Read { source, file }) =
        loaded.profiles.iter().find(|read| read.file.name.value == name)
    else {
        let message = format!("there is no profile `{name}`");
        let words = Words::new(message).help(suggest(name, names()));
        problems.push(Problem::of_request(Rule::UnknownProfile, words));
        return profile;
    };
    for (index, pattern) in file.scenarios.iter().enumerate() {
        let Ok(glob) = glob(&pattern.value) else { continue };
        if !scenarios.iter().any(|id| glob.is_match(id)) {
            let message = format!("no scenario matches `{}`", pattern.value);
            let help = suggest(&pattern.value, scenarios.iter().map(String::as_str));
            let route = Route::default().key("scenarios").item(index);
            problems.push(source.problem_with_help(Rule::UnmatchedGlob, &route, message, help));
        }
    }
    profile.globs = Globs::of(file.scenarios.iter().map(|pattern| pattern.value.as_str()));
    profile.levels = file.levels.iter().flatten().map(|level| level.value).collect();
    profile
}

/// What is not there on purpose: cells that need it are left out, and the report says so.
pub(super) struct Without {
    words: Vec<String>,
}

impl Without {
    /// The word that leaves out a worker's cells on a broker, if any does.
    pub(super) fn leaves_out(&self, manifest: &Manifest, broker: BrokerKind) -> Option<&str> {
        let names = names_of(manifest);
        let concerns =
            |word: &&String| names.contains(&word.as_str()) || broker.to_string() == **word;
        self.words.iter().find(concerns).map(String::as_str)
    }
}

fn names_of(manifest: &Manifest) -> [&str; 3] {
    [&manifest.name, &manifest.language, &manifest.toolchain.name]
}

pub(super) fn without(request: &Request, problems: &mut Vec<Problem>) -> Without {
    let brokers = [BrokerKind::Kafka, BrokerKind::Pulsar].map(|broker| broker.to_string());
    let workers = request.manifests.iter().flat_map(names_of);
    let known: BTreeSet<&str> = workers.chain(brokers.iter().map(String::as_str)).collect();
    for word in &request.without {
        if !known.contains(word.as_str()) {
            let message = "this is no toolchain, language, worker or broker of this plan";
            let help = suggest(word, known.iter().copied());
            let words = Words::new(message).help(help);
            let range = 0..word.len();
            problems.push(Problem::at(Rule::BadOption, "--without", word, range, words));
        }
    }
    Without { words: request.without.clone() }
}

/// How often each cell is run.
pub(super) fn repetitions(request: &Request, problems: &mut Vec<Problem>) -> u32 {
    let wanted = request.repeat.get();
    if wanted > REPETITIONS {
        let text = wanted.to_string();
        let message = format!("more than {REPETITIONS} repetitions of each cell");
        let help = Some("run it several times, with another --seed each time".to_owned());
        let words = Words::new(message).help(help);
        let range = 0..text.len();
        problems.push(Problem::at(Rule::BadOption, "--repeat", &text, range, words));
    }
    wanted.min(REPETITIONS)
}

/// The part of the plan that is asked for.
pub(super) fn shard(request: &Request, problems: &mut Vec<Problem>) -> Option<Shard> {
    match Shard::read(request.shard.as_ref()?) {
        Ok(shard) => Some(shard),
        Err(problem) => {
            problems.push(problem);
            None
        }
    }
}
