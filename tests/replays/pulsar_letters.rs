//! Reports about dead letters and the attempts before them: B01, B04, B09, B14, B20, B22.
//! Nothing comes in; two stories for each come out.
//! It must never hold a story longer than a screen.

use ackproof::evidence::cursor::Cursor;
use ackproof::evidence::event::{At, Event, LogEntry, ReadWhy};
use ackproof::names::{Point, TopicRole};

use super::*;

const LETTERS: TopicRole = TopicRole::DeadLetter;

pub fn replays() -> Vec<Replay> {
    vec![b01(), b04(), b09(), b14(), b20(), b22()]
}

/// Two of three events were put aside; the topic of the letters is trimmed. In the report nobody
/// subscribed to it.
fn b01() -> Replay {
    let aside = |subscribed: &[&str]| {
        let handled = published(3, &[2, 3]).all(done(A, 1)).all([got(A, 2), got(A, 3)]);
        let counted = handled.and(letter_counts(ReadWhy::During, 2, subscribed));
        counted.and(administered("trim")).all(effects(&[(A, 1)])).all(source(3, 3))
    };
    let gone = [
        stands_at(LETTERS, "redriver", ReadWhy::Final, Cursor::Absent),
        letter_counts(ReadWhy::Final, 0, &[]),
    ];
    Replay {
        report: "b01",
        broken: "conserved",
        fixed: aside(&["redriver"]).all(letters(&[2, 3])).and(reads_done()),
        buggy: aside(&[]).all(log(LETTERS, &[])).all(gone).and(reads_done()),
    }
}

/// Handed over, with the count that the broker gave.
fn counted(who: &str, count: u32) -> Event {
    let Event::ClaimAt(at) = got(who, 2) else { unreachable!() };
    Event::ClaimAt(At { redelivery_count: Some(count), ..at })
}

/// Killed in the third attempt at event 2; the counts are those after the death. In the report they
/// begin anew.
fn b04() -> Replay {
    let killed_and_then = |counts: &[u32]| {
        let before = (0..3).map(|count| counted(A, count));
        let story = published(2, &[2]).all(done(A, 1)).all(before);
        let story = story.and(triggered("sigkill", A, Point::BeforeNack, 2));
        let story = story.and(killed("sigkill", A));
        let story = story.all(counts.iter().map(|count| counted(AGAIN, *count)));
        story.all(effects(&[(A, 1)])).all(source(2, 2)).all(letters(&[2])).and(reads_done())
    };
    Replay {
        report: "b04",
        broken: "deliveries",
        fixed: killed_and_then(&[3]),
        buggy: killed_and_then(&[0, 1, 2, 3]),
    }
}

/// Each of two consumers takes 35 s for its event. In the report the second one gets the event of
/// the first after 30 s, and in the end it is a dead letter, too.
fn b09() -> Replay {
    let begun = || published(2, &[]).all([got(ONE, 1), got(TWO, 2)]);
    let fixed = begun().wait_ms(35_000).all([acked(ONE, 1), acked(TWO, 2)]);
    let buggy = begun().wait_ms(35_000).all([acked(TWO, 2), got(TWO, 1), acked(ONE, 1)]);
    let buggy = buggy.wait_ms(35_000).and(acked(TWO, 1));
    let once = effects(&[(ONE, 1), (TWO, 2)]);
    let twice = effects(&[(ONE, 1), (TWO, 2), (TWO, 1)]);
    Replay {
        report: "b09",
        broken: "effects",
        fixed: fixed.all(once).all(source(2, 2)).all(letters(&[])).and(reads_done()),
        buggy: buggy.all(twice).all(source(2, 2)).all(letters(&[1])).and(reads_done()),
    }
}

/// A batch of three: nothing is acknowledged at first, two in the second attempt, the third in its
/// last one. In the report the client had given that up by then, and makes it a dead letter.
fn b14() -> Replay {
    let acknowledged_in_parts = |dead: &[u32]| {
        let whole = || [1, 2, 3].map(|n| got_of_batch(A, n));
        let story = published_at(3, &[3], place_in_batch).all(whole()).all(whole());
        let story = story.all([acked(A, 1), acked(A, 2), got_of_batch(A, 3), acked(A, 3)]);
        let story = story.all(effects(&[(A, 1), (A, 2), (A, 3)])).all(batch(3));
        story.all(letters(dead)).and(reads_done())
    };
    Replay {
        report: "b14",
        broken: "dead_letters",
        fixed: acknowledged_in_parts(&[]),
        buggy: acknowledged_in_parts(&[3]),
    }
}

/// Event 2 comes from the source once and from the retry topic twice, and is a letter then. In the
/// report the letter does not say from which topic, and names its message in the retry topic.
fn b20() -> Replay {
    let letter_from = |topic: &str, message: &str| {
        let retried = [received_at(A, 2, "retry/9:0"), received_at(A, 2, "retry/9:1")];
        let story = published(2, &[2]).all(done(A, 1)).and(got(A, 2)).all(retried);
        let story = story.all(effects(&[(A, 1)])).all(source(2, 2)).all(letters(&[2]));
        let says = |entry: &mut LogEntry| {
            let said = [("REAL_TOPIC", topic), ("ORIGIN_MESSAGE_ID", message)];
            let said = said.map(|(name, value)| (name.to_owned(), value.to_owned()));
            entry.properties.extend(said);
        };
        let story = story.with(|event| match event {
            Event::LogEntry(entry) if entry.topic == LETTERS => says(entry),
            _ => {}
        });
        story.and(reads_done())
    };
    Replay {
        report: "b20",
        broken: "dead_letters",
        fixed: letter_from("persistent://orders", "7:1:-1"),
        buggy: letter_from("", "9:1:-1"),
    }
}

/// Two consumers of one name have a poison event each. In the report the second one cannot write
/// its letter, and goes on giving the event back.
fn b22() -> Replay {
    let first = || {
        let first = [got(ONE, 1), acked(ONE, 1), got(ONE, 2), nacked(ONE, 2), got(ONE, 2)];
        published(4, &[2, 4]).all(first).all(done(TWO, 3))
    };
    let tried = |times: usize| std::iter::repeat_n([got(TWO, 4), nacked(TWO, 4)], times).flatten();
    let healthy = || effects(&[(ONE, 1), (TWO, 3)]);
    let fixed = first().all(tried(1)).and(got(TWO, 4)).all(healthy());
    let buggy = first().all(tried(4)).all(healthy());
    Replay {
        report: "b22",
        broken: "dead_letters",
        fixed: fixed.all(source(4, 4)).all(letters(&[2, 4])).and(reads_done()),
        buggy: buggy.all(source(4, 3)).all(letters(&[2])).and(reads_done()),
    }
}
