//! Known issues: a red cell that everybody knows about, told apart from a new one.
//! Worlds with declared issues come in; outcomes, reasons and reports are compared with a table.
//! It must never let an issue hide another defect, bad evidence, or its own disappearance.

use ackproof::checks::{Bound, Finding, PinSubject};
use ackproof::evidence::event::{Event, Exit};
use ackproof::names::{Cause, EventSet, Outcome, ServerKind};
use ackproof::plan::{Expectation, KnownIssue};
use ackproof::suite::deviations::Occurs;
use ackproof::verdict::{CellReport, KnownStatus};

use crate::story::*;
use crate::world::outcome::*;
use crate::world::*;

/// The run of a world is started on the second day of 2030, in UTC.
fn issue(check: &str, of: PinSubject, versions: &str) -> KnownIssue {
    KnownIssue {
        check: check.to_owned(),
        of,
        versions: versions.parse().unwrap(),
        reason: String::from("it is made twice"),
        url: String::from("https://issues.example.org/1"),
        expires: "2030-01-02".parse().unwrap(),
        occurs: Occurs::Sometimes,
    }
}

fn client(versions: &str) -> KnownIssue {
    issue("effects", PinSubject::Client(String::from("rdkafka")), versions)
}

fn always(issue: KnownIssue) -> KnownIssue {
    KnownIssue { occurs: Occurs::Always, ..issue }
}

/// A cell with these issues, whose check `effects` is violated.
fn broken(known: Vec<KnownIssue>, damage: impl FnOnce(&mut World)) -> CellReport {
    cell(|world| {
        world.cell().known = known;
        world.tell(SUBJECT, doubled);
        damage(world);
    })
}

/// A cell with these issues in which everything holds.
fn whole(known: Vec<KnownIssue>, damage: impl FnOnce(&mut World)) -> CellReport {
    cell(|world| {
        world.cell().known = known;
        damage(world);
    })
}

fn nothing(_: &mut World) {}

fn statuses(cell: &CellReport) -> Vec<KnownStatus> {
    cell.known.iter().map(|issue| issue.status).collect()
}

fn without_receipt(world: &mut World) {
    world.tell(SUBJECT, |story| story.without(|event| matches!(event, Event::Probe(_))));
}

fn nothing_acknowledged(world: &mut World) {
    let back = |event: &mut Event| {
        if let Event::Stands { cursor, .. } = event {
            *cursor = committed(0);
        }
    };
    world.tell(SUBJECT, |story| story.with(back));
}

#[test]
fn a_violated_check_that_is_known_is_no_failure_and_says_why() {
    let mut world = World::new();
    world.cell().known = vec![always(client("<2.2"))];
    world.tell(SUBJECT, doubled);
    let report = world.report();
    let cell = &report.cells[0];
    let reason = "known issue of effects in client rdkafka <2.2: it is made twice (here 2.1.0, \
                  accepted until 2030-01-02): https://issues.example.org/1";
    assert_eq!((cell.outcome, cell.cause, cell.reason.as_str()), (Outcome::Known, None, reason));
    assert_eq!((report.exit_code(), report.summary.known, report.summary.fail), (0, 1, 0));
    let issue = &cell.known[0];
    let said = [&issue.check, &issue.of, &issue.versions, &issue.version, &issue.expires];
    assert_eq!(said, ["effects", "client rdkafka", "<2.2", "2.1.0", "2030-01-02"]);
    assert_eq!((issue.reason.as_str(), issue.occurs), ("it is made twice", Occurs::Always));
    assert_eq!(issue.url, "https://issues.example.org/1");
    assert_eq!(issue.status, KnownStatus::Shown);
    // What is wrong is shown all the same.
    assert!(cell.marks.doubled.contains(&id(1)));
    let violated = |finding: &&Finding| finding.check == "effects" && !finding.events.is_empty();
    assert!(cell.findings.iter().any(|finding| violated(&finding)));
    assert!(cell.controls[0].caught);
}

#[test]
fn a_check_that_holds_passes_although_its_violation_is_known() {
    let cell = whole(vec![client("<2.2")], nothing);
    assert_outcome(&cell, Outcome::Pass, None, "6 checks hold");
    assert_eq!(statuses(&cell), [KnownStatus::NotShown]);
}

#[test]
fn it_is_accepted_through_its_last_day_in_utc_and_no_longer() {
    for (started, expires, outcome) in [
        ("2030-01-02T23:59:59Z", "2030-01-02", Outcome::Known),
        ("2030-01-03T00:00:00Z", "2030-01-02", Outcome::Fail),
        ("2030-01-03T01:00:00+03:00", "2030-01-02", Outcome::Known),
        ("2030-01-02T22:00:00-03:00", "2030-01-02", Outcome::Fail),
        ("2030-01-02T03:04:05Z", "2029-12-31", Outcome::Fail),
        ("2030-01-02T03:04:05Z", "2031-01-01", Outcome::Known),
    ] {
        let issue = KnownIssue { expires: expires.parse().unwrap(), ..client("<2.2") };
        let cell = broken(vec![issue], |world| world.run.started = started.to_owned());
        assert_eq!(cell.outcome, outcome, "{started}, {expires}: {}", cell.reason);
        if outcome == Outcome::Fail {
            assert!(cell.reason.starts_with("effects: expected exactly 1"), "{}", cell.reason);
            let past = format!(
                "; known issue of effects in client rdkafka <2.2: it is made twice, was accepted \
                 until {expires} and is past that"
            );
            assert!(cell.reason.ends_with(&past), "{}", cell.reason);
            assert_eq!(statuses(&cell), [KnownStatus::Expired]);
        }
    }
}

