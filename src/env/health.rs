//! The health track of the runner itself: did it run when it should have, was the machine loaded?
//! Ticks of a thread of its own come in; gaps with their times, load and steal come out.
//! It must never share a thread with the run: what is measured must not delay the measure.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often the track ticks.
const TICK: Duration = Duration::from_millis(10);
/// A tick that comes later than this is worth a record of its own.
const NOTABLE: Duration = Duration::from_millis(50);

/// Watches the runner from the start of a run until it is dropped.
#[derive(Debug)]
pub struct HealthTrack {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    stop: AtomicBool,
    gaps: Mutex<Vec<TickGap>>,
}

/// A stretch between two ticks that was too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TickGap {
    /// When it ended.
    pub ended: Instant,
    pub length: Duration,
}

impl HealthTrack {
    /// Starts the thread that ticks.
    pub fn start() -> Self {
        let shared =
            Arc::new(Shared { stop: AtomicBool::new(false), gaps: Mutex::new(Vec::new()) });
        let ticking = Arc::clone(&shared);
        let spawned =
            thread::Builder::new().name(String::from("health")).spawn(move || tick(&ticking));
        if let Err(error) = spawned {
            tracing::warn!(%error, "no health track: the thread could not be started");
        }
        Self { shared }
    }

    /// Gaps that ended since then, in order.
    pub fn gaps_since(&self, since: Instant) -> Vec<TickGap> {
        let gaps = self.shared.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        gaps.iter().filter(|gap| gap.ended >= since).copied().collect()
    }
}

impl Drop for HealthTrack {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

fn tick(shared: &Shared) {
    let mut last = Instant::now();
    while !shared.stop.load(Ordering::Relaxed) {
        crate::wait::tick(TICK);
        let now = Instant::now();
        let length = now.duration_since(last).saturating_sub(TICK);
        if length >= NOTABLE {
            let gap = TickGap { ended: now, length };
            shared.gaps.lock().unwrap_or_else(PoisonError::into_inner).push(gap);
        }
        last = now;
    }
}

/// Load average of the last minute; 0 where the kernel does not say.
pub fn load_1m() -> f64 {
    fs::read_to_string("/proc/loadavg")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok())
        .unwrap_or(0.0)
}

/// Clock ticks that the hypervisor took away since boot; 0 where the kernel does not say.
pub fn steal_ticks() -> u64 {
    fs::read_to_string("/proc/stat")
        .ok()
        .and_then(|text| text.lines().next()?.split_whitespace().nth(8)?.parse().ok())
        .unwrap_or(0)
}

/// Peak resident memory of this process in MiB; 0 where the kernel does not say.
pub fn peak_memory_mb() -> u64 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(0, |kib| kib / 1024)
}
