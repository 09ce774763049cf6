//! One YAML text with the place of every key and value in it, found by route.
//! Text comes in; a tree of spans comes out, in which `Route`s lead to byte ranges.
//! It must never give values to anybody: the typed model does that, this knows only where they are.

mod around;

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

use super::compose::Composed;
use super::parse;
use super::problem::{Problem, Words};
use super::rule::Rule;

pub(super) use around::{Around, Entry};

/// Unprintable texts of one file that are shown.
const MOST_UNPRINTABLE: usize = 1_000;

/// A file's text and where everything stands in it.
#[derive(Debug, Clone)]
pub struct Source {
    /// As the user gave it: what problems show.
    pub display: String,
    /// Below the folder that was given, with `/`: what the suite hash covers.
    pub relative: String,
    pub text: String,
    /// What was parsed: the text itself, or what it stands for.
    composed: Composed,
    tree: Node,
}

#[derive(Debug, Clone)]
struct Node {
    /// Where it is defined, in the composed text.
    span: Range<usize>,
    /// Where an alias or a merge key brings it in.
    used: Option<usize>,
    shape: Shape,
}

#[derive(Debug, Clone)]
enum Shape {
    Map(Vec<(Spanned<String>, Node)>),
    List(Vec<Node>),
    Scalar(String),
}

/// The way to a node: keys and positions from the root of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Route(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Item(usize),
    /// The key itself, not what it holds; always last.
    Name(String),
}

impl Route {
    /// What the key holds.
    pub fn key(&self, key: &str) -> Self {
        self.with(Step::Key(key.to_owned()))
    }

    /// The n-th of a list, from 0.
    pub fn item(&self, index: usize) -> Self {
        self.with(Step::Item(index))
    }

    /// The key itself.
    pub fn name(&self, key: &str) -> Self {
        self.with(Step::Name(key.to_owned()))
    }

    fn with(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Self(steps)
    }
}

impl Source {
    /// Reads the text into a tree.
    ///
    /// # Errors
    /// A located problem when it is no YAML, has a key twice, or expands beyond the budget.
    pub fn new(display: String, relative: String, text: String) -> Result<Self, Problem> {
        let composed = Composed::plain(&display, &text);
        Self::of(composed, display, relative, text)
    }

    /// Reads what a text stands for into a tree.
    pub(super) fn of(
        composed: Composed,
        display: String,
        relative: String,
        text: String,
    ) -> Result<Self, Problem> {
        match serde_saphyr::from_str_with_options::<Node>(composed.text(), parse::options()) {
            Ok(tree) => Ok(Self { display, relative, text, composed, tree }),
            Err(error) => Err(parse::problem(&composed, &error)),
        }
    }

    /// What is parsed.
    pub(super) fn composed(&self) -> &Composed {
        &self.composed
    }

    /// The text with its fragments and variables filled in: what was parsed.
    pub fn filled(&self) -> &str {
        self.composed.text()
    }

    /// A problem at the end of a route.
    pub fn problem(&self, rule: Rule, route: &Route, message: impl Into<String>) -> Problem {
        self.said(rule, route, Words::new(message))
    }

    /// A problem at the end of a route, with what to do about it.
    pub fn problem_with_help(
        &self,
        rule: Rule,
        route: &Route,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Problem {
        self.said(rule, route, Words::new(message).help(help))
    }

    /// A problem at the end of a route, in whatever words.
    pub(crate) fn said(&self, rule: Rule, route: &Route, words: Words) -> Problem {
        let (range, used) = self.locate(route);
        self.composed.problem(rule, range, used, words)
    }

    /// File and line of the end of a route.
    pub(crate) fn place(&self, route: &Route) -> String {
        self.composed.line(self.locate(route).0.start)
    }

    /// A problem for each text, key or value, with a character that no reader would see.
    pub(crate) fn unprintable(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.tree.texts(&mut |text, place| {
            // A file with so many is no text, and nobody reads on.
            if problems.len() >= MOST_UNPRINTABLE {
                return;
            }
            if let Some(character) = text.chars().find(|c| is_unprintable(*c)) {
                let shown = character.escape_unicode();
                let words = Words::new(format!("the character {shown} cannot be printed"));
                let place = token(self.composed.text(), place);
                problems.push(self.composed.problem(Rule::Unprintable, place, None, words));
            }
        });
        problems
    }

    /// The scalar at the end of a route, as it is written.
    pub fn scalar(&self, route: &Route) -> Option<&str> {
        let mut node = &self.tree;
        for step in &route.0 {
            node = node.step(step)?.1;
        }
        match &node.shape {
            Shape::Scalar(text) => Some(text),
            Shape::Map(_) | Shape::List(_) => None,
        }
    }

    /// The token at the end of a route: a scalar itself, of anything larger its key, and of what is
    /// not there the nearest thing around it.
    fn locate(&self, route: &Route) -> (Range<usize>, Option<usize>) {
        let text = self.composed.text();
        let mut node = &self.tree;
        let mut nearest = (node.first_token(text), node.used);
        for step in &route.0 {
            let Some((key, next)) = node.step(step) else { return nearest };
            match (step, key, &next.shape) {
                (Step::Name(_), Some(key), _) => return (span(key.defined), used(key)),
                (_, _, Shape::Scalar(_)) => nearest = (token(text, next.span.clone()), next.used),
                (_, Some(key), _) => nearest = (span(key.defined), used(key)),
                (_, None, _) => nearest = (next.first_token(text), next.used),
            }
            node = next;
        }
        nearest
    }
}

/// A step of the way from the root of a document to a thing in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At<'a> {
    Key(&'a str),
    Item(usize),
    /// What stands there as a value; always last.
    Word(&'a str),
}

impl Source {
    /// Visits every key and every scalar with the way that leads to it (and ends with it), and with
    /// the bytes of the filled text from its beginning to the end of what stands behind it.
    pub fn visit<'a>(&'a self, visit: &mut impl FnMut(&[At<'a>], Range<usize>)) {
        self.tree.visit(&mut Vec::new(), visit);
    }
}

impl Node {
    /// Where the last thing in it ends: the span of a block ends at its beginning.
    fn end(&self) -> usize {
        let below = match &self.shape {
            Shape::Map(entries) => entries.iter().map(|(_, node)| node.end()).max(),
            Shape::List(items) => items.iter().map(Node::end).max(),
            Shape::Scalar(_) => None,
        };
        below.unwrap_or_default().max(self.span.end)
    }

    fn visit<'a>(&'a self, way: &mut Vec<At<'a>>, visit: &mut impl FnMut(&[At<'a>], Range<usize>)) {
        match &self.shape {
            Shape::Map(entries) => {
                for (key, node) in entries {
                    way.push(At::Key(&key.value));
                    let key = span(key.defined);
                    visit(way, key.start..node.end().max(key.end));
                    node.visit(way, visit);
                    way.pop();
                }
            }
            Shape::List(items) => {
                for (index, node) in items.iter().enumerate() {
                    way.push(At::Item(index));
                    node.visit(way, visit);
                    way.pop();
                }
            }
            Shape::Scalar(text) => {
                way.push(At::Word(text));
                visit(way, self.span.clone());
                way.pop();
            }
        }
    }
}

