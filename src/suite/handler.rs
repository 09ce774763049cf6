//! What a handler does with events beside its pattern: fail, be slow, hang, forget, give back, die.
//! Rules of a worker come in; for each event the ones that concern it come out, in their order.
//! It must never describe a fault: a fault strikes from outside, this is how the handler behaves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::Workload;
use super::time::Time;
use crate::names::BrokerKind;

/// Exit code of a process whose handler was told to crash (`PROTOCOL.md`, section 6.3).
pub const CRASH_CODE: i32 = 70;

/// One rule of a handler. The first rule that concerns an event and is not used up decides; without
/// one the event is handled as the worker's pattern says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HandlerRule {
    /// The events that it concerns.
    pub of: Selection,
    /// What it does with them.
    pub does: Behaviour,
    /// Only for so many first handings-over of each event to one process; always if left out.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub times: Option<u32>,
}

/// Which events of the workload a rule concerns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Every event.
    All,
    /// The events that the workload marks as poison.
    Poison,
    /// The events that are not poison.
    Healthy,
    /// These, by ordinal from 1.
    Events(Vec<u32>),
    /// Every so-manieth event: `every: 3` takes 3, 6, 9, …
    Every(#[schemars(range(min = 1))] u32),
}

/// What a handler does with an event that it was handed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    /// Handles it as the pattern says; ends the search for a rule.
    Ok,
    /// Fails before any effect and gives it back: a fault of the moment, worth another attempt.
    Fail,
    /// Fails before any effect and for good: with dead letters of the application it is dead at
    /// once.
    FailForGood,
    /// Cannot read the payload; for good as well.
    Undecodable,
    /// Reads the payload as the JSON of an order first: what is none is undecodable, everything
    /// else is handled as the pattern says.
    Decode,
    /// Works for this long before it touches the database, then goes on.
    Slow(Time),
    /// Never comes back; only the end of the process ends it.
    Hang,
    /// Has its effect and never acknowledges, nor gives it back.
    ForgetAck,
    /// Gives it back by negative ACK, without an attempt.
    Nack,
    /// Hands it to the client's own retry topic, to come back after this long.
    ReconsumeLater(Time),
    /// Ends the process at once, with exit code 70.
    Crash,
}

impl Selection {
    /// Whether the n-th event (from 1) is concerned.
    pub fn takes(&self, ordinal: u32, workload: &Workload) -> bool {
        match self {
            Self::All => true,
            Self::Poison => workload.poison.contains(&ordinal),
            Self::Healthy => !workload.poison.contains(&ordinal),
            Self::Events(ordinals) => ordinals.contains(&ordinal),
            Self::Every(step) => *step > 0 && ordinal.is_multiple_of(*step),
        }
    }
}

impl Behaviour {
    /// The time in it, if there is one.
    pub fn time(self) -> Option<Time> {
        match self {
            Self::Slow(time) | Self::ReconsumeLater(time) => Some(time),
            _ => None,
        }
    }

    /// Whether the handling ends without an effect.
    pub fn fails(self) -> bool {
        matches!(self, Self::Fail | Self::FailForGood | Self::Undecodable)
    }

    /// The capability that a client needs for it.
    pub fn needs(self, broker: BrokerKind) -> Option<&'static str> {
        match (self, broker) {
            (Self::Nack, _) => Some("negative_ack"),
            (Self::ReconsumeLater(_), BrokerKind::Pulsar) => Some("retry_topic"),
            _ => None,
        }
    }

    /// The same, with a relative time turned into milliseconds.
    pub fn resolved(self, ack_timeout_ms: Option<u64>) -> Self {
        let ms = |time: Time| time.ms(ack_timeout_ms).map_or(time, Time::Ms);
        match self {
            Self::Slow(time) => Self::Slow(ms(time)),
            Self::ReconsumeLater(time) => Self::ReconsumeLater(ms(time)),
            other => other,
        }
    }
}

/// Rules that concern the n-th event, in their order.
pub fn rules_of<'a>(
    rules: &'a [HandlerRule],
    ordinal: u32,
    workload: &'a Workload,
) -> impl Iterator<Item = &'a HandlerRule> {
    rules.iter().filter(move |rule| rule.of.takes(ordinal, workload))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(of: &Selection) -> Vec<u32> {
        let workload = Workload {
            events: 6,
            keys: 1,
            payload_bytes: 0,
            poison: vec![2, 5],
            bytes: Vec::new(),
            again: Vec::new(),
        };
        (1..=6).filter(|n| of.takes(*n, &workload)).collect()
    }

    #[test]
    fn selections_take_their_events() {
        assert_eq!(taken(&Selection::All), [1, 2, 3, 4, 5, 6]);
        assert_eq!(taken(&Selection::Poison), [2, 5]);
        assert_eq!(taken(&Selection::Healthy), [1, 3, 4, 6]);
        assert_eq!(taken(&Selection::Events(vec![4, 1])), [1, 4]);
        assert_eq!(taken(&Selection::Every(3)), [3, 6]);
        assert!(taken(&Selection::Every(0)).is_empty());
    }

    #[test]
    fn relative_times_are_resolved_where_a_limit_is_known() {
        let half = Time::Of { thousandths: 500, value: super::super::time::Configured::AckTimeout };
        assert_eq!(Behaviour::Slow(half).resolved(Some(3000)), Behaviour::Slow(Time::Ms(1500)));
        assert_eq!(Behaviour::Slow(half).resolved(None), Behaviour::Slow(half));
        assert_eq!(Behaviour::Hang.resolved(Some(1)), Behaviour::Hang);
    }
}
