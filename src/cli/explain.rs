//! `ackproof explain`: what a word means, where it may stand, an example, and who uses it.
//! A word comes in; text for people comes out, or the known words that are most like it.
//! It must never have a meaning of its own: all of them come from the types through the schemas.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use super::report_words::{ProtocolWords, ReportWords, Texts};
use crate::suite::rule::Rule;
use crate::suite::schema::{FileKind, filled, schema_of};
use crate::suite::source::{At, Source};
use crate::suite::words::{Holds, Place, Presence, Word, Words};
use crate::suite::{self, Loaded, Problem, problem};

/// Used where the suites at hand have no example.
const EXAMPLES: [(&str, &str); 7] = [
    ("suite", include_str!("../../fixtures/suites/valid/every-word.yaml")),
    ("suite", include_str!("../../fixtures/suites/valid/by-version.yaml")),
    ("pins", include_str!("../../suites/pins.yaml")),
    ("profile", include_str!("../../suites/profiles/quick.yaml")),
    ("deviations", include_str!("../../fixtures/suites/valid/deviations.yaml")),
    ("fragments", include_str!("../../suites/fragments/billing.yaml")),
    ("worker", include_str!("../../fixtures/suites/valid/worker.yaml")),
];
/// Lines of an example at most.
const MOST_LINES: usize = 8;
/// Columns of a list at most.
const COLUMNS: usize = 96;

/// Everything that can be explained.
pub fn vocabulary() -> Words {
    let mut words = Words::default();
    for kind in FileKind::ALL {
        words.add(kind.name(), &filled(kind));
    }
    words.add("report.json", &schema_of::<ReportWords>());
    words.add("worker protocol", &schema_of::<ProtocolWords>());
    words.add("texts", &schema_of::<Texts>());
    words
}

/// All words in their groups.
pub fn list() -> String {
    let mut text = String::from("`ackproof explain WORD` says what a word means.\n");
    for (group, words) in vocabulary().groups() {
        let names: Vec<&str> = words.iter().map(|word| word.word.as_str()).collect();
        let _ = writeln!(text, "\n{group} ({})", names.len());
        text.push_str(&wrapped(&names));
    }
    text
}

/// Everything that is known about the words: their meanings, and suites to look them up in.
#[derive(Debug)]
pub struct Explanations {
    words: Words,
    library: Library,
}

impl Explanations {
    /// Examples and uses come from the suites in the folder, if there is one.
    pub fn open(suites: &Path) -> Self {
        Self { words: vocabulary(), library: Library::open(suites) }
    }

    /// A word in all of its meanings.
    ///
    /// # Errors
    /// A problem that names the nearest known words.
    pub fn of(&self, word: &str) -> Result<String, Problem> {
        let meanings = self.words.meanings(word);
        if meanings.is_empty() {
            return Err(self.unknown(word));
        }
        let texts: Vec<String> = meanings.iter().map(|word| self.one(word)).collect();
        Ok(texts.join("\n"))
    }

    fn one(&self, word: &Word) -> String {
        let mut text = format!("{}  ({})\n", word.word, word.group);
        let _ = writeln!(text, "  {}", word.meaning);
        if let Some(holds) = &word.holds {
            let _ = writeln!(text, "  holds: {}", holds.kind);
            let _ = writeln!(text, "  {}", presence(holds));
            text.push_str(&each(&self.words.behind(word)));
        }
        text.push_str("  stands at:\n");
        for place in &word.places {
            let _ = writeln!(text, "    {}: {}", place.file, place.text());
        }
        let uses = self.library.uses(&word.places);
        if let Some(example) = &uses.example {
            let _ = writeln!(text, "  example ({}):", example.place);
            for line in &example.lines {
                let _ = writeln!(text, "    {line}");
            }
        }
        if !uses.scenarios.is_empty() {
            text.push_str("  used by:\n");
            let names: Vec<&str> = uses.scenarios.iter().map(String::as_str).collect();
            text.push_str(&wrapped(&names));
        }
        text
    }

    fn unknown(&self, word: &str) -> Problem {
        let near = self.words.near(word);
        let near: Vec<String> = near.iter().map(|near| format!("`{near}`")).collect();
        let help = match near.is_empty() {
            true => "`ackproof explain` lists all words".to_owned(),
            false => format!("did you mean {}?", near.join(" or ")),
        };
        let words = problem::Words::new(format!("there is no word `{word}`")).help(help);
        Problem::of_request(Rule::UnknownWord, words)
    }
}

/// The words that may stand behind a key, each with its meaning on the same line.
fn each(words: &[&Word]) -> String {
    let width = words.iter().map(|word| word.word.chars().count()).max().unwrap_or_default();
    let line = |word: &&Word| format!("    {:<width$}  {}\n", word.word, word.meaning);
    let lines: String = words.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("  its words:\n{lines}") }
}

