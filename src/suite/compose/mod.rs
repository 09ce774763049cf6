//! Suite files as they are parsed: matrices multiplied, variables filled in, fragments included.
//! A file's text comes in; one text comes out that the strict reader takes, with the way back.
//! It must never show a place in the composed text: people only know the files that they wrote.

mod include;
mod outline;
mod places;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use granit_parser::StructureStyle;

pub(super) use include::{Library, Place};
use outline::{Content, Node, Outline};
pub(super) use places::{Composed, Origin};
use variables::{Blank, Filled};

use super::problem::Problem;
use super::rule::Rule;

pub use include::FragmentsFile;

/// Bytes of a composed text at most.
const MAX_COMPOSED: usize = 4 * 1024 * 1024;

/// What one scenario of a plan holds, of the several that its file stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combination {
    /// Position of the scenario in its file.
    pub(super) of: usize,
    /// What the axes add to the id.
    pub(super) suffix: String,
    /// The axes in the order of the file, with their values.
    pub(super) axes: Vec<(String, String)>,
    /// Every variable and axis that the scenario uses, with its value.
    pub values: BTreeMap<String, String>,
}

impl Combination {
    /// `partitions: 1, type: shared`, for notes.
    pub(super) fn axes_text(&self) -> String {
        let axes = self.axes.iter().map(|(name, value)| format!("{name}: {value}"));
        axes.collect::<Vec<_>>().join(", ")
    }
}

/// A suite file, ready for the strict reader.
#[derive(Debug)]
pub(super) struct Suite {
    pub(super) composed: Composed,
    /// By position in the composed text; none where a scenario has no variables.
    pub(super) combinations: Vec<Option<Combination>>,
}

/// A text whose kind is known, before anything is filled in.
#[derive(Debug)]
pub(super) struct Draft {
    origin: Arc<Origin>,
    outline: Outline,
}

impl Draft {
    /// Nothing for what is no YAML, or more than a suite may hold: the strict reader says why.
    pub(super) fn new(display: &str, text: &str) -> Option<Self> {
        let outline = outline::outline(&outline::masked(text))?;
        let origin = Origin::new(display, text);
        Some(Self { origin: Arc::new(origin), outline })
    }

    /// What the file says that it is.
    pub(super) fn kind(&self) -> Option<&str> {
        self.outline.root.get("kind")?.scalar()
    }
}

/// A text as the strict reader shall see it when nothing could be filled in.
pub(super) fn unfilled(display: &str, text: &str) -> Composed {
    Composed::masked(display, text, outline::masked(text))
}

/// Where problems of one file go.
pub(super) struct Sink<'a> {
    origin: &'a Arc<Origin>,
    problems: &'a mut Vec<Problem>,
    /// Problems after which the file cannot be put together.
    refused: usize,
}

impl Sink<'_> {
    fn refuse(
        &mut self,
        rule: Rule,
        range: &Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.refused += 1;
        self.say(rule, range, message, help);
    }

    fn say(
        &mut self,
        rule: Rule,
        range: &Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.problems.push(self.origin.problem(rule, range, message, help));
    }
}

/// Puts a suite file together, or nothing if a problem stands in the way.
pub(super) fn suite(
    draft: &Draft,
    place: &Place,
    library: &mut Library,
    problems: &mut Vec<Problem>,
) -> Option<Suite> {
    let Draft { origin, outline } = draft;
    let included = include::included(draft, place, library, problems);
    let mut sink = Sink { origin, problems, refused: 0 };
    let of_file = variables::variables(&outline.root, &mut sink);
    let scenarios = outline.root.get("scenarios");
    let items = scenarios.and_then(Node::items).unwrap_or_default();
    let mut used = BTreeSet::new();
    let filled: Vec<Filled> = items
        .iter()
        .enumerate()
        .map(|(position, item)| variables::scenario(item, position, &of_file, &mut used, &mut sink))
        .collect();
    if sink.refused == 0 {
        variables::unused(&of_file, &used, "variable", &mut sink);
    }
    for (key, value) in outline.root.entries() {
        if !matches!(key.scalar(), Some("scenarios" | "vars")) {
            variables::refuse_all(value, &mut sink);
        }
    }
    let glues = copies(items, &filled, scenarios, &mut sink);
    aliases_into_copies(outline, items, &filled, &mut sink);
    if sink.refused > 0 {
        return None;
    }
    let mut writer = Writer { composed: Composed::new(), cursor: 0, sink };
    writer.include(draft, &included?);
    let mut combinations = Vec::new();
    for ((item, filled), glue) in items.iter().zip(filled).zip(glues) {
        writer.scenario(item, &filled, &glue);
        let is_filled = filled.combinations.iter().any(|c| !c.values.is_empty());
        combinations.extend(filled.combinations.into_iter().map(|c| is_filled.then_some(c)));
    }
    let Writer { mut composed, cursor, sink } = writer;
    composed.verbatim(origin, cursor..origin.text.len());
    (sink.refused == 0).then_some(Suite { composed, combinations })
}

