//! Validity of the evidence itself: right versions, memory and disk enough, no other error.
//! A unit of the plan and its history come in; problems with a closed cause come out, worst first.
//! It must never look at what a check found: bad evidence stays bad, whatever it shows.

use std::collections::{BTreeMap, BTreeSet};

use super::FaultReport;
use super::claims;
use super::landing::is_process_of;
use crate::checks::observed::{role_of, settle_step};
use crate::checks::{Pin, PinSubject};
use crate::evidence::History;
use crate::evidence::event::{AttestedSubject, Event, Exit, FaultStage, Process, SettleStep};
use crate::names::{Cause, Role};
use crate::plan::Unit;
use crate::suite::handler::CRASH_CODE;

/// Something that keeps a unit from being decided, and in which closed class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub cause: Cause,
    pub why: String,
}

impl Problem {
    pub(super) fn new(cause: Cause, why: impl Into<String>) -> Self {
        Self { cause, why: why.into() }
    }

    /// Whether the evidence itself is invalid, so that not even a violated check counts.
    pub(super) fn invalidates(&self) -> bool {
        match self.cause {
            Cause::WrongVersion
            | Cause::Oom
            | Cause::Environment
            | Cause::Toolchain
            | Cause::RunnerError
            | Cause::DamagedEvidence
            | Cause::HealNotVerified
            | Cause::BaselineFailed
            | Cause::Cancelled => true,
            Cause::FaultNotLanded | Cause::ControlNotCaught | Cause::NothingExamined => false,
        }
    }
}

/// Everything that is wrong with the evidence of a unit. The first one names the cause: what
/// explains the others stands before them.
pub(super) fn problems(
    unit: &Unit,
    run_id: &str,
    history: &History,
    faults: &[FaultReport],
) -> Vec<Problem> {
    let mut problems = identity(unit, run_id, history);
    problems.extend(contradicted(&unit.scope.pins, history));
    problems.extend(out_of_memory(history));
    problems.extend(out_of_space(history));
    problems.extend(troubles(history));
    problems.extend(containers(history));
    problems.extend(processes(unit, history));
    problems.extend(claims::contradicted(unit, history));
    problems.extend(unhealed(history, faults));
    problems.extend(unattested(&unit.scope.pins, history));
    problems.extend(unsettled(history));
    problems
}

/// The history is this unit's, of this run, about the planned workload.
fn identity(unit: &Unit, run_id: &str, history: &History) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut wrong = |why: String| problems.push(Problem::new(Cause::RunnerError, why));
    match history.events().next() {
        Some(Event::Unit { unit: id, run, seed, .. }) => {
            if *id != unit.id {
                wrong(format!("the history is about {id}"));
            }
            if run != run_id {
                wrong(format!("the history is of run {run}"));
            }
            if *seed != unit.seed {
                wrong(format!("the history has seed {seed}, the plan {}", unit.seed));
            }
        }
        _ => wrong(String::from("the history does not say what it is about")),
    }
    if !matches!(history.events().last(), Some(Event::Sealed { .. })) {
        wrong(String::from("the history is not sealed"));
    }
    let planned: Vec<_> = history.planned().collect();
    if planned.len() != unit.workload.events as usize {
        let (had, wanted) = (planned.len(), unit.workload.events);
        wrong(format!("{had} events were planned in the run, {wanted} in the plan"));
    }
    let ordinals = (1_u32..).zip(&planned);
    let poison: BTreeSet<_> = ordinals.filter(|(_, p)| p.poison).map(|(n, _)| n).collect();
    if poison != unit.workload.poison.iter().copied().collect() {
        wrong(String::from("other events are poison than the plan says"));
    }
    problems
}

/// Versions that were attested, by what they are about.
fn attested<'a>(
    history: &'a History,
    pin: &'a Pin,
    pins: &'a [Pin],
) -> impl Iterator<Item = (Option<&'a Process>, &'a str)> {
    let subject = &pin.subject;
    history.events().filter_map(move |event| {
        let Event::Attested(attested) = event else { return None };
        match (&attested.subject, subject) {
            (AttestedSubject::Server(kind), PinSubject::Server(pinned)) if kind == pinned => {
                Some((None, attested.version.as_str()))
            }
            (
                AttestedSubject::Client { process, library },
                PinSubject::Client(pinned) | PinSubject::Producer(pinned),
            ) if library == pinned && concerns(pin, pins, history, process) => {
                Some((Some(process), attested.version.as_str()))
            }
            _ => None,
        }
    })
}

