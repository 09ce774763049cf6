//! Barrier: several handlers are brought to a point with the same event, and let go at once.
//! The first one that is held comes in; all of them go on, with a receipt of who was there.
//! It must never let one go before the others are there, nor take a receipt for an arrival.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::{Fault, PointTrigger, record, record_look, record_trigger};
use crate::env::EnvError;
use crate::evidence::event::{At, FaultStage, ProbeWhen, Process};
use crate::names::ID_PATTERN;
use crate::wait::{self, Seen};

/// Whom a barrier brings together, where, and with which event. Every process of its workers has to
/// come: it is held at the point, or the database shows that it waits for one that is held there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BarrierSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// Where they meet: a worker with all of its processes, the point, and the event.
    pub when: PointTrigger,
    /// Other workers that have to come as well, with all of their processes.
    #[serde(default)]
    #[schemars(inner(regex(pattern = ID_PATTERN)))]
    pub with: Vec<String>,
}

const LOOK_EVERY: Duration = Duration::from_millis(10);

impl BarrierSpec {
    /// Whether processes of this worker have to come.
    pub fn wants(&self, worker: &str) -> bool {
        self.when.worker == worker || self.with.iter().any(|name| name == worker)
    }

    /// Names of the workers that have to come, each once.
    pub fn workers(&self) -> BTreeSet<&str> {
        self.with.iter().chain([&self.when.worker]).map(String::as_str).collect()
    }
}

#[async_trait]
impl Fault for BarrierSpec {
    async fn strike(&self, held: &At, ground: &dyn Ground) -> Result<(), EnvError> {
        record_trigger(ground, &self.id, &self.when, held).await?;
        let started = Instant::now();
        let wanted: u32 = self.workers().into_iter().map(|name| ground.processes_of(name)).sum();
        let what = format!("{wanted} processes at {} with {}", self.when.point, held.event);
        let met = wait::until(&what, ground.deadline(), LOOK_EVERY, || async {
            match self.look(held, ground).await {
                Ok(there) if there.count() >= wanted as usize => Seen::Done(there),
                Ok(there) => Seen::NotYet(format!("{} of {wanted} are there", there.count())),
                Err(error) => Seen::NotYet(error.to_string()),
            }
        })
        .await;
        let looked = record_look(ground, &self.id, ProbeWhen::After, held).await;
        // Whatever came of it: who is held goes on, and nobody is held here any more.
        let held_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let arrived = ground.close_barrier(&self.id);
        let waiting = met.as_ref().map(|there| there.waiting.clone()).unwrap_or_default();
        record(
            ground,
            &self.id,
            FaultStage::Gathered {
                point: self.when.point,
                held: arrived.iter().map(|at| at.process.clone()).collect(),
                waiting: waiting.into_iter().collect(),
                wanted,
                held_us,
                complete: met.is_ok(),
            },
        );
        arrived.iter().for_each(|at| ground.proceed(at));
        looked
    }
}

/// Who is there at one moment.
struct There {
    held: BTreeSet<Process>,
    /// The database shows them waiting for one that is held.
    waiting: BTreeSet<Process>,
}

impl There {
    fn count(&self) -> usize {
        self.held.len() + self.waiting.len()
    }
}

impl BarrierSpec {
    async fn look(&self, first: &At, ground: &dyn Ground) -> Result<There, EnvError> {
        let blocked = ground.record_blocked(first).await?;
        let held: BTreeSet<Process> =
            ground.at_barrier(&self.id).into_iter().map(|at| at.process).collect();
        let waiting = blocked
            .into_iter()
            .filter(|pair| held.contains(&pair.blocker) && !held.contains(&pair.waiter))
            .map(|pair| pair.waiter)
            .filter(|waiter| ground.has_received(waiter, &first.event))
            .filter(|waiter| self.wants(ground.worker_of(waiter)))
            .collect();
        Ok(There { held, waiting })
    }
}
