//! Golden histories of `overlap` and `within_limit`: what happened at once, and how long it took.
//! Nothing comes in; groups of cases come out.
//! It must never hold a story longer than a screen.

use ackproof::evidence::event::{Event, ProbeWhen, ReadWhy};
use ackproof::names::{Grade, Point, Role};

use super::{Group, scope};
use crate::story::*;

pub fn groups() -> Vec<Group> {
    vec![overlap(), within_limit()]
}

const A: &str = "consumer-1/1";
const B: &str = "consumer-2/1";

/// A row of the trail as the runner read it while the story went on.
fn during(event: Event) -> Event {
    let Event::AuditRow(mut row) = event else { unreachable!() };
    row.why = ReadWhy::During;
    Event::AuditRow(row)
}

fn overlap() -> Group {
    let start =
        |point| Story::new().all([planned(1), received(A, 1), triggered("stall", A, point, 1)]);
    let both = |point| start(point).and(received(B, 1));
    let blocked = |waiter, blocker| Event::Blocked {
        event: id(1),
        waiter: process(waiter),
        blocker: process(blocker),
    };
    let unseen = probe("stall", ProbeWhen::Before, 1, 0, false);
    let seen = probe("stall", ProbeWhen::After, 1, 1, false);
    let release = held("stall", A, 1500);
    let before = || both(Point::BeforeEffect);
    let both_made = || [effect(1, B, 1), effect(2, A, 1)];
    Group::check("overlap", r#"{"overlap": {"of": "struck"}}"#, scope())
        .holds("the-second-waits-for-the-first", {
            both(Point::InTransaction).and(blocked(B, A)).and(release.clone())
        })
        .graded(Grade::Ledger)
        .holds("an-effect-while-the-other-is-held", {
            let story = before().and(unseen.clone()).and(seen.clone()).and(release.clone());
            story.all(both_made())
        })
        .holds("the-trail-while-the-other-is-held", {
            let story = before().and(unseen.clone()).and(during(effect(1, B, 1)));
            story.and(release.clone()).all(both_made())
        })
        .graded(Grade::Ledger)
        .indeterminate("an-effect-from-before-the-hold", {
            let looks = [probe("stall", ProbeWhen::Before, 1, 1, false), seen.clone()];
            before().all(looks).and(release.clone()).all(both_made())
        })
        .indeterminate("nobody-looked-when-the-hold-began", {
            before().and(seen.clone()).and(release.clone()).all(both_made())
        })
        .violated("nobody-else", &[1], start(Point::InTransaction).and(release.clone()))
        .violated("a-redriver-received-the-letter", &[1], {
            let redriver = [started(B, Role::Redriver), received(B, 1)];
            start(Point::InTransaction).all(redriver).and(release.clone())
        })
        .indeterminate("claims-alone", both(Point::InTransaction).and(release.clone()))
        .indeterminate("waits-for-itself", both(Point::InTransaction).and(blocked(A, A)))
        .indeterminate("waits-in-another-event", {
            let other = Event::Blocked { event: id(2), waiter: process(A), blocker: process(B) };
            both(Point::InTransaction).and(other)
        })
        .indeterminate("both-have-effects-but-when", {
            let story = both(Point::BeforeEffect).and(release.clone()).and(seen.clone());
            story.all([effect(1, B, 1), effect(2, A, 1)])
        })
        .indeterminate("no-effect-yet-when-the-runner-looked", {
            let none = probe("stall", ProbeWhen::After, 1, 0, false);
            before().and(none).and(release.clone()).all(both_made())
        })
        .indeterminate("the-trail-of-another-event-while-it-was-held", {
            before().and(during(effect(1, B, 2))).and(release.clone()).all(both_made())
        })
        .indeterminate("held-after-its-own-effect", {
            let story = both(Point::EffectCommitted).and(seen.clone()).and(release.clone());
            story.all([effect(1, A, 1), effect(2, B, 1)])
        })
        .indeterminate("the-effect-is-the-holders-own", {
            both(Point::BeforeEffect).and(seen.clone()).and(release.clone()).and(effect(1, A, 1))
        })
        .indeterminate("the-holder-did-nothing", {
            both(Point::BeforeEffect).and(seen).and(release).and(effect(1, B, 1))
        })
        .indeterminate("nothing-struck", Story::new().all([planned(1), received(A, 1)]))
}

fn within_limit() -> Group {
    let mut scope = scope();
    scope.ack_timeout_ms = Some(1000);
    let handled = |ms: u64| {
        let story = Story::new().all([planned(1), triggered("stall", A, Point::Received, 1)]);
        // The record itself takes the last millisecond.
        story.and(received(A, 1)).wait_ms(ms - 1).and(at(A, Point::AckReturned, 1))
    };
    let gap = |ms: u64| Event::Gap { gap_us: ms * 1000, ended_us: 0 };
    Group::check("within_limit", r#"{"within_limit": {"of": "struck"}}"#, scope)
        .holds("by-a-margin", handled(600).and(health(5)))
        .graded(Grade::Claimed)
        .holds("the-margin-is-as-large-as-the-gap", handled(600).and(gap(400)).and(health(400)))
        .holds("the-gap-was-long-after", {
            handled(600).wait_ms(5000).and(gap(900)).and(health(900))
        })
        .violated("past-the-limit", &[1], handled(1400).and(health(5)))
        .violated("at-the-limit", &[1], handled(1000).and(health(0)))
        .indeterminate("the-margin-is-smaller-than-a-gap", {
            handled(600).and(gap(401)).and(health(401))
        })
        .indeterminate("late-by-less-than-a-gap", handled(1100).and(gap(200)).and(health(200)))
        .indeterminate("a-gap-that-was-not-recorded", handled(600).and(gap(10)).and(health(500)))
        .indeterminate("the-runners-health-is-unknown", handled(600))
        .indeterminate("its-ack-never-returned", {
            handled(600).and(health(5)).without(
                |event| matches!(event, Event::ClaimAt(at) if at.point == Point::AckReturned),
            )
        })
        .indeterminate("another-handing-over-returned", {
            handled(600).and(health(5)).with(|event| {
                if let Event::ClaimAt(at) = event
                    && at.point == Point::AckReturned
                {
                    at.delivery = 2;
                }
            })
        })
        .indeterminate("never-received", {
            let story = handled(600).and(health(5));
            story
                .without(|event| matches!(event, Event::ClaimAt(at) if at.point == Point::Received))
        })
        .indeterminate("nothing-struck", {
            handled(600).and(health(5)).without(|event| matches!(event, Event::Fault(_)))
        })
}
