//! The one way to read YAML: strict options, and the reader's errors as problems of ours.
//! A text comes in; typed values or one located problem come out, in the look of all the others.
//! It must never read more than the budget allows: a few lines can stand for billions of nodes.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Location, Options};

use super::compose::Composed;
use super::mend::{Mending, Mistake};
use super::problem::{Problem, Words, suggest};
use super::rule::Rule;
use super::source::{Around, Source, span};

/// Nodes that aliases may stand for in one file: pieces of fragments, in every combination.
const MAX_REPLAYED: usize = 30_000;
const MAX_NODES: usize = 50_000;
const MAX_DEPTH: usize = 32;
const MAX_ALIASES: usize = 10_000;

/// Options for every file: no key twice, no truth in words, no bombs.
pub(super) fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_documents: 1,
            max_depth: MAX_DEPTH,
            max_nodes: MAX_NODES,
            max_events: MAX_NODES * 4,
            max_aliases: MAX_ALIASES,
            max_recorded_anchor_events: MAX_NODES,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: MAX_REPLAYED,
            max_replay_stack_depth: 8,
        },
        strict_booleans: true,
    }
}

/// Reads JSON more strictly than JSON's own reader, which takes the last of two equal keys.
///
/// # Errors
/// What is wrong with it, and where.
#[cfg(feature = "servers")]
pub(crate) fn json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_saphyr::from_str_with_options(text, options()).map_err(|e| plain_message(&e))
}

/// The typed form of a source.
///
/// # Errors
/// Every located problem: behind each the rest of the file is read as if it was not there.
pub(crate) fn typed<T: DeserializeOwned>(source: &Source) -> Result<T, Vec<Problem>> {
    let mut problems = Vec::new();
    let mut mending = Mending::of(source);
    loop {
        let error = match serde_saphyr::from_str_with_options(mending.text(), options()) {
            Ok(file) if problems.is_empty() => return Ok(file),
            Ok(_) => return Err(problems),
            Err(error) => error,
        };
        let (problem, around) = located(source, &mending, &error);
        let is_first = problems.is_empty();
        if is_first || mending.kind(around.entry.as_ref()) == Mistake::OfItsOwn {
            // What else is wrong with a text that has been changed says nothing of the original.
            if !is_first && !problem.rule.is_of_one_entry() {
                return Err(problems);
            }
            problems.push(problem);
        }
        let goes_on = around.entry.filter(|_| !around.is_aliased);
        if !goes_on.is_some_and(|entry| mending.take(&entry)) {
            return Err(problems);
        }
    }
}

/// An error of the reader with what is around it in the file.
fn located<'a>(source: &'a Source, mending: &Mending, error: &Error) -> (Problem, Around<'a>) {
    let problem_of = |error| problem(source.composed(), error);
    let text = source.filled();
    let Some(at) = innermost(error).location().map(|location| place(text, location).start) else {
        return (problem_of(error), Around::default());
    };
    let Error::SerdeMissingField { field, .. } = innermost(error) else {
        let mut around = match (mending.taken_at(at), innermost(error)) {
            (Some(taken), _) => source.around_entry(taken.start),
            (None, Error::SerdeUnknownVariant { .. }) => source.around_word(at),
            (None, _) => source.around(at),
        };
        around.is_aliased |= user(error).is_some();
        return (problem_of(error), around);
    };
    let around = source.around_lacking(at, field, |start| mending.is_taken(start));
    match (user(error), around.holder) {
        (None, Some(holder)) => {
            let message = format!("the key `{field}` is missing in `{}`", holder.value);
            let help = format!("`ackproof explain {field}` says what it is for");
            let words = Words::new(message).help(help);
            let first = around.entry.map_or(span(holder.defined), |entry| entry.token(text));
            (source.composed().problem(Rule::MissingKey, first, None, words), around)
        }
        _ => (problem_of(error), around),
    }
}

/// An error of the reader, in our words where they say more.
pub(super) fn problem(composed: &Composed, error: &Error) -> Problem {
    let text = composed.text();
    let used = user(error).map(|location| place(text, location).start);
    let error = innermost(error);
    let range = error.location().map_or(0..0, |location| word(text, place(text, location)));
    let (rule, words) = explain(error);
    composed.problem(rule, range, used, words)
}

