//! Check `redrive_known`: every letter is recorded as redriven, and after an interruption it was
//! known how far the redrive had come.
//! The redriver's own rows, the source log and the looks around its death come in; letters that are
//! unrecorded, or recorded and nowhere, come out.
//! It must never take the redriver's word for a letter that came back nowhere.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted};
use super::observed::{changes, entries, message, role_of};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{Event, FaultStage, Probe, ProbeWhen};
use crate::names::{EventSet, Grade, Role, TopicRole};

/// Each of these letters must be recorded as redriven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedriveKnownSpec {
    /// The events that it is about.
    pub of: EventSet,
}

impl Check for RedriveKnownSpec {
    fn name(&self) -> &'static str {
        "redrive_known"
    }

    fn examine(&self, history: &History, _scope: &Scope) -> Finding {
        let expected =
            format!("every letter ({}) recorded as redriven, and a count at the kill", self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Ledger);
        let set = history.ids(self.of);
        let recorded: BTreeSet<String> = history
            .events()
            .filter_map(|event| match event {
                Event::RedriveRow { event, .. } => Some(event.clone()),
                _ => None,
            })
            .collect();
        for event in &set {
            tally.examined();
            match (recorded.contains(event), came_back(history, event)) {
                (true, true) => {}
                (true, false) => tally.broken_because(event, "recorded, and it came back nowhere"),
                (false, _) => tally.broken_because(event, "not recorded as redriven"),
            }
        }
        for event in recorded.difference(&set) {
            tally.broken_because(event, "recorded, and no letter of this redrive");
        }
        let brackets = brackets(history);
        for bracket in &brackets {
            bracket.judge(set.len() as u64, &mut tally);
        }
        if brackets.is_empty() {
            tally.doubt("nobody looked how far the redrive had come when it was interrupted");
        }
        let rows = counted(recorded.len() as u64, "letter");
        let known = brackets.iter().map(Bracket::sentence).collect::<Vec<_>>().join(", ");
        tally.decide(format!("{rows} recorded{known}"))
    }
}

/// More copies in the source topic than were published, or an effect: either is outside of the
/// redriver's word.
fn came_back(history: &History, event: &str) -> bool {
    let copies: BTreeSet<_> = entries(history, TopicRole::Source)
        .filter(|entry| entry.event.as_deref() == Some(event))
        .map(|entry| message(&entry.position))
        .collect();
    let effect = changes(history).iter().any(|((id, _), c)| id == event && c.standing > 0);
    let confirmed: BTreeSet<_> =
        history.confirmed().remove(event).unwrap_or_default().iter().map(message).collect();
    copies.len() > confirmed.len().max(1) || effect
}

/// What was recorded as redriven just before and just after the redriver's death.
struct Bracket {
    event: String,
    before: u64,
    after: Option<u64>,
}

fn brackets(history: &History) -> Vec<Bracket> {
    let probes = |when: ProbeWhen| {
        history.events().filter_map(move |event| match event {
            Event::Probe(probe) if probe.when == when && of_redriver(history, &probe.fault) => {
                Some((probe, probe.redriven?))
            }
            _ => None,
        })
    };
    let bracket = |(probe, before): (&Probe, u64)| {
        let mut after = probes(ProbeWhen::After).filter(|(p, _)| p.fault == probe.fault);
        let after = after.next().map(|(_, redriven)| redriven);
        Bracket { event: probe.event.clone(), before, after }
    };
    probes(ProbeWhen::Before).map(bracket).collect()
}

/// A consumer that was killed says nothing about how far a redrive had come.
fn of_redriver(history: &History, fault: &str) -> bool {
    history.fault_steps(fault).any(|(_, stage)| match stage {
        FaultStage::Triggered { process: Some(process), .. } => {
            role_of(history, process).is_none_or(|role| role == Role::Redriver)
        }
        _ => false,
    })
}

impl Bracket {
    fn judge(&self, letters: u64, tally: &mut Tally) {
        let Self { event, before, after } = self;
        match *after {
            None => tally.undecided(event, "nobody looked again after the death"),
            Some(after) if after < *before => {
                tally.broken_because(event, format!("{before} known, and {after} afterwards"));
            }
            Some(after) if after > *before => {
                tally.undecided(event, format!("{before} known, and {after} afterwards"));
            }
            Some(_) if *before == 0 => {
                tally.undecided(event, "interrupted before anything was redriven");
            }
            Some(_) if *before >= letters && letters > 1 => {
                tally.undecided(event, "interrupted when everything was redriven");
            }
            Some(_) => {}
        }
    }

    fn sentence(&self) -> String {
        let after = self.after.map_or_else(|| String::from("?"), |after| after.to_string());
        format!("; at the interruption {} known, then {after}", self.before)
    }
}
