//! Filter expressions: which cells a person wants, as `property(redrive) and not broker(kafka)`.
//! Texts of the command line come in; a `Filter` that cells are held against comes out.
//! It must never take a predicate that fits no cell for an empty choice: that is a misspelling.

mod parse;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use globset::GlobMatcher;

use super::Cell;
use crate::suite::problem::{Problem, Words, suggest};
use crate::suite::rule::Rule;
use parse::parse;

/// What problems call the place of a filter.
const WHERE: &str = "--filter";

/// The choice among the cells of a profile; without an expression, all of them.
#[derive(Debug, Default)]
pub(super) struct Filter {
    expressions: Vec<(String, Expr)>,
}

/// A parsed expression. Lists have two parts at least.
#[derive(Debug, Clone, PartialEq)]
enum Expr {
    All,
    None,
    Is(Predicate),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
}

/// `broker(kafka-*)`.
#[derive(Debug, Clone)]
struct Predicate {
    field: Field,
    /// As it is written between the parentheses, without white space around it.
    pattern: String,
    glob: GlobMatcher,
    /// Bytes of the pattern in the text.
    place: Range<usize>,
}

impl PartialEq for Predicate {
    fn eq(&self, other: &Self) -> bool {
        (self.field, &self.pattern) == (other.field, &other.pattern)
    }
}

/// What of a cell a predicate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Field {
    Id,
    Property,
    Clause,
    Broker,
    Client,
    Level,
}

impl Field {
    const ALL: [Self; 6] =
        [Self::Id, Self::Property, Self::Clause, Self::Broker, Self::Client, Self::Level];

    fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Property => "property",
            Self::Clause => "clause",
            Self::Broker => "broker",
            Self::Client => "client",
            Self::Level => "level",
        }
    }

    /// What the glob is held against; one value that fits is enough. The first ones are suggested.
    fn values(self, cell: &Cell) -> Vec<String> {
        let with_version =
            |name: &str, version: &str| vec![name.to_owned(), format!("{name}-{version}")];
        match self {
            Self::Id => vec![cell.scenario.clone(), cell.id.clone()],
            Self::Property => vec![cell.property.clone()],
            Self::Clause => cell.clauses.clone(),
            Self::Broker => with_version(&cell.broker.to_string(), &cell.server_pin),
            Self::Client => with_version(&cell.client.library, &cell.client.version),
            Self::Level => vec![cell.level.to_string()],
        }
    }
}

impl Filter {
    /// Reads every expression; each problem of each is told.
    pub(super) fn read(texts: &[String], problems: &mut Vec<Problem>) -> Self {
        let mut expressions = Vec::new();
        for text in texts {
            match parse(text) {
                Ok(expression) => expressions.push((text.clone(), expression)),
                Err(more) => problems.extend(more),
            }
        }
        Self { expressions }
    }

    /// Whether one of the expressions takes the cell.
    pub(super) fn takes(&self, cell: &Cell) -> bool {
        self.expressions.is_empty()
            || self.expressions.iter().any(|(_, expression)| expression.takes(cell))
    }

    /// A problem for each predicate that fits none of the cells that there are.
    pub(super) fn unmatched<'a>(
        &self,
        cells: impl Iterator<Item = &'a Cell> + Clone,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (text, expression) in &self.expressions {
            expression.predicates(&mut |predicate| {
                if cells.clone().any(|cell| predicate.fits(cell)) {
                    return;
                }
                let (field, pattern) = (predicate.field, &predicate.pattern);
                let message = format!("this takes no cell: no {} fits `{pattern}`", field.name());
                let first = |cell| {
                    field.values(cell).into_iter().take(match field {
                        Field::Clause => usize::MAX,
                        _ => 1,
                    })
                };
                let known: BTreeSet<String> = cells.clone().flat_map(first).collect();
                let help = suggest(pattern, known.iter().map(String::as_str));
                let words = Words::new(message).help(help);
                let place = predicate.place.clone();
                problems.push(Problem::at(Rule::BadFilter, WHERE, text, place, words));
            });
        }
        problems
    }
}

impl Expr {
    fn takes(&self, cell: &Cell) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Is(predicate) => predicate.fits(cell),
            Self::Not(inner) => !inner.takes(cell),
            Self::And(parts) => parts.iter().all(|part| part.takes(cell)),
            Self::Or(parts) => parts.iter().any(|part| part.takes(cell)),
        }
    }

    fn predicates(&self, visit: &mut impl FnMut(&Predicate)) {
        match self {
            Self::All | Self::None => {}
            Self::Is(predicate) => visit(predicate),
            Self::Not(inner) => inner.predicates(visit),
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.predicates(visit));
            }
        }
    }
}

impl Predicate {
    fn fits(&self, cell: &Cell) -> bool {
        self.field.values(cell).iter().any(|value| self.glob.is_match(value))
    }
}

/// The canonical spelling: it reads back as the same expression.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Self], operator: &str| {
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    write!(f, " {operator} ")?;
                }
                match part {
                    Self::And(_) | Self::Or(_) => write!(f, "({part})")?,
                    _ => write!(f, "{part}")?,
                }
            }
            Ok(())
        };
        match self {
            Self::All => f.write_str("all()"),
            Self::None => f.write_str("none()"),
            Self::Is(Predicate { field, pattern, .. }) => write!(f, "{}({pattern})", field.name()),
            Self::Not(inner) => match **inner {
                Self::And(_) | Self::Or(_) => write!(f, "not ({inner})"),
                _ => write!(f, "not {inner}"),
            },
            Self::And(parts) => list(f, parts, "and"),
            Self::Or(parts) => list(f, parts, "or"),
        }
    }
}
