//! Reports about ACKs, delays, and what comes again: B28, B30, B33, B37, B40, B44, B46.
//! Nothing comes in; two stories for each come out.
//! It must never hold a story longer than a screen.

use ackproof::evidence::cursor::{Cursor, EntryId};
use ackproof::evidence::event::{Event, TopicCounts};
use ackproof::names::{CallOutcome, Point, TopicRole};

use super::*;

pub fn replays() -> Vec<Replay> {
    vec![b28(), b30(), b33(), b37(), b40(), b44(), b46()]
}

/// Two events are put off for 2 s. In the report the clock that counts them is a minute behind in
/// one consumer, and a minute ahead in the other.
fn b28() -> Replay {
    let put_off_for = |behind_ms: u64, ahead_ms: u64| {
        let story = published(2, &[]).all(done(A, 1)).wait_ms(behind_ms);
        let story = story.and(received_at(A, 1, "retry/9:0")).all(done(A, 2)).wait_ms(ahead_ms);
        let story = story.and(received_at(A, 2, "retry/9:1")).and(health(5));
        story.all(effects(&[(A, 1), (A, 2)])).all(source(2, 2)).and(reads_done())
    };
    Replay {
        report: "b28",
        broken: "gaps",
        fixed: put_off_for(2100, 2100),
        buggy: put_off_for(10, 62_000),
    }
}

/// Event 2 of three is given back once. In the report neither it nor the one behind it comes.
fn b30() -> Replay {
    let given_back = || published(3, &[2]).all(done(A, 1)).all([got(A, 2), nacked(A, 2)]);
    let all = effects(&[(A, 1), (A, 3), (A, 2)]);
    let fixed = given_back().all(done(A, 3)).all(done(A, 2)).all(all);
    Replay {
        report: "b30",
        broken: "deliveries",
        fixed: fixed.all(source(3, 3)).and(reads_done()),
        buggy: given_back().all(effects(&[(A, 1)])).all(source(3, 1)).and(reads_done()),
    }
}

/// Killed when the ACK of event 2 had returned. In the report it had not been sent.
fn b33() -> Replay {
    let killed = || {
        let story = published(2, &[]).all(done(A, 1)).all(done(A, 2));
        story.and(triggered("sigkill", A, Point::AckReturned, 2)).and(killed("sigkill", A))
    };
    let buggy = killed().all(done(AGAIN, 2)).all(effects(&[(A, 1), (A, 2), (AGAIN, 2)]));
    Replay {
        report: "b33",
        broken: "not_redelivered",
        fixed: killed().all(effects(&[(A, 1), (A, 2)])).all(source(2, 2)).and(reads_done()),
        buggy: buggy.all(source(2, 2)).and(reads_done()),
    }
}

/// Of a batch of four, two are acknowledged and two given back, over the second of which the
/// consumer is killed. In the report the broker took the first ACK for the whole batch.
fn b37() -> Replay {
    let half = || {
        let first = [got_of_batch(A, 1), acked(A, 1), got_of_batch(A, 2), nacked(A, 2)];
        let second = [got_of_batch(A, 3), acked(A, 3), got_of_batch(A, 4)];
        let story = published_at(4, &[], place_in_batch).all(first).all(second);
        story.and(triggered("sigkill", A, Point::BeforeNack, 4)).and(killed("sigkill", A))
    };
    let rest = [2, 4].map(|n| [got_of_batch(AGAIN, n), acked(AGAIN, n)]).concat();
    let fixed = half().all(rest).all(effects(&[(A, 1), (A, 3), (AGAIN, 2), (AGAIN, 4)]));
    let buggy = half().all(effects(&[(A, 1), (A, 3)]));
    Replay {
        report: "b37",
        broken: "conserved",
        fixed: fixed.all(batch(4)).and(source_counts(6)).and(reads_done()),
        buggy: buggy.all(batch(4)).and(source_counts(4)).and(reads_done()),
    }
}

