//! Numbers of a cell: marks, counts with their grades, ages, each from a story that has them.
//! A `World` whose subject is told anew comes in; single numbers of its report are compared.
//! It must never find a zero where nothing was read.

use ackproof::checks::Bound;
use ackproof::evidence::event::{Event, ReadWhy};
use ackproof::names::{CallOutcome, EventSet, Grade, Operation, Point, Role, TopicRole};
use ackproof::verdict::{CellReport, Counts, Graded};

use crate::story::*;
use crate::world::*;

const A: &str = "consumer/1";

/// The report of a subject with this story and nothing asked of it.
fn numbers(story: Story) -> CellReport {
    let mut world = World::new();
    world.unit(SUBJECT).checks = vec![effects(EventSet::All, Bound::AtMost(9))];
    world.stories.insert(SUBJECT.to_owned(), story);
    world.outcome()
}

fn graded(value: u64, grade: Grade) -> Option<Graded> {
    Some(Graded { value, grade })
}

/// Five events: done, doubled, dead, lost, and one that may exist.
fn five() -> Story {
    let source = [(1, "0@0"), (2, "0@1"), (3, "0@2"), (4, "0@3")];
    Story::new()
        .all([planned(1), planned(2), poison(3), planned(4), planned(5)])
        .all([confirmed(1, "0@0"), confirmed(2, "0@1"), confirmed(3, "0@2")])
        .and(publish(5, CallOutcome::Unknown, None))
        .and(started("redriver/1", Role::Redriver))
        .all([received(A, 1), received(A, 2), received("consumer/2", 2), received(A, 3)])
        .and(received("redriver/1", 3))
        .all(log(TopicRole::Source, &source))
        .all(log(TopicRole::DeadLetter, &[(3, "0@0"), (3, "0@1")]))
        .and(stands(committed(4)))
        .all([effect(1, A, 1), effect(2, A, 2), effect(3, "consumer/2", 2)])
        .and(Event::QuarantineRow {
            event: id(1),
            destination: SHOP.to_owned(),
            fingerprint: String::from("other"),
        })
        .and(reads_done())
}

#[test]
fn numbers_that_must_not_be_taken_for_one_another() {
    let Counts {
        published,
        confirmed,
        unknown,
        deliveries,
        effects,
        duplicates,
        conflicts,
        dead_letters_ever,
        dead_letters_unresolved,
        backlog,
        lost,
        unresolved,
    } = numbers(five()).counts;
    assert_eq!(published, graded(4, Grade::Broker));
    assert_eq!(confirmed, graded(3, Grade::Broker));
    assert_eq!(unknown, graded(1, Grade::Claimed));
    assert_eq!(deliveries, graded(4, Grade::Claimed));
    assert_eq!(effects, graded(3, Grade::Ledger));
    assert_eq!(duplicates, graded(1, Grade::Ledger));
    assert_eq!(conflicts, graded(1, Grade::Ledger));
    assert_eq!(dead_letters_ever, graded(1, Grade::Broker));
    assert_eq!(dead_letters_unresolved, graded(1, Grade::Broker));
    assert_eq!(backlog, graded(0, Grade::Broker));
    assert_eq!(lost, graded(1, Grade::Ledger));
    // The dead one and the lost one.
    assert_eq!(unresolved, graded(2, Grade::Ledger));
}

#[test]
fn what_was_not_read_is_not_a_zero() {
    let counts = numbers(Story::new()).counts;
    assert_eq!(counts, Counts::default());
    let unread = five().without(|e| matches!(e, Event::Settle { .. } | Event::LogRead { .. }));
    let counts = numbers(unread).counts;
    assert_eq!((counts.effects, counts.duplicates, counts.conflicts), (None, None, None));
    assert_eq!((counts.backlog, counts.lost, counts.unresolved), (None, None, None));
    // Confirmations stay claims where the read-back is missing.
    assert_eq!(counts.confirmed, graded(3, Grade::Claimed));
    let never = five().without(|event| match event {
        Event::LogEntry(entry) => entry.topic == TopicRole::DeadLetter,
        Event::LogRead { topic, .. } => *topic == TopicRole::DeadLetter,
        _ => false,
    });
    let counts = numbers(never.clone()).counts;
    assert_eq!((counts.dead_letters_ever, counts.dead_letters_unresolved), (None, None));
    // None left to be read, but the broker has counted them; then no account is open.
    let counted = never
        .and(letter_counts(ReadWhy::During, 2, &[]))
        .and(letter_counts(ReadWhy::Final, 0, &[]))
        .all(log(TopicRole::DeadLetter, &[]));
    let counts = numbers(counted).counts;
    assert_eq!(counts.dead_letters_ever, graded(2, Grade::Broker));
    assert_eq!(counts.dead_letters_unresolved, graded(0, Grade::Broker));
    assert_eq!(counts.lost, graded(2, Grade::Ledger));
}

