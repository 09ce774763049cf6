//! Finding suite files and reading each as what its `kind:` says.
//! Paths of files and folders come in; typed files and every problem met on the way come out.
//! It must never let one bad file hide another: all of them are tried.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::parse;
use super::problem::{Problem, suggest};
use super::source::{Route, Source};
use super::{Loaded, Read};

/// A suite is written by people; what is larger was given by mistake.
const MAX_BYTES: u64 = 1024 * 1024;
/// Folders below a folder that was given; deeper ones are not suites.
const MAX_DEPTH: usize = 16;

const KINDS: &[&str] = &["suite", "pins", "profile", "deviations", "worker"];

/// A file to read.
struct Found {
    path: PathBuf,
    relative: String,
}

/// Reads every `*.yaml` and `*.yml` among the paths and in the folders among them.
pub fn load<P: AsRef<Path>>(paths: &[P]) -> Loaded {
    let mut loaded = Loaded::default();
    let mut found = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let before = (found.len(), loaded.problems.len());
        find(path, String::new(), 0, &mut found, &mut loaded.problems);
        if (found.len(), loaded.problems.len()) == before {
            let help = "suites are files named *.yaml with a `kind:`";
            let message = "there is no YAML file in this folder";
            loaded.problems.push(Problem::of_file(&display(path), message, Some(help.into())));
        }
    }
    // The same file may be reached twice: by name and through its folder.
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    for file in found {
        if let Err(problem) = read(&file, &mut loaded) {
            loaded.problems.push(problem);
        }
    }
    loaded
}

fn find(
    path: &Path,
    relative: String,
    depth: usize,
    found: &mut Vec<Found>,
    problems: &mut Vec<Problem>,
) {
    let is_folder = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir());
    if !is_folder {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let relative = if depth == 0 { name.unwrap_or_default() } else { relative };
        found.push(Found { path: path.to_owned(), relative });
        return;
    }
    let entries = match std::fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>) {
        Ok(entries) => entries,
        Err(error) => return problems.push(unreadable(path, &error)),
    };
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let below = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let is_yaml = below.extension().is_some_and(|e| e == "yaml" || e == "yml");
        // Links to folders are not followed: they may lead in a circle.
        if name.starts_with('.') || !(is_folder && depth < MAX_DEPTH || is_yaml && !below.is_dir())
        {
            continue;
        }
        let relative = if relative.is_empty() { name } else { format!("{relative}/{name}") };
        find(&below, relative, depth + 1, found, problems);
    }
}

fn read(found: &Found, loaded: &mut Loaded) -> Result<(), Problem> {
    let source = open(&found.path, &found.relative)?;
    let kind = Route::default().key("kind");
    match source.scalar(&kind) {
        Some("suite") => loaded.suites.push(typed(source)?),
        Some("pins") => loaded.pins.push(typed(source)?),
        Some("profile") => loaded.profiles.push(typed(source)?),
        Some("deviations") => loaded.deviations.push(typed(source)?),
        Some("worker") => loaded.manifests.push(typed(source)?),
        Some(other) => {
            let help = suggest(other, KINDS.iter().copied());
            return Err(source.problem_with_help(&kind, format!("unknown kind `{other}`"), help));
        }
        None => {
            let help = Some(format!("add `kind:` with one of: {}", KINDS.join(", ")));
            let message = "this file does not say what it is: `kind` is missing";
            return Err(source.problem_with_help(&kind, message, help));
        }
    }
    Ok(())
}

fn typed<T: DeserializeOwned>(source: Source) -> Result<Read<T>, Problem> {
    let file = parse::typed(&source)?;
    Ok(Read { source, file })
}

/// The text of a file as a source; `relative` is its name in the suite hash.
///
/// # Errors
/// When it cannot be read, is too large, no UTF-8, or no YAML.
pub(crate) fn open(path: &Path, relative: &str) -> Result<Source, Problem> {
    let name = display(path);
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.len() > MAX_BYTES {
        let message = format!("{} bytes are too many for a suite file", metadata.len());
        return Err(Problem::of_file(&name, message, Some(format!("at most {MAX_BYTES}"))));
    }
    if !metadata.is_file() {
        // A pipe waits for a writer, and a device may never end.
        let help = Some("only regular files are read".to_owned());
        return Err(Problem::of_file(&name, "this is no file with a text in it", help));
    }
    let mut bytes = Vec::new();
    // Lengths can lie: files of the kernel have none, and others grow while they are read.
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let help = Some(format!("at most {MAX_BYTES}"));
        return Err(Problem::of_file(&name, "too many bytes for a suite file", help));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::of_file(&name, format!("byte {at} is not UTF-8"), None)
    })?;
    let text = text.strip_prefix('\u{FEFF}').map_or(text.clone(), str::to_owned);
    Source::new(name, relative.to_owned(), text)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    let message = match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "this program may not read it".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    Problem::of_file(&display(path), message, None)
}

fn display(path: &Path) -> String {
    path.strip_prefix("./").unwrap_or(path).display().to_string()
}
