//! Golden histories of `messages`, `confirmed` and `order`: what is in the topic, and its order.
//! Nothing comes in; groups of cases come out.
//! It must never hold a story longer than a screen.

use ackproof::checks::Scope;
use ackproof::evidence::cursor::Cursor;
use ackproof::evidence::event::{Event, FaultStage, LogEntry, ReadWhy, TopicCounts};
use ackproof::names::{CallOutcome, Grade, Operation, Point, Role, TopicRole};

use super::{Group, scope};
use crate::story::*;

pub fn groups() -> Vec<Group> {
    let mut groups = vec![messages(), letters(), confirmed_once(), confirmed_never()];
    groups.extend([by_effect(), by_delivery()]);
    groups
}

const A: &str = "consumer/1";
const B: &str = "consumer/2";
const LETTERS: TopicRole = TopicRole::DeadLetter;

fn source(messages: &[(u32, &str)]) -> Vec<Event> {
    log(TopicRole::Source, messages)
}

/// Two events on a broker that keeps what was acknowledged.
fn kafka() -> Story {
    Story::new().all([planned(1), planned(2), confirmed(1, "0@0"), confirmed(2, "0@1")])
}

/// Two events on a broker that drops it.
fn pulsar() -> Story {
    Story::new().all([planned(1), planned(2), confirmed(1, "7:0"), confirmed(2, "7:1")])
}

fn came_in(messages: u64) -> Event {
    let Event::TopicCounts(counts) = source_counts(0) else { unreachable!() };
    let messages_in = Some(messages);
    Event::TopicCounts(TopicCounts { messages_in, messages_out: None, ..counts })
}

fn retained(retained: u64, messages: u64) -> Event {
    let Event::TopicCounts(counts) = came_in(messages) else { unreachable!() };
    Event::TopicCounts(TopicCounts { retained: Some(retained), ..counts })
}

fn nameless(place: &str) -> Event {
    let Event::LogEntry(entry) = entry(TopicRole::Source, ReadWhy::Final, 9, place) else {
        unreachable!()
    };
    Event::LogEntry(LogEntry { event: None, ..entry })
}

