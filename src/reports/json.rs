//! `report.json`: the versioned document for programs, with its own schema and names.
//! Verdicts come in; the document comes out, the same bytes for the same verdicts.
//! It must never follow an internal rename: a changed field is a new version of the document.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde::{Deserialize, Serialize};

use crate::checks::{Finding, FindingResult};
use crate::names::{BrokerKind, Cause, Grade, Level, Outcome, ServerKind};
use crate::suite::change::Defect;
use crate::suite::manifest::Lack;
use crate::verdict::{
    Ages, CellReport, ControlReport, Counts, ExpectationReport, FaultReport, HistoryRef, Host,
    KnownReport, Marks, REPORT_VERSION, RateReport, RunReport, ServerRun, Summary,
};

/// The whole document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    pub version: u32,
    pub run: RunPart,
    pub cells: Vec<CellPart>,
    pub summary: Summary,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunPart {
    pub id: String,
    pub started: String,
    pub ackproof: String,
    pub command: Vec<String>,
    pub profile: String,
    pub seed: u64,
    pub host: Host,
    pub duration_ms: u64,
    pub cancelled: bool,
    /// The cell that failed and after which no unit was started.
    pub stopped_after: Option<String>,
    pub strict: bool,
    /// Empty unless the profile is only partly shown.
    pub left_out: Vec<LeftOutPart>,
    pub suite_hash: String,
    pub root_hash: String,
    pub servers: Vec<ServerRun>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOutPart {
    pub word: String,
    pub cells: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellPart {
    pub id: String,
    pub scenario: String,
    pub title: String,
    pub about: String,
    pub property: String,
    /// Variables and axes of the scenario with their values here; empty for most.
    pub values: BTreeMap<String, String>,
    pub clauses: Vec<String>,
    pub level: Level,
    pub broker: BrokerPart,
    pub database: DatabasePart,
    pub client: ClientPart,
    pub worker: WorkerPart,
    pub outcome: Outcome,
    pub cause: Option<Cause>,
    pub reason: String,
    pub hazard_shown: Option<String>,
    pub unsupported: Option<Lack>,
    pub marks: Marks,
    pub duration_ms: u64,
    pub counts: Counts,
    pub ages: Ages,
    pub faults: Vec<FaultReport>,
    pub findings: Vec<FindingPart>,
    pub controls: Vec<ControlPart>,
    pub known: Vec<KnownReport>,
    pub expectations: Vec<ExpectationReport>,
    /// Null where the story was told once.
    pub rate: Option<RateReport>,
    pub waits: Vec<WaitPart>,
    pub histories: Vec<HistoryRef>,
    pub reproduce: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrokerPart {
    pub name: BrokerKind,
    pub pin: String,
    pub attested: Option<String>,
    /// Absent where no server of this pin was started (external, or unsupported).
    pub digest: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabasePart {
    pub pin: String,
    pub attested: Option<String>,
    pub digest: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPart {
    pub family: String,
    pub pin: String,
    pub attested: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerPart {
    pub name: String,
    pub pattern: String,
    pub dead_letter_mode: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingPart {
    pub check: String,
    pub outcome: FindingResult,
    pub examined: u64,
    pub expected: String,
    pub observed: String,
    pub events: BTreeSet<String>,
    pub grade: Grade,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlPart {
    pub name: String,
    pub kind: Defect,
    pub caught: bool,
    pub caught_by: String,
    pub reason: String,
    pub finding: Option<FindingPart>,
    pub history: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitPart {
    pub what: String,
    pub ms: u64,
}

/// Renders the document, indented, with a line feed at its end.
///
/// # Errors
/// When serde refuses; no value of a report can make it do so.
pub fn render(report: &RunReport) -> io::Result<String> {
    text(&document(report))
}

/// A document in the one form in which it is written.
///
/// # Errors
/// When it cannot be written as JSON, which is a fault of this program.
pub fn text(document: &Document) -> io::Result<String> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}

/// The document of a report.
pub fn document(report: &RunReport) -> Document {
    let run = &report.run;
    Document {
        version: REPORT_VERSION,
        run: RunPart {
            id: run.id.clone(),
            started: run.started.clone(),
            ackproof: run.ackproof.clone(),
            command: run.command.clone(),
            profile: run.profile.clone(),
            seed: run.seed,
            host: run.host.clone(),
            duration_ms: run.duration_ms,
            cancelled: run.cancelled,
            stopped_after: run.stopped_after.clone(),
            strict: run.strict,
            left_out: left_out(report),
            suite_hash: run.suite_hash.clone(),
            root_hash: run.root_hash.clone(),
            servers: run.servers.clone(),
        },
        cells: report.cells.iter().map(|cell| cell_part(cell, &run.servers)).collect(),
        summary: report.summary.clone(),
    }
}

fn left_out(report: &RunReport) -> Vec<LeftOutPart> {
    let entries = report.run.left_out.iter();
    entries.map(|e| LeftOutPart { word: e.word.clone(), cells: e.cells.clone() }).collect()
}

fn cell_part(cell: &CellReport, servers: &[ServerRun]) -> CellPart {
    let digest = |kind: ServerKind, pin: &str| {
        let server = servers.iter().find(|server| server.kind == kind && server.pin == pin);
        server.map(|server| server.digest.clone())
    };
    CellPart {
        id: cell.id.clone(),
        scenario: cell.scenario.clone(),
        title: cell.title.clone(),
        about: cell.about.clone(),
        property: cell.property.clone(),
        values: cell.values.clone(),
        clauses: cell.clauses.clone(),
        level: cell.level,
        broker: BrokerPart {
            name: cell.broker,
            pin: cell.server_pin.clone(),
            attested: cell.server_attested.clone(),
            digest: digest(cell.broker.into(), &cell.server_pin),
        },
        database: DatabasePart {
            pin: cell.database_pin.clone(),
            attested: cell.database_attested.clone(),
            digest: digest(ServerKind::Postgres, &cell.database_pin),
        },
        client: ClientPart {
            family: cell.client.library.clone(),
            pin: cell.client.version.clone(),
            attested: cell.client_attested.clone(),
        },
        worker: WorkerPart {
            name: cell.worker.clone(),
            pattern: cell.pattern.clone(),
            dead_letter_mode: cell.dead_letter_mode.clone(),
        },
        outcome: cell.outcome,
        cause: cell.cause,
        reason: cell.reason.clone(),
        hazard_shown: cell.hazard_shown.clone(),
        unsupported: cell.unsupported.clone(),
        marks: cell.marks.clone(),
        duration_ms: cell.duration_ms,
        counts: cell.counts.clone(),
        ages: cell.ages.clone(),
        faults: cell.faults.clone(),
        findings: cell.findings.iter().map(finding_part).collect(),
        controls: cell.controls.iter().map(control_part).collect(),
        known: cell.known.clone(),
        expectations: cell.expectations.clone(),
        rate: cell.rate.clone(),
        waits: cell.waits.iter().map(wait_part).collect(),
        histories: cell.histories.clone(),
        reproduce: cell.reproduce.clone(),
    }
}

fn finding_part(finding: &Finding) -> FindingPart {
    FindingPart {
        check: finding.check.clone(),
        outcome: finding.result,
        examined: finding.examined,
        expected: finding.expected.clone(),
        observed: finding.observed.clone(),
        events: finding.events.clone(),
        grade: finding.grade,
    }
}

fn control_part(control: &ControlReport) -> ControlPart {
    ControlPart {
        name: control.id.clone(),
        kind: control.defect,
        caught: control.caught,
        caught_by: control.caught_by.clone(),
        reason: control.reason.clone(),
        finding: control.finding.as_ref().map(finding_part),
        history: control.history.clone(),
    }
}

fn wait_part((what, ms): &(String, u64)) -> WaitPart {
    WaitPart { what: what.clone(), ms: *ms }
}
