//! Every word of the language with its meaning and its places, read from the schemas.
//! A schema comes in; words (keys and values) with meaning, type, default and places come out.
//! It must never have a text of its own: whoever misses one writes it at the type.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::source::At;
use crate::checks::AlwaysOn;

/// A word in one meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub word: String,
    pub group: &'static str,
    pub meaning: String,
    /// What stands behind the word, if it is a key.
    pub holds: Option<Holds>,
    /// Where it may stand, in all kinds of files.
    pub places: Vec<Place>,
}

/// What stands behind a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holds {
    /// In words: `whole number, 1 to 64`.
    pub kind: String,
    /// As YAML, where the key may be left out.
    pub default: Option<String>,
    /// Whether the key may be left out.
    pub presence: Presence,
}

/// Whether a key has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    Required,
    Optional,
    /// One of several keys, exactly one of which has to be there.
    OneOf,
}

/// Where a word may stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Kind of the file, or name of the document.
    pub file: String,
    pub steps: Vec<Step>,
}

/// A step of the way to a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    /// A key that the author chooses.
    Name,
    Item,
    /// The word itself, as a value.
    Word(String),
}

impl Place {
    /// Whether the way in a document leads to this place.
    pub fn is(&self, way: &[At]) -> bool {
        self.steps.len() == way.len()
            && self.steps.iter().zip(way).all(|steps| match steps {
                (Step::Key(wanted), At::Key(key)) => wanted == key,
                (Step::Word(wanted), At::Word(word)) => wanted == word,
                (Step::Name, At::Key(_)) | (Step::Item, At::Item(_)) => true,
                _ => false,
            })
    }

    /// `scenarios[].workers.NAME.role: consumer`.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            let dot = if text.is_empty() { "" } else { "." };
            match step {
                Step::Key(key) => text.push_str(&format!("{dot}{key}")),
                Step::Name => text.push_str(&format!("{dot}NAME")),
                Step::Item => text.push_str("[]"),
                Step::Word(word) => text.push_str(&format!(": {word}")),
            }
        }
        text
    }
}

/// Groups of words by the type that lists them; the words of other types are in `OTHER_WORDS`.
const GROUPS: &[(&str, &str)] = &[
    ("CheckSpec", "checks"),
    ("CheckName", "checks"),
    ("RuleName", "checks"),
    ("AlwaysOn", ALWAYS_ON),
    ("FaultSpec", "faults"),
    ("Point", "points"),
    ("EventSet", "event sets"),
    ("Selection", "events that a rule of a handler concerns"),
    ("Until", "ends of a phase"),
    ("Behaviour", "behaviours of a handler"),
    ("PatternName", "patterns"),
    ("CapabilityName", "capabilities"),
    ("Outcome", "outcomes"),
    ("Cause", "causes"),
    ("Carried", "what a letter carries"),
    ("Grade", "grades"),
    ("FindingResult", "answers of a check"),
    ("Role", "roles"),
    ("BrokerKind", "brokers"),
    ("SubscriptionType", "subscription types"),
    ("Level", "levels"),
    ("Defect", "defects"),
    ("Operation", "calls of a worker"),
    ("CallOutcome", "ends of a call"),
    ("ClauseId", "clauses"),
    ("Term", "words of README and reports"),
];
const ALWAYS_ON: &str = "rules that always apply";
/// Keys of files.
pub const KEYS: &str = "keys";
const OTHER_WORDS: &str = "other words";

/// The words of several schemas, in the order in which they are met.
#[derive(Debug, Default)]
pub struct Words(Vec<Word>);

impl Words {
    /// Adds the words of a schema; `file` says what has it.
    pub fn add(&mut self, file: &str, schema: &Value) {
        let walk = Walk { file, root: schema };
        walk.node(schema, &mut Vec::new(), &mut self.0);
    }

    /// All of them.
    pub fn all(&self) -> &[Word] {
        &self.0
    }

    /// The words, one of which stands behind a key, in the order of the language.
    pub fn behind(&self, key: &Word) -> Vec<&Word> {
        let is_behind = |held: &Place, own: &Place| {
            let rest = held.steps.strip_prefix(own.steps.as_slice());
            let rest = rest.map(|rest| rest.strip_prefix(&[Step::Item]).unwrap_or(rest));
            held.file == own.file && matches!(rest, Some([Step::Word(_)]))
        };
        let is_one = |word: &&Word| {
            key.places.iter().any(|own| word.places.iter().any(|held| is_behind(held, own)))
        };
        self.0.iter().filter(is_one).collect()
    }

