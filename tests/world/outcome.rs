//! Damage to a world and what its cell must come to.
//! A change to the evidence comes in; nothing comes out but a failed test with the reason.
//! It must never accept an outcome by itself: cause and reason are compared as well.

use ackproof::evidence::event::{Event, Probe, ProbeWhen, ReadWhy};
use ackproof::names::{Cause, Outcome};
use ackproof::verdict::CellReport;

use super::{SUBJECT, World};
use crate::story::{Story, effect};

pub fn cell(damage: impl FnOnce(&mut World)) -> CellReport {
    let mut world = World::new();
    damage(&mut world);
    world.outcome()
}

#[track_caller]
pub fn assert_outcome(cell: &CellReport, outcome: Outcome, cause: Option<Cause>, reason: &str) {
    assert_eq!((cell.outcome, cell.cause), (outcome, cause), "{}", cell.reason);
    assert!(cell.reason.contains(reason), "'{}' does not say '{reason}'", cell.reason);
}

#[track_caller]
pub fn inconclusive(cause: Cause, reason: &str, damage: impl FnOnce(&mut World)) {
    assert_outcome(&cell(damage), Outcome::Inconclusive, Some(cause), reason);
}

/// Events that this picks are taken out of the subject's story.
#[track_caller]
pub fn without(cause: Cause, reason: &str, pick: impl Fn(&Event) -> bool) {
    inconclusive(cause, reason, |world| world.tell(SUBJECT, |story| story.without(pick)));
}

/// One more record at the end of the subject's story.
#[track_caller]
pub fn with(cause: Cause, reason: &str, event: Event) {
    inconclusive(cause, reason, |world| world.tell(SUBJECT, |story| story.and(event)));
}

/// Probes of the subject are changed.
#[track_caller]
pub fn lying(reason: &str, when: ProbeWhen, change: impl Fn(&mut Probe)) {
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

pub fn doubled(story: Story) -> Story {
    let again = |why| {
        let Event::AuditRow(mut row) = effect(9, "consumer/2", 1) else { unreachable!() };
        row.why = why;
        Event::AuditRow(row)
    };
    story.and(again(ReadWhy::Final)).and(again(ReadWhy::Teardown))
}

/// Something that the runner could not find out.
pub fn trouble(cause: Cause) -> Event {
    Event::Trouble { cause, place: String::from("somewhere"), detail: String::from("broke") }
}
