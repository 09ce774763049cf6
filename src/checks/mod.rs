//! Checks: rules over a sealed history, one a file, pure.
//! A `CheckSpec` and a `History` come in; a `Finding` that says what it examined comes out.
//! A check must never reach a broker, a clock or another check, and never pass on nothing examined.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::evidence::History;
use crate::faults::FaultSpec;
use crate::names::{Grade, ServerKind};

mod absence;
pub mod carried;
pub mod confirmed;
pub mod conserved;
pub mod dead_letters;
pub mod deliveries;
pub mod disposition;
pub mod drained;
pub mod effects;
mod finding;
pub mod gaps;
pub mod hot_loop;
pub mod links_only;
pub mod messages;
pub mod not_advanced;
pub mod not_redelivered;
pub mod observed;
pub mod order;
pub mod overlap;
pub mod published;
pub mod redelivery_counts;
pub mod redrive_known;
pub mod settled;
pub mod unretained;
pub mod within_limit;

pub(crate) use finding::named;

/// What a check says about a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Wire name of the check.
    pub check: String,
    pub result: FindingResult,
    /// How many things were looked at; zero never holds.
    pub examined: u64,
    /// What was expected, as a sentence.
    pub expected: String,
    /// What was observed, as a sentence with numbers.
    pub observed: String,
    /// The events that break the rule (or that could not be decided), all of them; for a hazard
    /// that was shown, the events that are gone.
    pub events: BTreeSet<String>,
    /// The weakest evidence that it rests on.
    pub grade: Grade,
}

/// The three answers of a check.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FindingResult {
    /// The rule is broken.
    Violated,
    /// The history does not say.
    Indeterminate,
    /// The rule holds for everything that was looked at.
    Holds,
}

/// A rule over a history. Pure: the same history gives the same finding, today and from disk.
pub trait Check {
    /// Wire name, the same as in YAML.
    fn name(&self) -> &'static str;
    /// The rule applied.
    fn examine(&self, history: &History, scope: &Scope) -> Finding;
}

/// What a check may know beside the history: what the plan says about this unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scope {
    /// Destinations of the source topic, each of which must have its own effects.
    pub destinations: BTreeSet<String>,
    /// The redriver's subscription or group on the dead letter topic, if there is one.
    pub redriver: Option<String>,
    /// The configured ack timeout of the consumers in milliseconds, if one is configured.
    pub ack_timeout_ms: Option<u64>,
    /// The scenario says that everything is acknowledged at its end.
    pub drained: bool,
    /// Every fault must have left a receipt.
    pub faults: Vec<FaultSpec>,
    /// Who must have attested which version.
    pub pins: Vec<Pin>,
    /// Handings-over after which it counts as a hot loop.
    pub delivery_cap: u64,
}

/// Something whose version the plan pins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    pub subject: PinSubject,
    /// A full version, or a major that any version of it satisfies (`17`).
    pub version: String,
}

/// What a pin is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PinSubject {
    Server(ServerKind),
    /// The client library of every worker process of the unit, but for producers with another one.
    Client(String),
    /// The client library of the producers, where that is another one.
    Producer(String),
}

impl fmt::Display for PinSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(kind) => write!(f, "server {kind}"),
            Self::Client(library) => write!(f, "client {library}"),
            Self::Producer(library) => write!(f, "producer {library}"),
        }
    }
}

/// How often something may be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// This number and no other.
    Exactly(u64),
    /// This number or more.
    AtLeast(u64),
    /// This number or less.
    AtMost(u64),
}

