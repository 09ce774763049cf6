//! Variables of suite files: what is declared, where each is used, what every combination holds.
//! Outlines come in; combinations of values and the places to fill come out, or located problems.
//! It must never let a value change the shape of a file: what could is refused where it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use granit_parser::ScalarStyle;

use super::outline::{Content, Node, is_name_char};
use super::places::Origin;
use super::{Combination, Sink};
use crate::suite::problem::suggest;
use crate::suite::rule::Rule;
use crate::suite::vocabulary::{ID_HELP, is_id};

/// Combinations of one scenario at most: each is a story with controls of its own.
const MAX_COMBINATIONS: usize = 64;
/// Characters of a value at most.
const MAX_VALUE: usize = 200;

/// A variable or an axis, with the values that it takes.
pub(super) struct Declared {
    name: String,
    place: Range<usize>,
    values: Vec<Value>,
}

struct Value {
    text: String,
    place: Range<usize>,
}

/// A place in a scenario that is filled in.
pub(super) struct Blank {
    pub(super) range: Range<usize>,
    /// The variable; none stands for a literal `${`.
    pub(super) name: Option<String>,
    style: ScalarStyle,
}

/// A scenario with what it comes to.
pub(super) struct Filled {
    pub(super) combinations: Vec<Combination>,
    pub(super) blanks: Vec<Blank>,
    /// The key that copies are due to, if there are any.
    pub(super) matrix: Option<Range<usize>>,
}

/// The variables below a key `vars`, of a file or of a scenario.
pub(super) fn variables(holder: &Node, sink: &mut Sink<'_>) -> Vec<Declared> {
    let mut declared = Vec::new();
    for (key, name, node) in named(holder, "vars", sink) {
        let Some(value) = value(node, sink) else { continue };
        declared.push(Declared { name, place: key.range.clone(), values: vec![value] });
    }
    declared
}

/// The axes below a key `matrix` of a scenario.
fn axes(scenario: &Node, sink: &mut Sink<'_>) -> Vec<Declared> {
    let mut declared = Vec::new();
    for (key, name, node) in named(scenario, "matrix", sink) {
        let Some(items) = node.items() else {
            let help = format!("write `{name}: [1, 3]`; for one value use `vars`");
            sink.refuse(Rule::BadAxis, &node.range, "an axis is a list of values", Some(help));
            continue;
        };
        if items.is_empty() {
            let help = "an axis without values leaves no scenario".to_owned();
            sink.refuse(
                Rule::BadAxis,
                &key.range,
                format!("the axis `{name}` is empty"),
                Some(help),
            );
        }
        let values: Vec<Value> = items.iter().filter_map(|item| value(item, sink)).collect();
        let mut slugs: BTreeMap<String, &str> = BTreeMap::new();
        for Value { text, place } in &values {
            let slug = slug(text);
            match slugs.get(&slug) {
                _ if slug.is_empty() => {
                    let message = format!("`{text}` has no letter or digit for an id");
                    sink.refuse(Rule::BadAxis, place, message, None);
                }
                Some(same) if same == text => {
                    sink.refuse(
                        Rule::DuplicateItem,
                        place,
                        format!("the value `{text}` stands twice"),
                        None,
                    );
                }
                Some(other) => {
                    let message = format!("`{text}` and `{other}` would give the same id");
                    sink.refuse(Rule::DuplicateName, place, message, None);
                }
                None => {}
            }
            slugs.entry(slug).or_insert(text);
        }
        declared.push(Declared { name, place: key.range.clone(), values });
    }
    declared
}

/// The entries of a mapping of names; what is none is refused.
fn named<'n>(
    holder: &'n Node,
    word: &str,
    sink: &mut Sink<'_>,
) -> Vec<(&'n Node, String, &'n Node)> {
    let Some((key, node)) = holder.entry(word) else { return Vec::new() };
    if node.entries().is_empty() {
        let help = format!("`{word}: {{name: …}}`");
        sink.refuse(Rule::EmptyVars, &key.range, format!("`{word}` names nothing"), Some(help));
    }
    let mut found = Vec::new();
    for (key, node) in node.entries() {
        let name = key.scalar().unwrap_or_default();
        if is_variable(name) {
            found.push((key, name.to_owned(), node));
        } else {
            let help = "letters, digits, dashes, underscores; the first one is a small letter";
            sink.refuse(
                Rule::BadVariable,
                &key.range,
                format!("`{name}` names no variable"),
                Some(help.into()),
            );
        }
    }
    found
}

