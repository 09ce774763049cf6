//! Text from outside made safe for every format: terminals, strict XML 1.0, Markdown.
//! Any string comes in (worker output, broker answers, paths); visible, bounded text comes out.
//! It must never drop a character silently: what cannot be shown is shown as an escape.

use std::fmt::Write;

/// Characters of a one-line value (a table cell, an attribute) before it is cut.
pub const LINE: usize = 1_000;
/// Characters of a text of several lines (a failure's body) before it is cut.
pub const BLOCK: usize = 16_000;

/// Characters more than allowed that are shown rather than counted.
const MARK: usize = 24;

/// One line: line breaks and tabs become `\n`, `\r`, `\t`. At most `max` characters of the text.
pub fn line(text: &str, max: usize) -> String {
    escape(text, max, |c| c == '\n' || c == '\t')
}

/// Several lines: line feeds stay, everything else as in [`line`].
pub fn block(text: &str, max: usize) -> String {
    escape(text, max, |c| c == '\t')
}

fn escape(text: &str, max: usize, also: impl Fn(char) -> bool) -> String {
    // The mark that something is missing is as long as what it would stand for.
    let max = if text.chars().nth(max + MARK).is_none() { max + MARK } else { max };
    let mut out = String::with_capacity(text.len().min(max * 4));
    let mut chars = text.chars();
    for c in chars.by_ref().take(max) {
        if c != '\n' && hidden(c) || also(c) {
            push_escape(&mut out, c);
        } else {
            out.push(c);
        }
    }
    let left = chars.count();
    if left > 0 {
        // Writing into a String cannot fail.
        let _ = write!(out, "… ({left} more characters)");
    }
    out
}

fn push_escape(out: &mut String, c: char) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        other => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(other));
        }
    }
}

/// Characters that act instead of being seen: controls of a terminal (C0, DEL, C1), marks that turn
/// the reading direction, invisible ones, and what XML 1.0 or Unicode calls no character.
fn hidden(c: char) -> bool {
    let directions = matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    let code = u32::from(c);
    let no_character = code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code);
    c.is_control() || directions || c == '\u{feff}' || no_character
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown_instead() {
        assert_eq!(line("a\u{1b}[31mb\u{0}c", 99), "a\\u{1b}[31mb\\u{0}c");
        assert_eq!(
            line("\u{9b}2J\u{202e}x\u{fffe}\u{feff}", 99),
            "\\u{9b}2J\\u{202e}x\\u{fffe}\\u{feff}"
        );
        assert_eq!(line("a\r\n\tb", 99), "a\\r\\n\\tb");
        assert_eq!(block("a\r\n\tb", 99), "a\\r\n\\tb");
    }

    #[test]
    fn ordinary_text_of_any_language_stays() {
        for text in ["plain", "größer ≥ 2", "日本語", "emoji 🦀", "]]> & <tag>"] {
            assert_eq!(line(text, 99), text);
        }
    }

    #[test]
    fn what_is_cut_says_how_much() {
        let long = "ß".repeat(3 + MARK);
        assert_eq!(line(&long, 3), long, "the mark would be as long as the rest");
        assert_eq!(line(&format!("{long}ß"), 3), "ßßß… (25 more characters)");
        assert_eq!(line(&"x".repeat(1_000_000), 10).chars().count(), 36);
    }
}
