//! A source file as the rules see it: its text, and its code with comments and literals blanked.
//! Files of the project come in; lines, functions and imported paths come out.
//! It must never follow a path out of the project, nor read what a build has made.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that are made, not written.
const MADE: [&str; 9] = [
    "target",
    ".git",
    "node_modules",
    "ackproof-out",
    ".venv",
    "__pycache__",
    "build",
    "dist",
    ".gradle",
];

/// One text file of the project.
pub struct Source {
    /// Path below the project, with `/`.
    pub path: String,
    pub text: String,
    /// Rust only: the text with comments and literals as blanks, line for line.
    pub code: String,
    /// `code` without the items under `#[cfg(test)]`.
    pub product: String,
}

impl Source {
    pub fn new(path: &str, text: &str) -> Self {
        let code = blank_comments_and_literals(text);
        let product = blank_tests(&code);
        Self { path: path.to_owned(), text: text.to_owned(), code, product }
    }

    /// `src/checks/effects.rs` is in module `checks`; what is no Rust below `src` is in none.
    pub fn module(&self) -> Option<&str> {
        if !self.path.ends_with(".rs") {
            return None;
        }
        let first = self.path.strip_prefix("src/")?.split('/').next()?;
        Some(first.strip_suffix(".rs").unwrap_or(first))
    }

    /// Where line `line` (from 1) is, for messages.
    pub fn at(&self, line: usize) -> String {
        format!("{}:{line}", self.path)
    }

    /// Paths that the product code names under `root` (`crate` or `std`), with their lines:
    /// `use crate::{a::b, c}` names `a::b` and `c`. `super` is resolved and listed under `crate`.
    pub fn paths(&self, root: &str) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for start in words(&self.product, root) {
            let line = line_of(&self.product, start);
            let rest = &self.product[start + root.len()..];
            found.extend(expand(rest).into_iter().map(|path| (line, path)));
        }
        if root == "crate" {
            found.extend(self.super_paths());
        }
        found
    }

    fn super_paths(&self) -> Vec<(usize, String)> {
        let inside = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        let mut here: Vec<&str> = inside.split('/').collect();
        if here.last() == Some(&"mod") {
            here.pop();
        }
        let mut found = Vec::new();
        for start in words(&self.product, "super") {
            let before = self.product[..start].trim_end();
            let scoped_visibility = before.ends_with('(');
            if scoped_visibility || before.ends_with("::") {
                continue;
            }
            let mut rest = &self.product[start..];
            let mut base = here.clone();
            while let Some(after) = rest.strip_prefix("super") {
                base.pop();
                rest = after;
                match rest.strip_prefix("::") {
                    Some(after) if after.starts_with("super") => rest = after,
                    _ => break,
                }
            }
            for tail in expand(rest) {
                let path: Vec<_> = base.iter().copied().chain(tail.split("::")).collect();
                found.push((line_of(&self.product, start), path.join("::")));
            }
        }
        found
    }

    /// Functions with a body.
    pub fn functions(&self) -> Vec<Function> {
        words(&self.code, "fn").into_iter().filter_map(|at| function(&self.code, at)).collect()
    }
}

pub struct Function {
    pub line: usize,
    pub signature: String,
    pub lines: usize,
}

/// Every text file of the project, in the order of their paths.
pub fn project() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(root, &mut paths);
    paths.sort();
    let read = |path: PathBuf| {
        let below = path.strip_prefix(root).ok()?.to_str()?.to_owned();
        Some(Source::new(&below, &fs::read_to_string(&path).ok()?))
    };
    paths.into_iter().filter_map(read).collect()
}

fn walk(dir: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type().unwrap();
        if kind.is_dir() && !MADE.contains(&name.as_str()) {
            walk(&entry.path(), paths);
        } else if kind.is_file() && name != ".git" {
            paths.push(entry.path());
        }
    }
}

/// Where `word` stands as a whole identifier.
pub fn words(text: &str, word: &str) -> Vec<usize> {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |&at: &usize| {
        !text[..at].chars().next_back().is_some_and(|c| part(c) || c == '$')
            && !text[at + word.len()..].chars().next().is_some_and(part)
    };
    text.match_indices(word).map(|(at, _)| at).filter(whole).collect()
}

pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// The paths behind `::`, as a use tree or an expression spells them.
fn expand(rest: &str) -> Vec<String> {
    let Some(rest) = rest.trim_start().strip_prefix("::") else { return Vec::new() };
    let rest = rest.trim_start();
    if let Some(group) = rest.strip_prefix('{') {
        return branches(group).into_iter().flat_map(|one| expand(&format!("::{one}"))).collect();
    }
    if rest.starts_with('*') {
        return vec![String::from("*")];
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let tails = expand(rest);
    match tails.is_empty() {
        true if name.is_empty() => Vec::new(),
        true => vec![name.to_owned()],
        false => tails.into_iter().map(|tail| format!("{name}::{tail}")).collect(),
    }
}

/// The parts of a use group up to its closing brace.
fn branches(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' if depth > 0 => {}
            ',' | '}' => {
                parts.push(group[start..at].trim());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts
}

fn function(code: &str, at: usize) -> Option<Function> {
    let mut depth = 0;
    let mut open = None;
    for (offset, c) in code[at..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ';' if depth == 0 => return None,
            '{' if depth == 0 => {
                open = Some(at + offset);
                break;
            }
            _ => {}
        }
    }
    let open = open?;
    let line = line_of(code, at);
    let signature = code[at..open].split_whitespace().collect::<Vec<_>>().join(" ");
    // A type like `fn(u32) -> u32` has no name behind its `fn`.
    signature.starts_with("fn ").then(|| Function {
        line,
        signature,
        lines: line_of(code, closing(code, open)) - line + 1,
    })
}

/// The brace that closes the one at `open`; the end of the text, if there is none.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0;
    for (offset, c) in code[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return open + offset;
        }
    }
    code.len()
}

fn blank_tests(code: &str) -> String {
    let mark = "#[cfg(test)]";
    let mut out = code.to_owned();
    while let Some(start) = out.find(mark) {
        let body = start + mark.len();
        let end = match out[body..].find(['{', ';']).map(|offset| body + offset) {
            Some(open) if out[open..].starts_with('{') => closing(&out, open),
            Some(semicolon) => semicolon,
            None => out.len() - 1,
        };
        let end = (end + 1).min(out.len());
        let blanks = blanked(&out[start..end]);
        out.replace_range(start..end, &blanks);
    }
    out
}

/// As many blanks as bytes, line breaks kept.
fn blanked(text: &str) -> String {
    text.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect()
}

fn blank_comments_and_literals(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let identifier = before.is_alphanumeric() || before == '_';
        let length = match identifier {
            true => None,
            false => blank_length(rest),
        };
        let length = length.or_else(|| quoted(rest, "\""));
        match length {
            Some(length) => out.push_str(&blanked(&rest[..length])),
            None => out.push(first),
        }
        before = first;
        rest = &rest[length.unwrap_or(first.len_utf8())..];
    }
    out
}

/// Length of the comment or literal that begins here.
fn blank_length(rest: &str) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment(rest));
    }
    let raw = rest.trim_start_matches(['b', 'c']);
    if let Some(raw) = raw.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        if raw[hashes..].starts_with('"') {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = rest.len() - raw.len() + hashes + 1;
            return Some(rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len()));
        }
    }
    character(rest)
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += 1;
        }
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// A character literal, not a lifetime.
fn character(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    if inside.starts_with('\\') {
        return quoted(rest, "'");
    }
    let c = inside.chars().next()?;
    inside[c.len_utf8()..].starts_with('\'').then_some(c.len_utf8() + 2)
}

fn quoted(rest: &str, quote: &str) -> Option<usize> {
    let body = rest.strip_prefix(quote)?;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        if !escaped && quote.starts_with(c) {
            return Some(at + 2);
        }
        escaped = !escaped && c == '\\';
    }
    Some(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(path: &str, text: &str, root: &str) -> Vec<String> {
        Source::new(path, text).paths(root).into_iter().map(|(_, path)| path).collect()
    }

    #[test]
    fn use_trees_and_expressions_are_expanded() {
        let text = "use crate::{a, b::{c, d::E as F}, g::*};\nfn x() { crate::h::i(1) }";
        let expected = ["a", "b::c", "b::d::E", "g::*", "h::i"];
        assert_eq!(paths("src/x.rs", text, "crate"), expected);
    }

    #[test]
    fn super_is_resolved_from_the_file() {
        let text = "use super::super::brokers::Broker;\nuse super::{Bound, x::Y};";
        let expected = ["brokers::Broker", "checks::Bound", "checks::x::Y"];
        assert_eq!(paths("src/checks/effects.rs", text, "crate"), expected);
        assert_eq!(paths("src/checks/mod.rs", "use super::plan::Plan;", "crate"), ["plan::Plan"]);
        assert_eq!(paths("src/checks/mod.rs", "pub(super) fn x() {}", "crate"), [""; 0]);
    }

    #[test]
    fn comments_literals_and_tests_are_no_code() {
        let text = "// crate::a\n/* /* crate::b */ */ let s = \"crate::c \\\" crate::d\";\n\
            let r = r#\"crate::e\"#; let c = '\"'; let l: &'a str = b\"crate::f\";\n\
            #[cfg(test)]\nmod tests { use crate::g; fn x() { { } } }\nuse crate::h;";
        assert_eq!(paths("src/x.rs", text, "crate"), ["h"]);
    }

    #[test]
    fn functions_are_measured_to_their_brace() {
        let text = "trait T { fn a(&self); }\nfn b(x: [u8; 4]) -> u8\nwhere T: X,\n{\n  '}';\n}\n\
            type F = fn(u32);";
        let functions = Source::new("src/x.rs", text).functions();
        let found: Vec<_> = functions.iter().map(|f| (f.line, f.lines)).collect();
        assert_eq!(found, [(2, 5)]);
    }
}
