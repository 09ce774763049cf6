//! Shards: a plan spread over several machines, each of which runs its part.
//! `2/5` comes in; whether a cell belongs to the second of five parts comes out.
//! It must never depend on other cells: a new scenario moves no old one to another machine.

use sha2::{Digest, Sha256};

use std::ops::Range;

use crate::suite::problem::{Problem, Words};
use crate::suite::rule::Rule;

/// What problems call the place of a shard.
pub(super) const WHERE: &str = "--shard";

/// One part of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shard {
    /// From 1.
    index: u64,
    of: u64,
}

impl Shard {
    /// Reads `2/5`.
    ///
    /// # Errors
    /// What it should be instead.
    pub(super) fn read(text: &str) -> Result<Self, Problem> {
        let wrong = |range: Range<usize>, message: &str| {
            let help = "the second of five parts is `2/5`, the first `1/5`".to_owned();
            Problem::at(Rule::BadOption, WHERE, text, range, Words::new(message).help(help))
        };
        let Some((index, of)) = text.split_once('/') else {
            return Err(wrong(0..text.len(), "this is no part of anything"));
        };
        let (first, second) = (0..index.len(), index.len() + 1..text.len());
        let number = |part: &str, range| match part.parse::<u32>() {
            Ok(0) => Err(wrong(range, "parts are counted from 1")),
            Ok(number) => Ok(u64::from(number)),
            Err(_) => Err(wrong(range, "expected a number")),
        };
        let shard = Self { of: number(of, second)?, index: number(index, first.clone())? };
        if shard.index > shard.of {
            return Err(wrong(first, "there are not so many parts"));
        }
        Ok(shard)
    }

    /// Whether a cell is of this part, by the hash of its id alone.
    pub(super) fn takes(self, cell: &str) -> bool {
        let digest = Sha256::digest(cell);
        let first = digest.iter().take(8).fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
        first % self.of == self.index - 1
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_cell_is_of_one_part() {
        for of in 1..=7_u32 {
            let shards: Vec<Shard> =
                (1..=of).map(|i| Shard::read(&format!("{i}/{of}")).unwrap()).collect();
            let mut taken = vec![0; shards.len()];
            for n in 0..200 {
                let cell = format!("a/b@kafka-4.3.1+rdkafka-0.39.0#{n}");
                let by: Vec<usize> =
                    (0..shards.len()).filter(|i| shards[*i].takes(&cell)).collect();
                assert_eq!(by.len(), 1, "{cell} of {of}");
                taken[by[0]] += 1;
            }
            assert!(taken.iter().all(|n| *n > 0), "{taken:?}");
        }
    }

    #[test]
    fn what_is_no_shard_gets_a_caret() {
        for (text, column) in [
            ("", 1),
            ("2", 1),
            ("0/3", 1),
            ("x/3", 1),
            ("1/x", 3),
            ("1/0", 3),
            ("4/3", 1),
            ("-1/3", 1),
        ] {
            assert_eq!(Shard::read(text).unwrap_err().column, column, "{text}");
        }
    }
}
