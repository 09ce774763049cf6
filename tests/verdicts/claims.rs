//! Claims that cannot be: of other contents, of another place, of a delivery that never was.
//! A `World` in order comes in with one claim changed or added; the evidence must be invalid.
//! It must never let a worker's word stand beside a record of the runner that says otherwise.

use ackproof::evidence::event::Event;
use ackproof::names::{CallOutcome, Cause, Operation, Outcome, Point, Role};
use ackproof::suite::workload::{Again, AgainPayload};

use crate::story::*;
use crate::world::outcome::*;
use crate::world::*;

/// A claim of the consumer that it received event 1, with contents and place.
fn received_as(contents: &str, place: &str) -> Event {
    let Event::ClaimAt(mut at) = received("consumer/2", 1) else { unreachable!() };
    at.fingerprint = Some(contents.to_owned());
    at.position = Some(place.parse().expect("a position"));
    Event::ClaimAt(at)
}

fn contents(n: u32) -> String {
    let Event::Planned(planned) = planned(n) else { unreachable!() };
    planned.payload_sha256
}

fn impossible(reason: &str, event: Event) {
    with(Cause::RunnerError, reason, event);
}

#[test]
fn a_claim_that_agrees_with_workload_and_log_is_taken() {
    let right = received_as(&contents(1), "orders/0@0");
    let cell = cell(|world| world.tell(SUBJECT, |story| story.and(right.clone())));
    assert_outcome(&cell, Outcome::Pass, None, "");
}

#[test]
fn contents_that_nobody_published_are_no_claim() {
    impossible("contents that nobody published", received_as(&contents(2), "orders/0@0"));
    // The second publication may have other ones, and may be trimmed before anybody reads it.
    let cell = cell(|world| {
        let again = Again { event: 1, payload: AgainPayload::Other, key: None };
        world.unit(SUBJECT).workload.again.push(again);
        world.tell(SUBJECT, |story| story.and(received_as(&contents(2), "orders/0@0")));
    });
    assert_outcome(&cell, Outcome::Pass, None, "");
}

#[test]
fn a_place_where_the_broker_has_something_else_is_no_claim() {
    impossible("where the broker has e-0002", received_as(&contents(1), "orders/0@1"));
    impossible("has no such message", received_as(&contents(1), "orders/0@9"));
    impossible("has no such message", received_as(&contents(1), "nowhere/9@99"));
    // Where a publication is unknown, the event may stand anywhere.
    let cell = cell(|world| {
        world.tell(SUBJECT, |story| {
            let lost = publish(1, CallOutcome::Unknown, None);
            story.and(lost).and(received_as(&contents(1), "orders/0@9"))
        });
    });
    assert_outcome(&cell, Outcome::Pass, None, "");
}

#[test]
fn a_result_needs_a_delivery() {
    let acked = |delivery| {
        let ack = call("consumer/2", Operation::Ack, 2, CallOutcome::Ok, None);
        let Event::ClaimResult(mut result) = ack else { unreachable!() };
        result.delivery = Some(delivery);
        Event::ClaimResult(result)
    };
    impossible("a result of delivery 2 of e-0002, which it never received", acked(2));
    let known = cell(|world| world.tell(SUBJECT, |story| story.and(acked(1))));
    assert_outcome(&known, Outcome::Pass, None, "");
    // A redriver receives letters: its claims are about another topic.
    let redriver = cell(|world| {
        world.tell(SUBJECT, |story| {
            let Event::ClaimAt(at) = received_as("other", "letters/0@7") else { unreachable!() };
            let at = ackproof::evidence::event::At {
                process: process("redriver/1"),
                point: Point::Received,
                ..at
            };
            story.and(started("redriver/1", Role::Redriver)).and(Event::ClaimAt(at))
        });
    });
    assert_ne!(redriver.cause, Some(Cause::RunnerError), "{}", redriver.reason);
}
