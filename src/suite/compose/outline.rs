//! The outline of a YAML text before anything is filled in: nodes, styles, anchors, aliases.
//! A text with masked variables comes in; nodes with exact ranges come out, or nothing.
//! It must never judge: what it cannot read is left to the strict reader, which says why.

use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, StructureStyle};

/// As the strict reader: more than this is refused there.
const MAX_NODES: usize = 50_000;
const MAX_DEPTH: usize = 32;

/// A text and what stands where in it.
#[derive(Debug)]
pub(super) struct Outline {
    pub(super) root: Node,
    pub(super) anchors: Vec<Name>,
    pub(super) aliases: Vec<Alias>,
}

/// A name at its place, without its sign.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) text: String,
    /// With the sign.
    pub(super) range: Range<usize>,
}

/// A use of an anchor.
#[derive(Debug)]
pub(super) struct Alias {
    pub(super) name: Name,
    /// Where the anchor stands, if it is in this text.
    pub(super) anchor: Option<Range<usize>>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) range: Range<usize>,
    pub(super) anchor: Option<String>,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Map(StructureStyle, Vec<(Node, Node)>),
    List(StructureStyle, Vec<Node>),
    Scalar(String, ScalarStyle),
    Alias,
}

impl Node {
    /// What a key of a mapping holds, with the key itself.
    pub(super) fn entry(&self, name: &str) -> Option<(&Self, &Self)> {
        let found = self.entries().iter().find(|(key, _)| key.scalar() == Some(name))?;
        Some((&found.0, &found.1))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        self.entry(name).map(|(_, value)| value)
    }

    pub(super) fn entries(&self) -> &[(Self, Self)] {
        match &self.content {
            Content::Map(_, entries) => entries,
            _ => &[],
        }
    }

