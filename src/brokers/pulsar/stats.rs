//! What Pulsar's statistics say: ledgers, cursors, backlogs, in the server's own text forms.
//! JSON of `internalStats` and `stats` comes in; positions, cursors and lists of entries come out.
//! It must never guess: a text of another form is an error, not an empty list.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::evidence::cursor::{Cursor, EntryId};

/// The part of `…/internalStats` that is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Internal {
    pub number_of_entries: u64,
    pub last_confirmed_entry: String,
    pub ledgers: Vec<Ledger>,
    pub cursors: BTreeMap<String, CursorText>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ledger {
    pub ledger_id: u64,
    /// 0 for the one that is still written, whatever is in it.
    pub entries: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CursorText {
    pub mark_delete_position: String,
    pub individually_deleted_messages: String,
}

/// The part of `…/stats` that is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stats {
    pub msg_in_counter: u64,
    pub msg_out_counter: u64,
    pub subscriptions: BTreeMap<String, SubscriptionStats>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SubscriptionStats {
    pub msg_backlog: i64,
}

/// `…/partitions`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Partitioned {
    pub partitions: u32,
}

/// A text that does not have the form that Pulsar 4.0 to 4.2 gives.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{text}' is no {what}")]
pub(super) struct BadText {
    what: &'static str,
    text: String,
}

impl BadText {
    fn new(what: &'static str, text: &str) -> Self {
        Self { what, text: text.chars().take(80).collect() }
    }
}

impl Internal {
    /// Every entry that the topic still holds, in log order.
    pub fn entries(&self) -> Result<Vec<EntryId>, BadText> {
        let (last_ledger, last_entry) = position(&self.last_confirmed_entry)?;
        let mut entries = Vec::new();
        for ledger in &self.ledgers {
            // The open ledger says 0; the last confirmed entry tells how far it is written.
            // After an unload it still names the ledger before, and the open one is empty.
            let end = if ledger.ledger_id == last_ledger { last_entry + 1 } else { ledger.entries };
            entries.extend((0..end).map(|entry| (ledger.ledger_id, entry)));
        }
        Ok(entries)
    }
}

/// Where a subscription stands in a topic without partitions.
pub(super) fn cursor(internal: &Internal, subscription: &str) -> Result<Cursor, BadText> {
    let Some(text) = internal.cursors.get(subscription) else { return Ok(Cursor::Absent) };
    Ok(Cursor::MarkDelete {
        mark_delete: position(&text.mark_delete_position)?,
        acked_ranges: ranges(&text.individually_deleted_messages)?,
    })
}

/// Where a subscription stands in a topic with partitions: every partition has its own position,
/// and their ledgers lie between each other's, so everything is said in ranges.
///
/// Ledgers that no partition lists any more were trimmed, which needs them acknowledged, so the
/// gaps between listed ledgers are acknowledged too. `Absent` if one partition lacks the cursor.
pub(super) fn partitioned_cursor(
    partitions: &[Internal],
    subscription: &str,
) -> Result<Cursor, BadText> {
    let mut listed: BTreeMap<u64, Vec<(EntryId, EntryId)>> = BTreeMap::new();
    for internal in partitions {
        let Cursor::MarkDelete { mark_delete, acked_ranges } = cursor(internal, subscription)?
        else {
            return Ok(Cursor::Absent);
        };
        for Ledger { ledger_id: id, .. } in &internal.ledgers {
            let (start, end) = ((*id, -1), (*id, i64::MAX));
            let clipped = |(from, to): &(EntryId, EntryId)| {
                let (from, to) = ((*from).max(start), (*to).min(end));
                (from < to).then_some((from, to))
            };
            let before = [(start.min(mark_delete), mark_delete)];
            let acked = before.iter().chain(&acked_ranges).filter_map(clipped).collect();
            listed.insert(*id, acked);
        }
    }
    let mut acked_ranges = Vec::new();
    let mut gap_from = None;
    for (id, acked) in &listed {
        if let Some(from) = gap_from.filter(|from: &u64| from + 1 < *id) {
            acked_ranges.push(((from, i64::MAX), (*id, -1)));
        }
        acked_ranges.extend(acked);
        gap_from = Some(*id);
    }
    let first = listed.keys().next().copied().unwrap_or_default();
    Ok(Cursor::MarkDelete { mark_delete: (first, -1), acked_ranges })
}

/// `3:-1` means before the first entry of ledger 3.
pub(super) fn position(text: &str) -> Result<EntryId, BadText> {
    let bad = || BadText::new("position", text);
    let (ledger, entry) = text.split_once(':').ok_or_else(bad)?;
    let ledger: u64 = ledger.parse().map_err(|_| bad())?;
    let entry: i64 = entry.parse().map_err(|_| bad())?;
    if entry < -1 || entry == i64::MAX {
        return Err(bad());
    }
    Ok((ledger, entry))
}

/// `[(3:2..3:3],(3:4..3:5]]`, in both spellings of bounds, as (exclusive, inclusive).
pub(super) fn ranges(text: &str) -> Result<Vec<(EntryId, EntryId)>, BadText> {
    let bad = || BadText::new("list of ranges", text);
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).ok_or_else(bad)?;
    let mut rest = inner.trim();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let opened = rest.chars().next().filter(|c| "([".contains(*c)).ok_or_else(bad)?;
        let end = rest.find([']', ')']).ok_or_else(bad)?;
        let (from, to) = rest[1..end].split_once("..").ok_or_else(bad)?;
        let (mut from, mut to) = (position(from)?, position(to)?);
        if opened == '[' {
            from.1 -= 1;
        }
        if rest[end..].starts_with(')') {
            to.1 -= 1;
        }
        found.push((from, to));
        rest = rest[end + 1..].trim_start();
        rest = match rest.strip_prefix(',') {
            Some(next) if !next.trim().is_empty() => next.trim_start(),
            None if rest.is_empty() => rest,
            _ => return Err(bad()),
        };
    }
    Ok(found)
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
