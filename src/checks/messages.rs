//! Check `messages`: copies of each event in a topic, as the observer read them back.
//! Reads of the topic, with the broker's own counter of what came in, come in; events with another
//! number of copies come out.
//! It must never take a copy for missing that was acknowledged by all and may have been trimmed.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted, spread};
use super::observed::{
    Publication, entries, final_cursors, keeps_acknowledged, message, publications,
};
use super::{Bound, Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::cursor::Cursor;
use crate::evidence::event::{Event, FaultStage, ReadWhy};
use crate::names::{CallOutcome, EventSet, Grade, Operation, Position, TopicRole};

/// Copies that each event has to have in a topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessagesSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// Whose copies: those in the source topic, or the letters.
    pub topic: TopicRole,
    /// Messages of each event at different positions.
    pub count: Bound,
}

impl Check for MessagesSpec {
    fn name(&self) -> &'static str {
        "messages"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let topic = match self.topic {
            TopicRole::Source => "source topic",
            TopicRole::DeadLetter => "dead letter topic",
        };
        let expected =
            format!("{} message(s) of each event ({}) in the {topic}", self.count, self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Broker);
        if history.log(self.topic, ReadWhy::Final).is_none() {
            return tally.unknown(format!("the {topic} was not read to its end"));
        }
        let copies = Copies::of(history, scope, self.topic);
        let publications = publications(history);
        let (mut by_count, mut may_exist) = (BTreeMap::<u64, u64>::new(), 0);
        for event in history.ids(self.of) {
            // An unknown publication that nobody has seen may not exist at all.
            if publications.get(&event) == Some(&Publication::Unknown) && self.count.needs_some() {
                may_exist += 1;
                continue;
            }
            let (least, most) = copies.between(&event);
            tally.examined();
            *by_count.entry(least).or_default() += 1;
            match self.count.decides(least, most) {
                Some(true) => {}
                Some(false) => tally.broken_because(&event, number(least, most)),
                None => {
                    let number = number(least, most);
                    tally.undecided(&event, format!("{number}: {}", copies.unseen()));
                }
            }
        }
        if self.of == EventSet::All {
            for event in copies.read.keys().filter(|event| !publications.contains_key(**event)) {
                tally.broken_because(event, "nobody planned it");
            }
        }
        let read = counted(copies.read_in_all(), "message");
        tally.decide(format!("{read} read: {}", spread(&by_count, may_exist)))
    }
}

fn number(least: u64, most: u64) -> String {
    match most {
        u64::MAX => format!("{} at least", counted(least, "message")),
        _ if least == most => counted(least, "message"),
        _ => format!("{least} to {}", counted(most, "message")),
    }
}

/// The messages of one topic by event.
struct Copies<'a> {
    /// Those that a read has seen; one that is gone later was there.
    read: BTreeMap<&'a str, BTreeSet<&'a Position>>,
    /// Read ones without an event id: each may be a copy of any event.
    nameless: u64,
    /// Confirmed to a worker, read by nobody, and acknowledged by all that would have kept it.
    trimmed: BTreeMap<&'a str, BTreeSet<&'a Position>>,
    /// This broker keeps what was acknowledged, and nothing was deleted.
    kept: bool,
    /// The broker's own count of what came in, where it counted from the first message on.
    came_in: Option<u64>,
}

impl<'a> Copies<'a> {
    fn of(history: &'a History, scope: &Scope, topic: TopicRole) -> Self {
        let mut read: BTreeMap<&str, BTreeSet<&Position>> = BTreeMap::new();
        let mut nameless = BTreeSet::new();
        for entry in entries(history, topic) {
            match &entry.event {
                Some(event) => read.entry(event).or_default().insert(&entry.position),
                None => nameless.insert(&entry.position),
            };
        }
        let counts = history.counts(topic, ReadWhy::Final);
        // A log that begins later than at its first message has lost some.
        let deleted = counts
            .and_then(|counts| counts.retained.zip(counts.messages_in))
            .is_some_and(|(retained, came_in)| retained < came_in);
        Self {
            trimmed: trimmed(history, scope, topic, &read),
            read,
            nameless: nameless.len() as u64,
            kept: keeps_acknowledged(history) && !deleted,
            came_in: counts.filter(|_| counts_on(history)).and_then(|counts| counts.messages_in),
        }
    }

