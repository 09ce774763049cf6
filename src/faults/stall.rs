//! Stall: a handler is held at a point until something else was seen, or for a share of a limit.
//! A held worker comes in; the same worker goes on, with a record of how long and until what.
//! It must never hold longer than the unit's deadline, nor count a time as proof of an overlap.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ground::Ground;
use super::{Fault, PointTrigger, record, record_look, record_trigger};
use crate::env::EnvError;
use crate::evidence::event::{At, FaultStage, ProbeWhen};
use crate::names::ID_PATTERN;
use crate::wait::{self, Seen, WaitError};

/// Whom a stall holds, when, and how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StallSpec {
    /// Name of the fault inside its scenario.
    #[schemars(regex(pattern = ID_PATTERN))]
    pub id: String,
    /// What fires it.
    pub when: PointTrigger,
    /// What ends it.
    pub until: StallEnd,
}

/// What ends a stall.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StallEnd {
    /// Another process received the same event: proof that the limit was passed.
    ReceivedElsewhere,
    /// Percent of the worker's ack timeout (Pulsar) or max.poll.interval.ms (Kafka).
    PercentOfAckTimeout(#[schemars(range(min = 1, max = 1000))] u32),
}

const LOOK_EVERY: Duration = Duration::from_millis(10);

#[async_trait]
impl Fault for StallSpec {
    async fn strike(&self, held: &At, ground: &dyn Ground) -> Result<(), EnvError> {
        record_trigger(ground, &self.id, &self.when, held).await?;
        let (held_us, ended) = until(&self.id, &self.until, held, ground).await?;
        record_look(ground, &self.id, ProbeWhen::After, held).await?;
        record(ground, &self.id, was_held(held, held_us, ended));
        ground.proceed(held);
        Ok(())
    }
}

/// What is recorded of a hold: how long, and until what was seen.
pub(super) fn was_held(held: &At, held_us: u64, ended: Result<String, WaitError>) -> FaultStage {
    let reached = ended.is_ok();
    let until = ended.unwrap_or_else(|error| error.to_string());
    FaultStage::Held { process: held.process.clone(), held_us, until, reached }
}

/// Waits for the end of a stall; gives the microseconds that it took, and what was seen.
///
/// # Errors
/// When a share of a limit is asked for and no limit is configured.
pub(super) async fn until(
    fault: &str,
    end: &StallEnd,
    held: &At,
    ground: &dyn Ground,
) -> Result<(u64, Result<String, WaitError>), EnvError> {
    let started = Instant::now();
    let ended = match end {
        StallEnd::ReceivedElsewhere => received_elsewhere(fault, held, ground).await,
        StallEnd::PercentOfAckTimeout(percent) => {
            let limit = ground.ack_timeout_ms().ok_or_else(|| {
                EnvError::new(format!("fault {fault}"), "no ack timeout is configured")
            })?;
            share_of(Duration::from_millis(limit * u64::from(*percent) / 100), started).await
        }
    };
    Ok((u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX), ended))
}

/// Another worker has the event, and the database shows it: it waits for the holder's transaction,
/// or (where nothing guards the event) its effect is there while the holder has not gone on.
async fn received_elsewhere(
    fault: &str,
    held: &At,
    ground: &dyn Ground,
) -> Result<String, WaitError> {
    let what = format!("another worker to receive {}", held.event);
    wait::until(&what, ground.deadline(), LOOK_EVERY, || async {
        if ground.received_elsewhere(held) {
            Seen::Done(())
        } else {
            Seen::NotYet(String::from("nobody else received it"))
        }
    })
    .await?;
    let what = format!("another worker in {} at the database", held.event);
    wait::until(&what, ground.deadline(), LOOK_EVERY, || async {
        match ground.record_blocked(held).await {
            Ok(pairs) if pairs.iter().any(|pair| pair.blocker == held.process) => {
                return Seen::Done(String::from("another worker waits for the holder"));
            }
            Ok(_) => {}
            Err(error) => return Seen::NotYet(error.to_string()),
        }
        match ground.probe(fault, ProbeWhen::After, held).await {
            Ok(probe) if probe.effects > 0 => {
                Seen::Done(String::from("another worker's effect is there"))
            }
            Ok(_) => Seen::NotYet(String::from("neither a blocked backend nor an effect")),
            Err(error) => Seen::NotYet(error.to_string()),
        }
    })
    .await
}

async fn share_of(share: Duration, started: Instant) -> Result<String, WaitError> {
    let end = started + share;
    let what = format!("{} ms of the ack timeout", share.as_millis());
    let patience = end + Duration::from_secs(1);
    wait::until(&what, patience, LOOK_EVERY, || async {
        let now = Instant::now();
        if now >= end {
            Seen::Done(format!("{} ms of the ack timeout had passed", share.as_millis()))
        } else {
            Seen::NotYet(format!("{} ms are left", end.duration_since(now).as_millis()))
        }
    })
    .await
}
