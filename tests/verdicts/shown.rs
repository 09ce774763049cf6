//! What a client showed: facts of a history by which clients differ, side by side.
//! Histories with one trait each come in; the texts and the page are compared.
//! It must never need a cell to pass: a difference is shown whatever the verdict is.

use ackproof::evidence::event::{At, Event};
use ackproof::names::{CallOutcome, Operation, Outcome, Role, TopicRole};
use ackproof::reports::divergence::{Divergence, Row};
use ackproof::verdict::shown::Shown;

use crate::story::*;

fn counted(who: &str, n: u32, count: u32) -> Event {
    let Event::ClaimAt(at) = received(who, n) else { unreachable!() };
    Event::ClaimAt(At { redelivery_count: Some(count), ..at })
}

fn story() -> Story {
    Story::new().all([planned(1), planned(2)]).and(started("consumer/1", Role::Consumer))
}

#[test]
fn facts_are_counted_by_event() {
    let story = story()
        .all([counted("consumer/1", 1, 0), counted("consumer/1", 2, 0)])
        .wait_ms(40)
        .and(counted("consumer/1", 2, 1))
        .and(call("consumer/1", Operation::Effect, 2, CallOutcome::Duplicate, None))
        .and(call("consumer/1", Operation::Effect, 1, CallOutcome::Duplicate, None));
    let shown = Shown::of(&story.history());
    assert_eq!(shown.deliveries, "1 × 1, 1 × 2");
    assert_eq!(shown.redelivery_counts, "0, 1");
    assert!(shown.first_gap_ms.parse::<u64>().unwrap() >= 40, "{}", shown.first_gap_ms);
    assert_eq!(shown.errors, ["effect duplicate"], "the same error is told once");
    assert_eq!((shown.dead_letters.as_str(), shown.letter_properties_lost.as_str()), ("", ""));
    assert_eq!(Shown::of(&Story::new().history()), Shown::default());
}

#[test]
fn letters_are_compared_with_what_was_published() {
    let letters = log(TopicRole::DeadLetter, &[(1, "0@0"), (2, "0@1")]);
    let altered = story().all(letters).with(|event| {
        if let Event::LogEntry(entry) = event
            && entry.event == Some(id(2))
        {
            entry.properties.clear();
            entry.properties.insert("REAL_TOPIC".to_owned(), "orders".to_owned());
        }
    });
    let shown = Shown::of(&altered.history());
    assert_eq!(shown.dead_letters, "2");
    assert_eq!(shown.letter_properties_added, "REAL_TOPIC");
    assert_eq!(shown.letter_properties_lost, "event-id");
}

#[test]
fn clients_stand_side_by_side_and_their_differences_are_named() {
    let row = |client: &str, story: Story| {
        let row = Row {
            cell: format!("a/b@kafka-4.3.1+{client}"),
            client: format!("{client}@1.0.0"),
            server: "kafka@4.3.1".to_owned(),
            outcome: Outcome::Pass,
            shown: Shown::of(&story.history()),
        };
        ("a/b".to_owned(), "kafka".to_owned(), row)
    };
    let once = || story().and(received("consumer/1", 1));
    let slow = || once().wait_ms(50).and(received("consumer/1", 1));
    let quick = once().and(received("consumer/1", 1));
    let alike = Divergence::of([row("one", slow()), row("two", quick)]);
    assert_eq!(alike.scenarios[0].differs_in, [""; 0], "a time is no difference");
    let differ = Divergence::of([row("one", slow()), row("t|wo", once())]);
    assert_eq!(differ.scenarios[0].differs_in, ["deliveries"]);
    let page = differ.markdown();
    assert!(page.contains("Scenarios with several clients: 1; with differences: 1."), "{page}");
    assert!(page.contains("| **deliveries** | 1 × 2 | 1 × 1 |"), "{page}");
    assert!(page.contains("t\\|wo"), "what stands in a cell cannot end it: {page}");
}
