//! Reading filter expressions: words and signs become a tree, by recursive descent.
//! A text comes in; its expression, or every problem with a caret under what is wrong, comes out.
//! It must never go deeper than `DEPTH`, nor stop at the first problem.

use std::ops::Range;

use super::{Expr, Field, Predicate, WHERE};
use crate::suite::pins::glob;
use crate::suite::problem::{Problem, Words, suggest};
use crate::suite::rule::Rule;

/// Parentheses and negations inside one another at most: each is a frame on the stack.
const DEPTH: usize = 64;
/// Problems of one expression at most: what follows so many is noise.
const PROBLEMS: usize = 20;

const WORDS: [&str; 11] =
    ["all", "and", "broker", "client", "clause", "id", "level", "none", "not", "or", "property"];
const OPERAND: &str = "id(GLOB), property(GLOB), clause(GLOB), broker(GLOB), client(GLOB), \
     level(GLOB), all(), none(); joined by `and`, `or`, `not` and parentheses";

/// Reads a whole expression.
///
/// # Errors
/// Every problem, in the order of their places.
pub(super) fn parse(text: &str) -> Result<Expr, Vec<Problem>> {
    let mut reader =
        Reader { text, tokens: Vec::new(), at: 0, depth: 0, problems: Vec::new(), silent: false };
    reader.tokens();
    let expression = reader.whole();
    let mut problems = reader.problems;
    if problems.is_empty() {
        return Ok(expression);
    }
    problems.sort_by_key(|(at, _)| *at);
    Err(problems.into_iter().map(|(_, problem)| problem).collect())
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Open,
    Close,
    And,
    Or,
    Not,
    Operand(Expr),
}

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<(Token, Range<usize>)>,
    /// Index of the next token.
    at: usize,
    depth: usize,
    /// With the byte where each begins.
    problems: Vec<(usize, Problem)>,
    /// Set when the rest cannot be judged: no problem is told any more.
    silent: bool,
}

