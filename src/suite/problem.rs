//! Problems of suite files, each with its place, a caret under the token, and what to do about it.
//! A source, a byte range and two sentences come in; a located and rendered `Problem` comes out.
//! It must never stop at the first one: whoever finds a problem adds it and goes on.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};
use serde::Serialize;

use super::rule::{Rule, Severity};
use super::source::is_unprintable;

/// Something in a file or an expression that has to be changed before anything can run, or that
/// should be where it is a warning.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// Path as it was given, or the name of the expression; empty where there is no text at all.
    pub file: String,
    /// From 1; 0 where the problem is the file itself.
    pub line: usize,
    /// In characters, from 1; 0 where the problem is the file itself.
    pub column: usize,
    /// The column behind the last character, on the same line; 0 where the problem is the file.
    pub end: u32,
    pub rule: Rule,
    pub severity: Severity,
    pub message: String,
    /// What to do about it, in one line.
    pub help: Box<str>,
    /// What the contract says about it, where the rule comes from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Box<str>>,
    /// Rule, message, place, source line with carets, and help, as shown to people; no final
    /// newline.
    #[serde(skip)]
    pub rendered: Box<str>,
}

/// Longer lines are not shown, only their place.
const MAX_LINE: usize = 2_000;
/// Characters of a message or a help at most.
const MAX_MESSAGE: usize = 600;
/// Known words that are listed, and characters of a word that could be meant for one of them.
const MAX_KNOWN: usize = 30;
const MAX_WORD: usize = 100;

/// What a problem says: the message, and what stands below the source line.
#[derive(Debug, Clone, Default)]
pub struct Words {
    message: String,
    help: Option<String>,
    note: Option<String>,
}

impl Words {
    /// A message alone; the rule's own help stands below it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// With a help of its own, if there is one.
    pub fn help(self, help: impl Into<Option<String>>) -> Self {
        Self { help: help.into(), ..self }
    }

