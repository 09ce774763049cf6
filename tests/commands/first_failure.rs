//! `--fail-fast`: when a run may start no other unit, and what becomes of the missing ones.
//! Evidence on disk and the ends of units go in; the answer and the verdicts are compared.
//! It must never depend on the order in which subject and baseline end.

use ackproof::cli::fail_fast::FirstFailure;
use ackproof::names::{Cause, Outcome};
use ackproof::run::execute::Onward;

use super::evidence::write;
use crate::world::outcome::{assert_outcome, doubled};
use crate::world::{BASELINE, CONTROL, SUBJECT, World};

fn broken() -> World {
    let mut world = World::new();
    world.tell(SUBJECT, doubled);
    world
}

#[test]
fn the_first_failure_ends_the_start_of_units() {
    for order in [[SUBJECT, BASELINE], [BASELINE, SUBJECT]] {
        let dir = tempfile::tempdir().unwrap();
        let world = broken();
        let (plan, record) = (world.plan.clone(), world.run.clone());
        let id = plan.cells[0].id.clone();
        write(world, dir.path());
        // What `--fail-fast` asks after each unit.
        let watch = FirstFailure::of(&plan, dir.path(), record);
        assert_eq!(watch.unit_ended(order[0]), Onward::Continue);
        assert_eq!(watch.cell(), None);
        assert_eq!(watch.unit_ended(order[1]), Onward::StartNoMore);
        assert_eq!(watch.cell(), Some(id));
        assert_eq!(watch.unit_ended(CONTROL), Onward::StartNoMore);
    }
}

#[test]
fn what_passes_or_cannot_be_decided_ends_nothing() {
    let mut foreign = broken();
    foreign.run.id.push('x');
    let mut bad_baseline = broken();
    bad_baseline.tell(BASELINE, doubled);
    for world in [World::new(), foreign, bad_baseline] {
        let dir = tempfile::tempdir().unwrap();
        let (plan, record) = (world.plan.clone(), world.run.clone());
        write(world, dir.path());
        let watch = FirstFailure::of(&plan, dir.path(), record);
        for unit in [SUBJECT, BASELINE, CONTROL] {
            assert_eq!(watch.unit_ended(unit), Onward::Continue);
        }
        assert_eq!(watch.cell(), None);
    }
}

#[test]
fn a_unit_that_was_not_started_any_more_is_cancelled_and_the_run_is_broken() {
    let mut world = broken();
    let mut second = world.plan.cells[0].clone();
    second.id = "second".to_owned();
    second.subject = "second".to_owned();
    world.plan.cells.push(second);
    let mut unit = world.plan.units[0].clone();
    unit.id = "second".to_owned();
    world.plan.units.push(unit);
    world.run.stopped_after = Some(world.plan.cells[0].id.clone());
    let report = world.report();
    assert_eq!(report.cells[0].outcome, Outcome::Fail);
    let why = "was not started, because";
    assert_outcome(&report.cells[1], Outcome::Inconclusive, Some(Cause::Cancelled), why);
    assert_eq!(report.exit_code(), 1);
    // The control of a cell that passes was not started either.
    let mut world = World::new();
    world.run.stopped_after = Some("another".to_owned());
    world.stories.remove(CONTROL);
    world.run.units.remove(CONTROL);
    assert_outcome(&world.outcome(), Outcome::Inconclusive, Some(Cause::Cancelled), why);
}
