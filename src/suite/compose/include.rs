//! Fragments: files of named pieces that suites include and use by anchor.
//! A draft and where it lies come in; the fragments that it needs come out, each once, in order.
//! It must never read outside of the suites' folder, nor a file twice into one text.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use granit_parser::StructureStyle;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::outline::{Content, Node};
use super::places::Composed;
use super::{Draft, Sink, unfilled, variables};
use crate::suite::load::read_text;
use crate::suite::problem::{Problem, suggest};
use crate::suite::rule::Rule;
use crate::suite::schema::Piece;
use crate::suite::source::Source;

/// Fragments that include fragments, one behind the other.
const MAX_OPEN: usize = 8;

/// A file of pieces, as it is read inside of the suite that includes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FragmentsFile {
    /// Says that this file has fragments.
    pub kind: FragmentsKind,
    /// Other fragments files, relative to this one.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub include: Vec<IgnoredAny>,
    /// The pieces by name; each has its name as anchor.
    #[schemars(with = "BTreeMap<String, Piece>")]
    pub fragments: BTreeMap<String, IgnoredAny>,
}

/// Marker: `kind: fragments`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FragmentsKind {
    /// Pieces that suites include.
    Fragments,
}

/// Where a file lies.
#[derive(Debug, Clone)]
pub(in crate::suite) struct Place {
    pub(in crate::suite) path: PathBuf,
    /// Its name in the suite hash.
    pub(in crate::suite) relative: String,
    /// The folder that includes may not leave, without links in its path.
    pub(in crate::suite) root: PathBuf,
}

/// Every fragments file that was read, by its path without links.
#[derive(Debug, Default)]
pub(in crate::suite) struct Library {
    files: BTreeMap<PathBuf, Option<Arc<Fragment>>>,
    included: BTreeSet<PathBuf>,
    /// Files that are being read: one of them again is a circle.
    open: Vec<(PathBuf, String)>,
}

#[derive(Debug)]
pub(in crate::suite) struct Fragment {
    draft: Draft,
    place: Place,
    needs: Included,
}

/// Fragments in the order in which they are written.
#[derive(Debug, Clone, Default)]
pub(super) struct Included(Vec<Arc<Fragment>>);

impl Library {
    /// The files that were read: name in the suite hash, text.
    pub(in crate::suite) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        let files = self.files.values().flatten();
        files.map(|file| (file.place.relative.as_str(), file.draft.origin.text.as_str()))
    }

    /// A problem for a fragments file that was found in a folder, and that no suite includes.
    pub(in crate::suite) fn idle(&self, draft: &Draft, path: &Path) -> Option<Problem> {
        let is_idle = !self.included.contains(&canonical(path));
        let kind = draft.outline.root.get("kind").filter(|_| is_idle)?;
        let help = "include it where its pieces are needed, or remove it".to_owned();
        Some(draft.origin.problem(
            Rule::UnusedInclude,
            &kind.range,
            "no suite includes these fragments",
            Some(help),
        ))
    }

    fn read(
        &mut self,
        place: Place,
        display: String,
        item: &Range<usize>,
        sink: &mut Sink<'_>,
    ) -> Option<Arc<Fragment>> {
        let path = canonical(&place.path);
        self.included.insert(path.clone());
        if let Some(at) = self.open.iter().position(|(open, _)| *open == path) {
            let way: Vec<&str> = self.open[at..].iter().map(|(_, name)| name.as_str()).collect();
            let message = format!("a circle: {} -> {display}", way.join(" -> "));
            sink.refuse(Rule::IncludeCircle, item, message, None);
            return None;
        }
        if let Some(known) = self.files.get(&path) {
            if known.is_none() {
                sink.refused += 1;
            }
            return known.clone();
        }
        if self.open.len() >= MAX_OPEN {
            let help = format!("at most {MAX_OPEN} files in a row");
            sink.refuse(Rule::IncludeDepth, item, "includes of includes of includes", Some(help));
            return None;
        }
        self.open.push((path.clone(), display.clone()));
        let fragment = self.fragment(place, &display, item, sink).map(Arc::new);
        self.open.pop();
        if fragment.is_none() {
            sink.refused += 1;
        }
        self.files.insert(path, fragment.clone());
        fragment
    }

    fn fragment(
        &mut self,
        place: Place,
        display: &str,
        item: &Range<usize>,
        sink: &mut Sink<'_>,
    ) -> Option<Fragment> {
        let text = read_text(&place.path, display).map_err(|p| sink.problems.push(p)).ok()?;
        let Some(draft) = Draft::new(display, &text) else {
            let composed = unfilled(display, &text);
            let strict = Source::of(composed, display.to_owned(), place.relative.clone(), text);
            sink.problems.extend(strict.err());
            return None;
        };
        if draft.kind() != Some("fragments") {
            let help = "only files of `kind: fragments` are included".to_owned();
            sink.refuse(
                Rule::NoFragments,
                item,
                format!("{display} holds no fragments"),
                Some(help),
            );
            return None;
        }
        let is_sound = {
            let mut own = Sink { origin: &draft.origin, problems: &mut *sink.problems, refused: 0 };
            examine(&draft, &mut own);
            own.refused == 0
        };
        let needs = included(&draft, &place, self, sink.problems)?;
        is_sound.then_some(Fragment { draft, place, needs })
    }
}

