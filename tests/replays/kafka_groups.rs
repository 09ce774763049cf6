//! Reports about positions, groups and producers: B48, B53, B58, B61, B65, B66, B71.
//! Nothing comes in; two stories for each come out.
//! It must never hold a story longer than a screen.

use ackproof::evidence::event::{Event, ProbeWhen};
use ackproof::names::{CallOutcome, Point};

use super::*;

pub fn replays() -> Vec<Replay> {
    vec![b48(), b53(), b58(), b61(), b65(), b66(), b71()]
}

/// Killed with event 2 in its transaction. In the report the client had committed the offset behind
/// it by then.
fn b48() -> Replay {
    let killed_with = |acked: bool| {
        let story = published(3, &[]).all(done(A, 1)).and(got(A, 2));
        let story = story.and(triggered("sigkill", A, Point::InTransaction, 2));
        let story = story.and(probe("sigkill", ProbeWhen::Before, 2, 0, acked));
        story.and(killed("sigkill", A)).and(probe("sigkill", ProbeWhen::After, 2, 0, acked))
    };
    let fixed = killed_with(false).all(all_done(AGAIN, 2..=3));
    let buggy = killed_with(true).all(done(AGAIN, 3));
    Replay {
        report: "b48",
        broken: "conserved",
        fixed: fixed
            .all(effects(&[(A, 1), (AGAIN, 2), (AGAIN, 3)]))
            .all(source(3, 3))
            .and(reads_done()),
        buggy: buggy.all(effects(&[(A, 1), (AGAIN, 3)])).all(source(3, 3)).and(reads_done()),
    }
}

/// One consumer is late with event 2 and another is given it. In the report both make the effect.
fn b53() -> Replay {
    let late = || {
        let story = published(3, &[]).all(done(ONE, 1)).and(got(ONE, 2));
        story.and(triggered("late", ONE, Point::InTransaction, 2)).and(got(TWO, 2))
    };
    let (waiter, blocker) = (process(TWO), process(ONE));
    let waits = Event::Blocked { event: id(2), waiter, blocker };
    let end = |story: Story| story.and(held("late", ONE, 1600)).and(acked(TWO, 2));
    let once = effects(&[(ONE, 1), (ONE, 2), (TWO, 3)]);
    let twice = effects(&[(ONE, 1), (TWO, 2), (ONE, 2), (TWO, 3)]);
    let rest =
        |story: Story, made| story.all(done(TWO, 3)).all(made).all(source(3, 3)).and(reads_done());
    Replay {
        report: "b53",
        broken: "effects",
        fixed: rest(end(late().and(waits)), once),
        buggy: rest(end(late()), twice),
    }
}

/// Both events are done, and nobody is there for a while. In the report the group has forgotten
/// them when somebody comes.
fn b58() -> Replay {
    let later = "later/1";
    let idle = || published(2, &[]).all(all_done(A, 1..=2)).wait_ms(90_000);
    let end =
        |story: Story| story.all(effects(&[(A, 1), (A, 2)])).all(source(2, 2)).and(reads_done());
    Replay {
        report: "b58",
        broken: "not_redelivered",
        fixed: end(idle()),
        buggy: end(idle().all(all_done(later, 1..=2))),
    }
}

/// The broker goes and comes back while event 2 is on its way. In the report the producer refuses
/// everything from then on.
fn b61() -> Replay {
    let refused = plan(3, &[]).and(confirmed(1, "0@0"));
    let refused = refused.and(publish(2, CallOutcome::Unknown, None));
    let refused = refused.and(publish(3, CallOutcome::Error, None)).all(done(A, 1));
    let fixed = published(3, &[]).all(all_done(A, 1..=3));
    let all = effects(&[(A, 1), (A, 2), (A, 3)]);
    Replay {
        report: "b61",
        broken: "confirmed",
        fixed: fixed.all(all).all(source(3, 3)).and(reads_done()),
        buggy: refused.all(effects(&[(A, 1)])).all(source(1, 1)).and(reads_done()),
    }
}

/// Two transactions, the first with two events: offsets 2 and 4 are their markers. The position of
/// one who is done is 4, and the end of the log 5; in the report that is waited for in vain. Here a
/// reader waits before the first marker for a record that will never be there.
fn b65() -> Replay {
    let place = |n: u32| String::from(["0@0", "0@1", "0@3"][n as usize - 1]);
    let begun = || {
        let story = published_at(3, &[], place).all(done(A, 1));
        story.all(done_at(A, 2, "0@1"))
    };
    let read = |next| source_of(&[(1, "0@0"), (2, "0@1"), (3, "0@3")], next);
    let fixed = begun().all(done_at(A, 3, "0@3")).all(effects(&[(A, 1), (A, 2), (A, 3)]));
    Replay {
        report: "b65",
        broken: "drained",
        fixed: fixed.all(read(4)).and(reads_done()),
        buggy: begun().all(effects(&[(A, 1), (A, 2)])).all(read(2)).and(reads_done()),
    }
}

/// A member dies over event 2 and another takes its partition. In the report that one asks for the
/// position with an epoch that is over, takes the refusal for none, and begins at the end.
fn b66() -> Replay {
    let died = || {
        let story = published(4, &[]).all(done(TWO, 1)).and(got(TWO, 2));
        let story = story.and(triggered("leaves", TWO, Point::BeforeEffect, 2));
        story.and(killed("leaves", TWO))
    };
    let all = effects(&[(TWO, 1), (ONE, 2), (ONE, 3), (ONE, 4)]);
    Replay {
        report: "b66",
        broken: "conserved",
        fixed: died().all(all_done(ONE, 2..=4)).all(all).all(source(4, 4)).and(reads_done()),
        buggy: died()
            .all(done(ONE, 4))
            .all(effects(&[(TWO, 1), (ONE, 4)]))
            .all(source(4, 4))
            .and(reads_done()),
    }
}

/// The broker restarts after the first of three events. In the report nothing is received any more,
/// and nobody says why.
fn b71() -> Replay {
    let begun = || published(3, &[]).all(done(A, 1)).wait_ms(30_000);
    let all = effects(&[(A, 1), (A, 2), (A, 3)]);
    Replay {
        report: "b71",
        broken: "drained",
        fixed: begun().all(all_done(A, 2..=3)).all(all).all(source(3, 3)).and(reads_done()),
        buggy: begun().all(effects(&[(A, 1)])).all(source(3, 1)).and(reads_done()),
    }
}