fn messages() -> Group {
    let spec = r#"{"messages": {"of": "all", "topic": "source", "count": {"exactly": 1}}}"#;
    let both = || kafka().all(source(&[(1, "0@0"), (2, "0@1")]));
    let trimmed = |number| pulsar().all(source(&[])).and(stands(mark((7, 1)))).and(came_in(number));
    let read = |number| pulsar().all(source(&[(1, "7:0"), (2, "7:1")])).and(came_in(number));
    let group = Group::check("messages", spec, scope())
        .holds("one-each-where-logs-keep", both())
        .graded(Grade::Broker)
        .holds("all-are-retained", both().and(retained(2, 2)))
        .holds("all-are-retained-and-loaded-anew", {
            both().and(administered("unload")).and(retained(2, 2))
        })
        .holds("deleted-and-counted", {
            kafka().all(source(&[])).and(retained(0, 2)).and(stands(committed(2)))
        })
        .indeterminate("deleted-and-no-position-was-read", {
            kafka().all(source(&[])).and(retained(0, 2))
        })
        .holds("the-same-in-two-reads", both().all(during(&[(1, "0@0"), (2, "0@1")])))
        .holds("trimmed-and-counted", trimmed(2))
        .graded(Grade::Broker)
        .holds("read-and-counted", read(2))
        .holds("one-read-and-one-trimmed", {
            pulsar().all(source(&[(2, "7:1")])).and(stands(mark((7, 1)))).and(came_in(2))
        })
        .holds("two-of-one-batch", {
            let story = Story::new().all([planned(1), planned(2), confirmed(1, "7:0:0")]);
            story.all(source(&[(1, "7:0:0"), (2, "7:0:1")])).and(came_in(2))
        })
        .holds("faults-of-workers-load-no-topic-anew", {
            let kill = [triggered("kill", A, Point::BeforeAck, 1), killed("kill", A)];
            let (process, proof) = (process(A), String::from("T (stopped)"));
            let frozen = FaultStage::Frozen { process, proof, stopped: true };
            let freeze = [fault("freeze", frozen), healed("freeze")];
            read(2).all(kill).and(held("stall", A, 5)).all(freeze)
        })
        .holds("nobody-subscribes-any-more", {
            pulsar().all(source(&[])).and(stands(Cursor::Absent)).and(came_in(2))
        })
        .holds("unknown-and-not-there", {
            let story = Story::new().all([planned(1), planned(2), confirmed(1, "0@0")]);
            story.and(publish(2, CallOutcome::Unknown, None)).all(source(&[(1, "0@0")]))
        });
    broken_messages(group)
        .indeterminate("perhaps-trimmed", pulsar().all(source(&[])).and(stands(mark((7, 1)))))
        .indeterminate("counted-more-than-is-known", read(3))
        .indeterminate("counted-fewer-than-were-read", read(1))
        .indeterminate("loaded-anew-by-a-fault", trimmed(2).and(administered("unload")))
        .indeterminate("something-was-created-meanwhile", trimmed(2).and(healed("no-topic")))
        .indeterminate("confirmed-though-the-subscription-would-have-kept-it", {
            pulsar().all(source(&[(1, "7:0")])).and(stands(mark((7, 0)))).and(came_in(2))
        })
        .indeterminate("a-message-without-an-id", both().and(nameless("0@2")))
        .indeterminate("one-without-an-id-and-all-are-counted", read(3).and(nameless("7:2")))
        .indeterminate("one-without-an-id-and-more-came-in", read(5).and(nameless("7:2")))
        .indeterminate("an-unknown-result-is-no-trimmed-message", {
            let story = Story::new().all([planned(1), planned(2), confirmed(1, "7:0")]);
            let unknown = publish(2, CallOutcome::Unknown, Some("orders/7:1"));
            story.and(unknown).all(source(&[(1, "7:0")])).all([came_in(2), effect(1, A, 2)])
        })
        .indeterminate("deleted-where-logs-keep", kafka().all(source(&[])).and(retained(0, 3)))
        .indeterminate("not-read-to-its-end", {
            both().without(|event| matches!(event, Event::LogRead { .. }))
        })
        .indeterminate("nothing-published", {
            let story = Story::new().and(planned(1)).and(publish(1, CallOutcome::Unknown, None));
            story.all(source(&[]))
        })
}

fn during(messages: &[(u32, &str)]) -> Vec<Event> {
    read(TopicRole::Source, ReadWhy::During, messages)
}

fn broken_messages(group: Group) -> Group {
    group
        .violated("twice-in-the-log", &[2], {
            kafka().all(source(&[(1, "0@0"), (2, "0@1"), (2, "0@2")]))
        })
        .violated("twice-and-trimmed-between-two-reads", &[1], {
            let story = pulsar().all(during(&[(1, "7:0")])).all(source(&[(1, "7:3"), (2, "7:1")]));
            story.and(came_in(3))
        })
        .violated("twice-is-twice-whatever-was-trimmed", &[1], {
            pulsar().all(source(&[(1, "7:0"), (1, "7:2"), (2, "7:1")]))
        })
        .violated("confirmed-and-not-there-where-logs-keep", &[2], {
            kafka().all(source(&[(1, "0@0")]))
        })
        .violated("no-copy-left-by-the-count", &[2], {
            let story = Story::new().all([planned(1), planned(2), confirmed(1, "7:0")]);
            story.all(source(&[(1, "7:0")])).all([came_in(1), effect(1, A, 2)])
        })
        .violated("nobody-planned-it", &[7], {
            kafka().all(source(&[(1, "0@0"), (2, "0@1"), (7, "0@2")]))
        })
}

fn redriven_scope() -> Scope {
    Scope { redriver: Some(String::from("redriver")), ..scope() }
}

