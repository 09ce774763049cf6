//! A control applied to its scenario: the same story with one deliberate defect.
//! A scenario and a control come in; the parts that a unit runs, changed, come out.
//! It must never change what the control does not name, or a catch would prove nothing.

use std::collections::BTreeMap;

use super::change::Change;
use super::model::{Presence, Scenario, Topology, WorkerSpec};
use crate::checks::CheckSpec;
use crate::faults::FaultSpec;
use crate::faults::withhold::Piece;
use crate::names::{BrokerKind, Role};

/// The parts of a scenario that a control can change.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    pub topology: Topology,
    pub workers: BTreeMap<String, WorkerSpec>,
    pub faults: Vec<FaultSpec>,
    pub checks: Vec<CheckSpec>,
}

impl Story {
    /// The scenario as it is written.
    pub fn of(scenario: &Scenario) -> Self {
        let worker = |(name, spec): (&String, &serde_saphyr::Spanned<WorkerSpec>)| {
            (name.clone(), spec.value.clone())
        };
        Self {
            topology: scenario.topology.clone(),
            workers: scenario.workers.iter().map(worker).collect(),
            faults: scenario.faults.iter().map(|fault| fault.value.clone()).collect(),
            checks: scenario.checks.iter().map(|check| check.value.clone()).collect(),
        }
    }

    /// The story with the options of the client libraries, by role, as workers are given them.
    pub fn of_clients<'a>(
        mut self,
        broker: BrokerKind,
        library: impl Fn(Role) -> &'a String,
    ) -> Self {
        for worker in self.workers.values_mut() {
            let library = library(worker.role);
            let own = std::mem::take(&mut worker.client_options).remove(library);
            overlay(&mut worker.options, &own.map(|own| (broker, own)).into_iter().collect());
        }
        self
    }

    /// The story with the change of a control.
    pub fn with(mut self, change: &Change) -> Self {
        for (name, changed) in &change.workers {
            if let Some(worker) = self.workers.get_mut(name) {
                worker.pattern = changed.pattern.clone().or(worker.pattern.take());
                if let Some(handler) = &changed.handler {
                    worker.handler = handler.clone();
                }
                overlay(&mut worker.options, &changed.options);
                worker.count = changed.count.unwrap_or(worker.count);
                if let (Some(wanted), Some(letter)) =
                    (changed.on_dead_letter_failure, &mut worker.dead_letter)
                {
                    letter.on_failure = wanted;
                }
            }
        }
        self.faults = self.faults.into_iter().map(|fault| moved(fault, change)).collect();
        overlay(&mut self.topology.settings, &change.settings);
        for (name, subscription) in &change.subscriptions {
            if let Some(destination) = self.topology.destinations.get_mut(name) {
                destination.subscription = *subscription;
            }
        }
        if let Some(dead_letter) = &change.dead_letter {
            self.topology.dead_letter = Some(dead_letter.clone());
            self.drop_what_is_not_withheld();
        }
        self.expecting(&change.checks)
    }

    /// The story with other expectations: they replace the checks of the same kind.
    pub fn expecting(mut self, checks: &[CheckSpec]) -> Self {
        let replaced: Vec<&str> = checks.iter().map(CheckSpec::name).collect();
        self.checks.retain(|check| !replaced.contains(&check.name()));
        self.checks.extend(checks.iter().cloned());
        self
    }

    /// A piece that the control creates cannot be withheld too, and nothing happens during that.
    fn drop_what_is_not_withheld(&mut self) {
        let Some(dead_letter) = &self.topology.dead_letter else { return };
        let made = |fault: &FaultSpec| match fault {
            FaultSpec::Withhold(spec) => match spec.piece {
                Piece::DeadLetterTopic => dead_letter.topic == Presence::Created,
                Piece::DeadLetterSubscription => dead_letter.subscription == Presence::Created,
            },
            _ => false,
        };
        let gone: Vec<String> =
            self.faults.iter().filter(|f| made(f)).map(|f| f.id().to_owned()).collect();
        self.faults.retain(|fault| !gone.iter().any(|id| id == fault.id()));
        self.checks.retain(|check| match check {
            CheckSpec::NotAdvanced(spec) => !gone.contains(&spec.during),
            _ => true,
        });
    }
}

/// Settings by broker, put over others one by one.
type Settings = BTreeMap<BrokerKind, BTreeMap<String, String>>;

fn overlay(below: &mut Settings, above: &Settings) {
    for (broker, settings) in above {
        let own = below.entry(*broker).or_default();
        own.extend(settings.iter().map(|(name, value)| (name.clone(), value.clone())));
    }
}

fn moved(fault: FaultSpec, change: &Change) -> FaultSpec {
    let Some(changed) = change.faults.get(fault.id()) else { return fault };
    let mut fault = fault;
    if let Some(when) = fault.trigger_mut() {
        when.point = changed.at.unwrap_or(when.point);
        when.event = changed.event.unwrap_or(when.event);
    }
    match (&mut fault, &changed.until) {
        (FaultSpec::Stall(spec), Some(until)) => spec.until = until.clone(),
        (FaultSpec::Freeze(spec), Some(until)) => spec.until = until.clone(),
        _ => {}
    }
    fault
}
