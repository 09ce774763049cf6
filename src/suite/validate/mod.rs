//! What must be right in suite files before anything is planned: references and the contract lint.
//! Files that could be read come in; every problem of all of them comes out, in order of place.
//! It must never choose versions or scenarios for a run: that is for `plan`.

mod bounds;
mod checks;
mod combinations;
mod controls;
mod deviations;
mod expectations;
mod faults;
mod handler;
mod phases;
mod workers;

use std::collections::BTreeMap;

use super::model::{Scenario, WorkerSpec};
use super::problem::{Problem, suggest};
use super::source::{Route, Source};
use super::vocabulary::{CAPABILITIES, CLAUSES, ID_HELP, is_id};
use super::{Loaded, Read, pins, scenario_id};
use crate::names::{BrokerKind, Role};
use crate::suite::manifest;
use crate::suite::model::SuiteFile;

/// All problems of all files, those of reading included.
pub fn validate(loaded: &Loaded) -> Vec<Problem> {
    let mut problems = loaded.problems.clone();
    for read in &loaded.suites {
        suite(read, &mut problems);
    }
    for read in &loaded.pins {
        pins::validate_pins(&read.source, &read.file, &mut problems);
    }
    for read in &loaded.profiles {
        pins::validate_profile(&read.source, &read.file, &mut problems);
    }
    for read in &loaded.manifests {
        manifest::validate(read, &mut problems);
    }
    deviations::of_files(loaded, &mut problems);
    deviations::pinned(loaded, &mut problems);
    names_of_files(loaded, &mut problems);
    for source in loaded.sources() {
        problems.extend(source.unprintable());
    }
    duplicates(loaded, &mut problems);
    deviations::duplicates(loaded, &mut problems);
    problems.sort();
    problems.dedup();
    problems
}

/// Sets of pins and profiles stand in ids as scenarios do.
fn names_of_files(loaded: &Loaded, problems: &mut Vec<Problem>) {
    for read in &loaded.pins {
        for name in read.file.sets.keys() {
            named(&read.source, &Route::default().key("sets").name(name), name, problems);
        }
    }
    for read in &loaded.profiles {
        named(&read.source, &Route::default().key("name"), &read.file.name.value, problems);
    }
}

fn suite(read: &Read<SuiteFile>, problems: &mut Vec<Problem>) {
    let root = Route::default();
    named(&read.source, &root.key("property"), &read.file.property.value, problems);
    if read.file.scenarios.is_empty() {
        problems.push(read.source.problem(&root.key("scenarios"), "a suite without scenarios"));
    }
    let mut found = Vec::new();
    for (index, scenario) in read.file.scenarios.iter().enumerate() {
        let mut scene = Scene {
            source: &read.source,
            scenario: &scenario.value,
            route: root.key("scenarios").item(index),
            problems: Vec::new(),
        };
        header(&mut scene);
        bounds::validate(&mut scene);
        workers::validate(&mut scene);
        phases::validate(&mut scene);
        faults::validate(&mut scene);
        checks::validate(&mut scene);
        controls::validate(&mut scene);
        expectations::validate(&mut scene);
        deviations::of_scenario(&mut scene);
        combinations::merged(&mut scene);
        found.push((scenario.value.combination.as_ref(), scene.problems));
    }
    problems.extend(combinations::together(found));
}

/// One scenario under examination.
struct Scene<'a> {
    source: &'a Source,
    scenario: &'a Scenario,
    route: Route,
    problems: Vec<Problem>,
}

impl<'a> Scene<'a> {
    fn report(&mut self, route: &Route, message: impl Into<String>) {
        self.problems.push(self.source.problem(route, message));
    }

    fn report_with_help(
        &mut self,
        route: &Route,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.problems.push(self.source.problem_with_help(route, message, help.into()));
    }

    /// A name that comes to stand in paths, topics and groups.
    fn is_named(&mut self, route: &Route, name: &str) {
        named(self.source, route, name, &mut self.problems);
    }

    fn at(&self, key: &str) -> Route {
        self.route.key(key)
    }