#[test]
fn a_day_that_nobody_recorded_decides_nothing() {
    let undated = |world: &mut World| world.run.started = String::from("yesterday");
    let cell = broken(vec![client("<2.2")], undated);
    let why = "the record does not say when the run was started: yesterday";
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::RunnerError), why);
    assert!(cell.known.is_empty());
    assert_outcome(&broken(Vec::new(), undated), Outcome::Fail, None, "effects");
}

#[test]
fn what_always_occurs_has_to_show() {
    let cell = whole(vec![always(client("<2.2"))], nothing);
    let why = "known issue of effects in client rdkafka <2.2: it is made twice did not show: \
               remove it or narrow the range";
    assert_eq!((cell.outcome, cell.reason.as_str()), (Outcome::Fail, why));
    assert_eq!(statuses(&cell), [KnownStatus::NotShown]);
    // Past its day it is gone all the same.
    let past = KnownIssue { expires: "2029-01-01".parse().unwrap(), ..client("<2.2") };
    assert_outcome(&whole(vec![always(past)], nothing), Outcome::Fail, None, "did not show");
    // Beside one that showed it is missed as well.
    let drained = issue("drained", PinSubject::Server(ServerKind::Kafka), ">=4");
    let cell = broken(vec![client("<2.2"), always(drained)], nothing);
    let missed = "known issue of drained in server kafka >=4: it is made twice did not show";
    assert_outcome(&cell, Outcome::Fail, None, missed);
    assert_eq!(statuses(&cell), [KnownStatus::Shown, KnownStatus::NotShown]);
}

/// That something did not show is itself a claim, and needs what every pass needs.
#[test]
fn nothing_is_missed_where_nothing_is_shown() {
    let missing = || vec![always(client("<2.2"))];
    let not_landed = Some(Cause::FaultNotLanded);
    let cell = whole(missing(), without_receipt);
    assert_outcome(&cell, Outcome::Inconclusive, not_landed, "kill did not land");
    let cell = whole(missing(), |world| world.cell().controls.clear());
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::ControlNotCaught), "no control");
    let cell = whole(missing(), |world| {
        world.unit(SUBJECT).checks.push(effects(EventSet::Poison, Bound::Exactly(1)));
    });
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::NothingExamined), "effects");
    assert_eq!(statuses(&cell), [KnownStatus::Undecided]);
}

#[test]
fn any_other_violated_check_fails_as_ever() {
    let cell = broken(vec![client("<2.2")], nothing_acknowledged);
    assert_eq!(cell.outcome, Outcome::Fail);
    assert!(cell.reason.starts_with("drained: expected"), "{}", cell.reason);
    assert!(!cell.reason.contains("effects: expected"), "{}", cell.reason);
    assert_eq!(statuses(&cell), [KnownStatus::Shown]);
    // Both known: nothing else is broken.
    let drained = issue("drained", PinSubject::Server(ServerKind::Kafka), ">=4");
    let cell = broken(vec![client("<2.2"), drained], nothing_acknowledged);
    assert_outcome(&cell, Outcome::Known, None, "; known issue of drained in server kafka >=4");
    // Always-on rules can be known as well, by their names.
    let rule = issue("hot_loop", PinSubject::Server(ServerKind::Kafka), ">=4");
    let looped = |world: &mut World| {
        world.tell(SUBJECT, |story| story.and(Event::CapReached { deliveries: 20, cap: 20 }));
    };
    assert_outcome(&whole(vec![rule], looped), Outcome::Known, None, "issue of hot_loop");
    assert_outcome(&whole(Vec::new(), looped), Outcome::Fail, None, "hot_loop");
}

#[test]
fn one_that_is_past_its_day_is_not_saved_by_another() {
    let past = KnownIssue { expires: "2029-01-01".parse().unwrap(), ..client("<2.2") };
    let fresh = issue("effects", PinSubject::Server(ServerKind::Kafka), ">=4");
    for issues in [vec![past.clone(), fresh.clone()], vec![fresh, past]] {
        assert_outcome(&broken(issues, nothing), Outcome::Fail, None, "is past that");
    }
}

