//! Golden histories of `dead_letters`, `unretained`, `not_advanced` and `redrive_known`.
//! Nothing comes in; groups of cases come out.
//! It must never hold a story longer than a screen.

use ackproof::evidence::event::{Event, FaultStage, LogEntry, ProbeWhen, ReadWhy};
use ackproof::names::{Grade, Point, Role, TopicRole};

use super::{Group, scope};
use crate::story::*;

pub fn groups() -> Vec<Group> {
    vec![dead_letters(), no_letters(), unretained(), not_advanced(), redrive_known()]
}

const A: &str = "consumer/1";
const LETTERS: TopicRole = TopicRole::DeadLetter;

/// A healthy event and two poison ones.
fn three() -> Story {
    Story::new().all([planned(1), poison(2), poison(3)])
}

fn changed(story: Story, change: impl Fn(&mut LogEntry)) -> Story {
    story.with(|event| {
        if let Event::LogEntry(entry) = event {
            change(entry);
        }
    })
}

fn dead_letters() -> Group {
    let spec = r#"{"dead_letters": {"of": "poison", "copies": {"at_most": 2},
                   "fidelity": "payload_and_properties"}}"#;
    let both = || three().all(log(LETTERS, &[(2, "0@0"), (3, "0@1")]));
    let pulsar = |letters: &[(u32, &str)]| three().all(log(LETTERS, letters));
    Group::check("dead_letters", spec, scope())
        .holds("both", both())
        .graded(Grade::Broker)
        .holds("one-twice", three().all(log(LETTERS, &[(2, "0@0"), (3, "0@1"), (3, "0@2")])))
        .holds("more-properties", {
            changed(both(), |entry| {
                entry.properties.insert(String::from("attempts"), String::from("3"));
            })
        })
        .holds("redriven-and-trimmed-later", {
            let during = read(LETTERS, ReadWhy::During, &[(2, "8:0"), (3, "8:1")]);
            three().all(during).and(redriven(2)).all(log(LETTERS, &[(3, "8:1")]))
        })
        .violated("gone-without-a-redrive", &[2], {
            let during = read(LETTERS, ReadWhy::During, &[(2, "8:0"), (3, "8:1")]);
            three().all(during).all(log(LETTERS, &[(3, "8:1")]))
        })
        .violated("one-missing", &[3], three().all(log(LETTERS, &[(2, "0@0")])))
        .violated("one-too-often", &[3], {
            let copies = [(2, "0@0"), (3, "0@1"), (3, "0@2"), (3, "0@3")];
            three().all(log(LETTERS, &copies))
        })
        .violated("a-healthy-one", &[1], both().and(entry(LETTERS, ReadWhy::Final, 1, "0@2")))
        .violated("another-payload", &[3], {
            changed(both(), |entry| {
                if entry.event == Some(id(3)) {
                    entry.payload_sha256.push('!');
                }
            })
        })
        .violated("a-property-less", &[2, 3], changed(both(), |entry| entry.properties.clear()))
        .violated("a-property-changed", &[2], {
            changed(both(), |entry| {
                if entry.event == Some(id(2)) {
                    entry.properties.insert(String::from("event-id"), String::from("e-9"));
                }
            })
        })
        .violated("missing-though-redriven-where-logs-keep", &[3], {
            three().all(log(LETTERS, &[(2, "0@0")])).and(redriven(3))
        })
        .indeterminate("missing-but-redriven-and-perhaps-trimmed", {
            pulsar(&[(2, "8:0")]).and(redriven(3))
        })
        .indeterminate("not-read-to-its-end", {
            both().without(|event| matches!(event, Event::LogRead { .. }))
        })
        .indeterminate("no-poison", Story::new().and(planned(1)).all(log(LETTERS, &[])))
}