fn letters() -> Group {
    let spec = r#"{"messages": {"of": "poison", "topic": "dead_letter", "count": {"exactly": 1}}}"#;
    let start = || Story::new().all([planned(1), poison(2), confirmed(1, "7:0")]);
    let letter = call(A, Operation::DeadLetter, 2, CallOutcome::Ok, Some("letters/8:0"));
    let start = || start().and(confirmed(2, "7:1")).and(letter.clone());
    let count = |number| letter_counts(ReadWhy::Final, number, &["redriver"]);
    let passed = |next| stands_at(LETTERS, "redriver", ReadWhy::Final, mark((8, next)));
    Group::check("messages.letters", spec, redriven_scope())
        .holds("one", start().all(log(LETTERS, &[(2, "8:0")])).and(count(1)))
        .holds("trimmed-behind-the-redriver", {
            start().all(log(LETTERS, &[])).and(passed(0)).and(count(1))
        })
        .graded(Grade::Broker)
        .violated("two", &[2], {
            let two = log(LETTERS, &[(2, "8:0"), (2, "8:1")]);
            start().all(two).and(count(2))
        })
        .violated("counted-and-another-event-is-there", &[2], {
            let other = log(LETTERS, &[(1, "8:0")]);
            start().without(|e| *e == letter).all(other).and(count(1))
        })
        .indeterminate("trimmed-and-not-counted", start().all(log(LETTERS, &[])).and(passed(0)))
        .indeterminate("claimed-and-not-passed-by-the-redriver", {
            start().all(log(LETTERS, &[])).and(passed(-1)).and(count(1))
        })
        .indeterminate("only-the-source-was-read", start().all(source(&[(2, "7:1")])))
        .indeterminate("no-poison", {
            Story::new().all([planned(1), confirmed(1, "7:0")]).all(log(LETTERS, &[]))
        })
}

fn confirmed_once() -> Group {
    let spec = r#"{"confirmed": {"of": "all", "count": {"exactly": 1}}}"#;
    let one = || Story::new().all([planned(1), planned(2), confirmed(1, "0@0")]);
    let read_back = source(&[(1, "0@0"), (2, "0@1")]);
    Group::check("confirmed", spec, scope())
        .holds("each-and-read-back", kafka().all(read_back.clone()))
        .graded(Grade::Broker)
        .holds("each-by-the-producers-word", kafka())
        .graded(Grade::Claimed)
        .holds("one-of-them-read-back", kafka().all(source(&[(1, "0@0")])))
        .graded(Grade::Claimed)
        .holds("another-event-is-at-that-place", kafka().all(source(&[(1, "0@0"), (1, "0@1")])))
        .graded(Grade::Claimed)
        .holds("the-same-place-reported-twice", {
            kafka().and(confirmed(2, "0@1")).all(read_back.clone())
        })
        .graded(Grade::Broker)
        .holds("without-a-place", {
            one().and(publish(2, CallOutcome::Ok, None)).all(read_back.clone())
        })
        .graded(Grade::Claimed)
        .violated("one-refused", &[2], {
            one().and(publish(2, CallOutcome::Error, None)).all(read_back.clone())
        })
        .graded(Grade::Claimed)
        .violated("one-never-reported", &[2], one())
        .violated("at-two-places", &[2], kafka().and(confirmed(2, "0@2")))
        .violated("twice-without-a-place", &[2], {
            let again = || publish(2, CallOutcome::Ok, None);
            one().and(again()).and(again())
        })
        .violated("refused-beside-an-unknown-one", &[2], {
            let story = Story::new().all([planned(1), planned(2)]);
            let unknown = publish(1, CallOutcome::Unknown, None);
            story.and(unknown).and(publish(2, CallOutcome::Error, None))
        })
        .indeterminate("unknown", one().and(publish(2, CallOutcome::Unknown, None)))
        .indeterminate("confirmed-and-unknown", {
            kafka().and(publish(2, CallOutcome::Unknown, None))
        })
        .indeterminate("other-calls-only", {
            let ack = call(A, Operation::Ack, 1, CallOutcome::Ok, None);
            Story::new().all([planned(1), ack])
        })
}

