//! Disposition of each event for each destination: the place that says what became of it.
//! A sealed history comes in; an account per event and destination comes out, lost or accounted.
//! It must never call an event lost that some position would still bring back, nor one that may not
//! exist.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Scope;
use super::observed::{
    Changes, EventAt, Publication, changes, final_cursors, final_reads_done, publications,
};
use crate::evidence::History;
use crate::evidence::cursor::Cursor;
use crate::evidence::event::{Event, LogEntry, ReadWhy};
use crate::names::{Operation, Place, TopicRole};

/// What became of an event for one destination; closed, because every event must have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// An effect of it stands in the domain.
    Effect,
    /// A newer fact was there before it. No record of this history format shows it yet.
    Superseded,
    /// The domain said no, on the record. No record of this history format shows it yet.
    Rejected,
    /// Set apart, with both fingerprints.
    Quarantined,
    /// On the dead letter topic, where a redriver or a reader would still find it: accounted for,
    /// and unresolved.
    DeadLettered,
    /// In the source topic and not acknowledged: it would be handed out again.
    Backlog,
    /// Handed out and neither acknowledged nor returned. After settle there are no workers left,
    /// so the final reads show such a message as backlog.
    InFlight,
    /// Given up by a declared rule (expiry). No record of this history format shows it yet.
    DeclaredDiscard,
}

/// What the dispositions come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Accounted,
    /// Never confirmed and never seen: it may exist, so it can be neither lost nor doubled.
    MayExist,
    /// Published, without any disposition; the text says what it is behind of.
    Lost(&'static str),
    /// What would decide it was not read.
    Undecided(&'static str),
}

/// One event for one destination.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    pub publication: Publication,
    /// Changes of the domain; more than one is a doubled event.
    pub effects: u64,
    pub dispositions: BTreeSet<Disposition>,
    pub fate: Fate,
}

/// Two dispositions that one event may have at once, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    pub of: (Disposition, Disposition),
    pub when: OverlapWhen,
    pub reason: &'static str,
}

/// When such an overlap is legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverlapWhen {
    Always,
    /// Only where the scenario does not say that everything is acknowledged at its end.
    NotDrained,
}

/// All legal overlaps; any other pair breaks conservation.
pub const LEGAL_OVERLAPS: [Overlap; 5] = [
    Overlap {
        of: (Disposition::Effect, Disposition::Backlog),
        when: OverlapWhen::NotDrained,
        reason: "the effect is committed and its ACK is outstanding",
    },
    Overlap {
        of: (Disposition::DeadLettered, Disposition::Backlog),
        when: OverlapWhen::NotDrained,
        reason: "the dead letter is published and the ACK of its source is outstanding",
    },
    Overlap {
        of: (Disposition::Effect, Disposition::DeadLettered),
        when: OverlapWhen::NotDrained,
        reason: "the redriven letter had its effect and its ACK on the dead letter topic is \
                 outstanding",
    },
    Overlap {
        of: (Disposition::Quarantined, Disposition::Backlog),
        when: OverlapWhen::NotDrained,
        reason: "a conflicting copy is set apart and not acknowledged as done",
    },
    Overlap {
        of: (Disposition::Effect, Disposition::Quarantined),
        when: OverlapWhen::Always,
        reason: "the first effect stands, and a copy with another fingerprint is set apart",
    },
];

impl Account {
    /// The first pair of dispositions that must not be together.
    pub fn illegal_overlap(&self, scope: &Scope) -> Option<(Disposition, Disposition)> {
        let all: Vec<_> = self.dispositions.iter().copied().collect();
        let pairs =
            all.iter().enumerate().flat_map(|(at, a)| all[at + 1..].iter().map(move |b| (*a, *b)));
        let legal = |pair: &(Disposition, Disposition)| {
            LEGAL_OVERLAPS.iter().any(|overlap| {
                overlap.of == *pair && (overlap.when == OverlapWhen::Always || !scope.drained)
            })
        };
        pairs.into_iter().find(|pair| !legal(pair))
    }
}

/// Accounts of all planned events for all destinations.
///
/// # Errors
/// What was not read, where that leaves every event undecided.
pub fn accounts(history: &History, scope: &Scope) -> Result<BTreeMap<EventAt, Account>, String> {
    if !final_reads_done(history) {
        return Err(String::from("the final reads were not done"));
    }
    let Some(log) = history.log(TopicRole::Source, ReadWhy::Final) else {
        return Err(String::from("the source topic was not read to its end"));
    };
    let cursors = final_cursors(history, &scope.destinations)?;
    let letters = Letters::of(history, scope);
    let changes = changes(history);
    let quarantined = quarantined(history);
    let mut accounts = BTreeMap::new();
    for (event, publication) in publications(history) {
        let copies: Vec<_> =
            log.iter().copied().filter(|e| e.event.as_ref() == Some(&event)).collect();
        for (destination, cursor) in &cursors {
            let key = (event.clone(), (*destination).to_owned());
            let seen = Seen {
                publication,
                changes: changes.get(&key),
                quarantined: quarantined.contains(&key),
                backlog: copies.iter().any(|entry| would_come_again(cursor, entry)),
                letter: letters.state(&event),
                destinations: cursors.len(),
            };
            accounts.insert(key, seen.account());
        }
    }
    Ok(accounts)
}

