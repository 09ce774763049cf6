//! The inside of a Pulsar batch: a size, a SingleMessageMetadata, a payload, and so on.
//! The uncompressed payload of an entry comes in; its messages come out, or nothing.
//! It must never read past a length, nor accept a batch that its messages do not fill.

use crate::names::Properties;

/// One message of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InBatch<'a> {
    pub properties: Properties,
    pub key: Option<String>,
    pub payload: &'a [u8],
}

/// Fields of `SingleMessageMetadata` in PulsarApi.proto.
const PROPERTY: u64 = 1;
const PARTITION_KEY: u64 = 2;
const PAYLOAD_SIZE: u64 = 3;

/// Takes `count` messages out of a batch; `None` if it is anything else than exactly these.
pub(super) fn batch(bytes: &[u8], count: usize) -> Option<Vec<InBatch<'_>>> {
    let mut rest = bytes;
    let mut messages = Vec::new();
    for _ in 0..count {
        let size = u32::from_be_bytes(take(&mut rest, 4)?.try_into().ok()?);
        let metadata = take(&mut rest, usize::try_from(size).ok()?)?;
        let (mut message, payload_size) = single(metadata)?;
        message.payload = take(&mut rest, payload_size)?;
        messages.push(message);
    }
    rest.is_empty().then_some(messages)
}

fn single(mut bytes: &[u8]) -> Option<(InBatch<'static>, usize)> {
    let mut message = InBatch { properties: Properties::new(), key: None, payload: &[] };
    let mut payload_size = None;
    while !bytes.is_empty() {
        match field(&mut bytes)? {
            (PROPERTY, Value::Bytes(pair)) => {
                let (name, value) = key_value(pair)?;
                message.properties.insert(name, value);
            }
            (PARTITION_KEY, Value::Bytes(key)) => message.key = Some(text(key)),
            (PAYLOAD_SIZE, Value::Number(size)) => payload_size = usize::try_from(size).ok(),
            _ => {}
        }
    }
    Some((message, payload_size?))
}

fn key_value(mut bytes: &[u8]) -> Option<(String, String)> {
    let (mut name, mut value) = (None, None);
    while !bytes.is_empty() {
        match field(&mut bytes)? {
            (1, Value::Bytes(bytes)) => name = Some(text(bytes)),
            (2, Value::Bytes(bytes)) => value = Some(text(bytes)),
            _ => {}
        }
    }
    Some((name?, value?))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Fixed,
}

/// One protobuf field; groups (wire types 3 and 4) do not occur.
fn field<'a>(bytes: &mut &'a [u8]) -> Option<(u64, Value<'a>)> {
    let tag = varint(bytes)?;
    let value = match tag & 7 {
        0 => Value::Number(varint(bytes)?),
        1 => take(bytes, 8).map(|_| Value::Fixed)?,
        2 => {
            let size = usize::try_from(varint(bytes)?).ok()?;
            Value::Bytes(take(bytes, size)?)
        }
        5 => take(bytes, 4).map(|_| Value::Fixed)?,
        _ => return None,
    };
    Some((tag >> 3, value))
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let byte = *take(bytes, 1)?.first()?;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(bytes: &mut &'a [u8], size: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(size)?;
    *bytes = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    /// `{"n":10}` with properties ce_id and CaSe and key k10, as a Python client sent it.
    fn recorded() -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 0x25, 10, 15, 10, 5];
        bytes
            .extend(b"ce_id\x12\x06e-0010\x0a\x09\x0a\x04CaSe\x12\x01v\x12\x03k10\x18\x08\x40\x00");
        bytes.extend(b"{\"n\":10}");
        bytes
    }

    #[test]
    fn a_recorded_message_is_read() {
        let bytes = [recorded(), recorded()].concat();
        let messages = batch(&bytes, 2).unwrap();
        assert_eq!(messages[0], messages[1]);
        assert_eq!(messages[0].properties["ce_id"], "e-0010");
        assert_eq!(messages[0].properties["CaSe"], "v");
        assert_eq!(messages[0].key.as_deref(), Some("k10"));
        assert_eq!(messages[0].payload, b"{\"n\":10}");
    }

    #[test]
    fn another_count_or_length_is_refused() {
        let bytes = recorded();
        assert!(batch(&bytes, 0).is_none());
        assert!(batch(&bytes, 2).is_none());
        assert!(batch(&bytes[..bytes.len() - 1], 1).is_none());
        assert!(batch(&[&bytes[..], b"x"].concat(), 1).is_none());
        assert!(batch(&[0, 0, 0, 0], 1).is_none(), "without a payload size");
        assert!(batch(&[0xff; 64], 1).is_none());
        assert!(batch(&[0, 0, 0, 2, 0x18, 0xff], 1).is_none(), "an endless number");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_fall(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = batch(&bytes, 3);
            let mut framed = u32::try_from(bytes.len()).unwrap().to_be_bytes().to_vec();
            framed.extend(bytes);
            let _ = batch(&framed, 1);
        }
    }
}