    /// With what the contract says.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// Everything made visible, and the help of the rule where there is no other.
    fn printable(self, rule: Rule) -> Self {
        Self {
            message: printable(&self.message),
            help: Some(printable(self.help.as_deref().unwrap_or(rule.help()))),
            note: self.note.as_deref().map(printable),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

impl Problem {
    /// A problem at a range of bytes of a text that has a name.
    pub fn at(rule: Rule, file: &str, text: &str, range: Range<usize>, words: Words) -> Self {
        Self::on_line(rule, file, text, &Lines::of(text), range, words)
    }

    /// The same, of a text whose lines are known: a file can have many thousand problems.
    pub(super) fn on_line(
        rule: Rule,
        file: &str,
        text: &str,
        lines: &Lines,
        range: Range<usize>,
        words: Words,
    ) -> Self {
        let words = words.printable(rule);
        // What is missing at the end of a file is shown behind its last character.
        let range = match text.trim_end_matches('\n').len() {
            last if range.start >= text.len() => last..last,
            _ => range,
        };
        let (line, own) = lines.around(range.start.min(text.len()));
        let range = within(text, own.end, range);
        let column = lines.characters(&text[own.start..range.start]) + 1;
        let end = column + lines.characters(&text[range.clone()]);
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        let group = title(rule, &words.message);
        // Only the line itself is given to the renderer, which would look at all of a file.
        let group = if own.len() > MAX_LINE {
            group.element(Origin::path(file).line(line).char_column(column))
        } else {
            let range = range.start - own.start..range.end - own.start;
            let mark = AnnotationKind::Primary.span(range).label("");
            let place = Snippet::source(&text[own]).line_start(line).path(file);
            group.element(place.annotation(mark))
        };
        let rendered = render(group, &words);
        Self { line, column, end, ..Self::made(rule, file, words, rendered) }
    }

    /// A problem of a whole file, for example that it cannot be read.
    pub fn of_file(rule: Rule, file: &str, words: Words) -> Self {
        let words = words.printable(rule);
        let message = &words.message;
        let heading = if file.is_empty() { message.clone() } else { format!("{file}: {message}") };
        let group = Group::with_title(title(rule, &heading));
        let rendered = render(group, &words);
        Self::made(rule, file, words, rendered)
    }

    /// The same with one more note, for example where an alias brings it in.
    pub(super) fn with_note(mut self, note: &str) -> Self {
        let note = printable(note);
        // The renderer's own look: below the help, which every problem has.
        let help = |line: &str| line.find("= help: ").filter(|at| line[..*at].trim().is_empty());
        let indent = " ".repeat(self.rendered.lines().find_map(help).unwrap_or_default());
        self.rendered = format!("{}\n{indent}= note: {note}", self.rendered).into();
        self.note = Some(match self.note {
            Some(earlier) => format!("{earlier}; {note}").into(),
            None => note.into(),
        });
        self
    }

    /// A problem of a request, which has no text to point at.
    pub fn of_request(rule: Rule, words: Words) -> Self {
        Self::of_file(rule, "", words)
    }

    fn made(rule: Rule, file: &str, words: Words, rendered: String) -> Self {
        Self {
            file: file.to_owned(),
            line: 0,
            column: 0,
            end: 0,
            rule,
            severity: rule.severity(),
            message: words.message,
            help: words.help.unwrap_or_default().into(),
            note: words.note.map(Into::into),
            rendered: rendered.into(),
        }
    }

    /// Whether nothing can be run because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The problems, if one of them is an error.
///
/// # Errors
/// All of them, warnings too: whoever has to mend one wants to see the others.
pub fn refuse_errors(problems: Vec<Problem>) -> Result<Vec<Problem>, Vec<Problem>> {
    if problems.iter().any(Problem::is_error) { Err(problems) } else { Ok(problems) }
}

fn title(rule: Rule, message: &str) -> Title<'_> {
    let level = match rule.severity() {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    level.primary_title(message).id(rule.name())
}

/// Messages quote what was written; what cannot be printed is shown by its number, and of what is
/// very long the beginning and the end.
fn printable(text: &str) -> String {
    let length = text.chars().count();
    if length > MAX_MESSAGE {
        let begin: String = text.chars().take(MAX_MESSAGE / 2).collect();
        let end: String = text.chars().skip(length - MAX_MESSAGE / 4).collect();
        return printable(&format!("{begin} … {end}"));
    }
    let show = |c: char| match is_unprintable(c) || matches!(c, '\n' | '\t') {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(show).collect()
}

fn render<'a>(group: Group<'a>, words: &'a Words) -> String {
    let mut group = group;
    if let Some(help) = &words.help {
        group = group.element(Level::HELP.message(help));
    }
    if let Some(note) = &words.note {
        group = group.element(Level::NOTE.message(note));
    }
    // Lines end with a blank where an empty label stands; goldens and editors dislike that.
    let rendered = Renderer::plain().render(&[group]);
    let rendered = rendered.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    // The renderer knows controls below a blank only; above them is one that terminals obey, too.
    rendered.replace(is_unprintable, "\u{FFFD}")
}

/// The range moved into the text, onto character boundaries, and not over the end of its line.
fn within(text: &str, end_of_line: usize, range: Range<usize>) -> Range<usize> {
    let floor = |at: usize| {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(range.start);
    let end = floor(range.end.max(start)).min(end_of_line).max(start);
    if end > start {
        return start..end;
    }
    let next = text[start..].chars().next().filter(|c| *c != '\n').map_or(0, char::len_utf8);
    start..start + next
}

/// Where the lines of a text begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lines {
    starts: Vec<usize>,
    length: usize,
    is_ascii: bool,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = [0].into_iter().chain(newlines.map(|(at, _)| at + 1)).collect();
        Self { starts, length: text.len(), is_ascii: text.is_ascii() }
    }

    /// Number (from 1) and bytes, without its end, of the line around a byte.
    pub(super) fn around(&self, at: usize) -> (usize, Range<usize>) {
        let number = self.starts.partition_point(|start| *start <= at);
        let start = self.starts.get(number.saturating_sub(1)).copied().unwrap_or_default();
        let end = self.starts.get(number).map_or(self.length, |next| next - 1);
        (number, start..end)
    }

    fn characters(&self, part: &str) -> usize {
        if self.is_ascii { part.len() } else { part.chars().count() }
    }
}

/// "did you mean" for a word that is near a known one, else the list of the known ones.
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = word.to_lowercase().replace('_', "-");
    // Distances of long texts are expensive, and near to nothing.
    let near = known
        .iter()
        .filter(|_| word.len() <= MAX_WORD)
        .map(|candidate| {
            let plain = candidate.to_lowercase().replace('_', "-");
            (strsim::damerau_levenshtein(&lower, &plain), *candidate)
        })
        .filter(|(distance, candidate)| *distance * 3 <= candidate.chars().count().max(3))
        .min();
    match (near, known.is_empty()) {
        (Some((_, candidate)), _) => Some(format!("did you mean `{candidate}`?")),
        (None, false) => {
            let rest = if known.len() > MAX_KNOWN { ", …" } else { "" };
            let known = &known[..known.len().min(MAX_KNOWN)];
            Some(format!("known here: {}{rest}", known.join(", ")))
        }
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
            let problem = Problem::at(Rule::BadName, "f", text, range, Words::new("m"));
            assert!(problem.rendered.contains("error[bad-name]: m"), "{}", problem.rendered);
        }
        let far = format!("{}x", "long ".repeat(1000));
        let problem = Problem::at(Rule::BadName, "f", &far, 5000..5001, Words::new(&far));
        assert!(problem.rendered.contains("--> f:1:5001"), "{problem}");
        assert!(problem.rendered.len() < 1000 && problem.message.ends_with("long x"), "{problem}");
        let problem = Problem::at(Rule::BadName, "f", text, 6..7, Words::new("m"));
        assert_eq!((problem.line, problem.column, problem.end), (2, 1, 2));
    }
}