impl Fragment {
    /// Names of all anchors of the file and of what it includes.
    fn anchors(&self) -> impl Iterator<Item = &str> {
        let files = self.needs.0.iter().map(|fragment| &fragment.draft).chain([&self.draft]);
        files.flat_map(|draft| draft.outline.anchors.iter().map(|anchor| anchor.text.as_str()))
    }
}

/// What must be right in a fragments file beside what the strict reader asks for.
fn examine(draft: &Draft, sink: &mut Sink<'_>) {
    let (root, text) = (&draft.outline.root, &draft.origin.text);
    let outside = [0..root.range.start, root.range.end..text.len()];
    for range in outside {
        // What is left of the last line of the document is a comment at most.
        let mut at = range.start;
        for line in text[range].split_inclusive('\n') {
            if !line.trim().is_empty() && !line.trim_start().starts_with('#') {
                let message = "fragments are put into other files: no `---`, `...` or `%` lines";
                sink.refuse(Rule::BadFragments, &(at..at + line.trim_end().len()), message, None);
            }
            at += line.len();
        }
    }
    variables::refuse_all(root, sink);
    let pieces = root.get("fragments");
    if pieces.is_none_or(|pieces| pieces.entries().is_empty()) {
        let place = root.entry("fragments").map_or(0..0, |(key, _)| key.range.clone());
        let help = Some("`fragments: {name: &name …}`".to_owned());
        sink.refuse(Rule::BadFragments, &place, "fragments without a piece", help);
    }
    for (key, value) in pieces.map(Node::entries).unwrap_or_default() {
        let name = key.scalar().unwrap_or_default();
        if value.anchor.as_deref() != Some(name) {
            let help = Some(format!("write `{name}: &{name}`"));
            sink.refuse(
                Rule::BadFragments,
                &key.range,
                format!("the piece `{name}` has another anchor, or none"),
                help,
            );
        }
    }
}

/// The fragments that a file needs, or nothing if a problem stands in the way.
pub(super) fn included(
    draft: &Draft,
    place: &Place,
    library: &mut Library,
    problems: &mut Vec<Problem>,
) -> Option<Included> {
    let mut sink = Sink { origin: &draft.origin, problems, refused: 0 };
    let mut all = Included::default();
    let mut direct = Vec::new();
    for (item, path) in items(draft, &mut sink) {
        let Some((place, display)) = resolve(draft, place, path, item, &mut sink) else { continue };
        let Some(fragment) = library.read(place, display, &item.range, &mut sink) else { continue };
        for needed in fragment.needs.0.iter().chain([&fragment]) {
            if !all.0.iter().any(|known| Arc::ptr_eq(known, needed)) {
                all.0.push(Arc::clone(needed));
            }
        }
        direct.push((item, fragment));
    }
    // With a file missing, every alias into it would be one more problem.
    if sink.refused == 0 {
        names(draft, &all, &direct, &mut sink);
    }
    (sink.refused == 0).then_some(all)
}

