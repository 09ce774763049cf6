//! Check `within_limit`: the handling of an event ended inside the ack timeout, by a margin.
//! Times at which the runner heard of the start and the end of a handling come in, with the gaps of
//! the runner itself; handlings past the limit come out.
//! It must never decide by a margin that is smaller than a stretch in which the runner was not
//! there.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::absence::Absence;
use super::finding::Tally;
use super::observed::is_consumer;
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{At, Event};
use crate::names::{EventSet, Grade, Point};

/// Each of these events must be handled inside the ack timeout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithinLimitSpec {
    /// The events that it is about.
    pub of: EventSet,
}

impl Check for WithinLimitSpec {
    fn name(&self) -> &'static str {
        "within_limit"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = format!("each event ({}) handled inside the ack timeout", self.of);
        let mut tally = Tally::new(self.name(), expected, Grade::Claimed);
        let Some(limit_ms) = scope.ack_timeout_ms else {
            return tally.unknown("no ack timeout is configured");
        };
        let Some(absence) = Absence::of(history) else {
            return tally.unknown("the runner's own health was not recorded");
        };
        let limit_us = limit_ms.saturating_mul(1000);
        let mut longest_us = 0;
        for event in history.ids(self.of) {
            let handlings = handlings(history, &event);
            if handlings.is_empty() {
                tally.undecided(&event, "no handler received it");
            }
            for Handling { from_us, to_us } in handlings {
                let Some(to_us) = to_us else {
                    tally.undecided(&event, "its ACK never returned");
                    continue;
                };
                tally.examined();
                let took_us = to_us.saturating_sub(from_us);
                longest_us = longest_us.max(took_us);
                let away_us = absence.around(from_us, to_us);
                if took_us.abs_diff(limit_us) < away_us {
                    let away_ms = away_us / 1000;
                    tally.undecided(&event, format!("the runner was away for {away_ms} ms"));
                } else if took_us >= limit_us {
                    tally.broken_because(&event, format!("{} ms", took_us / 1000));
                }
            }
        }
        tally.decide(format!("at most {} ms of {limit_ms} ms", longest_us / 1000))
    }
}

/// One handing-over: when it began and when its ACK returned.
struct Handling {
    from_us: u64,
    to_us: Option<u64>,
}

fn handlings(history: &History, event: &str) -> Vec<Handling> {
    let at = |point: Point| {
        history.records().iter().filter_map(move |record| match &record.event {
            Event::ClaimAt(at) if at.point == point && at.event == event => {
                Some((record.at_us, at))
            }
            _ => None,
        })
    };
    let same = |a: &At, b: &At| a.process == b.process && a.delivery == b.delivery;
    at(Point::Received)
        .filter(|(_, received)| is_consumer(history, &received.process))
        .map(|(from_us, received)| {
            let mut returned = at(Point::AckReturned)
                .filter(|(at_us, returned)| *at_us >= from_us && same(received, returned));
            Handling { from_us, to_us: returned.next().map(|(at_us, _)| at_us) }
        })
        .collect()
}
