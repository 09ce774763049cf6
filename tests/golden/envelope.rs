//! Golden histories of `dead_letters` with properties that a letter must carry.
//! Nothing comes in; groups of cases come out.
//! It must never hold a story longer than a screen.

use std::collections::BTreeMap;

use ackproof::evidence::event::{At, CallResult, Event, LogEntry, ReadWhy};
use ackproof::names::{CallOutcome, Grade, Operation, Role, TopicRole};

use super::{Group, scope};
use crate::story::*;

pub fn groups() -> Vec<Group> {
    vec![told(), origin(), position(), subscription(), attempts()]
}

const A: &str = "consumer/1";
const B: &str = "consumer/2";
const LETTERS: TopicRole = TopicRole::DeadLetter;

/// A poison event, read from the source, and its letter, which carries these properties.
fn letter(carried: &[(&str, &str)]) -> Story {
    start().all(source("7:1")).all(one("8:0", carried))
}

fn start() -> Story {
    Story::new().all([poison(2), confirmed(2, "7:1")])
}

fn source(place: &str) -> Vec<Event> {
    log(TopicRole::Source, &[(2, place)])
}

fn one(place: &str, carried: &[(&str, &str)]) -> Vec<Event> {
    let mut read = log(LETTERS, &[(2, place)]);
    let Event::LogEntry(LogEntry { properties, .. }) = &mut read[0] else { unreachable!() };
    let carried = carried.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    properties.extend(carried);
    read
}

fn spec(carries: &str) -> String {
    format!(
        r#"{{"dead_letters": {{"of": "poison", "copies": {{"at_least": 1}}, "fidelity": "id",
            "carries": {carries}}}}}"#
    )
}

fn told() -> Group {
    let spec = spec(
        r#"{"id": "original_id", "hash": "fingerprint", "error": "any",
            "owner": {"text": "billing"}}"#,
    );
    let right =
        [("id", "e-0002"), ("hash", "payload-2"), ("error", "poison"), ("owner", "billing")];
    let but = |name: &str, value: &str| {
        let mut changed: BTreeMap<&str, &str> = right.into_iter().collect();
        changed.insert(name, value);
        letter(&changed.into_iter().collect::<Vec<_>>())
    };
    let without = |name: &str| {
        let left: Vec<_> = right.into_iter().filter(|(other, _)| *other != name).collect();
        letter(&left)
    };
    // A second publication under the same id has another payload, and this is its letter.
    let conflict = |fingerprint: &str| {
        let story = but("hash", fingerprint).with(|event| {
            if let Event::LogEntry(entry) = event {
                entry.payload_sha256 = String::from("payload-other");
            }
        });
        story.and(entry(TopicRole::Source, ReadWhy::Final, 2, "7:2"))
    };
    Group::check("dead_letters.carries", &spec, scope())
        .holds("all", letter(&right))
        .graded(Grade::Broker)
        .holds("of-a-conflicting-copy", conflict("payload-other"))
        .violated("of-the-first-copy-on-the-letter-of-a-conflicting-one", &[2], {
            conflict("payload-2")
        })
        .violated("another-id", &[2], but("id", "e-0001"))
        .violated("another-fingerprint", &[2], but("hash", "payload-1"))
        .violated("an-empty-error", &[2], but("error", ""))
        .violated("another-owner", &[2], but("owner", "billings"))
        .violated("no-id", &[2], without("id"))
        .violated("no-fingerprint", &[2], without("hash"))
        .violated("no-error", &[2], without("error"))
        .violated("no-owner", &[2], without("owner"))
        .violated("the-second-letter-carries-nothing", &[2], {
            letter(&right).and(entry(LETTERS, ReadWhy::Final, 2, "8:1"))
        })
        .violated("no-letter", &[2], start().all(log(LETTERS, &[])))
        .indeterminate("not-read", start().all(source("7:1")))
}