/// The paths below `include`.
fn items<'d>(draft: &'d Draft, sink: &mut Sink<'_>) -> Vec<(&'d Node, &'d str)> {
    let root = &draft.outline.root;
    let Some((key, list)) = root.entry("include") else { return Vec::new() };
    let position =
        |name: &str| root.entries().iter().position(|(key, _)| key.scalar() == Some(name));
    let is_block = matches!(root.content, Content::Map(StructureStyle::Block, _));
    let is_first = position("scenarios").or(position("fragments")) > position("include");
    if !is_block || !is_first {
        let help = "a line of its own, before what uses it".to_owned();
        sink.refuse(
            Rule::BadInclude,
            &key.range,
            "`include` stands at the top of a file",
            Some(help),
        );
    }
    let paths = list.items().unwrap_or_default();
    if paths.is_empty() {
        let help = "`include: [../fragments/workers.yaml]`".to_owned();
        sink.refuse(Rule::BadInclude, &key.range, "an include is a list of files", Some(help));
    }
    let path = |item: &'d Node| {
        let path = item.scalar();
        if path.is_none() {
            sink.refuse(Rule::BadInclude, &item.range, "an include is the path of a file", None);
        }
        Some((item, path?))
    };
    paths.iter().filter_map(path).collect()
}

/// Where an included file lies, and how it is shown.
fn resolve(
    draft: &Draft,
    place: &Place,
    path: &str,
    item: &Node,
    sink: &mut Sink<'_>,
) -> Option<(Place, String)> {
    if path.is_empty() || Path::new(path).is_absolute() {
        let help = "paths are relative to the file that includes".to_owned();
        sink.refuse(Rule::BadInclude, &item.range, "an include is a relative path", Some(help));
        return None;
    }
    let folder = place.path.parent().unwrap_or(Path::new(""));
    let target = folder.join(path);
    let display = beside(&draft.origin.display, path);
    let Ok(found) = std::fs::canonicalize(&target) else {
        let message = format!("there is no file {display}");
        let help = "paths are relative to the file that includes".to_owned();
        sink.refuse(Rule::MissingInclude, &item.range, message, Some(help));
        return None;
    };
    if !found.is_file() {
        let message = format!("{display} is no file");
        let help = "name the files of a folder one by one".to_owned();
        sink.refuse(Rule::MissingInclude, &item.range, message, Some(help));
        return None;
    }
    if !found.starts_with(&place.root) {
        let help = "includes stay in the folder with `pins.yaml`, or in the one that was given";
        sink.refuse(
            Rule::IncludeOutside,
            &item.range,
            "this leaves the folder of the suites",
            Some(help.to_owned()),
        );
        return None;
    }
    let relative = beside(&place.relative, path);
    Some((Place { path: target, relative, root: place.root.clone() }, display))
}

