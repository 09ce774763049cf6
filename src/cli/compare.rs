//! `ackproof compare`: what each client showed in the same scenarios, and in what they differ.
//! Output directories of runs come in; a page of Markdown, or a document, comes out.
//! It must never use anything but the evidence, and never call a difference a fault.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::evidence::{self, Evidence};
use super::{exit, output};
use crate::reports::divergence::{Divergence, Row};
use crate::verdict;
use crate::verdict::shown::Shown;

/// How the comparison is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Markdown,
    Json,
}

/// Compares the cells of all these runs.
pub fn compare(dirs: &[PathBuf], form: Form) -> u8 {
    let mut rows = Vec::new();
    for dir in dirs {
        match evidence::gather(dir) {
            Ok(evidence) => rows.extend(rows_of(&evidence)),
            Err(error) => {
                output::message(&format!("cannot compare: {error}"));
                return exit::USAGE;
            }
        }
    }
    if rows.is_empty() {
        output::message("nothing to compare: no cell has a history");
        return exit::INCONCLUSIVE;
    }
    let divergence = Divergence::of(rows);
    let text = match form {
        Form::Markdown => Ok(divergence.markdown()),
        Form::Json => serde_json::to_string_pretty(&divergence),
    };
    match text {
        Ok(text) => output::result(&text, exit::OK),
        Err(error) => {
            output::message(&format!("cannot write the comparison: {error}"));
            exit::INCONCLUSIVE
        }
    }
}

/// A row for each cell whose story was told and recorded.
fn rows_of(evidence: &Evidence) -> Vec<(String, String, Row)> {
    let Evidence { plan, run, histories, root_hash } = evidence;
    let report = verdict::judge(plan, run, histories, root_hash);
    let outcomes: BTreeMap<&str, _> =
        report.cells.iter().map(|cell| (cell.id.as_str(), cell.outcome)).collect();
    let row = |cell: &crate::plan::Cell| {
        let history = histories.get(&cell.subject)?.as_ref().ok()?;
        let row = Row {
            cell: cell.id.clone(),
            client: format!("{}@{}", cell.client.library, cell.client.version),
            server: format!("{}@{}", cell.broker, cell.server_pin),
            outcome: *outcomes.get(cell.id.as_str())?,
            shown: Shown::of(history),
        };
        Some((cell.scenario.clone(), cell.broker.to_string(), row))
    };
    plan.cells.iter().filter_map(row).collect()
}