/// Where a subscription stands: up to an entry, and single ranges behind it.
fn stands_with(mark_delete: EntryId, acked_ranges: &[(EntryId, EntryId)]) -> Event {
    stands(Cursor::MarkDelete { mark_delete, acked_ranges: acked_ranges.to_vec() })
}

/// One consumer has the odd events, another the even ones; the first dies over event 3. In the
/// report the odd ones stay where they are.
fn b40() -> Replay {
    let died = || {
        let story = published(6, &[]).all(done(ONE, 1)).all(done(TWO, 2)).and(got(ONE, 3));
        let story = story.and(triggered("sigkill", ONE, Point::BeforeAck, 3));
        let story = story.and(killed("sigkill", ONE));
        story.all(done(TWO, 4)).all(done(TWO, 6))
    };
    let own = [(ONE, 1), (TWO, 2), (ONE, 3), (TWO, 4), (TWO, 6)];
    let taken_over = died().all(done(TWO, 3)).all(done(TWO, 5));
    let fixed = taken_over.all(effects(&own)).and(effect(6, TWO, 5)).all(source(6, 6));
    let evens = [((7, 2), (7, 3)), ((7, 4), (7, 5))];
    let buggy = died().all(effects(&own)).all(kept(6)).and(stands_with((7, 1), &evens));
    Replay {
        report: "b40",
        broken: "drained",
        fixed: fixed.and(source_counts(7)).and(reads_done()),
        buggy: buggy.and(source_counts(5)).and(reads_done()),
    }
}

/// Events alternate between two partitions, ledgers 7 and 8, and the broker restarts after the
/// first two. In the report the second partition is not read again.
fn b44() -> Replay {
    let place = |n: u32| format!("{}:{}", 8 - n % 2, (n - 1) / 2);
    let handed = |n: u32| [received_at(A, n, &format!("orders/{}", place(n))), acked(A, n)];
    let read = |handled: &[u32], behind: &[(EntryId, EntryId)]| {
        let story = Story::new().all((1..=4).map(planned));
        let story = story.all((1..=4).map(|n| confirmed(n, &place(n))));
        let story = handled.iter().fold(story, |story, n| story.all(handed(*n)));
        let made: Vec<(&str, u32)> = handled.iter().map(|n| (A, *n)).collect();
        let places: Vec<(u32, String)> = (1..=4).map(|n| (n, place(n))).collect();
        let story = story.all(effects(&made)).all(log(TopicRole::Source, &borrowed(&places)));
        story.and(stands_with((7, 1), behind)).and(reads_done())
    };
    Replay {
        report: "b44",
        broken: "drained",
        fixed: read(&[1, 2, 3, 4], &[((8, -1), (8, 1))]),
        buggy: read(&[1, 2, 3], &[((8, -1), (8, 0))]),
    }
}

/// What the broker counted in since the topic was loaded.
fn came_in(messages: u64) -> Event {
    let Event::TopicCounts(counts) = source_counts(messages) else { unreachable!() };
    Event::TopicCounts(TopicCounts { messages_in: Some(messages), ..counts })
}

/// Event 2 is sent twice because of the storage. In the report the second try is confirmed as a
/// copy, without a place, of a message that was never written.
fn b46() -> Replay {
    let again = |place: Option<&str>| {
        let story = Story::new().all((1..=2).map(planned)).and(confirmed(1, "7:0"));
        story.and(publish(2, CallOutcome::Ok, place))
    };
    let fixed = again(Some("orders/7:1")).all(done(A, 1)).all(done(A, 2));
    let fixed = fixed.all(effects(&[(A, 1), (A, 2)])).all(source(2, 2));
    let buggy = again(None).all(done(A, 1)).all(effects(&[(A, 1)])).all(source(1, 1));
    Replay {
        report: "b46",
        broken: "conserved",
        fixed: fixed.and(came_in(2)).and(reads_done()),
        buggy: buggy.and(came_in(1)).and(reads_done()),
    }
}