/// A path relative to the folder of a file, without detours.
fn beside(file: &str, path: &str) -> String {
    let mut parts = PathBuf::new();
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(parts.components().next_back(), Some(Component::Normal(_))) =>
            {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.display().to_string()
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Anchors and aliases across the files: nothing unknown, nothing twice, nothing for nothing.
fn names(draft: &Draft, all: &Included, direct: &[(&Node, Arc<Fragment>)], sink: &mut Sink<'_>) {
    let outline = &draft.outline;
    let mut owners: BTreeMap<&str, &Draft> = BTreeMap::new();
    for fragment in &all.0 {
        for anchor in &fragment.draft.outline.anchors {
            let Some(other) = owners.insert(&anchor.text, &fragment.draft) else { continue };
            if !std::ptr::eq(other, &fragment.draft) {
                let origin = &fragment.draft.origin;
                let help = Some(format!("{} has one of this name", other.origin.display));
                let message = format!("the anchor `{}` stands in two included files", anchor.text);
                let problem = origin.problem(Rule::SameAnchor, &anchor.range, message, help);
                sink.problems.push(problem);
                sink.refused += 1;
            }
        }
    }
    for anchor in &outline.anchors {
        if let Some(owner) = owners.get(anchor.text.as_str()) {
            let message = format!("the anchor `{}` hides an included one", anchor.text);
            let help = Some(format!("{} has one of this name", owner.origin.display));
            sink.refuse(Rule::SameAnchor, &anchor.range, message, help);
        }
    }
    let unresolved = || outline.aliases.iter().filter(|alias| alias.anchor.is_none());
    for alias in unresolved() {
        let name = alias.name.text.as_str();
        if !owners.contains_key(name) {
            let own = outline.anchors.iter().map(|anchor| anchor.text.as_str());
            let help = suggest(name, owners.keys().copied().chain(own));
            let help = help.or(Some("an anchor `&name` comes before its aliases".to_owned()));
            sink.refuse(
                Rule::UnknownAnchor,
                &alias.name.range,
                format!("there is no anchor `{name}`"),
                help,
            );
        }
    }
    // A name that was refused may have been meant for one of a file that seems to be unused.
    let direct = if sink.refused == 0 { direct } else { &[] };
    for (item, fragment) in direct {
        let anchors: BTreeSet<&str> = fragment.anchors().collect();
        if !unresolved().any(|alias| anchors.contains(alias.name.text.as_str())) {
            let help = "use one of its pieces as `*name`, or take the include away".to_owned();
            sink.say(Rule::UnusedInclude, &item.range, "nothing of this file is used", Some(help));
        }
    }
}

/// From behind `include:` to the next key, if the file includes anything.
pub(super) fn gap(root: &Node, text: &str) -> Option<Range<usize>> {
    let entries = root.entries();
    let at = entries.iter().position(|(key, _)| key.scalar() == Some("include"))?;
    let (key, list) = entries.get(at)?;
    let colon = key.range.end + text.get(key.range.end..list.range.start)?.find(':')?;
    let (next, _) = entries.get(at + 1)?;
    // The indentation of the next key stays with it.
    let line = text.get(..next.range.start)?.rfind('\n')? + 1;
    Some(colon + 1..line)
}

impl Included {
    /// Writes the files as a list below the key `include` of `file`.
    pub(super) fn write(&self, composed: &mut Composed, file: &Draft) {
        let root = &file.outline.root;
        let (Some((key, _)), text) = (root.entry("include"), &file.origin.text) else { return };
        let line = text[..key.range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent = " ".repeat(key.range.start - line);
        let glue = |composed: &mut Composed, text: &str| {
            composed.glue(&file.origin, key.range.clone(), text);
        };
        glue(composed, "\n");
        for fragment in &self.0 {
            glue(composed, &format!("{indent}-\n"));
            let Draft { origin, outline } = &fragment.draft;
            let hidden = gap(&outline.root, &origin.text);
            let mut at = 0;
            for line in origin.text.split_inclusive('\n') {
                let range = at..at + line.len();
                at = range.end;
                if !line.trim().is_empty() {
                    glue(composed, &format!("{indent}  "));
                }
                fragment.line(composed, range, hidden.as_ref());
                if !line.ends_with('\n') {
                    glue(composed, "\n");
                }
            }
        }
    }
}

impl Fragment {
    /// One line; of what it includes only that there was something.
    fn line(&self, composed: &mut Composed, line: Range<usize>, hidden: Option<&Range<usize>>) {
        let origin = &self.draft.origin;
        let Some(hidden) = hidden.filter(|h| h.start < line.end && h.end > line.start) else {
            composed.verbatim(origin, line);
            return;
        };
        if hidden.start > line.start {
            composed.verbatim(origin, line.start..hidden.start);
            composed.glue(origin, hidden.clone(), " []");
        }
        composed.glue(origin, hidden.clone(), "\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beside_a_file_have_no_detours() {
        for (file, path, expected) in [
            ("suites/a/x.yaml", "../f/w.yaml", "suites/f/w.yaml"),
            ("x.yaml", "./w.yaml", "w.yaml"),
            ("x.yaml", "../f/w.yaml", "../f/w.yaml"),
            ("../a/x.yaml", "../../w.yaml", "../../w.yaml"),
            ("/a/b/x.yaml", "../w.yaml", "/a/w.yaml"),
        ] {
            assert_eq!(beside(file, path), expected, "{file} {path}");
        }
    }
}