fn no_letters() -> Group {
    let spec = r#"{"dead_letters": {"of": "all", "copies": {"exactly": 0}, "fidelity": "id"}}"#;
    Group::check("dead_letters.none", spec, scope())
        .holds("none", three().all(log(LETTERS, &[])))
        .violated("one", &[2], three().all(log(LETTERS, &[(2, "0@0")])))
        .indeterminate("not-read", three())
}

fn unretained() -> Group {
    let counted = |number, subscriptions: &[&str]| {
        three().and(letter_counts(ReadWhy::During, number, subscriptions))
    };
    let trim = |story: Story| story.and(administered("trim"));
    let gone = |story: Story| trim(story).all(log(LETTERS, &[]));
    let kept = |story: Story| trim(story).all(log(LETTERS, &[(2, "8:0"), (3, "8:1")]));
    let source = |next| {
        let source = log(TopicRole::Source, &[(2, "7:1"), (3, "7:2")]);
        gone(counted(2, &[])).all(source).and(stands(mark((7, next))))
    };
    Group::check("unretained", r#"{"unretained": {"of": "poison"}}"#, scope())
        .holds("counted-and-gone", gone(counted(2, &[])))
        .graded(Grade::Broker)
        .holds("and-acknowledged-in-the-source", source(2))
        .violated("subscribed-and-kept", &[2, 3], kept(counted(2, &["redriver"])))
        .violated("kept-without-subscription", &[2, 3], kept(counted(2, &[])))
        .violated("one-kept", &[3], trim(counted(2, &[])).all(log(LETTERS, &[(3, "8:1")])))
        .indeterminate("never-counted", gone(three()))
        .indeterminate("counted-too-few", gone(counted(1, &[])))
        .indeterminate("counted-only-afterwards", {
            gone(three()).and(letter_counts(ReadWhy::Final, 2, &[]))
        })
        .indeterminate("somebody-subscribed", gone(counted(2, &["somebody"])))
        .indeterminate("never-administered", counted(2, &[]).all(log(LETTERS, &[])))
        .indeterminate("took-no-effect", {
            gone(counted(2, &[])).with(|event| {
                if let Event::Fault(step) = event
                    && let FaultStage::Administered { took_effect, .. } = &mut step.stage
                {
                    *took_effect = false;
                }
            })
        })
        .indeterminate("read-only-before", trim(counted(2, &[]).all(log(LETTERS, &[]))))
        .indeterminate("would-come-again", source(1))
}

fn not_advanced() -> Group {
    let during = |next| stands_at(TopicRole::Source, SHOP, ReadWhy::During, committed(next));
    let at_source = [(1, "0@0"), (2, "0@1"), (3, "0@2")];
    let start = || three().all(log(TopicRole::Source, &at_source)).and(withheld("no-topic"));
    let tried = || start().and(received(A, 2));
    let spec = r#"{"not_advanced": {"of": "poison", "during": "no-topic"}}"#;
    Group::check("not_advanced", spec, scope())
        .holds("stays", tried().and(during(1)).and(healed("no-topic")))
        .graded(Grade::Broker)
        .holds("passes-once-it-is-healed", {
            tried().and(during(1)).and(healed("no-topic")).and(during(3))
        })
        .holds("never-healed", tried().and(during(1)))
        .violated("passes-the-first", &[2], tried().and(during(2)).and(healed("no-topic")))
        .violated("passes-all-and-comes-back", &[2, 3], {
            tried().and(during(3)).and(during(1)).and(healed("no-topic"))
        })
        .indeterminate("no-reading", tried().and(healed("no-topic")))
        .indeterminate("reading-before-anything-was-handed-over", {
            start().and(during(0)).and(received(A, 2)).and(healed("no-topic"))
        })
        .indeterminate("only-a-healthy-one-was-handed-over", {
            start().and(received(A, 1)).and(during(1)).and(healed("no-topic"))
        })
        .indeterminate("reading-after-it-was-healed", {
            tried().and(healed("no-topic")).and(during(1))
        })
        .indeterminate("another-fault", {
            three().and(withheld("other")).and(received(A, 2)).and(during(1))
        })
        .indeterminate("nobody-knows-where-they-are", {
            three().and(withheld("no-topic")).and(received(A, 2)).and(during(1))
        })
        .indeterminate("another-destination", {
            let other = stands_at(TopicRole::Source, "other", ReadWhy::During, committed(1));
            tried().and(other)
        })
}

fn redrive_known() -> Group {
    let killed_at = |before, after| {
        three()
            .all([started("redriver/1", Role::Redriver)])
            .and(triggered("kill", "redriver/1", Point::Redriven, 2))
            .and(probe_redriven("kill", ProbeWhen::Before, 2, before))
            .and(probe_redriven("kill", ProbeWhen::After, 2, after))
    };
    let rows = |story: Story| story.all([redriven(2), redriven(3)]);
    let copies = |story: Story| {
        let copies = [(1, "0@0"), (2, "0@1"), (3, "0@2"), (2, "0@3"), (3, "0@4")];
        story.all(log(TopicRole::Source, &copies))
    };
    let no_after =
        |event: &Event| matches!(event, Event::Probe(probe) if probe.when == ProbeWhen::After);
    let probes = |event: &Event| matches!(event, Event::Probe(_));
    let spec = r#"{"redrive_known": {"of": "poison"}}"#;
    Group::check("redrive_known", spec, scope())
        .holds("recorded-and-copied", copies(rows(killed_at(1, 1))))
        .graded(Grade::Ledger)
        .holds("recorded-and-effective", {
            rows(killed_at(1, 1)).all([effect(1, A, 2), effect(2, A, 3)])
        })
        .holds("the-only-letter", {
            copies(killed_at(1, 1).and(redriven(2))).without(|event| *event == poison(3))
        })
        .violated("published-twice-is-no-return", &[2, 3], {
            let places = [(2, "0@1"), (2, "0@3"), (3, "0@2"), (3, "0@4")];
            let published = places.map(|(n, place)| confirmed(n, place));
            copies(rows(killed_at(1, 1)).all(published))
        })
        .violated("one-not-recorded", &[3], copies(killed_at(1, 1).and(redriven(2))))
        .violated("recorded-and-nowhere", &[2, 3], rows(killed_at(1, 1)))
        .violated("the-effect-is-another-letters", &[3], {
            rows(killed_at(1, 1)).and(effect(1, A, 2))
        })
        .violated("the-effect-was-taken-back", &[3], {
            let effects = [effect(1, A, 2), effect(2, A, 3), change(3, "DELETE", 3, A, 3)];
            rows(killed_at(1, 1)).all(effects)
        })
        .violated("one-only-once-in-the-source", &[3], {
            let copies = [(2, "0@1"), (3, "0@2"), (2, "0@3")];
            rows(killed_at(1, 1)).all(log(TopicRole::Source, &copies))
        })
        .violated("a-letter-of-no-redrive", &[1], {
            copies(rows(killed_at(1, 1))).and(redriven(1))
        })
        .violated("progress-was-forgotten", &[2], copies(rows(killed_at(1, 0))))
        .indeterminate("nobody-looked", copies(rows(killed_at(1, 1))).without(probes))
        .indeterminate("nobody-looked-again", copies(rows(killed_at(1, 1))).without(no_after))
        .indeterminate("interrupted-before-it-began", copies(rows(killed_at(0, 0))))
        .indeterminate("interrupted-when-all-was-done", copies(rows(killed_at(2, 2))))
        .indeterminate("still-going-on", copies(rows(killed_at(1, 2))))
        .indeterminate("a-consumer-was-killed", {
            copies(rows(killed_at(1, 1))).with(|event| {
                if let Event::WorkerStarted { role, .. } = event {
                    *role = Role::Consumer;
                }
            })
        })
}
