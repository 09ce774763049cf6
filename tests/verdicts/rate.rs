//! Rates: a story that was told three times, of which some hold.
//! Worlds with more runs come in; outcome, reason and the numbers are compared with a table.
//! It must never let a run be left out that did not go well.

use ackproof::evidence::event::{Event, ProbeWhen};
use ackproof::names::{Cause, Outcome};
use ackproof::plan::Rate;
use ackproof::verdict::CellReport;

use crate::story::*;
use crate::world::outcome::*;
use crate::world::*;

const OTHERS: [&str; 2] = ["subject+run-2", "subject+run-3"];

/// A story that is told three times, with damage to the runs and to the world.
fn thrice(at_least: u32, damage: impl FnOnce(&mut World)) -> CellReport {
    cell(|world| {
        for id in OTHERS {
            let mut unit = world.unit(SUBJECT).clone();
            unit.id = id.to_owned();
            world.plan.units.push(unit);
            let mut ran = world.run.units[SUBJECT].clone();
            ran.history = format!("histories/{id}.ndjson");
            world.run.units.insert(id.to_owned(), ran);
            let opened = |event: &mut Event| {
                if let Event::Unit { unit, .. } = event {
                    *unit = id.to_owned();
                }
            };
            let story = world.stories[SUBJECT].clone().with(opened);
            world.stories.insert(id.to_owned(), story);
        }
        let others = OTHERS.map(String::from).into();
        world.cell().rate = Some(Rate { others, at_least });
        damage(world);
    })
}

#[test]
fn a_story_that_holds_each_time_passes_and_says_what_that_proves() {
    let cell = thrice(3, |_| {});
    // The third root of 0.05 is 0.368.
    let said = "holds in 3 of 3 runs, expected at least 3, which proves 36.8 % of all with 95 % \
                confidence; 6 checks hold";
    assert_outcome(&cell, Outcome::Pass, None, said);
    let rate = cell.rate.unwrap();
    assert_eq!((rate.runs, rate.held, rate.broken, rate.at_least), (3, 3, 0, 3));
    assert_eq!((rate.proven_per_mille, rate.shown.as_str()), (368, SUBJECT));
    assert_eq!(cell.duration_ms, 21);
    let units: Vec<&str> = cell.histories.iter().map(|history| history.unit.as_str()).collect();
    assert_eq!(units, [SUBJECT, OTHERS[0], OTHERS[1], CONTROL, BASELINE]);
}

#[test]
fn a_story_that_is_told_once_has_no_rate() {
    let cell = cell(|_| {});
    assert_eq!(cell.rate, None);
    assert!(!cell.reason.contains("runs"), "{}", cell.reason);
}

#[test]
fn it_fails_when_more_break_than_may() {
    for (broken, at_least, outcome) in [
        (vec![SUBJECT], 2, Outcome::Pass),
        (vec![OTHERS[0]], 2, Outcome::Pass),
        (vec![OTHERS[1]], 3, Outcome::Fail),
        (vec![SUBJECT, OTHERS[1]], 2, Outcome::Fail),
        (vec![SUBJECT, OTHERS[1]], 1, Outcome::Pass),
        (vec![SUBJECT, OTHERS[0], OTHERS[1]], 1, Outcome::Fail),
    ] {
        let cell = thrice(at_least, |world| {
            broken.iter().for_each(|unit| world.tell(unit, doubled));
        });
        assert_eq!(cell.outcome, outcome, "{broken:?} of {at_least}: {}", cell.reason);
        let rate = cell.rate.unwrap();
        assert_eq!((rate.broken, rate.held), (broken.len() as u32, 3 - broken.len() as u32));
        if outcome == Outcome::Fail {
            let held = 3 - broken.len();
            let why = format!(
                "holds in {held} of 3 runs, expected at least {at_least}; first {}: effects: \
                 expected exactly 1",
                broken[0]
            );
            assert!(cell.reason.starts_with(&why), "{}", cell.reason);
            assert_eq!(rate.shown, broken[0]);
            assert!(cell.marks.doubled.contains(&id(1)));
        } else {
            assert!(!broken.contains(&rate.shown.as_str()), "{}", rate.shown);
            assert!(cell.marks.doubled.is_empty());
        }
    }
}

#[test]
fn a_run_with_bad_evidence_leaves_the_rate_undecided() {
    let unreadable = |world: &mut World| {
        world.unreadable.insert(OTHERS[1].to_owned(), String::from("torn"));
    };
    let cell = thrice(1, unreadable);
    let why = "subject+run-3: the history cannot be used: torn";
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::DamagedEvidence), why);
    // What is broken too often already is broken, whatever the others are.
    let cell = thrice(3, |world| {
        unreadable(world);
        world.tell(OTHERS[0], doubled);
    });
    assert_outcome(&cell, Outcome::Fail, None, "holds in 1 of 3 runs, expected at least 3");
}

#[test]
fn a_fault_that_did_not_land_in_one_run_leaves_the_rate_undecided() {
    let is_after =
        |event: &Event| matches!(event, Event::Probe(probe) if probe.when == ProbeWhen::After);
    let cell = thrice(1, |world| world.tell(OTHERS[0], |story| story.without(is_after)));
    let why = "subject+run-2: kill did not land";
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::FaultNotLanded), why);
}

#[test]
fn a_run_that_the_plan_does_not_have_is_missed() {
    let cell = thrice(1, |world| {
        let mut rate = world.cell().rate.take().unwrap();
        rate.others.push(String::from("subject+run-4"));
        world.cell().rate = Some(rate);
    });
    let why = "the plan has no unit subject+run-4";
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::RunnerError), why);
}

#[test]
fn a_control_that_is_not_caught_spoils_a_rate_too() {
    let cell = thrice(3, |world| {
        world.cell().controls[0].caught_by = String::from("drained");
    });
    assert_eq!((cell.outcome, cell.cause), (Outcome::Inconclusive, Some(Cause::ControlNotCaught)));
}
