//! Golden histories of `redelivery_counts`, `gaps` and `not_redelivered`: what came again.
//! Nothing comes in; groups of cases come out.
//! It must never hold a story longer than a screen.

use ackproof::evidence::event::{At, CallResult, Event, Probe, ProbeWhen, ReadWhy};
use ackproof::names::{CallOutcome, Grade, Operation, Point, Role, TopicRole};

use super::{Group, scope};
use crate::story::*;

pub fn groups() -> Vec<Group> {
    let mut groups = vec![sequence(), goes_on(), starts_anew()];
    groups.extend([least_gap(), first_gap(), not_reported(), not_visible()]);
    groups
}

const A: &str = "consumer/1";
const B: &str = "consumer/2";
const REDRIVER: &str = "redriver/1";

/// Handed over with this count.
fn count(who: &str, n: u32, count: u32) -> Event {
    let Event::ClaimAt(at) = received(who, n) else { unreachable!() };
    Event::ClaimAt(At { redelivery_count: Some(count), ..at })
}

/// One poison event, handed over with these counts.
fn counts(counts: &[u32]) -> Story {
    let handed = counts.iter().map(|number| count(A, 2, *number));
    Story::new().all([planned(1), poison(2), confirmed(2, "7:1")]).all(handed)
}

fn letter(count_of_it: u32) -> [Event; 2] {
    [started(REDRIVER, Role::Redriver), count(REDRIVER, 2, count_of_it)]
}

fn sequence() -> Group {
    let spec = r#"{"redelivery_counts": {"of": "poison", "sequence": [0, 1, 2]}}"#;
    Group::check("redelivery_counts", spec, scope())
        .holds("as-expected", counts(&[0, 1, 2]))
        .graded(Grade::Claimed)
        .holds("by-two-processes", counts(&[0, 1]).and(count(B, 2, 2)))
        .holds("started-as-a-consumer", counts(&[0, 1, 2]).and(started(A, Role::Consumer)))
        .holds("a-letter-is-no-handing-over", counts(&[0, 1, 2]).all(letter(0)))
        .violated("lost-after-a-restart", &[2], counts(&[0, 1, 0, 1, 2]))
        .violated("one-fewer", &[2], counts(&[0, 1]))
        .violated("one-more", &[2], counts(&[0, 1, 2, 3]))
        .violated("in-another-order", &[2], counts(&[0, 2, 1]))
        .indeterminate("the-client-gives-none", {
            Story::new().and(poison(2)).all([received(A, 2), received(A, 2), received(A, 2)])
        })
        .indeterminate("the-client-gives-none-once", counts(&[0, 1, 2]).and(received(B, 2)))
        .indeterminate("never-handed-over", counts(&[]))
        .indeterminate("may-not-exist", {
            Story::new().all([poison(2), publish(2, CallOutcome::Unknown, None)])
        })
        .indeterminate("no-poison", Story::new().all([planned(1), count(A, 1, 0)]))
}

fn goes_on() -> Group {
    let spec = r#"{"redelivery_counts": {"of": "all", "resets": {"exactly": 0}}}"#;
    Group::check("redelivery_counts.goes-on", spec, scope())
        .holds("one-higher-each-time", counts(&[0, 1, 2]).and(count(A, 1, 0)))
        .holds("another-event-may-not-exist", counts(&[0, 1]))
        .holds("some-are-left-out", counts(&[0, 3, 7]).and(count(A, 1, 0)))
        .violated("starts-anew", &[2], counts(&[0, 1, 2, 0]).and(count(A, 1, 0)))
        .violated("stays", &[2], counts(&[0, 0]).and(count(A, 1, 0)))
        .indeterminate("nothing-came-again", counts(&[0]).and(count(A, 1, 0)))
        .indeterminate("one-event-was-never-handed-over", counts(&[0, 1]).and(confirmed(1, "7:0")))
}

fn starts_anew() -> Group {
    let spec = r#"{"redelivery_counts": {"of": "poison", "resets": {"at_least": 2}}}"#;
    Group::check("redelivery_counts.starts-anew", spec, scope())
        .holds("at-two-restarts", counts(&[0, 1, 0, 1, 0]))
        .holds("always-zero", counts(&[0, 0, 0]))
        .violated("at-one", &[2], counts(&[0, 1, 2, 0, 1]))
        .indeterminate("handed-over-once", counts(&[0]))
}

/// A poison event that comes again after so many milliseconds each time.
fn again(after_ms: &[u64]) -> Story {
    let start = Story::new().all([poison(2), received(A, 2)]);
    // The record itself takes the last millisecond.
    after_ms.iter().fold(start, |story, ms| story.wait_ms(ms - 1).and(received(A, 2)))
}

fn away(ms: u64) -> Event {
    Event::Gap { gap_us: ms * 1000, ended_us: 0 }
}

