//! Dead letters: who really writes them, and what says that a piece of their topic is missing.
//! A scene comes in; its problems go into it.
//! It must never take the absence of a subscription for granted: somebody has to have said so.

use super::contract;
use crate::checks::CheckSpec;
use crate::faults::FaultSpec;
use crate::faults::withhold::Piece;
use crate::names::BrokerKind;
use crate::suite::model::{DeadLetterMode, Presence, SubscriptionType, WorkerSpec};
use crate::suite::problem::Words;
use crate::suite::rule::Rule;
use crate::suite::scene::Scene;

pub(super) fn lint(scene: &mut Scene) {
    policies(scene);
    absent_pieces_are_proven(scene);
    partitions(scene);
}

/// Kafka's dead letters often go to the partition of the same number, which has to be there.
fn partitions(scene: &mut Scene) {
    let topology = &scene.scenario.topology;
    let says_so = scene.scenario.clauses.iter().any(|clause| clause.value == "DLT-3");
    let (source, letters) = (topology.partitions, topology.dead_letter_partitions());
    if letters < source && !says_so && scene.brokers().contains(&BrokerKind::Kafka) {
        let message = format!(
            "{letters} partitions for dead letters, and {source} at the source: whoever forwards \
             the number of a partition loses its letters"
        );
        let route = scene.at("topology").key("dead_letter").key("partitions");
        scene.say(Rule::FewerPartitions, &route, Words::new(message).note(contract("DLT-3")));
    }
}

/// Pulsar's clients count towards a dead letter only where single messages are given back.
fn policies(scene: &mut Scene) {
    if !scene.brokers().contains(&BrokerKind::Pulsar) {
        return;
    }
    let wants = scene.scenario.checks.iter().map(|check| &check.value).find(|check| match check {
        CheckSpec::DeadLetters(spec) => spec.copies.needs_some(),
        CheckSpec::Unretained(_) | CheckSpec::RedriveKnown(_) => true,
        _ => false,
    });
    let Some(wants) = wants.map(CheckSpec::name) else { return };
    let mut ineffective: Vec<(&String, &str, &str)> = Vec::new();
    let mut is_effective = false;
    for (name, spec) in scene.consumers() {
        let Some(letter) = &spec.dead_letter else { continue };
        match (letter.mode, exclusive(scene, spec)) {
            (DeadLetterMode::Client, Some((destination, kind))) => {
                ineffective.push((name, destination, kind));
            }
            _ => is_effective = true,
        }
    }
    if is_effective {
        return;
    }
    for (name, destination, kind) in ineffective {
        let message = format!(
            "`{wants}` wants dead letters, and the client's policy writes none: `{destination}` is \
             {kind}"
        );
        let route = scene.at("workers").key(name).key("dead_letter").key("mode");
        let words = Words::new(message).note(contract("DLQ-2"));
        scene.say(Rule::PolicyNeedsShared, &route, words);
    }
}

/// The worker's destination and its type, where that hands everything to one consumer.
fn exclusive<'a>(scene: &Scene<'a>, spec: &'a WorkerSpec) -> Option<(&'a str, &'static str)> {
    let name = spec.destination.as_deref()?;
    let destination = scene.scenario.topology.destinations.get(name)?;
    match destination.subscription {
        SubscriptionType::Exclusive => Some((name, "exclusive")),
        SubscriptionType::Failover => Some((name, "failover")),
        SubscriptionType::Shared | SubscriptionType::KeyShared => None,
    }
}

/// What is said to be absent needs a fault that proves it.
fn absent_pieces_are_proven(scene: &mut Scene) {
    let Some(topology) = &scene.scenario.topology.dead_letter else { return };
    let (key, piece, clause) = match (topology.topic, topology.subscription) {
        (Presence::Absent, _) => ("topic", Piece::DeadLetterTopic, "DLT-2"),
        (Presence::Created, Presence::Absent) => {
            ("subscription", Piece::DeadLetterSubscription, "DLQ-1")
        }
        (Presence::Created, Presence::Created) => return,
    };
    let proves =
        |fault: &FaultSpec| matches!(fault, FaultSpec::Withhold(spec) if spec.piece == piece);
    if !scene.scenario.faults.iter().any(|fault| proves(&fault.value)) {
        let route = scene.at("topology").key("dead_letter").key(key);
        let words = Words::new("nothing proves that this piece is absent").note(contract(clause));
        scene.say(Rule::AbsenceWithoutProof, &route, words);
    }
}
