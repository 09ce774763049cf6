//! Finding suite files and reading each as what its `kind:` says.
//! Paths of files and folders come in; typed files and every problem met on the way come out.
//! It must never let one bad file hide another: all of them are tried.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::compose::{self, Draft, Library, Place};
use super::model::SuiteFile;
use super::parse;
use super::problem::{Problem, Words, suggest};
use super::rule::Rule;
use super::source::{Route, Source};
use super::{Fragments, Loaded, Read};

/// A suite is written by people; what is larger was given by mistake.
const MAX_BYTES: u64 = 1024 * 1024;
/// Folders below a folder that was given; deeper ones are not suites.
const MAX_DEPTH: usize = 16;

const KINDS: &[&str] = &["suite", "fragments", "pins", "profile", "deviations", "worker"];

/// The file by which a folder of suites is known from inside.
const PINS: &str = "pins.yaml";

/// A file to read.
struct Found {
    path: PathBuf,
    relative: String,
    /// The folder that was given, if it was found in one.
    folder: Option<PathBuf>,
}

/// What is shared by the files of one reading.
#[derive(Default)]
struct Reading {
    library: Library,
    /// Fragments that stand in a folder of suites.
    fragments: Vec<(Draft, PathBuf)>,
}

/// Reads every `*.yaml` and `*.yml` among the paths and in the folders among them.
pub fn load<P: AsRef<Path>>(paths: &[P]) -> Loaded {
    let mut loaded = Loaded::default();
    let mut found = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let before = (found.len(), loaded.problems.len());
        find(path, String::new(), 0, &mut found, &mut loaded.problems);
        let is_folder = path.is_dir();
        for file in found.iter_mut().skip(before.0) {
            file.folder = is_folder.then(|| path.to_owned());
        }
        if (found.len(), loaded.problems.len()) == before {
            let words = Words::new("there is no YAML file in this folder");
            let problem = Problem::of_file(Rule::NoSuiteFile, &display(path), words);
            loaded.problems.push(problem);
        }
    }
    // The same file may be reached twice: by name and through its folder.
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found.dedup_by(|a, b| a.path == b.path);
    let mut reading = Reading::default();
    for file in found {
        if let Err(problems) = read(&file, &mut reading, &mut loaded) {
            loaded.problems.extend(problems);
        }
    }
    let Reading { library, fragments } = reading;
    let idle = fragments.iter().filter_map(|(draft, path)| library.idle(draft, path));
    loaded.problems.extend(idle);
    let fragments = library
        .texts()
        .map(|(relative, text)| Fragments { relative: relative.to_owned(), text: text.to_owned() });
    loaded.fragments = fragments.collect();
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
        found.push(Found { path: path.to_owned(), relative, folder: None });
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

fn read(found: &Found, reading: &mut Reading, loaded: &mut Loaded) -> Result<(), Vec<Problem>> {
    let name = display(&found.path);
    let one = |problem| vec![problem];
    let text = read_text(&found.path, &name).map_err(one)?;
    let source = match Draft::new(&name, &text) {
        Some(draft) if draft.kind() == Some("suite") => {
            return suite(&draft, found, text, &mut reading.library, loaded);
        }
        Some(draft) if draft.kind() == Some("fragments") => {
            if found.folder.is_some() {
                reading.fragments.push((draft, found.path.clone()));
            }
            return Ok(());
        }
        Some(_) => Source::new(name, found.relative.clone(), text).map_err(one)?,
        None => {
            let composed = compose::unfilled(&name, &text);
            Source::of(composed, name, found.relative.clone(), text).map_err(one)?
        }
    };
    let kind = Route::default().key("kind");
    match source.scalar(&kind) {
        Some("suite") => loaded.suites.push(typed(source)?),
        Some("pins") => loaded.pins.push(typed(source)?),
        Some("profile") => loaded.profiles.push(typed(source)?),
        Some("deviations") => loaded.deviations.push(typed(source)?),
        Some("worker") => loaded.manifests.push(typed(source)?),
        Some(other) => {
            let help = suggest(other, KINDS.iter().copied());
            let message = format!("unknown kind `{other}`");
            return Err(vec![source.problem_with_help(Rule::UnknownKind, &kind, message, help)]);
        }
        None => {
            let help = Some(format!("add `kind:` with one of: {}", KINDS.join(", ")));
            let message = "this file does not say what it is: `kind` is missing";
            return Err(vec![source.problem_with_help(Rule::MissingKind, &kind, message, help)]);
        }
    }
    Ok(())
}