fn least_gap() -> Group {
    let spec = r#"{"gaps": {"of": "poison", "between": "all", "at_least_ms": 1000,
                   "at_most_ms": 2000}}"#;
    Group::check("gaps", spec, scope())
        .holds("between-the-two", again(&[1500, 1200]).and(health(5)))
        .graded(Grade::Claimed)
        .holds("just-long-enough", again(&[1000]).and(health(0)))
        .holds("just-short-enough", again(&[2000]).and(health(0)))
        .holds("the-margin-is-as-large-as-the-absence", {
            again(&[1500]).and(away(500)).and(health(500))
        })
        .holds("away-long-after", again(&[1500]).wait_ms(5000).and(away(900)).and(health(900)))
        .holds("a-letter-is-no-handing-over", {
            let letter = [started(REDRIVER, Role::Redriver), received(REDRIVER, 2)];
            again(&[1500]).all(letter).and(health(5))
        })
        .violated("too-early", &[2], again(&[999]).and(health(0)))
        .violated("too-late", &[2], again(&[2001]).and(health(0)))
        .violated("the-second-too-early", &[2], again(&[1500, 300]).and(health(5)))
        .violated("too-early-by-more-than-the-absence", &[2], {
            again(&[500]).and(away(500)).and(health(500))
        })
        .indeterminate("early-by-less-than-the-absence", {
            again(&[501]).and(away(500)).and(health(500))
        })
        .indeterminate("late-by-less-than-the-absence", {
            again(&[2199]).and(away(200)).and(health(200))
        })
        .indeterminate("in-time-by-less-than-the-absence", {
            again(&[1900]).and(away(101)).and(health(101))
        })
        .indeterminate("an-absence-that-was-not-recorded", again(&[1500]).and(health(501)))
        .indeterminate("the-runners-health-is-unknown", again(&[1500]))
        .indeterminate("handed-over-once", again(&[]).and(health(5)))
}

fn first_gap() -> Group {
    let spec = r#"{"gaps": {"of": "poison", "between": "first_two", "at_most_ms": 100}}"#;
    Group::check("gaps.first-two", spec, scope())
        .holds("what-follows-is-not-looked-at", again(&[100, 900]).and(health(0)))
        .violated("late", &[2], again(&[101, 50]).and(health(0)))
        .indeterminate("handed-over-once", again(&[]).and(health(0)))
}

/// Handed over at this place of the source topic.
fn received_at(who: &str, n: u32, place: &str) -> Event {
    let Event::ClaimAt(at) = received(who, n) else { unreachable!() };
    let position = Some(format!("orders/{place}").parse().expect("a position"));
    Event::ClaimAt(At { position, ..at })
}

fn acked(who: &str, n: u32) -> Event {
    call(who, Operation::Ack, n, CallOutcome::Ok, None)
}

/// The same, said of the nth handing-over in its process.
fn nth(event: Event, nth: u32) -> Event {
    match event {
        Event::ClaimAt(at) => Event::ClaimAt(At { delivery: nth, ..at }),
        Event::ClaimResult(result) => {
            Event::ClaimResult(CallResult { delivery: Some(nth), ..result })
        }
        other => other,
    }
}

fn two() -> Story {
    Story::new().all([planned(1), planned(2), confirmed(1, "7:0"), confirmed(2, "7:1")])
}

