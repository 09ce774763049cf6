//! What the reports about Pulsar and its clients tell, as histories: B01 to B46.
//! Nothing comes in; for each report the story where it holds and the story where it does not.
//! It must never hold a story longer than a screen.

#[path = "pulsar_acks.rs"]
mod acks;
#[path = "pulsar_letters.rs"]
mod letters;

use ackproof::evidence::event::{At, Event, ReadWhy};
use ackproof::names::{CallOutcome, Operation, TopicRole};

use crate::Replay;
use crate::story::*;

pub fn replays() -> Vec<Replay> {
    letters::replays().into_iter().chain(acks::replays()).collect()
}

const A: &str = "consumer/1";
/// The same worker, started again.
const AGAIN: &str = "consumer/2";
/// Workers side by side.
const ONE: &str = "consumer-1/1";
const TWO: &str = "consumer-2/1";

/// The source topic is ledger 7, an event an entry.
fn place(n: u32) -> String {
    format!("7:{}", n - 1)
}

/// The source topic is one entry, an event a message of its batch.
fn place_in_batch(n: u32) -> String {
    format!("7:0:{}", n - 1)
}

/// So many events, the ones that are named poison, each confirmed at its place.
fn published_at(events: u32, poisoned: &[u32], place: fn(u32) -> String) -> Story {
    let planned = |n| if poisoned.contains(&n) { poison(n) } else { planned(n) };
    let story = Story::new().all((1..=events).map(planned));
    story.all((1..=events).map(|n| confirmed(n, &place(n))))
}

fn published(events: u32, poisoned: &[u32]) -> Story {
    published_at(events, poisoned, place)
}

/// Handed over at this place of a topic.
fn received_at(who: &str, n: u32, position: &str) -> Event {
    let Event::ClaimAt(at) = received(who, n) else { unreachable!() };
    let position = Some(position.parse().expect("a position"));
    Event::ClaimAt(At { position, ..at })
}

fn got(who: &str, n: u32) -> Event {
    received_at(who, n, &format!("orders/{}", place(n)))
}

fn got_of_batch(who: &str, n: u32) -> Event {
    received_at(who, n, &format!("orders/{}", place_in_batch(n)))
}

fn acked(who: &str, n: u32) -> Event {
    call(who, Operation::Ack, n, CallOutcome::Ok, None)
}

fn nacked(who: &str, n: u32) -> Event {
    call(who, Operation::Nack, n, CallOutcome::Ok, None)
}

/// Handed over and acknowledged.
fn done(who: &str, n: u32) -> [Event; 2] {
    [got(who, n), acked(who, n)]
}

/// The audit trail of the end.
fn effects(of: &[(&str, u32)]) -> Vec<Event> {
    let row = |(seq, (who, n)): (i64, &(&str, u32))| effect(seq, who, *n);
    (1..).zip(of).map(row).collect()
}

/// All events in the source topic at the end.
fn kept(events: u32) -> Vec<Event> {
    let places: Vec<(u32, String)> = (1..=events).map(|n| (n, place(n))).collect();
    log(TopicRole::Source, &borrowed(&places))
}

/// The source topic at the end: so many events, of which the first ones are acknowledged.
fn source(events: u32, acknowledged: u32) -> Vec<Event> {
    let mut read = kept(events);
    read.push(stands(mark((7, i64::from(acknowledged) - 1))));
    read
}

/// The one entry of a batch at the end, acknowledged as a whole.
fn batch(events: u32) -> Vec<Event> {
    let places: Vec<(u32, String)> = (1..=events).map(|n| (n, place_in_batch(n))).collect();
    let mut read = log(TopicRole::Source, &borrowed(&places));
    read.push(stands(mark((7, 0))));
    read
}

/// The dead letter topic at the end, with a subscription that was not read.
fn letters(of: &[u32]) -> Vec<Event> {
    let place = |(at, n): (usize, &u32)| (*n, format!("8:{at}"));
    let places: Vec<(u32, String)> = of.iter().enumerate().map(place).collect();
    let mut read = log(TopicRole::DeadLetter, &borrowed(&places));
    read.push(stands_at(TopicRole::DeadLetter, "redriver", ReadWhy::Final, mark((8, -1))));
    read.push(letter_counts(ReadWhy::Final, of.len() as u64, &["redriver"]));
    read
}

fn borrowed(places: &[(u32, String)]) -> Vec<(u32, &str)> {
    places.iter().map(|(n, place)| (*n, place.as_str())).collect()
}
