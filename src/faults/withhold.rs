//! Withhold: a piece of topology is not there, by the broker's own answer, until a phase makes it.
//! A provisioned unit comes in; proof of absence, and after the heal proof of presence, come out.
//! It must never create the piece in order to look for it.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::{Fault, record};
use crate::brokers::BrokerError;
use crate::env::EnvError;
use crate::evidence::event::FaultStage;
use crate::names::{ID_PATTERN, wire_name};

/// Which piece is missing, and how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithholdSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// What is missing.
    pub piece: Piece,
    /// The phase at whose start it is created; never, if absent.
    #[serde(default)]
    #[schemars(regex(pattern = ID_PATTERN))]
    pub heal_in: Option<String>,
}

/// A piece of topology that can be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// The subscription (or group) of the redriver on the dead letter topic.
    DeadLetterSubscription,
    /// The dead letter topic itself.
    DeadLetterTopic,
}

#[async_trait]
impl Fault for WithholdSpec {
    async fn stand(&self, ground: &dyn Ground) -> Result<(), EnvError> {
        self.record_absence(ground).await
    }

    async fn phase_begins(&self, phase: &str, ground: &dyn Ground) -> Result<(), EnvError> {
        if self.heal_in.as_deref() != Some(phase) {
            return Ok(());
        }
        // It must have been absent to the end, or the phase before proved nothing.
        self.record_absence(ground).await?;
        let created = ground
            .broker()
            .create(ground.names(), ground.topology(), self.piece)
            .await
            .map_err(port)?;
        let now = ground.broker().absent(ground.names(), self.piece).await.map_err(port)?;
        let stage = FaultStage::Healed {
            proof: format!("{}; then: {}", created.text, now.text),
            verified: created.holds && !now.holds,
        };
        record(ground, &self.id, stage);
        Ok(())
    }

    async fn phase_ended(&self, _phase: &str, ground: &dyn Ground) -> Result<(), EnvError> {
        match self.heal_in {
            // From its healing phase on it is there; before, the heal itself looks once more.
            Some(_) => Ok(()),
            None => self.record_absence(ground).await,
        }
    }
}

impl WithholdSpec {
    async fn record_absence(&self, ground: &dyn Ground) -> Result<(), EnvError> {
        let answer = ground.broker().absent(ground.names(), self.piece).await.map_err(port)?;
        let stage = FaultStage::Withheld {
            piece: wire_name(&self.piece),
            proof: answer.text,
            absent: answer.holds,
        };
        record(ground, &self.id, stage);
        Ok(())
    }
}

fn port(error: BrokerError) -> EnvError {
    EnvError::new("withhold", error)
}
