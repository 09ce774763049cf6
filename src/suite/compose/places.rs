//! A text that was put together from others, with the way back from each of its bytes.
//! Pieces of original files come in, as they are or standing for something; one text comes out.
//! It must never lose a place: whatever is wrong in the text is shown in the file of its author.

use std::ops::Range;
use std::sync::Arc;

use crate::suite::problem::{Lines, Problem, Words};
use crate::suite::rule::Rule;

/// A file as its author wrote it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::suite) struct Origin {
    /// As the user gave it: what problems show.
    pub(in crate::suite) display: String,
    pub(in crate::suite) text: String,
    lines: Lines,
}

impl Origin {
    pub(super) fn new(display: &str, text: &str) -> Self {
        Self { display: display.to_owned(), text: text.to_owned(), lines: Lines::of(text) }
    }

    /// A problem at a range of bytes of the file.
    pub(super) fn problem(
        &self,
        rule: Rule,
        range: &Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Problem {
        self.said(rule, range.clone(), Words::new(message).help(help))
    }

    fn said(&self, rule: Rule, range: Range<usize>, words: Words) -> Problem {
        Problem::on_line(rule, &self.display, &self.text, &self.lines, range, words)
    }

    /// `file:line` of a byte.
    fn line(&self, at: usize) -> String {
        format!("{}:{}", self.display, self.lines.around(at).0)
    }
}

/// The text that is parsed, and where its parts come from.
#[derive(Debug, Clone)]
pub(in crate::suite) struct Composed {
    text: String,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone)]
struct Piece {
    /// Where it begins in the composed text.
    at: usize,
    origin: Arc<Origin>,
    /// What it is, or what it stands for, in its file.
    from: Range<usize>,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Verbatim,
    /// Text of this program, for example between two copies.
    Glue,
    /// The value of a variable, with the sentence that says so.
    Value(String),
}

impl Composed {
    pub(super) fn new() -> Self {
        Self { text: String::new(), pieces: Vec::new() }
    }

    /// A file that is read as it is.
    pub(in crate::suite) fn plain(display: &str, text: &str) -> Self {
        Self::masked(display, text, text.to_owned())
    }

    /// A file that is read in another wording of the same length.
    pub(super) fn masked(display: &str, text: &str, wording: String) -> Self {
        let origin = Origin::new(display, text);
        let from = 0..text.len();
        let piece = Piece { at: 0, origin: Arc::new(origin), from, kind: Kind::Verbatim };
        Self { text: wording, pieces: vec![piece] }
    }

    pub(in crate::suite) fn text(&self) -> &str {
        &self.text
    }

    /// Adds a part of a file.
    pub(super) fn verbatim(&mut self, origin: &Arc<Origin>, from: Range<usize>) {
        let Some(text) = origin.text.get(from.clone()) else { return };
        self.push(origin, from, text, Kind::Verbatim);
    }

    /// Adds text that holds parts together; what is wrong with it is shown at `from`.
    pub(super) fn glue(&mut self, origin: &Arc<Origin>, from: Range<usize>, text: &str) {
        self.push(origin, from, text, Kind::Glue);
    }

    /// Adds the text that stands for `from`, and says so where it is on a shown line.
    pub(super) fn value(
        &mut self,
        origin: &Arc<Origin>,
        from: Range<usize>,
        text: &str,
        said: String,
    ) {
        self.push(origin, from, text, Kind::Value(said));
    }

    fn push(&mut self, origin: &Arc<Origin>, from: Range<usize>, text: &str, kind: Kind) {
        if !text.is_empty() {
            let at = self.text.len();
            self.pieces.push(Piece { at, origin: Arc::clone(origin), from, kind });
            self.text.push_str(text);
        }
    }

    /// A problem at a range of the composed text, shown where its author wrote it; `used` is where
    /// an alias or a merge key brings it in.
    pub(in crate::suite) fn problem(
        &self,
        rule: Rule,
        range: Range<usize>,
        used: Option<usize>,
        words: Words,
    ) -> Problem {
        let Some((origin, from)) = self.place(&range) else {
            return Problem::at(rule, "", &self.text, range, words);
        };
        let mut notes = self.values_beside(range.start);
        if let Some((user, from_use)) = used.and_then(|at| self.place(&(at..at))) {
            let place = user.line(from_use.start);
            if place != origin.line(from.start) {
                notes.push(format!("used at {place}"));
            }
        }
        let problem = origin.said(rule, from, words);
        notes.iter().fold(problem, |problem, note| problem.with_note(note))
    }

