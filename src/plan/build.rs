//! Building a plan: scenarios × brokers × sets of pins × clients, and the units that they share.
//! Loaded files and a request come in; a `Plan`, or every problem of files and request, comes out.
//! It must never leave a choice to the run, nor order anything by chance.

use std::collections::{BTreeMap, BTreeSet};

use super::deviation::Spot;
use super::request::{self, Filter, PinSet, Profile, Request, Subjects};
use super::unit::{Frame, Place, unit};
use super::{
    Cell, ClientPin, ControlRef, KnownIssue, PLAN_VERSION, Plan, Unit, UnitKind, baseline,
    deviation,
};
use crate::evidence::seal::sha256_of;
use crate::names::{BrokerKind, wire_name};
use crate::suite::control::Story;
use crate::suite::machinery;
use crate::suite::manifest::Lack;
use crate::suite::manifest::{ClientManifest, Manifest};
use crate::suite::model::{ControlSpec, Scenario, SuiteFile};
use crate::suite::problem::{Problem, Words, refuse_errors};
use crate::suite::rule::Rule;
use crate::suite::source::{Route, Source};
use crate::suite::vocabulary::{check_name, concerns};
use crate::suite::{Loaded, Read, scenario_id, validate};

/// Resolves everything that was asked for.
///
/// # Errors
/// Every problem of the files, or else every problem of the request.
pub fn build(loaded: &Loaded, request: &Request) -> Result<Plan, Vec<Problem>> {
    refuse_errors(validate(loaded))?;
    let mut problems = Vec::new();
    let ids: Vec<String> = loaded.scenarios().map(|(f, _, s)| scenario_id(&f.file, s)).collect();
    let sets = request::sets(loaded, request, &mut problems);
    let profile = request::profile(loaded, request, &ids, &mut problems);
    let filter = request::filter(request, &mut problems);
    libraries_are_told_apart(request, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut builder = Builder {
        request,
        sets,
        filter,
        plan: Plan {
            version: PLAN_VERSION,
            suite_hash: loaded.hash(),
            seed: request.seed,
            profile: profile.name.clone(),
            cells: Vec::new(),
            units: Vec::new(),
        },
        known: BTreeSet::new(),
        problems,
    };
    builder.scenarios(loaded, &profile);
    if builder.problems.is_empty() && builder.plan.cells.is_empty() {
        let help = format!("scenarios: {}", ids.join(", "));
        let words = Words::new("this takes no cell at all").help(help);
        builder.problems.push(Problem::of_request(Rule::NoCell, words));
    }
    if builder.problems.is_empty() { Ok(builder.plan) } else { Err(builder.problems) }
}

/// Cells are named by library: two workers with the same one could not be told apart.
fn libraries_are_told_apart(request: &Request, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for manifest in &request.manifests {
        for (broker, client) in &manifest.clients {
            if !seen.insert((*broker, &client.library)) {
                let message =
                    format!("two workers use {} for {broker}: plan one of them", client.library);
                problems.push(Problem::of_request(Rule::SameLibrary, Words::new(message)));
            }
        }
    }
}

struct Builder<'a> {
    request: &'a Request,
    sets: Vec<PinSet>,
    filter: Filter,
    plan: Plan,
    /// Ids of the units that are planned.
    known: BTreeSet<String>,
    problems: Vec<Problem>,
}

/// A scenario with everything that its cells repeat.
struct Subject<'a> {
    source: &'a Source,
    suite: &'a SuiteFile,
    scenario: &'a Scenario,
    route: Route,
    id: String,
    frame: Frame,
    /// Of all versions.
    known: Vec<KnownIssue>,
}

impl<'a> Builder<'a> {
    fn scenarios(&mut self, loaded: &'a Loaded, profile: &Profile) {
        for (Read { source, file }, index, scenario) in loaded.scenarios() {
            let id = scenario_id(file, scenario);
            if !profile.takes(&id) {
                continue;
            }
            let phases = scenario.phases.iter().map(|phase| phase.value.clone()).collect();
            let subject = Subject {
                source,
                suite: file,
                scenario,
                route: Route::default().key("scenarios").item(index),
                known: deviation::declared(loaded, scenario, &id),
                id,
                frame: Frame {
                    workload: scenario.workload.clone(),
                    phases,
                    limits: scenario.limits.clone(),
                },
            };
            for broker in &scenario.brokers {
                self.broker(&subject, *broker);
            }
        }
    }