fn is_variable(name: &str) -> bool {
    is_id(&name.replace('_', "-"))
}

/// A scalar as it is written: `4.10` is not 4.1.
fn value(node: &Node, sink: &mut Sink<'_>) -> Option<Value> {
    let text = match &node.content {
        Content::Scalar(_, ScalarStyle::Plain) => sink.origin.text.get(node.range.clone())?,
        Content::Scalar(text, _) => text,
        _ => {
            sink.refuse(
                Rule::BadValue,
                &node.range,
                "a value is one text or number, written out",
                None,
            );
            return None;
        }
    };
    let why = if text.contains(char::is_control) {
        "a value is on one line"
    } else if text.is_empty() || matches!(text, "~" | "null") {
        "a variable without a value"
    } else if text.trim() != text {
        "a value neither begins nor ends with a blank"
    } else if text.chars().count() > MAX_VALUE {
        "too long for a value: at most 200 characters"
    } else if text.contains("${") {
        "the value of a variable is written out"
    } else {
        return Some(Value { text: text.to_owned(), place: node.range.clone() });
    };
    sink.refuse(Rule::BadValue, &node.range, why, None);
    None
}

/// What a scenario comes to with the variables of its file; adds the names that it uses to `used`.
pub(super) fn scenario<'d>(
    node: &Node,
    position: usize,
    of_file: &'d [Declared],
    used: &mut BTreeSet<&'d str>,
    sink: &mut Sink<'_>,
) -> Filled {
    let refused = sink.refused;
    let (own, axes) = (variables(node, sink), axes(node, sink));
    shadowed(&own, &axes, sink);
    let mut blanks = Vec::new();
    for (key, value) in node.entries() {
        refuse_in_key(key, sink);
        if !matches!(key.scalar(), Some("vars" | "matrix")) {
            collect(value, &mut blanks, sink);
        }
    }
    blanks.sort_by_key(|blank| blank.range.start);
    let shadows = |name: &str| own.iter().chain(&axes).any(|declared| declared.name == name);
    let outer: Vec<&Declared> = of_file.iter().filter(|d| !shadows(&d.name)).collect();
    let known = || own.iter().chain(&axes).chain(outer.iter().copied());
    for blank in &blanks {
        let Some(name) = &blank.name else { continue };
        if !known().any(|declared| declared.name == *name) {
            let help = suggest(name, known().map(|declared| declared.name.as_str()));
            let help = help.or(Some("declare it under `vars`, or write `$${`".to_owned()));
            sink.refuse(
                Rule::UnknownVariable,
                &blank.range,
                format!("there is no variable `{name}`"),
                help,
            );
        }
    }
    let names: BTreeSet<&str> = blanks.iter().filter_map(|b| b.name.as_deref()).collect();
    used.extend(outer.iter().map(|d| d.name.as_str()).filter(|name| names.contains(name)));
    // A name that was refused may have been meant for one that seems to be unused.
    if sink.refused == refused {
        unused(&own, &names, "variable", sink);
        unused(&axes, &names, "axis", sink);
    }
    let fixed = own.iter().chain(outer.into_iter().filter(|d| names.contains(d.name.as_str())));
    let fixed = fixed.flat_map(|d| d.values.first().map(|v| (d.name.clone(), v.text.clone())));
    let matrix = node.entry("matrix").map(|(key, _)| key.range.clone());
    let combinations = match combined(&axes) {
        Some(all) => all,
        None => {
            let place = matrix.clone().unwrap_or_else(|| node.range.clone());
            let message = format!("more than {MAX_COMBINATIONS} combinations");
            sink.refuse(
                Rule::TooManyCombinations,
                &place,
                message,
                Some("split the scenario".to_owned()),
            );
            Vec::new()
        }
    };
    let fixed: BTreeMap<String, String> = fixed.collect();
    let combinations: Vec<Combination> =
        combinations.into_iter().map(|axes| combination(position, axes, &fixed)).collect();
    long_ids(node, &combinations, sink);
    Filled { combinations, blanks, matrix }
}