impl Reader<'_> {
    fn wrong(&mut self, place: Range<usize>, message: impl Into<String>, help: Option<String>) {
        if self.problems.len() < PROBLEMS && !self.silent {
            let start = place.start;
            let words = Words::new(message).help(help);
            let problem = Problem::at(Rule::BadFilter, WHERE, self.text, place, words);
            self.problems.push((start, problem));
        }
    }

    // --- signs and words -------------------------------------------------------------------------

    fn tokens(&mut self) {
        let text = self.text;
        let mut at = 0;
        while let Some(first) = text[at..].chars().next() {
            let end = at + first.len_utf8();
            let sign = match first {
                '(' => Some(Token::Open),
                ')' => Some(Token::Close),
                '&' => Some(Token::And),
                '|' => Some(Token::Or),
                '!' => Some(Token::Not),
                _ => None,
            };
            at = match sign {
                Some(sign) => self.sign(sign, at..end),
                None if first.is_whitespace() => end,
                None if is_word(first) => self.word(at),
                None => {
                    let junk = |c: char| !is_word(c) && !c.is_whitespace() && !"()&|!".contains(c);
                    let end = at + length(&text[at..], junk);
                    let message = format!("`{}` means nothing here", &text[at..end]);
                    self.wrong(at..end, message, Some(format!("a filter is made of {OPERAND}")));
                    end
                }
            };
        }
    }

    fn sign(&mut self, sign: Token, place: Range<usize>) -> usize {
        let (own, mut end) = (&self.text[place.clone()], place.end);
        if matches!(sign, Token::And | Token::Or) && self.text[end..].starts_with(own) {
            end += length(&self.text[end..], |c| own.starts_with(c));
            let help = Some(format!("write one `{own}`, or the word"));
            self.wrong(place.start..end, format!("`{own}{own}` is no operator"), help);
        }
        self.tokens.push((sign, place.start..end));
        end
    }

    /// A word, and for a predicate what stands in its parentheses.
    fn word(&mut self, start: usize) -> usize {
        let end = start + length(&self.text[start..], is_word);
        let name = &self.text[start..end];
        let operator = match name {
            "and" => Some(Token::And),
            "or" => Some(Token::Or),
            "not" => Some(Token::Not),
            _ => None,
        };
        if let Some(operator) = operator {
            self.tokens.push((operator, start..end));
            return end;
        }
        let open = end + length(&self.text[end..], char::is_whitespace);
        if !self.text[open..].starts_with('(') {
            let (message, help) = if WORDS.contains(&name) {
                (format!("expected `(` after `{name}`"), format!("write it as `{}`", model(name)))
            } else {
                let help = suggest(name, WORDS).unwrap_or_default();
                (format!("`{name}` is no word of a filter"), help)
            };
            self.wrong(start..end, message, Some(help));
            self.tokens.push((Token::Operand(Expr::None), start..end));
            return end;
        }
        let (value, after) = self.value(open);
        let operand = self.operand(start..end, open..after, value);
        self.tokens.push((Token::Operand(operand), start..after));
        after
    }

    /// What stands between `open` and its `)`, trimmed, and where the text goes on.
    fn value(&mut self, open: usize) -> (Range<usize>, usize) {
        let inside = open + 1;
        let mut escaped = false;
        let mut nested = None;
        let mut close = None;
        for (at, c) in self.text[inside..].char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '(' => nested = nested.or(Some(inside + at)),
                ')' => {
                    close = Some(inside + at);
                    break;
                }
                _ => {}
            }
        }
        if let Some(at) = nested {
            let help = "a `)` may be missing before it; a glob writes a parenthesis as `\\(`";
            self.wrong(at..at + 1, "a `(` inside of a glob", Some(help.to_owned()));
        }
        let end = close.unwrap_or(self.text.len());
        if close.is_none() {
            self.wrong(open..open + 1, "this `(` is never closed", Some("add a `)`".to_owned()));
        }
        let whole = &self.text[inside..end];
        let start = inside + (whole.len() - whole.trim_start().len());
        let value = start..(inside + whole.trim_end().len()).max(start);
        (value, close.map_or(end, |close| close + 1))
    }

    fn operand(&mut self, name: Range<usize>, group: Range<usize>, value: Range<usize>) -> Expr {
        let (word, pattern) = (&self.text[name.clone()], &self.text[value.clone()]);
        if let "all" | "none" = word {
            if !pattern.is_empty() {
                self.wrong(value, format!("`{word}` takes nothing"), None);
            }
            return if word == "all" { Expr::All } else { Expr::None };
        }
        let Some(field) = Field::ALL.into_iter().find(|field| field.name() == word) else {
            let help =
                suggest(word, Field::ALL.map(Field::name).into_iter().chain(["all", "none"]));
            self.wrong(name, format!("there is no predicate `{word}`"), help);
            return Expr::None;
        };
        if pattern.is_empty() {
            self.wrong(group, "an empty glob matches nothing", Some("`*` matches all".to_owned()));
            return Expr::None;
        }
        match glob(pattern) {
            Ok(glob) => {
                Expr::Is(Predicate { field, pattern: pattern.to_owned(), glob, place: value })
            }
            Err(why) => {
                self.wrong(value, format!("this is no glob: {why}"), None);
                Expr::None
            }
        }
    }

    // --- the tree --------------------------------------------------------------------------------

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    /// The next token's place, or the end of the text.
    fn place(&self) -> Range<usize> {
        self.tokens
            .get(self.at)
            .map_or(self.text.len()..self.text.len(), |(_, place)| place.clone())
    }

    fn eat(&mut self, token: &Token) -> bool {
        let is_next = self.peek() == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    fn whole(&mut self) -> Expr {
        loop {
            let start = self.place().start;
            let mut end = start;
            while self.peek() == Some(&Token::Close) {
                end = self.place().end;
                self.at += 1;
            }
            if end > start {
                self.wrong(start..end, "this closes nothing", Some("remove it".to_owned()));
                // An operator that belonged to what was closed goes on with the next operand.
                let _ = self.eat(&Token::And) || self.eat(&Token::Or);
                if self.peek().is_none() {
                    return Expr::None;
                }
            }
            let expression = self.or();
            if self.peek().is_none() {
                return expression;
            }
        }
    }

    fn or(&mut self) -> Expr {
        let mut parts = vec![self.and()];
        while self.eat(&Token::Or) {
            parts.push(self.and());
        }
        list(parts, Expr::Or)
    }

    fn and(&mut self) -> Expr {
        let mut parts = vec![self.not()];
        loop {
            if self.eat(&Token::And) {
                parts.push(self.not());
            } else if let Some(Token::Not | Token::Open | Token::Operand(_)) = self.peek() {
                let help = Some("both must fit: `and`; one is enough: `or`".to_owned());
                self.wrong(self.place(), "expected `and` or `or` before this", help);
                parts.push(self.not());
            } else {
                return list(parts, Expr::And);
            }
        }
    }

    fn not(&mut self) -> Expr {
        match self.peek() {
            Some(Token::Not) => self.deeper(|reader, _| Expr::Not(Box::new(reader.not()))),
            Some(Token::Open) => self.deeper(|reader, open| {
                let inner = reader.or();
                if !reader.eat(&Token::Close) {
                    reader.wrong(open, "this `(` is never closed", Some("add a `)`".to_owned()));
                }
                inner
            }),
            Some(Token::Operand(operand)) => {
                let operand = operand.clone();
                self.at += 1;
                operand
            }
            Some(Token::And | Token::Or | Token::Close) | None => {
                let message = if self.tokens.is_empty() && self.problems.is_empty() {
                    "an empty filter"
                } else {
                    "expected a predicate, `not` or `(`"
                };
                if !self.tokens.is_empty() || self.problems.is_empty() {
                    self.wrong(self.place(), message, Some(OPERAND.to_owned()));
                }
                Expr::None
            }
        }
    }

    /// Takes the next token and reads on below it, unless that is too deep.
    fn deeper(&mut self, read: impl FnOnce(&mut Self, Range<usize>) -> Expr) -> Expr {
        let place = self.place();
        if self.depth == DEPTH {
            let help = Some("join the parts with `and` and `or` instead".to_owned());
            self.wrong(place, format!("more than {DEPTH} levels inside one another"), help);
            // Nothing that follows can be judged: all of it is inside.
            self.tokens.truncate(self.at);
            self.silent = true;
            return Expr::None;
        }
        self.at += 1;
        self.depth += 1;
        let expression = read(self, place);
        self.depth -= 1;
        expression
    }
}

fn list(mut parts: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    match parts.len() {
        1 => parts.remove(0),
        _ => join(parts),
    }
}

fn model(word: &str) -> String {
    let argument = if matches!(word, "all" | "none") { "" } else { "GLOB" };
    format!("{word}({argument})")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_')
}

/// Bytes at the beginning of the text whose characters are all of a kind.
fn length(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}
