//! How long the runner itself was not there, around a stretch of time that a check measures.
//! The health track of a history comes in; the longest absence that touches a stretch comes out.
//! It must never say that the runner was there where its health was not recorded.

use crate::evidence::History;
use crate::evidence::event::Event;

/// Stretches in which the runner itself did not run as it should have.
pub(super) struct Absence {
    /// (end, length) in microseconds.
    known: Vec<(u64, u64)>,
    /// The longest one of the unit, where its own record is missing: it may have been anywhere.
    somewhere_us: u64,
}

impl Absence {
    /// What its health track says; `None` where it was not recorded.
    pub(super) fn of(history: &History) -> Option<Self> {
        let known: Vec<_> = history
            .records()
            .iter()
            .filter_map(|record| match record.event {
                Event::Gap { gap_us, ended_us } => Some((ended_us, gap_us)),
                _ => None,
            })
            .collect();
        let largest_us = history.events().find_map(|event| match event {
            Event::Health { largest_gap_us, .. } => Some(*largest_gap_us),
            _ => None,
        })?;
        let recorded = known.iter().any(|(_, length_us)| *length_us >= largest_us);
        let somewhere_us = if recorded { 0 } else { largest_us };
        Some(Self { known, somewhere_us })
    }

    /// The longest one that touches this stretch, in microseconds.
    pub(super) fn around(&self, from_us: u64, to_us: u64) -> u64 {
        let touching = self.known.iter().filter(|(end_us, length_us)| {
            *end_us >= from_us && end_us.saturating_sub(*length_us) <= to_us
        });
        touching.map(|(_, length_us)| *length_us).max().unwrap_or(0).max(self.somewhere_us)
    }
}
