//! Verdicts: a run that passes is damaged in one way at a time, and the outcome must follow.
//! A `World` in order comes in; outcome, cause and reason of its cell are compared with a table.
//! It must never let damaged evidence pass, nor a broken guarantee hide behind a weaker outcome.

#![allow(clippy::unwrap_used)]

mod story;
mod world;

#[path = "verdicts/claims.rs"]
mod claims;
#[path = "verdicts/known.rs"]
mod known;
#[path = "verdicts/numbers.rs"]
mod numbers;
#[path = "verdicts/rate.rs"]
mod rate;
#[path = "verdicts/receipts.rs"]
mod receipts;
#[path = "verdicts/shown.rs"]
mod shown;
#[path = "verdicts/validity.rs"]
mod validity;

use ackproof::checks::{Bound, FindingResult};
use ackproof::evidence::event::{Event, Exit, FaultStage, ReadWhy};
use ackproof::faults::FaultSpec;
use ackproof::names::{Cause, EventSet, Outcome, Point};
use ackproof::plan::UnitKind;
use ackproof::suite::manifest::Lack;

use story::*;
use world::outcome::*;
use world::*;

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
    assert_eq!(cell.values["partitions"], "1");
    assert_eq!(
        cell.reproduce,
        format!("ackproof run 'my suites' --set previous --seed=7 --filter 'id({})'", cell.id)
    );
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
