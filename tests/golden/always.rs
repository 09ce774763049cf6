//! Golden histories of the rules that always apply: published, settled, links_only, hot_loop.
//! Nothing comes in; groups of cases come out.
//! It must never hold a story longer than a screen.

use ackproof::checks::AlwaysOn;
use ackproof::evidence::event::{Event, Exit, ReadWhy, SettleStep};
use ackproof::names::{CallOutcome, Grade, Point, Role, TopicRole};

use super::{Group, scope};
use crate::Rule;
use crate::story::*;

pub fn groups() -> Vec<Group> {
    vec![published(), settled(), links_only(), hot_loop()]
}

const A: &str = "consumer/1";

fn published() -> Group {
    let two =
        || Story::new().all([planned(1), planned(2), confirmed(1, "0@0"), confirmed(2, "0@1")]);
    let pulsar = || Story::new().all([planned(1), confirmed(1, "7:0:0")]);
    let source = |messages: &[(u32, &str)]| log(TopicRole::Source, messages);
    Group::of("published", Rule::Always(AlwaysOn::Published), scope())
        .holds("all-readable", two().all(source(&[(1, "0@0"), (2, "0@1")])))
        .graded(Grade::Broker)
        .holds("in-a-batch", pulsar().all(source(&[(1, "7:0:0")])))
        .holds("acknowledged-and-trimmed", pulsar().all(source(&[])).and(stands(mark((7, 0)))))
        .holds("read-in-time-and-trimmed-later", {
            let during = read(TopicRole::Source, ReadWhy::During, &[(1, "7:0")]);
            pulsar().all(during).all(source(&[]))
        })
        .holds("confirmed-without-a-place-and-readable", {
            let story = Story::new().and(planned(1)).and(publish(1, CallOutcome::Ok, None));
            story.all(source(&[(1, "0@0")]))
        })
        .violated("one-not-readable", &[2], two().all(source(&[(1, "0@0")])))
        .violated("another-event-is-there", &[2], two().all(source(&[(1, "0@0"), (1, "0@1")])))
        .violated("acknowledged-where-logs-keep", &[2], {
            two().all(source(&[(1, "0@0")])).and(stands(committed(2)))
        })
        .violated("unacknowledged-and-gone", &[1], {
            pulsar().all(source(&[])).and(stands(mark((6, 9))))
        })
        .violated("without-a-place-where-logs-keep", &[2], {
            let story = Story::new().all([planned(1), planned(2), confirmed(1, "0@0")]);
            story.and(publish(2, CallOutcome::Ok, None)).all(source(&[(1, "0@0")]))
        })
        .indeterminate("gone-and-no-position-was-read", pulsar().all(source(&[])))
        .indeterminate("not-read-to-its-end", {
            two().and(entry(TopicRole::Source, ReadWhy::Final, 1, "0@0"))
        })
        .indeterminate("nothing-confirmed", {
            let story = Story::new().and(planned(1)).and(publish(1, CallOutcome::Unknown, None));
            story.all(source(&[(1, "0@0")]))
        })
        .indeterminate("without-a-place-and-perhaps-trimmed", {
            let story = Story::new().and(planned(1)).and(publish(1, CallOutcome::Ok, None));
            story.all(source(&[]))
        })
}

