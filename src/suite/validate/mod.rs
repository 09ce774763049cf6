//! What must be right in suite files before anything is planned: references and the contract lint.
//! Files that could be read come in; every problem of all of them comes out, in order of place.
//! It must never choose versions or scenarios for a run: that is for `plan`.

mod bounds;
mod checks;
mod combinations;
mod controls;
mod deviations;
mod expectations;
pub(super) mod faults;
mod handler;
mod phases;
mod workers;

use std::collections::BTreeMap;

use super::problem::{Problem, suggest};
use super::rule::Rule;
use super::scene::{Scene, named};
use super::source::{Route, Source};
use super::vocabulary::{CAPABILITIES, CLAUSES};
use super::{Loaded, Read, lint, pins, scenario_id};
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
        for name in read.file.clients.keys() {
            named(&read.source, &Route::default().key("clients").name(name), name, problems);
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
        problems.push(read.source.problem(
            Rule::NoScenario,
            &root.key("scenarios"),
            "a suite without scenarios",
        ));
    }
    let mut found = Vec::new();
    for (index, scenario) in read.file.scenarios.iter().enumerate() {
        let mut scene = Scene {
            source: &read.source,
            scenario: &scenario.value,
            route: root.key("scenarios").item(index),
            problems: Vec::new(),
        };
        if !bounds::is_a_story(&mut scene) {
            found.push((scenario.value.combination.as_ref(), scene.problems));
            continue;
        }
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
        // A misspelt name would only make the lint speak of things that are not so.
        if !scene.problems.iter().any(|problem| problem.rule.is_of_a_name()) {
            lint::lint(&mut scene);
        }
        found.push((scenario.value.combination.as_ref(), scene.problems));
    }
    problems.extend(combinations::together(found));
}

fn header(scene: &mut Scene) {
    let scenario = scene.scenario;
    scene.is_named(&scene.at("id"), &scenario.id.value);
    for (key, text) in [("title", &scenario.title), ("about", &scenario.about)] {
        if text.trim().is_empty() {
            scene.report(
                Rule::EmptyText,
                &scene.at(key),
                "nobody could read what this scenario shows",
            );
        }
        if key == "title" && text.contains('\n') {
            scene.report(Rule::TitleLines, &scene.at(key), "a title is one line");
        }
    }
    if scenario.brokers.is_empty() {
        scene.report(Rule::NoBroker, &scene.at("brokers"), "a scenario on no broker is never run");
    }
    for (index, broker) in scenario.brokers.iter().enumerate() {
        if scenario.brokers[..index].contains(broker) {
            scene.report(
                Rule::DuplicateItem,
                &scene.at("brokers").item(index),
                format!("{broker} stands twice"),
            );
        }
    }
    if scenario.clauses.is_empty() {
        let help = "every scenario shows at least one clause of the delivery contract";
        scene.report_with_help(Rule::NoClause, &scene.at("clauses"), "no clause", help.to_owned());
    }
    for (index, clause) in scenario.clauses.iter().enumerate() {
        if !CLAUSES.contains(&clause.value.as_str()) {
            let message = format!("the contract has no clause `{}`", clause.value);
            let help = suggest(&clause.value, CLAUSES.iter().copied());
            scene.report_with_help(
                Rule::UnknownClause,
                &scene.at("clauses").item(index),
                message,
                help,
            );
        }
    }
    for (index, need) in scenario.needs.iter().enumerate() {
        if !CAPABILITIES.iter().any(|(name, _)| *name == need.value) {
            let message = format!("there is no capability `{}`", need.value);
            let help = suggest(&need.value, CAPABILITIES.iter().map(|(name, _)| *name));
            scene.report_with_help(
                Rule::UnknownCapability,
                &scene.at("needs").item(index),
                message,
                help,
            );
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
    for read in &loaded.pins {
        for name in read.file.clients.keys() {
            let route = Route::default().key("clients").name(name);
            once(&mut seen, &read.source, &route, "set of clients", name, problems);
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
    match seen.get(id) {
        Some(first) => {
            let help = Some(format!("the first one is at {first}"));
            let message = format!("{what} `{id}` stands twice");
            problems.push(source.problem_with_help(Rule::DuplicateName, route, message, help));
        }
        None => {
            seen.insert(id.to_owned(), source.place(route));
        }
    }
}
