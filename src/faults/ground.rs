//! The ground that a fault works on: what one running unit lets a fault see and do.
//! A fault asks through this port; the run behind it answers with real processes and servers.
//! It must never offer a judgement, nor a way to let time pass without a condition.

use std::time::Instant;

use async_trait::async_trait;

use crate::brokers::{Broker, UnitNames};
use crate::env::{BlockedPair, EnvError};
use crate::evidence::Recorder;
use crate::evidence::event::{At, Exit, Probe, ProbeWhen, Process};
use crate::suite::model::Topology;

/// One running unit, seen by its faults.
#[async_trait]
pub trait Ground: Send + Sync {
    /// Where receipts go.
    fn recorder(&self) -> &Recorder;
    /// The observer's port to the broker.
    fn broker(&self) -> &dyn Broker;
    /// Physical names of the unit's topics and groups.
    fn names(&self) -> &UnitNames;
    /// What the unit was provisioned with.
    fn topology(&self) -> &Topology;
    /// When the unit is given up.
    fn deadline(&self) -> Instant;
    /// The configured ack timeout in milliseconds, if there is one.
    fn ack_timeout_ms(&self) -> Option<u64>;

    /// The runner's own look at ledger and broker for the event that a worker holds.
    async fn probe(&self, fault: &str, when: ProbeWhen, held: &At) -> Result<Probe, EnvError>;
    /// Samples whose sockets go where, for all live workers.
    fn sample_sockets(&self, why: &str);
    /// SIGKILL through the pidfd, then the wait status.
    async fn kill(&self, process: &Process) -> Result<Exit, EnvError>;
    /// SIGSTOP to the process and whatever it has started; says in which state they are then.
    async fn freeze(&self, process: &Process) -> Result<String, EnvError>;
    /// SIGCONT to them; says in which state they are then.
    async fn thaw(&self, process: &Process) -> Result<String, EnvError>;
    /// Starts the next incarnation of a worker that has ended.
    async fn start_again(&self, process: &Process) -> Result<(), EnvError>;
    /// Lets a held handler go on.
    fn proceed(&self, held: &At);
    /// Whether another process than the holder has received the event since it is held.
    fn received_elsewhere(&self, held: &At) -> bool;
    /// Records backends that the database shows as blocked, and gives them.
    async fn record_blocked(&self, held: &At) -> Result<Vec<BlockedPair>, EnvError>;
    /// Whether a process said that it received the event.
    fn has_received(&self, process: &Process, event: &str) -> bool;
    /// Where the ACK calls of a process came back well, in that order.
    fn acknowledged_by(&self, process: &Process) -> Vec<At>;
    /// Name of the worker in the scenario that a process is one of.
    fn worker_of<'a>(&'a self, process: &'a Process) -> &'a str;
    /// How many processes a worker of the scenario has.
    fn processes_of(&self, worker: &str) -> u32;
    /// Who is held at a barrier now, in the order in which they came.
    fn at_barrier(&self, fault: &str) -> Vec<At>;
    /// The same, and nobody is held there from now on.
    fn close_barrier(&self, fault: &str) -> Vec<At>;
}
