//! Known issues: which of those that are declared for a cell hold for it, and which of them showed.
//! A cell, its judged subject and the run's day come in; reports and what they decide come out.
//! It must never excuse a check that no issue names, and never ask for today's date.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::cell::{client_version, server_version};
use super::judged::Judged;
use super::validity::Problem;
use super::{ExpectationReport, KnownReport, KnownStatus, RunRecord};
use crate::checks::{FindingResult, PinSubject};
use crate::evidence::History;
use crate::names::{Cause, ServerKind};
use crate::plan::{Cell, ClientPin, KnownIssue};
use crate::suite::deviations::Occurs;
use crate::suite::versions::Coverage;

/// The issues of a cell whose version was inside the range.
pub(super) struct Known {
    pub(super) issues: Vec<KnownReport>,
}

impl Known {
    /// What showed and what did not.
    ///
    /// # Errors
    /// When the record does not say on which day the run was started, and something depends on it.
    pub(super) fn of(
        cell: &Cell,
        subject: Option<&Judged<'_>>,
        run: &RunRecord,
    ) -> Result<Self, Problem> {
        if cell.known.is_empty() {
            return Ok(Self { issues: Vec::new() });
        }
        let day = started_on(run).ok_or_else(|| {
            let why = format!("the record does not say when the run was started: {}", run.started);
            Problem::new(Cause::RunnerError, why)
        })?;
        let report = |issue: &KnownIssue| {
            let history = subject.and_then(|subject| subject.history);
            let version = inside(issue, cell, history)?;
            Some(KnownReport {
                check: issue.check.clone(),
                of: issue.of.to_string(),
                versions: issue.versions.to_string(),
                version,
                reason: issue.reason.clone(),
                url: issue.url.clone(),
                expires: issue.expires.to_string(),
                occurs: issue.occurs,
                status: status(issue, subject, day),
            })
        };
        Ok(Self { issues: cell.known.iter().filter_map(report).collect() })
    }

    fn with(&self, status: KnownStatus) -> impl Iterator<Item = &KnownReport> {
        self.issues.iter().filter(move |issue| issue.status == status)
    }

    /// Checks whose violation is accepted; one that is past its day is not, whatever else is known.
    pub(super) fn excused(&self) -> BTreeSet<&str> {
        let expired: BTreeSet<&str> =
            self.with(KnownStatus::Expired).map(|issue| issue.check.as_str()).collect();
        let shown = self.with(KnownStatus::Shown).map(|issue| issue.check.as_str());
        shown.filter(|check| !expired.contains(check)).collect()
    }

    /// What is to be said of issues past their day; empty where there is none.
    pub(super) fn expired(&self) -> String {
        let said = |issue: &KnownReport| {
            format!("; {}, was accepted until {} and is past that", named(issue), issue.expires)
        };
        self.with(KnownStatus::Expired).map(said).collect()
    }

    /// Why the cell fails although everything holds: what always occurs did not show.
    pub(super) fn missed(&self) -> Option<String> {
        let always = |issue: &&KnownReport| issue.occurs == Occurs::Always;
        let missed: Vec<String> =
            self.with(KnownStatus::NotShown).filter(always).map(named).collect();
        let verdict = "did not show: remove it or narrow the range";
        (!missed.is_empty()).then(|| format!("{} {verdict}", missed.join("; ")))
    }

    /// What showed as it was declared.
    pub(super) fn shown(&self) -> Option<String> {
        let said = |issue: &KnownReport| {
            let KnownReport { version, expires, url, .. } = issue;
            format!("{} (here {version}, accepted until {expires}): {url}", named(issue))
        };
        let shown: Vec<String> = self.with(KnownStatus::Shown).map(said).collect();
        (!shown.is_empty()).then(|| shown.join("; "))
    }
}

/// `known issue of effects in client pulsar <6.10: the count starts again`.
fn named(issue: &KnownReport) -> String {
    let KnownReport { check, of, versions, reason, .. } = issue;
    format!("known issue of {check} in {of} {versions}: {reason}")
}

/// The day in UTC on which the run was started.
fn started_on(run: &RunRecord) -> Option<Date> {
    let started: Timestamp = run.started.parse().ok()?;
    Some(TimeZone::UTC.to_datetime(started).date())
}

/// The version that the issue is about, if that is inside its range: the attested one where it is
/// known, else the pin when all that it stands for is inside.
fn inside(issue: &KnownIssue, cell: &Cell, history: Option<&History>) -> Option<String> {
    let (attested, pin) = match &issue.of {
        PinSubject::Client(library) => {
            let ClientPin { library: used, version } = &cell.client;
            let attested = history.and_then(|history| client_version(history, library));
            (attested, (used == library).then_some(version)?)
        }
        // Deviations are declared of servers and of the client under test.
        PinSubject::Producer(_) => return None,
        PinSubject::Server(kind) => {
            let attested = history.and_then(|history| server_version(history, *kind));
            let pin = match kind {
                ServerKind::Postgres => &cell.database_pin,
                kind => (ServerKind::from(cell.broker) == *kind).then_some(&cell.server_pin)?,
            };
            (attested, pin)
        }
    };
    match attested {
        Some(version) => (issue.versions.admits(&version) == Some(true)).then_some(version),
        None => (issue.versions.covers(pin) == Coverage::All).then(|| pin.clone()),
    }
}

fn status(issue: &KnownIssue, subject: Option<&Judged<'_>>, day: Date) -> KnownStatus {
    let Some(subject) = subject.filter(|subject| subject.invalid().is_none()) else {
        return KnownStatus::Undecided;
    };
    let findings = || subject.findings.iter().filter(|finding| finding.check == issue.check);
    let any = |result: FindingResult| findings().any(|finding| finding.result == result);
    if any(FindingResult::Violated) {
        return if day > issue.expires { KnownStatus::Expired } else { KnownStatus::Shown };
    }
    match any(FindingResult::Holds) && !any(FindingResult::Indeterminate) {
        true => KnownStatus::NotShown,
        false => KnownStatus::Undecided,
    }
}

/// The checks of a cell that were declared for its versions.
pub(super) fn expectations(cell: &Cell) -> Vec<ExpectationReport> {
    let report = |expected: &crate::plan::Expectation| ExpectationReport {
        check: expected.check.clone(),
        of: expected.of.to_string(),
        versions: expected.versions.to_string(),
    };
    cell.expectations.iter().map(report).collect()
}