fn presence(holds: &Holds) -> String {
    match (holds.presence, holds.default.as_deref()) {
        (Presence::Required, _) => "has to be there".to_owned(),
        (Presence::OneOf, _) => "one of several words, exactly one of which stands here".to_owned(),
        (Presence::Optional, Some(value)) => format!("may be left out: then it is `{value}`"),
        (Presence::Optional, None) => "may be left out".to_owned(),
    }
}

/// Words in lines, with commas between them.
fn wrapped(words: &[&str]) -> String {
    let mut text = String::new();
    let mut line = String::new();
    for (index, word) in words.iter().enumerate() {
        let comma = if index + 1 < words.len() { "," } else { "" };
        if line.chars().count() + word.chars().count() > COLUMNS {
            let _ = writeln!(text, "   {line}");
            line.clear();
        }
        let _ = write!(line, " {word}{comma}");
    }
    let _ = writeln!(text, "   {line}");
    text
}

/// Suites in which words are looked up.
#[derive(Debug)]
struct Library {
    loaded: Loaded,
    builtin: Vec<(&'static str, Source)>,
}

/// Where a word is used.
#[derive(Default)]
struct Uses {
    example: Option<Example>,
    scenarios: BTreeSet<String>,
}

struct Example {
    place: String,
    lines: Vec<String>,
}

impl Library {
    /// Suites that cannot be read are left out: `validate` tells of them.
    fn open(suites: &Path) -> Self {
        let loaded = if suites.exists() { suite::load(&[suites]) } else { Loaded::default() };
        let source = |(kind, text): (&'static str, &str)| {
            let source = Source::new("an example".into(), String::new(), text.to_owned());
            Some((kind, source.ok()?))
        };
        let pieces = loaded.fragments.iter().map(|file| (FileKind::Fragments.name(), &*file.text));
        let builtin = pieces.chain(EXAMPLES).filter_map(source).collect();
        Self { loaded, builtin }
    }

    fn uses(&self, places: &[Place]) -> Uses {
        let mut uses = Uses::default();
        for read in &self.loaded.suites {
            let mut scenarios = BTreeSet::new();
            uses.look(FileKind::Suite.name(), &read.source, places, &mut scenarios);
            let ids = scenarios.iter().filter_map(|index| read.file.scenarios.get(*index));
            uses.scenarios.extend(ids.map(|found| suite::scenario_id(&read.file, &found.value)));
        }
        let pins = self.loaded.pins.iter().map(|read| (FileKind::Pins, &read.source));
        let profiles = self.loaded.profiles.iter().map(|read| (FileKind::Profile, &read.source));
        let deviations = self.loaded.deviations.iter();
        let deviations = deviations.map(|read| (FileKind::Deviations, &read.source));
        let manifests = self.loaded.manifests.iter().map(|read| (FileKind::Worker, &read.source));
        let others = pins
            .chain(profiles)
            .chain(deviations)
            .chain(manifests)
            .map(|(kind, s)| (kind.name(), s));
        let builtin = self.builtin.iter().map(|(kind, source)| (*kind, source));
        for (kind, source) in others.chain(builtin) {
            if uses.example.is_none() {
                uses.look(kind, source, places, &mut BTreeSet::new());
            }
        }
        uses
    }
}

impl Uses {
    /// Looks for the places in one file; `scenarios` takes the positions of those that have one.
    fn look(
        &mut self,
        kind: &str,
        source: &Source,
        places: &[Place],
        scenarios: &mut BTreeSet<usize>,
    ) {
        let places: Vec<&Place> = places.iter().filter(|place| place.file == kind).collect();
        source.visit(&mut |way, range| {
            if !places.iter().any(|place| place.is(way)) {
                return;
            }
            if let [At::Key("scenarios"), At::Item(index), ..] = way {
                scenarios.insert(*index);
            }
            self.example.get_or_insert_with(|| example(source, range));
        });
    }
}

/// The lines of a range, without the space in front that all of them have.
fn example(source: &Source, range: Range<usize>) -> Example {
    let text = source.filled();
    let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
    let held = text[start..range.end].trim_end();
    let end = text[start + held.len()..].find('\n').map_or(text.len(), |n| start + held.len() + n);
    let all: Vec<&str> = text[start..end].lines().collect();
    let indent = all.first().map_or(0, |line| line.len() - line.trim_start().len());
    let dedented = |line: &&str| line.get(indent..).unwrap_or(line.trim_start()).to_owned();
    let mut lines: Vec<String> = all.iter().take(MOST_LINES).map(dedented).collect();
    if all.len() > MOST_LINES {
        lines.push("…".to_owned());
    }
    let line = text[..start].matches('\n').count() + 1;
    // Where something is filled in, lines are no longer those of the file.
    let has_lines = !source.relative.is_empty() && text == source.text;
    let place = match has_lines {
        true => format!("{}:{line}", source.display),
        false => source.display.clone(),
    };
    Example { place, lines }
}