/// Control characters, and those that turn the direction of writing: they make a terminal or a
/// reviewer see something else than what is there.
pub(super) fn is_unprintable(c: char) -> bool {
    let is_layout = matches!(c, '\n' | '\t');
    let turns = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    turns || c.is_control() && !is_layout
}

impl Node {
    fn texts(&self, visit: &mut impl FnMut(&str, Range<usize>)) {
        match &self.shape {
            Shape::Map(entries) => {
                for (key, node) in entries {
                    visit(&key.value, span(key.defined));
                    node.texts(visit);
                }
            }
            Shape::List(items) => items.iter().for_each(|item| item.texts(visit)),
            Shape::Scalar(text) => visit(text, self.span.clone()),
        }
    }

    fn step(&self, step: &Step) -> Option<(Option<&Spanned<String>>, &Node)> {
        match (&self.shape, step) {
            (Shape::Map(entries), Step::Key(key) | Step::Name(key)) => {
                let (found, node) = entries.iter().find(|(name, _)| name.value == *key)?;
                Some((Some(found), node))
            }
            (Shape::List(items), Step::Item(index)) => Some((None, items.get(*index)?)),
            _ => None,
        }
    }

    fn first_token(&self, text: &str) -> Range<usize> {
        match &self.shape {
            Shape::Map(entries) => {
                entries.first().map_or(self.span.clone(), |(key, _)| span(key.defined))
            }
            Shape::List(items) => {
                items.first().map_or(self.span.clone(), |item| item.first_token(text))
            }
            Shape::Scalar(_) => token(text, self.span.clone()),
        }
    }
}

/// Bytes of a location; a text that is read from memory always has them.
pub(super) fn span(location: serde_saphyr::Location) -> Range<usize> {
    let bytes = |n: Option<u64>| n.and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
    let start = bytes(location.span().byte_offset());
    start..start + bytes(location.span().byte_len())
}

/// Where an alias or a merge key stands that brings this in.
fn used<T>(spanned: &Spanned<T>) -> Option<usize> {
    (spanned.referenced != spanned.defined).then(|| span(spanned.referenced).start)
}

/// The range without white space at its end; block texts otherwise reach into the next line.
fn token(text: &str, range: Range<usize>) -> Range<usize> {
    match text.get(range.clone()) {
        Some(part) => range.start..range.start + part.trim_end().len(),
        None => range,
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Shape>::deserialize(deserializer)?;
        let used = used(&spanned);
        Ok(Self { span: span(spanned.defined), used, shape: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping, a list or a scalar")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Shape, E> {
        Ok(Shape::Scalar(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Scalar(String::new()))
    }

    fn visit_none<E>(self) -> Result<Shape, E> {
        Ok(Shape::Scalar(String::new()))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        Shape::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Shape, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Shape::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Shape::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "kind: suite\nlist:\n  - id: ä-1\n    flow: {kill: {worker: \"c\", n: 7}}\n\
                        empty: []\n";

    fn at(route: &Route) -> &'static str {
        let source = Source::new("f".into(), "f".into(), TEXT.into()).unwrap();
        &TEXT[source.locate(route).0]
    }

    #[test]
    fn routes_lead_to_tokens() {
        let root = Route::default();
        let item = root.key("list").item(0);
        assert_eq!(at(&root.key("kind")), "suite");
        assert_eq!(at(&root.name("kind")), "kind");
        assert_eq!(at(&item.key("id")), "ä-1");
        assert_eq!(at(&item.key("flow").key("kill").key("worker")), "\"c\"");
        assert_eq!(at(&item.key("flow").key("kill").key("n")), "7");
        assert_eq!(at(&item.key("flow").key("kill")), "kill");
    }

    #[test]
    fn what_is_not_there_is_shown_at_what_is_around_it() {
        let root = Route::default();
        assert_eq!(at(&root.key("nothing").key("at all")), "kind");
        assert_eq!(at(&root.key("list").item(7)), "list");
        assert_eq!(at(&root.key("list").item(0)), "id");
    }

    #[test]
    fn a_key_that_stands_twice_is_a_located_problem() {
        let problem = Source::new("f".into(), "f".into(), "a: 1\na: 2\n".into()).unwrap_err();
        assert_eq!((problem.line, problem.column), (2, 1), "{problem}");
    }
}