    fn broker(&mut self, subject: &Subject<'a>, broker: BrokerKind) {
        let manifests = &self.request.manifests;
        let mut clients =
            manifests.iter().filter_map(|m| Some((m, m.clients.get(&broker)?))).peekable();
        // Who filters has chosen; to everybody else a story without its worker is a surprise.
        if clients.peek().is_none() && self.request.filter.is_none() {
            let message = format!("no worker has a {broker} client for `{}`", subject.id);
            let route = subject.route.key("brokers");
            self.problems.push(subject.source.problem(Rule::NoWorker, &route, message));
        }
        for (manifest, client) in clients {
            let places = self.places(broker, manifest, client);
            let takes = |place: &Place| {
                let cell = format!("{}@{}", subject.id, place.long());
                self.filter.takes(&subject.id, &cell)
            };
            if self.request.subjects == Subjects::Scenarios && !places.iter().any(takes) {
                // What is filtered out need not be decided on.
                continue;
            }
            match self.lack(subject, broker, manifest, client) {
                Some(lack) => {
                    for place in &places {
                        self.unsupported(subject, place, &lack);
                    }
                }
                None => self.cells(subject, &places),
            }
        }
    }

    /// Controls run once for all places, or once for all of those where the same is expected: a
    /// defect that one expectation catches may be none by another.
    fn cells(&mut self, subject: &Subject<'a>, places: &[Place]) {
        let at = (subject.source, &subject.route);
        let spot = |place| deviation::spot(place, subject.scenario, at, &mut self.problems);
        let spots: Vec<Spot> = places.iter().map(spot).collect();
        for (index, spot) in spots.iter().enumerate() {
            let first = spots.iter().position(|first| first.checks == spot.checks);
            let first = first.unwrap_or(index);
            match self.request.subjects {
                Subjects::Scenarios => self.cell(subject, spot, &spots[first]),
                Subjects::OnlyControls if first == index => self.control_cells(subject, spot),
                Subjects::OnlyControls => {}
            }
        }
    }

    /// One place a set; sets that agree on broker and database give one place together.
    fn places(
        &self,
        broker: BrokerKind,
        manifest: &Manifest,
        client: &ClientManifest,
    ) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for set in &self.sets {
            let (server_pin, database_pin) = (set.broker(broker), set.database());
            let same_server = |place: &&Place| place.server_pin == server_pin;
            let twin = places.iter().find(same_server);
            let suffix = twin.map_or(String::new(), |_| format!("+postgres-{database_pin}"));
            let is_known = places
                .iter()
                .any(|place| same_server(&place) && place.database_pin == database_pin);
            if !is_known {
                places.push(Place {
                    broker,
                    server_pin: server_pin.to_owned(),
                    database_pin: database_pin.to_owned(),
                    suffix,
                    client: ClientPin {
                        library: client.library.clone(),
                        version: client.version.clone(),
                    },
                    manifest: manifest.name.clone(),
                });
            }
        }
        places
    }

    /// The first capability that the client lacks; one that nobody decided on is a problem.
    fn lack(
        &mut self,
        subject: &Subject<'a>,
        broker: BrokerKind,
        manifest: &Manifest,
        client: &ClientManifest,
    ) -> Option<Lack> {
        if let Some(lack) = machinery::missing(subject.scenario) {
            return Some(lack);
        }
        if let Some(lack) = implied(subject.scenario, broker, client) {
            return Some(lack);
        }
        for (index, need) in subject.scenario.needs.iter().enumerate() {
            let name = &need.value;
            if !concerns(name, broker) || client.capabilities.contains(name) {
                continue;
            }
            if let Some(lack) = client.lacks.iter().find(|lack| lack.capability == *name) {
                return Some(lack.clone());
            }
            let message = format!(
                "worker `{}` does not say whether {} can do `{name}`",
                manifest.name, client.library
            );
            let route = subject.route.key("needs").item(index);
            let rule = Rule::UndecidedCapability;
            self.problems.push(subject.source.problem(rule, &route, message));
        }
        None
    }

    fn cell(&mut self, subject: &Subject<'a>, spot: &Spot, first: &Spot) {
        let place = &spot.place;
        let story = Story::of(subject.scenario).expecting(&spot.checks);
        let mut cell = frame_of_cell(subject, place, &story);
        if !self.filter.takes(&subject.id, &cell.id) {
            return;
        }
        cell.known = deviation::known(&subject.known, place, &story.checks);
        cell.expectations = spot.expectations.clone();
        cell.baseline = self.baseline(place, &story);
        cell.subject = unit_id(subject, place);
        self.add(cell.subject.clone(), UnitKind::Subject, place, story, &subject.frame);
        for control in controls(subject.scenario, place.broker) {
            let unit = self.control(subject, control, first);
            cell.controls.push(ControlRef {
                id: control.id.clone(),
                defect: control.defect,
                unit,
                caught_by: control.caught_by.clone(),
                strikes: control.strikes,
            });
        }
        self.plan.cells.push(cell);
    }

    /// `--only-controls`: every control as a cell of its own, which has to fail.
    fn control_cells(&mut self, subject: &Subject<'a>, spot: &Spot) {
        let place = &spot.place;
        for control in controls(subject.scenario, place.broker) {
            let story = Story::of(subject.scenario).expecting(&spot.checks).with(&control.change);
            let mut cell = frame_of_cell(subject, place, &story);
            cell.id = format!("{}~{}", cell.id, control.id);
            if !self.filter.takes(&subject.id, &cell.id) {
                continue;
            }
            cell.only_control = true;
            cell.expectations = spot.expectations.clone();
            // What the control expects instead is nobody's declaration.
            cell.expectations.retain(|expected| {
                control.change.checks.iter().all(|check| check_name(check) != expected.check)
            });
            cell.baseline = self.baseline(place, &story);
            cell.subject = self.control(subject, control, spot);
            self.plan.cells.push(cell);
        }
    }

    fn unsupported(&mut self, subject: &Subject<'a>, place: &Place, lack: &Lack) {
        let mut cell = frame_of_cell(subject, place, &Story::of(subject.scenario));
        if self.filter.takes(&subject.id, &cell.id) {
            cell.unsupported = Some(lack.clone());
            self.plan.cells.push(cell);
        }
    }

    fn control(&mut self, subject: &Subject<'a>, control: &ControlSpec, spot: &Spot) -> String {
        let id = format!("{}~{}", unit_id(subject, &spot.place), control.id);
        let story = Story::of(subject.scenario).expecting(&spot.checks).with(&control.change);
        let kind = UnitKind::Control(control.id.clone());
        self.add(id.clone(), kind, &spot.place, story, &subject.frame);
        id
    }

    /// The baseline of the server that the story asks for.
    fn baseline(&mut self, place: &Place, story: &Story) -> String {
        let server = &story.topology.server;
        let own = server.get(&place.broker).filter(|settings| !settings.is_empty());
        let mark = own.map_or(String::new(), |settings| format!("+{}", short_hash(settings)));
        let id = format!("baseline@{}{mark}", place.short());
        let frame = Frame {
            workload: baseline::workload(),
            phases: baseline::phases(),
            limits: baseline::limits(),
        };
        self.add(id.clone(), UnitKind::Baseline, place, baseline::story(server), &frame);
        id
    }

    fn add(&mut self, id: String, kind: UnitKind, place: &Place, story: Story, frame: &Frame) {
        if self.known.insert(id.clone()) {
            let unit: Unit = unit(id, kind, place, self.request.seed, story, frame);
            self.plan.units.push(unit);
        }
    }
}