    fn read_in_all(&self) -> u64 {
        self.read.values().map(|copies| copies.len() as u64).sum::<u64>() + self.nameless
    }

    /// Why there may be more copies than were read.
    fn unseen(&self) -> &'static str {
        match self.kept {
            true => "one without an event id may be another",
            false => "others may be trimmed",
        }
    }

    /// The least and the most copies of an event that there can have been.
    fn between(&self, event: &str) -> (u64, u64) {
        let copies = |by: &BTreeMap<&str, BTreeSet<&Position>>| {
            by.get(event).map_or(0, BTreeSet::len) as u64
        };
        let (read, trimmed) = (copies(&self.read), copies(&self.trimmed));
        if self.kept {
            return (read, read + self.nameless);
        }
        let in_all = self.read_in_all();
        let trimmed_in_all = self.trimmed.values().map(|copies| copies.len() as u64).sum::<u64>();
        match self.came_in {
            // The broker counted as many as are known by their names: there is no other.
            Some(came_in) if came_in == in_all + trimmed_in_all => {
                (read + trimmed, read + trimmed + self.nameless)
            }
            Some(came_in) if came_in >= in_all => (read, read + self.nameless + (came_in - in_all)),
            _ => (read, u64::MAX),
        }
    }
}

/// Whether the broker counted from the first message on: a topic that is loaded anew counts from 0
/// again, and what faults do to workers loads none.
fn counts_on(history: &History) -> bool {
    use FaultStage::{Frozen, Healed, Held, Killed, Triggered};
    history.events().all(|event| match event {
        Event::Fault(step) => match &step.stage {
            Triggered { .. } | Killed { .. } | Frozen { .. } | Held { .. } => true,
            Healed { .. } => {
                history.fault_steps(&step.fault).any(|(_, s)| matches!(s, Frozen { .. }))
            }
            _ => false,
        },
        _ => true,
    })
}

/// Publications that were confirmed and that no read has seen, unless somebody would have kept
/// them: such a claim is refuted, not supported, by a topic without the message.
fn trimmed<'a>(
    history: &'a History,
    scope: &Scope,
    topic: TopicRole,
    read: &BTreeMap<&str, BTreeSet<&Position>>,
) -> BTreeMap<&'a str, BTreeSet<&'a Position>> {
    let operations: &[Operation] = match topic {
        TopicRole::Source => &[Operation::Publish, Operation::Redrive],
        TopicRole::DeadLetter => &[Operation::DeadLetter],
    };
    let cursors: Vec<&Cursor> = match topic {
        TopicRole::Source => match final_cursors(history, &scope.destinations) {
            Ok(cursors) => cursors.into_values().collect(),
            // Whoever's position was not read may be the one who would have kept it.
            Err(_) => return BTreeMap::new(),
        },
        TopicRole::DeadLetter => {
            let cursor = |name: &String| history.cursor(topic, name, ReadWhy::Final);
            scope.redriver.as_ref().and_then(cursor).into_iter().collect()
        }
    };
    let mut trimmed: BTreeMap<&str, BTreeSet<&Position>> = BTreeMap::new();
    for result in operations.iter().flat_map(|operation| history.results(*operation)) {
        let Some(position) = result.position.as_ref() else { continue };
        let seen = read.get(result.event.as_str()).is_some_and(|positions| {
            positions.iter().any(|read| message(read) == message(position))
        });
        let held_on = |cursor: &&Cursor| {
            **cursor != Cursor::Absent && !cursor.acknowledges(&message(position))
        };
        if result.outcome == CallOutcome::Ok && !seen && !cursors.iter().any(held_on) {
            trimmed.entry(&result.event).or_default().insert(position);
        }
    }
    trimmed
}
