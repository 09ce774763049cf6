//! Filter expressions by themselves: what they mean, how they are written, what is wrong with them.
//! Texts go in; canonical spellings and located problems are compared with what they must be.
//! It must never need a plan: cells are chosen in the tests of the plan.

#![allow(clippy::unwrap_used)]

use crate::suite::rule::Rule;
use proptest::prelude::*;

use super::*;

fn canonical(text: &str) -> String {
    match parse(text) {
        Ok(expression) => expression.to_string(),
        Err(problems) => panic!("{}", problems[0]),
    }
}

/// Column and message of each problem.
fn problems(text: &str) -> Vec<(usize, String)> {
    let problems = parse(text).unwrap_err();
    problems.into_iter().map(|problem| (problem.column, problem.message)).collect()
}

#[test]
fn not_binds_before_and_and_before_or() {
    for (text, expected) in [
        (" id( a/* ) ", "id(a/*)"),
        ("id(a)|id(b)&!id(c)", "id(a) or (id(b) and not id(c))"),
        ("id(a) or id(b) or id(c)", "id(a) or id(b) or id(c)"),
        ("(id(a) or id(b)) and level(core)", "(id(a) or id(b)) and level(core)"),
        ("not (id(a) or all())", "not (id(a) or all())"),
        ("not not none()", "not not none()"),
        ("((clause(ACK-*)))", "clause(ACK-*)"),
        ("broker (kafka)", "broker(kafka)"),
        ("property(and or not)", "property(and or not)"),
        (r"client(a\(b\))", r"client(a\(b\))"),
        ("not(id(a))and(id(b))", "not id(a) and id(b)"),
    ] {
        assert_eq!(canonical(text), expected, "{text}");
    }
}

#[test]
fn what_is_wrong_has_a_caret_under_it() {
    for (text, column, message) in [
        ("", 1, "an empty filter"),
        ("di(x)", 1, "there is no predicate `di`"),
        ("id x", 1, "expected `(` after `id`"),
        ("kafka", 1, "`kafka` is no word of a filter"),
        ("id(x", 3, "this `(` is never closed"),
        ("(id(x)", 1, "this `(` is never closed"),
        ("id(x))", 6, "this closes nothing"),
        ("id(x) id(y)", 7, "expected `and` or `or` before this"),
        ("id(x) and", 10, "expected a predicate, `not` or `(`"),
        ("and id(x)", 1, "expected a predicate, `not` or `(`"),
        ("()", 2, "expected a predicate, `not` or `(`"),
        ("id()", 3, "an empty glob matches nothing"),
        ("id([)", 4, "this is no glob: unclosed character class; missing ']'"),
        ("ä(x)", 1, "there is no predicate `ä`"),
        ("id(a) && id(b)", 7, "`&&` is no operator"),
        ("id(a) + id(b)", 7, "`+` means nothing here"),
        ("all(x)", 5, "`all` takes nothing"),
        ("id(a(b)", 5, "a `(` inside of a glob"),
    ] {
        let found = problems(text);
        assert_eq!(found[0], (column, message.to_owned()), "{text}");
    }
}

#[test]
fn every_problem_of_an_expression_is_told_with_what_was_meant() {
    let text = "brokr(kafka) and id([) or clause() xor level(core))";
    let found = parse(text).unwrap_err();
    let told: Vec<(usize, &str)> = found.iter().map(|p| (p.column, &*p.help)).collect();
    let expected = [
        (1, "did you mean `broker`?"),
        (21, Rule::BadFilter.help()),
        (33, "`*` matches all"),
        (36, "did you mean `or`?"),
        (36, "both must fit: `and`; one is enough: `or`"),
        (40, "both must fit: `and`; one is enough: `or`"),
        (51, "remove it"),
    ];
    assert_eq!(told, expected, "{found:#?}");
    assert!(found[0].rendered.contains("--filter:1:1"), "{}", found[0]);
}

#[test]
fn depth_and_noise_have_bounds() {
    let n = 100_000;
    for text in ["(".repeat(n), "!".repeat(n), "not ".repeat(n), "(not ".repeat(n)] {
        let found = problems(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].1.contains("levels inside one another"), "{found:?}");
    }
    assert_eq!(problems(&")".repeat(n)), [(1, "this closes nothing".to_owned())]);
    assert_eq!(problems(&"%".repeat(n)).len(), 1);
    assert_eq!(problems(&"id(x) ".repeat(1000)).len(), 20, "the rest is noise");
    let long = vec!["id(x)"; 10_000].join(" or ");
    assert_eq!(canonical(&long), long, "length is no depth");
    let deep = format!("{}all(){}", "(".repeat(64), ")".repeat(64));
    assert_eq!(canonical(&deep), "all()");
}

fn expression() -> impl Strategy<Value = Expr> {
    let fields = prop::sample::select(Field::ALL.to_vec());
    let pattern = r"[a-zA-Z0-9@+*?#/._ä-]{1,8}( [a-z]{1,3})?|\[a-c\]|\\\(|\{a,b\}";
    let predicate = (fields, pattern).prop_map(|(field, pattern)| {
        let glob = crate::suite::pins::glob(&pattern).unwrap();
        Expr::Is(Predicate { field, pattern, glob, place: 0..0 })
    });
    let leaf = prop_oneof![Just(Expr::All), Just(Expr::None), predicate];
    leaf.prop_recursive(6, 40, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Expr::Not(Box::new(inner))),
            prop::collection::vec(inner.clone(), 2..4).prop_map(Expr::And),
            prop::collection::vec(inner, 2..4).prop_map(Expr::Or),
        ]
    })
}

proptest! {
    // Each glob becomes an automaton, which is slow in a build without optimisation.
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_expression_reads_back_as_itself(expression in expression()) {
        let text = expression.to_string();
        prop_assert_eq!(parse(&text).unwrap(), expression, "{}", text);
    }

    #[test]
    fn no_text_does_harm(text in r"([()&|!\\ *\[{]|id|not|and|or|all\(|ä|x|\PC){0,30}") {
        if let Err(problems) = parse(&text) {
            prop_assert!(!problems.is_empty());
            prop_assert!(problems.iter().all(|p| p.line == 1 && p.column > 0), "{:?}", problems);
        }
    }
}
