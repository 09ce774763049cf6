//! Ports on 127.0.0.1 that are free now: of a range that the user fixed, or any below the kernel's.
//! A range, or none, comes in; ports that could be bound a moment ago come out, each one once.
//! It must never promise more: whoever uses a port retries when somebody was quicker.

use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::EnvError;
use super::settings::PORTS;

/// Ports that are tried when nobody names any; Linux hands out its own from 32768 on.
const ANY: RangeInclusive<u16> = 20_000..=31_999;

/// Chooses ports for one run.
#[derive(Debug, Clone)]
pub struct Ports {
    fixed: Option<RangeInclusive<u16>>,
    /// Where the search goes on.
    next: Arc<AtomicU32>,
}

impl Ports {
    /// Of this range only, or of whatever is free.
    pub fn new(fixed: Option<RangeInclusive<u16>>) -> Self {
        // Two runs at once begin in different places, so that they seldom want the same port.
        let start = u32::from(std::process::id() as u16).wrapping_mul(37);
        let start = if fixed.is_some() { 0 } else { start };
        Self { fixed, next: Arc::new(AtomicU32::new(start)) }
    }

    /// A free port. A range that the user fixed gives each of its ports once; any other port comes
    /// again when thousands of others have gone by.
    ///
    /// # Errors
    /// When no port is left; the error says what to do.
    pub fn free(&self) -> Result<u16, EnvError> {
        let range = self.fixed.as_ref().unwrap_or(&ANY);
        let length = u32::from(range.end() - range.start()) + 1;
        for _ in 0..length {
            let step = self.next.fetch_add(1, Ordering::Relaxed);
            if self.fixed.is_some() && step >= length {
                break;
            }
            let port = range.start() + (step % length) as u16;
            if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Ok(port);
            }
        }
        Err(self.used_up())
    }

    /// A port for a listener of this program: the kernel may choose one (0) unless it is fixed.
    ///
    /// # Errors
    /// When no port of the fixed range is left.
    pub fn for_listener(&self) -> Result<u16, EnvError> {
        if self.fixed.is_some() { self.free() } else { Ok(0) }
    }

    fn used_up(&self) -> EnvError {
        let Some(range) = &self.fixed else {
            let range = format!("{}-{}", ANY.start(), ANY.end());
            return EnvError::new(
                "no free port",
                format!("every port of {range} is taken on 127.0.0.1; name others in {PORTS}"),
            );
        };
        EnvError::new(
            format!("no free port is left of {PORTS}={}-{}", range.start(), range.end()),
            "a broker takes 3 and a database 2, and none that another program holds on 127.0.0.1 \
             can be used; name a wider range, or end what listens there",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_a_taken_one_is_skipped() {
        let ports = Ports::new(None);
        let first = ports.free().expect("a port");
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, first)).expect("still free");
        let second = ports.free().expect("another port");
        assert_ne!(first, second);
        assert_eq!(ports.for_listener().expect("any"), 0);
    }

    /// Ports that nobody held a moment ago, side by side.
    fn quiet_range(length: u16) -> RangeInclusive<u16> {
        let mut starts = (21_000..31_000).step_by(usize::from(length));
        let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        let start = starts.find(|start| (*start..start + length).all(free)).expect("some");
        start..=start + length - 1
    }

    #[test]
    fn a_fixed_range_gives_each_of_its_free_ports_once_and_then_says_what_to_do() {
        let range = quiet_range(4);
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, range.start() + 1)).expect("free");
        let ports = Ports::new(Some(range.clone()));
        let twin = ports.clone();
        let given = [ports.free(), twin.for_listener(), ports.free()];
        let given = given.map(|port| port.expect("a port") - range.start());
        assert_eq!(given, [0, 2, 3]);
        drop(held);
        let error = twin.free().expect_err("used up").to_string();
        assert!(error.contains(&format!("{PORTS}={}-{}", range.start(), range.end())), "{error}");
        assert!(error.contains("wider range"), "{error}");
    }
}
