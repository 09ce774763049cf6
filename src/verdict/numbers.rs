//! Numbers of a cell: the three marks, the counts with their grades, the ages.
//! The subject's history and its findings come in; numbers come out, absent where nothing observed
//! them.
//! It must never fill in a zero for something that was not read.

use std::collections::{BTreeMap, BTreeSet};

use super::{Ages, Counts, Graded, Marks};
use crate::checks::disposition::{Account, Disposition, Fate, accounts};
use crate::checks::observed::{
    EventAt, Publication, changes, entries, final_reads_done, is_consumer, publications,
};
use crate::checks::{AlwaysOn, Finding, FindingResult, Scope};
use crate::evidence::History;
use crate::evidence::event::{At, Event, ReadWhy};
use crate::names::{CallOutcome, Grade, Operation, Point, TopicRole};

/// Lost, doubled, reordered: the events that were.
pub(super) fn marks(history: &History, scope: &Scope) -> Marks {
    let accounts = accounts(history, scope).unwrap_or_default();
    let lost = accounts.iter().filter(|(_, account)| matches!(account.fate, Fate::Lost(_)));
    let doubled = changes(history).into_iter().filter(|(_, changes)| changes.made > 1);
    Marks {
        lost: lost.map(|((event, _), _)| event.clone()).collect(),
        doubled: doubled.map(|((event, _), _)| event).collect(),
        reordered: reordered(history),
    }
}

/// Events whose first effect came after that of a later event of the same key and destination.
fn reordered(history: &History) -> BTreeSet<String> {
    let planned: BTreeMap<_, _> = history
        .planned()
        .enumerate()
        .map(|(at, planned)| (planned.event.as_str(), (planned.key.as_str(), at)))
        .collect();
    let mut rows: Vec<_> =
        history.audit(ReadWhy::Final).filter(|row| row.operation == "INSERT").collect();
    rows.sort_by_key(|row| row.audit_seq);
    let mut latest: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut late = BTreeSet::new();
    for row in rows {
        let Some((key, at)) = planned.get(row.event.as_str()) else { continue };
        if !seen.insert((row.event.as_str(), row.destination.as_str())) {
            continue;
        }
        let latest = latest.entry((key, &row.destination)).or_insert(*at);
        if at < latest {
            late.insert(row.event.clone());
        }
        *latest = (*latest).max(*at);
    }
    late
}

/// Counts with what supports each of them.
pub(super) fn counts(history: &History, scope: &Scope, findings: &[Finding]) -> Counts {
    if history.planned().next().is_none() {
        return Counts::default();
    }
    let accounts = accounts(history, scope).ok();
    let mut counts = published(history, findings);
    counts.deliveries = deliveries(history);
    if final_reads_done(history) {
        let made: Vec<u64> = changes(history).into_values().map(|changes| changes.made).collect();
        let beyond = made.iter().map(|made| made.saturating_sub(1)).sum();
        let set_apart =
            history.events().filter(|event| matches!(event, Event::QuarantineRow { .. })).count();
        counts.effects = graded(made.iter().sum(), Grade::Ledger);
        counts.duplicates = graded(beyond, Grade::Ledger);
        counts.conflicts = graded(set_apart as u64, Grade::Ledger);
    }
    counts.dead_letters_ever = dead_letters_ever(history);
    if let Some(accounts) = accounts {
        by_accounts(&accounts, &mut counts);
    }
    counts
}

fn graded(value: u64, grade: Grade) -> Option<Graded> {
    Some(Graded { value, grade })
}

fn published(history: &History, findings: &[Finding]) -> Counts {
    let publications = publications(history);
    let count = |wanted: Publication| {
        publications.values().filter(|publication| **publication == wanted).count() as u64
    };
    // Confirmations are claims until the read-back has found every one of them.
    let read_back = findings.iter().any(|finding| {
        finding.check == AlwaysOn::Published.name() && finding.result == FindingResult::Holds
    });
    let grade = if read_back { Grade::Broker } else { Grade::Claimed };
    Counts {
        published: graded(count(Publication::Confirmed) + count(Publication::Found), grade),
        confirmed: graded(count(Publication::Confirmed), grade),
        unknown: graded(count(Publication::Unknown), Grade::Claimed),
        ..Counts::default()
    }
}

