//! Ranges of versions as deviations name them: `<6.10`, `>=4.1, <4.3`, `17`.
//! Text comes in; a range that answers for versions and pins comes out, or what is wrong with it.
//! It must never compare versions as text: `6.10` is later than `6.9`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Parts of a version at most, as pins have them.
const PARTS: usize = 4;

/// The numbers of a version; parts that are not written count as zero.
type Numbers = [u64; PARTS];

/// What a range looks like, for help texts.
pub const RANGE_HELP: &str = "a range is `<6.10`, `>=4.1, <4.3`, `<=4.2` (with all of 4.2), or a \
     version or line alone, such as `17`; quote it";

/// Versions between two bounds. A bound speaks of whole lines: `<=4.2` takes 4.2.9, and `>4.2` does
/// not. A suffix of a version (`4.3.0-rc1`) is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRange {
    text: String,
    from: Numbers,
    /// The first version above it; absent where it has no upper bound.
    before: Option<Numbers>,
}

/// How much of a pin's versions are in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coverage {
    All,
    /// Only for a pin that stands for a whole major version.
    Part,
    Nothing,
}

/// Why a text is no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRange {
    #[error("`{0}` is no bound: {RANGE_HELP}")]
    NoBound(String),
    #[error("no version is in it: its bounds exclude each other")]
    Empty,
}

impl VersionRange {
    /// Whether it has this version, where that begins with a number.
    pub fn admits(&self, version: &str) -> Option<bool> {
        let numbers = leading_numbers(version)?;
        let below = self.before.is_none_or(|before| numbers < before);
        Some(numbers >= self.from && below)
    }

