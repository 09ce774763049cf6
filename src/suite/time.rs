//! Lengths of time in suites: absolute, or relative to a value that the same scenario configures.
//! Text such as `500 ms` or `1.5 × ack_timeout` comes in; milliseconds come out once it is known.
//! It must never hold a default: a relative time without its configured value has no length.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A length of time: `500 ms`, `2 s`, `3 min`, or a multiple of a configured value such as
/// `1.5 × ack_timeout` (`x` and `*` are read as `×`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Time {
    /// Milliseconds.
    Ms(u64),
    /// Thousandths of a configured value.
    Of { thousandths: u64, value: Configured },
}

/// A value that a scenario configures and times can refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Configured {
    /// The worker's own ack timeout (Pulsar) or max.poll.interval.ms (Kafka).
    AckTimeout,
}

/// Longest time that a suite can ask for: the longest deadline of a unit.
const MOST_MS: u64 = 3_600_000;

impl Time {
    /// Milliseconds, where `ack_timeout_ms` is what the worker has configured.
    pub fn ms(self, ack_timeout_ms: Option<u64>) -> Option<u64> {
        match self {
            Self::Ms(ms) => Some(ms),
            Self::Of { thousandths, value: Configured::AckTimeout } => {
                Some(ack_timeout_ms?.saturating_mul(thousandths) / 1000)
            }
        }
    }

    /// Whether it has a length only where the worker configures an ack timeout.
    pub fn needs_ack_timeout(self) -> bool {
        matches!(self, Self::Of { value: Configured::AckTimeout, .. })
    }
}

impl schemars::JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "title": "time, such as `500 ms`, `2 s`, `3 min` or `1.5 × ack_timeout`",
            "type": "string",
            "pattern": r"^\s*[0-9]+(\.[0-9]{1,3})?\s*(ms|s|min|[×x*]\s*ack_timeout)\s*$",
        })
    }
}

/// A text that is no time.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no time: write it as `500 ms`, `2 s`, `3 min` or `1.5 × ack_timeout`, up to 1 h")]
pub struct BadTime(String);

impl FromStr for Time {
    type Err = BadTime;

    fn from_str(text: &str) -> Result<Self, BadTime> {
        let bad = || BadTime(text.chars().take(60).collect());
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let thousandths = thousandths(&text[..end]).ok_or_else(bad)?;
        let unit = text[end..].trim_start();
        let ms = |each: u64| thousandths.checked_mul(each).map(|total| total / 1000);
        let absolute = match unit {
            "ms" => ms(1),
            "s" => ms(1000),
            "min" => ms(60_000),
            _ => {
                let value = unit.strip_prefix(['×', 'x', '*']).map(str::trim_start);
                return match value {
                    Some("ack_timeout") if thousandths <= 1_000_000 => {
                        Ok(Self::Of { thousandths, value: Configured::AckTimeout })
                    }
                    _ => Err(bad()),
                };
            }
        };
        absolute.filter(|ms| *ms <= MOST_MS).map(Self::Ms).ok_or_else(bad)
    }
}

/// `1.5` as 1500; three digits behind the point at most.
fn thousandths(number: &str) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.len() > 3 {
        return None;
    }
    let part: u64 = format!("{part:0<3}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1000)?.checked_add(part)
}

impl TryFrom<String> for Time {
    type Error = BadTime;

    fn try_from(text: String) -> Result<Self, BadTime> {
        text.parse()
    }
}

impl From<Time> for String {
    fn from(time: Time) -> Self {
        time.to_string()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ms(ms) => write!(f, "{ms} ms"),
            Self::Of { thousandths, value: Configured::AckTimeout } => {
                let (whole, part) = (thousandths / 1000, thousandths % 1000);
                let part = format!(".{part:03}");
                write!(f, "{whole}{} × ack_timeout", part.trim_end_matches(['0', '.']))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_are_absolute_or_relative() {
        for (text, ms) in [("500 ms", 500), ("2s", 2000), ("0.25 s", 250), (" 3 min ", 180_000)] {
            assert_eq!(text.parse::<Time>().unwrap().ms(None), Some(ms), "{text}");
        }
        for text in ["2 × ack_timeout", "2x ack_timeout", "2*ack_timeout", "2.000 × ack_timeout"]
        {
            let time: Time = text.parse().unwrap();
            assert_eq!(time.ms(Some(1500)), Some(3000), "{text}");
            assert_eq!(time.ms(None), None, "{text}");
            assert!(time.needs_ack_timeout());
            assert_eq!(time.to_string(), "2 × ack_timeout");
        }
        assert_eq!(
            "1.050 × ack_timeout".parse::<Time>().unwrap().to_string(),
            "1.05 × ack_timeout"
        );
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "5",
            "ms",
            "-1 s",
            "1.2345 s",
            ".5 s",
            "5. s",
            "61 min",
            "2 × poll",
            "1001 × ack_timeout",
            "99999999999999999999 s",
            "18446744073709551615 min",
            "1 h",
        ] {
            let error = text.parse::<Time>().unwrap_err().to_string();
            assert!(error.contains("1.5 × ack_timeout"), "{error}");
        }
    }
}
