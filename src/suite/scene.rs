//! One scenario under examination: what `validate` and `lint` ask of it, and where they report.
//! A source and its typed scenario come in; problems are gathered with their places.
//! It must never judge by itself, except that names are names and references have a target.

use super::model::{Scenario, WorkerSpec};
use super::problem::{Problem, Words, suggest};
use super::rule::Rule;
use super::source::{Route, Source};
use super::vocabulary::{ID_HELP, is_id};
use crate::names::{BrokerKind, Role};

/// Problems of one scenario that are shown; there are more only where a program wrote it.
const MOST_PROBLEMS: usize = 1_000;

/// One scenario under examination.
pub(super) struct Scene<'a> {
    pub(super) source: &'a Source,
    pub(super) scenario: &'a Scenario,
    pub(super) route: Route,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Scene<'a> {
    pub(super) fn report(&mut self, rule: Rule, route: &Route, message: impl Into<String>) {
        self.say(rule, route, Words::new(message));
    }

    pub(super) fn report_with_help(
        &mut self,
        rule: Rule,
        route: &Route,
        message: impl Into<String>,
        help: impl Into<Option<String>>,
    ) {
        self.say(rule, route, Words::new(message).help(help));
    }

    /// A problem in whatever words.
    pub(super) fn say(&mut self, rule: Rule, route: &Route, words: Words) {
        match self.problems.len() {
            found if found < MOST_PROBLEMS => {
                self.problems.push(self.source.said(rule, route, words));
            }
            MOST_PROBLEMS => {
                let message = format!("more than {MOST_PROBLEMS} problems: here begin the others");
                self.problems.push(self.source.problem(Rule::TooLarge, route, message));
            }
            _ => {}
        }
    }

    /// A name that comes to stand in paths, topics and groups.
    pub(super) fn is_named(&mut self, route: &Route, name: &str) {
        named(self.source, route, name, &mut self.problems);
    }

    pub(super) fn at(&self, key: &str) -> Route {
        self.route.key(key)
    }

    pub(super) fn workers(&self) -> impl Iterator<Item = (&'a String, &'a WorkerSpec)> + use<'a> {
        let scenario = self.scenario;
        scenario.workers.iter().map(|(name, spec)| (name, &spec.value))
    }

    pub(super) fn consumers(&self) -> impl Iterator<Item = (&'a String, &'a WorkerSpec)> + use<'a> {
        self.workers().filter(|(_, spec)| spec.role == Role::Consumer)
    }

    pub(super) fn worker(&self, name: &str) -> Option<&'a WorkerSpec> {
        self.scenario.workers.get(name).map(|spec| &spec.value)
    }

    /// A reference to a worker that has to exist.
    pub(super) fn known_worker(&mut self, route: &Route, name: &str) -> Option<&'a WorkerSpec> {
        let found = self.worker(name);
        if found.is_none() {
            let help = suggest(name, self.scenario.workers.keys().map(String::as_str));
            self.report_with_help(
                Rule::UnknownWorker,
                route,
                format!("there is no worker `{name}`"),
                help,
            );
        }
        found
    }

    pub(super) fn is_started(&self, name: &str) -> bool {
        self.scenario.phases.iter().any(|phase| phase.value.start.iter().any(|w| w == name))
    }

    pub(super) fn brokers(&self) -> &'a [BrokerKind] {
        &self.scenario.brokers
    }

    /// Processes that consume for one destination side by side.
    pub(super) fn processes_of(&self, destination: Option<&str>) -> u32 {
        let serves = |spec: &&WorkerSpec| spec.destination.as_deref() == destination;
        let counts = self.consumers().map(|(_, spec)| spec).filter(serves).map(|spec| spec.count);
        // Not a sum: what is far too many is a problem of its own, not an overflow.
        counts.fold(0, u32::saturating_add)
    }
}

/// Names become parts of files, topics and groups: one rule for all of them.
pub(super) fn named(source: &Source, route: &Route, name: &str, problems: &mut Vec<Problem>) {
    if !is_id(name) {
        let message = format!("`{name}` is no name");
        problems.push(source.problem_with_help(
            Rule::BadName,
            route,
            message,
            Some(ID_HELP.to_owned()),
        ));
    }
}
