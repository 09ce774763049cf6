//! Problems of suite files, each with its place, a caret under the token, and what to do about it.
//! A source, a byte range and two sentences come in; a located and rendered `Problem` comes out.
//! It must never stop at the first one: whoever finds a problem adds it and goes on.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

use super::source::is_unprintable;

/// Something in a file or an expression that has to be changed before anything can run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Path as it was given, or the name of the expression; empty where there is no text at all.
    pub file: String,
    /// From 1; 0 where the problem is the file itself.
    pub line: usize,
    /// In characters, from 1; 0 where the problem is the file itself.
    pub column: usize,
    pub message: String,
    pub help: Option<String>,
    /// Message, place, source line with carets, and help, as shown to people; no final newline.
    pub rendered: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl Problem {
    /// A problem at a range of bytes of a text that has a name.
    pub fn at(
        file: &str,
        text: &str,
        range: Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Self {
        let message = printable(&message.into());
        let range = within(text, range);
        let (line, column) = line_column(text, range.start);
        let place = Snippet::source(text)
            .path(file)
            .annotation(AnnotationKind::Primary.span(range).label(""));
        let help = help.as_deref().map(printable);
        let group = Level::ERROR.primary_title(message.as_str()).element(place);
        let rendered = render(group, help.as_deref());
        Self { file: file.to_owned(), line, column, message, help, rendered }
    }

    /// A problem of a whole file, for example that it cannot be read.
    pub fn of_file(file: &str, message: impl Into<String>, help: Option<String>) -> Self {
        let message = printable(&message.into());
        let title = if file.is_empty() { message.clone() } else { format!("{file}: {message}") };
        let help = help.as_deref().map(printable);
        let group = Group::with_title(Level::ERROR.primary_title(title));
        let rendered = render(group, help.as_deref());
        Self { file: file.to_owned(), line: 0, column: 0, message, help, rendered }
    }

    /// The same with one more line for people, for example where an alias brings it in.
    pub(super) fn with_note(mut self, note: &str) -> Self {
        // The renderer's own look: an empty line of the frame, then what is said about all of it.
        let frame = |line: &str| line.trim_start().starts_with("| ").then(|| line.find('|'));
        let gutter = self.rendered.lines().find_map(frame).flatten().unwrap_or_default();
        let indent = " ".repeat(gutter);
        if self.help.is_none() && !self.rendered.contains("= note: ") {
            self.rendered.push_str(&format!("\n{indent}|"));
        }
        self.rendered.push_str(&format!("\n{indent}= note: {}", printable(note)));
        self
    }

    /// A problem of a request, which has no text to point at.
    pub fn of_request(message: impl Into<String>, help: Option<String>) -> Self {
        Self::of_file("", message, help)
    }
}

/// Messages quote what was written; what cannot be printed is shown by its number.
fn printable(text: &str) -> String {
    let show = |c: char| match is_unprintable(c) {
        true => c.escape_unicode().to_string(),
        false => c.to_string(),
    };
    text.chars().map(show).collect()
}

fn render(group: Group<'_>, help: Option<&str>) -> String {
    let group = match help {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    };
    // Lines end with a blank where an empty label stands; goldens and editors dislike that.
    let rendered = Renderer::plain().render(&[group]);
    rendered.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The range moved into the text, onto character boundaries, and not over the end of its line.
fn within(text: &str, range: Range<usize>) -> Range<usize> {
    let floor = |at: usize| {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(range.start);
    let end = floor(range.end.max(start));
    let end_of_line = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let end = end.min(end_of_line).max(start);
    if end > start {
        return start..end;
    }
    let next = text[start..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    start..start + next
}

fn line_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// "did you mean" for a word that is near a known one, else the list of the known ones.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = word.to_lowercase().replace('_', "-");
    let near = known
        .iter()
        .map(|candidate| {
            let plain = candidate.to_lowercase().replace('_', "-");
            (strsim::damerau_levenshtein(&lower, &plain), *candidate)
        })
        .filter(|(distance, candidate)| *distance * 3 <= candidate.chars().count().max(3))
        .min();
    match (near, known.is_empty()) {
        (Some((_, candidate)), _) => Some(format!("did you mean `{candidate}`?")),
        (None, false) => Some(format!("known here: {}", known.join(", "))),
        (None, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_lists_all() {
        let known = ["effects", "deliveries"];
        assert_eq!(suggest("efects", known).as_deref(), Some("did you mean `effects`?"));
        assert_eq!(suggest("zebra", known).as_deref(), Some("known here: effects, deliveries"));
        assert_eq!(suggest("zebra", []), None);
    }

    #[test]
    fn ranges_outside_of_the_text_or_inside_a_character_do_no_harm() {
        let text = "a: ü\nb";
        for range in [0..1, 3..4, 4..5, 6..7, 99..120, 5..5] {
            let problem = Problem::at("f", text, range, "m", None);
            assert!(problem.rendered.contains("error: m"), "{}", problem.rendered);
        }
        let problem = Problem::at("f", text, 6..7, "m", None);
        assert_eq!((problem.line, problem.column), (2, 1));
    }
}
