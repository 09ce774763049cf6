//! What is around a byte of a text: the entry that it belongs to, and the key that holds it.
//! A byte, or a byte and a key that is missing there, comes in; the smallest entry comes out.
//! It must never look into what an alias brings in: that stands at another place.

use std::ops::Range;

use serde_saphyr::Spanned;

use super::{Node, Shape, Source, span, used};

/// Something in a mapping or a list that can be taken out, by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::suite) enum Entry {
    /// On lines of its own: a key, or the dash of an item.
    Block { start: usize },
    /// Between brackets.
    Flow { start: usize },
}

impl Entry {
    fn start(self) -> usize {
        let (Self::Block { start } | Self::Flow { start }) = self;
        start
    }

    /// Its key, or the first word of the item.
    pub(in crate::suite) fn token(self, text: &str) -> Range<usize> {
        let start = self.start();
        let rest = &text[start..];
        let start = start + (rest.len() - rest.trim_start_matches(['-', ' ', '{']).len());
        let end = text[start..].find([':', '\n', ',', '}']).map_or(text.len(), |end| start + end);
        start..end
    }
}

/// What is around a byte of the filled text.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::suite) struct Around<'a> {
    /// The smallest entry; none where that is the document itself.
    pub(in crate::suite) entry: Option<Entry>,
    /// The key of the nearest mapping or list that has one, and its bytes.
    pub(in crate::suite) holder: Option<&'a Spanned<String>>,
    /// Whether an alias brings in what is there: it has another place, too.
    pub(in crate::suite) is_aliased: bool,
}

impl Source {
    /// What is around a byte of the filled text.
    pub(in crate::suite) fn around(&self, at: usize) -> Around<'_> {
        self.trail(at).pop().map(|(_, around)| around).unwrap_or_default()
    }

    /// What is around the entry that begins at a byte.
    pub(in crate::suite) fn around_entry(&self, start: usize) -> Around<'_> {
        let mut trail = self.trail(start);
        trail.retain(|(_, around)| around.entry.is_some_and(|entry| entry.start() < start));
        trail.pop().map(|(_, around)| around).unwrap_or_default()
    }

    /// What is around the word at a byte: one that is a key stands for all of its mapping.
    pub(in crate::suite) fn around_word(&self, at: usize) -> Around<'_> {
        let is_key = |around: &Around| around.holder.is_some_and(|h| span(h.defined).start == at);
        let mut trail = self.trail(at);
        trail.retain(|(_, around)| !is_key(around));
        trail.pop().map(|(_, around)| around).unwrap_or_default()
    }

    /// What is around the mapping, at a byte of the filled text, that lacks a key; one that begins
    /// where something was taken out is not there.
    pub(in crate::suite) fn around_lacking(
        &self,
        at: usize,
        key: &str,
        is_taken: impl Fn(usize) -> bool,
    ) -> Around<'_> {
        let is_there =
            |name: &Spanned<String>| name.value == key && !is_taken(span(name.defined).start);
        let begins = |node: &Node| node.keys().any(|name| span(name.defined).start == at);
        let mut trail = self.trail(at);
        trail.retain(|(node, _)| node.is_map() && !node.keys().any(is_there));
        let own = trail.iter().rposition(|(node, _)| begins(node));
        let found = own.or(trail.len().checked_sub(1)).map(|index| trail.swap_remove(index));
        found.map(|(_, around)| around).unwrap_or_default()
    }

    /// The nodes from the root down to a byte, each with what is around it.
    fn trail(&self, at: usize) -> Vec<(&Node, Around<'_>)> {
        let text = self.composed.text();
        let mut trail = vec![(&self.tree, Around::default())];
        while let Some((node, around)) = trail.last().copied()
            && !around.is_aliased
            && let Some(next) = node.below(text, at, around)
        {
            trail.push(next);
        }
        trail
    }
}

impl Node {
    fn keys(&self) -> impl Iterator<Item = &Spanned<String>> {
        let entries = if let Shape::Map(entries) = &self.shape { &entries[..] } else { &[] };
        entries.iter().map(|(key, _)| key)
    }

    fn is_map(&self) -> bool {
        matches!(self.shape, Shape::Map(_))
    }

    /// The entry at a byte, or the last one before it.
    fn below<'a>(
        &'a self,
        text: &str,
        at: usize,
        outer: Around<'a>,
    ) -> Option<(&'a Self, Around<'a>)> {
        let is_flow = text[self.span.start..].starts_with(['{', '[']);
        let entry = |start| if is_flow { Entry::Flow { start } } else { Entry::Block { start } };
        match &self.shape {
            Shape::Map(entries) => {
                let mut own = entries.iter().filter(|(key, _)| used(key).is_none());
                let start = |key: &Spanned<String>| span(key.defined).start;
                let (key, node) = own.rfind(|(key, _)| start(key) <= at)?;
                let is_aliased = node.used.is_some();
                let entry = Some(entry(start(key)));
                Some((node, Around { entry, holder: Some(key), is_aliased }))
            }
            Shape::List(items) => {
                let start = |item: &Self| item.span.start;
                let item = items.iter().rfind(|i| i.used.is_none() && start(i) <= at)?;
                let dash = text[..start(item)].rfind('-').filter(|_| !is_flow);
                let entry = Some(entry(dash.unwrap_or(start(item))));
                Some((item, Around { entry, ..outer }))
            }
            Shape::Scalar(_) => None,
        }
    }
}