/// One rule of a scenario, by kind.
// Adding a check is one file and one line here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckSpec {
    /// Effects per event and destination in the audit table.
    Effects(effects::EffectsSpec),
    /// Handings-over per event, supported by the broker.
    Deliveries(deliveries::DeliveriesSpec),
    /// Nothing is left: every confirmed message is acknowledged for every destination.
    Drained(drained::DrainedSpec),
    /// Every event has a disposition for every destination; none is lost.
    Conserved(conserved::ConservedSpec),
    /// Dead letters: which ids, how many copies, byte for byte.
    DeadLetters(dead_letters::DeadLettersSpec),
    /// Hazard: dead letters that were published and are not retained.
    Unretained(unretained::UnretainedSpec),
    /// Two processes were in the same event at once, by the database's own word.
    Overlap(overlap::OverlapSpec),
    /// While a fault stood, the broker's cursor did not pass these events.
    NotAdvanced(not_advanced::NotAdvancedSpec),
    /// Every redriven letter is recorded, and after the interruption it was known how far it came.
    RedriveKnown(redrive_known::RedriveKnownSpec),
    /// The handling of an event ended inside the ack timeout, by a margin.
    WithinLimit(within_limit::WithinLimitSpec),
    /// Copies of each event in a topic, as the observer read them back.
    Messages(messages::MessagesSpec),
    /// Publications that the producer reported as confirmed.
    Confirmed(confirmed::ConfirmedSpec),
    /// What the client told the handler about earlier handings-over of an event.
    RedeliveryCounts(redelivery_counts::RedeliveryCountsSpec),
    /// Time between two handings-over of an event.
    Gaps(gaps::GapsSpec),
    /// What was acknowledged is not handed over again.
    NotRedelivered(not_redelivered::NotRedeliveredSpec),
    /// The events of a key follow each other as they were published.
    Order(order::OrderSpec),
}

/// Names of the checks that a scenario can ask for, as YAML and `caught_by` spell them.
pub const CHECKS: &[&str] = &[
    "effects",
    "deliveries",
    "drained",
    "conserved",
    "dead_letters",
    "unretained",
    "overlap",
    "not_advanced",
    "redrive_known",
    "within_limit",
    "messages",
    "confirmed",
    "redelivery_counts",
    "gaps",
    "not_redelivered",
    "order",
];

/// Every name that a finding can have: those of the scenarios' checks, then of the rules that
/// always apply. A control's `caught_by` is one of them.
pub fn check_names() -> Vec<&'static str> {
    let always = AlwaysOn::ALL.iter().map(|rule| rule.name());
    CHECKS.iter().copied().chain(always).collect()
}

impl CheckSpec {
    fn rule(&self) -> &dyn Check {
        match self {
            Self::Effects(spec) => spec,
            Self::Deliveries(spec) => spec,
            Self::Drained(spec) => spec,
            Self::Conserved(spec) => spec,
            Self::DeadLetters(spec) => spec,
            Self::Unretained(spec) => spec,
            Self::Overlap(spec) => spec,
            Self::NotAdvanced(spec) => spec,
            Self::RedriveKnown(spec) => spec,
            Self::WithinLimit(spec) => spec,
            Self::Messages(spec) => spec,
            Self::Confirmed(spec) => spec,
            Self::RedeliveryCounts(spec) => spec,
            Self::Gaps(spec) => spec,
            Self::NotRedelivered(spec) => spec,
            Self::Order(spec) => spec,
        }
    }

    /// Wire name of the check, the same as in YAML.
    pub fn name(&self) -> &'static str {
        self.rule().name()
    }

    /// Applies the check to a history.
    pub fn examine(&self, history: &History, scope: &Scope) -> Finding {
        self.rule().examine(history, scope)
    }
}

/// Rules that no scenario has to ask for: they are applied to every unit.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AlwaysOn {
    /// What the broker confirmed to a producer can be read.
    Published,
    /// The final reads were final.
    Settled,
    /// No worker went to a server past its link.
    LinksOnly,
    /// The delivery cap was not reached.
    HotLoop,
}

impl AlwaysOn {
    /// All of them, in the order of the reports.
    pub const ALL: [Self; 4] = [Self::Published, Self::Settled, Self::LinksOnly, Self::HotLoop];

    fn rule(self) -> &'static dyn Check {
        match self {
            Self::Published => &published::Published,
            Self::Settled => &settled::Settled,
            Self::LinksOnly => &links_only::LinksOnly,
            Self::HotLoop => &hot_loop::HotLoop,
        }
    }

    /// Wire name of the rule.
    pub fn name(self) -> &'static str {
        self.rule().name()
    }

    /// Applies the rule to a history.
    pub fn examine(self, history: &History, scope: &Scope) -> Finding {
        self.rule().examine(history, scope)
    }
}

impl Bound {
    /// Whether this number is inside the bound.
    pub fn admits(self, number: u64) -> bool {
        match self {
            Self::Exactly(bound) => number == bound,
            Self::AtLeast(bound) => number >= bound,
            Self::AtMost(bound) => number <= bound,
        }
    }