/// Errors of the scanner know line and column only, all others bytes.
fn place(text: &str, location: Location) -> Range<usize> {
    if location.span().byte_offset().is_some() {
        return span(location);
    }
    let number = |n: u64| usize::try_from(n.saturating_sub(1)).unwrap_or(usize::MAX);
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(number(location.line())).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let inside =
        line.char_indices().nth(number(location.column())).map_or(line.len(), |(at, _)| at);
    before + inside..before + inside
}

/// Where the alias or merge key stands that brings in what is wrong.
fn user(error: &Error) -> Option<Location> {
    match error.without_snippet() {
        Error::AliasError { locations, .. } => Some(locations.reference_location),
        _ => None,
    }
}

fn innermost(error: &Error) -> &Error {
    match error.without_snippet() {
        Error::AliasError { error, .. } => innermost(error),
        other => other,
    }
}

fn explain(error: &Error) -> (Rule, Words) {
    match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            let help = suggest(field, expected.iter().copied());
            (Rule::UnknownKey, Words::new(format!("unknown key `{field}`")).help(help))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            let help = suggest(variant, expected.iter().copied());
            (Rule::UnknownWord, Words::new(format!("unknown word `{variant}`")).help(help))
        }
        Error::SerdeMissingField { field, .. } => {
            let help = format!("`ackproof explain {field}` says what it is for");
            (Rule::MissingKey, Words::new(format!("the key `{field}` is missing")).help(help))
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => {
            (Rule::DuplicateKey, Words::new(format!("the key `{key}` stands twice")))
        }
        Error::DuplicateMappingKey { .. } => (Rule::DuplicateKey, Words::new("a key stands twice")),
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            let expected = in_words(expected);
            (Rule::WrongType, Words::new(format!("expected {expected}, found {unexpected}")))
        }
        // The reader asks for a scalar before it looks at the type that is wanted.
        Error::Unexpected { expected: "string scalar", .. } => {
            let help = "a text or a number, not a list or a mapping".to_owned();
            (Rule::WrongType, Words::new("one value is wanted here").help(help))
        }
        Error::InvalidScalar { ty, .. } => {
            (Rule::WrongType, Words::new(format!("this is no {}", in_words(ty))))
        }
        Error::Budget { breach: BudgetBreach::Documents { .. }, .. } => {
            (Rule::SecondDocument, Words::new("a second document: a file holds one"))
        }
        Error::Budget { .. } => {
            let message = "more than a suite may hold: too large, or nested too deeply";
            (Rule::TooLarge, Words::new(message))
        }
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            let message = "the aliases of this file stand for more than a suite may hold";
            let help = format!("write it out; at most {MAX_REPLAYED} nodes may come from aliases");
            (Rule::TooLarge, Words::new(message).help(help))
        }
        other => (Rule::BadSyntax, Words::new(plain_message(other))),
    }
}

fn in_words(rust_type: &str) -> &str {
    match rust_type {
        "u8" => "whole number from 0 to 255",
        "u16" => "whole number from 0 to 65535",
        "u32" => "whole number from 0 to 4294967295",
        "u64" => "whole number from 0",
        "i8" | "i16" | "i32" | "i64" => "whole number",
        "f32" | "f64" => "number",
        "bool" => "`true` or `false`",
        other => other,
    }
}

/// The reader's own words without the place, which is shown anyway.
fn plain_message(error: &Error) -> String {
    let text = error.render_with_formatter(&serde_saphyr::UserMessageFormatter);
    let Some(location) = error.location() else { return text };
    let suffix = format!(" at line {}, column {}", location.line(), location.column());
    text.strip_suffix(&suffix).unwrap_or(&text).to_owned()
}

/// The range, or where it is a mere point the word that begins there.
fn word(text: &str, range: Range<usize>) -> Range<usize> {
    let rest = text.get(range.start..).unwrap_or_default();
    let length = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .unwrap_or(rest.len());
    range.start..range.end.max(range.start + length)
}