    /// How much of a pin is in it. A pin of one number stands for every version of that major.
    pub fn covers(&self, pin: &str) -> Coverage {
        let Some(first) = leading_numbers(pin) else { return Coverage::Nothing };
        let written = if pin.contains('.') { PARTS } else { 1 };
        let (pin_from, pin_before) = (first, after(first, written));
        let below = |a: Numbers, b: Option<Numbers>| b.is_none_or(|b| a < b);
        if !below(pin_from, self.before) || !below(self.from, pin_before) {
            return Coverage::Nothing;
        }
        let ends_inside = match (pin_before, self.before) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(pin), Some(range)) => pin <= range,
        };
        if self.from <= pin_from && ends_inside { Coverage::All } else { Coverage::Part }
    }

    /// Whether some version is in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        let from = self.from.max(other.from);
        [self.before, other.before].into_iter().flatten().all(|before| from < before)
    }

    fn narrow(&mut self, from: Numbers, before: Option<Numbers>) {
        self.from = self.from.max(from);
        self.before = match (self.before, before) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

impl FromStr for VersionRange {
    type Err = BadRange;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let mut range = Self { text: text.to_owned(), from: [0; PARTS], before: None };
        for bound in text.split(',').map(str::trim) {
            let no_bound = || BadRange::NoBound(bound.chars().take(60).collect());
            let operator = bound.len() - bound.trim_start_matches(['<', '>', '=']).len();
            let (operator, version) = bound.split_at(operator);
            let (numbers, written) = bound_numbers(version.trim()).ok_or_else(no_bound)?;
            let next = after(numbers, written);
            match operator {
                "" | "=" => range.narrow(numbers, next),
                "<" => range.narrow([0; PARTS], Some(numbers)),
                "<=" => range.narrow([0; PARTS], next),
                ">=" => range.narrow(numbers, None),
                ">" => range.narrow(next.ok_or_else(no_bound)?, None),
                _ => return Err(no_bound()),
            }
        }
        match range.before {
            Some(before) if range.from >= before => Err(BadRange::Empty),
            _ => Ok(range),
        }
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for VersionRange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for VersionRange {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The first version after all that begin with these parts; none after the last one there is.
fn after(mut numbers: Numbers, written: usize) -> Option<Numbers> {
    for part in (0..written).rev() {
        if let Some(next) = numbers[part].checked_add(1) {
            numbers[part] = next;
            return Some(numbers);
        }
        numbers[part] = 0;
    }
    None
}

/// The numbers at the begin of a version, whatever follows them (`17.5 (Debian)`, `4.4.0-rc1`).
fn leading_numbers(version: &str) -> Option<Numbers> {
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    bound_numbers(version[..end].trim_end_matches('.')).map(|(numbers, _)| numbers)
}

/// Dotted numbers and nothing else, and how many parts are written.
fn bound_numbers(text: &str) -> Option<(Numbers, usize)> {
    let mut numbers = [0; PARTS];
    let mut written = 0;
    for part in text.split('.') {
        let is_number = !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        *numbers.get_mut(written).filter(|_| is_number)? = part.parse().ok()?;
        written += 1;
    }
    Some((numbers, written))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    fn range(text: &str) -> VersionRange {
        text.parse().unwrap()
    }

    #[test]
    fn bounds_have_the_versions_that_people_mean() {
        for (bounds, inside, outside) in [
            ("<6.10", "6.9.1 6.9 5 0.1 6.9.99-rc1", "6.10 6.10.0 6.10.0-rc1 6.11 7"),
            ("<=6.10", "6.10 6.10.9 6.9", "6.11 7.0"),
            (">4.2", "4.3 4.3.0-rc1 5", "4.2 4.2.9 4.1"),
            (">=4.1, <4.3", "4.1 4.1.0 4.2.9", "4.0.9 4.3 4.3.0"),
            (">=4.1,<4.3,<4.2.5", "4.2.4", "4.2.5"),
            ("17", "17 17.5 17.0.1", "16.9 18 170"),
            ("=4.3.1", "4.3.1 4.3.1.7", "4.3.0 4.3.2 4.3.10"),
            ("< 6.10", "6.9", "6.10"),
            (">=0", "0 0.0.0.1 99", ""),
        ] {
            for version in inside.split_whitespace() {
                assert_eq!(range(bounds).admits(version), Some(true), "{version} in {bounds}");
            }
            for version in outside.split_whitespace() {
                assert_eq!(range(bounds).admits(version), Some(false), "{version} not in {bounds}");
            }
        }
        assert_eq!(range("17").admits("17.5 (Debian 17.5-1)"), Some(true));
        for nothing in ["", "v4", "unknown", ".4", "4..1", "1.2.3.4.5"] {
            assert_eq!(range(">=0").admits(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_major_may_be_in_a_range_in_part() {
        for (bounds, pin, coverage) in [
            ("<17.5", "17", Coverage::Part),
            (">=17.5", "17", Coverage::Part),
            ("=17.5", "17", Coverage::Part),
            ("17", "17", Coverage::All),
            (">=17", "17", Coverage::All),
            ("<18", "17", Coverage::All),
            ("<17", "17", Coverage::Nothing),
            (">17", "17", Coverage::Nothing),
            ("<17.5", "17.5", Coverage::Nothing),
            ("<=17.5", "17.5", Coverage::All),
            (">=4.3.1", "4.3", Coverage::Nothing),
            ("<4.3.1", "4.3", Coverage::All),
            (">=0", "latest", Coverage::Nothing),
        ] {
            assert_eq!(range(bounds).covers(pin), coverage, "{pin} and {bounds}");
        }
    }

    #[test]
    fn what_is_no_range_is_refused() {
        let bad = ["", "latest", "^4.1", "~4.1", ">=4.1 <4.3", "==4", "=<4", "<", "4.", "<4.1-rc1"];
        for text in bad.into_iter().chain(["1.2.3.4.5", "<4,", "*", ">18446744073709551615"]) {
            assert!(matches!(text.parse::<VersionRange>(), Err(BadRange::NoBound(_))), "{text}");
        }
        for text in ["<4.1, >4.2", ">4.2, <4.3", "<0", "<4.1, =4.1", "16, 17"] {
            assert_eq!(text.parse::<VersionRange>(), Err(BadRange::Empty), "{text}");
        }
    }

    #[test]
    fn ranges_overlap_where_a_version_is_in_both() {
        for (a, b, both) in [
            ("<4.3", ">=4.3", false),
            ("<=4.3", ">=4.3", true),
            ("<4.3", ">=4.2.9", true),
            (">=4", ">=5", true),
            ("16", "17", false),
            ("17.5", "17", true),
        ] {
            assert_eq!(range(a).overlaps(&range(b)), both, "{a} and {b}");
            assert_eq!(range(b).overlaps(&range(a)), both, "{b} and {a}");
        }
    }

    proptest! {
        /// Serialised and read again it is the same, and it agrees with itself about pins.
        #[test]
        fn ranges_survive_a_round_trip(
            operator in prop::sample::select(vec!["", "=", "<", "<=", ">", ">="]),
            bound in "[0-9]{1,3}(\\.[0-9]{1,2}){0,3}",
            version in "[0-9]{1,3}\\.[0-9]{1,2}",
        ) {
            let Ok(range) = format!("{operator}{bound}").parse::<VersionRange>() else {
                return Ok(());
            };
            let json = serde_json::to_string(&range).unwrap();
            prop_assert_eq!(&serde_json::from_str::<VersionRange>(&json).unwrap(), &range);
            let is_in = range.admits(&version).unwrap();
            prop_assert_eq!(range.covers(&version) == Coverage::All, is_in);
            prop_assert_eq!(range.covers(&version) == Coverage::Nothing, !is_in);
        }
    }
}
