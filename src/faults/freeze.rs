//! Freeze: a worker process is stopped with an event in its hands, and thawed when its end is seen.
//! A held worker comes in; the same worker goes on, later, with everything in it as old as then.
//! It must never leave a process stopped, nor count the signal as proof that it took effect.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::stall::{StallEnd, until};
use super::{Fault, PointTrigger, record, record_trigger};
use crate::env::EnvError;
use crate::evidence::event::{At, Event, FaultStage, ProbeWhen};
use crate::names::ID_PATTERN;

/// Whom a freeze stops, when, and how long. Unlike a stall it stops heartbeats, timers and
/// acknowledgments of the client as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreezeSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// What fires it.
    pub when: PointTrigger,
    /// What thaws it.
    pub until: StallEnd,
}

#[async_trait]
impl Fault for FreezeSpec {
    async fn strike(&self, held: &At, ground: &dyn Ground) -> Result<(), EnvError> {
        record_trigger(ground, &self.id, &self.when, held);
        ground.sample_sockets(&self.id);
        let before = ground.probe(&self.id, ProbeWhen::Before, held).await?;
        ground.recorder().record(Event::Probe(before));
        let frozen = ground.freeze(&held.process).await;
        let (proof, stopped) = match &frozen {
            Ok(proof) => (proof.clone(), true),
            Err(error) => (error.to_string(), false),
        };
        let process = held.process.clone();
        record(ground, &self.id, FaultStage::Frozen { process, proof, stopped });
        let held_until = until(&self.id, &self.until, held, ground).await;
        // Whatever came of it: what is stopped is thawed.
        let thawed = ground.thaw(&held.process).await;
        let (held_us, ended) = held_until?;
        let stage = FaultStage::Held {
            process: held.process.clone(),
            held_us,
            until: match &ended {
                Ok(until) => until.clone(),
                Err(error) => error.to_string(),
            },
            reached: ended.is_ok(),
        };
        record(ground, &self.id, stage);
        let (proof, verified) = match thawed {
            Ok(proof) => (proof, true),
            Err(error) => (error.to_string(), false),
        };
        record(ground, &self.id, FaultStage::Healed { proof, verified });
        let after = ground.probe(&self.id, ProbeWhen::After, held).await?;
        ground.recorder().record(Event::Probe(after));
        ground.proceed(held);
        Ok(())
    }
}
