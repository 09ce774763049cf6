//! Verdicts: a run that passes is damaged in one way at a time, and the outcome must follow.
//! A `World` in order comes in; outcome, cause and reason of its cell are compared with a table.
//! It must never let damaged evidence pass, nor a broken guarantee hide behind a weaker outcome.

#![allow(clippy::unwrap_used)]

mod story;
mod world;

use ackproof::checks::{Bound, FindingResult};
use ackproof::evidence::event::{
    AttestedSubject, ContainerState, Event, Exit, FaultStage, Probe, ProbeWhen, ReadWhy, SettleStep,
};
use ackproof::faults::FaultSpec;
use ackproof::faults::kill::AfterKill;
use ackproof::names::{Cause, EventSet, Outcome, Point, Role, ServerKind};
use ackproof::plan::{Lack, UnitKind};
use ackproof::verdict::CellReport;

use story::*;
use world::*;

fn cell(damage: impl FnOnce(&mut World)) -> CellReport {
    let mut world = World::new();
    damage(&mut world);
    world.outcome()
}

#[track_caller]
fn assert_outcome(cell: &CellReport, outcome: Outcome, cause: Option<Cause>, reason: &str) {
    assert_eq!((cell.outcome, cell.cause), (outcome, cause), "{}", cell.reason);
    assert!(cell.reason.contains(reason), "'{}' does not say '{reason}'", cell.reason);
}

#[track_caller]
fn inconclusive(cause: Cause, reason: &str, damage: impl FnOnce(&mut World)) {
    assert_outcome(&cell(damage), Outcome::Inconclusive, Some(cause), reason);
}

/// Events for which this is about are taken out of the subject's story.
#[track_caller]
fn without(cause: Cause, reason: &str, pick: impl Fn(&Event) -> bool) {
    inconclusive(cause, reason, |world| world.tell(SUBJECT, |story| story.without(pick)));
}

/// One more record at the end of the subject's story.
#[track_caller]
fn with(cause: Cause, reason: &str, event: Event) {
    inconclusive(cause, reason, |world| world.tell(SUBJECT, |story| story.and(event)));
}

/// Probes of the subject are changed.
#[track_caller]
fn lying(reason: &str, when: ProbeWhen, change: impl Fn(&mut Probe)) {
    let change = |event: &mut Event| {
        if let Event::Probe(probe) = event
            && probe.when == when
        {
            change(probe);
        }
    };
    let damage = |world: &mut World| world.tell(SUBJECT, |story| story.with(change));
    inconclusive(Cause::FaultNotLanded, reason, damage);
}

fn doubled(story: Story) -> Story {
    let again = |why| {
        let Event::AuditRow(mut row) = effect(9, "consumer/2", 1) else { unreachable!() };
        row.why = why;
        Event::AuditRow(row)
    };
    story.and(again(ReadWhy::Final)).and(again(ReadWhy::Teardown))
}

#[test]
fn the_world_passes_as_it_is() {
    let report = World::new().report();
    let cell = &report.cells[0];
    assert_outcome(cell, Outcome::Pass, None, "6 checks hold");
    assert!(cell.faults[0].landed && cell.faults[0].healed == Some(true));
    assert!(cell.faults[0].receipt.contains("1 effect(s), not acknowledged; ended by signal 9"));
    assert!(cell.controls[0].caught, "{}", cell.controls[0].reason);
    assert_eq!(cell.controls[0].finding.as_ref().unwrap().result, FindingResult::Violated);
    assert_eq!(cell.controls[0].history, "histories/control.ndjson");
    assert_eq!(cell.server_attested.as_deref(), Some("4.3.1"));
    assert_eq!(cell.database_attested.as_deref(), Some("17.5"));
    assert_eq!(cell.client_attested.as_deref(), Some("2.1.0"));
    assert_eq!(cell.histories.len(), 3);
    assert_eq!(cell.reproduce, format!("ackproof run suites --filter 'id({})'", cell.id));
    assert_eq!((report.summary.pass, report.summary.cells), (1, 1));
    assert_eq!((report.summary.controls, report.summary.controls_caught), (1, 1));
    assert_eq!((report.exit_code(), report.run.root_hash.as_str()), (0, "root"));
}

