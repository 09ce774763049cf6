//! Check `redelivery_counts`: what the client told the handler about earlier handings-over.
//! The counts that workers pass on come in; events whose counts went another way come out.
//! It must never make up a count that a client did not give.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::{Tally, counted, named};
use super::observed::{HandedOver, Publication, handed_over, publications};
use super::{Bound, Check, Finding, Scope};
use crate::evidence::History;
use crate::names::{EventSet, Grade};

/// Counts that the client must give the handler: the whole sequence, the number of resets, or both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RedeliveryCountsSpec {
    /// The events that it is about.
    pub of: EventSet,
    /// The counts of all handings-over of each event, in their order, over all processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Vec<u32>>,
    /// Handings-over of each event, after its first, with a count that is no higher than the one
    /// before: the count was lost there. A redriven or republished copy starts anew, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets: Option<Bound>,
}

impl Check for RedeliveryCountsSpec {
    fn name(&self) -> &'static str {
        "redelivery_counts"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let mut tally = Tally::new(self.name(), self.expected(), Grade::Claimed);
        if scope.destinations.len() > 1 {
            return tally.unknown("a claim does not say for which of several destinations it is");
        }
        let handed = handed_over(history);
        let publications = publications(history);
        let mut sum = Sum::default();
        for event in history.ids(self.of) {
            let handed = handed.get(event.as_str()).map(Vec::as_slice).unwrap_or_default();
            if handed.is_empty() {
                if publications.get(&event) != Some(&Publication::Unknown) {
                    tally.undecided(&event, "no handler received it");
                }
                continue;
            }
            match counts(handed) {
                Ok(counts) => {
                    sum.add(&counts);
                    self.one(&event, &counts, &mut tally);
                }
                Err(without) => {
                    let of = counted(handed.len() as u64, "handing");
                    tally.undecided(&event, format!("{without} of {of} over came without a count"));
                }
            }
        }
        tally.decide(sum.sentence())
    }
}

impl RedeliveryCountsSpec {
    fn expected(&self) -> String {
        let sequence = self.sequence.as_ref().map(|counts| format!("counted {}", listed(counts)));
        let resets = self.resets.map(|bound| format!("{bound} reset(s) of the count"));
        let parts: Vec<String> = sequence.into_iter().chain(resets).collect();
        format!("each event ({}): {}", self.of, parts.join(", "))
    }

    fn one(&self, event: &str, counts: &[u32], tally: &mut Tally) {
        if let Some(sequence) = &self.sequence {
            tally.examined();
            if sequence != counts {
                tally.broken_because(event, listed(counts));
            }
        }
        let Some(bound) = self.resets else { return };
        if counts.len() > 1 {
            tally.examined();
            if !bound.admits(resets(counts)) {
                let resets = counted(resets(counts), "reset");
                tally.broken_because(event, format!("{resets} in {}", listed(counts)));
            }
        } else if bound.needs_some() {
            tally.undecided(event, "it was handed over once only");
        }
    }
}

/// The counts, or how many handings-over were without one.
fn counts(handed: &[HandedOver<'_>]) -> Result<Vec<u32>, usize> {
    let counts: Vec<u32> = handed.iter().filter_map(|one| one.at.redelivery_count).collect();
    match handed.len() - counts.len() {
        0 => Ok(counts),
        without => Err(without),
    }
}

fn resets(counts: &[u32]) -> u64 {
    counts.windows(2).filter(|pair| pair[1] <= pair[0]).count() as u64
}

/// `0, 1, 2`, shortened where it is long.
fn listed(counts: &[u32]) -> String {
    named(&counts.iter().map(u32::to_string).collect::<Vec<_>>())
}

#[derive(Default)]
struct Sum {
    events: u64,
    handed: u64,
    resets: u64,
    highest: u32,
}

impl Sum {
    fn add(&mut self, counts: &[u32]) {
        self.events += 1;
        self.handed += counts.len() as u64;
        self.resets += resets(counts);
        self.highest = self.highest.max(counts.iter().copied().max().unwrap_or(0));
    }

    fn sentence(&self) -> String {
        let handed = counted(self.handed, "handing");
        let events = counted(self.events, "event");
        let resets = counted(self.resets, "reset");
        format!("{handed} over of {events}, highest count {}, {resets}", self.highest)
    }
}
