//! Going on behind what does not fit: its entry is blanked out, and the rest is read again.
//! A source and the place of one mistake come in; the same text without that entry comes out.
//! It must never move a byte: every later place is still the place in the file of its author.

use std::ops::Range;

use super::source::{Entry, Source};

/// Readings of one file at most; who has more to mend begins with these.
const MOST_READINGS: usize = 25;
/// Bytes that are read again at most: large files with many mistakes are no work of a hand.
const MOST_BYTES: usize = 2 * 1024 * 1024;

/// A text out of which entries have been taken.
pub(super) struct Mending<'a> {
    source: &'a Source,
    text: String,
    taken: Vec<Range<usize>>,
    bytes: usize,
}

/// What a mistake is to the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mistake {
    OfItsOwn,
    /// Only there because something inside was taken out.
    FollowsFromAnother,
}

impl<'a> Mending<'a> {
    pub(super) fn of(source: &'a Source) -> Self {
        let text = source.filled().to_owned();
        Self { source, text, taken: Vec::new(), bytes: 0 }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Whether what begins at this byte is not there any more.
    pub(super) fn is_taken(&self, at: usize) -> bool {
        self.taken.iter().any(|taken| taken.contains(&at))
    }

    /// What was taken out at, or directly before, this byte.
    pub(super) fn taken_at(&self, at: usize) -> Option<&Range<usize>> {
        self.taken.iter().rfind(|taken| taken.start <= at && at <= taken.end)
    }

    /// What a mistake in this entry is to the ones before it.
    pub(super) fn kind(&self, entry: Option<&Entry>) -> Mistake {
        let whole = entry.map_or(0..self.text.len(), |entry| self.extent(entry));
        let inside = |taken: &Range<usize>| taken.start >= whole.start && taken.end <= whole.end;
        match self.taken.iter().any(inside) {
            true => Mistake::FollowsFromAnother,
            false => Mistake::OfItsOwn,
        }
    }

    /// Takes the entry out; false when there is nothing to go on with.
    #[must_use]
    pub(super) fn take(&mut self, entry: &Entry) -> bool {
        let range = self.extent(entry);
        self.bytes += self.text.len();
        if self.taken.len() >= MOST_READINGS || self.bytes > MOST_BYTES {
            return false;
        }
        let Some(part) = self.text.get(range.clone()) else { return false };
        if part.trim().is_empty() {
            return false;
        }
        let blank: String =
            part.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
        self.text.replace_range(range.clone(), &blank);
        self.taken.push(range);
        true
    }

    fn extent(&self, entry: &Entry) -> Range<usize> {
        // The original text: what was taken before does not change where an entry ends.
        let text = self.source.filled();
        match entry {
            Entry::Block { start } => *start..end_of_block(text, *start),
            Entry::Flow { start } => *start..end_of_flow(text, *start),
        }
    }
}

/// Where an entry of indented lines ends: before the first line that is not indented further.
fn end_of_block(text: &str, start: usize) -> usize {
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let indent = start - line;
    let is_item = text[start..].starts_with("- ") || text[start..].starts_with("-\n");
    let mut end = start;
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        let words = line.trim_start_matches(' ');
        let own = line.len() - words.len();
        let is_empty = words.trim().is_empty() || words.starts_with('#');
        // Items of a list may stand as far to the left as the key that holds them.
        let is_held = !is_item && own == indent && words.starts_with("- ");
        if number > 0 && !is_empty && own <= indent && !is_held {
            break;
        }
        end += line.len();
    }
    end
}

/// Where an entry between brackets ends: behind its comma, or before the closing bracket.
fn end_of_flow(text: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in text[start..].char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            // Inside of a plain word it is an apostrophe.
            (None, '"' | '\'') if " ,:[{\n".contains(before) => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') if depth == 0 => return start + at,
            (None, ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => return start + at + 1,
            _ => {}
        }
        before = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn without(text: &str, start: &str) -> String {
        let source = Source::new("f".into(), "f".into(), text.into()).unwrap();
        let mut mending = Mending::of(&source);
        let place = source.around(text.find(start).unwrap());
        assert!(mending.take(&place.entry.unwrap()));
        assert_eq!(mending.text().len(), text.len());
        mending.text().to_owned()
    }

    #[test]
    fn an_entry_is_taken_out_and_the_others_stay() {
        let text =
            "a: 1\nb:\n  - c: 2\n    d: |\n      text\n\n    e: 3\n  - f: 4\ng:\n- 5\nh: 6\n";
        let lines = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(lines(&without(text, "d:")), "a: 1 b: - c: 2 e: 3 - f: 4 g: - 5 h: 6");
        assert_eq!(lines(&without(text, "b:")), "a: 1 g: - 5 h: 6");
        assert_eq!(lines(&without(text, "g:")), "a: 1 b: - c: 2 d: | text e: 3 - f: 4 h: 6");
        assert_eq!(lines(&without(text, "h:")), "a: 1 b: - c: 2 d: | text e: 3 - f: 4 g: - 5");
    }

    #[test]
    fn an_entry_between_brackets_ends_at_its_comma_or_at_the_bracket() {
        let text = "a: {b: [1, 2], c: \"x, }\", d: it's, e: 'ü', f: 7}\n";
        assert_eq!(without(text, "b:").replace(' ', ""), "a:{c:\"x,}\",d:it's,e:'ü',f:7}\n");
        assert_eq!(without(text, "c:").replace(' ', ""), "a:{b:[1,2],d:it's,e:'ü',f:7}\n");
        assert_eq!(without(text, "d:").replace(' ', ""), "a:{b:[1,2],c:\"x,}\",e:'ü',f:7}\n");
        assert_eq!(without(text, "f:").replace(' ', ""), "a:{b:[1,2],c:\"x,}\",d:it's,e:'ü',}\n");
    }

    #[test]
    fn what_follows_from_a_mistake_is_none_of_its_own() {
        let text = "a:\n  b: {c: 1, d: 2}\ne: 3\n";
        let source = Source::new("f".into(), "f".into(), text.into()).unwrap();
        let mut mending = Mending::of(&source);
        let entry = |word: &str| source.around(text.find(word).unwrap()).entry;
        assert_eq!(mending.kind(entry("a").as_ref()), Mistake::OfItsOwn);
        assert!(mending.take(&entry("c").unwrap()));
        assert!(!mending.take(&entry("c").unwrap()), "there is nothing left of it");
        assert_eq!(mending.kind(entry("a").as_ref()), Mistake::FollowsFromAnother);
        assert_eq!(mending.kind(entry("b").as_ref()), Mistake::FollowsFromAnother);
        assert_eq!(mending.kind(entry("d").as_ref()), Mistake::OfItsOwn);
        assert_eq!(mending.kind(entry("e").as_ref()), Mistake::OfItsOwn);
        assert_eq!(mending.kind(None), Mistake::FollowsFromAnother);
    }
}