    /// All meanings of a word; dashes, underscores and letter case do not matter unless both
    /// spellings are words.
    pub fn meanings(&self, word: &str) -> Vec<&Word> {
        let exact: Vec<&Word> = self.0.iter().filter(|known| known.word == word).collect();
        if !exact.is_empty() {
            return exact;
        }
        self.0.iter().filter(|known| plain(&known.word) == plain(word)).collect()
    }

    /// Known words that are like an unknown one, the nearest first, three at most.
    pub fn near(&self, word: &str) -> Vec<&str> {
        let word = plain(word);
        let mut near: BTreeMap<(usize, &str), ()> = BTreeMap::new();
        for known in &self.0 {
            let other = plain(&known.word);
            let distance = strsim::damerau_levenshtein(&word, &other);
            let is_part = word.len() > 2 && other.contains(&word);
            if is_part || distance * 3 <= other.chars().count().max(3) {
                near.insert((distance, &known.word), ());
            }
        }
        near.into_keys().map(|(_, word)| word).take(3).collect()
    }

    /// Groups with their words, each word once, in the order in which they are met.
    pub fn groups(&self) -> Vec<(&'static str, Vec<&Word>)> {
        let listed = GROUPS.iter().map(|(_, group)| *group);
        let mut groups: Vec<(&'static str, Vec<&Word>)> = Vec::new();
        for group in [KEYS].into_iter().chain(listed).chain([OTHER_WORDS]) {
            if groups.iter().any(|(known, _)| *known == group) {
                continue;
            }
            let mut words: Vec<&Word> = Vec::new();
            for word in self.0.iter().filter(|word| word.group == group) {
                if !words.iter().any(|known| known.word == word.word) {
                    words.push(word);
                }
            }
            groups.push((group, words));
        }
        groups
    }
}

fn plain(word: &str) -> String {
    word.to_lowercase().replace('_', "-")
}

/// One schema under way.
struct Walk<'a> {
    file: &'a str,
    root: &'a Value,
}