    fn workers(&self) -> impl Iterator<Item = (&'a String, &'a WorkerSpec)> + use<'a> {
        let scenario = self.scenario;
        scenario.workers.iter().map(|(name, spec)| (name, &spec.value))
    }

    fn consumers(&self) -> impl Iterator<Item = (&'a String, &'a WorkerSpec)> + use<'a> {
        self.workers().filter(|(_, spec)| spec.role == Role::Consumer)
    }

    fn worker(&self, name: &str) -> Option<&'a WorkerSpec> {
        self.scenario.workers.get(name).map(|spec| &spec.value)
    }

    /// A reference to a worker that has to exist.
    fn known_worker(&mut self, route: &Route, name: &str) -> Option<&'a WorkerSpec> {
        let found = self.worker(name);
        if found.is_none() {
            let help = suggest(name, self.scenario.workers.keys().map(String::as_str));
            self.report_with_help(route, format!("there is no worker `{name}`"), help);
        }
        found
    }

    fn is_started(&self, name: &str) -> bool {
        self.scenario.phases.iter().any(|phase| phase.value.start.iter().any(|w| w == name))
    }

    fn brokers(&self) -> &'a [BrokerKind] {
        &self.scenario.brokers
    }

    /// Processes that consume for one destination side by side.
    fn processes_of(&self, destination: Option<&str>) -> u32 {
        let serves = |spec: &&WorkerSpec| spec.destination.as_deref() == destination;
        let counts = self.consumers().map(|(_, spec)| spec).filter(serves).map(|spec| spec.count);
        // Not a sum: what is far too many is a problem of its own, not an overflow.
        counts.fold(0, u32::saturating_add)
    }
}

/// Names become parts of files, topics and groups: one rule for all of them.
fn named(source: &Source, route: &Route, name: &str, problems: &mut Vec<Problem>) {
    if !is_id(name) {
        let message = format!("`{name}` is no name");
        problems.push(source.problem_with_help(route, message, Some(ID_HELP.to_owned())));
    }
}

fn header(scene: &mut Scene) {
    let scenario = scene.scenario;
    scene.is_named(&scene.at("id"), &scenario.id.value);
    for (key, text) in [("title", &scenario.title), ("about", &scenario.about)] {
        if text.trim().is_empty() {
            scene.report(&scene.at(key), "nobody could read what this scenario shows");
        }
        if key == "title" && text.contains('\n') {
            scene.report(&scene.at(key), "a title is one line");
        }
    }
    if scenario.brokers.is_empty() {
        scene.report(&scene.at("brokers"), "a scenario on no broker is never run");
    }
    for (index, broker) in scenario.brokers.iter().enumerate() {
        if scenario.brokers[..index].contains(broker) {
            scene.report(&scene.at("brokers").item(index), format!("{broker} stands twice"));
        }
    }
    if scenario.clauses.is_empty() {
        let help = "every scenario shows at least one clause of the delivery contract";
        scene.report_with_help(&scene.at("clauses"), "no clause", help.to_owned());
    }
    for (index, clause) in scenario.clauses.iter().enumerate() {
        if !CLAUSES.contains(&clause.value.as_str()) {
            let message = format!("the contract has no clause `{}`", clause.value);
            let help = suggest(&clause.value, CLAUSES.iter().copied());
            scene.report_with_help(&scene.at("clauses").item(index), message, help);
        }
    }
    for (index, need) in scenario.needs.iter().enumerate() {
        if !CAPABILITIES.iter().any(|(name, _)| *name == need.value) {
            let message = format!("there is no capability `{}`", need.value);
            let help = suggest(&need.value, CAPABILITIES.iter().map(|(name, _)| *name));
            scene.report_with_help(&scene.at("needs").item(index), message, help);
        }
    }
}

/// Ids that stand twice, across files.
fn duplicates(loaded: &Loaded, problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for (suite, index, scenario) in loaded.scenarios() {
        let id = scenario_id(&suite.file, scenario);
        let route = Route::default().key("scenarios").item(index).key("id");
        once(&mut seen, &suite.source, &route, "scenario", &id, problems);
    }
    let mut seen = BTreeMap::new();
    for read in &loaded.pins {
        for name in read.file.sets.keys() {
            let route = Route::default().key("sets").name(name);
            once(&mut seen, &read.source, &route, "set of pins", name, problems);
        }
    }
    let mut seen = BTreeMap::new();
    for read in &loaded.profiles {
        let route = Route::default().key("name");
        once(&mut seen, &read.source, &route, "profile", &read.file.name.value, problems);
    }
    let mut seen = BTreeMap::new();
    for read in &loaded.manifests {
        let route = Route::default().key("name");
        once(&mut seen, &read.source, &route, "worker", &read.file.name, problems);
    }
}

fn once(
    seen: &mut BTreeMap<String, String>,
    source: &Source,
    route: &Route,
    what: &str,
    id: &str,
    problems: &mut Vec<Problem>,
) {
    let problem = source.problem(route, format!("{what} `{id}` stands twice"));
    let place = format!("{}:{}", problem.file, problem.line);
    match seen.get(id) {
        Some(first) => {
            let help = Some(format!("the first one is at {first}"));
            problems.push(source.problem_with_help(route, problem.message, help));
        }
        None => {
            seen.insert(id.to_owned(), place);
        }
    }
}
