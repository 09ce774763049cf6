//! Questions about a history that several checks ask and that need more than one kind of record.
//! A sealed history comes in; facts of the ledger and the broker come out, with no rule applied.
//! It must never decide anything, and never take a worker's word where an outside record exists.

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::History;
use crate::evidence::cursor::Cursor;
use crate::evidence::event::{At, AuditRow, Event, LogEntry, Process, ReadWhy, SettleStep};
use crate::names::{CallOutcome, Operation, Place, Point, Position, Role, TopicRole};

/// An event and the destination that must have its own effect of it.
pub type EventAt = (String, String);

/// Whether a step of settle was done; `None` if it was never recorded.
pub fn settle_step(history: &History, step: SettleStep) -> Option<bool> {
    history
        .events()
        .filter_map(|event| match event {
            Event::Settle { step: s, done, .. } if *s == step => Some(*done),
            _ => None,
        })
        .last()
}

/// Whether ledger and broker were read to their ends after everything had stopped.
pub fn final_reads_done(history: &History) -> bool {
    settle_step(history, SettleStep::FinalReads) == Some(true)
}

/// Messages of a topic that any read has seen: a part of a log proves that its entries were there.
pub fn entries(history: &History, topic: TopicRole) -> impl Iterator<Item = &LogEntry> {
    history.events().filter_map(move |event| match event {
        Event::LogEntry(entry) if entry.topic == topic => Some(entry),
        _ => None,
    })
}

/// Whether this broker keeps what was acknowledged (Kafka's log does; Pulsar with retention 0
/// trims it). Told by the coordinates of its positions.
pub fn keeps_acknowledged(history: &History) -> bool {
    let read = entries(history, TopicRole::Source).chain(entries(history, TopicRole::DeadLetter));
    let read = read.map(|entry| &entry.position);
    let confirmed =
        history.results(Operation::Publish).filter_map(|result| result.position.as_ref());
    read.chain(confirmed).any(|position| matches!(position.place, Place::Offset { .. }))
}

/// The message that a position is in: batches are acknowledged and read as a whole.
pub fn message(position: &Position) -> Position {
    let place = match position.place {
        Place::Entry { ledger, entry, .. } => Place::Entry { ledger, entry, batch: None },
        offset @ Place::Offset { .. } => offset,
    };
    Position { topic: position.topic.clone(), place }
}

/// Where each event stands in the source topic: what was confirmed, and what was read.
pub fn source_positions(history: &History) -> BTreeMap<String, BTreeSet<Position>> {
    let mut positions: BTreeMap<String, BTreeSet<Position>> = BTreeMap::new();
    for (event, confirmed) in history.confirmed() {
        positions.entry(event).or_default().extend(confirmed.iter().map(message));
    }
    for entry in entries(history, TopicRole::Source) {
        if let Some(event) = &entry.event {
            positions.entry(event.clone()).or_default().insert(message(&entry.position));
        }
    }
    positions
}

/// Where each destination stood in the source topic at the end.
///
/// # Errors
/// The name of the first destination whose position was not read.
pub fn final_cursors<'a>(
    history: &'a History,
    destinations: &'a BTreeSet<String>,
) -> Result<BTreeMap<&'a str, &'a Cursor>, String> {
    let cursor = |destination: &'a String| {
        let stands = history.cursor(TopicRole::Source, destination, ReadWhy::Final);
        let stands = stands.ok_or_else(|| format!("where {destination} stands was not read"))?;
        Ok((destination.as_str(), stands))
    };
    destinations.iter().map(cursor).collect()
}

/// Whether it is known that an event was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    /// The broker confirmed it to the producer.
    Confirmed,
    /// No confirmation, but the broker holds it, or it had an effect.
    Found,
    /// Neither: it may exist, and is never lost.
    Unknown,
}

