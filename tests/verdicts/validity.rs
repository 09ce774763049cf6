//! Validity of evidence: wrong versions, unexplained deaths, torn histories, a settle without end.
//! A `World` in order comes in, damaged in one way at a time; the cause must be the right one.
//! It must never let a run pass whose evidence somebody could not have vouched for.

use ackproof::evidence::event::{AttestedSubject, ContainerState, Event, Exit, SettleStep};
use ackproof::faults::FaultSpec;
use ackproof::faults::kill::AfterKill;
use ackproof::names::{Cause, Outcome, Role, ServerKind};

use crate::story::*;
use crate::world::outcome::*;
use crate::world::*;

#[test]
fn versions_that_nobody_attested_or_that_are_others_are_wrong() {
    let about = |subject: fn(&AttestedSubject) -> bool| {
        move |event: &Event| match event {
            Event::Attested(attested) => subject(&attested.subject),
            _ => false,
        }
    };
    let wrong = Cause::WrongVersion;
    let kafka = |s: &AttestedSubject| *s == AttestedSubject::Server(ServerKind::Kafka);
    let client = |s: &AttestedSubject| matches!(s, AttestedSubject::Client { .. });
    let second = |s: &AttestedSubject| match s {
        AttestedSubject::Client { process: p, .. } => *p == process("consumer/2"),
        AttestedSubject::Server(_) => false,
    };
    without(wrong, "nobody attested kafka 4.3.1", about(kafka));
    without(wrong, "nobody attested rdkafka 2.1.0", about(client));
    without(wrong, "nobody attested rdkafka 2.1.0 in consumer/2", about(second));
    for (version, reason) in [("4.3.0", "kafka is 4.3.0, pinned is 4.3.1"), ("4", "kafka is 4,")] {
        inconclusive(wrong, reason, |world| {
            world.tell(SUBJECT, |story| {
                story.with(|event| {
                    if let Event::Attested(attested) = event
                        && attested.subject == AttestedSubject::Server(ServerKind::Kafka)
                    {
                        attested.version = version.to_owned();
                    }
                })
            });
        });
    }
    inconclusive(wrong, "rdkafka in consumer/2 is 2.0.0", |world| {
        world.tell(SUBJECT, |story| {
            story.with(|event| {
                if let Event::Attested(attested) = event
                    && second(&attested.subject)
                {
                    attested.version = String::from("2.0.0");
                }
            })
        });
    });
    // Who never came to do anything owes no version.
    let cell = cell(|w| {
        w.tell(SUBJECT, |s| {
            s.and(started("consumer/3", Role::Producer)).and(ends(
                "consumer/3",
                Exit::Code(0),
                None,
            ))
        })
    });
    assert_outcome(&cell, Outcome::Pass, None, "");
}

#[test]
fn a_producer_of_another_client_attests_that_one() {
    let mixed = |version: &'static str| {
        move |world: &mut World| {
            let pin = ackproof::checks::Pin {
                subject: ackproof::checks::PinSubject::Producer("kafka-clients".to_owned()),
                version: "4.1.0".to_owned(),
            };
            for unit in [SUBJECT, CONTROL, BASELINE] {
                world.unit(unit).scope.pins.push(pin.clone());
                world.tell(unit, |story| {
                    story.with(|event| {
                        if let Event::Attested(attested) = event
                            && let AttestedSubject::Client { process: p, library } =
                                &mut attested.subject
                            && *p == process("producer/1")
                        {
                            *library = "kafka-clients".to_owned();
                            attested.version = version.to_owned();
                        }
                    })
                });
            }
        }
    };
    assert_outcome(&cell(mixed("4.1.0")), Outcome::Pass, None, "");
    let wrong = Cause::WrongVersion;
    inconclusive(wrong, "kafka-clients in producer/1 is 4.0.0, pinned", mixed("4.0.0"));
    // Its own client would do for consumers alone.
    inconclusive(wrong, "nobody attested kafka-clients 4.1.0", |world| {
        mixed("4.1.0")(world);
        world.tell(SUBJECT, |story| {
            story.with(|event| {
                if let Event::Attested(attested) = event
                    && let AttestedSubject::Client { process: p, library } = &mut attested.subject
                    && *p == process("producer/1")
                {
                    *library = "rdkafka".to_owned();
                }
            })
        });
    });
}

#[test]
fn deaths_that_the_runner_did_not_cause_are_no_evidence() {
    let ended = |exit, signalled| ends("producer/1", exit, signalled);
    with(Cause::Oom, "signal 9, which the runner did not send", ended(Exit::Signal(9), None));
    with(Cause::Oom, "signal 9, which the runner", ended(Exit::Signal(9), Some(15)));
    with(Cause::Environment, "by itself with signal 11", ended(Exit::Signal(11), None));
    with(Cause::Environment, "by itself with code 101", ended(Exit::Code(101), None));
    let broke = Event::WorkerMisbehaved {
        process: process("consumer/1"),
        what: String::from("no JSON"),
        log_tail: String::new(),
    };
    with(Cause::RunnerError, "broke the protocol: no JSON", broke);
    let containers = |change: fn(&mut ContainerState)| {
        move |world: &mut World| {
            world.tell(SUBJECT, |story| {
                let history = story.history();
                let states = history.events().filter(|event| matches!(event, Event::Container(_)));
                let Some(Event::Container(mut state)) = states.last().cloned() else {
                    unreachable!()
                };
                change(&mut state);
                story.and(Event::Container(state))
            });
        }
    };
    inconclusive(Cause::Oom, "container ran out of memory", containers(|s| s.oom_killed = true));
    inconclusive(Cause::Environment, "was not running", containers(|s| s.running = false));
    inconclusive(Cause::Environment, "was started again", containers(|s| s.started_at.push('2')));
}