#[test]
fn a_violated_check_fails_the_cell() {
    let cell = cell(|world| world.tell(SUBJECT, doubled));
    assert_outcome(&cell, Outcome::Fail, None, "effects: expected exactly 1");
    assert!(cell.marks.doubled.contains(&id(1)));
    let mut world = World::new();
    world.tell(SUBJECT, doubled);
    assert_eq!((world.report().exit_code(), world.report().summary.fail), (1, 1));
}

#[test]
fn invalid_evidence_outranks_a_violated_check_and_the_finding_is_shown() {
    for (cause, event) in [
        (Cause::Oom, ends("consumer/2", Exit::Signal(9), None)),
        (Cause::Environment, trouble(Cause::Environment)),
        (Cause::RunnerError, trouble(Cause::RunnerError)),
        (Cause::Toolchain, trouble(Cause::Toolchain)),
        (Cause::Cancelled, trouble(Cause::Cancelled)),
        (
            Cause::HealNotVerified,
            fault("f", FaultStage::Healed { proof: String::new(), verified: false }),
        ),
    ] {
        let cell = cell(|world| world.tell(SUBJECT, |story| doubled(story).and(event)));
        assert_outcome(&cell, Outcome::Inconclusive, Some(cause), "");
        let violated = cell.findings.iter().find(|f| f.result == FindingResult::Violated);
        assert_eq!(violated.map(|finding| finding.check.as_str()), Some("effects"));
    }
}

fn trouble(cause: Cause) -> Event {
    Event::Trouble { cause, place: String::from("somewhere"), detail: String::from("broke") }
}

#[test]
fn a_violated_check_outranks_everything_that_is_merely_not_shown() {
    let damages: [fn(&mut World); 4] = [
        |world| world.tell(SUBJECT, |s| s.without(|e| matches!(e, Event::Probe(_)))),
        |world| world.tell(SUBJECT, |s| s.and(trouble(Cause::FaultNotLanded))),
        |world| world.tell(SUBJECT, |s| s.without(|e| matches!(e, Event::Sockets { .. }))),
        |world| world.cell().controls.clear(),
    ];
    for damage in damages {
        let cell = cell(|world| {
            damage(world);
            world.tell(SUBJECT, doubled);
        });
        assert_outcome(&cell, Outcome::Fail, None, "effects");
    }
}

