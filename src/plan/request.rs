//! What a person asks to have planned: profile, sets of pins, overrides, filter, seed, workers.
//! Words from the command line come in; matchers and resolved pins come out, or located problems.
//! It must never guess what was meant: an unknown name is a problem that names the known ones.

use std::collections::BTreeMap;

use globset::GlobMatcher;

use crate::names::{BrokerKind, ServerKind};
use crate::suite::manifest::Manifest;
use crate::suite::pins::{glob, is_pin};
use crate::suite::problem::{Problem, Words, suggest};
use crate::suite::rule::Rule;
use crate::suite::source::Route;
use crate::suite::{Loaded, Read};

/// What to plan.
#[derive(Debug, Clone)]
pub struct Request {
    /// Name of a profile; every scenario if absent.
    pub profile: Option<String>,
    /// Names of sets of pins; one at least.
    pub sets: Vec<String>,
    /// `kafka=4.4.0`, for every set.
    pub overrides: Vec<String>,
    /// `id(GLOB)` over scenario or cell ids.
    pub filter: Option<String>,
    pub subjects: Subjects,
    pub seed: u64,
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
pub(super) fn sets(loaded: &Loaded, request: &Request, problems: &mut Vec<Problem>) -> Vec<PinSet> {
    let overrides = overrides(request, problems);
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
        pins.extend(overrides.clone());
        found.push(PinSet { pins });
    }
    found
}

fn overrides(request: &Request, problems: &mut Vec<Problem>) -> BTreeMap<ServerKind, String> {
    const WHERE: &str = "--pin";
    let mut overrides = BTreeMap::new();
    for text in &request.overrides {
        let Some((name, pin)) = text.split_once('=') else {
            let words = Words::new("this pins nothing");
            problems.push(Problem::at(Rule::BadPin, WHERE, text, 0..text.len(), words));
            continue;
        };
        let servers = [ServerKind::Kafka, ServerKind::Pulsar, ServerKind::Postgres];
        let server = servers.into_iter().find(|server| server.to_string() == name);
        if server.is_none() {
            let help = suggest(name, ["kafka", "pulsar", "postgres"]);
            let words = Words::new(format!("there is no server `{name}`")).help(help);
            problems.push(Problem::at(Rule::BadPin, WHERE, text, 0..name.len(), words));
        }
        if !is_pin(pin) {
            let words = Words::new(format!("`{pin}` is no version"));
            let range = name.len() + 1..text.len();
            problems.push(Problem::at(Rule::BadVersion, WHERE, text, range, words));
        }
        if let Some(server) = server {
            overrides.insert(server, pin.to_owned());
        }
    }
    overrides
}

/// Which scenarios a profile takes; all of its globs have to match something.
pub(super) struct Profile {
    pub(super) name: String,
    globs: Vec<GlobMatcher>,
}

impl Profile {
    pub(super) fn takes(&self, scenario: &str) -> bool {
        self.globs.iter().any(|glob| glob.is_match(scenario))
    }
}

pub(super) fn profile(
    loaded: &Loaded,
    request: &Request,
    scenarios: &[String],
    problems: &mut Vec<Problem>,
) -> Profile {
    let Some(name) = &request.profile else {
        let all = glob("*").into_iter().collect();
        return Profile { name: "all".to_owned(), globs: all };
    };
    let mut profile = Profile { name: name.clone(), globs: Vec::new() };
    let names = || loaded.profiles.iter().map(|read| read.file.name.value.as_str());
    let Some(Read { source, file }) =
        loaded.profiles.iter().find(|read| read.file.name.value == *name)
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
        profile.globs.push(glob);
    }
    profile
}

/// The choice among the cells of the profile.
pub(super) enum Filter {
    All,
    Id(GlobMatcher),
}

impl Filter {
    /// Scenario ids take all of their cells; cell ids (with `@`) take one.
    pub(super) fn takes(&self, scenario: &str, cell: &str) -> bool {
        match self {
            Self::All => true,
            Self::Id(glob) => glob.is_match(scenario) || glob.is_match(cell),
        }
    }
}

pub(super) fn filter(request: &Request, problems: &mut Vec<Problem>) -> Filter {
    let Some(text) = &request.filter else { return Filter::All };
    match parse_filter(text) {
        Ok(glob) => Filter::Id(glob),
        Err(problem) => {
            problems.push(problem);
            Filter::All
        }
    }
}

const WHERE: &str = "--filter";

fn parse_filter(text: &str) -> Result<GlobMatcher, Problem> {
    let problem = |range, message: &str| {
        Problem::at(Rule::BadFilter, WHERE, text, range, Words::new(message))
    };
    let begin = text.len() - text.trim_start().len();
    let word = text[begin..].chars().take_while(|c| c.is_alphanumeric()).count();
    let name = text[begin..].chars().take(word).collect::<String>();
    if name != "id" {
        return Err(problem(begin..begin + name.len(), "a filter begins with `id`"));
    }
    let open = begin + name.len();
    if !text[open..].starts_with('(') {
        return Err(problem(open..open + 1, "expected `(`"));
    }
    let Some(close) = text.rfind(')').filter(|close| *close > open) else {
        return Err(problem(text.len()..text.len(), "expected `)`"));
    };
    let rest = text[close + 1..].trim_end();
    if !rest.is_empty() {
        return Err(problem(close + 1..close + 1 + rest.len(), "nothing may follow the `)`"));
    }
    let pattern = &text[open + 1..close];
    if pattern.trim().is_empty() {
        return Err(problem(open..close + 1, "an empty glob matches nothing"));
    }
    glob(pattern).map_err(|why| problem(open + 1..close, &format!("this is no glob: {why}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn filters_take_scenarios_or_cells() {
        let filter = Filter::Id(parse_filter(" id(a/*@kafka-*) ").unwrap());
        assert!(filter.takes("a/b", "a/b@kafka-4.3.1+rdkafka-0.39.0"));
        assert!(!filter.takes("a/b", "a/b@pulsar-4.2.4+pulsar-6.9.1"));
        let filter = Filter::Id(parse_filter("id(a/*)").unwrap());
        assert!(filter.takes("a/b", "a/b@pulsar-4.2.4+pulsar-6.9.1"));
        assert!(!filter.takes("c/b", "c/b@pulsar-4.2.4+pulsar-6.9.1"));
    }

    #[test]
    fn what_is_no_filter_gets_a_caret_where_it_goes_wrong() {
        for (text, column) in [
            ("di(x)", 1),
            ("id x", 3),
            ("id(x", 5),
            ("id(x) y", 6),
            ("id()", 3),
            ("id([)", 4),
            ("ä(x)", 1),
            ("", 1),
        ] {
            let problem = parse_filter(text).unwrap_err();
            assert_eq!(problem.column, column, "{problem}");
        }
    }
}
