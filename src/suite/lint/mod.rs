//! The contract lint: scenarios that are well formed and would all the same prove nothing.
//! A scene comes in; a problem for each, with the clause that it is about, goes into it.
//! It must never look at a server, nor say twice what `validate` says already.

mod handling;
mod letters;
mod reach;
mod redelivery;
mod waits;

use super::scene::Scene;
pub(super) use handling::{MOST_RULES, taken};
pub(super) use waits::comes_in_time;

/// For each clause that the lint names: the scenario under `suites/` that proves it, if there is
/// one.
pub(super) const PROOFS: &[(&str, Option<&str>)] = &[
    ("ACK-1", None),
    ("ACK-3", Some("at-least-once/sigkill-before-ack")),
    ("INB-1", Some("inbox/kept-long-enough")),
    ("DLQ-1", Some("dead-letter/missing-subscription")),
    ("DLQ-2", None),
    ("DLQ-4", Some("dead-letter/causes-part-ways")),
    ("DLT-2", Some("dead-letter/missing-topic")),
    ("DLT-3", None),
    ("INB-2", Some("inbox/same-event-at-once")),
    ("LIFE-1", Some("at-least-once/frozen-consumer")),
    ("LIFE-2", Some("ack-timeout/past-limit")),
    ("LIFE-3", None),
    ("PRD-2", None),
    ("RDR-3", Some("redrive/interrupted")),
    ("VER-1", None),
];

pub(super) fn lint(scene: &mut Scene) {
    redelivery::lint(scene);
    letters::lint(scene);
    reach::lint(scene);
    waits::lint(scene);
}

/// The note below a problem: the clause, and the scenario that proves it.
pub(super) fn contract(clause: &str) -> String {
    let proof = PROOFS.iter().find(|(known, _)| *known == clause).and_then(|(_, proof)| *proof);
    match proof {
        Some(scenario) => format!("clause {clause} of the contract; `{scenario}` proves it"),
        None => format!("clause {clause} of the contract"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{load, scenario_id};

    /// Both ways: nothing is named that is not there, and a new proof is named.
    #[test]
    fn the_proofs_are_scenarios_of_this_project() {
        let loaded = load(&["suites"]);
        for (clause, proof) in PROOFS {
            let shows: Vec<String> = loaded
                .scenarios()
                .filter(|(_, _, scenario)| scenario.clauses.iter().any(|c| c.value == *clause))
                .map(|(suite, _, scenario)| scenario_id(&suite.file, scenario))
                // What somebody else has met is an example, and may not run here.
                .filter(|id| !id.starts_with("reports/"))
                .collect();
            match proof {
                Some(id) => assert!(shows.iter().any(|s| s == id), "{clause}: {id} is no proof"),
                None => assert!(shows.is_empty(), "{clause}: name one of {shows:?} in PROOFS"),
            }
        }
    }
}
