//! Reports about dead letters on Kafka, outbox relays, the inbox and redrives: B73, B78, B82, B87,
//! B90, B95.
//! Nothing comes in; two stories for each come out.
//! It must never hold a story longer than a screen.

use ackproof::evidence::cursor::Cursor;
use ackproof::evidence::event::{Event, ProbeWhen, ReadWhy};
use ackproof::names::{CallOutcome, Operation, Point, TopicRole};

use super::*;

const LETTERS: TopicRole = TopicRole::DeadLetter;
const RELAY: &str = "relay/1";

pub fn replays() -> Vec<Replay> {
    vec![b73(), b78(), b82(), b87(), b90(), b95()]
}

/// The letters at the end, and where the redriver stands on them.
fn letters(of: &[(u32, &str)], redriver: Cursor) -> Vec<Event> {
    let mut read = log(LETTERS, of);
    read.push(stands_at(LETTERS, "redriver", ReadWhy::Final, redriver));
    read
}

/// Poison events 1 to 3 are in three partitions, the topic of the letters has two. In the report
/// the third letter is sent to a partition that is not there, and event 3 stays.
fn b73() -> Replay {
    let place = |n: u32| String::from(["0@0", "1@0", "2@0", "0@1"][n as usize - 1]);
    let begun = || {
        let story = published_at(4, &[1, 2, 3], place).all(done_at(A, 1, "0@0"));
        let story = story.all(done_at(A, 2, "1@0")).and(got_at(A, 3, "2@0"));
        story.all(done_at(A, 4, "0@1")).all(effects(&[(A, 4)]))
    };
    let read = |story: Story, next: &[(i32, i64)], of: &[(u32, &str)]| {
        let messages = [(1, "0@0"), (2, "1@0"), (3, "2@0"), (4, "0@1")];
        let story = story.all(log(TopicRole::Source, &messages));
        let story = story.and(stands(Cursor::Committed(next.to_vec())));
        story.all(letters(of, Cursor::Absent)).and(reads_done())
    };
    let refused = call(A, Operation::DeadLetter, 3, CallOutcome::Error, None);
    let three = [(1, "0@0"), (2, "1@0"), (3, "0@1")];
    Replay {
        report: "b73",
        broken: "dead_letters",
        fixed: read(begun().and(acked(A, 3)), &[(0, 2), (1, 1), (2, 1)], &three),
        buggy: read(begun().and(refused), &[(0, 2), (1, 1)], &three[..2]),
    }
}

/// A relay has published this row.
fn relayed(who: &str, n: u32, place: &str) -> Event {
    call(who, Operation::Publish, n, CallOutcome::Ok, Some(&format!("orders/{place}")))
}

/// Row 2 is committed before row 1. In the report the relay has passed row 1 by then.
fn b78() -> Replay {
    let second = || plan(2, &[]).and(relayed(RELAY, 2, "0@0")).all(done_at(A, 2, "0@0"));
    let fixed = second().and(relayed(RELAY, 1, "0@1")).all(done_at(A, 1, "0@1"));
    let fixed = fixed.all(effects(&[(A, 2), (A, 1)])).all(source_of(&[(2, "0@0"), (1, "0@1")], 2));
    let buggy = second().all(effects(&[(A, 2)])).all(source_of(&[(2, "0@0")], 1));
    Replay {
        report: "b78",
        broken: "confirmed",
        fixed: fixed.and(reads_done()),
        buggy: buggy.and(reads_done()),
    }
}

