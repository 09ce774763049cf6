//! The bracket of a kill: what ledger and broker showed while the worker was held, and later.
//! Trigger, two looks, signal and wait status come in; landed, or why not, comes out.
//! It must never accept a point that the worker only announced: the looks have to agree with it.

use super::landing::{Fired, Landing, fired, received_by_others, steps};
use crate::checks::observed::role_of;
use crate::evidence::History;
use crate::evidence::event::{Event, Exit, FaultStage, Probe, ProbeWhen};
use crate::faults::kill::KillSpec;
use crate::names::{Point, Role};

/// SIGKILL, the only signal whose death proves that nothing more was done.
const KILL: i32 = 9;

/// Whether a kill landed as its scenario wants it.
pub(super) fn kill(spec: &KillSpec, history: &History) -> Landing {
    let fired = fired(history, &spec.id, &spec.when)?;
    let Fired { process, event, .. } = fired;
    let killed = steps(history, &spec.id).find_map(|(seq, stage)| match stage {
        FaultStage::Killed { process, signal, exit } => Some((seq, process, *signal, *exit)),
        _ => None,
    });
    let Some((died, dead, signal, exit)) = killed else {
        return Err(format!("{process} was held at {} and not killed", spec.when.point));
    };
    if dead != process {
        return Err(format!("{process} was held, and {dead} was killed"));
    }
    if signal != KILL || exit != Exit::Signal(KILL) {
        return Err(format!("{process} was sent signal {signal} and ended with {}", said(exit)));
    }
    let before: Vec<_> = looks(history, spec, fired, ProbeWhen::Before)
        .filter(|(seq, _)| fired.seq < *seq && *seq < died)
        .collect();
    let after: Vec<_> =
        looks(history, spec, fired, ProbeWhen::After).filter(|(seq, _)| died < *seq).collect();
    if before.is_empty() {
        return Err(format!("nobody looked at {event} while {process} was held"));
    }
    if after.is_empty() {
        return Err(format!("nobody looked at {event} after the death of {process}"));
    }
    let mut why = String::from("the two looks are not about the same destination");
    for (_, before) in &before {
        for (seq, after) in &after {
            if before.destination != after.destination {
                continue;
            }
            let bracket = Bracket {
                point: spec.when.point,
                role: role_of(history, process).unwrap_or(Role::Consumer),
                again: received_by_others(history, fired)
                    .any(|(at, _)| fired.seq < at && at < *seq),
                earlier: received_before(history, fired),
                before,
                after,
            };
            match bracket.fits() {
                Ok(()) => return Ok(bracket.sentence(&process.to_string())),
                Err(reason) => why = reason,
            }
        }
    }
    Err(why)
}

fn looks<'a>(
    history: &'a History,
    spec: &'a KillSpec,
    fired: Fired<'a>,
    when: ProbeWhen,
) -> impl Iterator<Item = (u64, &'a Probe)> {
    history.records().iter().filter_map(move |record| match &record.event {
        Event::Probe(probe)
            if probe.fault == spec.id && probe.when == when && probe.event == fired.event =>
        {
            Some((record.seq, probe))
        }
        _ => None,
    })
}

/// How often anybody had received the event when the trigger fired; more than once, and an effect
/// may be an earlier handling's.
fn received_before(history: &History, fired: Fired<'_>) -> usize {
    let received = history.records().iter().filter(|record| {
        record.seq < fired.seq
            && matches!(&record.event, Event::ClaimAt(at)
                if at.point == Point::Received && at.event == fired.event)
    });
    received.count()
}

fn said(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
    }
}

/// Both looks at one event and destination.
struct Bracket<'a> {
    point: Point,
    role: Role,
    /// Somebody else received it before the second look, so that what changed may be theirs.
    again: bool,
    /// Handings-over before the trigger fired, this one included.
    earlier: usize,
    before: &'a Probe,
    after: &'a Probe,
}

impl Bracket<'_> {
    fn fits(&self) -> Result<(), String> {
        match self.role {
            Role::Consumer => self.fits_effects()?,
            Role::Redriver if self.point == Point::Redriven => self.fits_redriven()?,
            Role::Redriver | Role::Producer | Role::Application | Role::Relay => {}
        }
        self.fits_ack()
    }

    fn fits_effects(&self) -> Result<(), String> {
        let (before, after) = (self.before.effects, self.after.effects);
        match self.point {
            Point::Received | Point::BeforeEffect | Point::InTransaction
                if before > 0 && self.earlier < 2 =>
            {
                Err(format!("the worker says {}, and its effect is committed", self.point))
            }
            Point::EffectCommitted | Point::BeforeAck if before == 0 => {
                Err(format!("the worker says {}, and the ledger shows no effect", self.point))
            }
            _ if before != after && !self.again => {
                Err(format!("{before} effect(s) before the death, and {after} after it"))
            }
            _ => Ok(()),
        }
    }

    fn fits_redriven(&self) -> Result<(), String> {
        match (self.before.redriven, self.after.redriven) {
            (Some(0), _) => Err(String::from("the worker says redriven, and recorded no letter")),
            (Some(_), Some(_)) => Ok(()),
            _ => Err(String::from("nobody looked how many letters were recorded as redriven")),
        }
    }

    fn fits_ack(&self) -> Result<(), String> {
        let (Some(before), Some(after)) = (self.before.acked, self.after.acked) else {
            return Err(String::from("the broker did not say whether it is acknowledged"));
        };
        match self.point {
            Point::AckVisible if !before => Err(String::from("held before the ACK was visible")),
            Point::AckVisible if !after => Err(String::from("the visible ACK was gone afterwards")),
            Point::EffectCommitted
            | Point::BeforeAck
            | Point::BeforeNack
            | Point::DlqPublished
            | Point::Redriven
                if before =>
            {
                Err(format!("the worker says {}, and it was acknowledged already", self.point))
            }
            Point::EffectCommitted
            | Point::BeforeAck
            | Point::BeforeNack
            | Point::DlqPublished
            | Point::Redriven
                if after && !self.again =>
            {
                Err(String::from("it was acknowledged by the time that the worker was dead"))
            }
            _ => Ok(()),
        }
    }

    fn sentence(&self, process: &str) -> String {
        let (point, event) = (self.point, &self.before.event);
        format!(
            "{process} held at {point} with {event}: {}; ended by signal {KILL}; then: {}",
            shown(self.before),
            shown(self.after)
        )
    }
}

fn shown(probe: &Probe) -> String {
    let acked = match probe.acked {
        Some(true) => "acknowledged",
        Some(false) => "not acknowledged",
        None => "ACK unknown",
    };
    let redriven = probe.redriven.map(|number| format!(", {number} redriven")).unwrap_or_default();
    format!("{} effect(s), {acked}{redriven}", probe.effects)
}