fn not_reported() -> Group {
    let done = || two().all([received_at(A, 1, "7:0"), acked(A, 1)]);
    let again = || received_at(B, 1, "7:0");
    let spec = r#"{"not_redelivered": {"of": "all", "since": "reported"}}"#;
    Group::check("not_redelivered", spec, scope())
        .holds("never-again", done())
        .graded(Grade::Claimed)
        .holds("never-again-and-counted", done().and(source_counts(1)))
        .graded(Grade::Claimed)
        .holds("came-again-before", two().all([received_at(A, 1, "7:0"), again(), acked(A, 1)]))
        .holds("a-redriven-copy-is-another-message", done().and(received_at(A, 1, "7:9")))
        .holds("a-letter-is-no-handing-over", {
            done().and(started(REDRIVER, Role::Redriver)).and(received_at(REDRIVER, 1, "7:0"))
        })
        .holds("the-redriver-acknowledges-letters", {
            let letter = [started(REDRIVER, Role::Redriver), acked(REDRIVER, 2)];
            done().all(letter).and(received_at(A, 2, "7:1"))
        })
        .holds("the-ack-of-a-copy-is-no-ack-of-the-first", {
            let first = received_at(A, 1, "7:0");
            two().all([first.clone(), received_at(B, 1, "7:9"), acked(B, 1), first])
        })
        .holds("the-ack-of-the-first-is-no-ack-of-a-copy", {
            let copy = received_at(B, 1, "7:9");
            two().all([received_at(A, 1, "7:0"), copy.clone(), acked(A, 1), copy])
        })
        .holds("the-ack-of-an-earlier-handing-over-in-the-same-process", {
            let copy = nth(received_at(A, 1, "7:9"), 2);
            two().all([received_at(A, 1, "7:0"), copy.clone(), nth(acked(A, 1), 1), copy])
        })
        .violated("again-after-the-ack", &[1], done().and(again()))
        .graded(Grade::Claimed)
        .violated("another-message-of-the-same-batch-entry", &[1], {
            let first = [received_at(A, 1, "7:0:0"), acked(A, 1)];
            two().all(first).and(received_at(B, 1, "7:0:1"))
        })
        .violated("again-without-a-position", &[1], done().and(received(B, 1)))
        .violated("acknowledged-twice", &[1], done().and(again()).and(acked(B, 1)))
        .violated("acknowledged-twice-before", &[1], done().and(acked(A, 1)).and(again()))
        .violated("the-copy-again", &[1], {
            let copy = received_at(B, 1, "7:9");
            done().all([copy.clone(), acked(B, 1), copy])
        })
        .indeterminate("perhaps-another-message", {
            done().and(confirmed(1, "7:9")).and(received(B, 1))
        })
        .indeterminate("acknowledged-without-a-position", {
            let story = two().and(confirmed(1, "7:9")).all([received(A, 1), acked(A, 1)]);
            story.and(again())
        })
        .indeterminate("the-ack-failed", {
            let failed = call(A, Operation::Ack, 1, CallOutcome::Error, None);
            two().all([received_at(A, 1, "7:0"), failed, again()])
        })
        .indeterminate("given-back", {
            let nack = call(A, Operation::Nack, 1, CallOutcome::Ok, None);
            two().all([received_at(A, 1, "7:0"), nack, again()])
        })
}

fn not_visible() -> Group {
    let look = |acked, place: &str| {
        let Event::Probe(probe) = probe("kill", ProbeWhen::Before, 1, 1, acked) else {
            unreachable!()
        };
        let position = Some(format!("orders/{place}").parse().expect("a position"));
        Event::Probe(Probe { position, ..probe })
    };
    let struck = || {
        let story = two().and(received_at(A, 1, "7:0"));
        story.and(triggered("kill", A, Point::AckVisible, 1))
    };
    let shown = || struck().and(look(true, "7:0"));
    let during = |next| stands_at(TopicRole::Source, SHOP, ReadWhy::During, mark((7, next)));
    let spec = r#"{"not_redelivered": {"of": "struck", "since": "visible"}}"#;
    Group::check("not_redelivered.visible", spec, scope())
        .holds("never-again", shown())
        .graded(Grade::Claimed)
        .holds("never-again-and-counted", shown().and(source_counts(1)))
        .graded(Grade::Broker)
        .holds("counted-more-than-handed-over", shown().and(source_counts(2)))
        .graded(Grade::Claimed)
        .holds("in-a-batch", struck().and(look(true, "7:0:3")))
        .holds("by-its-position", struck().and(during(0)))
        .holds("came-again-before", {
            struck().and(received_at(B, 1, "7:0")).and(look(true, "7:0"))
        })
        .violated("again", &[1], shown().and(received_at(B, 1, "7:0")))
        .violated("again-and-counted", &[1], {
            shown().and(received_at(B, 1, "7:0")).and(source_counts(2))
        })
        .graded(Grade::Broker)
        .violated("again-behind-the-position", &[1], {
            struck().and(during(0)).and(received_at(B, 1, "7:0"))
        })
        .indeterminate("the-position-is-before-it", {
            struck().and(during(-1)).and(received_at(B, 1, "7:0"))
        })
        .indeterminate("not-acknowledged-when-the-runner-looked", {
            struck().and(look(false, "7:0")).and(received_at(B, 1, "7:0"))
        })
        .indeterminate("only-the-final-read-shows-it", {
            struck().and(received_at(B, 1, "7:0")).and(stands(mark((7, 0))))
        })
        .indeterminate("the-position-of-another-destination", {
            let other = stands_at(TopicRole::Source, "other", ReadWhy::During, mark((7, 0)));
            struck().and(other).and(received_at(B, 1, "7:0"))
        })
        .indeterminate("only-the-worker-says-so", {
            struck().and(acked(A, 1)).and(received_at(B, 1, "7:0"))
        })
        .indeterminate("for-another-destination", {
            let other = |event: &mut Event| {
                if let Event::Probe(probe) = event {
                    probe.destination = String::from("other");
                }
            };
            shown().and(received_at(B, 1, "7:0")).with(other)
        })
        .indeterminate("nothing-struck", two().and(look(true, "7:0")))
}
