//! A whole run for tests: one cell with its subject, its control and its baseline, all in order.
//! Changes to its plan, record or stories come in; a `RunReport` comes out.
//! It must never be the reason why a cell fails: as it is told here, the cell passes.

#![allow(dead_code)]

pub mod outcome;

use std::collections::{BTreeMap, BTreeSet};

use ackproof::checks::{Bound, CheckSpec, Pin, PinSubject, Scope};
use ackproof::evidence::History;
use ackproof::evidence::event::{
    Attested, AttestedSubject, ContainerState, Event, Exit, HISTORY_VERSION, ProbeWhen, ReadWhy,
    SettleStep,
};
use ackproof::faults::kill::{AfterKill, KillSpec};
use ackproof::faults::{EventRef, FaultSpec, PointTrigger};
use ackproof::names::{BrokerKind, EventSet, Grade, Level, Point, Role, ServerKind, TopicRole};
use ackproof::plan::{
    Cell, ClientPin, ControlRef, LeaseKind, PLAN_VERSION, Plan, ServerKey, Unit, UnitKind,
};
use ackproof::suite::change::Defect;
use ackproof::suite::model::{Limits, Topology, Workload};
use ackproof::verdict::{CellReport, Host, RunRecord, RunReport, UnitRun, judge};

use crate::story::*;

pub const SUBJECT: &str = "subject";
pub const CONTROL: &str = "control";
pub const BASELINE: &str = "baseline";
pub const RUN: &str = "r-1";

/// Evidence of a run that passes, to be damaged.
pub struct World {
    pub plan: Plan,
    pub run: RunRecord,
    pub stories: BTreeMap<String, Story>,
    /// Histories that cannot be used, with the reason.
    pub unreadable: BTreeMap<String, String>,
}

impl World {
    /// A consumer with an inbox, killed before its ACK of the second event, passes.
    pub fn new() -> Self {
        let stories = [
            (SUBJECT, killed_story(SUBJECT, 1)),
            (CONTROL, killed_story(CONTROL, 2)),
            (BASELINE, quiet_story(BASELINE)),
        ];
        let stories = stories.map(|(unit, story)| (unit.to_owned(), story));
        Self {
            plan: plan(),
            run: run(),
            stories: BTreeMap::from(stories),
            unreadable: BTreeMap::new(),
        }
    }

    pub fn cell(&mut self) -> &mut Cell {
        &mut self.plan.cells[0]
    }

    pub fn unit(&mut self, id: &str) -> &mut Unit {
        self.plan.units.iter_mut().find(|unit| unit.id == id).expect("a unit")
    }

    /// Another story for a unit, made from the one that it has.
    pub fn tell(&mut self, unit: &str, change: impl FnOnce(Story) -> Story) {
        let story = self.stories.remove(unit).expect("a story");
        self.stories.insert(unit.to_owned(), change(story));
    }

    pub fn report(&self) -> RunReport {
        let told = self.stories.iter().map(|(unit, story)| {
            let sealed = Event::Sealed { records: 0 };
            (unit.clone(), Ok(story.clone().and(sealed).history()))
        });
        let mut histories: BTreeMap<String, Result<History, String>> = told.collect();
        for (unit, why) in &self.unreadable {
            histories.insert(unit.clone(), Err(why.clone()));
        }
        judge(&self.plan, &self.run, &histories, "root")
    }

    pub fn outcome(&self) -> CellReport {
        self.report().cells.remove(0)
    }
}

fn run() -> RunRecord {
    let unit = |id: &str| UnitRun {
        history: format!("histories/{id}.ndjson"),
        sha256: String::from("0"),
        started_ms: 0,
        duration_ms: 7,
        waits: Vec::new(),
    };
    let units = [SUBJECT, CONTROL, BASELINE].map(|id| (id.to_owned(), unit(id)));
    RunRecord {
        version: 2,
        id: RUN.to_owned(),
        started: String::from("2030-01-02T03:04:05Z"),
        ackproof: String::from("0.1.0"),
        command: COMMAND.map(String::from).into(),
        host: Host {
            os: String::from("linux"),
            kernel: String::new(),
            cpus: 2,
            memory_mb: 1,
            engine: String::new(),
        },
        duration_ms: 9,
        cancelled: false,
        stopped_after: None,
        strict: false,
        servers: Vec::new(),
        units: BTreeMap::from(units),
    }
}

