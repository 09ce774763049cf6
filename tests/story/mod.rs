//! Short histories for tests: each function is one thing that a runner would record.
//! Ordinals and names come in; records in order, as NDJSON or as a `History`, come out.
//! It must never judge: what a story is an example of is said by the test that tells it.

#![allow(dead_code)]

use std::collections::BTreeMap;

use ackproof::evidence::History;
use ackproof::evidence::cursor::{Cursor, EntryId};
use ackproof::evidence::event::{
    At, AuditRow, CallResult, Event, FaultStage, FaultStep, LogEntry, PlannedEvent, Probe,
    ProbeWhen, Process, ReadWhy, Record, SettleStep, TopicCounts,
};
use ackproof::names::{CallOutcome, Operation, Point, Role, TopicRole};

/// The destination of all stories that need one only.
pub const SHOP: &str = "shop";

/// A history as it grows, a millisecond a record unless it says otherwise.
#[derive(Debug, Clone, Default)]
pub struct Story {
    records: Vec<Record>,
    at_us: u64,
}

impl Story {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn and(mut self, mut event: Event) -> Self {
        self.at_us += 1000;
        if let Event::Gap { ended_us, .. } = &mut event {
            *ended_us = self.at_us;
        }
        let seq = self.records.len() as u64;
        self.records.push(Record { seq, at_us: self.at_us, event });
        self
    }

    pub fn all(self, events: impl IntoIterator<Item = Event>) -> Self {
        events.into_iter().fold(self, Self::and)
    }

    /// Followed by all of another story, at its own distances in time.
    pub fn and_all(mut self, other: Story) -> Self {
        let start_us = self.at_us;
        for record in other.records {
            self.at_us = start_us + record.at_us - 1000;
            self = self.and(record.event);
        }
        self
    }

    pub fn wait_ms(mut self, ms: u64) -> Self {
        self.at_us += ms * 1000;
        self
    }

    /// Without the records that this picks.
    pub fn without(self, pick: impl Fn(&Event) -> bool) -> Self {
        let kept = self.records.into_iter().map(|record| record.event).filter(|e| !pick(e));
        Self::new().all(kept.collect::<Vec<_>>())
    }

    /// With every record changed in place, if it is one that this is about.
    pub fn with(mut self, change: impl Fn(&mut Event)) -> Self {
        self.records.iter_mut().for_each(|record| change(&mut record.event));
        self
    }

    pub fn ndjson(&self) -> String {
        let line = |record: &Record| serde_json::to_string(record).expect("JSON") + "\n";
        self.records.iter().map(line).collect()
    }

    pub fn history(&self) -> History {
        History::parse(&self.ndjson()).expect("a history")
    }
}

pub fn id(n: u32) -> String {
    format!("e-{n:04}")
}

/// `consumer/1`
pub fn process(text: &str) -> Process {
    let (worker, incarnation) = text.split_once('/').expect("worker/incarnation");
    Process { worker: worker.to_owned(), incarnation: incarnation.parse().expect("a number") }
}

fn hash(n: u32) -> String {
    format!("payload-{n}")
}

fn properties(n: u32) -> BTreeMap<String, String> {
    BTreeMap::from([("event-id".to_owned(), id(n))])
}

pub fn planned(n: u32) -> Event {
    Event::Planned(PlannedEvent {
        event: id(n),
        key: format!("k{}", n % 2),
        payload_sha256: hash(n),
        properties: properties(n),
        poison: false,
    })
}

pub fn poison(n: u32) -> Event {
    let Event::Planned(planned) = planned(n) else { unreachable!() };
    Event::Planned(PlannedEvent { poison: true, ..planned })
}

/// Confirmed at this place of the source topic: `0@3`, or `7:3`.
pub fn confirmed(n: u32, place: &str) -> Event {
    publish(n, CallOutcome::Ok, Some(&format!("orders/{place}")))
}

pub fn publish(n: u32, outcome: CallOutcome, position: Option<&str>) -> Event {
    call("producer/1", Operation::Publish, n, outcome, position)
}

pub fn call(
    who: &str,
    operation: Operation,
    n: u32,
    outcome: CallOutcome,
    position: Option<&str>,
) -> Event {
    Event::ClaimResult(CallResult {
        process: process(who),
        operation,
        event: id(n),
        outcome,
        delivery: None,
        position: position.map(|text| text.parse().expect("a position")),
        error: None,
    })
}

pub fn at(who: &str, point: Point, n: u32) -> Event {
    Event::ClaimAt(At {
        process: process(who),
        point,
        event: id(n),
        delivery: 1,
        redelivery_count: None,
        position: None,
        fingerprint: None,
        held: false,
    })
}

pub fn received(who: &str, n: u32) -> Event {
    at(who, Point::Received, n)
}

pub fn started(who: &str, role: Role) -> Event {
    let pattern = String::from("inbox");
    Event::WorkerStarted { process: process(who), pid: 1, role, pattern }
}

pub fn effect(seq: i64, who: &str, n: u32) -> Event {
    change(seq, "INSERT", seq, who, n)
}

pub fn change(seq: i64, operation: &str, transaction: i64, who: &str, n: u32) -> Event {
    Event::AuditRow(AuditRow {
        audit_seq: seq,
        operation: operation.to_owned(),
        transaction,
        backend_pid: 1,
        application: who.to_owned(),
        event: id(n),
        destination: SHOP.to_owned(),
        values: String::new(),
        why: ReadWhy::Final,
    })
}