/// Says which names are a variable and an axis.
fn shadowed(own: &[Declared], axes: &[Declared], sink: &mut Sink<'_>) {
    for axis in axes.iter().filter(|axis| own.iter().any(|v| v.name == axis.name)) {
        let message = format!("`{}` is a variable here too", axis.name);
        let help = "give one of them another name".to_owned();
        sink.refuse(Rule::ShadowedVariable, &axis.place, message, Some(help));
    }
}

/// Says which names nobody uses: a changed value would change nothing.
pub(super) fn unused(
    declared: &[Declared],
    used: &BTreeSet<&str>,
    what: &str,
    sink: &mut Sink<'_>,
) {
    for Declared { name, place, .. } in declared {
        if !used.contains(name.as_str()) {
            let help = format!("write `${{{name}}}` where it belongs, or take it away");
            sink.say(
                Rule::UnusedVariable,
                place,
                format!("the {what} `{name}` is used nowhere"),
                Some(help),
            );
        }
    }
}

/// Every way to take one value of each axis, the last axis the fastest.
fn combined(axes: &[Declared]) -> Option<Vec<Vec<(String, String)>>> {
    let count = axes.iter().try_fold(1_usize, |n, axis| n.checked_mul(axis.values.len()))?;
    if count > MAX_COMBINATIONS {
        return None;
    }
    let mut all = vec![Vec::new()];
    for axis in axes {
        let longer = |taken: &Vec<(String, String)>| {
            let taken = taken.clone();
            axis.values.iter().map(move |value| {
                let mut taken = taken.clone();
                taken.push((axis.name.clone(), value.text.clone()));
                taken
            })
        };
        all = all.iter().flat_map(longer).collect();
    }
    Some(all)
}

fn combination(
    of: usize,
    axes: Vec<(String, String)>,
    fixed: &BTreeMap<String, String>,
) -> Combination {
    let part = |(name, value): &(String, String)| format!("-{}-{}", slug(name), slug(value));
    let suffix = axes.iter().map(part).collect();
    let mut values = fixed.clone();
    values.extend(axes.iter().cloned());
    Combination { of, suffix, axes, values }
}