fn plan() -> Plan {
    Plan {
        version: PLAN_VERSION,
        suite_hash: String::from("s"),
        seed: 7,
        profile: String::from("p"),
        left_out: Vec::new(),
        cells: vec![cell()],
        units: vec![
            unit(SUBJECT, UnitKind::Subject, vec![kill()]),
            unit(CONTROL, UnitKind::Control(String::from("no-inbox")), vec![kill()]),
            unit(BASELINE, UnitKind::Baseline, Vec::new()),
        ],
    }
}

/// A command line with words to quote, and with a selection that a cell's own replaces.
const COMMAND: [&str; 9] = [
    "/bin/ackproof",
    "run",
    "my suites",
    "--set",
    "previous",
    "--filter",
    "id(x)",
    "--jobs=3",
    "--seed=7",
];

fn cell() -> Cell {
    Cell {
        id: String::from("at-least-once/kill@kafka-4.3.1+rdkafka-2.1.0"),
        scenario: String::from("at-least-once/kill"),
        title: String::new(),
        about: String::new(),
        property: String::from("at-least-once"),
        clauses: vec![String::from("ACK-3")],
        values: BTreeMap::from([(String::from("partitions"), String::from("1"))]),
        level: Level::Core,
        hazard: false,
        broker: BrokerKind::Kafka,
        server_pin: String::from("4.3.1"),
        database_pin: String::from("17"),
        client: ClientPin { library: String::from("rdkafka"), version: String::from("2.1.0") },
        worker: String::from("rust"),
        producer: None,
        pattern: String::from("inbox"),
        dead_letter_mode: None,
        subject: SUBJECT.to_owned(),
        rate: None,
        controls: vec![ControlRef {
            id: String::from("no-inbox"),
            defect: Defect::WrongWorker,
            unit: CONTROL.to_owned(),
            caught_by: String::from("effects"),
            strikes: EventSet::Struck,
        }],
        baseline: BASELINE.to_owned(),
        unsupported: None,
        only_control: false,
        known: Vec::new(),
        expectations: Vec::new(),
    }
}

pub fn kill() -> FaultSpec {
    FaultSpec::Kill(KillSpec {
        id: String::from("kill"),
        when: PointTrigger {
            worker: String::from("consumer"),
            point: Point::BeforeAck,
            event: EventRef::Ordinal(2),
        },
        then: AfterKill::Restart,
        earlier_acks: None,
    })
}

/// Makes this the only fault of the unit.
pub fn set_fault(unit: &mut Unit, fault: FaultSpec) {
    unit.faults = vec![fault.clone()];
    unit.scope.faults = vec![fault];
}

pub fn effects(of: EventSet, count: Bound) -> CheckSpec {
    CheckSpec::Effects(ackproof::checks::effects::EffectsSpec { of, count })
}

fn unit(id: &str, kind: UnitKind, faults: Vec<FaultSpec>) -> Unit {
    let key = |kind, pin: &str| ServerKey { kind, pin: pin.to_owned(), settings: BTreeMap::new() };
    let pin = |subject, version: &str| Pin { subject, version: version.to_owned() };
    Unit {
        id: id.to_owned(),
        kind,
        broker: BrokerKind::Kafka,
        server: key(ServerKind::Kafka, "4.3.1"),
        database: key(ServerKind::Postgres, "17"),
        lease: LeaseKind::Shared,
        worker_manifest: String::from("rust"),
        producer: None,
        seed: 7,
        topology: Topology {
            partitions: 1,
            destinations: BTreeMap::new(),
            dead_letter: None,
            server: BTreeMap::new(),
            settings: BTreeMap::new(),
        },
        workload: Workload {
            events: 2,
            keys: 2,
            payload_bytes: 9,
            poison: Vec::new(),
            bytes: Vec::new(),
            again: Vec::new(),
        },
        workers: BTreeMap::new(),
        phases: Vec::new(),
        faults: faults.clone(),
        checks: vec![
            effects(EventSet::All, Bound::Exactly(1)),
            CheckSpec::Drained(ackproof::checks::drained::DrainedSpec {}),
        ],
        limits: Limits { deadline_s: 60, deliveries: 20 },
        scope: Scope {
            destinations: BTreeSet::from([SHOP.to_owned()]),
            redriver: None,
            ack_timeout_ms: None,
            drained: true,
            faults,
            pins: vec![
                pin(PinSubject::Server(ServerKind::Kafka), "4.3.1"),
                pin(PinSubject::Server(ServerKind::Postgres), "17"),
                pin(PinSubject::Client(String::from("rdkafka")), "2.1.0"),
            ],
            delivery_cap: 20,
        },
        waits: Vec::new(),
    }
}

