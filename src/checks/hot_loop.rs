//! Rule `hot_loop`, always on: no event is handed over again and again without an end.
//! Claims of handings-over and the runner's stop come in; the events that went round come out.
//! It must never hold on a unit in which no handler ran.

use super::deliveries::claims;
use super::finding::{Tally, counted};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::Event;
use crate::names::Grade;

/// The rule; its bound is the scenario's delivery cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HotLoop;

impl Check for HotLoop {
    fn name(&self) -> &'static str {
        "hot_loop"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = format!("fewer than {} handings-over", scope.delivery_cap);
        let mut tally = Tally::new(self.name(), expected, Grade::Claimed);
        let claims = claims(history);
        for _ in 0..claims.len() {
            tally.examined();
        }
        let claimed: u64 = claims.values().sum();
        let stopped = history.events().find_map(|event| match event {
            Event::CapReached { deliveries, .. } => Some(*deliveries),
            _ => None,
        });
        if stopped.is_some() || claimed >= scope.delivery_cap {
            // Those that went round are those that were handed over most often.
            let most = claims.values().max().copied().unwrap_or(0);
            for event in claims.iter().filter(|(_, times)| **times == most).map(|(id, _)| id) {
                tally.broken_because(event, format!("{most} times"));
            }
            if claims.is_empty() {
                tally.breach("stopped at the cap; no claim names an event");
            }
        }
        let total = counted(stopped.unwrap_or(claimed).max(claimed), "handing");
        tally.decide(format!("{total} over of {}", counted(claims.len() as u64, "event")))
    }
}
