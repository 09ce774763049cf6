//! A sealed history and the questions that checks ask of it.
//! NDJSON text comes in; ordered records and queries over them come out.
//! It must never accept a torso silently: missing lines, a foreign version or no seal are errors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::cursor::Cursor;
use super::event::{
    At, AuditRow, CallResult, Event, FaultStage, HISTORY_VERSION, LogEntry, PlannedEvent, Process,
    ReadWhy, Record, TopicCounts,
};
use crate::names::{CallOutcome, EventSet, Operation, Point, Position, TopicRole};

/// An append-only record of one plan unit, complete and in order.
#[derive(Debug, Clone, Default)]
pub struct History {
    records: Vec<Record>,
}

/// Why a history cannot be used as evidence.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("cannot read history {path}: {source}")]
    Unreadable { path: String, source: std::io::Error },
    #[error("history line {line} is no record: {source}")]
    Malformed { line: usize, source: serde_json::Error },
    #[error("history line {line} has number {found}, expected {expected}: lines are missing")]
    Gap { line: usize, found: u64, expected: u64 },
    #[error("history line {line} is earlier than the one before it: it was not recorded so")]
    Backwards { line: usize },
    #[error("history was written in version {found}, this program reads version {HISTORY_VERSION}")]
    ForeignVersion { found: u32 },
    #[error("history is not sealed: the run ended before it was complete")]
    NotSealed,
}

impl History {
    /// Reads a sealed history from disk.
    ///
    /// # Errors
    /// When it cannot be read, is damaged, of another version, or not sealed.
    pub fn read(path: &Path) -> Result<Self, HistoryError> {
        let text = std::fs::read_to_string(path).map_err(|source| HistoryError::Unreadable {
            path: path.display().to_string(),
            source,
        })?;
        let history = Self::parse(&text)?;
        match history.records.last().map(|record| &record.event) {
            Some(Event::Sealed { .. }) => Ok(history),
            _ => Err(HistoryError::NotSealed),
        }
    }