/// A complete final read of a topic: events at places.
pub fn log(topic: TopicRole, messages: &[(u32, &str)]) -> Vec<Event> {
    read(topic, ReadWhy::Final, messages)
}

pub fn read(topic: TopicRole, why: ReadWhy, messages: &[(u32, &str)]) -> Vec<Event> {
    let mut events: Vec<_> =
        messages.iter().map(|(n, place)| entry(topic, why, *n, place)).collect();
    events.push(Event::LogRead { topic, why, entries: messages.len() as u64 });
    events
}

pub fn entry(topic: TopicRole, why: ReadWhy, n: u32, place: &str) -> Event {
    let name = match topic {
        TopicRole::Source => "orders",
        TopicRole::DeadLetter => "letters",
    };
    Event::LogEntry(LogEntry {
        topic,
        why,
        position: format!("{name}/{place}").parse().expect("a position"),
        event: Some(id(n)),
        key: None,
        payload_sha256: hash(n),
        payload_bytes: 9,
        properties: properties(n),
    })
}

/// The next offset of partition 0.
pub fn committed(next: i64) -> Cursor {
    Cursor::Committed(vec![(0, next)])
}

pub fn mark(mark_delete: EntryId) -> Cursor {
    Cursor::MarkDelete { mark_delete, acked_ranges: Vec::new() }
}

pub fn stands(cursor: Cursor) -> Event {
    stands_at(TopicRole::Source, SHOP, ReadWhy::Final, cursor)
}

pub fn stands_at(topic: TopicRole, destination: &str, why: ReadWhy, cursor: Cursor) -> Event {
    Event::Stands { topic, destination: destination.to_owned(), why, cursor }
}

pub fn letter_counts(why: ReadWhy, messages_in: u64, subscriptions: &[&str]) -> Event {
    Event::TopicCounts(TopicCounts {
        topic: TopicRole::DeadLetter,
        why,
        exists: true,
        messages_in: Some(messages_in),
        retained: None,
        subscriptions: subscriptions.iter().map(|name| (*name).to_owned()).collect(),
        messages_out: None,
    })
}

pub fn source_counts(messages_out: u64) -> Event {
    Event::TopicCounts(TopicCounts {
        topic: TopicRole::Source,
        why: ReadWhy::Final,
        exists: true,
        messages_in: None,
        retained: None,
        subscriptions: vec![SHOP.to_owned()],
        messages_out: Some(messages_out),
    })
}

pub fn settle(step: SettleStep) -> Event {
    settle_as(step, true)
}

pub fn settle_as(step: SettleStep, done: bool) -> Event {
    Event::Settle { step, done, detail: String::new() }
}

pub fn reads_done() -> Event {
    settle(SettleStep::FinalReads)
}

pub fn fault(fault: &str, stage: FaultStage) -> Event {
    Event::Fault(FaultStep { fault: fault.to_owned(), stage })
}

pub fn triggered(name: &str, who: &str, point: Point, n: u32) -> Event {
    let (process, point, event) = (Some(process(who)), Some(point), Some(id(n)));
    fault(name, FaultStage::Triggered { process, point, event })
}

pub fn killed(name: &str, who: &str) -> Event {
    use ackproof::evidence::event::Exit;
    fault(name, FaultStage::Killed { process: process(who), signal: 9, exit: Exit::Signal(9) })
}

pub fn held(name: &str, who: &str, held_ms: u64) -> Event {
    let until = String::from("received elsewhere");
    let held_us = held_ms * 1000;
    fault(name, FaultStage::Held { process: process(who), held_us, until, reached: true })
}

pub fn withheld(name: &str) -> Event {
    let (piece, proof) = (String::from("dead_letter_topic"), String::from("unknown topic"));
    fault(name, FaultStage::Withheld { piece, proof, absent: true })
}

pub fn healed(name: &str) -> Event {
    fault(name, FaultStage::Healed { proof: String::from("it is there"), verified: true })
}

pub fn administered(name: &str) -> Event {
    let (action, answer) = (String::from("unload_and_trim"), String::from("204, 204"));
    fault(name, FaultStage::Administered { action, answer, took_effect: true })
}

pub fn probe(name: &str, when: ProbeWhen, n: u32, effects: u64, acked: bool) -> Event {
    Event::Probe(Probe {
        fault: name.to_owned(),
        when,
        event: id(n),
        destination: SHOP.to_owned(),
        effects,
        acked: Some(acked),
        position: Some(format!("orders/0@{}", n - 1).parse().expect("a position")),
        redriven: None,
    })
}

pub fn probe_redriven(name: &str, when: ProbeWhen, n: u32, redriven: u64) -> Event {
    let Event::Probe(probe) = probe(name, when, n, 0, false) else { unreachable!() };
    Event::Probe(Probe { redriven: Some(redriven), ..probe })
}

pub fn redriven(n: u32) -> Event {
    Event::RedriveRow { redrive: String::from("r"), event: id(n) }
}

pub fn sockets(who: &str, through_links: u32, direct: &[&str]) -> Event {
    let direct = direct.iter().map(|address| (*address).to_owned()).collect();
    Event::Sockets { why: String::from("hold"), process: process(who), through_links, direct }
}

pub fn health(largest_gap_ms: u64) -> Event {
    Event::Health { largest_gap_us: largest_gap_ms * 1000, load_1m: 1.0, steal_ticks: 0 }
}
