//! Pins and profiles: which versions a plan is for, and which scenarios it takes.
//! YAML of `kind: pins` and `kind: profile` comes in; spanned, typed files come out.
//! It must never know which versions exist: a pin is what somebody wants to have proven.

use std::collections::BTreeMap;

use globset::{Glob, GlobMatcher};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_saphyr::Spanned;

use super::problem::Problem;
use super::rule::Rule;
use super::schema::{Id, Keyed, Version, Word};
use super::source::{Route, Source};
use super::vocabulary::is_word;
use crate::names::{Level, ServerKind};

/// A pins file: named sets of versions that are tested together.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PinsFile {
    /// Says that this file has pins.
    pub kind: PinsKind,
    /// By name of the set: one version for each server.
    #[schemars(with = "BTreeMap<Id, Keyed<ServerKind, Version>>")]
    pub sets: BTreeMap<String, BTreeMap<ServerKind, Spanned<String>>>,
    /// By name, for `--clients`: versions of client libraries, by library. Those that a set does
    /// not name have the versions of their workers' manifests.
    #[serde(default)]
    #[schemars(with = "BTreeMap<Id, BTreeMap<Word, Version>>")]
    pub clients: BTreeMap<String, BTreeMap<String, Spanned<String>>>,
}

/// Marker: `kind: pins`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PinsKind {
    /// Sets of versions that are tested together.
    Pins,
}

/// A profile file: a named choice of scenarios.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileFile {
    /// Says that this file is a profile.
    pub kind: ProfileKind,
    /// Name for `--profile`.
    #[schemars(with = "Id")]
    pub name: Spanned<String>,
    /// What it is for, in a sentence.
    pub about: String,
    /// Globs over `property/scenario`.
    #[schemars(with = "Vec<String>")]
    pub scenarios: Vec<Spanned<String>>,
    /// Only scenarios of these levels; all of them where it is absent.
    #[schemars(with = "Option<Vec<Level>>")]
    pub levels: Option<Vec<Spanned<Level>>>,
}

/// Marker: `kind: profile`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProfileKind {
    /// A named choice of scenarios.
    Profile,
}

/// Bytes of a glob at most: ids have less than half as many.
const MAX_GLOB: usize = 300;
/// Patterns of a profile at most.
const MAX_PATTERNS: usize = 500;
/// Characters of a pin at most: it stands in ids and image names.
const MAX_PIN: usize = 60;

/// Whether a text can be a pin: digits in one to three parts (`17`, `4.2`, `4.3.1`), with an
/// optional suffix such as `-rc1`.
pub fn is_pin(text: &str) -> bool {
    let (numbers, suffix) = text.split_once('-').map_or((text, None), |(n, s)| (n, Some(s)));
    let parts: Vec<&str> = numbers.split('.').collect();
    let word = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    text.len() <= MAX_PIN
        && parts.len() <= 4
        && parts.iter().all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
        && suffix.is_none_or(word)
}

/// Globs of which one at least has to match.
#[derive(Debug, Clone)]
pub struct Globs(Vec<GlobMatcher>);

impl Globs {
    /// Those of the patterns that are globs; the others are problems of their file.
    pub fn of<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        Self(patterns.into_iter().filter_map(|pattern| glob(pattern).ok()).collect())
    }

    /// Whether one of them matches.
    pub fn take(&self, id: &str) -> bool {
        self.0.iter().any(|glob| glob.is_match(id))
    }
}

/// A glob over scenario or cell ids; `*` crosses `/`, so that `*` means all.
///
/// # Errors
/// The reason why it is no glob.
pub fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    if pattern.len() > MAX_GLOB {
        return Err(format!("it has more than {MAX_GLOB} characters"));
    }
    match Glob::new(pattern) {
        Ok(glob) => Ok(glob.compile_matcher()),
        Err(error) => Err(error.kind().to_string()),
    }
}

pub(super) fn validate_pins(source: &Source, file: &PinsFile, problems: &mut Vec<Problem>) {
    let sets = Route::default().key("sets");
    if file.sets.is_empty() {
        problems.push(source.problem(Rule::IncompletePins, &sets, "no set of pins"));
    }
    for (name, pins) in &file.sets {
        for server in [ServerKind::Kafka, ServerKind::Pulsar, ServerKind::Postgres] {
            match pins.get(&server) {
                Some(pin) if is_pin(&pin.value) => {}
                Some(pin) => problems.push(source.problem_with_help(
                    Rule::BadVersion,
                    &sets.key(name).key(&server.to_string()),
                    format!("`{}` is no version", pin.value),
                    Some("a pin is a version such as `4.3.1`, or a major such as `17`".into()),
                )),
                None => problems.push(source.problem_with_help(
                    Rule::IncompletePins,
                    &sets.name(name),
                    format!("set `{name}` pins no {server}"),
                    Some("a set names one version for each of kafka, pulsar, postgres".into()),
                )),
            }
        }
    }
    let clients = Route::default().key("clients");
    for (name, versions) in &file.clients {
        for (library, version) in versions {
            let route = clients.key(name).key(library);
            if !is_word(library) {
                let message = format!("`{library}` is no name of a library");
                problems.push(source.problem(
                    Rule::BadName,
                    &clients.key(name).name(library),
                    message,
                ));
            }
            if !is_pin(&version.value) {
                let message = format!("`{}` is no version", version.value);
                problems.push(source.problem(Rule::BadVersion, &route, message));
            }
        }
    }
}

pub(super) fn validate_profile(source: &Source, file: &ProfileFile, problems: &mut Vec<Problem>) {
    let list = Route::default().key("scenarios");
    if file.scenarios.is_empty() {
        problems.push(source.problem(
            Rule::NoScenario,
            &list,
            "a profile without scenarios proves nothing",
        ));
    }
    if file.scenarios.len() > MAX_PATTERNS {
        let message = format!("{} patterns: at most {MAX_PATTERNS}", file.scenarios.len());
        problems.push(source.problem(Rule::OutOfBounds, &list, message));
    }
    for (index, pattern) in file.scenarios.iter().take(MAX_PATTERNS).enumerate() {
        if let Err(why) = glob(&pattern.value) {
            problems.push(source.problem(
                Rule::BadGlob,
                &list.item(index),
                format!("this is no glob: {why}"),
            ));
        }
    }
    let Some(levels) = &file.levels else { return };
    let list = Route::default().key("levels");
    if levels.is_empty() {
        let help = "name levels, or leave `levels` out to take all of them".to_owned();
        let message = "a profile without levels proves nothing";
        problems.push(source.problem_with_help(Rule::NoScenario, &list, message, Some(help)));
    }
    for (index, level) in levels.iter().enumerate() {
        if levels[..index].iter().any(|earlier| earlier.value == level.value) {
            let message = format!("level {} is there already", level.value);
            problems.push(source.problem(Rule::DuplicateItem, &list.item(index), message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_versions_or_majors() {
        for pin in ["17", "4.3.1", "4.2", "4.4.0-rc1", "5.0.0-M2"] {
            assert!(is_pin(pin), "{pin}");
        }
        for pin in ["", "latest", "4.", ".4", "4..1", "4.3.1-", "v4", "4.3.1 "] {
            assert!(!is_pin(pin), "{pin}");
        }
    }

    #[test]
    fn a_star_crosses_folders() {
        let all = glob("*").expect("a glob");
        assert!(all.is_match("at-least-once/sigkill-before-ack"));
        assert!(glob("[").is_err());
    }
}
