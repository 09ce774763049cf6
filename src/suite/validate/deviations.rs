//! Known deviations, in scenarios and in files of their own: each has to be about something.
//! Loaded files or a scene come in; problems of every entry come out.
//! It must never accept an entry that no run could show, expire or miss.

use jiff::civil::Date;

use crate::checks::{CHECKS, CheckSpec, PinSubject, check_names};
use crate::names::{BrokerKind, ServerKind};
use crate::suite::deviations::{DeviationSpec, KnownSpec};
use crate::suite::model::Scenario;
use crate::suite::pins::glob;
use crate::suite::problem::{Problem, suggest};
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::source::{Route, Source};
use crate::suite::versions::{BadRange, Coverage, RANGE_HELP, VersionRange};
use crate::suite::vocabulary::{is_url, is_word};
use crate::suite::{Loaded, scenario_id};

/// The rule whose violation makes evidence invalid: it says nothing about a guarantee.
const EVIDENCE_RULE: &str = "links_only";

/// Entries of one file at most: each is looked at beside all of the others.
const MOST_DEVIATIONS: usize = 200;
/// Patterns of one entry at most: each is looked at beside all scenarios.
const MOST_PATTERNS: usize = 64;
/// Entries of one scenario that are looked at; more of them are a problem of its own.
const MOST_KNOWN: usize = 64;

/// Where something is written.
#[derive(Clone)]
pub(super) struct Spot<'a> {
    pub(super) source: &'a Source,
    pub(super) route: Route,
}

impl Spot<'_> {
    fn key(&self, key: &str) -> Self {
        Self { source: self.source, route: self.route.key(key) }
    }

    pub(super) fn problem(&self, rule: Rule, message: impl Into<String>) -> Problem {
        self.source.problem(rule, &self.route, message)
    }

    pub(super) fn with_help(
        &self,
        rule: Rule,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) -> Problem {
        self.source.problem_with_help(rule, &self.route, message, help.into())
    }

    /// `file:line`, for a problem elsewhere.
    pub(super) fn place(&self) -> String {
        self.source.place(&self.route)
    }
}

/// The entries of one scenario.
pub(super) fn of_scenario(scene: &mut Scene) {
    for (index, known) in scene.scenario.known.iter().enumerate() {
        let spot = Spot { source: scene.source, route: scene.at("known").item(index) };
        entry(&spot, known, &mut scene.problems);
        let scenario = scene.scenario;
        if !runs(scenario, &known.check) && names_a_rule(&known.check) {
            let problem = spot.key("check").with_help(
                Rule::CheckNotRun,
                format!("this scenario does not run the check `{}`", known.check),
                format!("it runs: {}", checks_of(scenario).join(", ")),
            );
            scene.problems.push(problem);
        }
        if let Some(server) = known.versions_of.server
            && !runs_on(scenario, server)
        {
            let message = format!("the scenario is not run on {server}");
            scene.problems.push(spot.key("for").key("server").problem(Rule::OtherBroker, message));
        }
    }
}

/// The files of `kind: deviations`, against the scenarios that were loaded with them.
pub(super) fn of_files(loaded: &Loaded, problems: &mut Vec<Problem>) {
    for read in &loaded.deviations {
        let (list, length) = (Route::default().key("deviations"), read.file.deviations.len());
        if length > MOST_DEVIATIONS {
            let message = format!("{length} deviations: at most {MOST_DEVIATIONS} in one file");
            problems.push(read.source.problem(Rule::OutOfBounds, &list, message));
        }
        for (index, deviation) in read.file.deviations.iter().take(MOST_DEVIATIONS).enumerate() {
            let route = Route::default().key("deviations").item(index);
            let spot = Spot { source: &read.source, route };
            entry(&spot, &KnownSpec::from(deviation), problems);
            scenarios(&spot, deviation, loaded, problems);
        }
    }
}