#[test]
fn a_server_whose_disk_is_full_is_no_evidence_and_explains_what_else_went_wrong() {
    let line = "ERROR:  could not extend file \"base/1/2\": No space left on device";
    let full = || Event::DiskFull { server: ServerKind::Postgres, line: line.to_owned() };
    let reason = format!("the postgres container ran out of disk space: {line}");
    with(Cause::Environment, &reason, full());
    // Neither a violated check nor what the worker did about it comes before the cause.
    inconclusive(Cause::Environment, &reason, |world| {
        world.tell(SUBJECT, |story| {
            doubled(story)
                .and(trouble(Cause::RunnerError))
                .and(ends("consumer/2", Exit::Code(1), None))
                .and(full())
        });
    });
    inconclusive(Cause::BaselineFailed, &reason, |world| {
        world.tell(BASELINE, |story| story.and(full()));
    });
    inconclusive(Cause::Environment, &format!("control no-inbox: {reason}"), |world| {
        world.tell(CONTROL, |story| story.and(full()));
    });
}

#[test]
fn a_history_must_be_whole_and_the_units_own() {
    inconclusive(Cause::DamagedEvidence, "cannot be used: torn", |world| {
        world.unreadable.insert(SUBJECT.to_owned(), String::from("torn"));
    });
    inconclusive(Cause::Cancelled, "ended early: torn", |world| {
        world.run.cancelled = true;
        world.unreadable.insert(SUBJECT.to_owned(), String::from("torn"));
    });
    inconclusive(Cause::DamagedEvidence, "left no history", |world| {
        world.stories.remove(SUBJECT);
    });
    inconclusive(Cause::RunnerError, "never started", |world| {
        world.stories.remove(SUBJECT);
        world.run.units.remove(SUBJECT);
    });
    inconclusive(Cause::Cancelled, "not run to its end", |world| {
        world.stories.remove(SUBJECT);
        world.run.cancelled = true;
    });
    inconclusive(Cause::RunnerError, "the history is about control", |world| {
        let other = world.stories[CONTROL].clone();
        world.stories.insert(SUBJECT.to_owned(), other);
    });
    inconclusive(Cause::RunnerError, "of run r-1", |world| world.run.id.push('0'));
    inconclusive(Cause::RunnerError, "seed 7, the plan 8", |w| w.unit(SUBJECT).seed = 8);
    inconclusive(Cause::RunnerError, "2 events were planned in the run, 3 in", |world| {
        world.unit(SUBJECT).workload.events = 3;
    });
    inconclusive(Cause::RunnerError, "other events are poison", |world| {
        world.unit(SUBJECT).workload.poison = vec![2];
    });
    without(Cause::RunnerError, "does not say what it is about", |event| {
        matches!(event, Event::Unit { .. })
    });
    // A seal in the middle seals nothing.
    let mut world = World::new();
    world.tell(SUBJECT, |story| story.and(Event::Sealed { records: 0 }));
    let unsealed = world.stories[SUBJECT].clone().and(health(1)).history();
    let report = ackproof::verdict::judge(
        &world.plan,
        &world.run,
        &[(SUBJECT.to_owned(), Ok(unsealed))].into(),
        "",
    );
    assert!(report.cells[0].reason.contains("not sealed"), "{}", report.cells[0].reason);
}

#[test]
fn every_step_of_settle_is_owed() {
    for (step, cause, reason) in [
        (SettleStep::Heal, Cause::HealNotVerified, "heal"),
        (SettleStep::Expected, Cause::RunnerError, "expected state"),
        (SettleStep::StopWorkers, Cause::RunnerError, "stop the workers"),
        (SettleStep::NoBackend, Cause::Environment, "backend"),
        (SettleStep::FinalReads, Cause::RunnerError, "read everything"),
    ] {
        without(cause, reason, |e| matches!(e, Event::Settle { step: s, .. } if *s == step));
    }
    for (step, cause, reason) in [
        (SettleStep::Heal, Cause::HealNotVerified, "settle could not heal"),
        (SettleStep::Expected, Cause::NothingExamined, "expected state was not reached"),
        (SettleStep::StopWorkers, Cause::RunnerError, "could not stop the workers"),
        (SettleStep::NoBackend, Cause::Environment, "could not see the last database backend"),
        (SettleStep::FinalReads, Cause::RunnerError, "could not read everything"),
    ] {
        with(cause, reason, settle_as(step, false));
    }
}

#[test]
fn a_worker_past_its_link_invalidates_the_evidence() {
    let direct = sockets("consumer/2", 1, &["127.0.0.1:9092"]);
    with(Cause::Environment, "consumer/2 goes to 127.0.0.1:9092", direct);
    without(Cause::NothingExamined, "links_only", |event| matches!(event, Event::Sockets { .. }));
}

#[test]
fn a_restart_that_nobody_saw_is_not_healed() {
    without(
        Cause::HealNotVerified,
        "nothing shows that kill is healed",
        |event| matches!(event, Event::ClaimReady { process: p } if *p == process("consumer/2")),
    );
    let cell = cell(|world| {
        let FaultSpec::Kill(mut spec) = kill() else { unreachable!() };
        spec.then = AfterKill::StayDead;
        set_fault(world.unit(SUBJECT), FaultSpec::Kill(spec));
        world.tell(SUBJECT, |story| {
            story.without(|e| matches!(e, Event::ClaimReady { process: p } if p.incarnation == 2))
        });
    });
    assert_outcome(&cell, Outcome::Pass, None, "");
    assert_eq!(cell.faults[0].healed, None);
}
