//! Rule `settled`, always on: the final reads were final.
//! The final reads and those at teardown come in; events of which something changed come out.
//! It must never hold where what was waited for did not come, or where teardown was not read.

use std::collections::BTreeMap;

use super::finding::Tally;
use super::observed::{final_reads_done, settle_step, source_positions};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{Event, ReadWhy, SettleStep};
use crate::names::{Grade, TopicRole};

/// The rule; it has nothing to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled;

impl Check for Settled {
    fn name(&self) -> &'static str {
        "settled"
    }

    fn examine(&self, history: &History, scope: &Scope) -> Finding {
        let expected = String::from("nothing changed after the final reads");
        let mut tally = Tally::new(self.name(), expected, Grade::Ledger);
        if !final_reads_done(history) {
            return tally.unknown("the final reads were not done");
        }
        let positions = source_positions(history);
        for destination in &scope.destinations {
            let read = |why| history.cursor(TopicRole::Source, destination, why);
            let (Some(last), Some(later)) = (read(ReadWhy::Final), read(ReadWhy::Teardown)) else {
                return tally.unknown(format!("where {destination} stands was not read twice"));
            };
            tally.examined();
            // Compared by what they acknowledge: an empty new ledger moves a mark, and no message.
            for (event, positions) in &positions {
                let moved = |at| last.acknowledges(at) != later.acknowledges(at);
                if positions.iter().any(moved) {
                    tally.broken_because(event, format!("{destination}'s ACK changed afterwards"));
                }
            }
        }
        let rows = |why| -> BTreeMap<i64, &str> {
            history.audit(why).map(|row| (row.audit_seq, row.event.as_str())).collect()
        };
        let (last, later) = (rows(ReadWhy::Final), rows(ReadWhy::Teardown));
        for (seq, event) in last.iter().chain(&later) {
            tally.examined();
            if last.contains_key(seq) != later.contains_key(seq) {
                tally.broken_because(event, format!("audit row {seq} is in one of both reads"));
            }
        }
        unmet(history, &mut tally);
        tally.decide(format!("audit rows: {}, then {}", last.len(), later.len()))
    }
}

/// What was waited for in vain: the story did not come to its end, whatever the reads show.
fn unmet(history: &History, tally: &mut Tally) {
    for event in history.events() {
        if let Event::Waited { what, met: false, last_seen, .. } = event {
            tally.doubt(format!("waited in vain for {what}, last seen: {last_seen}"));
        }
    }
    if settle_step(history, SettleStep::Expected) != Some(true) {
        tally.doubt("the expected state was not reached before the deadline");
    }
}
