//! The family of a worker: every process that carries its mark, however it was started.
//! A mark (a variable in the environment) comes in; living process ids come out, or are ended.
//! It must never signal a process that does not carry the mark at the moment of the signal.

use std::collections::BTreeSet;
use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Name of the variable whose value marks a worker's family; children inherit it.
pub const MARK: &str = "ACKPROOF_WORKER";

/// Looks after which a family that keeps growing is given up; the next sweep ends it.
const LOOKS: u32 = 200;

/// Ids of all living processes that carry this mark. A process that cleared its environment before
/// it executed another program is not found; it is still in the group of its leader.
pub fn members(mark: &str) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| carries(*pid, mark))
        .collect()
}

/// Marks that any living process carries.
pub fn marks() -> BTreeSet<String> {
    let prefix = format!("{MARK}=");
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeSet::new() };
    entries
        .filter_map(|entry| fs::read(entry.ok()?.path().join("environ")).ok())
        .filter_map(|bytes| {
            bytes.split(|byte| *byte == 0).find_map(|entry| {
                std::str::from_utf8(entry).ok()?.strip_prefix(&prefix).map(str::to_owned)
            })
        })
        .collect()
}

/// Ends every process that carries this mark, and gives how many signals that took. A process that
/// is just about to execute another program shows no environment for a moment, and one that forks
/// may be a step ahead: it is looked again until two looks in a row find nobody.
pub fn end(mark: &str) -> usize {
    let mut sent = 0;
    let mut nobody = 0;
    for _ in 0..LOOKS {
        match signal(mark, Signal::KILL) {
            0 => nobody += 1,
            signals => {
                sent += signals;
                nobody = 0;
            }
        }
        if nobody == 2 {
            break;
        }
        std::thread::yield_now();
    }
    sent
}

/// Asks every process that carries this mark to end in good order.
pub fn terminate(mark: &str) -> usize {
    signal(mark, Signal::TERM)
}

/// Stops every process that carries this mark, until `thaw`.
pub fn freeze(mark: &str) -> usize {
    signal(mark, Signal::STOP)
}

/// Lets every process that carries this mark go on.
pub fn thaw(mark: &str) -> usize {
    signal(mark, Signal::CONT)
}

/// The kernel's letter for the state of each process that carries this mark: `T` is stopped.
pub fn states(mark: &str) -> Vec<(u32, char)> {
    let state = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The program's name stands in brackets and may hold anything, brackets too.
        let letter = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
        Some((pid, letter))
    };
    members(mark).into_iter().filter_map(state).collect()
}

/// Ends the family of a mark when it is dropped, whatever ends the function that holds it.
#[derive(Debug)]
pub struct EndOnDrop(pub String);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        end(&self.0);
    }
}

fn signal(mark: &str, signal: Signal) -> usize {
    let mut ended = 0;
    for pid in members(mark) {
        let Some(handle) = Pid::from_raw(pid.cast_signed()) else { continue };
        let Ok(pidfd) = pidfd_open(handle, PidfdFlags::empty()) else { continue };
        // The number may have been taken by another process before the pidfd was opened.
        if carries(pid, mark) && pidfd_send_signal(&pidfd, signal).is_ok() {
            ended += 1;
        }
    }
    ended
}

fn carries(pid: u32, mark: &str) -> bool {
    let wanted = format!("{MARK}={mark}");
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|entry| entry == wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_child_that_leaves_its_group_is_found_and_ended() {
        let mark = format!("test-{}", std::process::id());
        let mut shell = Command::new("sh")
            .args(["-c", "setsid sleep 1000 & wait"])
            .env(MARK, &mark)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("started");
        while members(&mark).len() < 2 {
            std::thread::yield_now();
        }
        assert!(members("another mark").is_empty());
        assert!(end(&mark) >= 2);
        shell.wait().expect("reaped");
        assert_eq!(members(&mark), Vec::<u32>::new());
    }
}
