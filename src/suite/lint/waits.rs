//! Waits that no trigger ends: a unit would stand there until its deadline, and then prove nothing.
//! A scene comes in; phases and stalls without an end go into it.
//! It must never call a wait endless that a story could end, however late.

use std::collections::{BTreeMap, BTreeSet};

use super::contract;
use super::handling::{Letters, makes_letters, stuck};
use crate::faults::FaultSpec;
use crate::faults::kill::AfterKill;
use crate::faults::withhold::Piece;
use crate::names::{BrokerKind, Role};
use crate::suite::model::{Until, WorkerSpec};
use crate::suite::problem::Words;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;

pub(super) fn lint(scene: &mut Scene) {
    let phases = scene.at("phases");
    let workload = &scene.scenario.workload;
    let mut fates = BTreeMap::new();
    for (name, spec) in scene.consumers() {
        for letters in [Letters::Taken, Letters::Refused] {
            fates.insert((name.as_str(), letters), stuck(spec, workload, letters));
        }
    }
    for (index, phase) in scene.scenario.phases.iter().enumerate() {
        let moment = Moment { scene, index, started: started_by(scene, index), fates: &fates };
        let (why, clause) = match &phase.value.until {
            Until::Drained => (moment.not_drained(), "ACK-3"),
            Until::DeadLettered => (moment.no_letters().or(moment.not_drained()), "DLQ-4"),
            Until::DeadLetterRefused => (moment.no_refusal(), "DLT-2"),
            Until::Redriven => (moment.no_redriver().or(moment.not_drained()), "RDR-3"),
            Until::Exited(name) => (moment.goes_on(name), "LIFE-3"),
            Until::Assigned(name) => (moment.without_partitions(name), "CON-7"),
            Until::FaultsDone => (moment.no_trigger(), "ACK-3"),
            Until::Triggered(fault) => (moment.never_triggered(fault), "ACK-3"),
        };
        if let Some(why) = why {
            let words = Words::new(format!("this phase never ends: {why}")).note(contract(clause));
            scene.say(Rule::PhaseNeverEnds, &phases.item(index).key("until"), words);
        }
    }
}

/// Whether a second consumer of the target's destination is there before the phase that waits for
/// the stall of the target.
pub(in crate::suite) fn comes_in_time(scene: &Scene, target: &WorkerSpec) -> bool {
    let phases = &scene.scenario.phases;
    let is_target = |name: &&String| scene.worker(name).is_some_and(|w| std::ptr::eq(w, target));
    let struck = phases.iter().position(|phase| phase.value.start.iter().any(|n| is_target(&n)));
    let waits =
        |until: &Until| matches!(until, Until::Drained | Until::Redriven | Until::FaultsDone);
    let Some(struck) = struck else { return scene.processes_of(target.destination.as_deref()) > 1 };
    let last = (struck..phases.len()).find(|index| waits(&phases[*index].value.until));
    let there = started_by(scene, last.unwrap_or(phases.len() - 1));
    let serves = |(name, spec): &(&String, &WorkerSpec)| {
        there.contains(name.as_str()) && spec.destination == target.destination
    };
    let processes = scene.consumers().filter(serves).map(|(_, spec)| spec.count);
    processes.fold(0, u32::saturating_add) > 1
}

/// Workers that a phase or one before it starts.
fn started_by<'a>(scene: &Scene<'a>, index: usize) -> BTreeSet<&'a str> {
    let phases = scene.scenario.phases.iter().take(index + 1);
    phases.flat_map(|phase| phase.value.start.iter().map(String::as_str)).collect()
}

/// The story up to a phase, and into it.
struct Moment<'s, 'a> {
    scene: &'s Scene<'a>,
    index: usize,
    started: BTreeSet<&'a str>,
    /// By consumer: the events that it is never done with.
    fates: &'s BTreeMap<(&'a str, Letters), Vec<bool>>,
}

type Why = Option<String>;

/// Roles that put the workload into the source topic, and come to an end with it.
fn publishes(role: Role) -> bool {
    match role {
        Role::Producer | Role::Application | Role::Relay => true,
        Role::Consumer | Role::Redriver => false,
    }
}

