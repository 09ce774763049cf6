//! One unit of a plan: a story on one server, with everything resolved that a run needs.
//! A story, its frame and its place come in; a complete `Unit` comes out.
//! It must never depend on anything but these: equal input gives an equal unit, to the byte.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{ClientPin, LeaseKind, ProducerPin, REDRIVER, ServerKey, Unit, UnitKind, waits};
use crate::checks::{Pin, PinSubject, Scope};
use crate::names::{BrokerKind, Role, ServerKind};
use crate::suite::control::Story;
use crate::suite::model::{Limits, Phase, Presence, Until, Workload};
use crate::suite::vocabulary::ack_timeout_option;

/// The parts of a scenario that no control changes.
pub(super) struct Frame {
    pub(super) workload: Workload,
    pub(super) phases: Vec<Phase>,
    pub(super) limits: Limits,
}

/// Where a unit runs, and with what.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) broker: BrokerKind,
    pub(super) server_pin: String,
    pub(super) database_pin: String,
    /// Parts behind the server in ids, where two sets differ in the database alone.
    pub(super) suffix: String,
    pub(super) client: ClientPin,
    pub(super) manifest: String,
    /// The version that the worker's manifest names first.
    pub(super) is_usual: bool,
    /// Who publishes, where that is another client.
    pub(super) producer: Option<ProducerPin>,
}

impl Place {
    /// `kafka-4.3.1+rdkafka`, for unit ids: the seed comes from them, and shall not change with
    /// each new version of a client. Another version beside the usual one is named.
    pub(super) fn short(&self) -> String {
        let Self { broker, server_pin, suffix, client, .. } = self;
        match self.is_usual && self.producer.is_none() {
            true => format!("{broker}-{server_pin}{suffix}+{}", client.library),
            false => self.long(),
        }
    }

    /// `kafka-4.3.1+rdkafka-0.39.0`, for cell ids.
    pub(super) fn long(&self) -> String {
        let Self { broker, server_pin, suffix, client, .. } = self;
        let by = self
            .producer
            .as_ref()
            .map(|ProducerPin { client, .. }| format!("+by-{}-{}", client.library, client.version));
        let by = by.unwrap_or_default();
        format!("{broker}-{server_pin}{suffix}+{}-{}{by}", client.library, client.version)
    }
}

pub(super) fn unit(
    id: String,
    kind: UnitKind,
    place: &Place,
    plan_seed: u64,
    mut story: Story,
    frame: &Frame,
) -> Unit {
    for spec in story.workers.values_mut() {
        let limit = waits::option_ms(spec, place.broker, ack_timeout_option(place.broker));
        for rule in &mut spec.handler {
            rule.does = rule.does.resolved(limit);
        }
    }
    let settings = story.topology.server.get(&place.broker).cloned().unwrap_or_default();
    let server = |kind, pin: &str, settings| ServerKey { kind, pin: pin.to_owned(), settings };
    let waits = waits::compute(&story, place.broker, &frame.phases, &frame.workload);
    let scope = scope(&story, frame, place);
    Unit {
        seed: seed(plan_seed, &id),
        id,
        kind,
        broker: place.broker,
        server: server(place.broker.into(), &place.server_pin, settings),
        database: server(ServerKind::Postgres, &place.database_pin, BTreeMap::new()),
        // Faults strike workers and the unit's own topics only, so that servers can be shared.
        lease: LeaseKind::Shared,
        worker_manifest: place.manifest.clone(),
        producer: place.producer.clone(),
        topology: story.topology,
        workload: frame.workload.clone(),
        workers: story.workers,
        phases: frame.phases.clone(),
        faults: story.faults,
        checks: story.checks,
        limits: frame.limits.clone(),
        scope,
        waits,
    }
}

fn scope(story: &Story, frame: &Frame, place: &Place) -> Scope {
    let option = ack_timeout_option(place.broker);
    let consumers = story.workers.values().filter(|spec| spec.role == Role::Consumer);
    let has_redriver = story.workers.values().any(|spec| spec.role == Role::Redriver);
    let letters = &story.topology.dead_letter;
    let is_subscribed =
        letters.as_ref().is_some_and(|letters| letters.subscription == Presence::Created);
    let last = frame.phases.last().map(|phase| &phase.until);
    let pin = |subject, version: &str| Pin { subject, version: version.to_owned() };
    Scope {
        destinations: story.topology.destinations.keys().cloned().collect(),
        redriver: (has_redriver || is_subscribed).then(|| REDRIVER.to_owned()),
        // The strictest, where consumers differ: what is inside it is inside the others.
        ack_timeout_ms: consumers
            .filter_map(|spec| waits::option_ms(spec, place.broker, option))
            .min(),
        drained: matches!(last, Some(Until::Drained | Until::Redriven)),
        faults: story.faults.clone(),
        pins: [
            pin(PinSubject::Server(place.broker.into()), &place.server_pin),
            pin(PinSubject::Server(ServerKind::Postgres), &place.database_pin),
            pin(PinSubject::Client(place.client.library.clone()), &place.client.version),
        ]
        .into_iter()
        .chain(place.producer.iter().map(|ProducerPin { client, .. }| {
            pin(PinSubject::Producer(client.library.clone()), &client.version)
        }))
        .collect(),
        delivery_cap: frame.limits.deliveries,
    }
}

/// Seed of a unit: it depends on nothing else in the plan, so that a unit alone runs the same.
fn seed(plan_seed: u64, unit: &str) -> u64 {
    let digest = Sha256::new().chain_update(plan_seed.to_le_bytes()).chain_update(unit).finalize();
    let first = digest.iter().take(8).fold(0_u64, |seed, byte| seed << 8 | u64::from(*byte));
    // 53 bits: readers of the JSON documents may hold numbers in floating point.
    first >> 11
}
