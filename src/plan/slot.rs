//! Slots: every cell that could be planned, scenario × broker × client × pins × repetition.
//! Loaded files, sets of pins and a request come in; slots in the order of a plan come out.
//! It must never choose: profile, filter and shard take from the slots, elsewhere.

use std::rc::Rc;

use super::clients::Clients;
use super::deviation::{self, Spot};
use super::request::{PinSet, Request, Subjects};
use super::unit::{Frame, Place};
use super::{Cell, ClientPin, KnownIssue, ProducerPin};
use crate::names::{BrokerKind, wire_name};
use crate::suite::change::ControlSpec;
use crate::suite::control::Story;
use crate::suite::manifest::{ClientManifest, Manifest};
use crate::suite::model::{Scenario, SuiteFile};
use crate::suite::problem::Problem;
use crate::suite::source::{Route, Source};
use crate::suite::{Loaded, Read, scenario_id};

/// A scenario with everything that its cells repeat.
pub(super) struct Subject<'a> {
    pub(super) source: &'a Source,
    pub(super) suite: &'a SuiteFile,
    pub(super) scenario: &'a Scenario,
    pub(super) route: Route,
    pub(super) id: String,
    pub(super) frame: Frame,
    /// Of all versions.
    pub(super) known: Vec<KnownIssue>,
}

/// Every scenario, in the order of the files.
pub(super) fn subjects<'a>(loaded: &'a Loaded) -> Vec<Subject<'a>> {
    let deviations = deviation::of_files(loaded);
    let subject =
        |(Read { source, file }, index, scenario): (&'a Read<SuiteFile>, _, &'a Scenario)| {
            let phases = scenario.phases.iter().map(|phase| phase.value.clone()).collect();
            let id = scenario_id(file, scenario);
            Subject {
                source,
                suite: file,
                scenario,
                route: Route::default().key("scenarios").item(index),
                known: deviation::declared(&deviations, scenario, &id),
                id,
                frame: Frame {
                    workload: scenario.workload.clone(),
                    phases,
                    limits: scenario.limits.clone(),
                },
            }
        };
    loaded.scenarios().map(subject).collect()
}

/// A cell that could be, and what its units are made from.
pub(super) struct Slot<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) manifest: &'a Manifest,
    pub(super) client: &'a ClientManifest,
    pub(super) spot: Rc<Spot>,
    /// Where the controls run: once for all places, or once for all of those where the same is
    /// expected. A defect that one expectation catches may be none by another.
    pub(super) first: Rc<Spot>,
    /// What is wrong with the expectations at these places.
    pub(super) problems: Rc<Vec<Problem>>,
    /// `--only-controls`: the control that is the subject of this cell.
    pub(super) control: Option<&'a ControlSpec>,
    /// `#2`; empty for the first time.
    pub(super) repetition: String,
    /// Without its units.
    pub(super) cell: Cell,
}

/// All slots of one scenario.
pub(super) fn slots<'a>(
    subject: &'a Subject<'a>,
    request: &'a Request,
    sets: &[PinSet],
    versions: &Clients,
    repetitions: u32,
) -> Vec<Slot<'a>> {
    let mut slots = Vec::new();
    for broker in &subject.scenario.brokers {
        let producer = versions.producer(request, *broker);
        let clients = request.manifests.iter().filter_map(|m| Some((m, m.clients.get(broker)?)));
        for (manifest, client) in clients.filter(|(m, client)| versions.take(m, client)) {
            let at = (subject.source, &subject.route);
            let mut problems = Vec::new();
            let mut spot = |p: &_| deviation::spot(p, subject.scenario, at, &mut problems);
            let places = places(sets, *broker, (manifest, client), producer.as_ref());
            let spots: Vec<Rc<Spot>> = places.iter().map(|place| Rc::new(spot(place))).collect();
            let problems = Rc::new(problems);
            for (index, spot) in spots.iter().enumerate() {
                let first = spots.iter().position(|first| first.checks == spot.checks);
                let first = first.unwrap_or(index);
                let own = controls(subject.scenario, *broker).map(Some);
                let stories: Vec<Option<&ControlSpec>> = match request.subjects {
                    Subjects::Scenarios => vec![None],
                    Subjects::OnlyControls if first == index => own.collect(),
                    Subjects::OnlyControls => Vec::new(),
                };
                for control in stories {
                    slots.extend((1..=repetitions).map(|n| {
                        let repetition = if n == 1 { String::new() } else { format!("#{n}") };
                        Slot {
                            subject,
                            manifest,
                            client,
                            spot: Rc::clone(spot),
                            first: Rc::clone(&spots[first]),
                            problems: Rc::clone(&problems),
                            control,
                            cell: frame_of_cell(subject, spot, control, &repetition),
                            repetition,
                        }
                    }));
                }
            }
        }
    }
    slots
}

/// One place a set; sets that agree on broker and database give one place together.
fn places(
    sets: &[PinSet],
    broker: BrokerKind,
    (manifest, client): (&Manifest, &ClientManifest),
    producer: Option<&ProducerPin>,
) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for set in sets {
        let (server_pin, database_pin) = (set.broker(broker), set.database());
        let same_server = |place: &&Place| place.server_pin == server_pin;
        let twin = places.iter().find(same_server);
        let suffix = twin.map_or(String::new(), |_| format!("+postgres-{database_pin}"));
        let is_known =
            places.iter().any(|place| same_server(&place) && place.database_pin == database_pin);
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
                is_usual: manifest.is_usual,
                producer: producer.filter(|pin| pin.client.library != client.library).cloned(),
            });
        }
    }
    places
}

/// The controls of a scenario that make sense on a broker.
pub(super) fn controls(
    scenario: &Scenario,
    broker: BrokerKind,
) -> impl Iterator<Item = &ControlSpec> {
    let controls = scenario.controls.iter().map(|control| &control.value);
    controls.filter(move |c| c.brokers.is_empty() || c.brokers.contains(&broker))
}

/// The cell without its units.
fn frame_of_cell(
    subject: &Subject<'_>,
    spot: &Spot,
    control: Option<&ControlSpec>,
    repetition: &str,
) -> Cell {
    let Scenario { title, about, clauses, level, hazard, combination, .. } = subject.scenario;
    let place = &spot.place;
    let story = Story::of(subject.scenario).expecting(&spot.checks);
    let (story, tail) = match control {
        None => (story, String::new()),
        Some(control) => (story.with(&control.change), format!("~{}", control.id)),
    };
    let letters = story.workers.values().find_map(|spec| spec.dead_letter.as_ref());
    Cell {
        id: format!("{}@{}{tail}{repetition}", subject.id, place.long()),
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
        producer: place.producer.as_ref().map(|producer| producer.client.clone()),
        worker: place.manifest.clone(),
        pattern: pattern(&story),
        dead_letter_mode: letters.map(|letter| wire_name(&letter.mode)),
        subject: String::new(),
        rate: None,
        controls: Vec::new(),
        baseline: String::new(),
        unsupported: None,
        only_control: control.is_some(),
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