impl<'a> Moment<'_, 'a> {
    fn consumers(&self) -> impl Iterator<Item = (&'a String, &'a WorkerSpec)> {
        self.scene.consumers().filter(|(name, _)| self.started.contains(name.as_str()))
    }

    fn faults(&self) -> impl Iterator<Item = &'a FaultSpec> + use<'a> {
        self.scene.scenario.faults.iter().map(|fault| &fault.value)
    }

    fn has_poison(&self) -> bool {
        !self.scene.scenario.workload.poison.is_empty()
    }

    /// Every event has to be published, and acknowledged for every destination.
    fn not_drained(&self) -> Why {
        let workers = &self.scene.scenario.workers;
        // A worker that is not there is a problem of its own.
        let is_producer =
            |name: &&str| workers.get(*name).is_none_or(|spec| publishes(spec.value.role));
        let has_producers = workers.values().any(|spec| publishes(spec.value.role));
        if has_producers && !self.started.iter().any(is_producer) {
            return Some("no producer was started by then".to_owned());
        }
        for name in self.scene.scenario.topology.destinations.keys() {
            let serves = |spec: &WorkerSpec| spec.destination.as_ref() == Some(name);
            let is_served = self.scene.consumers().any(|(_, spec)| serves(spec));
            let there = || self.consumers().filter(|(_, spec)| serves(spec)).map(|(name, _)| name);
            if is_served && there().next().is_none() {
                return Some(format!("no consumer of `{name}` was started by then"));
            }
            if let Some(event) = self.stuck_event(there(), Letters::Taken) {
                return Some(format!("no consumer of `{name}` is done with event {event}"));
            }
            if let Some(event) = self.stuck_event(there(), Letters::Refused)
                && self.topic_is_missing()
            {
                let message = "the dead letter topic is still withheld from event";
                return Some(format!("{message} {event}"));
            }
        }
        None
    }

    /// The first event, by ordinal, that none of the consumers is ever done with.
    fn stuck_event<'n>(
        &self,
        consumers: impl Iterator<Item = &'n String>,
        letters: Letters,
    ) -> Option<usize> {
        let each = consumers.filter_map(|name| self.fates.get(&(name.as_str(), letters)).cloned());
        let all: Vec<bool> =
            each.reduce(|all, one| all.iter().zip(&one).map(|(a, b)| *a && *b).collect())?;
        all.iter().position(|stuck| *stuck).map(|n| n + 1)
    }

    fn no_letters(&self) -> Why {
        if !self.has_poison() {
            return Some("no event of the workload is poison".to_owned());
        }
        let writes = |spec: &WorkerSpec| spec.dead_letter.is_some();
        if !self.scene.consumers().any(|(_, spec)| writes(spec)) {
            return Some("no consumer writes dead letters".to_owned());
        }
        (!self.consumers().any(|(_, spec)| makes_letters(spec)))
            .then(|| "no consumer that makes dead letters was started by then".to_owned())
    }

    fn no_refusal(&self) -> Why {
        if !self.withholds().any(|_| true) {
            return Some("no fault withholds the dead letter topic".to_owned());
        }
        if !self.topic_is_missing() {
            return Some("the dead letter topic is there by then".to_owned());
        }
        self.no_letters()
    }

    fn no_redriver(&self) -> Why {
        let is_redriver =
            |name: &&str| self.scene.worker(name).is_some_and(|spec| spec.role == Role::Redriver);
        (!self.started.iter().any(is_redriver))
            .then(|| "no redriver was started by then".to_owned())
    }

    /// Producers end when all is published; others by a signal, or by a handler that crashes.
    fn goes_on(&self, name: &str) -> Why {
        let spec = self.scene.worker(name)?;
        let dies = self.faults().any(|fault| match fault {
            FaultSpec::Kill(kill) => kill.when.worker == name && kill.then == AfterKill::StayDead,
            _ => false,
        });
        let ends = publishes(spec.role) || (dies || spec.may_crash()) && spec.count == 1;
        (!ends).then(|| format!("a {} goes on until it is stopped", spec.role))
    }

    /// Kafka gives a partition to one process of a group.
    fn without_partitions(&self, name: &str) -> Why {
        let spec = self.scene.worker(name)?;
        if spec.role != Role::Consumer {
            return Some(format!("a {} is given no partitions", spec.role));
        }
        let partitions = self.scene.scenario.topology.partitions;
        let of_group = self.consumers().filter(|(_, other)| other.destination == spec.destination);
        let processes = of_group.map(|(_, other)| other.count).fold(0, u32::saturating_add);
        let many = self.scene.brokers().contains(&BrokerKind::Kafka) && processes > partitions;
        many.then(|| format!("{processes} processes share the {partitions} partition(s) on kafka"))
    }

    fn never_triggered(&self, id: &str) -> Why {
        let trigger = self.faults().find(|fault| fault.id() == id).map(FaultSpec::trigger);
        match trigger {
            // A fault that is not there is a problem of its own.
            None => None,
            Some(None) => Some(format!("no point triggers fault `{id}`")),
            Some(Some(when)) => (!self.started.contains(when.worker.as_str()))
                .then(|| format!("worker `{}` was not started by then", when.worker)),
        }
    }

    fn no_trigger(&self) -> Why {
        let is_triggered = self.faults().any(|fault| fault.trigger().is_some());
        (!is_triggered).then(|| "no fault is triggered by a point".to_owned())
    }

    /// The phases, by position, in which a withheld dead letter topic is made; none if never.
    fn withholds(&self) -> impl Iterator<Item = Option<usize>> {
        let phases = &self.scene.scenario.phases;
        self.faults().filter_map(move |fault| match fault {
            FaultSpec::Withhold(spec) if spec.piece == Piece::DeadLetterTopic => {
                let heals = spec.heal_in.as_ref();
                Some(heals.and_then(|name| phases.iter().position(|p| p.value.name == *name)))
            }
            _ => None,
        })
    }

    fn topic_is_missing(&self) -> bool {
        self.withholds().any(|healed| healed.is_none_or(|healed| healed > self.index))
    }
}
