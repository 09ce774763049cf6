//! What the reports about Kafka, outboxes, inboxes and redrives tell, as histories: B48 to B95.
//! Nothing comes in; for each report the story where it holds and the story where it does not.
//! It must never hold a story longer than a screen.

#[path = "kafka_groups.rs"]
mod groups;
#[path = "kafka_outbox.rs"]
mod outbox;

use ackproof::evidence::event::{At, Event};
use ackproof::names::{CallOutcome, Operation, TopicRole};

use crate::Replay;
use crate::story::*;

pub fn replays() -> Vec<Replay> {
    groups::replays().into_iter().chain(outbox::replays()).collect()
}

const A: &str = "consumer/1";
/// The same worker, started again.
const AGAIN: &str = "consumer/2";
/// Workers side by side.
const ONE: &str = "consumer-1/1";
const TWO: &str = "consumer-2/1";

/// One partition, an event an offset.
fn place(n: u32) -> String {
    format!("0@{}", n - 1)
}

fn plan(events: u32, poisoned: &[u32]) -> Story {
    let planned = |n| if poisoned.contains(&n) { poison(n) } else { planned(n) };
    Story::new().all((1..=events).map(planned))
}

/// So many events, the ones that are named poison, each confirmed at its place.
fn published_at(events: u32, poisoned: &[u32], place: fn(u32) -> String) -> Story {
    plan(events, poisoned).all((1..=events).map(|n| confirmed(n, &place(n))))
}

fn published(events: u32, poisoned: &[u32]) -> Story {
    published_at(events, poisoned, place)
}

/// Handed over from this place of the source topic.
fn got_at(who: &str, n: u32, place: &str) -> Event {
    let Event::ClaimAt(at) = received(who, n) else { unreachable!() };
    let position = Some(format!("orders/{place}").parse().expect("a position"));
    Event::ClaimAt(At { position, ..at })
}

fn got(who: &str, n: u32) -> Event {
    got_at(who, n, &place(n))
}

fn acked(who: &str, n: u32) -> Event {
    call(who, Operation::Ack, n, CallOutcome::Ok, None)
}

/// Handed over from this place, and acknowledged.
fn done_at(who: &str, n: u32, place: &str) -> [Event; 2] {
    [got_at(who, n, place), acked(who, n)]
}

fn done(who: &str, n: u32) -> [Event; 2] {
    done_at(who, n, &place(n))
}

/// All of these events, one after the other.
fn all_done(who: &str, events: impl IntoIterator<Item = u32>) -> Vec<Event> {
    events.into_iter().flat_map(|n| done(who, n)).collect()
}

/// The audit trail of the end.
fn effects(of: &[(&str, u32)]) -> Vec<Event> {
    let row = |(seq, (who, n)): (i64, &(&str, u32))| effect(seq, who, *n);
    (1..).zip(of).map(row).collect()
}

/// The source topic at the end, and the offset that the group has committed.
fn source_of(messages: &[(u32, &str)], next: i64) -> Vec<Event> {
    let mut read = log(TopicRole::Source, messages);
    read.push(stands(committed(next)));
    read
}

/// The same, with so many events at their places.
fn source(events: u32, next: i64) -> Vec<Event> {
    let places: Vec<(u32, String)> = (1..=events).map(|n| (n, place(n))).collect();
    let messages: Vec<(u32, &str)> = places.iter().map(|(n, at)| (*n, at.as_str())).collect();
    source_of(&messages, next)
}
