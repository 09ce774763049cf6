//! Kill: a signal through the pidfd of a worker that is held at a point, bracketed by two reads.
//! A held worker comes in; a dead one and a bracket receipt (read, kill, reap, read) come out.
//! It must never signal a worker that is not held, nor report a death that it did not reap.

use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::{Fault, PointTrigger, record, record_look, record_trigger};
use crate::env::EnvError;
use crate::evidence::event::{At, FaultStage, ProbeWhen};
use crate::names::{ID_PATTERN, Point};
use crate::wait::{self, Seen};

/// Whom a kill strikes, when, and what follows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KillSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// What fires it.
    pub when: PointTrigger,
    /// What follows the death.
    pub then: AfterKill,
    /// What has to be so before the signal, beside the point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_acks: Option<EarlierAcks>,
}

/// What is to be of the events that the process has acknowledged before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EarlierAcks {
    /// The broker shows all of them: clients gather ACKs, and those that have not left the process
    /// would be lost with it, so that the kill strikes more than the event at the point.
    Visible,
}

/// What follows the death of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AfterKill {
    /// The same worker starts again, as its next incarnation.
    Restart,
    /// Nobody takes its place; the others go on.
    StayDead,
}

/// Signal number of SIGKILL on every Linux architecture.
const SIGKILL: i32 = 9;
/// How often the broker is asked whether it shows the ACK.
const LOOK_EVERY: Duration = Duration::from_millis(20);

#[async_trait]
impl Fault for KillSpec {
    async fn strike(&self, held: &At, ground: &dyn Ground) -> Result<(), EnvError> {
        if self.earlier_acks == Some(EarlierAcks::Visible) {
            for earlier in ground.acknowledged_by(&held.process) {
                ack_visible(&self.id, &earlier, ground).await?;
            }
        }
        if self.when.point == Point::AckVisible {
            ack_visible(&self.id, held, ground).await?;
        }
        record_trigger(ground, &self.id, &self.when, held).await?;
        let exit = ground.kill(&held.process).await?;
        let process = held.process.clone();
        record(ground, &self.id, FaultStage::Killed { process, signal: SIGKILL, exit });
        record_look(ground, &self.id, ProbeWhen::After, held).await?;
        match self.then {
            AfterKill::Restart => ground.start_again(&held.process).await,
            AfterKill::StayDead => Ok(()),
        }
    }
}

/// The gate `ack_visible`: the worker stays at `ack_returned` until the broker shows its ACK.
async fn ack_visible(fault: &str, held: &At, ground: &dyn Ground) -> Result<(), EnvError> {
    let what = format!("the broker to show the ACK of {}", held.event);
    wait::until(&what, ground.deadline(), LOOK_EVERY, || async {
        match ground.probe(fault, ProbeWhen::Before, held).await {
            Ok(probe) if probe.acked == Some(true) => Seen::Done(()),
            Ok(probe) => Seen::NotYet(format!("acked {:?}", probe.acked)),
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await
    .map_err(|e| EnvError::new(format!("fault {fault}"), e))
}
