//! Where a destination stands in a topic, in each broker's own form, and what that acknowledges.
//! It takes positions and gives acknowledged or not, the one place that knows both rules.
//! It must never ask a broker: a cursor is what one answered, as recorded.

use serde::{Deserialize, Serialize};

use crate::names::{Place, Position};

/// A ledger and an entry in it.
pub type EntryId = (u64, i64);

/// The acknowledgement state of one destination in one topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Cursor {
    /// Kafka: the next offset to be handed out, as (partition, offset); absent where nothing was
    /// committed.
    Committed(Vec<(i32, i64)>),
    /// Pulsar: everything up to `mark_delete`, and ranges (from exclusive, to inclusive) after it.
    MarkDelete { mark_delete: EntryId, acked_ranges: Vec<(EntryId, EntryId)> },
    /// The subscription or group does not exist.
    Absent,
}

impl Cursor {
    /// Whether the message at this position is acknowledged: it would not be handed out again.
    pub fn acknowledges(&self, position: &Position) -> bool {
        match (self, position.place) {
            (Self::Committed(next), Place::Offset { partition, offset }) => {
                next.iter().any(|(p, next)| *p == partition && offset < *next)
            }
            (
                Self::MarkDelete { mark_delete, acked_ranges },
                Place::Entry { ledger, entry, .. },
            ) => {
                let id = (ledger, entry);
                id <= *mark_delete || acked_ranges.iter().any(|(from, to)| *from < id && id <= *to)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Position {
        text.parse().expect("a position")
    }

    #[test]
    fn a_committed_offset_is_the_next_one() {
        let cursor = Cursor::Committed(vec![(0, 5)]);
        assert!(cursor.acknowledges(&at("t/0@4")));
        assert!(!cursor.acknowledges(&at("t/0@5")));
        assert!(!cursor.acknowledges(&at("t/1@0")));
    }

    #[test]
    fn a_mark_delete_position_has_holes_behind_it() {
        let cursor =
            Cursor::MarkDelete { mark_delete: (7, 3), acked_ranges: vec![((7, 4), (7, 6))] };
        assert!(cursor.acknowledges(&at("t/7:3")));
        assert!(!cursor.acknowledges(&at("t/7:4")));
        assert!(cursor.acknowledges(&at("t/7:5")));
        assert!(!cursor.acknowledges(&at("t/7:7")));
    }

    #[test]
    fn an_absent_cursor_acknowledges_nothing() {
        assert!(!Cursor::Absent.acknowledges(&at("t/0@0")));
    }
}