fn confirmed_never() -> Group {
    let spec = r#"{"confirmed": {"of": "struck", "count": {"at_most": 0}}}"#;
    let died = || {
        let story = Story::new().all([planned(1), planned(2), confirmed(1, "0@0")]);
        story.and(triggered("kill", "producer/1", Point::Received, 2))
    };
    Group::check("confirmed.never", spec, scope())
        .holds("no-report-of-it", died())
        .graded(Grade::Claimed)
        .holds("refused", died().and(publish(2, CallOutcome::Error, None)))
        .violated("counted-as-published", &[2], died().and(publish(2, CallOutcome::Ok, None)))
        .indeterminate("unknown", died().and(publish(2, CallOutcome::Unknown, None)))
        .indeterminate("nothing-struck", kafka())
}

/// Two events of each of two keys: 1 and 3, 2 and 4.
fn four() -> Story {
    Story::new().all([planned(1), planned(2), planned(3), planned(4)])
}

fn by_effect() -> Group {
    let effects = |order: &[u32]| {
        let rows = order.iter().enumerate().map(|(seq, n)| effect(seq as i64, A, *n));
        four().all(rows).and(reads_done())
    };
    Group::check("order", r#"{"order": {"by": "effect"}}"#, scope())
        .holds("as-published", effects(&[1, 2, 3, 4]))
        .graded(Grade::Ledger)
        .holds("keys-do-not-wait-for-each-other", effects(&[2, 4, 1, 3]))
        .holds("one-left-out", effects(&[1, 4, 3]))
        .holds("recorded-in-another-order-than-made", {
            let rows = [effect(2, A, 3), effect(1, A, 1)];
            four().all(rows).and(reads_done())
        })
        .holds("doubled-before-the-next", effects(&[1, 1, 3]))
        .holds("corrected-in-its-own-transaction", {
            let rows = [effect(1, A, 1), effect(2, A, 3), change(3, "UPDATE", 1, A, 1)];
            four().all(rows).and(reads_done())
        })
        .holds("another-destination-is-another-story", {
            let elsewhere = |event: Event| {
                let Event::AuditRow(mut row) = event else { unreachable!() };
                row.destination = String::from("search");
                Event::AuditRow(row)
            };
            let rows = [effect(1, A, 1), effect(2, A, 3), elsewhere(effect(3, A, 1))];
            four().all(rows).and(reads_done())
        })
        .violated("the-older-one-last", &[1], effects(&[3, 1, 2, 4]))
        .violated("all-older-ones", &[1, 3], {
            four()
                .and(planned(5))
                .all([effect(1, A, 5), effect(2, A, 1), effect(3, A, 3)])
                .and(reads_done())
        })
        .violated("last-write-wins", &[1], {
            let rows = [effect(1, A, 1), effect(2, A, 3), change(3, "UPDATE", 9, B, 1)];
            four().all(rows).and(reads_done())
        })
        .violated("doubled-after-the-next", &[2], effects(&[2, 4, 2]))
        .indeterminate("one-event-of-each-key", effects(&[1, 4]))
        .indeterminate("one-event-twice", effects(&[1, 1]))
        .indeterminate("nobody-planned-them", effects(&[9, 7]))
        .indeterminate("trail-not-read", four().all([effect(1, A, 3), effect(2, A, 1)]))
        .indeterminate("claims-are-no-effects", {
            four().all([received(A, 3), received(A, 1)]).and(reads_done())
        })
}

fn by_delivery() -> Group {
    let handed = |order: &[u32]| four().all(order.iter().map(|n| received(A, *n)));
    Group::check("order.delivery", r#"{"order": {"by": "delivery"}}"#, scope())
        .holds("as-published", handed(&[1, 2, 3, 4]))
        .graded(Grade::Claimed)
        .holds("redelivered-later", handed(&[1, 3, 1]))
        .holds("letters-are-no-handings-over", {
            let redriver = "redriver/1";
            let letter = [started(redriver, Role::Redriver), received(redriver, 3)];
            four().all(letter).all([received(A, 1), received(A, 3)])
        })
        .violated("the-older-one-last", &[2], handed(&[4, 2, 1]))
        .violated("by-two-processes", &[1], four().all([received(B, 3), received(A, 1)]))
        .indeterminate("one-event-of-each-key", handed(&[2, 1]))
        .indeterminate("effects-are-no-handings-over", {
            four().all([effect(1, A, 3), effect(2, A, 1)]).and(reads_done())
        })
}
