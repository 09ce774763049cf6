//! The rules themselves, one function each.
//! A source file comes in; sentences that say what is wrong, where, and what to do come out.
//! A rule must never look at more than the one file that it is given.

use super::source::{Source, line_of, words};
use super::table;

/// What a rule says about one file.
pub type Complaints = Vec<String>;

/// A module imports only what `table::IMPORTS` lists for it.
pub fn imports(source: &Source) -> Complaints {
    let Some(module) = source.module() else { return Vec::new() };
    if table::FREE.contains(&module) {
        return Vec::new();
    }
    let Some((_, lists)) = table::IMPORTS.iter().find(|(name, _)| *name == module) else {
        return vec![format!("{}: module `{module}` is not in the table of imports", source.path)];
    };
    let allowed = |path: &str| {
        path.split("::").next() == Some(module)
            || lists.iter().flat_map(|list| list.iter()).any(|pattern| covers(pattern, path))
    };
    let paths = source.paths("crate").into_iter();
    let foreign = paths.filter(|(_, path)| !allowed(path));
    foreign
        .map(|(line, path)| {
            format!("{}: `{module}` must not import `crate::{path}`", source.at(line))
        })
        .collect()
}

/// Whether a pattern is the path or a beginning of it; `*` stands for any part of one name.
fn covers(pattern: &str, path: &str) -> bool {
    let mut names = path.split("::");
    pattern.split("::").all(|wanted| names.next().is_some_and(|name| fits(wanted, name)))
}

fn fits(wanted: &str, name: &str) -> bool {
    match wanted.split_once('*') {
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
        None => wanted == name,
    }
}

/// Pure modules name no network, no process, no clock and no async runtime.
pub fn purity(source: &Source) -> Complaints {
    let pure = source.module().is_some_and(|module| table::PURE.contains(&module));
    if !pure || source.path == table::RECORDER {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for library in table::IMPURE {
        for at in words(&source.product, library) {
            let line = source.at(line_of(&source.product, at));
            wrong.push(format!("{line}: a pure module must not name `{library}`"));
        }
    }
    for (line, path) in source.paths("std") {
        if table::IMPURE_STD.iter().any(|pattern| covers(pattern, &path)) {
            let line = source.at(line);
            wrong.push(format!("{line}: a pure module must not name `std::{path}`"));
        }
    }
    wrong
}

/// A library is used in one module only, so that it can be exchanged there.
pub fn one_library_one_module(source: &Source) -> Complaints {
    if source.module().is_none() {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for (library, homes) in table::HOMES {
        if homes.iter().any(|home| source.path.starts_with(home)) {
            continue;
        }
        for at in words(&source.product, library) {
            let line = source.at(line_of(&source.product, at));
            wrong.push(format!("{line}: `{library}` belongs into {} only", homes.join(" and ")));
        }
    }
    wrong
}

/// Every source file begins with what comes in, what goes out, what it must never do.
pub fn head(source: &Source) -> Complaints {
    let headless = is_rust(source) && !source.text.starts_with("//! ");
    let complaint = || format!("{}: does not begin with a `//!` head", source.path);
    headless.then(complaint).into_iter().collect()
}

/// Files, columns and functions stay readable.
pub fn limits(source: &Source) -> Complaints {
    if !is_rust(source) {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    let lines = source.text.lines().count();
    if lines > table::FILE_LINES {
        let most = table::FILE_LINES;
        wrong.push(format!("{}: {lines} lines, at most {most}: split it", source.path));
    }
    for (index, line) in source.text.lines().enumerate() {
        let columns = line.chars().count();
        if columns > table::COLUMNS {
            wrong.push(format!("{}: {columns} columns", source.at(index + 1)));
        }
    }
    for function in source.functions() {
        if function.lines > table::FUNCTION_LINES {
            let place = source.at(function.line);
            let (signature, lines) = (&function.signature, function.lines);
            wrong.push(format!("{place}: {lines} lines in one function: {signature}"));
        }
    }
    wrong
}

/// Nothing waits by sleeping, except the one function that waits for a condition.
pub fn no_sleep(source: &Source) -> Complaints {
    if !is_rust(source) || source.path == table::WAIT {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for word in ["sleep", "sleep_ms", "sleep_until"] {
        for at in words(&source.code, word) {
            let line = source.at(line_of(&source.code, at));
            wrong.push(format!("{line}: `{word}`: wait for a condition with `wait::until`"));
        }
    }
    wrong
}

/// No switches as parameters, and no serde tricks that lose where an error is.
pub fn no_blunt_tools(source: &Source) -> Complaints {
    if !is_rust(source) || !source.path.starts_with("src/") {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for function in source.functions() {
        let (parameters, _) =
            function.signature.split_once("->").unwrap_or((&function.signature, ""));
        if parameters.contains(": bool")
            && !parameters.contains("Fn(")
            && !parameters.contains("fn visit_bool")
        {
            let place = source.at(function.line);
            wrong.push(format!("{place}: a bool parameter; name the two cases: {parameters}"));
        }
    }
    for word in ["flatten", "untagged"] {
        for at in words(&source.product, word) {
            let before = source.product[..at].rsplit('\n').next().unwrap_or("");
            if before.contains("#[serde(") {
                let line = source.at(line_of(&source.product, at));
                wrong.push(format!("{line}: serde `{word}` loses where an error is"));
            }
        }
    }
    wrong
}

/// A file is named for what it holds.
pub fn file_names(source: &Source) -> Complaints {
    let parts = source.path.split('/').map(|part| part.split('.').next().unwrap_or(part));
    let vague = parts.filter(|part| table::VAGUE.contains(part));
    vague
        .map(|part| format!("{}: `{part}` says nothing; name what it holds", source.path))
        .collect()
}

/// Nothing depends on a registry's address or on the machine that it was written on.
pub fn no_foreign_places(source: &Source) -> Complaints {
    let name = source.path.rsplit('/').next().unwrap_or("");
    if table::LOCK_FILES.contains(&name) {
        return Vec::new();
    }
    let mut wrong = Vec::new();
    for (index, line) in source.text.lines().enumerate() {
        for host in table::REGISTRY_HOSTS.iter().filter(|host| line.contains(**host)) {
            wrong.push(format!("{}: names the registry {host}", source.at(index + 1)));
        }
        for place in table::PLACES.iter().filter(|place| starts_a_path(line, place)) {
            wrong.push(format!("{}: names a path of one machine, {place}", source.at(index + 1)));
        }
    }
    wrong
}

/// `/x/` at the beginning of an absolute path, not inside a longer one.
fn starts_a_path(line: &str, place: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || "._-/}$".contains(c);
    line.match_indices(place).any(|(at, _)| !line[..at].chars().next_back().is_some_and(inside))
}

fn is_rust(source: &Source) -> bool {
    let ours = source.path.starts_with("src/") || source.path.starts_with("tests/");
    ours && source.path.ends_with(".rs")
}