fn scenarios(spot: &Spot, deviation: &DeviationSpec, loaded: &Loaded, problems: &mut Vec<Problem>) {
    let globs = spot.key("scenarios");
    if deviation.scenarios.is_empty() {
        problems.push(globs.problem(Rule::NoScenario, "a deviation of no scenario"));
    }
    if deviation.scenarios.len() > MOST_PATTERNS {
        let length = deviation.scenarios.len();
        let message = format!("{length} patterns: at most {MOST_PATTERNS} in one deviation");
        return problems.push(globs.problem(Rule::OutOfBounds, message));
    }
    let ids: Vec<String> =
        loaded.scenarios().map(|(read, _, scenario)| scenario_id(&read.file, scenario)).collect();
    for (index, pattern) in deviation.scenarios.iter().enumerate() {
        let here = Spot { source: spot.source, route: globs.route.item(index) };
        match glob(pattern) {
            Err(why) => {
                problems.push(here.problem(Rule::BadGlob, format!("this is no glob: {why}")))
            }
            // A file that is examined alone has nothing to match.
            Ok(glob) if !ids.is_empty() && !ids.iter().any(|id| glob.is_match(id)) => {
                let help = suggest(pattern, ids.iter().map(String::as_str));
                problems.push(here.with_help(
                    Rule::UnmatchedGlob,
                    format!("no scenario matches `{pattern}`"),
                    help,
                ));
            }
            Ok(_) => {}
        }
    }
    let globs = deviation.globs();
    let named: Vec<&Scenario> = loaded
        .scenarios()
        .filter(|(read, _, scenario)| globs.take(&scenario_id(&read.file, scenario)))
        .map(|(_, _, scenario)| scenario)
        .collect();
    if named.is_empty() {
        return;
    }
    let check = &deviation.check;
    if names_a_rule(check) && !named.iter().any(|scenario| runs(scenario, check)) {
        let message = format!("no scenario that is named here runs the check `{check}`");
        problems.push(spot.key("check").problem(Rule::CheckNotRun, message));
    }
    if let Some(server) = deviation.versions_of.server
        && !named.iter().any(|scenario| runs_on(scenario, server))
    {
        let message = format!("no scenario that is named here is run on {server}");
        problems.push(spot.key("for").key("server").problem(Rule::OtherBroker, message));
    }
}

/// What is wrong with an entry by itself.
fn entry(spot: &Spot, known: &KnownSpec, problems: &mut Vec<Problem>) {
    let check = spot.key("check");
    if known.check == EVIDENCE_RULE {
        let message = format!("`{EVIDENCE_RULE}` is about evidence, not about a guarantee");
        let help = "a worker that goes past its link makes a run inconclusive, known or not";
        problems.push(check.with_help(Rule::KnownEvidence, message, help.to_owned()));
    } else if !names_a_rule(&known.check) {
        let help = suggest(&known.check, check_names());
        problems.push(check.with_help(
            Rule::UnknownCheck,
            format!("there is no check `{}`", known.check),
            help,
        ));
    }
    let of = &known.versions_of;
    versions(&spot.key("for"), of.subject(), of.client.as_deref(), &of.versions, problems);
    if known.reason.trim().is_empty() {
        problems.push(
            spot.key("reason").problem(Rule::EmptyText, "nobody could read what is wrong there"),
        );
    }
    if !is_url(&known.url) {
        let help = "say where a reader can see it: http:// or https://".to_owned();
        problems.push(spot.key("url").with_help(Rule::BadUrl, "this is no URL", help));
    }
    if day(&known.expires).is_none() {
        let help = "the last day on which it is accepted, for example `2027-06-30`".to_owned();
        let message = format!("`{}` is no day", known.expires);
        problems.push(spot.key("expires").with_help(Rule::BadDate, message, help));
    }
}

/// Whose versions, and which. `spot` is where `client`, `server` and `versions` stand.
pub(super) fn versions(
    spot: &Spot,
    subject: Option<PinSubject>,
    client: Option<&str>,
    versions: &str,
    problems: &mut Vec<Problem>,
) {
    if let Some(library) = client
        && !is_word(library)
    {
        problems.push(
            spot.key("client").problem(Rule::BadName, format!("`{library}` is no client library")),
        );
    }
    if subject.is_none() {
        let help = "give `client: LIBRARY` or `server: kafka|pulsar|postgres`, and only one";
        problems.push(spot.with_help(
            Rule::NoSubject,
            "whose versions are these?",
            help.to_owned(),
        ));
    }
    let why = match versions.parse::<VersionRange>() {
        Ok(_) => return,
        Err(BadRange::NoBound(bound)) => format!("`{bound}` is no bound of versions"),
        Err(BadRange::Empty) => "no version is in this range".to_owned(),
    };
    problems.push(spot.key("versions").with_help(Rule::BadRange, why, RANGE_HELP.to_owned()));
}

/// A range of a server's versions that no loaded set pins: nothing could ever show it.
pub(super) fn pinned(loaded: &Loaded, problems: &mut Vec<Problem>) {
    for (spot, subject, versions) in ranges(loaded) {
        let (Some(PinSubject::Server(server)), Ok(range)) =
            (subject, versions.parse::<VersionRange>())
        else {
            continue;
        };
        let sets = loaded.pins.iter().flat_map(|read| read.file.sets.values());
        let mut pins: Vec<&str> =
            sets.filter_map(|set| set.get(&server)).map(|pin| pin.value.as_str()).collect();
        if !pins.is_empty() && pins.iter().all(|pin| range.covers(pin) == Coverage::Nothing) {
            pins.sort_unstable();
            pins.dedup();
            let message = format!("no set of pins has a {server} in `{range}`");
            let help = format!("the sets have {}; remove the entry, or add a set", pins.join(", "));
            problems.push(spot.key("versions").with_help(Rule::RangeNotPinned, message, help));
        }
    }
}