/// What stands between the copies of each scenario: a line break, its indentation, a dash.
fn copies(
    items: &[Node],
    filled: &[Filled],
    scenarios: Option<&Node>,
    sink: &mut Sink<'_>,
) -> Vec<String> {
    let is_block =
        scenarios.is_some_and(|s| matches!(s.content, Content::List(StructureStyle::Block, _)));
    let glue = |(item, filled): (&Node, &Filled)| {
        let matrix = filled.matrix.as_ref()?;
        let before = &sink.origin.text[..item.range.start];
        let dash = before.trim_end().strip_suffix('-').map(str::len).filter(|_| is_block);
        let Some(dash) = dash else {
            let help = "write it as an item of a list of its own lines: `- id: …`".to_owned();
            let message = "a scenario with a matrix begins with its dash and its first key";
            sink.refuse(Rule::MisplacedMatrix, matrix, message, Some(help));
            return None;
        };
        let line = before[..dash].rfind('\n').map_or(0, |newline| newline + 1);
        let blank = before[line..dash].chars().count();
        Some(format!("\n{}{}", " ".repeat(blank), &before[dash..]))
    };
    items.iter().zip(filled).map(glue).map(Option::unwrap_or_default).collect()
}

/// A part of a scenario that becomes several cannot stand for one thing elsewhere.
fn aliases_into_copies(outline: &Outline, items: &[Node], filled: &[Filled], sink: &mut Sink<'_>) {
    for alias in &outline.aliases {
        let Some(anchor) = &alias.anchor else { continue };
        let inside = |item: &Node, place: &Range<usize>| {
            (item.range.start..item.range.end).contains(&place.start)
        };
        let mut all = items.iter().zip(filled).filter(|(_, filled)| filled.matrix.is_some());
        if all.any(|(item, _)| inside(item, anchor) && !inside(item, &alias.name.range)) {
            let message = format!("`{}` is a part of a scenario with a matrix", alias.name.text);
            let help = "it is another thing in every combination: put it into a fragment";
            sink.refuse(Rule::AliasIntoMatrix, &alias.name.range, message, Some(help.to_owned()));
        }
    }
}

/// Writes the composed text from the beginning of the file to its end.
struct Writer<'a> {
    composed: Composed,
    /// What of the file is written.
    cursor: usize,
    sink: Sink<'a>,
}

impl Writer<'_> {
    /// The file up to its includes, and these.
    fn include(&mut self, draft: &Draft, included: &include::Included) {
        let Some(gap) = include::gap(&draft.outline.root, &draft.origin.text) else { return };
        self.composed.verbatim(self.sink.origin, self.cursor..gap.start);
        included.write(&mut self.composed, draft);
        let include = draft.outline.root.entry("include");
        if let Some((key, _)) = include.filter(|_| self.composed.text().len() > MAX_COMPOSED) {
            let help = Some(format!("at most {MAX_COMPOSED} bytes"));
            self.sink.refuse(
                Rule::TooLarge,
                &key.range,
                "all included files together are too large",
                help,
            );
        }
        self.cursor = gap.end;
    }

    /// The file up to a scenario, and this in all of its combinations.
    fn scenario(&mut self, item: &Node, filled: &Filled, glue: &str) {
        let origin = self.sink.origin;
        let text = origin.text.get(item.range.clone()).unwrap_or_default();
        let end = item.range.start + text.trim_end().len();
        self.composed.verbatim(origin, self.cursor..item.range.start);
        for (index, combination) in filled.combinations.iter().enumerate() {
            if index > 0 {
                let place = filled.matrix.clone().unwrap_or_else(|| item.range.clone());
                self.composed.glue(origin, place, glue);
            }
            let mut cursor = item.range.start;
            for blank in &filled.blanks {
                self.composed.verbatim(origin, cursor..blank.range.start);
                self.blank(blank, combination);
                cursor = blank.range.end;
            }
            self.composed.verbatim(origin, cursor..end);
            if self.composed.text().len() > MAX_COMPOSED {
                let place = filled.matrix.clone().unwrap_or_else(|| item.range.clone());
                let message = "all combinations together are too large";
                self.sink.refuse(
                    Rule::TooLarge,
                    &place,
                    message,
                    Some(format!("at most {MAX_COMPOSED} bytes")),
                );
                break;
            }
        }
        self.cursor = end;
    }

    fn blank(&mut self, blank: &Blank, combination: &Combination) {
        let Some(text) = blank.filled(combination) else {
            blank.refuse(combination, &mut self.sink);
            return;
        };
        let said = match &blank.name {
            Some(name) => format!("`${{{name}}}` is `{text}` here"),
            None => "`$${` is `${` here".to_owned(),
        };
        self.composed.value(self.sink.origin, blank.range.clone(), &text, said);
    }
}
