//! Ports on 127.0.0.1 that are free now, below the range from which the kernel hands out its own.
//! Nothing comes in; a port that could be bound a moment ago comes out.
//! It must never promise more: whoever uses a port retries when somebody was quicker.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

use super::EnvError;

/// First port that is tried and number of ports in the range; Linux hands out ports from 32768 on.
const RANGE: (u16, u16) = (20_000, 12_000);

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A free port. Two calls in one process never give the same one until the range is used up.
///
/// # Errors
/// When no port of the range can be bound.
pub fn free_port() -> Result<u16, EnvError> {
    let start = u32::from(std::process::id() as u16).wrapping_mul(37);
    for _ in 0..RANGE.1 {
        let step = NEXT.fetch_add(1, Ordering::Relaxed);
        let offset = (start.wrapping_add(step) % u32::from(RANGE.1)) as u16;
        let port = RANGE.0 + offset;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(EnvError::new("no free port", "every port from 20000 to 31999 is taken on 127.0.0.1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_and_a_taken_one_is_skipped() {
        let first = free_port().expect("a port");
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, first)).expect("still free");
        let second = free_port().expect("another port");
        assert_ne!(first, second);
    }
}