/// Every place with a range of versions.
fn ranges(loaded: &Loaded) -> Vec<(Spot<'_>, Option<PinSubject>, &str)> {
    let mut all = Vec::new();
    for (read, index, scenario) in loaded.scenarios() {
        let route = Route::default().key("scenarios").item(index);
        let at = |key: &str, n| Spot { source: &read.source, route: route.key(key).item(n) };
        for (n, known) in scenario.known.iter().enumerate() {
            let of = &known.versions_of;
            all.push((at("known", n).key("for"), of.subject(), of.versions.as_str()));
        }
        for (n, expect) in scenario.expect_for.iter().enumerate() {
            all.push((at("expect_for", n), expect.subject(), expect.versions.as_str()));
        }
    }
    for read in &loaded.deviations {
        for (n, deviation) in read.file.deviations.iter().enumerate() {
            let route = Route::default().key("deviations").item(n).key("for");
            let of = &deviation.versions_of;
            let spot = Spot { source: &read.source, route };
            all.push((spot, of.subject(), of.versions.as_str()));
        }
    }
    all
}

/// Two entries about the same check in the same versions of the same thing.
pub(super) fn duplicates(loaded: &Loaded, problems: &mut Vec<Problem>) {
    let mut of_files = Vec::new();
    for file in &loaded.deviations {
        for (n, deviation) in file.file.deviations.iter().take(MOST_DEVIATIONS).enumerate() {
            let route = Route::default().key("deviations").item(n);
            // Too many patterns are a problem of their own, and a cost that nobody asked for.
            if deviation.scenarios.len() > MOST_PATTERNS {
                continue;
            }
            of_files.push((deviation.globs(), &file.source, route, deviation));
        }
    }
    for (read, index, scenario) in loaded.scenarios() {
        let id = scenario_id(&read.file, scenario);
        let route = Route::default().key("scenarios").item(index).key("known");
        let own =
            scenario.known.iter().take(MOST_KNOWN).enumerate().map(|(n, known)| {
                (Spot { source: &read.source, route: route.item(n) }, known.clone())
            });
        let mut seen: Vec<(Spot, KnownSpec)> = own.collect();
        for (_, source, route, deviation) in of_files.iter().filter(|(g, ..)| g.take(&id)) {
            seen.push((Spot { source, route: route.clone() }, (*deviation).into()));
        }
        for (at, (spot, known)) in seen.iter().enumerate() {
            let twin = seen[..at].iter().find(|(_, earlier)| is_twin(earlier, known));
            if let Some((first, _)) = twin {
                let message = format!("`{}` is known twice for `{id}`", known.check);
                let help = format!("the first one is at {}; keep one of them", first.place());
                problems.push(spot.key("check").with_help(Rule::DuplicateItem, message, help));
            }
        }
    }
}

fn is_twin(a: &KnownSpec, b: &KnownSpec) -> bool {
    let (of_a, of_b) = (&a.versions_of, &b.versions_of);
    let same = a.check == b.check && of_a.subject().is_some() && of_a.subject() == of_b.subject();
    let ranges = (of_a.versions.parse::<VersionRange>(), of_b.versions.parse::<VersionRange>());
    same && matches!(ranges, (Ok(a), Ok(b)) if a.overlaps(&b))
}

/// A day as it is written, and in no other way.
fn day(text: &str) -> Option<Date> {
    text.parse::<Date>().ok().filter(|day| day.to_string() == text)
}

/// Whether a violated check of this name can be known.
fn names_a_rule(check: &str) -> bool {
    check != EVIDENCE_RULE && check_names().contains(&check)
}

/// Whether the scenario's units are examined by this rule: its own checks, and those of every unit.
fn runs(scenario: &Scenario, check: &str) -> bool {
    let replaced = scenario.expect_for.iter().flat_map(|expect| &expect.checks);
    let checks = scenario.checks.iter().map(|check| &check.value).chain(replaced);
    let mut names = checks.map(CheckSpec::name);
    names.any(|name| name == check) || !CHECKS.contains(&check)
}

fn checks_of(scenario: &Scenario) -> Vec<&'static str> {
    scenario.checks.iter().map(|check| check.value.name()).collect()
}

/// Every scenario has a database behind it; brokers are what it names.
pub(super) fn runs_on(scenario: &Scenario, server: ServerKind) -> bool {
    let is_it = |broker: &BrokerKind| ServerKind::from(*broker) == server;
    server == ServerKind::Postgres || scenario.brokers.iter().any(is_it)
}