    /// Whether a number of which only the least and the most are known is inside the bound;
    /// `None` where it may be either. `u64::MAX` as the most: no greatest number is known.
    fn decides(self, least: u64, most: u64) -> Option<bool> {
        let outside = match self {
            Self::Exactly(bound) => bound < least || most < bound,
            Self::AtLeast(bound) => most < bound,
            Self::AtMost(bound) => bound < least,
        };
        match (self.admits(least) && self.admits(most), outside) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        }
    }

    /// Whether nothing at all is outside the bound.
    pub fn needs_some(self) -> bool {
        !self.admits(0)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(bound) => write!(f, "exactly {bound}"),
            Self::AtLeast(bound) => write!(f, "at least {bound}"),
            Self::AtMost(bound) => write!(f, "at most {bound}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_include_their_number_and_no_other_side() {
        let admitted = |bound: Bound| (0..5).filter(|n| bound.admits(*n)).collect::<Vec<_>>();
        assert_eq!(admitted(Bound::Exactly(2)), [2]);
        assert_eq!(admitted(Bound::AtLeast(3)), [3, 4]);
        assert_eq!(admitted(Bound::AtMost(1)), [0, 1]);
        assert!(Bound::Exactly(1).needs_some() && !Bound::AtMost(1).needs_some());
        assert_eq!(Bound::AtMost(1).to_string(), "at most 1");
    }

    #[test]
    fn a_range_decides_where_all_of_it_is_on_one_side() {
        let decided = |bound: Bound, ranges: &[(u64, u64)]| {
            ranges.iter().map(|(least, most)| bound.decides(*least, *most)).collect::<Vec<_>>()
        };
        let (yes, no) = (Some(true), Some(false));
        let any = u64::MAX;
        let ranges = [(2, 2), (1, 1), (3, 3), (0, 1), (3, any), (1, 2), (2, 3), (1, 3), (0, any)];
        let exactly = decided(Bound::Exactly(2), &ranges);
        assert_eq!(exactly, [yes, no, no, no, no, None, None, None, None]);
        let at_least = decided(Bound::AtLeast(2), &ranges);
        assert_eq!(at_least, [yes, no, yes, no, yes, None, yes, None, None]);
        let at_most = decided(Bound::AtMost(2), &ranges);
        assert_eq!(at_most, [yes, yes, no, yes, no, yes, None, None, None]);
    }

    #[test]
    fn the_list_of_checks_is_the_one_that_yaml_takes() {
        let error = serde_json::from_str::<CheckSpec>("\"?\"").expect_err("no check").to_string();
        let taken: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        assert_eq!(taken, CHECKS);
    }

    #[test]
    fn every_name_is_the_yaml_name_of_one_check() {
        let specs = r#"[
            {"effects": {"of": "all", "count": {"exactly": 1}}},
            {"deliveries": {"of": "all", "count": {"at_most": 1}}},
            {"drained": {}},
            {"conserved": {}},
            {"dead_letters": {"of": "poison", "copies": {"exactly": 1}, "fidelity": "id"}},
            {"unretained": {"of": "poison"}},
            {"overlap": {"of": "struck"}},
            {"not_advanced": {"of": "poison", "during": "f"}},
            {"redrive_known": {"of": "poison"}},
            {"within_limit": {"of": "struck"}},
            {"messages": {"of": "all", "topic": "source", "count": {"exactly": 1}}},
            {"confirmed": {"of": "all", "count": {"exactly": 1}}},
            {"redelivery_counts": {"of": "poison", "sequence": [0, 1]}},
            {"gaps": {"of": "poison", "between": "all", "at_least_ms": 1}},
            {"not_redelivered": {"of": "all", "since": "visible"}},
            {"order": {"by": "effect"}}
        ]"#;
        let specs: Vec<CheckSpec> = serde_json::from_str(specs).expect("specs");
        let names: Vec<_> = specs.iter().map(CheckSpec::name).collect();
        assert_eq!(names, CHECKS);
        for spec in &specs {
            let json = serde_json::to_value(spec).expect("JSON");
            assert!(json.get(spec.name()).is_some(), "{} is not its YAML name", spec.name());
        }
        for rule in AlwaysOn::ALL {
            assert_eq!(rule.name(), crate::names::wire_name(&rule));
        }
        assert_eq!(check_names().len(), CHECKS.len() + AlwaysOn::ALL.len());
    }
}
