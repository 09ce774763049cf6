//! Golden histories of `conserved`: what became of an event.
//! Nothing comes in; groups of cases come out.
//! It must never call something lost here that a position would bring back.

use ackproof::evidence::cursor::Cursor;
use ackproof::evidence::event::{Event, ReadWhy};
use ackproof::names::{CallOutcome, Operation, TopicRole};

use super::{Group, scope};
use crate::story::*;

pub fn groups() -> Vec<Group> {
    vec![drained(), open(), redriven_letters(), two_destinations()]
}

const A: &str = "consumer/1";

/// Kafka: one event, confirmed and in the log.
fn one() -> Story {
    Story::new()
        .all([planned(1), confirmed(1, "0@0")])
        .all(log(TopicRole::Source, &[(1, "0@0")]))
        .and(reads_done())
}

fn acked(story: Story) -> Story {
    story.and(stands(committed(1)))
}

fn left(story: Story) -> Story {
    story.and(stands(committed(0)))
}

/// Pulsar: one event, confirmed, acknowledged and trimmed.
fn trimmed() -> Story {
    Story::new()
        .all([planned(1), confirmed(1, "7:0")])
        .all(log(TopicRole::Source, &[]))
        .and(stands(mark((7, 0))))
        .and(reads_done())
}

fn letter(story: Story, place: &str) -> Story {
    story.all(log(TopicRole::DeadLetter, &[(1, place)]))
}

fn quarantined(story: Story) -> Story {
    let (destination, fingerprint) = (SHOP.to_owned(), String::from("f"));
    story.and(Event::QuarantineRow { event: id(1), destination, fingerprint })
}