#[test]
fn only_versions_inside_the_range_are_excused_by_what_was_attested() {
    let server = |kind, versions: &str| issue("effects", PinSubject::Server(kind), versions);
    let other = |versions| issue("effects", PinSubject::Client(String::from("pulsar")), versions);
    for (issue, outcome, version) in [
        (client("<2.1"), Outcome::Fail, ""),
        (client("<=2.1"), Outcome::Known, "2.1.0"),
        (client(">2.1"), Outcome::Fail, ""),
        (client(">=2.1.0, <2.1.1"), Outcome::Known, "2.1.0"),
        (other(">=0"), Outcome::Fail, ""),
        (server(ServerKind::Kafka, "<4.3.1"), Outcome::Fail, ""),
        (server(ServerKind::Kafka, "<=4.3.1"), Outcome::Known, "4.3.1"),
        (server(ServerKind::Kafka, ">=4.3.2"), Outcome::Fail, ""),
        (server(ServerKind::Pulsar, ">=0"), Outcome::Fail, ""),
        // The pin is 17, and 17.5 answered.
        (server(ServerKind::Postgres, "17"), Outcome::Known, "17.5"),
        (server(ServerKind::Postgres, ">=17.2, <17.6"), Outcome::Known, "17.5"),
        (server(ServerKind::Postgres, "<17.5"), Outcome::Fail, ""),
        (server(ServerKind::Postgres, ">17.5"), Outcome::Fail, ""),
    ] {
        let said = format!("{} {}", issue.of, issue.versions);
        // Outside of the range an issue neither excuses nor is missed.
        let held = whole(vec![always(issue.clone())], nothing);
        let cell = broken(vec![always(issue)], nothing);
        assert_eq!(cell.outcome, outcome, "{said}: {}", cell.reason);
        let versions: Vec<&str> = cell.known.iter().map(|issue| issue.version.as_str()).collect();
        if outcome == Outcome::Known {
            assert_eq!(versions, [version], "{said}");
            assert_outcome(&held, Outcome::Fail, None, "did not show");
        } else {
            assert_eq!(versions, [""; 0], "{said}");
            assert_outcome(&held, Outcome::Pass, None, "checks hold");
        }
    }
}

#[test]
fn invalid_evidence_and_a_failed_baseline_stay_inconclusive() {
    let oom = ends("consumer/2", Exit::Signal(9), None);
    let cell = broken(vec![always(client("<2.2"))], |world| {
        world.tell(SUBJECT, |story| story.and(oom));
    });
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::Oom), "ended by signal 9");
    assert_eq!(statuses(&cell), [KnownStatus::Undecided]);
    let cell = broken(vec![client("<2.2")], |world| world.tell(BASELINE, doubled));
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::BaselineFailed), "baseline: effects");
    // Without a history the pin is what is left to compare, if all of it is inside.
    let gone = |world: &mut World| drop(world.stories.remove(SUBJECT));
    let kafka = issue("effects", PinSubject::Server(ServerKind::Kafka), "<=4.3");
    let postgres = issue("effects", PinSubject::Server(ServerKind::Postgres), "<=17.5");
    let cell = whole(vec![client("<2.2"), kafka, postgres], gone);
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::DamagedEvidence), "left no history");
    let versions: Vec<&str> = cell.known.iter().map(|issue| issue.version.as_str()).collect();
    assert_eq!(versions, ["2.1.0", "4.3.1"]);
    assert_eq!(statuses(&cell), [KnownStatus::Undecided; 2]);
}

#[test]
fn a_known_issue_needs_its_faults_and_controls_like_a_pass() {
    let known = || vec![client("<2.2")];
    let cell = broken(known(), without_receipt);
    assert_outcome(&cell, Outcome::Inconclusive, Some(Cause::FaultNotLanded), "kill");
    let not = Some(Cause::ControlNotCaught);
    let cell = broken(known(), |world| world.cell().controls.clear());
    assert_outcome(&cell, Outcome::Inconclusive, not, "no control");
    // Controls are judged as if nothing were known.
    let cell = broken(known(), |world| world.tell(CONTROL, doubled));
    assert_outcome(&cell, Outcome::Inconclusive, not, "effects failed on e-0001 too");
}

#[test]
fn only_a_failure_counts_as_one() {
    let all = [
        (Outcome::Fail, true),
        (Outcome::Inconclusive, false),
        (Outcome::Known, false),
        (Outcome::Unsupported, false),
        (Outcome::Pass, false),
    ];
    let report = World::new().report();
    for (outcome, fails) in all {
        assert_eq!(report.counts_as_broken(outcome), fails, "{outcome}");
    }
}

#[test]
fn an_expectation_for_these_versions_is_named() {
    let cell = cell(|world| {
        world.cell().expectations = vec![Expectation {
            check: String::from("effects"),
            of: PinSubject::Server(ServerKind::Kafka),
            versions: ">=4.1, <4.4".parse().unwrap(),
        }];
    });
    let said = "controls caught: 1/1; effects as expected of server kafka >=4.1, <4.4";
    assert_outcome(&cell, Outcome::Pass, None, said);
    let expected = &cell.expectations[0];
    let said = [&expected.check, &expected.of, &expected.versions];
    assert_eq!(said, ["effects", "server kafka", ">=4.1, <4.4"]);
}