    /// `file:line` of a byte of the composed text, as its author knows it.
    pub(in crate::suite) fn line(&self, at: usize) -> String {
        match self.place(&(at..at)) {
            Some((origin, from)) => origin.line(from.start),
            None => String::new(),
        }
    }

    /// The file and the range in it of a range of the composed text.
    pub(super) fn place(&self, range: &Range<usize>) -> Option<(&Arc<Origin>, Range<usize>)> {
        let (first, start) = self.byte(range.start)?;
        let start = match first.kind {
            Kind::Verbatim => start,
            Kind::Glue | Kind::Value(_) => first.from.start,
        };
        if range.end <= range.start {
            return Some((&first.origin, start..start));
        }
        let (last, end) = self.byte(range.end - 1)?;
        let end = match last.kind {
            Kind::Verbatim => end + 1,
            Kind::Glue | Kind::Value(_) => last.from.end,
        };
        // Two copies, or two files: the first of them tells enough.
        let is_one = Arc::ptr_eq(&first.origin, &last.origin) && end >= start;
        Some((&first.origin, start..if is_one { end } else { first.from.end }))
    }

    /// The piece of a byte and the byte of its file.
    fn byte(&self, at: usize) -> Option<(&Piece, usize)> {
        let index = self.pieces.partition_point(|piece| piece.at <= at).checked_sub(1)?;
        let piece = self.pieces.get(index)?;
        Some((piece, (piece.from.start + (at - piece.at)).min(piece.from.end)))
    }

    /// What stands for variables on the line of a byte.
    fn values_beside(&self, at: usize) -> Vec<String> {
        let at = at.min(self.text.len());
        let start = self.text.get(..at).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1);
        let end =
            self.text.get(at..).and_then(|t| t.find('\n')).map_or(self.text.len(), |n| at + n);
        let first = self.pieces.partition_point(|piece| piece.at < start);
        let on_line = self.pieces[first..].iter().take_while(|piece| piece.at < end);
        let mut said: Vec<String> = Vec::new();
        for piece in on_line {
            if let Kind::Value(sentence) = &piece.kind
                && !said.contains(sentence)
            {
                said.push(sentence.clone());
            }
        }
        said
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_byte_leads_back_to_its_file() {
        let origin = |display: &str, text: &str| Arc::new(Origin::new(display, text));
        let (a, b) = (origin("a", "x: ${n} y\nz"), origin("b", "- ü"));
        let mut composed = Composed::new();
        composed.verbatim(&a, 0..3);
        composed.value(&a, 3..7, "12345", "`${n}` is `12345`".to_owned());
        composed.verbatim(&a, 7..10);
        composed.glue(&a, 0..1, "- ");
        composed.verbatim(&b, 2..4);
        assert_eq!(composed.text(), "x: 12345 y\n- ü");
        let place = |range: Range<usize>| {
            let (origin, range) = composed.place(&range).unwrap();
            (origin.display.as_str(), range)
        };
        assert_eq!(place(0..1), ("a", 0..1));
        assert_eq!(place(3..8), ("a", 3..7));
        assert_eq!(place(5..6), ("a", 3..7));
        assert_eq!(place(3..10), ("a", 3..9));
        assert_eq!(place(9..10), ("a", 8..9));
        assert_eq!(place(13..15), ("b", 2..4));
        assert_eq!(place(15..15), ("b", 4..4));
        assert_eq!(place(9..15), ("a", 8..10), "not over the end of its file");
        let shown = composed.problem(Rule::BadName, 9..10, Some(13), Words::new("m")).rendered;
        assert!(shown.contains("--> a:1:9\n") && shown.contains("x: ${n} y"), "{shown}");
        assert!(shown.contains("= note: `${n}` is `12345`"), "{shown}");
        assert!(shown.contains("= note: used at b:1"), "{shown}");
    }
}