    /// Parses NDJSON lines; golden histories need no seal, so it is not asked for here.
    ///
    /// # Errors
    /// When a line is no record, is missing, or is of another version.
    pub fn parse(text: &str) -> Result<Self, HistoryError> {
        let mut records = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            let record: Record = serde_json::from_str(line)
                .map_err(|source| HistoryError::Malformed { line: line_number, source })?;
            let expected = records.len() as u64;
            if record.seq != expected {
                return Err(HistoryError::Gap { line: line_number, found: record.seq, expected });
            }
            if let Some(before) = records.last().map(|before: &Record| before.at_us)
                && record.at_us < before
            {
                return Err(HistoryError::Backwards { line: line_number });
            }
            if let Event::Unit { version, .. } = record.event
                && version != HISTORY_VERSION
            {
                return Err(HistoryError::ForeignVersion { found: version });
            }
            records.push(record);
        }
        Ok(Self { records })
    }

    /// All records, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// All events, in order, without their times.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.records.iter().map(|record| &record.event)
    }

    /// The workload, in the order of the plan.
    pub fn planned(&self) -> impl Iterator<Item = &PlannedEvent> {
        self.events().filter_map(|event| match event {
            Event::Planned(planned) => Some(planned),
            _ => None,
        })
    }

    /// Ids of the events that a set means in this history.
    pub fn ids(&self, set: EventSet) -> BTreeSet<String> {
        let struck = || self.struck().keys().cloned().collect::<BTreeSet<_>>();
        let planned = |keep: &dyn Fn(&PlannedEvent) -> bool| {
            self.planned().filter(|p| keep(p)).map(|p| p.event.clone()).collect()
        };
        match set {
            EventSet::All => planned(&|_| true),
            EventSet::Poison => planned(&|p| p.poison),
            EventSet::Healthy => planned(&|p| !p.poison),
            EventSet::Struck => struck(),
            EventSet::Unstruck => {
                let struck = struck();
                planned(&|p| !struck.contains(&p.event))
            }
        }
    }

    /// Events that a fault struck (its trigger fired on them), with the faults' ids.
    pub fn struck(&self) -> BTreeMap<String, Vec<String>> {
        let mut struck: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for event in self.events() {
            if let Event::Fault(step) = event
                && let FaultStage::Triggered { event: Some(id), .. } = &step.stage
            {
                struck.entry(id.clone()).or_default().push(step.fault.clone());
            }
        }
        struck
    }

    /// Claims of workers about points.
    pub fn claims_at(&self, point: Point) -> impl Iterator<Item = &At> {
        self.events().filter_map(move |event| match event {
            Event::ClaimAt(at) if at.point == point => Some(at),
            _ => None,
        })
    }

    /// Claims of workers about calls.
    pub fn results(&self, operation: Operation) -> impl Iterator<Item = &CallResult> {
        self.events().filter_map(move |event| match event {
            Event::ClaimResult(result) if result.operation == operation => Some(result),
            _ => None,
        })
    }

    /// How often each event was handed to a handler (claims), by event id.
    pub fn deliveries(&self) -> BTreeMap<String, u64> {
        count(self.claims_at(Point::Received).map(|at| at.event.clone()))
    }

    /// Effect rows of the given read, in the order of the audit table.
    pub fn audit(&self, why: ReadWhy) -> impl Iterator<Item = &AuditRow> {
        self.events().filter_map(move |event| match event {
            Event::AuditRow(row) if row.why == why => Some(row),
            _ => None,
        })
    }

    /// Inserted effects by event id for one destination, by the final read of the audit table.
    pub fn effects(&self, destination: &str) -> BTreeMap<String, u64> {
        count(
            self.audit(ReadWhy::Final)
                .filter(|row| row.operation == "INSERT" && row.destination == destination)
                .map(|row| row.event.clone()),
        )
    }

    /// Messages that the observer read, if that read was completed.
    pub fn log(&self, topic: TopicRole, why: ReadWhy) -> Option<Vec<&LogEntry>> {
        let complete = self.events().any(|event| {
            matches!(event, Event::LogRead { topic: t, why: w, .. } if *t == topic && *w == why)
        });
        complete.then(|| {
            self.events()
                .filter_map(|event| match event {
                    Event::LogEntry(entry) if entry.topic == topic && entry.why == why => {
                        Some(entry)
                    }
                    _ => None,
                })
                .collect()
        })
    }

    /// The last reading of where a destination stands in a topic.
    pub fn cursor(&self, topic: TopicRole, destination: &str, why: ReadWhy) -> Option<&Cursor> {
        self.events()
            .filter_map(|event| match event {
                Event::Stands { topic: t, destination: d, why: w, cursor }
                    if *t == topic && d == destination && *w == why =>
                {
                    Some(cursor)
                }
                _ => None,
            })
            .last()
    }

    /// The last counts of a topic of the given read.
    pub fn counts(&self, topic: TopicRole, why: ReadWhy) -> Option<&TopicCounts> {
        self.events()
            .filter_map(|event| match event {
                Event::TopicCounts(counts) if counts.topic == topic && counts.why == why => {
                    Some(counts)
                }
                _ => None,
            })
            .last()
    }

    /// Positions that the broker confirmed to a producer, by event id.
    pub fn confirmed(&self) -> BTreeMap<String, Vec<Position>> {
        let mut confirmed: BTreeMap<String, Vec<Position>> = BTreeMap::new();
        for result in self.results(Operation::Publish) {
            if result.outcome == CallOutcome::Ok {
                let positions = confirmed.entry(result.event.clone()).or_default();
                positions.extend(result.position.clone());
            }
        }
        confirmed
    }

    /// Steps of one fault, in order, with their times.
    pub fn fault_steps<'a>(
        &'a self,
        fault: &'a str,
    ) -> impl Iterator<Item = (u64, &'a FaultStage)> {
        self.records.iter().filter_map(move |record| match &record.event {
            Event::Fault(step) if step.fault == fault => Some((record.at_us, &step.stage)),
            _ => None,
        })
    }

    /// Incarnations of workers that were started, in order.
    pub fn processes(&self) -> impl Iterator<Item = &Process> {
        self.events().filter_map(|event| match event {
            Event::WorkerStarted { process, .. } => Some(process),
            _ => None,
        })
    }
}

fn count(ids: impl Iterator<Item = String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for id in ids {
        *counts.entry(id).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parsed(records: &[(u64, u64)]) -> Result<History, HistoryError> {
        let line = |(seq, at_us): &(u64, u64)| {
            let event = Event::CapReached { deliveries: 1, cap: 1 };
            serde_json::to_string(&Record { seq: *seq, at_us: *at_us, event }).unwrap()
        };
        History::parse(&records.iter().map(line).collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn records_are_whole_and_in_the_order_of_time() {
        assert_eq!(parsed(&[(0, 5), (1, 5), (2, 9)]).unwrap().records().len(), 3);
        assert!(matches!(parsed(&[(0, 5), (2, 9)]), Err(HistoryError::Gap { line: 2, .. })));
        assert!(matches!(parsed(&[(0, 5), (1, 4)]), Err(HistoryError::Backwards { line: 2 })));
    }
}