/// Whether a pin of a client is about this process: producers may have one of their own.
fn concerns(pin: &Pin, pins: &[Pin], history: &History, process: &Process) -> bool {
    let is_producer = || role_of(history, process) == Some(Role::Producer);
    match pin.subject {
        PinSubject::Server(_) => false,
        PinSubject::Producer(_) => is_producer(),
        PinSubject::Client(_) => {
            let mut pins = pins.iter();
            !pins.any(|pin| matches!(pin.subject, PinSubject::Producer(_))) || !is_producer()
        }
    }
}

/// A full version has to be the same; a major (`17`) is satisfied by any version of it.
fn satisfies(version: &str, pin: &str) -> bool {
    let major = !pin.is_empty() && pin.bytes().all(|byte| byte.is_ascii_digit());
    version == pin || (major && version.split('.').next() == Some(pin))
}

fn about(subject: &PinSubject) -> String {
    match subject {
        PinSubject::Server(kind) => kind.to_string(),
        PinSubject::Client(library) | PinSubject::Producer(library) => library.clone(),
    }
}

fn contradicted(pins: &[Pin], history: &History) -> Vec<Problem> {
    let mut problems = Vec::new();
    for pin in pins {
        for (process, version) in attested(history, pin, pins) {
            if !satisfies(version, &pin.version) {
                let who = process.map(|process| format!(" in {process}")).unwrap_or_default();
                let why =
                    format!("{}{who} is {version}, pinned is {}", about(&pin.subject), pin.version);
                problems.push(Problem::new(Cause::WrongVersion, why));
            }
        }
    }
    problems
}

fn unattested(pins: &[Pin], history: &History) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut nobody = |what: String| {
        problems.push(Problem::new(Cause::WrongVersion, format!("nobody attested {what}")));
    };
    for pin in pins {
        let answers: Vec<_> = attested(history, pin, pins).collect();
        if answers.is_empty() {
            nobody(format!("{} {}", about(&pin.subject), pin.version));
        } else if !matches!(pin.subject, PinSubject::Server(_)) {
            let said: BTreeSet<_> = answers.iter().filter_map(|(process, _)| *process).collect();
            let silent = at_work(history).into_iter().filter(|process| !said.contains(process));
            for process in silent.filter(|process| concerns(pin, pins, history, process)) {
                nobody(format!("{} {} in {process}", about(&pin.subject), pin.version));
            }
        }
    }
    problems
}

/// Processes that got as far as doing something.
fn at_work(history: &History) -> BTreeSet<&Process> {
    let working = history.events().filter_map(|event| match event {
        Event::ClaimReady { process } => Some(process),
        Event::ClaimAt(at) => Some(&at.process),
        Event::ClaimResult(result) => Some(&result.process),
        _ => None,
    });
    working.collect()
}

fn out_of_memory(history: &History) -> Vec<Problem> {
    let mut problems = Vec::new();
    for event in history.events() {
        let why = match event {
            Event::Container(state) if state.oom_killed => {
                format!("the {} container ran out of memory", state.server)
            }
            Event::WorkerExited { process, exit: Exit::Signal(9), signalled_by_us }
                if *signalled_by_us != Some(9) =>
            {
                format!("{process} ended by signal 9, which the runner did not send")
            }
            _ => continue,
        };
        problems.push(Problem::new(Cause::Oom, why));
    }
    problems
}

/// A server whose disk is full fails in many ways; its own line about it explains the others.
fn out_of_space(history: &History) -> Vec<Problem> {
    let mut full = BTreeMap::new();
    for event in history.events() {
        if let Event::DiskFull { server, line } = event {
            full.entry(*server).or_insert(line);
        }
    }
    let problem = |(server, line)| {
        let why = format!("the {server} container ran out of disk space: {line}");
        Problem::new(Cause::Environment, why)
    };
    full.into_iter().map(problem).collect()
}

fn troubles(history: &History) -> Vec<Problem> {
    let troubles = history.events().filter_map(|event| match event {
        Event::Trouble { cause, place, detail } => {
            Some(Problem::new(*cause, format!("{place}: {detail}")))
        }
        _ => None,
    });
    troubles.collect()
}

