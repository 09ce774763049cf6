//! How a finding is put together, so that no check passes on nothing or forgets an event.
//! Broken and undecided events with a count come in; a `Finding` with its result comes out.
//! It must never hold on `examined: 0`, and never let an undecided event hide a broken one.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, FindingResult};
use crate::names::Grade;

/// Events that a sentence names before it only counts the rest; `Finding::events` has them all.
const NAMED: usize = 10;

/// What a check has gathered while it looked at one thing after the other.
#[derive(Debug)]
pub(super) struct Tally {
    check: &'static str,
    expected: String,
    grade: Grade,
    examined: u64,
    broken: BTreeSet<String>,
    undecided: BTreeSet<String>,
    breaches: u64,
    doubts: u64,
    why: Vec<String>,
}

impl Tally {
    /// An empty tally; `grade` is the best that the check can rest on.
    pub(super) fn new(check: &'static str, expected: String, grade: Grade) -> Self {
        Self {
            check,
            expected,
            grade,
            examined: 0,
            broken: BTreeSet::new(),
            undecided: BTreeSet::new(),
            breaches: 0,
            doubts: 0,
            why: Vec::new(),
        }
    }

    /// One more thing was looked at.
    pub(super) fn examined(&mut self) {
        self.examined += 1;
    }

    /// It rests on evidence of this grade too; the weakest counts.
    pub(super) fn rests_on(&mut self, grade: Grade) {
        self.grade = self.grade.min(grade);
    }

    /// This event breaks the rule.
    pub(super) fn broken(&mut self, event: &str) {
        self.broken.insert(event.to_owned());
    }

    /// This event breaks the rule, and this is how.
    pub(super) fn broken_because(&mut self, event: &str, why: impl std::fmt::Display) {
        self.broken(event);
        self.why.push(format!("{event}: {why}"));
    }

    /// Nothing can be said about this event, and why not.
    pub(super) fn undecided(&mut self, event: &str, why: impl std::fmt::Display) {
        self.undecided.insert(event.to_owned());
        self.why.push(format!("{event}: {why}"));
    }

    /// The rule is broken in a way that is no event's.
    pub(super) fn breach(&mut self, why: impl std::fmt::Display) {
        self.breaches += 1;
        self.why.push(why.to_string());
    }

    /// Something is unknown that is no event's.
    pub(super) fn doubt(&mut self, why: impl std::fmt::Display) {
        self.doubts += 1;
        self.why.push(why.to_string());
    }

    /// Nothing can be said at all, and why not.
    pub(super) fn unknown(self, why: impl std::fmt::Display) -> Finding {
        Finding {
            check: self.check.to_owned(),
            result: FindingResult::Indeterminate,
            examined: self.examined,
            expected: self.expected,
            observed: format!("cannot tell: {why}"),
            events: self.undecided,
            grade: self.grade,
        }
    }

    /// The finding: violated by any broken event, else indeterminate by any undecided one or by
    /// nothing examined, else it holds.
    pub(super) fn decide(self, observed: impl std::fmt::Display) -> Finding {
        let (result, events) = if !self.broken.is_empty() || self.breaches > 0 {
            (FindingResult::Violated, self.broken)
        } else if !self.undecided.is_empty() || self.doubts > 0 || self.examined == 0 {
            (FindingResult::Indeterminate, self.undecided)
        } else {
            (FindingResult::Holds, BTreeSet::new())
        };
        let mut observed = observed.to_string();
        if self.examined == 0 {
            observed.push_str("; nothing was examined");
        }
        for why in self.why.iter().take(NAMED) {
            observed.push_str("; ");
            observed.push_str(why);
        }
        if let Some(more) = self.why.len().checked_sub(NAMED).filter(|more| *more > 0) {
            observed.push_str(&format!("; and {more} more"));
        }
        Finding {
            check: self.check.to_owned(),
            result,
            examined: self.examined,
            expected: self.expected,
            observed,
            events,
            grade: self.grade,
        }
    }
}

/// `e-0001, e-0002 and 3 more`, or `none`.
pub(crate) fn named<'a>(ids: impl IntoIterator<Item = &'a String>) -> String {
    let ids: Vec<&str> = ids.into_iter().map(String::as_str).collect();
    match ids.len().checked_sub(NAMED) {
        _ if ids.is_empty() => String::from("none"),
        Some(more) if more > 0 => format!("{} and {more} more", ids[..NAMED].join(", ")),
        _ => ids.join(", "),
    }
}

/// `1 event`, `3 events`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// `2 events with 1, 1 event with 0`, by number; publications that may not exist come last.
pub(super) fn spread(by_number: &BTreeMap<u64, u64>, may_exist: u64) -> String {
    let with =
        by_number.iter().map(|(number, of)| format!("{} with {number}", counted(*of, "event")));
    let mut parts: Vec<String> = with.collect();
    if may_exist > 0 {
        parts.push(format!("{} that may not exist", counted(may_exist, "unknown publication")));
    }
    match parts.is_empty() {
        true => String::from("no event"),
        false => parts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally() -> Tally {
        Tally::new("c", String::from("e"), Grade::Broker)
    }

    #[test]
    fn nothing_examined_never_holds() {
        let finding = tally().decide("nothing");
        assert_eq!(finding.result, FindingResult::Indeterminate);
        assert!(finding.observed.contains("nothing was examined"), "{}", finding.observed);
    }

    #[test]
    fn a_broken_event_wins_over_an_undecided_one() {
        let mut tally = tally();
        tally.examined();
        tally.undecided("a", "unread");
        tally.broken_because("b", "gone");
        tally.rests_on(Grade::Claimed);
        tally.rests_on(Grade::Wire);
        let finding = tally.decide("o");
        assert_eq!(finding.result, FindingResult::Violated);
        assert_eq!(finding.events.into_iter().collect::<Vec<_>>(), ["b"]);
        assert_eq!(finding.grade, Grade::Claimed);
        assert_eq!(finding.observed, "o; a: unread; b: gone");
    }

    #[test]
    fn long_lists_name_the_first_and_count_the_rest() {
        let ids: Vec<String> = (0..12).map(|n| n.to_string()).collect();
        assert_eq!(named(&ids), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more");
        assert_eq!(named(&ids[..10]), "0, 1, 2, 3, 4, 5, 6, 7, 8, 9");
        assert_eq!(named(&ids[..0]), "none");
        assert_eq!(counted(1, "event"), "1 event");
        assert_eq!(counted(0, "event"), "0 events");
        let mut tally = tally();
        for id in &ids {
            tally.undecided(id, "?");
        }
        assert!(tally.decide("o").observed.ends_with("; and 2 more"));
    }
}
