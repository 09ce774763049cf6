//! Expectations for some versions only: each replaces checks of its scenario, and none twice.
//! A scene comes in; its problems go into it.
//! It must never leave it to an order of entries which of two expectations is meant.

use super::checks;
use super::deviations::{Spot, versions};
use crate::checks::CheckSpec;
use crate::suite::control::Story;
use crate::suite::deviations::ExpectFor;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;
use crate::suite::versions::VersionRange;

pub(super) fn validate(scene: &mut Scene) {
    let entries = scene.at("expect_for");
    for (index, expect) in scene.scenario.expect_for.iter().enumerate() {
        let route = entries.item(index);
        let spot = Spot { source: scene.source, route: route.clone() };
        let client = expect.client.as_deref();
        versions(&spot, expect.subject(), client, &expect.versions, &mut scene.problems);
        if let Some(server) = expect.server
            && !super::deviations::runs_on(scene.scenario, server)
        {
            scene.report(
                Rule::OtherBroker,
                &route.key("server"),
                format!("the scenario is not run on {server}"),
            );
        }
        for (n, check) in expect.checks.iter().enumerate() {
            let route = route.key("checks").item(n).key(check.name());
            checks::one(scene, &route, check);
            if matches!(check, CheckSpec::Unretained(_)) && !scene.scenario.hazard {
                let message = "an expected loss, and the scenario is no hazard";
                scene.report_with_help(
                    Rule::HazardMismatch,
                    &route,
                    message,
                    "add `hazard: true`".to_owned(),
                );
            }
        }
        changes_something(scene, index, expect);
        once(scene, index, expect);
    }
}

/// The scenario is another one there, and so is each of its controls.
fn changes_something(scene: &mut Scene, index: usize, expect: &ExpectFor) {
    let route = scene.at("expect_for").item(index).key("checks");
    if expect.checks.is_empty() {
        return scene.report(Rule::ChangesNothing, &route, "nothing is expected here");
    }
    let before = Story::of(scene.scenario);
    let after = before.clone().expecting(&expect.checks);
    let same = |a: &Story, b: &Story| {
        a.checks.len() == b.checks.len() && a.checks.iter().all(|check| b.checks.contains(check))
    };
    if same(&before, &after) {
        return scene.report(Rule::ChangesNothing, &route, "this is expected of every version");
    }
    for control in &scene.scenario.controls {
        let change = &control.value.change;
        let here = after.clone().with(change);
        let (rest, checks) = ((&here.workers, &here.faults, &here.topology), same(&after, &here));
        if checks && rest == (&after.workers, &after.faults, &after.topology) {
            let message =
                format!("control `{}` changes nothing where this is expected", control.value.id);
            let help = "its wrong expectation is the right one there: expect something else in it";
            scene.report_with_help(Rule::ControlChangesNothing, &route, message, help.to_owned());
        }
    }
}

/// One expectation of a kind for a version.
fn once(scene: &mut Scene, index: usize, expect: &ExpectFor) {
    let entries = scene.at("expect_for");
    let Ok(range) = expect.versions.parse::<VersionRange>() else { return };
    for (earlier, other) in scene.scenario.expect_for[..index].iter().enumerate() {
        let overlaps =
            other.versions.parse::<VersionRange>().is_ok_and(|other| other.overlaps(&range));
        if expect.subject().is_none() || other.subject() != expect.subject() || !overlaps {
            continue;
        }
        let first = Spot { source: scene.source, route: entries.item(earlier).key("versions") };
        for (n, check) in expect.checks.iter().enumerate() {
            let name = check.name();
            if other.checks.iter().any(|check| check.name() == name) {
                let route = entries.item(index).key("checks").item(n).key(name);
                let message = format!("`{name}` is expected twice for some versions");
                let help = format!("the other range is at {}: make them exclude", first.place());
                scene.report_with_help(
                    Rule::DuplicateItem,
                    &route,
                    message,
                    format!("{help} each other"),
                );
            }
        }
    }
}
