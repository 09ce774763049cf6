//! The workload: events with keys, payloads and properties, made from the plan alone.
//! A unit comes in; the same events come out, byte for byte, whenever it is asked.
//! It must never use a clock or chance that the seed does not decide.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::evidence::event::PlannedEvent;
use crate::evidence::seal::sha256_of;
use crate::names::Properties;
use crate::plan::Unit;
use crate::suite::model::{AgainPayload, Share};
use crate::workers::protocol::WorkItem;

/// The id of the n-th event, from 1.
pub fn event_id(ordinal: u32) -> String {
    format!("e-{ordinal:04}")
}

/// All events of a unit: as planned, and as the producer gets them.
pub fn events(unit: &Unit) -> Vec<(PlannedEvent, WorkItem)> {
    (1..=unit.workload.events).map(|ordinal| event(unit, ordinal)).collect()
}

/// What a producer publishes, in this order: every event, then those that are published again.
pub fn items(unit: &Unit, share: Option<Share>) -> Vec<WorkItem> {
    let (once, again) = (share != Some(Share::Again), share != Some(Share::Once));
    let first = events(unit).into_iter().map(|(_, item)| item).filter(|_| once);
    first.chain(copies(unit).filter(|_| again)).collect()
}

fn copies(unit: &Unit) -> impl Iterator<Item = WorkItem> {
    unit.workload.again.iter().map(|again| {
        let item = match again.payload {
            AgainPayload::Same => event(unit, again.event).1,
            AgainPayload::Other => conflict(unit, again.event),
        };
        WorkItem { key: again.key.map(key).or(item.key), ..item }
    })
}

/// The n-th key, from 1.
fn key(ordinal: u32) -> String {
    format!("k-{ordinal}")
}

/// The event under the same id with another amount.
fn conflict(unit: &Unit, ordinal: u32) -> WorkItem {
    let (planned, mut item) = event(unit, ordinal);
    let payload = payload(unit, &planned.event, &planned.key, amount(unit, ordinal) + 1);
    item.payload = STANDARD.encode(payload);
    item
}

fn event(unit: &Unit, ordinal: u32) -> (PlannedEvent, WorkItem) {
    let id = event_id(ordinal);
    let key = key((ordinal - 1) % unit.workload.keys.max(1) + 1);
    let raw = unit.workload.bytes.iter().find(|raw| raw.event == ordinal);
    let payload = match raw {
        // Planning has refused what is no Base64.
        Some(raw) => STANDARD.decode(&raw.base64).unwrap_or_default(),
        None => payload(unit, &id, &key, amount(unit, ordinal)),
    };
    let properties: Properties = [
        ("ce_type", "order.placed"),
        ("ce_dataschema", "order/1"),
        ("trace", &format!("{:016x}-{ordinal}", unit.seed)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .collect();
    let planned = PlannedEvent {
        event: id.clone(),
        key: key.clone(),
        payload_sha256: sha256_of(&payload),
        properties: properties.clone(),
        poison: unit.workload.poison.contains(&ordinal),
    };
    let item =
        WorkItem { event: id, key: Some(key), payload: STANDARD.encode(&payload), properties };
    (planned, item)
}

/// From 1 to 100.
fn amount(unit: &Unit, ordinal: u32) -> u64 {
    (unit.seed.wrapping_mul(u64::from(ordinal) + 1) >> 32) % 100 + 1
}

/// JSON with the fields that the workers' handlers read, padded to the size that was asked for.
fn payload(unit: &Unit, id: &str, key: &str, amount: u64) -> Vec<u8> {
    let text = |pad: &str| {
        format!(r#"{{"event_id":"{id}","entity":"{key}","amount":{amount},"pad":"{pad}"}}"#)
    };
    let bare = text("").len();
    let missing = (unit.workload.payload_bytes as usize).saturating_sub(bare);
    text(&"x".repeat(missing)).into_bytes()
}