#[test]
fn versions_that_nobody_attested_or_that_are_others_are_wrong() {
    let about = |subject: fn(&AttestedSubject) -> bool| move |event: &Event| matches!(event, Event::Attested(a) if subject(&a.subject));
    let wrong = Cause::WrongVersion;
    let kafka = |s: &AttestedSubject| *s == AttestedSubject::Server(ServerKind::Kafka);
    let client = |s: &AttestedSubject| matches!(s, AttestedSubject::Client { .. });
    let second = |s: &AttestedSubject| matches!(s, AttestedSubject::Client { process: p, .. } if *p == process("consumer/2"));
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
fn a_history_must_be_whole_and_the_units_own() {
    inconclusive(Cause::RunnerError, "cannot be used: torn", |world| {
        world.unreadable.insert(SUBJECT.to_owned(), String::from("torn"));
    });
    inconclusive(Cause::Cancelled, "ended early: torn", |world| {
        world.run.cancelled = true;
        world.unreadable.insert(SUBJECT.to_owned(), String::from("torn"));
    });
    inconclusive(Cause::RunnerError, "left no history", |world| {
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
fn a_unit_that_was_stopped_at_its_cap_fails_as_a_hot_loop() {
    let cell = cell(|world| {
        world.tell(SUBJECT, |story| {
            let unsettled = |event: &Event| {
                matches!(event, Event::Settle { .. } | Event::AuditRow(_) | Event::Stands { .. })
            };
            story.without(unsettled).and(Event::CapReached { deliveries: 20, cap: 20 })
        });
    });
    assert_outcome(&cell, Outcome::Fail, None, "hot_loop: expected fewer than 20");
}

#[test]
fn a_worker_past_its_link_invalidates_the_evidence() {
    let direct = sockets("consumer/2", 1, &["127.0.0.1:9092"]);
    with(Cause::Environment, "consumer/2 goes to 127.0.0.1:9092", direct);
    without(Cause::NothingExamined, "links_only", |event| matches!(event, Event::Sockets { .. }));
}

#[test]
fn what_changes_after_the_final_reads_fails() {
    let cell = cell(|world| {
        world.tell(SUBJECT, |story| {
            let Event::AuditRow(mut row) = effect(9, "consumer/2", 1) else { unreachable!() };
            row.why = ReadWhy::Teardown;
            story.and(Event::AuditRow(row))
        });
    });
    assert_outcome(&cell, Outcome::Fail, None, "settled");
}

#[test]
fn a_kill_lands_only_with_its_whole_bracket() {
    let not = Cause::FaultNotLanded;
    let stage = |pick: fn(&FaultStage) -> bool| move |event: &Event| matches!(event, Event::Fault(step) if pick(&step.stage));
    let probes = |when| move |event: &Event| matches!(event, Event::Probe(p) if p.when == when);
    without(not, "never triggered", stage(|s| matches!(s, FaultStage::Triggered { .. })));
    without(not, "and not killed", stage(|s| matches!(s, FaultStage::Killed { .. })));
    without(not, "while consumer/1 was held", probes(ProbeWhen::Before));
    without(not, "after the death of consumer/1", probes(ProbeWhen::After));
    lying("the ledger shows no effect", ProbeWhen::Before, |probe| probe.effects = 0);
    lying("1 effect(s) before the death, and 0 after", ProbeWhen::After, |p| p.effects = 0);
    lying("was acknowledged already", ProbeWhen::Before, |p| p.acked = Some(true));
    lying("by the time that the worker was dead", ProbeWhen::After, |p| p.acked = Some(true));
    lying("did not say whether", ProbeWhen::Before, |p| p.acked = None);
    lying("did not say whether", ProbeWhen::After, |p| p.acked = None);
    lying("same destination", ProbeWhen::After, |p| p.destination.push('2'));
    lying("while consumer/1 was held", ProbeWhen::Before, |p| p.event = id(1));
    lying("while consumer/1 was held", ProbeWhen::Before, |p| p.fault.push('2'));
    // Both looks without an effect agree with each other, and not with what the worker says.
    inconclusive(not, "the worker says before_ack, and the ledger shows no effect", |world| {
        world.tell(SUBJECT, |story| {
            story.with(|event| {
                if let Event::Probe(probe) = event {
                    probe.effects = 0;
                }
            })
        });
    });
}

#[test]
fn a_kill_has_to_be_the_one_that_was_asked_for() {
    let change = |reason: &str, change: fn(&mut FaultStage)| {
        inconclusive(Cause::FaultNotLanded, reason, |world| {
            world.tell(SUBJECT, |story| {
                story.with(|event| {
                    if let Event::Fault(step) = event {
                        change(&mut step.stage);
                    }
                })
            });
        });
    };
    change("triggered at received", |stage| {
        if let FaultStage::Triggered { point, .. } = stage {
            *point = Some(Point::Received);
        }
    });
    change("triggered by e-0001, not by event 2", |stage| {
        if let FaultStage::Triggered { event, .. } = stage {
            *event = Some(id(1));
        }
    });
    change("triggered by other/1, not by consumer", |stage| {
        if let FaultStage::Triggered { process: who, .. } = stage {
            *who = Some(process("other/1"));
        }
    });
    change("without a worker", |stage| {
        if let FaultStage::Triggered { process, .. } = stage {
            *process = None;
        }
    });
    change("consumer/1 was held, and consumer/0 was killed", |stage| {
        if let FaultStage::Killed { process: who, .. } = stage {
            *who = process("consumer/0");
        }
    });
    change("signal 15 and ended with code 0", |stage| {
        if let FaultStage::Killed { signal, exit, .. } = stage {
            (*signal, *exit) = (15, Exit::Code(0));
        }
    });
    change("signal 9 and ended with code 0", |stage| {
        if let FaultStage::Killed { exit, .. } = stage {
            *exit = Exit::Code(0);
        }
    });
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

#[test]
fn a_baseline_that_does_not_pass_decides_nothing() {
    let failed = Cause::BaselineFailed;
    inconclusive(failed, "baseline: effects", |world| world.tell(BASELINE, doubled));
    inconclusive(failed, "baseline: somewhere: broke", |world| {
        world.tell(BASELINE, |story| story.and(trouble(Cause::Oom)));
    });
    inconclusive(failed, "baseline: ", |world| {
        world.tell(BASELINE, |story| story.without(|e| matches!(e, Event::Sockets { .. })));
    });
    inconclusive(failed, "the plan has no unit", |world| world.cell().baseline.push('2'));
    inconclusive(Cause::Cancelled, "not run to its end", |world| {
        world.stories.remove(BASELINE);
        world.run.cancelled = true;
    });
    // Neither does it let a failure stand: the same machine could not even do without a fault.
    inconclusive(failed, "baseline", |world| {
        world.tell(SUBJECT, doubled);
        world.tell(BASELINE, doubled);
    });
}

#[test]
fn a_control_that_is_not_caught_makes_the_cell_inconclusive() {
    let not = Cause::ControlNotCaught;
    inconclusive(not, "no control", |world| world.cell().controls.clear());
    let passing = |world: &mut World| {
        let quiet = |event: &mut Event| {
            if let Event::Unit { unit, .. } = event {
                *unit = CONTROL.to_owned();
            }
        };
        let story = world.stories[SUBJECT].clone().with(quiet);
        world.stories.insert(CONTROL.to_owned(), story);
    };
    inconclusive(not, "control no-inbox: effects did not fail", passing);
    inconclusive(not, "drained did not fail: drained: expected", |world| {
        world.cell().controls[0].caught_by = String::from("drained");
    });
    inconclusive(not, "conserved did not fail: was not examined", |world| {
        world.cell().controls[0].caught_by = String::from("conserved");
    });
    inconclusive(not, "effects did not fail on e-0001", |world| {
        world.cell().controls[0].strikes = EventSet::All;
    });
    inconclusive(not, "strikes no event (poison)", |world| {
        world.cell().controls[0].strikes = EventSet::Poison;
    });
    inconclusive(not, "effects failed on e-0001 too", |world| world.tell(CONTROL, doubled));
    inconclusive(not, "drained failed on e-0001 too", |world| {
        world.tell(CONTROL, |story| {
            let cursors = |event: &mut Event| {
                if let Event::Stands { cursor, .. } = event {
                    *cursor = committed(0);
                }
            };
            story.with(cursors)
        });
    });
    inconclusive(not, "failed on no event: hot_loop", |world| {
        world.tell(CONTROL, |story| {
            let silent = |e: &Event| matches!(e, Event::ClaimAt(at) if at.point == Point::Received);
            story.without(silent).and(Event::CapReached { deliveries: 20, cap: 20 })
        });
    });
}

#[test]
fn a_control_with_bad_evidence_keeps_its_own_cause() {
    inconclusive(Cause::Oom, "control no-inbox: consumer/2 ended by signal 9", |world| {
        let dead = ends("consumer/2", Exit::Signal(9), None);
        world.tell(CONTROL, |story| story.and(dead));
    });
    inconclusive(Cause::FaultNotLanded, "control no-inbox: kill did not land", |world| {
        world.tell(CONTROL, |story| story.without(|e| matches!(e, Event::Probe(_))));
    });
    inconclusive(Cause::RunnerError, "the plan has no unit", |world| {
        world.cell().controls[0].unit.push('2');
    });
    // A failure of the subject stands by itself.
    let cell = cell(|world| {
        world.tell(SUBJECT, doubled);
        world.tell(CONTROL, |story| story.and(trouble(Cause::Oom)));
    });
    assert_outcome(&cell, Outcome::Fail, None, "effects");
}

#[test]
fn other_rules_may_break_on_the_events_that_a_control_strikes() {
    let cell = cell(|world| {
        for unit in [SUBJECT, CONTROL] {
            let conserved = serde_json::from_str(r#"{"conserved": {}}"#).unwrap();
            world.unit(unit).checks.push(conserved);
        }
    });
    assert_outcome(&cell, Outcome::Pass, None, "controls caught: 1/1");
}

#[test]
fn a_check_on_nothing_is_inconclusive() {
    inconclusive(Cause::NothingExamined, "effects: expected", |world| {
        world.unit(SUBJECT).checks.push(effects(EventSet::Poison, Bound::Exactly(1)));
    });
}

#[test]
fn a_cell_that_is_a_control_fails_by_its_finding() {
    let only = |unit: &str| {
        let unit = unit.to_owned();
        cell(|world| {
            world.cell().only_control = true;
            world.cell().controls.clear();
            world.cell().subject = unit;
            world.unit(CONTROL).kind = UnitKind::Control(String::from("no-inbox"));
        })
    };
    assert_outcome(&only(CONTROL), Outcome::Fail, None, "effects: expected exactly 1");
    let good = only(SUBJECT);
    assert_outcome(&good, Outcome::Inconclusive, Some(Cause::ControlNotCaught), "not caught");
}

#[test]
fn a_hazard_passes_when_it_is_shown_and_only_then() {
    let hazard = |world: &mut World| {
        world.cell().hazard = true;
        world.unit(SUBJECT).checks = vec![effects(EventSet::Struck, Bound::AtMost(0))];
        let FaultSpec::Kill(mut spec) = kill() else { unreachable!() };
        spec.when.point = Point::AckVisible;
        set_fault(world.unit(SUBJECT), FaultSpec::Kill(spec));
        world.tell(SUBJECT, |story| {
            let second = |e: &Event| matches!(e, Event::AuditRow(row) if row.event == id(2));
            story.without(second).with(|event| match event {
                Event::Probe(probe) => (probe.effects, probe.acked) = (0, Some(true)),
                Event::Fault(step) => {
                    if let FaultStage::Triggered { point, .. } = &mut step.stage {
                        *point = Some(Point::AckReturned);
                    }
                }
                _ => {}
            })
        });
    };
    let shown = cell(hazard);
    assert_outcome(&shown, Outcome::Pass, None, "hold");
    assert_eq!(shown.hazard_shown.as_deref(), Some("hazard shown: 1 event"));
    assert_eq!(shown.marks.lost.iter().collect::<Vec<_>>(), [&id(2)]);
    assert_eq!(shown.counts.lost.unwrap().value, 1);
    inconclusive(Cause::NothingExamined, "the expected loss was not seen", |world| {
        world.cell().hazard = true;
    });
}

#[test]
fn exit_codes_and_runs_that_show_nothing() {
    let lack = Lack {
        capability: String::from("ack_timeout"),
        reason: String::from("has no such timer"),
        url: String::from("https://example.org"),
    };
    let mut world = World::new();
    world.cell().unsupported = Some(lack);
    world.stories.clear();
    let report = world.report();
    assert_outcome(&report.cells[0], Outcome::Unsupported, None, "no ack_timeout: has no such");
    assert!(report.cells[0].histories.is_empty());
    assert_eq!(report.exit_code(), 3);
    // One supported cell beside it is enough.
    let passing = World::new().plan.cells.remove(0);
    world.plan.cells.push(passing);
    world.stories = World::new().stories;
    assert_eq!(world.report().exit_code(), 0);
    world.tell(SUBJECT, |story| story.without(|e| matches!(e, Event::Probe(_))));
    assert_eq!(world.report().exit_code(), 3);
    world.tell(SUBJECT, doubled);
    assert_eq!(world.report().exit_code(), 1);
    world.plan.cells.clear();
    assert_eq!(world.report().exit_code(), 3);
    inconclusive(Cause::RunnerError, "the plan has no unit", |w| w.cell().subject.push('2'));
}

#[test]
fn shared_controls_are_counted_once() {
    let mut world = World::new();
    let twin = world.plan.cells[0].clone();
    world.plan.cells.push(twin);
    let summary = world.report().summary;
    assert_eq!((summary.cells, summary.controls, summary.controls_caught), (2, 1, 1));
}

#[test]
fn the_same_evidence_gives_the_same_report() {
    let report = || serde_json::to_string(&World::new().report()).unwrap();
    assert_eq!(report(), report());
    assert!(report().contains(r#""check":"effects""#));
}
