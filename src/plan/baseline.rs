//! The baseline: the same server and client without any fault, so that a failure is the fault's.
//! A broker comes in; a small scenario comes out, the same for every plan.
//! It must never have a fault, nor a setting that the stories do not share.

use std::collections::BTreeMap;

use crate::checks::conserved::ConservedSpec;
use crate::checks::drained::DrainedSpec;
use crate::checks::effects::EffectsSpec;
use crate::checks::{Bound, CheckSpec};
use crate::names::{BrokerKind, EventSet, Role};
use crate::suite::control::Story;
use crate::suite::model::{
    Destination, Limits, Phase, SubscriptionType, Topology, Until, WorkerSpec, Workload,
};

/// Settings of servers by broker.
type Settings = BTreeMap<BrokerKind, BTreeMap<String, String>>;

const EVENTS: u32 = 10;
const DESTINATION: &str = "baseline";

/// A story without any fault; it says whether this server and this client work at all.
pub(super) fn story(server: &Settings) -> Story {
    let destination = Destination { subscription: SubscriptionType::Shared };
    let topology = Topology {
        partitions: 1,
        destinations: BTreeMap::from([(DESTINATION.to_owned(), destination)]),
        dead_letter: None,
        server: server.clone(),
        settings: BTreeMap::new(),
    };
    let consumer = WorkerSpec {
        pattern: Some("inbox".to_owned()),
        destination: Some(DESTINATION.to_owned()),
        ..worker(Role::Consumer)
    };
    let effects = EffectsSpec { of: EventSet::All, count: Bound::Exactly(1) };
    Story {
        topology,
        workers: BTreeMap::from([
            ("consumer".to_owned(), consumer),
            ("producer".to_owned(), worker(Role::Producer)),
        ]),
        faults: Vec::new(),
        checks: vec![
            CheckSpec::Effects(effects),
            CheckSpec::Drained(DrainedSpec {}),
            CheckSpec::Conserved(ConservedSpec {}),
        ],
    }
}

fn worker(role: Role) -> WorkerSpec {
    WorkerSpec {
        role,
        pattern: None,
        destination: None,
        count: 1,
        options: BTreeMap::new(),
        client_options: BTreeMap::new(),
        handler: Vec::new(),
        dead_letter: None,
        redrive: None,
        publishes: None,
    }
}

pub(super) fn workload() -> Workload {
    Workload {
        events: EVENTS,
        keys: 3,
        payload_bytes: 128,
        poison: Vec::new(),
        bytes: Vec::new(),
        again: Vec::new(),
    }
}

pub(super) fn phases() -> Vec<Phase> {
    vec![Phase {
        name: "flow".to_owned(),
        start: vec!["consumer".to_owned(), "producer".to_owned()],
        until: Until::Drained,
        stop: Vec::new(),
    }]
}

pub(super) fn limits() -> Limits {
    Limits { deadline_s: 60, deliveries: u64::from(EVENTS) * 4 }
}
