//! What a unit knows about its workers while it runs: who lives, who received what, what is done.
//! The dispatcher writes what workers said; phases, faults and settle read it.
//! It must never be evidence: histories are written elsewhere, this only steers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::evidence::event::{At, Exit, Process};

/// What a handler finds that comes to a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nobody was there.
    First,
    /// Others are there.
    Later,
    /// It is over.
    Closed,
}

/// Shared by the tasks of one unit.
#[derive(Debug, Default)]
pub struct Board {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    ended: BTreeMap<Process, Exit>,
    signalled: BTreeMap<Process, i32>,
    /// Processes that have not said hello yet, with the time of their start.
    silent: BTreeMap<Process, Instant>,
    /// Processes that said bye.
    parted: BTreeSet<Process>,
    ready: BTreeSet<Process>,
    /// Partitions that each process says it has.
    assigned: BTreeMap<Process, BTreeSet<String>>,
    received: BTreeMap<String, Vec<Process>>,
    /// Who has told of a publication.
    publishers: BTreeSet<Process>,
    /// Where ACK calls came back, well or not.
    acknowledged: Vec<At>,
    /// Whose ACK calls of which event came back well.
    acked: BTreeSet<(Process, String)>,
    deliveries: u64,
    /// By event: how many of its publications were confirmed.
    confirmed: BTreeMap<String, u32>,
    dead_letter_refused: BTreeSet<String>,
    fired: BTreeSet<String>,
    done: BTreeSet<String>,
    arrivals: BTreeMap<String, u32>,
    /// By barrier: who is held there; none once it is closed.
    barriers: BTreeMap<String, Option<Vec<At>>>,
    halt: Option<String>,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process was reaped.
    pub fn note_ended(&self, process: Process, exit: Exit) {
        let mut state = self.lock();
        state.silent.remove(&process);
        state.ended.insert(process, exit);
    }

    /// The runner is about to send a signal to a process. After SIGKILL (9) no other one counts:
    /// it is what ends the process, whatever is sent before the end is seen.
    pub fn note_signalled(&self, process: Process, signal: i32) {
        let mut state = self.lock();
        let noted = state.signalled.entry(process).or_insert(signal);
        if *noted != 9 {
            *noted = signal;
        }
    }

    /// The signal that the runner sent to a process, if any: the last one, or SIGKILL.
    pub fn signalled(&self, process: &Process) -> Option<i32> {
        self.lock().signalled.get(process).copied()
    }

    /// How a process ended, once it was reaped.
    pub fn ended(&self, process: &Process) -> Option<Exit> {
        self.lock().ended.get(process).copied()
    }

    /// A process was started and has to say hello.
    pub fn note_started(&self, process: Process) {
        self.lock().silent.insert(process, Instant::now());
    }

    /// A process said hello.
    pub fn note_hello(&self, process: &Process) {
        self.lock().silent.remove(process);
    }

    /// Whether a process that lives has not said hello yet.
    pub fn is_silent(&self, process: &Process) -> bool {
        self.lock().silent.contains_key(process)
    }

    /// A process said bye: it has nothing more to say.
    pub fn note_parted(&self, process: Process) {
        self.lock().parted.insert(process);
    }

    /// Whether a process said bye.
    pub fn has_parted(&self, process: &Process) -> bool {
        self.lock().parted.contains(process)
    }

    /// A process has connected and subscribed.
    pub fn note_ready(&self, process: Process) {
        self.lock().ready.insert(process);
    }

    /// A process was given partitions, or has lost them.
    pub fn note_rebalance(&self, process: &Process, change: &str, partitions: &[String]) {
        let mut state = self.lock();
        let own = state.assigned.entry(process.clone()).or_default();
        match change {
            "assigned" => own.extend(partitions.iter().cloned()),
            _ => own.retain(|partition| !partitions.contains(partition)),
        }
    }

    /// Whether a process has connected and subscribed.
    pub fn is_ready(&self, process: &Process) -> bool {
        self.lock().ready.contains(process)
    }

    /// Whether a process has a partition at least.
    pub fn has_partitions(&self, process: &Process) -> bool {
        self.lock().assigned.get(process).is_some_and(|own| !own.is_empty())
    }

    /// A process that was started so long ago and has not said hello.
    pub fn silent_for(&self, patience: Duration) -> Option<Process> {
        let state = self.lock();
        let mut late = state.silent.iter().filter(|(_, since)| since.elapsed() > patience);
        late.next().map(|(process, _)| process.clone())
    }

    /// A handler was handed an event; gives the number of deliveries of the unit so far.
    pub fn note_received(&self, event: &str, process: Process) -> u64 {
        let mut state = self.lock();
        state.received.entry(event.to_owned()).or_default().push(process);
        state.deliveries += 1;
        state.deliveries
    }

    /// Whether another process received the event after this one did.
    pub fn received_by_another(&self, event: &str, than: &Process) -> bool {
        let state = self.lock();
        let Some(receivers) = state.received.get(event) else { return false };
        let own = receivers.iter().rposition(|process| process == than).unwrap_or(0);
        receivers[own..].iter().any(|process| process != than)
    }

    /// Whether a process was handed an event.
    pub fn has_received(&self, process: &Process, event: &str) -> bool {
        self.lock().received.get(event).is_some_and(|receivers| receivers.contains(process))
    }

    /// An ACK call of a worker came back.
    pub fn note_acknowledged(&self, at: &At) {
        self.lock().acknowledged.push(at.clone());
    }

