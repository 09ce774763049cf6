//! Controls as they are written: a defect, the check that must catch it, and what is changed.
//! YAML comes in through `suite::model`; what a control overrides comes out, still unapplied.
//! It must never say how a change is applied: that is `suite::control`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::handler::HandlerRule;
use super::model::{DeadLetterTopology, OnDeadLetterFailure, SubscriptionType};
use super::schema::{CheckName, Id, Keyed, PatternName, Scalar};
use crate::checks::CheckSpec;
use crate::faults::EventRef;
use crate::faults::stall::StallEnd;
use crate::names::{BrokerKind, EventSet, Point};

/// A deliberate defect that a named check must catch.
#[derive(Debug, Clone, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ControlSpec {
    /// Name of the control inside its scenario.
    #[schemars(with = "Id")]
    pub id: String,
    /// In what the defect lies.
    pub defect: Defect,
    /// Wire name of the check that must fail, for example `effects`.
    #[schemars(with = "CheckName")]
    pub caught_by: String,
    /// The events on which it must fail.
    #[serde(default = "struck")]
    pub strikes: EventSet,
    /// The defect itself: what is otherwise than in the scenario.
    pub change: Change,
    /// Only on these brokers; all of the scenario's if empty.
    #[serde(default)]
    pub brokers: Vec<BrokerKind>,
}

fn struck() -> EventSet {
    EventSet::Struck
}

/// The three kinds of controls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, serde::Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Defect {
    /// A worker that does it wrong on purpose.
    WrongWorker,
    /// A setting of topology or fault under which the guarantee does not hold.
    WrongSetting,
    /// The same story with a stated falsehood: the check itself must fail.
    WrongExpectation,
}

/// What a control overrides.
#[derive(Debug, Clone, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Other workers, by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<Id, WorkerChange>")]
    pub workers: BTreeMap<String, WorkerChange>,
    /// Another point or end for a fault, by fault id.
    #[serde(default)]
    #[schemars(with = "BTreeMap<Id, FaultChange>")]
    pub faults: BTreeMap<String, FaultChange>,
    /// Other settings of the unit's own topics or namespace, by broker; the rest stays.
    #[serde(default)]
    #[schemars(with = "Keyed<BrokerKind, BTreeMap<String, Scalar>>")]
    pub settings: BTreeMap<BrokerKind, BTreeMap<String, String>>,
    /// Other types of subscriptions, by destination.
    #[serde(default)]
    #[schemars(with = "BTreeMap<Id, SubscriptionType>")]
    pub subscriptions: BTreeMap<String, SubscriptionType>,
    /// Another dead letter topic; a fault that withholds what is made here is left out.
    #[serde(default)]
    pub dead_letter: Option<DeadLetterTopology>,
    /// Other expectations; they replace the checks of the same kind.
    #[serde(default)]
    pub checks: Vec<CheckSpec>,
}

/// Overrides of one worker.
#[derive(Debug, Clone, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerChange {
    /// Another way to handle an event.
    #[serde(default)]
    #[schemars(with = "Option<PatternName>")]
    pub pattern: Option<String>,
    /// Other rules for its handler, in place of all that it has.
    #[serde(default)]
    pub handler: Option<Vec<HandlerRule>>,
    /// Another answer to a dead letter that cannot be published.
    #[serde(default)]
    pub on_dead_letter_failure: Option<OnDeadLetterFailure>,
    /// Other client options, by broker; those that are not named here stay as they are.
    #[serde(default)]
    #[schemars(with = "Keyed<BrokerKind, BTreeMap<String, Scalar>>")]
    pub options: BTreeMap<BrokerKind, BTreeMap<String, String>>,
    /// Another number of processes.
    #[serde(default)]
    #[schemars(range(min = 1, max = 64))]
    pub count: Option<u32>,
}

/// Overrides of one fault.
#[derive(Debug, Clone, Deserialize, serde::Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultChange {
    /// Another point for a fault that a point triggers.
    #[serde(default)]
    pub at: Option<Point>,
    /// Another event for it.
    #[serde(default)]
    pub event: Option<EventRef>,
    /// Another end for a stall.
    #[serde(default)]
    pub until: Option<StallEnd>,
}
