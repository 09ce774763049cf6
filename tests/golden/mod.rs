//! The golden histories, told: one short story for each way in which a check can answer.
//! Nothing comes in; cases with the answer that they must get come out.
//! It must never compute an expected answer: it is what the design says, written by hand.

mod again;
mod always;
mod copies;
mod effects;
mod envelope;
mod fates;
mod letters;
mod moments;
mod sentences;

use std::collections::BTreeSet;

use ackproof::checks::{CheckSpec, FindingResult, Scope};
use ackproof::names::Grade;

pub use sentences::SENTENCES;

use crate::story::{SHOP, Story};
use crate::{Rule, Spec};

/// One history with the answer that it must get.
pub struct Case {
    pub folder: &'static str,
    pub name: &'static str,
    pub result: FindingResult,
    pub spec: Spec,
    pub story: Story,
    /// The events that the finding must name, by ordinal.
    pub events: Option<Vec<u32>>,
    pub grade: Option<Grade>,
}

pub fn cases() -> Vec<Case> {
    let counted = [effects::groups(), fates::groups(), copies::groups(), always::groups()];
    let told = [letters::groups(), envelope::groups(), moments::groups(), again::groups()];
    counted.into_iter().chain(told).flatten().flat_map(|group| group.cases).collect()
}

/// The cases of one folder; an empty history is among them.
pub struct Group {
    folder: &'static str,
    spec: Spec,
    cases: Vec<Case>,
}

impl Group {
    pub fn check(folder: &'static str, json: &str, scope: Scope) -> Self {
        let check: CheckSpec = serde_json::from_str(json).expect("a check");
        Self::of(folder, Rule::Check(check), scope)
    }

    pub fn of(folder: &'static str, rule: Rule, scope: Scope) -> Self {
        let group = Self { folder, spec: Spec { rule, scope }, cases: Vec::new() };
        group.case(FindingResult::Indeterminate, "empty", Story::new(), None)
    }

    fn case(
        mut self,
        result: FindingResult,
        name: &'static str,
        story: Story,
        events: Option<Vec<u32>>,
    ) -> Self {
        let (folder, spec) = (self.folder, self.spec.clone());
        self.cases.push(Case { folder, name, result, spec, story, events, grade: None });
        self
    }

    pub fn holds(self, name: &'static str, story: Story) -> Self {
        self.case(FindingResult::Holds, name, story, None)
    }

    pub fn violated(self, name: &'static str, events: &[u32], story: Story) -> Self {
        self.case(FindingResult::Violated, name, story, Some(events.to_vec()))
    }

    pub fn indeterminate(self, name: &'static str, story: Story) -> Self {
        self.case(FindingResult::Indeterminate, name, story, None)
    }

    /// The grade that the finding of the last case must have.
    pub fn graded(mut self, grade: Grade) -> Self {
        self.cases.last_mut().expect("a case").grade = Some(grade);
        self
    }
}

/// One destination, no redriver, nothing left at the end.
pub fn scope() -> Scope {
    Scope {
        destinations: BTreeSet::from([SHOP.to_owned()]),
        redriver: None,
        ack_timeout_ms: None,
        drained: true,
        faults: Vec::new(),
        pins: Vec::new(),
        delivery_cap: 20,
    }
}
