//! Clients side by side: what each showed in the same scenario, and in what they differ.
//! Rows of facts come in; a document for programs and a page of Markdown come out.
//! It must never call a difference a fault: a client is asked for what its cell's checks say.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::Serialize;

use super::markdown::words;
use crate::names::Outcome;
use crate::verdict::shown::Shown;

/// Version of the document.
pub const DIVERGENCE_VERSION: u32 = 1;

/// All scenarios that were run, with the facts of every cell.
#[derive(Debug, Serialize)]
pub struct Divergence {
    pub version: u32,
    pub scenarios: Vec<Scenario>,
}

/// One scenario on one broker.
#[derive(Debug, Serialize)]
pub struct Scenario {
    pub scenario: String,
    pub broker: String,
    /// Names of the facts that are not the same in all rows; times never are, and do not count.
    pub differs_in: Vec<&'static str>,
    pub rows: Vec<Row>,
}

/// One cell.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    pub cell: String,
    /// `rdkafka@0.39.0`
    pub client: String,
    /// `kafka@4.3.1`
    pub server: String,
    pub outcome: Outcome,
    pub shown: Shown,
}

/// Facts that are measured, and so differ from run to run.
const MEASURED: [&str; 1] = ["first gap, ms"];

impl Divergence {
    /// Groups the rows of a run; each comes with the scenario and the broker that it is of.
    pub fn of(rows: impl IntoIterator<Item = (String, String, Row)>) -> Self {
        let mut groups: BTreeMap<(String, String), Vec<Row>> = BTreeMap::new();
        for (scenario, broker, row) in rows {
            groups.entry((scenario, broker)).or_default().push(row);
        }
        let scenario = |((scenario, broker), rows): ((String, String), Vec<Row>)| Scenario {
            differs_in: differs_in(&rows),
            scenario,
            broker,
            rows,
        };
        Self { version: DIVERGENCE_VERSION, scenarios: groups.into_iter().map(scenario).collect() }
    }

    /// As a page of Markdown: facts in rows, clients in columns, what differs in bold.
    pub fn markdown(&self) -> String {
        let mut page = String::from("# What clients showed\n");
        let shared = self.scenarios.iter().filter(|scenario| scenario.rows.len() > 1).count();
        let differ = self.scenarios.iter().filter(|s| !s.differs_in.is_empty()).count();
        // Writing into a String cannot fail.
        let _ = writeln!(
            page,
            "\nScenarios with several clients: {shared}; with differences: {differ}."
        );
        for scenario in &self.scenarios {
            scenario.write(&mut page);
        }
        page
    }
}

impl Scenario {
    fn write(&self, page: &mut String) {
        let _ = writeln!(page, "\n## {} on {}\n", words(&self.scenario), self.broker);
        let heads = self.rows.iter().map(|row| format!("{} on {}", row.client, row.server));
        let heads: Vec<String> = heads.map(|head| words(&head)).collect();
        let _ = writeln!(page, "| | {} |", heads.join(" | "));
        let _ = writeln!(page, "|---|{}", "---|".repeat(heads.len()));
        let outcomes = self.rows.iter().map(|row| crate::names::wire_name(&row.outcome));
        let _ = writeln!(page, "| outcome | {} |", outcomes.collect::<Vec<_>>().join(" | "));
        let columns: Vec<_> = self.rows.iter().map(|row| row.shown.texts()).collect();
        for (index, (name, _)) in Shown::default().texts().iter().enumerate() {
            let cells: Vec<&str> = columns.iter().map(|texts| texts[index].1.as_str()).collect();
            if cells.iter().all(|cell| cell.is_empty()) {
                continue;
            }
            let is_other = self.differs_in.contains(name);
            let name = if is_other { format!("**{name}**") } else { (*name).to_owned() };
            let cells = cells.iter().map(|cell| match cell.is_empty() {
                true => "–".to_owned(),
                false => words(cell),
            });
            let _ = writeln!(page, "| {name} | {} |", cells.collect::<Vec<_>>().join(" | "));
        }
    }
}

fn differs_in(rows: &[Row]) -> Vec<&'static str> {
    let names = Shown::default().texts().map(|(name, _)| name);
    let distinct = |index: usize| {
        let texts: BTreeSet<String> =
            rows.iter().map(|row| row.shown.texts()[index].1.clone()).collect();
        texts.len()
    };
    let differs = names.iter().enumerate().filter(|(index, _)| distinct(*index) > 1);
    differs.map(|(_, name)| *name).filter(|name| !MEASURED.contains(name)).collect()
}
