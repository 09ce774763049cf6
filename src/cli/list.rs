//! `ackproof list`: the scenarios of suites, and which clause of the contract each one shows.
//! Paths and a profile come in; tables for people or documents for programs come out.
//! It must never plan: what is listed needs neither versions nor a worker.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use crate::names::{BrokerKind, Level};
use crate::plan;
use crate::suite::vocabulary::CLAUSES;
use crate::suite::{self, Problem, meanings, scenario_id};

/// What is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    pub scenarios: Vec<Entry>,
}

/// One scenario.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// `property/scenario`.
    pub id: String,
    pub title: String,
    pub brokers: Vec<BrokerKind>,
    pub level: Level,
    pub clauses: Vec<String>,
    pub hazard: bool,
    pub controls: Vec<String>,
}

/// The contract: every clause with the scenarios that show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Contract {
    pub clauses: Vec<Clause>,
}

/// One clause; without a scenario, nothing shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clause {
    pub clause: String,
    /// What it says, in a sentence.
    pub says: String,
    pub scenarios: Vec<String>,
}

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Table,
    Json,
}

/// Everything under the paths that a profile takes; all of it without one.
///
/// # Errors
/// Every problem of the files, or of the profile.
pub fn list<P: AsRef<Path>>(paths: &[P], profile: Option<&str>) -> Result<Listing, Vec<Problem>> {
    let loaded = suite::load(paths);
    let problems = suite::validate(&loaded);
    if !problems.is_empty() {
        return Err(problems);
    }
    let taken = plan::scenarios(&loaded, profile)?;
    let entry = |(read, _, scenario): (&suite::Read<suite::model::SuiteFile>, _, _)| {
        let scenario: &suite::model::Scenario = scenario;
        Entry {
            id: scenario_id(&read.file, scenario),
            title: scenario.title.clone(),
            brokers: scenario.brokers.clone(),
            level: scenario.level,
            clauses: scenario.clauses.iter().map(|clause| clause.value.clone()).collect(),
            hazard: scenario.hazard,
            controls: scenario.controls.iter().map(|c| c.value.id.clone()).collect(),
        }
    };
    let scenarios = loaded.scenarios().map(entry).filter(|entry| taken.contains(&entry.id));
    Ok(Listing { scenarios: scenarios.collect() })
}

impl Listing {
    /// The same by clause of the contract, in the contract's order.
    pub fn contract(&self) -> Contract {
        let clause = |clause: &&str| Clause {
            clause: (*clause).to_owned(),
            says: meaning(clause).to_owned(),
            scenarios: self
                .scenarios
                .iter()
                .filter(|entry| entry.clauses.iter().any(|own| own == clause))
                .map(|entry| entry.id.clone())
                .collect(),
        };
        Contract { clauses: CLAUSES.iter().map(clause).collect() }
    }

    /// Writes the scenarios.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which is a fault of this program.
    pub fn text(&self, form: Form) -> serde_json::Result<String> {
        if form == Form::Json {
            return serde_json::to_string_pretty(self);
        }
        let brokers = |entry: &Entry| {
            entry.brokers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let rows: Vec<[String; 5]> = self
            .scenarios
            .iter()
            .map(|entry| {
                let Entry { id, title, level, clauses, .. } = entry;
                let clauses = clauses.join(", ");
                [id.clone(), level.to_string(), brokers(entry), clauses, title.clone()]
            })
            .collect();
        let mut text = columns(["scenario", "level", "brokers", "clauses", "title"], &rows);
        let _ = writeln!(text, "\n{}", count(rows.len(), "scenario"));
        Ok(text)
    }
}

impl Contract {
    /// Writes the clauses.
    ///
    /// # Errors
    /// When it cannot be written as JSON, which is a fault of this program.
    pub fn text(&self, form: Form) -> serde_json::Result<String> {
        if form == Form::Json {
            return serde_json::to_string_pretty(self);
        }
        let (shown, open): (Vec<&Clause>, Vec<&Clause>) =
            self.clauses.iter().partition(|clause| !clause.scenarios.is_empty());
        let rows: Vec<[String; 3]> = shown
            .iter()
            .map(|clause| [clause.clause.clone(), clause.says.clone(), clause.scenarios.join(", ")])
            .collect();
        let mut text = columns(["clause", "says", "scenarios"], &rows);
        let all = self.clauses.len();
        let _ =
            writeln!(text, "\n{} of {} are shown by a scenario", shown.len(), count(all, "clause"));
        if !open.is_empty() {
            let rows: Vec<[String; 2]> =
                open.iter().map(|clause| [clause.clause.clone(), clause.says.clone()]).collect();
            let _ = write!(text, "\n{}", columns(["no scenario shows", "says"], &rows));
        }
        Ok(text)
    }
}

fn meaning(clause: &str) -> &'static str {
    let known = meanings::CLAUSES.iter().find(|(id, _)| *id == clause);
    known.map_or("", |(_, meaning)| meaning)
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A table whose last column may be of any width.
fn columns<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].len()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let mut text = String::new();
    for row in std::iter::once(head.map(str::to_owned)).chain(rows.iter().cloned()) {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}
