//! Rule `links_only`, always on: workers reach servers through the runner's links only.
//! Samples of the kernel's socket tables come in; processes that went past a link come out.
//! It must never hold for a process that nobody looked at: a fault on a link proves nothing then.

use std::collections::BTreeSet;

use super::finding::{Tally, counted};
use super::{Check, Finding, Scope};
use crate::evidence::History;
use crate::evidence::event::{Event, FaultStage, Process};
use crate::names::Grade;

/// The rule; it has nothing to set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinksOnly;

impl Check for LinksOnly {
    fn name(&self) -> &'static str {
        "links_only"
    }

    fn examine(&self, history: &History, _scope: &Scope) -> Finding {
        let expected = String::from("every sampled socket of a worker goes to a link");
        let mut tally = Tally::new(self.name(), expected, Grade::Wire);
        let (mut sockets, mut seen) = (0, BTreeSet::new());
        for event in history.events() {
            let Event::Sockets { process, through_links, direct, .. } = event else { continue };
            tally.examined();
            sockets += u64::from(*through_links);
            if *through_links > 0 || !direct.is_empty() {
                seen.insert(process);
            }
            if !direct.is_empty() {
                tally.breach(format!("{process} goes to {}", direct.join(", ")));
            }
        }
        for process in must_be_seen(history).difference(&seen) {
            tally.doubt(format!("no sample shows a connection of {process}"));
        }
        tally.decide(format!("{} through links", counted(sockets, "socket")))
    }
}

/// Processes that were there when the runner looked: those that a fault held, and those that were
/// still alive when settle began to stop them. One that came and went in between need not be seen.
fn must_be_seen(history: &History) -> BTreeSet<&Process> {
    let mut there: BTreeSet<&Process> = BTreeSet::new();
    let mut alive: BTreeSet<&Process> = BTreeSet::new();
    let mut settling = false;
    for event in history.events() {
        match event {
            Event::WorkerStarted { process, .. } => {
                alive.insert(process);
            }
            Event::Settle { .. } => settling = true,
            Event::WorkerExited { process, signalled_by_us, .. } => {
                // One that ends by itself may do so between two looks.
                if settling && signalled_by_us.is_some() {
                    there.insert(process);
                }
                alive.remove(process);
            }
            Event::Fault(step) => {
                if let FaultStage::Triggered { process: Some(process), .. } = &step.stage {
                    there.insert(process);
                }
            }
            _ => {}
        }
    }
    there.extend(alive);
    there
}
