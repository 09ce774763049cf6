//! Golden histories of `effects`, `deliveries` and `drained`: what is counted by event.
//! Nothing comes in; groups of cases come out.
//! It must never hold a story longer than a screen.

use ackproof::evidence::event::{Event, LogEntry, ProbeWhen, ReadWhy, SettleStep};
use ackproof::names::{CallOutcome, Grade, Point, Role, TopicRole};

use super::{Group, scope};
use crate::story::*;

pub fn groups() -> Vec<Group> {
    vec![effects(), effects_at_most(), deliveries(), deliveries_exactly(), fan_out(), drained()]
}

const A: &str = "consumer/1";
const B: &str = "consumer/2";

/// Two events, both confirmed.
fn two() -> Story {
    Story::new().all([planned(1), planned(2), confirmed(1, "0@0"), confirmed(2, "0@1")])
}

fn effects() -> Group {
    let one_each = two().all([effect(1, A, 1), effect(2, A, 2)]);
    let unknown = Story::new()
        .all([planned(1), planned(2), confirmed(1, "0@0")])
        .and(publish(2, CallOutcome::Unknown, None))
        .all([effect(1, A, 1), reads_done()]);
    Group::check("effects", r#"{"effects": {"of": "all", "count": {"exactly": 1}}}"#, scope())
        .holds("one-each", one_each.clone().and(reads_done()))
        .graded(Grade::Ledger)
        .holds("corrected-in-its-own-transaction", {
            one_each.clone().and(change(3, "UPDATE", 2, A, 2)).and(reads_done())
        })
        .holds("unknown-publication-without-effect", unknown.clone())
        .violated("second-by-another-process", &[1], {
            one_each.clone().and(effect(3, B, 1)).and(reads_done())
        })
        .violated("overwritten-by-another-transaction", &[2], {
            one_each.clone().and(change(3, "UPDATE", 9, B, 2)).and(reads_done())
        })
        .violated("taken-back", &[2], {
            one_each.clone().and(change(3, "DELETE", 9, B, 2)).and(reads_done())
        })
        .violated("none", &[2], two().and(effect(1, A, 1)).and(reads_done()))
        .violated("found-in-the-log-without-effect", &[2], {
            let found = entry(TopicRole::Source, ReadWhy::Final, 2, "0@1");
            unknown.clone().and(found)
        })
        .violated("unknown-publication-doubled", &[2], {
            unknown.clone().all([effect(2, A, 2), effect(3, B, 2)])
        })
        .violated("nobody-planned-it", &[7], {
            one_each.clone().and(effect(3, A, 7)).and(reads_done())
        })
        .violated("worker-says-so-and-the-trail-does-not", &[1, 2], {
            let claims = [at(A, Point::EffectCommitted, 1), at(A, Point::EffectCommitted, 2)];
            two().all(claims).and(reads_done())
        })
        .indeterminate("trail-not-read", one_each.clone())
        .indeterminate("trail-read-in-vain", {
            one_each.clone().and(settle_as(SettleStep::FinalReads, false))
        })
        .indeterminate("only-another-read", {
            let during = |event: &mut Event| {
                if let Event::AuditRow(row) = event {
                    row.why = ReadWhy::During;
                }
            };
            one_each.with(during)
        })
        .indeterminate("nothing-published", {
            Story::new().and(planned(1)).and(publish(1, CallOutcome::Error, None)).and(reads_done())
        })
}

fn effects_at_most() -> Group {
    let struck = two().and(triggered("kill", A, Point::BeforeEffect, 2));
    let spec = r#"{"effects": {"of": "struck", "count": {"at_most": 0}}}"#;
    Group::check("effects.struck-at-most", spec, scope())
        .holds("none-of-the-struck", struck.clone().and(effect(1, A, 1)).and(reads_done()))
        .violated("one-of-the-struck", &[2], struck.clone().and(effect(1, A, 2)).and(reads_done()))
        .violated("made-and-taken-back", &[2], {
            let rows = [effect(1, A, 2), change(2, "DELETE", 2, A, 2)];
            struck.clone().all(rows).and(reads_done())
        })
        .indeterminate("nothing-struck", two().and(reads_done()))
}

fn deliveries() -> Group {
    let spec = r#"{"deliveries": {"of": "struck", "count": {"at_least": 2}}}"#;
    let held = two().all([received(A, 1), triggered("kill", A, Point::BeforeAck, 1)]);
    let open = held.clone().and(probe("kill", ProbeWhen::Before, 1, 1, false));
    let dead =
        open.clone().and(killed("kill", A)).and(probe("kill", ProbeWhen::After, 1, 1, false));
    let again = dead.clone().and(received(B, 1));
    let redriver = [started(B, Role::Redriver), received(B, 1)];
    Group::check("deliveries", spec, scope())
        .holds("dead-unacked-and-acknowledged-after-all", again.clone().and(stands(committed(1))))
        .graded(Grade::Broker)
        .holds("dead-unacked-and-received-by-the-next", again.clone())
        .graded(Grade::Claimed)
        .holds("held-unacked-and-received-by-another", {
            open.clone().and(received(B, 1)).and(stands(committed(1)))
        })
        .graded(Grade::Claimed)
        .holds("the-same-fault-struck-another-event-before", {
            let other = [received(A, 2), triggered("kill", A, Point::BeforeAck, 2)];
            let this = [received(B, 1), triggered("kill", B, Point::BeforeAck, 1)];
            let look = probe("kill", ProbeWhen::Before, 1, 1, false);
            let story = two().all(other).all(this).and(look).and(received(A, 1));
            story.all([effect(1, A, 2), effect(2, B, 2)])
        })
        .graded(Grade::Claimed)
        .holds("a-wait-in-the-database", {
            let (waiter, blocker) = (process(B), process(A));
            let blocked = Event::Blocked { event: id(1), waiter, blocker };
            held.clone().and(received(B, 1)).and(blocked)
        })
        .graded(Grade::Ledger)
        .holds("effects-by-two-processes", held.clone().all([effect(1, A, 1), effect(2, B, 1)]))
        .graded(Grade::Ledger)
        .holds("the-broker-counted-them", {
            held.clone().and(received(B, 1)).and(source_counts(2))
        })
        .graded(Grade::Broker)
        .violated("once", &[1], open.clone())
        .graded(Grade::Claimed)
        .violated("acknowledged-before-it-died", &[1], {
            let after = probe("kill", ProbeWhen::After, 1, 1, true);
            open.clone().and(killed("kill", A)).and(after).and(stands(committed(1)))
        })
        .graded(Grade::Claimed)
        .violated("the-redriver-received-a-letter", &[1], open.clone().all(redriver))
        .indeterminate("claims-alone", held.clone().and(received(B, 1)))
        .indeterminate("twice-in-one-process", open.clone().and(received(A, 1)))
        .indeterminate("received-before-anybody-looked", {
            held.clone().and(received(B, 1)).and(probe("kill", ProbeWhen::Before, 1, 1, false))
        })
        .indeterminate("acknowledged-when-the-runner-looked", {
            held.clone().and(probe("kill", ProbeWhen::Before, 1, 1, true)).and(received(B, 1))
        })
        .indeterminate("nobody-looked-before-the-death", {
            let after = probe("kill", ProbeWhen::After, 1, 1, false);
            held.clone().and(killed("kill", A)).and(after).and(received(B, 1))
        })
        .indeterminate("the-broker-counted-another-number", {
            held.clone().and(received(B, 1)).and(source_counts(3))
        })
        .indeterminate("nothing-struck", two().and(received(A, 1)))
}

fn deliveries_exactly() -> Group {
    let spec = r#"{"deliveries": {"of": "all", "count": {"exactly": 1}}}"#;
    let once = two().all([received(A, 1), received(A, 2)]);
    Group::check("deliveries.exactly", spec, scope())
        .holds("once-each", once.clone())
        .graded(Grade::Claimed)
        .holds("once-each-and-counted", once.clone().and(source_counts(2)))
        .graded(Grade::Broker)
        .holds("letters-are-no-handings-over", {
            once.clone().and(started("redriver/1", Role::Redriver)).and(received("redriver/1", 2))
        })
        .holds("one-in-chunks", {
            let chunks = [(1, "7:0"), (1, "7:1"), (1, "7:2"), (2, "7:3")];
            let read = log(TopicRole::Source, &chunks);
            once.clone().all(read).and(stands(mark((7, 3))))
        })
        .violated("twice", &[2], once.clone().and(received(B, 2)))
        .violated("a-redelivery-that-nobody-claimed", &[1], {
            let died = once.clone().and(triggered("kill", A, Point::BeforeAck, 1));
            let died = died.and(probe("kill", ProbeWhen::Before, 1, 1, false));
            let died = died.and(killed("kill", A));
            died.and(probe("kill", ProbeWhen::After, 1, 1, false)).and(stands(committed(2)))
        })
        .violated("never", &[2], two().and(received(A, 1)))
        .indeterminate("nothing-published", Story::new().and(planned(1)))
}

fn fan_out() -> Group {
    let mut scope = scope();
    scope.destinations.insert(String::from("warehouse"));
    let spec = r#"{"deliveries": {"of": "all", "count": {"at_most": 9}}}"#;
    let mut alone = scope.clone();
    alone.destinations.remove("warehouse");
    let open = two().all([received(A, 1), received(A, 2)]);
    Group::check("deliveries.at-most", spec, alone)
        .holds("below", open.clone())
        .violated("above", &[2], open.clone().all((0..9).map(|_| received(A, 2))))
        .indeterminate("nothing-planned", Story::new().and(received(A, 1)))
}

fn drained() -> Group {
    let read = |story: Story| story.all(log(TopicRole::Source, &[(1, "0@0"), (2, "0@1")]));
    let done = |story: Story| story.and(stands(committed(2))).and(reads_done());
    let nameless = |story: Story| {
        story.with(|event| {
            if let Event::LogEntry(LogEntry { event, position, .. }) = event
                && position.to_string() == "orders/0@1"
            {
                *event = None;
            }
        })
    };
    Group::check("drained", r#"{"drained": {}}"#, scope())
        .holds("all-acknowledged", done(read(two())))
        .graded(Grade::Broker)
        .holds("acknowledged-and-trimmed", {
            let story = Story::new().all([planned(1), confirmed(1, "7:0:3")]);
            let story = story.all(log(TopicRole::Source, &[]));
            story.and(stands(mark((7, 0)))).and(reads_done())
        })
        .violated("one-left", &[2], read(two()).and(stands(committed(1))).and(reads_done()))
        .violated("confirmed-and-left-though-the-log-is-empty", &[1, 2], {
            two().all(log(TopicRole::Source, &[])).and(stands(committed(0))).and(reads_done())
        })
        .violated("redriven-copy-left", &[1], {
            let copies = [(1, "0@0"), (2, "0@1"), (1, "0@2")];
            done(two().all(log(TopicRole::Source, &copies)))
        })
        .case_nameless(nameless(
            read(two().without(
                |event| matches!(event, Event::ClaimResult(result) if result.event == id(2)),
            ))
            .and(stands(committed(1)))
            .and(reads_done()),
        ))
        .indeterminate("log-not-read-to-its-end", {
            done(two().and(entry(TopicRole::Source, ReadWhy::Final, 1, "0@0")))
        })
        .indeterminate("log-read-at-another-time", {
            let during = read_at(ReadWhy::During);
            done(two().all(during))
        })
        .indeterminate("position-not-read", read(two()).and(reads_done()))
        .indeterminate("final-reads-not-done", read(two()).and(stands(committed(2))))
        .indeterminate("confirmed-nowhere", {
            let story = Story::new().and(planned(1)).and(publish(1, CallOutcome::Ok, None));
            done(story.all(log(TopicRole::Source, &[])))
        })
}

fn read_at(why: ReadWhy) -> Vec<Event> {
    read(TopicRole::Source, why, &[(1, "0@0"), (2, "0@1")])
}

impl Group {
    /// A message without an event id is named by its position, so no ordinal can be expected.
    fn case_nameless(mut self, story: Story) -> Self {
        self = self.violated("nameless-message-left", &[], story);
        self.cases.last_mut().expect("a case").events = None;
        self
    }
}
