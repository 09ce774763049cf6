//! Freeze: a worker process is stopped with an event in its hands, and thawed when its end is seen.
//! A held worker comes in; the same worker goes on, later, with everything in it as old as then.
//! It must never leave a process stopped, nor count the signal as proof that it took effect.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::stall::{StallEnd, until, was_held};
use super::{Fault, PointTrigger, record, record_look, record_trigger};
use crate::env::EnvError;
use crate::evidence::event::{At, FaultStage, ProbeWhen};
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
        record_trigger(ground, &self.id, &self.when, held).await?;
        let (proof, stopped) = shown(ground.freeze(&held.process).await);
        let process = held.process.clone();
        record(ground, &self.id, FaultStage::Frozen { process, proof, stopped });
        let held_until = until(&self.id, &self.until, held, ground).await;
        // Whatever came of it: what is stopped is thawed.
        let thawed = ground.thaw(&held.process).await;
        let (held_us, ended) = held_until?;
        record(ground, &self.id, was_held(held, held_us, ended));
        let (proof, verified) = shown(thawed);
        record(ground, &self.id, FaultStage::Healed { proof, verified });
        record_look(ground, &self.id, ProbeWhen::After, held).await?;
        ground.proceed(held);
        Ok(())
    }
}

/// What the kernel showed, and whether it is what was asked for.
fn shown(states: Result<String, EnvError>) -> (String, bool) {
    match states {
        Ok(proof) => (proof, true),
        Err(error) => (error.to_string(), false),
    }
}