/// Event 1 is relayed, then the broker is away, and row 2 is to be tried again. In the report all
/// of the relays do that.
fn b82() -> Replay {
    let by = |relays: &[&str]| {
        let mut messages = vec![(1, String::from("0@0"))];
        let first = plan(2, &[]).and(relayed("relay-1/1", 1, "0@0")).all(done(A, 1));
        let mut story = first.wait_ms(5000);
        for (offset, relay) in (1..).zip(relays) {
            let place = format!("0@{offset}");
            story = story.and(relayed(relay, 2, &place)).all(done_at(A, 2, &place));
            messages.push((2, place));
        }
        let messages: Vec<(u32, &str)> = messages.iter().map(|(n, at)| (*n, at.as_str())).collect();
        let read = source_of(&messages, messages.len() as i64);
        story.all(effects(&[(A, 1), (A, 2)])).all(read).and(reads_done())
    };
    Replay {
        report: "b82",
        broken: "messages",
        fixed: by(&["relay-2/1"]),
        buggy: by(&["relay-1/1", "relay-2/1", "relay-3/1"]),
    }
}

/// Row 2 is written while the relay cannot see it. In the report the relay goes on with row 3.
fn b87() -> Replay {
    let first = || plan(3, &[]).and(relayed(RELAY, 1, "0@0")).all(done(A, 1));
    let fixed = first().all([2, 3].map(|n| relayed(RELAY, n, &place(n))));
    let fixed = fixed.all(all_done(A, 2..=3)).all(effects(&[(A, 1), (A, 2), (A, 3)]));
    let buggy = first().and(relayed(RELAY, 3, "0@1")).all(done_at(A, 3, "0@1"));
    let buggy = buggy.all(effects(&[(A, 1), (A, 3)])).all(source_of(&[(1, "0@0"), (3, "0@1")], 2));
    Replay {
        report: "b87",
        broken: "confirmed",
        fixed: fixed.all(source(3, 3)).and(reads_done()),
        buggy: buggy.and(reads_done()),
    }
}

/// The database is away when event 2 comes. In the report the offset behind it is committed first,
/// and after the attempts it is gone.
fn b90() -> Replay {
    let failed = || call(A, Operation::Effect, 2, CallOutcome::Error, None);
    let begun = || published(3, &[]).all(done(A, 1)).and(got(A, 2));
    let fixed = begun().and(failed()).wait_ms(20_000).all(all_done(A, 2..=3));
    let buggy = begun().and(acked(A, 2)).and(failed()).wait_ms(20_000).all(done(A, 3));
    Replay {
        report: "b90",
        broken: "conserved",
        fixed: fixed.all(effects(&[(A, 1), (A, 2), (A, 3)])).all(source(3, 3)).and(reads_done()),
        buggy: buggy.all(effects(&[(A, 1), (A, 3)])).all(source(3, 3)).and(reads_done()),
    }
}

/// Two letters are sent back, and the redriver is killed after the first. In the report it had both
/// in hand, and the topic of the letters had neither.
fn b95() -> Replay {
    let fix = "fixed/1";
    let interrupted = || {
        let story = published(3, &[2, 3]).all(all_done(A, 1..=3));
        let story = story.and(triggered("sigkill", "redriver/1", Point::Redriven, 2));
        let story = story.and(probe_redriven("sigkill", ProbeWhen::Before, 2, 1));
        let story = story.and(killed("sigkill", "redriver/1"));
        let story = story.and(probe_redriven("sigkill", ProbeWhen::After, 2, 1));
        story.all(done_at(fix, 2, "0@3"))
    };
    let copies = [(1, "0@0"), (2, "0@1"), (3, "0@2"), (2, "0@3"), (3, "0@4")];
    let aside = || letters(&[(2, "0@0"), (3, "0@1")], committed(2));
    let fixed = interrupted().all(done_at(fix, 3, "0@4")).all([redriven(2), redriven(3)]);
    let fixed = fixed.all(effects(&[(A, 1), (fix, 2), (fix, 3)])).all(source_of(&copies, 5));
    let buggy = interrupted().and(redriven(2)).all(effects(&[(A, 1), (fix, 2)]));
    Replay {
        report: "b95",
        broken: "conserved",
        fixed: fixed.all(aside()).and(reads_done()),
        buggy: buggy.all(source_of(&copies[..4], 4)).all(aside()).and(reads_done()),
    }
}
