//! Problems of the several scenarios that one text with a matrix stands for.
//! What was found in each of them comes in; every problem comes out once, with the values it needs.
//! It must never hide one: what only some combinations have says which.

use std::collections::BTreeMap;

use crate::suite::compose::Combination;
use crate::suite::problem::Problem;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;

/// Scenarios of one file, each with its combination and its problems.
pub(super) fn together(found: Vec<(Option<&Combination>, Vec<Problem>)>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut groups: BTreeMap<usize, Vec<(&Combination, Vec<Problem>)>> = BTreeMap::new();
    for (combination, own) in found {
        match combination {
            Some(combination) => groups.entry(combination.of).or_default().push((combination, own)),
            None => problems.extend(own),
        }
    }
    for group in groups.values() {
        let mut by_problem: BTreeMap<&Problem, Vec<&Combination>> = BTreeMap::new();
        for (combination, own) in group {
            for problem in own {
                by_problem.entry(problem).or_default().push(combination);
            }
        }
        for (problem, mut holders) in by_problem {
            holders.dedup();
            problems.push(match (holders.first(), holders.len()) {
                (Some(first), n) if n < group.len() => {
                    let more = if n == 1 { String::new() } else { format!(", and {} more", n - 1) };
                    problem.clone().with_note(&format!("with {}{more}", first.axes_text()))
                }
                _ => problem.clone(),
            });
        }
    }
    problems
}

/// Variables that came through a merge key: they were not there when the text was filled in.
pub(super) fn merged(scene: &mut Scene) {
    let scenario = scene.scenario;
    let filled = scenario.combination.as_ref().map(|combination| &combination.values);
    let is_filled = |name: &String| filled.is_some_and(|values| values.contains_key(name));
    let names = [("vars", scenario.vars.keys().find(|name| !is_filled(name)))];
    let axes = [("matrix", scenario.matrix.keys().find(|name| !is_filled(name)))];
    for (key, name) in names.into_iter().chain(axes) {
        let Some(name) = name else { continue };
        let help = format!("write `{key}` into the scenario itself");
        let message =
            format!("`{name}` comes through an alias or a merge key, and fills in nothing");
        scene.report_with_help(Rule::MisplacedVariable, &scene.at(key).name(name), message, help);
    }
}
