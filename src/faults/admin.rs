//! Admin: an administrative action on a topic after a phase, with the broker's answer as receipt.
//! An ended phase comes in; the action is done once, and the broker's own words are recorded.
//! It must never act on a topic that the unit does not own.

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::{Fault, record};
use crate::env::EnvError;
use crate::evidence::event::FaultStage;
use crate::names::{ID_PATTERN, TopicRole, wire_name};

/// An administrative action and its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdminSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// What is done.
    pub action: AdminAction,
    /// The topic to which it is done.
    pub topic: TopicRole,
    /// It is done when this phase has ended.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub after: String,
}

/// What an administrator does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdminAction {
    /// Pulsar: close the topic, load it again, and trim what no subscription needs.
    UnloadAndTrim,
}

#[async_trait]
impl Fault for AdminSpec {
    async fn phase_ended(&self, phase: &str, ground: &dyn Ground) -> Result<(), EnvError> {
        if self.after != phase {
            return Ok(());
        }
        record(ground, &self.id, FaultStage::Triggered { process: None, point: None, event: None });
        let answer = ground
            .broker()
            .administer(ground.names(), self.topic, self.action)
            .await
            .map_err(|e| EnvError::new(format!("fault {}", self.id), e))?;
        let stage = FaultStage::Administered {
            action: format!("{} of {}", wire_name(&self.action), self.topic),
            answer: answer.text,
            took_effect: answer.holds,
        };
        record(ground, &self.id, stage);
        Ok(())
    }
}