/// Servers run from the first look to the last, and are the same ones. No fault of this version
/// touches a server.
fn containers(history: &History) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut started = BTreeMap::new();
    for event in history.events() {
        let Event::Container(state) = event else { continue };
        let mut wrong = |why: &str| {
            let why = format!("the {} container {why}", state.server);
            problems.push(Problem::new(Cause::Environment, why));
        };
        if !state.running {
            wrong("was not running");
        }
        let first = started.entry(state.server).or_insert(&state.started_at);
        if **first != state.started_at {
            wrong("was started again");
        }
    }
    problems
}

/// Whether a rule of its handler lets this process end itself, with the code that says so.
fn may_crash(unit: &Unit, process: &Process, exit: &Exit) -> bool {
    *exit == Exit::Code(CRASH_CODE)
        && unit
            .workers
            .iter()
            .any(|(n, spec)| is_process_of(&process.worker, n) && spec.may_crash())
}

fn processes(unit: &Unit, history: &History) -> Vec<Problem> {
    let mut problems = Vec::new();
    for event in history.events() {
        let problem = match event {
            Event::WorkerMisbehaved { process, what, .. } => {
                Problem::new(Cause::RunnerError, format!("{process} broke the protocol: {what}"))
            }
            Event::WorkerExited { process, exit, signalled_by_us: None }
                if !matches!(exit, Exit::Code(0) | Exit::Signal(9))
                    && !may_crash(unit, process, exit) =>
            {
                let how = match exit {
                    Exit::Code(code) => format!("code {code}"),
                    Exit::Signal(signal) => format!("signal {signal}"),
                };
                let why = format!("{process} ended by itself with {how}");
                Problem::new(Cause::Environment, why)
            }
            _ => continue,
        };
        problems.push(problem);
    }
    problems
}

fn unhealed(history: &History, faults: &[FaultReport]) -> Vec<Problem> {
    let not = |why: String| Problem::new(Cause::HealNotVerified, why);
    let mut problems: Vec<_> = faults
        .iter()
        .filter(|fault| fault.healed == Some(false))
        .map(|fault| not(format!("nothing shows that {} is healed", fault.id)))
        .collect();
    for event in history.events() {
        if let Event::Fault(step) = event
            && let FaultStage::Healed { proof, verified: false } = &step.stage
            && !faults.iter().any(|fault| fault.id == step.fault && fault.healed == Some(false))
        {
            problems.push(not(format!("{} is not healed: {proof}", step.fault)));
        }
    }
    if settle_step(history, SettleStep::Heal) == Some(false) {
        problems.push(not(String::from("settle could not heal")));
    }
    problems
}

/// Without these steps the final reads are no final reads. A unit that was stopped at its delivery
/// cap is a finding of its own, and owes no more than the stop.
fn unsettled(history: &History) -> Vec<Problem> {
    let stopped = history.events().any(|event| matches!(event, Event::CapReached { .. }));
    let steps: [(SettleStep, Cause, &str); 5] = [
        (SettleStep::Heal, Cause::HealNotVerified, "heal"),
        (SettleStep::Expected, Cause::RunnerError, "wait for the expected state"),
        (SettleStep::StopWorkers, Cause::RunnerError, "stop the workers"),
        (SettleStep::NoBackend, Cause::Environment, "see the last database backend go"),
        (SettleStep::FinalReads, Cause::RunnerError, "read everything"),
    ];
    let mut problems = Vec::new();
    for (step, cause, what) in steps {
        match settle_step(history, step) {
            None if !stopped => {
                problems.push(Problem::new(cause, format!("settle did not come to: {what}")));
            }
            // Not healed is said by its fault; an expected state that did not come is a finding.
            Some(false) if !matches!(step, SettleStep::Heal | SettleStep::Expected) => {
                problems.push(Problem::new(cause, format!("settle could not {what}")));
            }
            _ => {}
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::satisfies;

    #[test]
    fn a_full_pin_is_exact_and_a_major_takes_all_of_its_versions() {
        for (version, pin) in [("4.3.1", "4.3.1"), ("17.5", "17"), ("17", "17")] {
            assert!(satisfies(version, pin), "{version} under {pin}");
        }
        for (version, pin) in [("4.3.10", "4.3.1"), ("170.1", "17"), ("4.3.1", "4.3"), ("4", "")] {
            assert!(!satisfies(version, pin), "{version} under {pin}");
        }
    }
}