fn drained() -> Group {
    let nowhere = |story: Story| story.all(log(TopicRole::DeadLetter, &[]));
    let group = Group::check("conserved", r#"{"conserved": {}}"#, scope())
        .holds("effect", acked(one()).and(effect(1, A, 1)))
        .holds("dead-letter-that-nobody-has-read", letter(acked(one()), "0@0"))
        .holds("dead-letter-with-a-subscription", {
            letter(trimmed(), "8:0").and(letter_counts(ReadWhy::Final, 1, &["somebody"]))
        })
        .holds("quarantined", quarantined(acked(one())))
        .holds("first-effect-and-a-conflicting-copy", {
            quarantined(acked(one()).and(effect(1, A, 1)))
        })
        .holds("unknown-publication-may-exist", {
            let story = acked(one()).and(effect(1, A, 1)).and(planned(2));
            story.and(publish(2, CallOutcome::Unknown, None))
        })
        .holds("unknown-publication-seen-once", {
            let unconfirmed = |event: &Event| matches!(event, Event::ClaimResult(_));
            acked(one()).without(unconfirmed).and(effect(1, A, 1))
        })
        .violated("acknowledged-without-effect", &[1], acked(one()))
        .violated("acknowledged-and-trimmed-without-effect", &[1], trimmed())
        .violated("neither-on-the-dead-letter-topic", &[1], nowhere(acked(one())))
        .violated("letter-that-nobody-subscribes-to", &[1], {
            letter(trimmed(), "8:0").and(letter_counts(ReadWhy::Final, 1, &[]))
        })
        .violated("doubled", &[1], acked(one()).all([effect(1, A, 1), effect(2, A, 1)]))
        .violated("effect-taken-back", &[1], {
            acked(one()).all([effect(1, A, 1), change(2, "DELETE", 2, A, 1)])
        })
        .violated("updated-and-never-inserted", &[1], {
            acked(one()).and(change(1, "UPDATE", 1, A, 1))
        })
        .violated("effect-and-backlog", &[1], left(one()).and(effect(1, A, 1)))
        .violated("effect-and-dead-letter", &[1], letter(acked(one()).and(effect(1, A, 1)), "0@0"))
        .violated("found-and-lost", &[1], {
            acked(one()).without(|event| matches!(event, Event::ClaimResult(_)))
        })
        .violated("unacknowledged-and-gone-from-the-log", &[1], {
            let story = Story::new().all([planned(1), confirmed(1, "7:0")]);
            let story = story.all(log(TopicRole::Source, &[])).and(reads_done());
            story.and(stands(mark((6, 0))))
        })
        .violated("subscription-is-gone", &[1], {
            let story = Story::new().all([planned(1), confirmed(1, "7:0")]).and(reads_done());
            story.all(log(TopicRole::Source, &[(1, "7:0")])).and(stands(Cursor::Absent))
        });
    undecided(group)
}

fn undecided(group: Group) -> Group {
    group
        .indeterminate("dead-letter-topic-not-read", {
            let call = call(A, Operation::DeadLetter, 1, CallOutcome::Ok, None);
            acked(one()).and(call)
        })
        .indeterminate("dead-letter-topic-read-in-part", {
            acked(one()).and(letter_counts(ReadWhy::Final, 1, &[]))
        })
        .indeterminate("dead-letter-seen-and-the-topic-not-read-to-its-end", {
            acked(one()).and(entry(TopicRole::DeadLetter, ReadWhy::Final, 1, "0@0"))
        })
        .indeterminate("dead-letter-topic-read-at-another-time", {
            acked(one()).all(read(TopicRole::DeadLetter, ReadWhy::During, &[]))
        })
        .indeterminate("somebody-stands-on-the-dead-letter-topic", {
            let cursor = committed(0);
            acked(one()).and(stands_at(TopicRole::DeadLetter, "it", ReadWhy::Final, cursor))
        })
        .indeterminate("final-reads-not-done", {
            acked(one()).without(|event| matches!(event, Event::Settle { .. }))
        })
        .indeterminate("source-not-read-to-its-end", {
            acked(one()).without(|event| matches!(event, Event::LogRead { .. }))
        })
        .indeterminate("position-not-read", one().and(effect(1, A, 1)))
        .indeterminate("nothing-but-unknown", {
            let story = Story::new().and(planned(1)).and(publish(1, CallOutcome::Unknown, None));
            acked(story.all(log(TopicRole::Source, &[])).and(reads_done()))
        })
}

fn open() -> Group {
    let mut scope = scope();
    scope.drained = false;
    Group::check("conserved.not-drained", r#"{"conserved": {}}"#, scope)
        .holds("backlog", left(one()))
        .holds("kafka-group-without-an-offset", one().and(stands(Cursor::Absent)))
        .holds("effect-with-its-ack-outstanding", left(one()).and(effect(1, A, 1)))
        .holds("letter-with-the-ack-of-its-source-outstanding", letter(left(one()), "0@0"))
        .holds("redriven-copy-is-backlog", {
            let copies = [(1, "0@0"), (1, "0@1")];
            let story = Story::new().all([planned(1), confirmed(1, "0@0")]);
            acked(story.all(log(TopicRole::Source, &copies)).and(reads_done()))
        })
        .holds("effect-with-the-ack-of-its-letter-outstanding", {
            letter(acked(one()).and(effect(1, A, 1)), "0@0")
        })
        .violated("lost", &[1], acked(one()))
        .violated("doubled", &[1], left(one()).all([effect(1, A, 1), effect(2, A, 1)]))
        .violated("quarantined-and-dead", &[1], letter(quarantined(acked(one())), "0@0"))
        .indeterminate("nothing-planned", acked(Story::new().and(reads_done())))
}

fn redriven_letters() -> Group {
    let mut scope = scope();
    scope.redriver = Some(String::from("redriver"));
    let stood = |cursor| stands_at(TopicRole::DeadLetter, "redriver", ReadWhy::Final, cursor);
    Group::check("conserved.redriven", r#"{"conserved": {}}"#, scope)
        .holds("letter-waits-for-the-redriver", {
            letter(acked(one()), "0@0").and(stood(committed(0)))
        })
        .holds("letter-waits-on-its-subscription", {
            letter(trimmed(), "8:0").and(stood(mark((8, -1))))
        })
        .holds("redriven-and-done", {
            letter(acked(one()), "0@0").and(stood(committed(1))).and(effect(1, A, 1))
        })
        .holds("one-copy-of-two-waits", {
            let copies = [(1, "0@0"), (1, "0@1")];
            acked(one()).all(log(TopicRole::DeadLetter, &copies)).and(stood(committed(1)))
        })
        .violated("letter-is-behind-the-redriver", &[1], {
            letter(acked(one()), "0@0").and(stood(committed(1)))
        })
        .violated("letter-was-trimmed", &[1], {
            trimmed().all(log(TopicRole::DeadLetter, &[])).and(stood(mark((8, 0))))
        })
        .violated("redrivers-subscription-is-gone", &[1], {
            letter(trimmed(), "8:0").and(stood(Cursor::Absent))
        })
        .indeterminate("redriver-not-read", letter(acked(one()), "0@0"))
        .indeterminate("letters-not-read", acked(one()).and(stood(committed(1))))
}

fn two_destinations() -> Group {
    let mut scope = scope();
    scope.destinations.insert(String::from("warehouse"));
    let both = |story: Story, next| {
        let other = stands_at(TopicRole::Source, "warehouse", ReadWhy::Final, committed(next));
        acked(story).and(other).and(effect(1, A, 1))
    };
    let other = |story: Story| {
        let Event::AuditRow(mut row) = effect(2, "other/1", 1) else { unreachable!() };
        row.destination = String::from("warehouse");
        story.and(Event::AuditRow(row))
    };
    Group::check("conserved.two-destinations", r#"{"conserved": {}}"#, scope)
        .holds("an-effect-each", other(both(one(), 1)))
        .holds("dead-for-the-other", letter(both(one(), 1), "0@0"))
        .holds("backlog-of-the-other", both(one(), 0))
        .violated("lost-for-the-other", &[1], both(one(), 1))
        .indeterminate("the-other-not-read", acked(one()).and(effect(1, A, 1)))
}