#[test]
fn an_empty_dead_letter_topic_is_an_observed_zero() {
    let empty = Story::new().and(planned(1)).all(log(TopicRole::DeadLetter, &[]));
    assert_eq!(numbers(empty).counts.dead_letters_ever, graded(0, Grade::Broker));
}

#[test]
fn deliveries_that_the_broker_counted_are_the_brokers() {
    let counted = |sent| numbers(five().and(source_counts(sent))).counts.deliveries;
    assert_eq!(counted(4), graded(4, Grade::Broker));
    assert_eq!(counted(5), graded(4, Grade::Claimed));
    let none = Story::new().and(planned(1)).and(source_counts(0));
    assert_eq!(numbers(none).counts.deliveries, graded(0, Grade::Claimed));
}

#[test]
fn backlog_is_counted_by_destination() {
    let left = five().with(|event| {
        if let Event::Stands { cursor, .. } = event {
            *cursor = committed(2);
        }
    });
    let cell = numbers(left);
    assert_eq!(cell.counts.backlog, graded(2, Grade::Broker));
    assert!(cell.marks.lost.is_empty());
}

#[test]
fn marks_name_the_events() {
    let marks = numbers(five()).marks;
    assert_eq!(marks.lost.into_iter().collect::<Vec<_>>(), [id(4)]);
    assert_eq!(marks.doubled.into_iter().collect::<Vec<_>>(), [id(2)]);
    assert!(marks.reordered.is_empty());
}

#[test]
fn order_is_that_of_the_first_effects_of_a_key() {
    let order = |events: &[u32]| {
        let rows = (1..).zip(events).map(|(seq, n)| effect(seq, A, *n));
        let story = Story::new().all((1..=6).map(planned)).all(rows.collect::<Vec<_>>());
        numbers(story).marks.reordered.into_iter().collect::<Vec<_>>()
    };
    // Odd and even ordinals are two keys.
    assert!(order(&[1, 2, 3, 4, 5, 6]).is_empty());
    assert!(order(&[2, 4, 1, 6, 3]).is_empty());
    assert_eq!(order(&[3, 1, 5]), [id(1)]);
    assert_eq!(order(&[5, 1, 3]), [id(1), id(3)]);
    // A second effect of an early event is doubled, not late.
    assert!(order(&[1, 3, 1]).is_empty());
    // Nobody planned it, so it has no place.
    assert!(order(&[9, 1, 3]).is_empty());
    // An overwritten effect keeps its place.
    let story = Story::new().all((1..=6).map(planned));
    let story = story.all([change(1, "UPDATE", 1, A, 5), effect(2, A, 1), effect(3, A, 5)]);
    assert!(numbers(story).marks.reordered.is_empty());
}

#[test]
fn ages_are_the_longest_stretches() {
    let ages = |story: Story| numbers(Story::new().and(planned(1)).and_all(story)).ages;
    let retry = Story::new().and(received(A, 1)).wait_ms(9).and(received(A, 1)).wait_ms(4);
    assert_eq!(ages(retry.clone().and(received(A, 1))).retry_ms, Some(15));
    assert_eq!(ages(retry.and(received(A, 2))).retry_ms, Some(10));
    assert_eq!(ages(Story::new().and(received(A, 1))).retry_ms, None);
    let acked = |who| {
        let story = Story::new().and(at(A, Point::EffectCommitted, 1)).wait_ms(6);
        ages(story.and(at(who, Point::AckReturned, 1))).ack_latency_ms
    };
    assert_eq!(acked(A), Some(7));
    assert_eq!(acked("consumer/2"), None);
    let redriven = |outcome| {
        let buried = call(A, Operation::DeadLetter, 1, CallOutcome::Ok, None);
        let story = Story::new().and(buried.clone()).wait_ms(1).and(buried).wait_ms(1);
        ages(story.and(call("redriver/1", Operation::Redrive, 1, outcome, None))).dlq_ms
    };
    assert_eq!(redriven(CallOutcome::Ok), Some(4));
    assert_eq!(redriven(CallOutcome::Error), None);
}

#[test]
fn what_a_redriver_receives_is_no_retry() {
    let story = Story::new().all([planned(1), started("redriver/1", Role::Redriver)]);
    let story = story.and(received(A, 1)).and(received("redriver/1", 1));
    assert_eq!(numbers(story).ages.retry_ms, None);
}
