//! Building a plan: the slots that a request takes become cells, and the units that they share.
//! Loaded files and a request come in; a `Plan`, or every problem of files and request, comes out.
//! It must never leave a choice to the run, nor order anything by chance.

use std::collections::{BTreeMap, BTreeSet};

use super::clients::{self, Clients};
use super::deviation::{self, Spot};
use super::filter::Filter;
use super::request::{self, Overrides, PinSet, Profile, Request, Without};
use super::shard::{self, Shard};
use super::slot::{Slot, Subject, controls, slots, subjects};
use super::unit::{Frame, Place, unit};
use super::{ControlRef, LeftOut, PLAN_VERSION, Plan, Rate, Unit, UnitKind, baseline};
use crate::evidence::seal::sha256_of;
use crate::names::{BrokerKind, Role};
use crate::suite::change::ControlSpec;
use crate::suite::control::Story;
use crate::suite::machinery;
use crate::suite::manifest::{ClientManifest, Lack};
use crate::suite::problem::{Problem, Words, refuse_errors};
use crate::suite::repeat::RepeatSpec;
use crate::suite::rule::Rule;
use crate::suite::source::Route;
use crate::suite::vocabulary::concerns;
use crate::suite::{Loaded, validate};

/// Resolves everything that was asked for.
///
/// # Errors
/// Every problem of the files, or else every problem of the request.
pub fn build(loaded: &Loaded, request: &Request) -> Result<Plan, Vec<Problem>> {
    refuse_errors(validate(loaded))?;
    let mut problems = Vec::new();
    let subjects = subjects(loaded);
    let choice = Choice::read(loaded, request, &subjects, &mut problems);
    libraries_are_told_apart(request, &mut problems);
    clients::options_are_of_somebody(&subjects, request, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let slots: Vec<Slot<'_>> = subjects
        .iter()
        .flat_map(|subject| {
            slots(subject, request, &choice.sets, &choice.clients, choice.repetitions)
        })
        .collect();
    problems.extend(choice.filter.unmatched(slots.iter().map(|slot| &slot.cell)));
    if request.filters.is_empty() {
        problems.extend(without_client(&subjects, &choice.profile, request));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut builder = Builder {
        plan: Plan {
            version: PLAN_VERSION,
            suite_hash: loaded.hash(),
            seed: request.seed,
            profile: choice.profile.name.clone(),
            left_out: Vec::new(),
            cells: Vec::new(),
            units: Vec::new(),
        },
        known: BTreeSet::new(),
        problems,
    };
    let taken = choice.take(slots, &mut builder)?;
    for slot in taken {
        builder.slot(slot);
    }
    if builder.problems.is_empty() { Ok(builder.plan) } else { Err(builder.problems) }
}

/// Cells are named by library: two workers with the same one could not be told apart.
fn libraries_are_told_apart(request: &Request, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for manifest in &request.manifests {
        for (broker, client) in &manifest.clients {
            if !seen.insert((*broker, &client.library, &client.version)) {
                let ClientManifest { library, version, .. } = client;
                let message =
                    format!("two workers use {library} {version} for {broker}: plan one of them");
                problems.push(Problem::of_request(Rule::SameLibrary, Words::new(message)));
            }
        }
    }
}

/// Who filters has chosen; to everybody else a story without its worker is a surprise.
fn without_client(subjects: &[Subject<'_>], profile: &Profile, request: &Request) -> Vec<Problem> {
    let mut problems = Vec::new();
    let of_profile = |s: &&Subject<'_>| profile.takes(&s.id, s.scenario.level);
    for subject in subjects.iter().filter(of_profile) {
        for broker in &subject.scenario.brokers {
            if !request.manifests.iter().any(|m| m.clients.contains_key(broker)) {
                let message = format!("no worker has a {broker} client for `{}`", subject.id);
                let route = subject.route.key("brokers");
                problems.push(subject.source.problem(Rule::NoWorker, &route, message));
            }
        }
    }
    problems
}

/// Everything that chooses, read and checked.
struct Choice {
    sets: Vec<PinSet>,
    clients: Clients,
    profile: Profile,
    filter: Filter,
    without: Without,
    shard: Option<Shard>,
    shard_text: String,
    repetitions: u32,
}

impl Choice {
    fn read(
        loaded: &Loaded,
        request: &Request,
        subjects: &[Subject<'_>],
        problems: &mut Vec<Problem>,
    ) -> Self {
        let ids: Vec<String> = subjects.iter().map(|subject| subject.id.clone()).collect();
        let overrides = Overrides::read(request, problems);
        Self {
            sets: request::sets(loaded, request, &overrides, problems),
            clients: Clients::read(loaded, request, overrides.clients, problems),
            profile: request::profile(loaded, request.profile.as_deref(), &ids, problems),
            filter: Filter::read(&request.filters, problems),
            without: request::without(request, problems),
            shard: request::shard(request, problems),
            shard_text: request.shard.clone().unwrap_or_default(),
            repetitions: request::repetitions(request, problems),
        }
    }

    /// What is planned of all slots; what `--without` leaves out is noted in the plan.
    fn take<'a>(
        &self,
        slots: Vec<Slot<'a>>,
        builder: &mut Builder,
    ) -> Result<Vec<Slot<'a>>, Vec<Problem>> {
        let nothing = |message: String, help: String| {
            Err(vec![Problem::of_request(Rule::NoCell, Words::new(message).help(help))])
        };
        let ids: BTreeSet<String> = slots.iter().map(|slot| slot.subject.id.clone()).collect();
        let mut taken: Vec<Slot<'a>> = slots
            .into_iter()
            .filter(|slot| self.profile.takes(&slot.subject.id, slot.subject.scenario.level))
            .filter(|slot| self.filter.takes(&slot.cell))
            .collect();
        if taken.is_empty() {
            let ids: Vec<String> = ids.into_iter().collect();
            let help = format!("scenarios: {}", ids.join(", "));
            return nothing("this takes no cell at all".to_owned(), help);
        }
        let all = taken.len();
        taken.retain(|slot| self.shard.is_none_or(|shard| shard.takes(&slot.cell.id)));
        if taken.is_empty() {
            let message = format!("no cell of {all} falls into this part");
            let help = Some("take fewer parts: a run without a cell shows nothing".to_owned());
            let (place, text) = (shard::WHERE, &self.shard_text);
            return Err(vec![Problem::at(
                Rule::NoCell,
                place,
                text,
                0..text.len(),
                Words::new(message).help(help),
            )]);
        }
        let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        taken.retain(|slot| match self.without.leaves_out(slot.manifest, slot.spot.place.broker) {
            None => true,
            Some(word) => {
                left_out.entry(word.to_owned()).or_default().push(slot.cell.id.clone());
                false
            }
        });
        if taken.is_empty() {
            let words: Vec<String> = left_out.into_keys().collect();
            let message = format!("this takes no cell at all without {}", words.join(" and "));
            return nothing(message, "leave out less".to_owned());
        }
        let note = |(word, cells)| LeftOut { word, cells };
        builder.plan.left_out = left_out.into_iter().map(note).collect();
        Ok(taken)
    }
}

struct Builder {
    plan: Plan,
    /// Ids of the units that are planned.
    known: BTreeSet<String>,
    problems: Vec<Problem>,
}

impl Builder {
    fn slot(&mut self, mut slot: Slot<'_>) {
        match self.lack(&slot) {
            Some(lack) => slot.cell.unsupported = Some(lack),
            None => self.units(&mut slot),
        }
        self.plan.cells.push(slot.cell);
    }

    /// The first capability that the client lacks; one that nobody decided on is a problem.
    fn lack(&mut self, slot: &Slot<'_>) -> Option<Lack> {
        let Slot { subject, client, manifest, spot, .. } = slot;
        let broker = spot.place.broker;
        if let Some(lack) = machinery::missing(subject.scenario) {
            return Some(lack);
        }
        for (route, name) in asked(subject, broker) {
            if !concerns(name, broker) || client.capabilities.iter().any(|own| own == name) {
                continue;
            }
            if let Some(lack) = client.lacks.iter().find(|lack| lack.capability == name) {
                return Some(lack.clone());
            }
            let message = format!(
                "worker `{}` does not say whether {} can do `{name}`",
                manifest.name, client.library
            );
            let problem = subject.source.problem(Rule::UndecidedCapability, &route, message);
            self.problem(problem);
        }
        None
    }

    /// Each cell of a scenario would tell the same: it is told once.
    fn problem(&mut self, problem: Problem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    fn units(&mut self, slot: &mut Slot<'_>) {
        for problem in slot.problems.iter() {
            self.problem(problem.clone());
        }
        let Slot { subject, spot, first, control, repetition, .. } = &*slot;
        let place = &spot.place;
        let story = told(subject, spot);
        let mut expectations = spot.expectations.clone();
        if let Some(control) = control {
            // What the control expects instead is nobody's declaration.
            expectations.retain(|expected| {
                control.change.checks.iter().all(|check| check.name() != expected.check)
            });
            let baseline = self.baseline(place, &story.with(&control.change));
            slot.cell.subject = self.control(subject, control, spot, repetition);
            slot.cell.baseline = baseline;
            slot.cell.expectations = expectations;
            return;
        }
        let known = deviation::known(&subject.known, place, &story.checks);
        let baseline = self.baseline(place, &story);
        let id = format!("{}{repetition}", unit_id(subject, place));
        let rate = self.runs(subject, place, &id, &story);
        let mut references = Vec::new();
        for control in controls(subject.scenario, place.broker) {
            references.push(ControlRef {
                id: control.id.clone(),
                defect: control.defect,
                unit: self.control(subject, control, first, ""),
                caught_by: control.caught_by.clone(),
                strikes: control.strikes,
            });
        }
        slot.cell.rate = rate;
        slot.cell.known = known;
        slot.cell.expectations = expectations;
        slot.cell.subject = id;
        slot.cell.baseline = baseline;
        slot.cell.controls = references;
    }

    /// The subject's unit, and the others where the story is told several times.
    fn runs(
        &mut self,
        subject: &Subject<'_>,
        place: &Place,
        id: &str,
        story: &Story,
    ) -> Option<Rate> {
        let repeat = subject.scenario.repeat;
        let seed = repeat.and_then(|repeat| repeat.seed).unwrap_or(self.plan.seed);
        let mut add = |id: String| {
            self.add_with(seed, id, UnitKind::Subject, place, story.clone(), &subject.frame);
        };
        add(id.to_owned());
        let RepeatSpec { runs, at_least, .. } = repeat?;
        let others: Vec<String> = (2..=runs).map(|run| format!("{id}+run-{run}")).collect();
        others.iter().cloned().for_each(add);
        Some(Rate { others, at_least })
    }

    fn control(
        &mut self,
        subject: &Subject<'_>,
        control: &ControlSpec,
        spot: &Spot,
        repetition: &str,
    ) -> String {
        let id = format!("{}~{}{repetition}", unit_id(subject, &spot.place), control.id);
        let story = told(subject, spot).with(&control.change);
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
        self.add_with(self.plan.seed, id, kind, place, story, frame);
    }

    fn add_with(
        &mut self,
        seed: u64,
        id: String,
        kind: UnitKind,
        place: &Place,
        story: Story,
        frame: &Frame,
    ) {
        if self.known.insert(id.clone()) {
            let unit: Unit = unit(id, kind, place, seed, story, frame);
            self.plan.units.push(unit);
        }
    }
}

/// A scenario as it is told in one place.
fn told(subject: &Subject<'_>, spot: &Spot) -> Story {
    let Place { broker, client, producer, .. } = &spot.place;
    let publisher = producer.as_ref().map_or(client, |producer| &producer.client);
    let library = |role| if role == Role::Producer { &publisher.library } else { &client.library };
    Story::of(subject.scenario).of_clients(*broker, library).expecting(&spot.checks)
}

/// What a scenario asks of its client, and where: what its handlers do, and what it names itself.
fn asked<'a>(subject: &Subject<'a>, broker: BrokerKind) -> Vec<(Route, &'a str)> {
    let scenario = subject.scenario;
    let mut asked = Vec::new();
    for (worker, spec) in &scenario.workers {
        for (index, rule) in spec.value.handler.iter().enumerate() {
            let route = subject.route.key("workers").key(worker).key("handler").item(index);
            asked.extend(rule.does.needs(broker).map(|need| (route.key("does"), need)));
        }
    }
    for (index, need) in scenario.needs.iter().enumerate() {
        asked.push((subject.route.key("needs").item(index), need.value.as_str()));
    }
    asked
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