/// What a handler's behaviour asks of a client that lacks it.
fn implied(scenario: &Scenario, broker: BrokerKind, client: &ClientManifest) -> Option<Lack> {
    let rules = scenario.workers.values().flat_map(|spec| &spec.value.handler);
    let mut needs = rules.filter_map(|rule| rule.does.needs(broker));
    let lacking = |need: &str| client.lacks.iter().find(|lack| lack.capability == need).cloned();
    needs.find_map(lacking)
}

/// Eight digits that tell settings apart.
fn short_hash(settings: &BTreeMap<String, String>) -> String {
    let text: String = settings.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    sha256_of(text.as_bytes())[..8].to_owned()
}

/// `property.scenario@kafka-4.3.1+rdkafka`: also a file name.
fn unit_id(subject: &Subject<'_>, place: &Place) -> String {
    let (property, scenario) = (&subject.suite.property.value, &subject.scenario.id.value);
    format!("{property}.{scenario}@{}", place.short())
}

fn controls(scenario: &Scenario, broker: BrokerKind) -> impl Iterator<Item = &ControlSpec> {
    let controls = scenario.controls.iter().map(|control| &control.value);
    controls.filter(move |c| c.brokers.is_empty() || c.brokers.contains(&broker))
}

/// The cell without its units.
fn frame_of_cell(subject: &Subject<'_>, place: &Place, story: &Story) -> Cell {
    let Scenario { title, about, clauses, level, hazard, combination, .. } = subject.scenario;
    let letters = story.workers.values().find_map(|spec| spec.dead_letter.as_ref());
    Cell {
        id: format!("{}@{}", subject.id, place.long()),
        scenario: subject.id.clone(),
        title: title.clone(),
        about: about.trim().to_owned(),
        property: subject.suite.property.value.clone(),
        values: combination.as_ref().map(|c| c.values.clone()).unwrap_or_default(),
        clauses: clauses.iter().map(|clause| clause.value.clone()).collect(),
        level: *level,
        hazard: *hazard,
        broker: place.broker,
        server_pin: place.server_pin.clone(),
        database_pin: place.database_pin.clone(),
        client: place.client.clone(),
        worker: place.manifest.clone(),
        pattern: pattern(story),
        dead_letter_mode: letters.map(|letter| wire_name(&letter.mode)),
        subject: String::new(),
        controls: Vec::new(),
        baseline: String::new(),
        unsupported: None,
        only_control: false,
        known: Vec::new(),
        expectations: Vec::new(),
    }
}

/// The pattern of the worker that a fault strikes, else of the first one that has a pattern.
fn pattern(story: &Story) -> String {
    let struck = story.faults.iter().filter_map(|fault| Some(&fault.trigger()?.worker));
    let struck = struck.filter_map(|name| story.workers.get(name));
    let mut patterns = struck.chain(story.workers.values()).filter_map(|s| s.pattern.clone());
    patterns.next().unwrap_or_default()
}