fn deliveries(history: &History) -> Option<Graded> {
    let received = history.claims_at(Point::Received);
    let value = received.filter(|at| is_consumer(history, &at.process)).count() as u64;
    let sent = history.counts(TopicRole::Source, ReadWhy::Final).and_then(|c| c.messages_out);
    let supported = value > 0 && sent == Some(value);
    graded(value, if supported { Grade::Broker } else { Grade::Claimed })
}

/// By id where letters were read; by the broker's own counter where none is left to be read.
fn dead_letters_ever(history: &History) -> Option<Graded> {
    let ids: BTreeSet<_> = entries(history, TopicRole::DeadLetter)
        .filter_map(|entry| entry.event.as_deref())
        .collect();
    let counted = history.events().filter_map(|event| match event {
        Event::TopicCounts(counts) if counts.topic == TopicRole::DeadLetter => counts.messages_in,
        _ => None,
    });
    let read = history.log(TopicRole::DeadLetter, ReadWhy::Final).is_some();
    match (ids.len() as u64, counted.max()) {
        (0, Some(counted)) => graded(counted, Grade::Broker),
        (0, None) if !read => None,
        (distinct, _) => graded(distinct, Grade::Broker),
    }
}

fn by_accounts(accounts: &BTreeMap<EventAt, Account>, counts: &mut Counts) {
    let having = |wanted: Disposition| {
        accounts.iter().filter(move |(_, account)| account.dispositions.contains(&wanted))
    };
    let lost = accounts.values().filter(|account| matches!(account.fate, Fate::Lost(_)));
    let without_effect = accounts.values().filter(|account| {
        account.fate != Fate::MayExist && !account.dispositions.contains(&Disposition::Effect)
    });
    let waiting: BTreeSet<_> =
        having(Disposition::DeadLettered).map(|((event, _), _)| event).collect();
    counts.backlog = graded(having(Disposition::Backlog).count() as u64, Grade::Broker);
    counts.lost = graded(lost.count() as u64, Grade::Ledger);
    counts.unresolved = graded(without_effect.count() as u64, Grade::Ledger);
    if counts.dead_letters_ever.is_some() {
        counts.dead_letters_unresolved = graded(waiting.len() as u64, Grade::Broker);
    }
}

/// Longest ages by the runner's clock.
pub(super) fn ages(history: &History) -> Ages {
    let mut stretches = Stretches::default();
    for record in history.records() {
        match &record.event {
            Event::ClaimAt(at) if is_consumer(history, &at.process) => {
                stretches.point(record.at_us, at);
            }
            Event::ClaimResult(result) if result.outcome == CallOutcome::Ok => {
                match result.operation {
                    Operation::DeadLetter => {
                        stretches.buried.entry(&result.event).or_insert(record.at_us);
                    }
                    Operation::Redrive => {
                        let since_us = stretches.buried.get(result.event.as_str()).copied();
                        longest(&mut stretches.dlq_us, since_us, record.at_us);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let ms = |us: Option<u64>| us.map(|us| us / 1000);
    Ages {
        retry_ms: ms(stretches.retry_us),
        dlq_ms: ms(stretches.dlq_us),
        ack_latency_ms: ms(stretches.ack_us),
    }
}

#[derive(Default)]
struct Stretches<'a> {
    received: BTreeMap<&'a str, u64>,
    committed: BTreeMap<&'a str, (u64, &'a At)>,
    buried: BTreeMap<&'a str, u64>,
    retry_us: Option<u64>,
    dlq_us: Option<u64>,
    ack_us: Option<u64>,
}

impl<'a> Stretches<'a> {
    fn point(&mut self, at_us: u64, at: &'a At) {
        match at.point {
            Point::Received => {
                let first = self.received.insert(&at.event, at_us);
                if let Some(first_us) = first {
                    longest(&mut self.retry_us, Some(first_us), at_us);
                    self.received.insert(&at.event, first_us);
                }
            }
            Point::EffectCommitted => {
                self.committed.insert(&at.event, (at_us, at));
            }
            Point::AckReturned => {
                let since = self.committed.get(at.event.as_str()).filter(|(_, committed)| {
                    committed.process == at.process && committed.delivery == at.delivery
                });
                longest(&mut self.ack_us, since.map(|(since_us, _)| *since_us), at_us);
            }
            _ => {}
        }
    }
}

fn longest(longest_us: &mut Option<u64>, since_us: Option<u64>, at_us: u64) {
    if let Some(since_us) = since_us {
        let took_us = at_us.saturating_sub(since_us);
        *longest_us = Some(longest_us.map_or(took_us, |longest| longest.max(took_us)));
    }
}