fn quarantined(history: &History) -> BTreeSet<EventAt> {
    let rows = history.events().filter_map(|event| match event {
        Event::QuarantineRow { event, destination, .. } => {
            Some((event.clone(), destination.clone()))
        }
        _ => None,
    });
    rows.collect()
}

/// Whether the broker would hand this message to the destination again. A Pulsar subscription that
/// is gone gets nothing; a Kafka group without a committed offset can still read the log.
fn would_come_again(cursor: &Cursor, entry: &LogEntry) -> bool {
    let nobody = matches!(entry.position.place, Place::Entry { .. }) && *cursor == Cursor::Absent;
    !nobody && !cursor.acknowledges(&entry.position)
}

/// Everything that decides one account.
struct Seen<'a> {
    publication: Publication,
    changes: Option<&'a Changes>,
    quarantined: bool,
    backlog: bool,
    letter: Letter,
    destinations: usize,
}

impl Seen<'_> {
    fn account(self) -> Account {
        let mut dispositions = BTreeSet::new();
        if self.changes.is_some_and(|changes| changes.standing > 0) {
            dispositions.insert(Disposition::Effect);
        }
        if self.quarantined {
            dispositions.insert(Disposition::Quarantined);
        }
        if self.backlog {
            dispositions.insert(Disposition::Backlog);
        }
        // A letter does not say whose it is: with several destinations, one that had its effect
        // takes it for another's.
        let another = self.destinations > 1 && dispositions.contains(&Disposition::Effect);
        if self.letter == Letter::Kept && !another {
            dispositions.insert(Disposition::DeadLettered);
        }
        let fate = match (dispositions.is_empty(), self.publication, self.letter) {
            (false, _, _) => Fate::Accounted,
            (true, Publication::Unknown, _) => Fate::MayExist,
            (true, _, Letter::Unread) => Fate::Undecided("the dead letter topic was not read"),
            (true, _, letter) => Fate::Lost(letter.lost_because()),
        };
        let effects = self.changes.map_or(0, |changes| changes.made);
        Account { publication: self.publication, effects, dispositions, fate }
    }
}

/// What the dead letter topic says about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letter {
    None,
    Unread,
    Kept,
    /// Readable, and behind the position of the redriver: it does not come back by itself.
    PassedBy,
    /// On a topic that keeps nothing for anybody.
    Unsubscribed,
}

impl Letter {
    fn lost_because(self) -> &'static str {
        match self {
            Self::PassedBy => "no effect, and its dead letter is behind the redriver's position",
            Self::Unsubscribed => {
                "no effect, and nobody subscribes to the topic of its dead letter"
            }
            Self::None | Self::Unread | Self::Kept => {
                "no effect, no dead letter, and behind every position in the source"
            }
        }
    }
}

/// The dead letter topic at the end.
struct Letters<'a> {
    log: Option<Vec<&'a LogEntry>>,
    redriver: Option<&'a Cursor>,
    redriver_unread: bool,
    subscribed: bool,
    /// The unit has a dead letter topic at all.
    concerned: bool,
}

impl<'a> Letters<'a> {
    fn of(history: &'a History, scope: &Scope) -> Self {
        let cursor = |name: &String| history.cursor(TopicRole::DeadLetter, name, ReadWhy::Final);
        let redriver = scope.redriver.as_ref().and_then(cursor);
        let counts = history.counts(TopicRole::DeadLetter, ReadWhy::Final);
        let subscribed = counts.is_some_and(|counts| !counts.subscriptions.is_empty())
            || redriver.is_some_and(|cursor| *cursor != Cursor::Absent);
        let claimed = history.results(Operation::DeadLetter).next().is_some();
        let concerned =
            scope.redriver.is_some() || claimed || history.events().any(is_about_letters);
        Self {
            log: history.log(TopicRole::DeadLetter, ReadWhy::Final),
            redriver,
            redriver_unread: scope.redriver.is_some() && redriver.is_none(),
            subscribed,
            concerned,
        }
    }

    fn state(&self, event: &str) -> Letter {
        let Some(log) = &self.log else {
            return if self.concerned { Letter::Unread } else { Letter::None };
        };
        let copies = log.iter().filter(|entry| entry.event.as_deref() == Some(event));
        // The best of its copies counts: one that is kept is enough.
        copies
            .map(|entry| self.copy(entry))
            .min_by_key(|letter| *letter != Letter::Kept)
            .unwrap_or(Letter::None)
    }

    fn copy(&self, entry: &LogEntry) -> Letter {
        if self.redriver.is_some_and(|cursor| cursor.acknowledges(&entry.position)) {
            return Letter::PassedBy;
        }
        let by_subscription = matches!(entry.position.place, Place::Entry { .. });
        match (by_subscription && !self.subscribed, self.redriver_unread) {
            (true, _) => Letter::Unsubscribed,
            (false, true) => Letter::Unread,
            (false, false) => Letter::Kept,
        }
    }
}

fn is_about_letters(event: &Event) -> bool {
    match event {
        Event::LogEntry(entry) => entry.topic == TopicRole::DeadLetter,
        Event::Stands { topic, .. } | Event::LogRead { topic, .. } => {
            *topic == TopicRole::DeadLetter
        }
        Event::TopicCounts(counts) => counts.topic == TopicRole::DeadLetter,
        _ => false,
    }
}
