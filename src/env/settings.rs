//! What the environment's variables ask of servers: memory, disk, patience and ports.
//! Variables come in as text; settings come out, or every problem of all of them.
//! It must never take a variable that it cannot read for one that is not set.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Variable with the most memory that each server container gets, in MiB; unlimited without it.
pub const MEMORY: &str = "ACKPROOF_SERVER_MEMORY_MB";
/// Variable with the size of each server's data volume, in MiB; unlimited without it.
pub const DATA: &str = "ACKPROOF_DATA_SIZE_MB";
/// Variable with the longest boot that is waited for, in seconds.
pub const BOOT_DEADLINE: &str = "ACKPROOF_BOOT_DEADLINE_S";
/// Variable with the ports of servers and links: one (`20000`) or a range (`20000-20100`).
pub const PORTS: &str = "ACKPROOF_PORTS";

/// A busy machine needs several times what a quiet one does.
const BOOT: Duration = Duration::from_secs(120);

/// Settings of all servers of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// In MiB.
    pub memory_mb: Option<u32>,
    /// In MiB.
    pub data_mb: Option<u32>,
    pub boot_deadline: Duration,
    /// `None`: ports are chosen from what is free.
    pub ports: Option<RangeInclusive<u16>>,
}

impl Settings {
    /// Settings of this process's environment.
    ///
    /// # Errors
    /// One sentence for each variable that cannot be read.
    pub fn from_environment() -> Result<Self, Vec<String>> {
        Self::read(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    /// Settings by a look-up of variables; an empty one counts as not set.
    ///
    /// # Errors
    /// One sentence for each variable that cannot be read.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut number = |name: &str, unit: &str| {
            let text = set(name)?;
            let number = text.parse::<u32>().ok().filter(|number| *number > 0);
            if number.is_none() {
                problems.push(format!("{name}={text:?}: expected {unit}, 1 or more"));
            }
            number
        };
        let memory_mb = number(MEMORY, "a number of MiB");
        let data_mb = number(DATA, "a number of MiB");
        let boot_s = number(BOOT_DEADLINE, "a number of seconds");
        let ports = match set(PORTS).map(|text| port_range(&text).ok_or(text)) {
            None => None,
            Some(Ok(range)) => Some(range),
            Some(Err(text)) => {
                problems.push(format!(
                    "{PORTS}={text:?}: expected a port (20000) or a range of ports, the lower one \
                     first (20000-20100), within 1 to 65535"
                ));
                None
            }
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let boot_deadline = boot_s.map_or(BOOT, |s| Duration::from_secs(s.into()));
        Ok(Self { memory_mb, data_mb, boot_deadline, ports })
    }
}

fn port_range(text: &str) -> Option<RangeInclusive<u16>> {
    let port = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u16>().ok())?.filter(|port| *port > 0)
    };
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (port(first)?, port(last)?);
    (first <= last).then_some(first..=last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(text: &str) -> Result<Settings, Vec<String>> {
        Settings::read(|name| (name == PORTS).then(|| text.to_owned()))
    }

    #[test]
    fn a_port_and_a_range_are_read() {
        assert_eq!(ports("20000").expect("read").ports, Some(20000..=20000));
        assert_eq!(ports("20000-20100").expect("read").ports, Some(20000..=20100));
        assert_eq!(ports("").expect("read").ports, None);
        assert_eq!(Settings::read(|_| None).expect("read").boot_deadline, BOOT);
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_words_that_were_typed() {
        for text in ["x", "0", "0-5", "2-1", "65536", "1-65536", "1-2-3", "+1", " 1", "1,2", "-"] {
            let problems = ports(text).expect_err(text);
            let [problem] = problems.as_slice() else { panic!("{problems:?}") };
            assert!(problem.contains(PORTS) && problem.contains(text), "{problem}");
        }
    }

    #[test]
    fn every_variable_that_cannot_be_read_is_named_at_once() {
        let problems = Settings::read(|_| Some(String::from("many"))).expect_err("unreadable");
        for (name, problem) in [MEMORY, DATA, BOOT_DEADLINE, PORTS].iter().zip(&problems) {
            assert!(problem.starts_with(name), "{problem}");
        }
        assert_eq!(problems.len(), 4);
        let zero = Settings::read(|name| (name == DATA).then(|| String::from("0")));
        assert_eq!(zero.expect_err("nothing fits").len(), 1);
    }
}