/// What is known about the publication of every planned event.
pub fn publications(history: &History) -> BTreeMap<String, Publication> {
    let confirmed: BTreeSet<_> = history
        .results(Operation::Publish)
        .filter(|result| result.outcome == CallOutcome::Ok)
        .map(|result| result.event.as_str())
        .collect();
    let read = entries(history, TopicRole::Source).chain(entries(history, TopicRole::DeadLetter));
    let found: BTreeSet<_> = read
        .filter_map(|entry| entry.event.as_deref())
        .chain(history.audit(ReadWhy::Final).map(|row| row.event.as_str()))
        .collect();
    let publication = |event: &str| match (confirmed.contains(event), found.contains(event)) {
        (true, _) => Publication::Confirmed,
        (false, true) => Publication::Found,
        (false, false) => Publication::Unknown,
    };
    history.planned().map(|p| (p.event.clone(), publication(&p.event))).collect()
}

/// What the audit trail shows of one event for one destination.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Changes of the domain by different handlings.
    pub made: u64,
    /// Effect rows that still stand.
    pub standing: u64,
    /// Transactions that inserted an effect row.
    inserted_by: BTreeSet<i64>,
    /// Workers that made them, as their connections named themselves.
    pub applications: BTreeSet<String>,
}

impl Changes {
    fn add(&mut self, row: &AuditRow) {
        self.applications.insert(row.application.clone());
        match row.operation.as_str() {
            "INSERT" => {
                self.made += 1;
                self.standing += 1;
                self.inserted_by.insert(row.transaction);
            }
            // What a handling corrects in its own transaction is a part of its one effect.
            "UPDATE" if self.inserted_by.contains(&row.transaction) => {}
            "DELETE" => {
                self.made += 1;
                self.standing = self.standing.saturating_sub(1);
            }
            _ => self.made += 1,
        }
    }
}

/// Changes of the domain by event and destination, by the final read of the audit trail.
///
/// An effect is an inserted row. An update or delete of one by *another* transaction changes the
/// domain once more, so it counts too: a handler that overwrites its effect is no idempotent one.
pub fn changes(history: &History) -> BTreeMap<EventAt, Changes> {
    let mut rows: Vec<_> = history.audit(ReadWhy::Final).collect();
    rows.sort_by_key(|row| row.audit_seq);
    let mut changes: BTreeMap<EventAt, Changes> = BTreeMap::new();
    for row in rows {
        changes.entry((row.event.clone(), row.destination.clone())).or_default().add(row);
    }
    changes
}

/// Whether this process is a consumer, as far as the runner said what it started. A redriver
/// receives letters, which are no handings-over of the event to its handler.
pub fn is_consumer(history: &History, process: &Process) -> bool {
    role_of(history, process).is_none_or(|role| role == Role::Consumer)
}

/// The role in which the runner started a process.
pub fn role_of(history: &History, process: &Process) -> Option<Role> {
    history.events().find_map(|event| match event {
        Event::WorkerStarted { process: started, role, .. } if started == process => Some(*role),
        _ => None,
    })
}

/// One handing-over of an event to the handler of a consumer, as its worker claims it.
#[derive(Debug, Clone, Copy)]
pub struct HandedOver<'a> {
    /// Number of its record.
    pub seq: u64,
    /// When the runner heard of it, in microseconds since the run started.
    pub at_us: u64,
    pub at: &'a At,
}

/// All handings-over to consumers by event, in order.
pub fn handed_over(history: &History) -> BTreeMap<&str, Vec<HandedOver<'_>>> {
    let others = other_roles(history);
    let mut handed: BTreeMap<&str, Vec<HandedOver<'_>>> = BTreeMap::new();
    for record in history.records() {
        if let Event::ClaimAt(at) = &record.event
            && at.point == Point::Received
            && !others.contains(&at.process)
        {
            let one = HandedOver { seq: record.seq, at_us: record.at_us, at };
            handed.entry(&at.event).or_default().push(one);
        }
    }
    handed
}

/// Processes that the runner started as something else than a consumer.
pub fn other_roles(history: &History) -> BTreeSet<&Process> {
    let others = history.events().filter_map(|event| match event {
        Event::WorkerStarted { process, role, .. } if *role != Role::Consumer => Some(process),
        _ => None,
    });
    others.collect()
}