/// A text as a part of an id.
fn slug(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let dashed: String = text.chars().map(plain).collect();
    dashed.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// One problem for all combinations whose ids are too long.
fn long_ids(node: &Node, combinations: &[Combination], sink: &mut Sink<'_>) {
    let Some(id) = node.get("id") else { return };
    let Some(text) = id.scalar().filter(|text| is_id(text)) else { return };
    let longest = combinations.iter().max_by_key(|combination| combination.suffix.len());
    let Some(whole) = longest.map(|c| format!("{text}{}", c.suffix)) else { return };
    if !is_id(&whole) {
        let message = format!("with its values this is `{whole}`: too long for a name");
        sink.refuse(Rule::BadName, &id.range, message, Some(ID_HELP.to_owned()));
    }
}

fn refuse_in_key(key: &Node, sink: &mut Sink<'_>) {
    if sink.origin.text.get(key.range.clone()).is_some_and(|text| text.contains("${")) {
        sink.refuse(Rule::MisplacedVariable, &key.range, "a variable cannot stand in a key", None);
    }
}

/// Every `${` in the values of a node.
fn collect(node: &Node, blanks: &mut Vec<Blank>, sink: &mut Sink<'_>) {
    match &node.content {
        Content::Map(_, entries) => {
            for (key, value) in entries {
                refuse_in_key(key, sink);
                collect(value, blanks, sink);
            }
        }
        Content::List(_, items) => items.iter().for_each(|item| collect(item, blanks, sink)),
        Content::Scalar(_, style) => scan(node, *style, blanks, sink),
        Content::Alias => {}
    }
}

/// Outside of scenarios nothing is filled in.
pub(super) fn refuse_all(node: &Node, sink: &mut Sink<'_>) {
    let mut blanks = Vec::new();
    collect(node, &mut blanks, sink);
    for blank in blanks {
        let help = "write the value out, or put this key into the scenario".to_owned();
        let message = "variables are filled in inside of scenarios only";
        sink.refuse(Rule::MisplacedVariable, &blank.range, message, Some(help));
    }
}

fn scan(node: &Node, style: ScalarStyle, blanks: &mut Vec<Blank>, sink: &mut Sink<'_>) {
    let origin: Arc<Origin> = Arc::clone(sink.origin);
    let Some(text) = origin.text.get(node.range.clone()) else { return };
    let mut at = 0;
    while let Some(found) = text[at..].find('$').map(|found| at + found) {
        let rest = &text[found..];
        let begin = node.range.start + found;
        if rest.starts_with("$${") {
            blanks.push(Blank { range: begin..begin + 3, name: None, style });
            at = found + 3;
        } else if let Some(inside) = rest.strip_prefix("${") {
            let length = inside.find(|c: char| !is_name_char(c)).unwrap_or(inside.len());
            let (name, end) = (&inside[..length], begin + 2 + length);
            if inside[length..].starts_with('}') && is_variable(name) {
                let name = Some(name.to_owned());
                blanks.push(Blank { range: begin..end + 1, name, style });
            } else {
                let help = "a variable is `${name}`; for the characters themselves write `$${`";
                let line = inside.split(['\n', ',', '{']).next().unwrap_or_default();
                let end = line.find('}').map_or(end, |close| begin + 3 + close);
                sink.refuse(
                    Rule::BadVariable,
                    &(begin..end),
                    "this is no variable",
                    Some(help.to_owned()),
                );
            }
            at = found + 2 + length;
        } else {
            at = found + 1;
        }
    }
}

impl Blank {
    /// What stands here in a combination.
    pub(super) fn filled(&self, combination: &Combination) -> Option<String> {
        let value = match &self.name {
            Some(name) => combination.values.get(name)?,
            None => "${",
        };
        match self.style {
            ScalarStyle::Plain => is_plain(value).then(|| value.to_owned()),
            ScalarStyle::SingleQuoted => Some(value.replace('\'', "''")),
            ScalarStyle::DoubleQuoted => Some(value.replace('\\', "\\\\").replace('"', "\\\"")),
            ScalarStyle::Literal | ScalarStyle::Folded => Some(value.to_owned()),
        }
    }

    /// Why nothing can be filled in here.
    pub(super) fn refuse(&self, combination: &Combination, sink: &mut Sink<'_>) {
        let value = self.name.as_ref().and_then(|name| combination.values.get(name));
        let value = value.map_or("${", String::as_str);
        let help = "put the whole text around it into double quotes".to_owned();
        let message = format!("`{value}` would not be a text or number here without quotes");
        sink.refuse(Rule::UnquotedValue, &self.range, message, Some(help));
    }
}

/// Whether a value is the same text in every place without quotes, alone or inside of another.
fn is_plain(value: &str) -> bool {
    let inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | ' ');
    let begins = value.strip_prefix(['-', '+', '.', '/']).unwrap_or(value);
    begins.starts_with(char::is_alphanumeric) && value.chars().all(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_ids_are_letters_digits_and_single_dashes() {
        for (text, expected) in
            [("key_shared", "key-shared"), ("4.10", "4-10"), ("-5", "5"), ("Ä b", "b"), ("+", "")]
        {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn what_could_change_the_shape_of_a_file_is_not_plain() {
        for plain in ["1", "-1", "1.5", "key_shared", "a b", "a/b", "ä"] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in ["", "- a", "a: b", "a #b", "1, 2", "[1", "&a", "*a", "a:", "'a", "-", "|"] {
            assert!(!is_plain(other), "{other}");
        }
    }
}