/// A suite with its matrices, variables and includes; problems of these go to the others.
fn suite(
    draft: &Draft,
    found: &Found,
    text: String,
    library: &mut Library,
    loaded: &mut Loaded,
) -> Result<(), Vec<Problem>> {
    let (path, relative) = (found.path.clone(), found.relative.clone());
    let place = Place { root: root(found), path, relative: relative.clone() };
    let suite = compose::suite(draft, &place, library, &mut loaded.problems);
    let Some(suite) = suite else { return Ok(()) };
    let source = Source::of(suite.composed, display(&found.path), relative, text)
        .map_err(|problem| vec![problem])?;
    let mut read: Read<SuiteFile> = typed(source)?;
    for (scenario, combination) in read.file.scenarios.iter_mut().zip(suite.combinations) {
        let Some(combination) = combination else { continue };
        scenario.value.id.value.push_str(&combination.suffix);
        scenario.value.combination = Some(combination);
    }
    loaded.suites.push(read);
    Ok(())
}

/// The folder that a file's includes may not leave, however it was given: the nearest one with
/// pins, else the one that was given, else its own.
fn root(found: &Found) -> PathBuf {
    let own = found.path.parent().unwrap_or(Path::new(""));
    let own = if own.as_os_str().is_empty() { Path::new(".") } else { own };
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let above = real(own);
    let pinned = above.ancestors().find(|folder| folder.join(PINS).is_file());
    let given = found.folder.as_deref().unwrap_or(own);
    pinned.map_or_else(|| real(given), Path::to_owned)
}

fn typed<T: DeserializeOwned>(source: Source) -> Result<Read<T>, Vec<Problem>> {
    let file = parse::typed(&source)?;
    Ok(Read { source, file })
}

/// The text of a file as a source; `relative` is its name in the suite hash.
///
/// # Errors
/// When it cannot be read, is too large, no UTF-8, or no YAML.
pub(crate) fn open(path: &Path, relative: &str) -> Result<Source, Problem> {
    let name = display(path);
    let text = read_text(path, &name)?;
    Source::new(name, relative.to_owned(), text)
}

/// The text of a file that problems call `name`.
///
/// # Errors
/// When it cannot be read, is too large, or no UTF-8.
pub(super) fn read_text(path: &Path, name: &str) -> Result<String, Problem> {
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if metadata.len() > MAX_BYTES {
        let message = format!("{} bytes are too many for a suite file", metadata.len());
        return Err(too_large(name, message));
    }
    if !metadata.is_file() {
        // A pipe waits for a writer, and a device may never end.
        let words = Words::new("this is no file with a text in it")
            .help("only regular files are read".to_owned());
        return Err(Problem::of_file(Rule::UnreadableFile, name, words));
    }
    let mut bytes = Vec::new();
    // Lengths can lie: files of the kernel have none, and others grow while they are read.
    std::fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large(name, "too many bytes for a suite file".to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Problem::of_file(Rule::NotUtf8, name, Words::new(format!("byte {at} is not UTF-8")))
    })?;
    Ok(text.strip_prefix('\u{FEFF}').map_or(text.clone(), str::to_owned))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    let message = match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "this program may not read it".to_owned(),
        _ => format!("cannot be read: {error}"),
    };
    Problem::of_file(Rule::UnreadableFile, &display(path), Words::new(message))
}

fn too_large(name: &str, message: String) -> Problem {
    let help = format!("at most {MAX_BYTES} bytes");
    Problem::of_file(Rule::TooLarge, name, Words::new(message).help(help))
}

fn display(path: &Path) -> String {
    path.strip_prefix("./").unwrap_or(path).display().to_string()
}
