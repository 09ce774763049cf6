//! Tests of `stats`: texts as live servers gave them, and hostile ones.
//! They take recorded answers and compare what is made of them.
//! They must never need a server.

#![allow(clippy::unwrap_used)]

use super::*;

fn internal(last: &str, ledgers: &[(u64, i64)], cursors: &[(&str, &str, &str)]) -> Internal {
    Internal {
        number_of_entries: 0,
        last_confirmed_entry: last.to_owned(),
        ledgers: ledgers
            .iter()
            .map(|(ledger_id, entries)| Ledger { ledger_id: *ledger_id, entries: *entries })
            .collect(),
        cursors: cursors
            .iter()
            .map(|(name, mark, ranges)| {
                let text = CursorText {
                    mark_delete_position: (*mark).to_owned(),
                    individually_deleted_messages: (*ranges).to_owned(),
                };
                ((*name).to_owned(), text)
            })
            .collect(),
    }
}

fn acknowledged(cursor: &Cursor, id: (u64, i64)) -> bool {
    cursor.acknowledges(&format!("t/{}:{}", id.0, id.1).parse().unwrap())
}

#[test]
fn a_recorded_answer_is_read() {
    let answer = r#"{"entriesAddedCounter":10,"numberOfEntries":10,"lastConfirmedEntry":"3:9",
        "ledgers":[{"ledgerId":3,"entries":0,"size":0,"offloaded":false}],
        "cursors":{"billing":{"markDeletePosition":"3:1","readPosition":"3:10",
        "individuallyDeletedMessages":"[(3:2..3:3],(3:4..3:5]]","state":"Open"}},
        "compactedLedger":{"ledgerId":-1,"entries":-1}}"#;
    let internal: Internal = serde_json::from_str(answer).unwrap();
    assert_eq!(internal.entries().unwrap().len(), 10);
    let cursor = cursor(&internal, "billing").unwrap();
    let acked: Vec<i64> = (0..10).filter(|entry| acknowledged(&cursor, (3, *entry))).collect();
    assert_eq!(acked, [0, 1, 3, 5]);
    assert_eq!(super::cursor(&internal, "audit").unwrap(), Cursor::Absent);
}

#[test]
fn the_open_ledger_ends_at_the_last_confirmed_entry() {
    let entries = |last, ledgers: &[_]| internal(last, ledgers, &[]).entries().unwrap();
    assert_eq!(entries("3:-1", &[(3, 0)]), []);
    assert_eq!(entries("3:1", &[(3, 0)]), [(3, 0), (3, 1)]);
    // After an unload: the ledger before is closed, the open one is empty.
    assert_eq!(entries("3:1", &[(3, 2), (8, 0)]), [(3, 0), (3, 1)]);
    // After unload and trim: only the empty one is left.
    assert_eq!(entries("7:2", &[(8, 0)]), []);
    assert_eq!(entries("9:0", &[(3, 1), (9, 0)]), [(3, 0), (9, 0)]);
}

#[test]
fn ranges_are_read_in_every_spelling_of_bounds() {
    assert_eq!(ranges("[]"), Ok(vec![]));
    assert_eq!(ranges("[(3:2..3:3],(3:4..4:5]]"), Ok(vec![((3, 2), (3, 3)), ((3, 4), (4, 5))]));
    assert_eq!(ranges("[[3:2..3:3]]"), Ok(vec![((3, 1), (3, 3))]));
    assert_eq!(ranges("[(3:-1..3:3), (5:1..5:2]]"), Ok(vec![((3, -1), (3, 2)), ((5, 1), (5, 2))]));
}

#[test]
fn what_is_no_range_is_an_error_and_not_nothing() {
    for text in [
        "",
        "[",
        "]",
        "null",
        "[(3:2..3:3]",
        "[(3:2..3:3],]",
        "[(3:2..3:3](3:4..3:5]]",
        "[(3:2,3:3]]",
        "[(3..4]]",
        "[(a:b..c:d]]",
        "[(3:2..3:3]] trailing",
        "[(99999999999999999999:0..1:1]]",
        "[ü(3:2..3:3]]",
    ] {
        assert!(ranges(text).is_err(), "{text:?}");
    }
}

#[test]
fn what_is_no_position_is_an_error() {
    assert_eq!(position("3:-1"), Ok((3, -1)));
    for text in ["", "3", ":", "3:", "-1:-1", "3:-2", "3:1:2", "3:9223372036854775807", " 3:1"] {
        assert!(position(text).is_err(), "{text:?}");
    }
}

#[test]
fn partitions_do_not_acknowledge_for_each_other() {
    // Partition 0 has ledgers 4 and 7, partition 1 has 5; 6 was trimmed.
    let zero = internal("7:4", &[(4, 3), (7, 0)], &[("s", "7:1", "[(7:2..7:3]]")]);
    let one = internal("5:9", &[(5, 0)], &[("s", "5:-1", "[(5:4..5:6]]")]);
    let cursor = partitioned_cursor(&[zero, one], "s").unwrap();
    for id in [(2, 0), (4, 0), (4, 2), (7, 0), (7, 1), (7, 3), (5, 5), (5, 6), (6, 0)] {
        assert!(acknowledged(&cursor, id), "{id:?}");
    }
    for id in [(7, 2), (7, 4), (5, 0), (5, 4), (5, 7), (8, 0)] {
        assert!(!acknowledged(&cursor, id), "{id:?}");
    }
}

#[test]
fn a_position_left_on_a_trimmed_ledger_still_counts() {
    let zero = internal("7:4", &[(7, 0)], &[("s", "3:9", "[]")]);
    let one = internal("8:1", &[(8, 0)], &[("s", "8:0", "[]")]);
    let cursor = partitioned_cursor(&[zero, one], "s").unwrap();
    assert!(acknowledged(&cursor, (3, 9)) && acknowledged(&cursor, (8, 0)));
    assert!(!acknowledged(&cursor, (7, 0)) && !acknowledged(&cursor, (8, 1)));
}

#[test]
fn a_cursor_that_one_partition_lacks_is_absent() {
    let zero = internal("7:4", &[(7, 0)], &[("s", "7:1", "[]")]);
    let one = internal("8:1", &[(8, 0)], &[]);
    assert_eq!(partitioned_cursor(&[zero, one], "s").unwrap(), Cursor::Absent);
}