fn origin() -> Group {
    let spec = spec(r#"{"REAL_TOPIC": "source_topic"}"#);
    let says = |topic: &str| letter(&[("REAL_TOPIC", topic)]);
    Group::check("dead_letters.source-topic", &spec, scope())
        .holds("by-name", says("orders"))
        .graded(Grade::Broker)
        .holds("with-its-scheme", says("persistent://orders"))
        .holds("with-its-partition", says("persistent://orders-partition-3"))
        .holds("by-the-producers-word", start().all(one("8:0", &[("REAL_TOPIC", "orders")])))
        .graded(Grade::Claimed)
        .violated("an-empty-name", &[2], says(""))
        .violated("the-retry-topic", &[2], says("persistent://orders-RETRY"))
        .violated("a-name-that-only-ends-like-a-partition", &[2], says("orders-partition-x"))
        .violated("missing", &[2], letter(&[]))
        .indeterminate("nothing-names-the-source", {
            Story::new().and(poison(2)).all(one("8:0", &[("REAL_TOPIC", "orders")]))
        })
}

/// Handed over by the retry topic, or at a place of the source.
fn handed_over(who: &str, delivery: u32, position: &str) -> Event {
    let Event::ClaimAt(at) = received(who, 2) else { unreachable!() };
    let position = Some(position.parse().expect("a position"));
    Event::ClaimAt(At { delivery, position, ..at })
}

fn position() -> Group {
    let spec = spec(r#"{"ORIGIN_MESSAGE_ID": "source_position"}"#);
    let at = |value: &str| one("8:0", &[("ORIGIN_MESSAGE_ID", value)]);
    let says = |value: &str| start().all(source("7:1")).all(at(value));
    let kafka = |value: &str| {
        let story = Story::new().all([poison(2), confirmed(2, "1@5")]).all(source("1@5"));
        story.all(one("0@0", &[("ORIGIN_MESSAGE_ID", value)]))
    };
    Group::check("dead_letters.source-position", &spec, scope())
        .holds("as-pulsar-clients-write-it", says("7:1:-1"))
        .graded(Grade::Broker)
        .holds("in-a-batch", says("7:1:-1:4"))
        .holds("as-the-runner-writes-it", says("orders/7:1"))
        .holds("with-its-scheme", says("persistent://orders/7:1:4"))
        .holds("by-offset", kafka("orders/1@5"))
        .holds("by-the-producers-word", start().all(at("7:1:-1")))
        .graded(Grade::Claimed)
        .holds("of-a-redriven-copy", {
            let copy =
                call("redriver/1", Operation::Redrive, 2, CallOutcome::Ok, Some("orders/7:9"));
            start().and(copy).all(at("7:9:-1"))
        })
        .holds("where-a-handler-had-it", {
            start().and(handed_over(A, 1, "orders/7:9")).all(at("7:9:-1"))
        })
        .violated("another-entry", &[2], says("7:2:-1"))
        .violated("another-ledger", &[2], says("8:1:-1"))
        .violated("another-topic", &[2], says("orders-RETRY/7:1"))
        .violated("another-offset", &[2], kafka("orders/1@6"))
        .violated("another-partition", &[2], kafka("orders/0@5"))
        .violated("no-position", &[2], says("7:1"))
        .violated("too-many-numbers", &[2], says("7:1:-1:4:0"))
        .violated("no-numbers", &[2], says("first"))
        .violated("an-offset-is-no-entry", &[2], kafka("1:5:-1"))
        .violated("where-the-retry-topic-had-it", &[2], {
            let retried = handed_over(A, 1, "orders-RETRY/9:0");
            start().and(retried).all(at("9:0:-1"))
        })
        .violated("a-failed-redrive-is-nowhere", &[2], {
            let copy =
                call("redriver/1", Operation::Redrive, 2, CallOutcome::Error, Some("orders/7:9"));
            start().and(copy).all(at("7:9:-1"))
        })
        .indeterminate("nothing-says-where", Story::new().and(poison(2)).all(at("7:1:-1")))
}

fn subscription() -> Group {
    let spec = spec(r#"{"of": "source_subscription"}"#);
    let says = |name: &str| one("8:0", &[("of", name)]);
    let group = |who: &str, name: &str| Event::ClaimOptions {
        process: process(who),
        effective: BTreeMap::from([(String::from("group.id"), name.to_owned())]),
    };
    Group::check("dead_letters.source-subscription", &spec, scope())
        .holds("listed-by-the-broker", start().and(source_counts(1)).all(says(SHOP)))
        .graded(Grade::Broker)
        .holds("named-by-the-consumer", start().and(group(A, "g")).all(says("g")))
        .graded(Grade::Claimed)
        .violated("another", &[2], start().and(source_counts(1)).all(says("other")))
        .violated("listed-and-another-is-named", &[2], {
            start().and(source_counts(1)).and(group(A, "g")).all(says("g"))
        })
        .violated("missing", &[2], start().and(source_counts(1)).all(one("8:0", &[])))
        .indeterminate("nobody-is-known", start().all(says(SHOP)))
        .indeterminate("the-redrivers-group-is-another", {
            let redriver = "redriver/1";
            let named = [started(redriver, Role::Redriver), group(redriver, "g")];
            start().all(named).all(says("g"))
        })
}

/// A handling that failed, by what its worker says.
fn failed(who: &str, delivery: u32, error: &str) -> [Event; 2] {
    let effect = call(who, Operation::Effect, 2, CallOutcome::Error, None);
    let Event::ClaimResult(result) = effect else { unreachable!() };
    let error = Some(error.to_owned());
    let delivery_of = Some(delivery);
    let result = CallResult { error, delivery: delivery_of, ..result };
    [handed_over(who, delivery, "orders/7:1"), Event::ClaimResult(result)]
}

/// Two handlings that failed in one process.
fn twice() -> Story {
    start().all(failed(A, 1, "poison")).all(failed(A, 2, "poison"))
}

/// The letter that follows states so many attempts.
fn says(story: Story, value: &str) -> Story {
    story.all(one("8:0", &[("attempts", value)]))
}

fn attempts() -> Group {
    let spec = spec(r#"{"attempts": "attempts"}"#);
    let written = call(A, Operation::DeadLetter, 2, CallOutcome::Ok, Some("letters/8:0"));
    let wrote = |value: &str| says(twice().and(written.clone()), value);
    let killed = || start().and(handed_over(A, 1, "orders/7:1")).all(failed(B, 1, "poison"));
    let group = Group::check("dead_letters.attempts", &spec, scope())
        .holds("each-failure", wrote("2"))
        .graded(Grade::Claimed)
        .holds("a-death-is-no-failure", says(killed().and(written.clone()), "1"))
        .holds("a-death-is-an-attempt", says(killed().and(written.clone()), "2"))
        .violated("a-conflict-is-a-failure", &[2], {
            let conflict = |event: &mut Event| {
                if let Event::ClaimResult(result) = event
                    && result.operation == Operation::Effect
                {
                    result.outcome = CallOutcome::Conflict;
                }
            };
            says(twice().with(conflict).and(written.clone()), "1")
        })
        .holds("the-database-behind-it-is-no-failure", {
            let story = start().all(failed(A, 1, "no connection")).all(failed(A, 2, "poison"));
            says(story.and(written.clone()), "1")
        })
        .holds("the-failure-is-of-one-handing-over-in-its-process", {
            let down =
                start().all(failed(A, 1, "no connection")).all(failed(A, 2, "no connection"));
            says(down.all(failed(A, 3, "poison")).and(written.clone()), "1")
        })
        .holds("handed-over-once-more-afterwards", {
            says(twice().and(written.clone()).all(failed(B, 1, "poison")), "2")
        })
        .holds("of-the-redriven-copy-alone", {
            let copy = [handed_over(B, 1, "orders/7:9")];
            says(twice().all(copy).and(written.clone()), "1")
        })
        .holds("over-the-retry-topic", {
            let retried = [handed_over(B, 1, "orders-RETRY/9:0")];
            says(twice().all(retried).and(written.clone()), "3")
        })
        .holds("as-many-without-a-word-of-the-letter", says(twice(), "2"))
        .violated("one-forgotten", &[2], wrote("1"))
        .violated("failed-for-good", &[2], {
            let story = start().all(failed(A, 1, "rejected")).all(failed(A, 2, "undecodable"));
            says(story.and(written.clone()), "1")
        })
        .violated("one-more", &[2], wrote("3"))
        .violated("none", &[2], says(killed().and(written.clone()), "0"))
        .violated("no-number", &[2], wrote("two"))
        .violated("more-without-a-word-of-the-letter", &[2], says(twice(), "3"))
        .violated("none-without-a-word-of-the-letter", &[2], says(twice(), "0"))
        .violated("only-what-came-after-the-letter", &[2], {
            says(
                start()
                    .all(failed(A, 1, "poison"))
                    .and(written.clone())
                    .all(failed(B, 1, "poison")),
                "2",
            )
        });
    untold_attempts(group)
}

fn untold_attempts(group: Group) -> Group {
    group
        .indeterminate("when-was-it-written", says(twice(), "1"))
        .indeterminate("written-elsewhere", {
            let elsewhere = call(A, Operation::DeadLetter, 2, CallOutcome::Ok, Some("letters/8:5"));
            says(twice().and(elsewhere), "1")
        })
        .indeterminate("not-confirmed", {
            let lost = call(A, Operation::DeadLetter, 2, CallOutcome::Unknown, Some("letters/8:0"));
            says(twice().and(lost), "1")
        })
        .indeterminate("no-handler-had-it", says(start(), "2"))
        .graded(Grade::Broker)
}