impl Walk<'_> {
    /// The definition behind a reference, with its name.
    fn resolved<'b>(&'b self, node: &'b Value) -> (Option<&'b str>, &'b Value) {
        let name = node["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
        match name {
            Some(name) => (Some(name), &self.root["$defs"][name]),
            None => (None, node),
        }
    }

    fn node(&self, node: &Value, way: &mut Vec<Step>, words: &mut Vec<Word>) {
        let (name, node) = self.resolved(node);
        let listed = GROUPS.iter().find(|(of, _)| Some(*of) == name).map(|(_, group)| *group);
        for variant in node["oneOf"].as_array().into_iter().flatten() {
            if let Some(word) = variant["const"].as_str() {
                let meaning = text(&variant["description"]);
                let group = listed.unwrap_or(OTHER_WORDS);
                let group = match group {
                    // Some lists have both.
                    "checks" if is_always_on(word) => ALWAYS_ON,
                    group => group,
                };
                self.met(Step::Word(word.to_owned()), group, meaning, None, way, words);
            } else {
                let group = listed.unwrap_or(KEYS);
                self.keys(variant, (group, Presence::OneOf), way, words);
            }
        }
        for word in node["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            // Without a text: whoever walks the words will see it.
            let step = Step::Word(word.to_owned());
            self.met(step, listed.unwrap_or(OTHER_WORDS), String::new(), None, way, words);
        }
        self.keys(node, (KEYS, Presence::Optional), way, words);
        let patterns = node["patternProperties"].as_object().into_iter().flat_map(Map::values);
        for named in patterns.chain([&node["additionalProperties"]]).filter(|v| v.is_object()) {
            way.push(Step::Name);
            self.node(named, way, words);
            way.pop();
        }
        if node["items"].is_object() {
            way.push(Step::Item);
            self.node(&node["items"], way, words);
            way.pop();
        }
    }

    fn keys(
        &self,
        node: &Value,
        (group, presence): (&'static str, Presence),
        way: &mut Vec<Step>,
        words: &mut Vec<Word>,
    ) {
        for (key, value) in node["properties"].as_object().into_iter().flatten() {
            let is_required = has(&node["required"], key);
            let holds = Holds {
                kind: self.kind(value),
                default: value.get("default").map(as_yaml),
                presence: match presence {
                    Presence::Optional if is_required => Presence::Required,
                    other => other,
                },
            };
            let (_, behind) = self.resolved(value);
            let own = value.get("description").unwrap_or(&behind["description"]);
            self.met(Step::Key(key.clone()), group, text(own), Some(holds), way, words);
            way.push(Step::Key(key.clone()));
            self.node(value, way, words);
            way.pop();
        }
    }

    /// Adds a word, or a place to the same word in the same meaning.
    fn met(
        &self,
        step: Step,
        group: &'static str,
        meaning: String,
        holds: Option<Holds>,
        way: &[Step],
        words: &mut Vec<Word>,
    ) {
        let (Step::Key(word) | Step::Word(word)) = &step else { return };
        let word = word.clone();
        let steps = way.iter().cloned().chain([step]).collect();
        let place = Place { file: self.file.to_owned(), steps };
        // A check is a key where it is asked for, and a mere word where a control names it.
        let is_same = |known: &&mut Word| {
            (known.group, &known.word, &known.meaning) == (group, &word, &meaning)
                && (known.holds == holds || known.holds.is_none() || holds.is_none())
        };
        match words.iter_mut().find(is_same) {
            Some(known) => {
                known.holds = known.holds.take().or(holds);
                known.places.push(place);
            }
            None => words.push(Word { word, group, meaning, holds, places: vec![place] }),
        }
    }

    /// What a schema takes, in words.
    fn kind(&self, node: &Value) -> String {
        let (_, node) = self.resolved(node);
        if let Some(variants) = node["oneOf"].as_array() {
            return one_of(variants.iter().filter_map(word_of).collect());
        }
        if let Some(title) = node["title"].as_str() {
            return title.to_owned();
        }
        let types = match &node["type"] {
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect::<Vec<_>>(),
        };
        match types.as_slice() {
            ["integer"] => format!("whole number{}", range(node)),
            ["boolean"] => "`true` or `false`".to_owned(),
            ["array"] => format!("list of: {}", self.kind(&node["items"])),
            ["object"] => self.mapping(node),
            ["string"] if node["pattern"] == crate::names::ID_PATTERN => {
                "name: lower-case letters, digits, dashes".to_owned()
            }
            _ => "text".to_owned(),
        }
    }

    fn mapping(&self, node: &Value) -> String {
        if let Some(properties) = node["properties"].as_object() {
            let mark = |key: &String| match has(&node["required"], key) {
                true => key.clone(),
                false => format!("[{key}]"),
            };
            let keys: Vec<String> = properties.keys().map(mark).collect();
            return format!("mapping with {}", keys.join(", "));
        }
        let patterns = node["patternProperties"].as_object().into_iter().flat_map(Map::values);
        let mut named = patterns.chain([&node["additionalProperties"]]).filter(|v| v.is_object());
        match named.next() {
            Some(value) => format!("mapping of names to: {}", self.kind(value)),
            None => "mapping without keys: `{}`".to_owned(),
        }
    }
}

fn is_always_on(word: &str) -> bool {
    AlwaysOn::ALL.iter().any(|rule| rule.name() == word)
}

/// The word of a variant: a constant, or its only key.
fn word_of(variant: &Value) -> Option<String> {
    let constant = variant["const"].as_str().map(str::to_owned);
    let key = || variant["properties"].as_object()?.keys().next().map(|key| format!("{key}: …"));
    constant.or_else(key)
}

/// Longer lists are cut: `ackproof explain` has them.
const MOST_LISTED: usize = 12;

fn one_of(mut words: Vec<String>) -> String {
    let left_out = words.len().saturating_sub(MOST_LISTED);
    words.truncate(MOST_LISTED);
    let more = if left_out > 0 { format!(", and {left_out} more") } else { String::new() };
    match words.as_slice() {
        [only] => format!("`{only}`"),
        _ => format!("one of: {}{more}", words.join(", ")),
    }
}

fn range(node: &Value) -> String {
    match (node["minimum"].as_u64().filter(|n| *n > 0), node["maximum"].as_u64()) {
        (Some(least), Some(most)) => format!(", {least} to {most}"),
        (Some(least), None) => format!(", {least} or more"),
        (None, Some(most)) => format!(", 0 to {most}"),
        (None, None) => String::new(),
    }
}

fn has(list: &Value, word: &str) -> bool {
    list.as_array().is_some_and(|list| list.iter().any(|one| one == word))
}

fn as_yaml(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