fn attested(subject: AttestedSubject, version: &str) -> Event {
    Event::Attested(Attested {
        subject,
        pin: version.to_owned(),
        version: version.to_owned(),
        grade: Grade::Broker,
        artifact: None,
        plausibility: None,
    })
}

fn container(server: ServerKind) -> Event {
    Event::Container(ContainerState {
        server,
        running: true,
        oom_killed: false,
        started_at: String::from("once"),
        exit_code: None,
    })
}

/// A worker starts, attests its client and is ready.
pub fn starts(who: &str, role: Role) -> Vec<Event> {
    let (process, library) = (process(who), String::from("rdkafka"));
    let client = AttestedSubject::Client { process: process.clone(), library };
    vec![started(who, role), attested(client, "2.1.0"), Event::ClaimReady { process }]
}

pub fn ends(who: &str, exit: Exit, signalled_by_us: Option<i32>) -> Event {
    Event::WorkerExited { process: process(who), exit, signalled_by_us }
}

/// Servers attested, two events published.
fn opening(unit: &str) -> Story {
    let (unit, run) = (unit.to_owned(), RUN.to_owned());
    Story::new()
        .and(Event::Unit { version: HISTORY_VERSION, unit, run, seed: 7 })
        .and(attested(AttestedSubject::Server(ServerKind::Kafka), "4.3.1"))
        .and(attested(AttestedSubject::Server(ServerKind::Postgres), "17.5"))
        .all([container(ServerKind::Kafka), container(ServerKind::Postgres)])
        .all([planned(1), planned(2)])
        .all(starts("producer/1", Role::Producer))
        .all([confirmed(1, "0@0"), confirmed(2, "0@1")])
        .and(ends("producer/1", Exit::Code(0), None))
}

/// The five steps of settle with the reads, and the reads at teardown.
fn closing(story: Story, who: &str, effects: &[(i64, &str, u32)]) -> Story {
    let rows = |why| {
        effects.iter().map(move |(seq, who, n)| {
            let Event::AuditRow(mut row) = effect(*seq, who, *n) else { unreachable!() };
            row.why = why;
            Event::AuditRow(row)
        })
    };
    story
        .all([settle(SettleStep::Heal), settle(SettleStep::Expected)])
        .and(sockets(who, 2, &[]))
        .and(ends(who, Exit::Code(0), Some(15)))
        .all([settle(SettleStep::StopWorkers), settle(SettleStep::NoBackend)])
        .all(log(TopicRole::Source, &[(1, "0@0"), (2, "0@1")]))
        .and(stands(committed(2)))
        .all(rows(ReadWhy::Final))
        .and(settle(SettleStep::FinalReads))
        .and(stands_at(TopicRole::Source, SHOP, ReadWhy::Teardown, committed(2)))
        .all(rows(ReadWhy::Teardown))
        .all([container(ServerKind::Kafka), container(ServerKind::Postgres)])
        .and(health(3))
}

fn quiet_story(unit: &str) -> Story {
    let story = opening(unit).all(starts("consumer/1", Role::Consumer));
    let story = story.all([received("consumer/1", 1), received("consumer/1", 2)]);
    closing(story, "consumer/1", &[(1, "consumer/1", 1), (2, "consumer/1", 2)])
}

/// Killed before its ACK of the second event, of which there are this many effects in the end.
fn killed_story(unit: &str, effects: usize) -> Story {
    let story = opening(unit)
        .all(starts("consumer/1", Role::Consumer))
        .all([received("consumer/1", 1), received("consumer/1", 2)])
        .and(triggered("kill", "consumer/1", Point::BeforeAck, 2))
        .and(sockets("consumer/1", 2, &[]))
        .and(probe("kill", ProbeWhen::Before, 2, 1, false))
        .and(ends("consumer/1", Exit::Signal(9), Some(9)))
        .and(killed("kill", "consumer/1"))
        .and(probe("kill", ProbeWhen::After, 2, 1, false))
        .all(starts("consumer/2", Role::Consumer))
        .and(received("consumer/2", 2));
    let made = [(1, "consumer/1", 1), (2, "consumer/1", 2), (3, "consumer/2", 2)];
    closing(story, "consumer/2", &made[..=effects])
}