    /// Whether this is the first publication that a process tells of.
    pub fn is_first_of(&self, process: &Process) -> bool {
        self.lock().publishers.insert(process.clone())
    }

    /// A worker says that its ACK call returned well.
    pub fn note_acked(&self, process: &Process, event: &str) {
        self.lock().acked.insert((process.clone(), event.to_owned()));
    }

    /// Where the ACK calls of a process came back well, in that order.
    pub fn acknowledged_by(&self, process: &Process) -> Vec<At> {
        let state = self.lock();
        let is_acked = |at: &&At| state.acked.contains(&(process.clone(), at.event.clone()));
        let own = state.acknowledged.iter().filter(|at| at.process == *process);
        own.filter(is_acked).cloned().collect()
    }

    /// A handler came to a barrier, where it stays unless that is closed.
    pub fn come_to_barrier(&self, fault: &str, at: &At) -> Place {
        let mut state = self.lock();
        let barrier = state.barriers.entry(fault.to_owned()).or_insert_with(|| Some(Vec::new()));
        let Some(held) = barrier else { return Place::Closed };
        held.push(at.clone());
        if held.len() == 1 { Place::First } else { Place::Later }
    }

    /// Who is held at a barrier.
    pub fn at_barrier(&self, fault: &str) -> Vec<At> {
        self.lock().barriers.get(fault).cloned().flatten().unwrap_or_default()
    }

    /// Who was held at a barrier; nobody is from now on.
    pub fn close_barrier(&self, fault: &str) -> Vec<At> {
        self.lock().barriers.insert(fault.to_owned(), None).flatten().unwrap_or_default()
    }

    /// A publication was confirmed.
    pub fn note_confirmed(&self, event: &str) {
        *self.lock().confirmed.entry(event.to_owned()).or_default() += 1;
    }

    /// How many publications of this event were confirmed.
    pub fn confirmations(&self, event: &str) -> u32 {
        self.lock().confirmed.get(event).copied().unwrap_or_default()
    }

    /// Distinct events whose publication was confirmed.
    pub fn confirmed(&self) -> usize {
        self.lock().confirmed.len()
    }

    /// The publication of a dead letter failed.
    pub fn note_dead_letter_refused(&self, event: &str) {
        self.lock().dead_letter_refused.insert(event.to_owned());
    }

    /// Whether any dead letter was refused.
    pub fn dead_letter_refused(&self) -> bool {
        !self.lock().dead_letter_refused.is_empty()
    }

    /// The n-th arrival of a handler at a fault's point.
    pub fn count_arrival(&self, fault: &str) -> u32 {
        let mut state = self.lock();
        let count = state.arrivals.entry(fault.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// Marks a fault as fired; false if it had fired before.
    pub fn fire(&self, fault: &str) -> bool {
        self.lock().fired.insert(fault.to_owned())
    }

    /// Whether a fault has fired.
    pub fn has_fired(&self, fault: &str) -> bool {
        self.lock().fired.contains(fault)
    }

    /// A fault has done what it does.
    pub fn note_done(&self, fault: &str) {
        self.lock().done.insert(fault.to_owned());
    }

    /// Whether a fault has done what it does.
    pub fn is_done(&self, fault: &str) -> bool {
        self.lock().done.contains(fault)
    }

    /// Stops the story early; the first reason stays.
    pub fn halt(&self, why: impl Into<String>) {
        self.lock().halt.get_or_insert(why.into());
    }

    /// Why the story is to be stopped, if it is.
    pub fn halted(&self) -> Option<String> {
        self.lock().halt.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_holds_until_it_is_closed() {
        let board = Board::default();
        let at = |worker: &str| At {
            process: Process { worker: String::from(worker), incarnation: 1 },
            point: crate::names::Point::InTransaction,
            event: String::from("e-1"),
            delivery: 1,
            redelivery_count: None,
            position: None,
            fingerprint: None,
            held: true,
        };
        assert_eq!(board.come_to_barrier("b", &at("a")), Place::First);
        assert_eq!(board.come_to_barrier("b", &at("b")), Place::Later);
        assert_eq!(board.at_barrier("b").len(), 2);
        assert_eq!(board.close_barrier("b").len(), 2);
        assert_eq!(board.come_to_barrier("b", &at("c")), Place::Closed);
        assert!(board.at_barrier("b").is_empty() && board.close_barrier("b").is_empty());
    }

    #[test]
    fn partitions_are_a_process_s_until_they_are_taken() {
        let board = Board::default();
        let process = Process { worker: String::from("consumer"), incarnation: 1 };
        let both = [String::from("t/0"), String::from("t/1")];
        assert!(!board.has_partitions(&process));
        board.note_rebalance(&process, "assigned", &both);
        board.note_rebalance(&process, "revoked", &both[..1]);
        assert!(board.has_partitions(&process));
        board.note_rebalance(&process, "lost", &both);
        assert!(!board.has_partitions(&process));
    }

    #[test]
    fn no_signal_counts_after_a_kill() {
        let board = Board::default();
        let process = Process { worker: String::from("consumer"), incarnation: 1 };
        assert_eq!(board.signalled(&process), None);
        for (sent, counts) in [(15, 15), (9, 9), (15, 9)] {
            board.note_signalled(process.clone(), sent);
            assert_eq!(board.signalled(&process), Some(counts));
        }
    }
}
