//! Check `gaps`: time between two handings-over of an event that follow each other.
//! Times at which the runner heard of handings-over come in, with its own absences; events that
//! came again too early or too late come out.
//! It must never decide by a margin that is smaller than a stretch in which the runner was away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::absence::Absence;
use super::finding::{Tally, counted};
use super::observed::{HandedOver, handed_over};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::names::{EventSet, Grade};

/// Times that must lie between two handings-over: a least time, a greatest one, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapsSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// Which of an event's gaps.
    pub between: Between,
    /// No gap is shorter, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_ms: Option<u64>,
    /// No gap is longer, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most_ms: Option<u64>,
}

/// Which handings-over of an event are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Between {
    /// Each and the one before it.
    All,
    /// The first and the second; what follows is not looked at.
    FirstTwo,
}

impl Check for GapsSpec {
    fn name(&self) -> &'static str {
        "gaps"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let mut tally = Tally::new(self.name(), self.expected(), Grade::Claimed);
        if scope.destinations.len() > 1 {
            return tally.unknown("a claim does not say for which of several destinations it is");
        }
        let Some(absence) = Absence::of(history) else {
            return tally.unknown("the runner's own health was not recorded");
        };
        let handed = handed_over(history);
        let mut all: Vec<u64> = Vec::new();
        for event in history.ids(self.of) {
            let handed = handed.get(event.as_str()).map(Vec::as_slice).unwrap_or_default();
            for pair in handed.windows(2).take(self.between.most()) {
                tally.examined();
                all.push(self.one(&event, &pair[0], &pair[1], &absence, &mut tally));
            }
        }
        let gaps = counted(all.len() as u64, "gap");
        tally.decide(match (all.iter().min(), all.iter().max()) {
            (Some(least), Some(most)) => {
                format!("{gaps} of {} to {} ms", least / 1000, most / 1000)
            }
            _ => gaps,
        })
    }
}

impl GapsSpec {
    fn expected(&self) -> String {
        let which = match self.between {
            Between::All => "handings-over",
            Between::FirstTwo => "the first two handings-over",
        };
        let least = self.at_least_ms.map(|ms| format!("at least {ms} ms"));
        let most = self.at_most_ms.map(|ms| format!("at most {ms} ms"));
        let bounds: Vec<String> = least.into_iter().chain(most).collect();
        format!("{} between {which} of each event ({})", bounds.join(" and "), self.of)
    }

    /// Looks at one gap; its length in microseconds.
    fn one(
        &self,
        event: &str,
        first: &HandedOver<'_>,
        second: &HandedOver<'_>,
        absence: &Absence,
        tally: &mut Tally,
    ) -> u64 {
        let gap_us = second.at_us.saturating_sub(first.at_us);
        let away_us = absence.around(first.at_us, second.at_us);
        let least_us = self.at_least_ms.map(|ms| ms.saturating_mul(1000));
        let most_us = self.at_most_ms.map(|ms| ms.saturating_mul(1000));
        let near = |bound_us: Option<u64>| {
            bound_us.is_some_and(|bound_us| gap_us.abs_diff(bound_us) < away_us)
        };
        let outside = least_us.is_some_and(|least_us| gap_us < least_us)
            || most_us.is_some_and(|most_us| gap_us > most_us);
        if near(least_us) || near(most_us) {
            let (gap_ms, away_ms) = (gap_us / 1000, away_us / 1000);
            tally.undecided(event, format!("{gap_ms} ms, the runner was away for {away_ms} ms"));
        } else if outside {
            tally.broken_because(event, format!("{} ms", gap_us / 1000));
        }
        gap_us
    }
}

impl Between {
    /// Gaps of an event that are looked at, at most.
    fn most(self) -> usize {
        match self {
            Self::All => usize::MAX,
            Self::FirstTwo => 1,
        }
    }
}