    pub(super) fn items(&self) -> Option<&[Self]> {
        match &self.content {
            Content::List(_, items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn scalar(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(text, _) => Some(text),
            _ => None,
        }
    }
}

/// Same length, but `${name}` is a plain word: braces would end a plain text inside of `{ }`.
pub(super) fn masked(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        masked.push_str(&rest[..at]);
        masked.push_str("$_");
        rest = &rest[at + 2..];
        // Also what is no name, so that it can be said of that place and not of all around it.
        let inside = rest.split(['\n', ',', '{', '"', '\'']).next().unwrap_or_default();
        if let Some(length) = inside.find('}') {
            let plain = |c: char| if c.is_ascii() && !is_name_char(c) { '_' } else { c };
            masked.extend(rest[..=length].chars().map(plain));
            rest = &rest[length + 1..];
        }
    }
    masked + rest
}

/// Characters of a variable's name, loosely: what is no name is said where it is filled in.
pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

/// The outline of a masked text with one document in it.
pub(super) fn outline(masked: &str) -> Option<Outline> {
    let options = granit_parser::options! {
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
    };
    let mut reader = Reader::new(masked, options);
    let root = reader.document()?;
    let Reader { names, aliases, .. } = reader;
    let anchors = names.into_values().collect();
    Some(Outline { root, anchors, aliases })
}

struct Reader<'t> {
    text: &'t str,
    parser: Parser<'t, granit_parser::StrInput<'t>>,
    /// By the parser's number of the anchor.
    names: BTreeMap<usize, Name>,
    aliases: Vec<Alias>,
    nodes: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, options: Options) -> Self {
        let parser = Parser::new_from_str_with_options(text, options);
        Self { text, parser, names: BTreeMap::new(), aliases: Vec::new(), nodes: 0 }
    }

    fn document(&mut self) -> Option<Node> {
        loop {
            match self.next()?.0 {
                Event::StreamStart => {}
                Event::DocumentStart(..) => break,
                _ => return None,
            }
        }
        let (event, range) = self.next()?;
        let root = self.node(event, range, 0)?;
        matches!(self.next()?.0, Event::DocumentEnd).then_some(())?;
        matches!(self.next()?.0, Event::StreamEnd).then_some(root)
    }

    fn next(&mut self) -> Option<(Event<'t>, Range<usize>)> {
        loop {
            let (event, span) = self.parser.next_event()?.ok()?;
            if !matches!(event, Event::Comment(..)) {
                return Some((event, span.byte_range()?));
            }
        }
    }

    /// The name of the node that was just begun, if it has one.
    fn anchor(&mut self) -> Option<String> {
        loop {
            match self.parser.peek()? {
                Ok((Event::Comment(..), _)) => self.parser.next_event(),
                Ok((Event::Anchor(..), _)) => break,
                _ => return None,
            };
        }
        let (Event::Anchor(id, name), range) = self.next()? else { return None };
        self.names.insert(id, Name { text: name.to_string(), range });
        Some(name.into_owned())
    }

    fn node(&mut self, event: Event<'t>, range: Range<usize>, depth: usize) -> Option<Node> {
        self.nodes += 1;
        if self.nodes > MAX_NODES || depth > MAX_DEPTH {
            return None;
        }
        let anchor = match &event {
            Event::Alias(_) | Event::UnresolvedAlias(_) => None,
            _ => self.anchor(),
        };
        let (range, content) = match event {
            Event::Scalar(text, style, ..) => (range, Content::Scalar(text.into_owned(), style)),
            Event::Alias(id) => {
                let text = self.text.get(range.start + 1..range.end)?.to_owned();
                let anchor = self.names.get(&id).map(|name| name.range.clone());
                self.aliases.push(Alias { name: Name { text, range: range.clone() }, anchor });
                (range, Content::Alias)
            }
            Event::UnresolvedAlias(name) => {
                let name = Name { text: name.into_owned(), range: range.clone() };
                self.aliases.push(Alias { name, anchor: None });
                (range, Content::Alias)
            }
            Event::MappingStart(style, ..) => self.map(range, style, depth)?,
            Event::SequenceStart(style, ..) => self.list(range, style, depth)?,
            _ => return None,
        };
        Some(Node { range, anchor, content })
    }

    fn map(
        &mut self,
        begin: Range<usize>,
        style: StructureStyle,
        depth: usize,
    ) -> Option<(Range<usize>, Content)> {
        let (mut entries, mut end) = (Vec::new(), begin.end);
        loop {
            let (event, range) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                let range = begin.start..end.max(self.closing(&range, style));
                return Some((range, Content::Map(style, entries)));
            }
            let key = self.node(event, range, depth + 1)?;
            let (event, range) = self.next()?;
            let value = self.node(event, range, depth + 1)?;
            end = end.max(key.range.end).max(value.range.end);
            entries.push((key, value));
        }
    }

    fn list(
        &mut self,
        begin: Range<usize>,
        style: StructureStyle,
        depth: usize,
    ) -> Option<(Range<usize>, Content)> {
        let (mut items, mut end) = (Vec::new(), begin.end);
        loop {
            let (event, range) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                let range = begin.start..end.max(self.closing(&range, style));
                return Some((range, Content::List(style, items)));
            }
            let item = self.node(event, range, depth + 1)?;
            end = end.max(item.range.end);
            items.push(item);
        }
    }

    /// Collections without brackets end where what follows them begins.
    fn closing(&self, range: &Range<usize>, style: StructureStyle) -> usize {
        match style {
            StructureStyle::Flow => range.end,
            StructureStyle::Block => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn masking_keeps_every_byte_in_its_place() {
        for (text, expected) in [
            ("{a: ${n}, b: ${ü:-5}}", "{a: $_n_, b: $_ü_-5_}"),
            ("$${n} $$$ ${", "$$_n_ $$$ $_"),
            ("${a${b} ${a\n}", "$_a$_b_ $_a\n}"),
        ] {
            assert_eq!(masked(text), expected);
            assert_eq!(masked(text).len(), text.len());
        }
    }

    #[test]
    fn nodes_have_the_ranges_of_their_text() {
        let text =
            "a: &x [1, {b: 2} ]  # c\nd:\n  - &y\n    e: |\n      f\n  # c\n  - *x\n  - *z\n";
        let Outline { root, anchors, aliases } = outline(text).unwrap();
        assert_eq!(&text[root.get("a").unwrap().range.clone()], "[1, {b: 2} ]");
        let items = root.get("d").unwrap().items().unwrap();
        assert_eq!(text[items[0].range.clone()].trim_end(), "e: |\n      f");
        assert_eq!(items[0].anchor.as_deref(), Some("y"));
        assert_eq!(&text[items[1].range.clone()], "*x");
        let anchors: Vec<&str> = anchors.iter().map(|name| name.text.as_str()).collect();
        assert_eq!(anchors, ["x", "y"]);
        let known: Vec<bool> = aliases.iter().map(|alias| alias.anchor.is_some()).collect();
        assert_eq!(known, [true, false]);
    }

    #[test]
    fn what_is_too_deep_or_too_much_has_no_outline() {
        assert!(outline(&"[".repeat(40)).is_none());
        assert!(outline(&("[".repeat(40) + &"]".repeat(40))).is_none());
        assert!(outline(&"- a\n".repeat(60_000)).is_none());
        assert!(outline("a: 1\n---\nb: 2\n").is_none());
    }
}
