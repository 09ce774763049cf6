//! What deviates in which versions: known issues and expectations, resolved for one cell.
//! A scenario, the files of deviations and a place come in; entries that hold there come out.
//! It must never look at a version that nobody pinned: what was attested, the verdict compares.

use super::unit::Place;
use super::{Expectation, KnownIssue};
use crate::checks::{CHECKS, CheckSpec, PinSubject};
use crate::names::ServerKind;
use crate::suite::Loaded;
use crate::suite::deviations::{DeviationSpec, ExpectFor, KnownSpec};
use crate::suite::model::Scenario;
use crate::suite::pins::Globs;
use crate::suite::problem::Problem;
use crate::suite::rule::Rule;
use crate::suite::source::{Route, Source};
use crate::suite::versions::{Coverage, VersionRange};

/// The deviations of all files, each with its globs.
pub(super) fn of_files(loaded: &Loaded) -> Vec<(Globs, &DeviationSpec)> {
    let deviations = loaded.deviations.iter().flat_map(|read| &read.file.deviations);
    deviations.map(|deviation| (deviation.globs(), deviation)).collect()
}

/// Every known issue of a scenario, whatever the versions: its own, then those of the files.
pub(super) fn declared(
    of_files: &[(Globs, &DeviationSpec)],
    scenario: &Scenario,
    id: &str,
) -> Vec<KnownIssue> {
    let files = of_files.iter().filter(|(globs, _)| globs.take(id));
    let files = files.map(|(_, deviation)| KnownSpec::from(*deviation));
    scenario.known.iter().cloned().chain(files).filter_map(resolved).collect()
}

/// Nothing of a validated entry is lost here.
fn resolved(spec: KnownSpec) -> Option<KnownIssue> {
    Some(KnownIssue {
        of: spec.versions_of.subject()?,
        versions: spec.versions_of.versions.parse().ok()?,
        check: spec.check,
        reason: spec.reason.trim().to_owned(),
        url: spec.url,
        expires: spec.expires.parse().ok()?,
        occurs: spec.occurs,
    })
}

/// The issues that may show at a place, of checks that are run there.
pub(super) fn known(
    declared: &[KnownIssue],
    place: &Place,
    checks: &[CheckSpec],
) -> Vec<KnownIssue> {
    let is_run =
        |check: &str| checks.iter().any(|spec| spec.name() == check) || !CHECKS.contains(&check);
    let may_show = |issue: &&KnownIssue| {
        is_run(&issue.check) && coverage(place, &issue.of, &issue.versions) != Coverage::Nothing
    };
    declared.iter().filter(may_show).cloned().collect()
}

/// A place with the expectations that hold there.
pub(super) struct Spot {
    pub(super) place: Place,
    /// They replace the scenario's checks of the same kind.
    pub(super) checks: Vec<CheckSpec>,
    pub(super) expectations: Vec<Expectation>,
}

/// The place with its expectations; one that cannot be told or stands twice is a problem.
pub(super) fn spot(
    place: &Place,
    scenario: &Scenario,
    at: (&Source, &Route),
    problems: &mut Vec<Problem>,
) -> Spot {
    let mut spot = Spot { place: place.clone(), checks: Vec::new(), expectations: Vec::new() };
    for (index, expect) in scenario.expect_for.iter().enumerate() {
        let route = at.1.key("expect_for").item(index);
        let (Some(of), Ok(versions)) = (expect.subject(), expect.versions.parse()) else {
            continue;
        };
        match coverage(place, &of, &versions) {
            Coverage::Nothing => {}
            Coverage::Part => {
                let pin = pin(place, &of).unwrap_or_default();
                let message = format!("the pin {pin} may be inside or outside of `{versions}`");
                let help = "pin a full version, or write a range of whole majors".to_owned();
                let route = route.key("versions");
                let problem =
                    at.0.problem_with_help(Rule::UnclearRange, &route, message, Some(help));
                // Several clients share a server: it is said once.
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            Coverage::All => {
                let entry = Entry { expect, of, versions, route };
                entry.expected(&mut spot, at.0, problems);
            }
        }
    }
    spot
}

/// One entry of `expect_for` that holds at a place.
struct Entry<'a> {
    expect: &'a ExpectFor,
    of: PinSubject,
    versions: VersionRange,
    route: Route,
}

impl Entry<'_> {
    fn expected(&self, spot: &mut Spot, source: &Source, problems: &mut Vec<Problem>) {
        let mut kinds: Vec<&str> = Vec::new();
        for (n, check) in self.expect.checks.iter().enumerate() {
            let kind = check.name();
            let twin = spot.expectations.iter().find(|earlier| earlier.check == kind);
            if let Some(twin) = twin {
                let message = format!("`{kind}` is expected twice on {}", spot.place.long());
                let help = format!("the other one is for {} {}", twin.of, twin.versions);
                let route = self.route.key("checks").item(n).key(kind);
                problems.push(source.problem_with_help(
                    Rule::DuplicateItem,
                    &route,
                    message,
                    Some(help),
                ));
            } else if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        spot.checks.extend(self.expect.checks.iter().cloned());
        let (of, versions) = (&self.of, &self.versions);
        spot.expectations.extend(kinds.into_iter().map(|kind| Expectation {
            check: kind.to_owned(),
            of: of.clone(),
            versions: versions.clone(),
        }));
    }
}

fn coverage(place: &Place, of: &PinSubject, versions: &VersionRange) -> Coverage {
    pin(place, of).map_or(Coverage::Nothing, |pin| versions.covers(pin))
}

/// The pin of this client or server at a place, if it is there at all.
fn pin<'a>(place: &'a Place, of: &PinSubject) -> Option<&'a str> {
    match of {
        PinSubject::Client(library) => {
            (place.client.library == *library).then_some(place.client.version.as_str())
        }
        PinSubject::Producer(library) => {
            let producer = place.producer.as_ref().map(|producer| &producer.client);
            let own = producer.filter(|client| client.library == *library);
            own.map(|client| client.version.as_str())
        }
        PinSubject::Server(ServerKind::Postgres) => Some(&place.database_pin),
        PinSubject::Server(kind) => {
            (ServerKind::from(place.broker) == *kind).then_some(place.server_pin.as_str())
        }
    }
}