fn settled() -> Group {
    let again = |seq, who, n| {
        let Event::AuditRow(mut row) = effect(seq, who, n) else { unreachable!() };
        row.why = ReadWhy::Teardown;
        Event::AuditRow(row)
    };
    let torn = |next| stands_at(TopicRole::Source, SHOP, ReadWhy::Teardown, committed(next));
    let done = || {
        let story = Story::new().all([planned(1), confirmed(1, "0@0"), effect(1, A, 1)]);
        story.and(stands(committed(1))).and(settle(SettleStep::Expected)).and(reads_done())
    };
    let waited = |met| Event::Waited {
        what: String::from("drained"),
        waited_us: 5,
        met,
        last_seen: String::from("1 left"),
    };
    let empty_ledger = |why| stands_at(TopicRole::Source, SHOP, why, mark((7, 0)));
    Group::of("settled", Rule::Always(AlwaysOn::Settled), scope())
        .holds("nothing-changed", done().and(again(1, A, 1)).and(torn(1)).and(waited(true)))
        .graded(Grade::Ledger)
        .holds("the-mark-moved-past-no-message", {
            let story = Story::new().all([planned(1), confirmed(1, "7:0")]);
            let story = story.and(settle(SettleStep::Expected)).and(reads_done());
            let moved = stands_at(TopicRole::Source, SHOP, ReadWhy::Teardown, mark((8, -1)));
            story.and(empty_ledger(ReadWhy::Final)).and(moved)
        })
        .violated("a-late-effect", &[1], {
            done().and(again(1, A, 1)).and(again(2, A, 1)).and(torn(1))
        })
        .violated("an-effect-is-gone-from-the-trail", &[1], done().and(torn(1)))
        .violated("the-cursor-came-back", &[1], done().and(again(1, A, 1)).and(torn(0)))
        .indeterminate("final-reads-not-done", {
            let story = done().and(again(1, A, 1)).and(torn(1));
            story.and(settle_as(SettleStep::FinalReads, false))
        })
        .indeterminate("teardown-not-read", done().and(again(1, A, 1)))
        .indeterminate("waited-in-vain", {
            done().and(again(1, A, 1)).and(torn(1)).and(waited(false))
        })
        .indeterminate("expected-state-not-reached", {
            let story = done().and(again(1, A, 1)).and(torn(1));
            story.and(settle_as(SettleStep::Expected, false))
        })
}

fn links_only() -> Group {
    let stop = settle(SettleStep::Expected);
    let exited = |who: &str, signalled_by_us| Event::WorkerExited {
        process: process(who),
        exit: Exit::Code(0),
        signalled_by_us,
    };
    let begun = || {
        let started = [started("producer/1", Role::Producer), started(A, Role::Consumer)];
        Story::new().all(started).and(exited("producer/1", None))
    };
    let stopped = |story: Story| story.and(stop.clone()).and(exited(A, Some(15)));
    Group::of("links_only", Rule::Always(AlwaysOn::LinksOnly), scope())
        .holds("through-links", stopped(begun().and(sockets(A, 2, &[]))))
        .graded(Grade::Wire)
        .holds("ended-by-itself-between-two-looks", {
            let story = begun().and(started("redriver/1", Role::Redriver));
            let story = stopped(story.and(sockets(A, 2, &[])));
            story.and(exited("redriver/1", None))
        })
        .violated("past-a-link", &[], stopped(begun().and(sockets(A, 1, &["127.0.0.1:9092"]))))
        .violated("past-a-link-once", &[], {
            let direct = sockets(A, 1, &["127.0.0.1:5432"]);
            stopped(begun().and(sockets(A, 2, &[])).and(direct).and(sockets(A, 2, &[])))
        })
        .indeterminate("no-sample", stopped(begun()))
        .indeterminate("samples-without-a-connection", stopped(begun().and(sockets(A, 0, &[]))))
        .indeterminate("one-held-and-not-sampled", {
            let trigger = triggered("kill", "consumer/2", Point::BeforeAck, 1);
            let story = begun().and(sockets(A, 2, &[])).and(started("consumer/2", Role::Consumer));
            stopped(story.and(trigger).and(exited("consumer/2", Some(9))))
        })
        .indeterminate("one-alive-at-the-end-and-not-sampled", {
            stopped(begun().and(sockets(A, 2, &[])).and(started("consumer/2", Role::Consumer)))
        })
}

fn hot_loop() -> Group {
    let once = || Story::new().all([planned(1), planned(2), received(A, 1), received(A, 2)]);
    let times = |times: usize| once().all((0..times).map(|_| received(A, 2)));
    let cap = Event::CapReached { deliveries: 20, cap: 20 };
    Group::of("hot_loop", Rule::Always(AlwaysOn::HotLoop), scope())
        .holds("once-each", once())
        .graded(Grade::Claimed)
        .holds("one-below-the-cap", times(17))
        .violated("stopped-at-the-cap", &[2], times(1).and(cap.clone()))
        .violated("at-the-cap-and-not-stopped", &[2], times(18))
        .violated("stopped-and-nobody-says-with-what", &[], Story::new().and(cap))
        .indeterminate("no-handler-ran", Story::new().and(planned(1)))
}
