//! `ackproof plan`: what a run would do, without doing it.
//! Paths and a request come in; the plan comes out, as a table for people or as its document.
//! It must never start anything, nor read more than suites, pins, profiles and manifests.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::plan::{self, Plan, Request, Unit, UnitKind};
use crate::suite::{self, Problem};

/// Plans everything under the paths that the request takes. Manifests among the files are added to
/// those of the request.
///
/// # Errors
/// Every problem of the files, or else of the request.
pub fn plan<P: AsRef<Path>>(paths: &[P], mut request: Request) -> Result<Plan, Vec<Problem>> {
    let loaded = suite::load(paths);
    for read in &loaded.manifests {
        if !request.manifests.contains(&read.file) {
            request.manifests.push(read.file.clone());
        }
    }
    plan::build(&loaded, &request)
}

/// The plan as its document, the same bytes for the same input.
///
/// # Errors
/// When it cannot be written as JSON, which is a fault of this program.
pub fn json(plan: &Plan) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(plan)?;
    text.push('\n');
    Ok(text)
}

/// Cells, units and the waits that timers force, for people.
pub fn table(plan: &Plan) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "profile {}, seed {}, suite {}",
        plan.profile,
        plan.seed,
        plan.suite_hash.get(..12).unwrap_or(&plan.suite_hash)
    );
    cells(plan, &mut text);
    units(plan, &mut text);
    waits(plan, &mut text);
    text
}

fn cells(plan: &Plan, text: &mut String) {
    let _ = writeln!(text, "\ncells ({})", plan.cells.len());
    let width = plan.cells.iter().map(|cell| cell.id.len()).max().unwrap_or_default();
    for cell in &plan.cells {
        let note = match &cell.unsupported {
            Some(lack) => format!("unsupported: {}", lack.reason),
            None if cell.only_control => "has to fail".to_owned(),
            None => {
                let ids: Vec<&str> = cell.controls.iter().map(|c| c.id.as_str()).collect();
                let values = cell.values.iter().map(|(name, value)| format!("; {name}: {value}"));
                let values: String = values.collect();
                let pins = format!("{}, postgres {}", cell.pattern, cell.database_pin);
                format!("{pins}{values}; controls: {}", ids.join(", "))
            }
        };
        let rate = cell.rate.as_ref().map(|rate| {
            format!("; {} runs, at least {} must hold", rate.others.len() + 1, rate.at_least)
        });
        let known = cell.known.iter().map(|issue| format!("; known: {}", issue.check));
        let expected = cell.expectations.iter().map(|e| format!("; by version: {}", e.check));
        let more: String = rate.into_iter().chain(known).chain(expected).collect();
        let _ = writeln!(text, "  {:width$}  {note}{more}", cell.id);
    }
}

fn units(plan: &Plan, text: &mut String) {
    let _ = writeln!(text, "\nunits ({})", plan.units.len());
    let width = plan.units.iter().map(|unit| unit.id.len()).max().unwrap_or_default();
    for unit in &plan.units {
        let kind = match &unit.kind {
            UnitKind::Subject => "subject",
            UnitKind::Control(_) => "control",
            UnitKind::Baseline => "baseline",
        };
        let (events, wait) = (unit.workload.events, seconds(total(unit)));
        let limit = unit.limits.deadline_s;
        let _ = writeln!(
            text,
            "  {:width$}  {kind:8}  {events:3} events  waits {wait:>6}  deadline {limit:3} s",
            unit.id
        );
    }
}

/// The chain of forced waits: each unit's in its order, and their sum by server.
fn waits(plan: &Plan, text: &mut String) {
    let _ = writeln!(text, "\nwaits that timers force");
    let mut by_server: BTreeMap<String, u64> = BTreeMap::new();
    for unit in &plan.units {
        let server = format!("{} {}", unit.server.kind, unit.server.pin);
        *by_server.entry(server).or_default() += total(unit);
        for wait in &unit.waits {
            let _ = writeln!(text, "  {:>7}  {}: {}", seconds(wait.ms), unit.id, wait.what);
        }
    }
    if let Some(longest) = plan.units.iter().max_by_key(|unit| total(unit)) {
        let ms = total(longest);
        let _ = writeln!(text, "  {:>7}  longest chain: {}", seconds(ms), longest.id);
    }
    for (server, ms) in by_server {
        let _ = writeln!(text, "  {:>7}  in all on {server}, one after the other", seconds(ms));
    }
}

fn total(unit: &Unit) -> u64 {
    unit.waits.iter().map(|wait| wait.ms).sum()
}

fn seconds(ms: u64) -> String {
    format!("{}.{:02} s", ms / 1000, ms % 1000 / 10)
}
