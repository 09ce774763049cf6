//! `ackproof rerun`: what failed or was inconclusive in an earlier run, once more.
//! An earlier output directory comes in; its plan, cut down to those cells, is run to a new one.
//! It must never plan anew: versions, seeds and stories are the ones of the earlier run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::run::{Known, Manner, run_selected};
use super::select::{self, Selected};
use super::{evidence, exit, output};
use crate::names::Outcome;
use crate::plan::Unit;
use crate::suite::Problem;
use crate::suite::problem::Words;
use crate::suite::rule::Rule;
use crate::verdict::command::{quoted, unchosen};

/// Runs again what is not decided or broken in `dir`.
pub async fn rerun(dir: &Path, workers: &Path, manner: Manner) -> u8 {
    if same(dir, &manner.out) {
        output::message("--out is the folder of the earlier run; name another one");
        return exit::USAGE;
    }
    let (report, plan, record) =
        match (evidence::judge(dir), evidence::plan(dir), evidence::record(dir)) {
            (Ok(report), Ok(plan), Ok(record)) => (report, plan, record),
            (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => {
                output::message(&format!("cannot run again: {error}"));
                return exit::USAGE;
            }
        };
    let wanted: BTreeSet<String> = report
        .cells
        .iter()
        .filter(|cell| matches!(cell.outcome, Outcome::Fail | Outcome::Inconclusive))
        .map(|cell| cell.id.clone())
        .collect();
    if wanted.is_empty() {
        let all = report.cells.len();
        let dir = dir.display();
        output::message(&format!("none of {all} cells in {dir} failed or was inconclusive"));
        return exit::OK;
    }
    let plan = plan.only(&wanted);
    let manifests = match select::manifests(workers) {
        Ok(manifests) => manifests,
        Err(problems) => return select::report(&problems),
    };
    let mut problems = Vec::new();
    let needed: BTreeSet<&String> = plan.units.iter().flat_map(Unit::manifests).collect();
    for worker in needed {
        if !manifests.iter().any(|(manifest, _)| manifest.name == *worker) {
            let message = format!("worker `{worker}` of the earlier run is not here");
            let help = "name its folder with --workers".to_owned();
            problems.push(Problem::of_request(Rule::NoWorker, Words::new(message).help(help)));
        }
    }
    if !problems.is_empty() {
        return select::report(&problems);
    }
    let command = command(&record.command, &wanted, &manner);
    let words: Vec<String> = command.iter().map(|word| quoted(word)).collect();
    output::message(&format!(
        "running {} of {} cells again, as: {}",
        wanted.len(),
        report.cells.len(),
        words.join(" ")
    ));
    run_selected(&manner, command, &Selected { plan, manifests }).await
}

/// The command that plans exactly these cells: reports name it, so that each can be repeated.
fn command(earlier: &[String], cells: &BTreeSet<String>, manner: &Manner) -> Vec<String> {
    const STRICT: &str = "--strict";
    let ids: Vec<String> = cells.iter().map(|cell| format!("id({cell})")).collect();
    let mut words: Vec<String> = earlier.iter().take(1).cloned().collect();
    words.extend(unchosen(earlier).into_iter().filter(|word| word != STRICT));
    if manner.known == Known::Failure {
        words.push(STRICT.to_owned());
    }
    words.extend(["--filter".to_owned(), ids.join(" or ")]);
    words.extend(["--out".to_owned(), manner.out.display().to_string()]);
    words
}

fn same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    real(one) == real(other)
}
