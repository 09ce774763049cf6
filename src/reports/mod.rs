//! Reports: a `RunReport` becomes files for machines and people, one renderer a file.
//! Verdicts come in, complete and final; JUnit, JSON, Markdown and console text come out.
//! A renderer must never judge, reorder outcomes, read a history, or leave a half-written file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::verdict::RunReport;

pub mod console;
pub mod divergence;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod progress;
mod story;
mod text;

/// Name of the JUnit report below the output directory.
pub const JUNIT: &str = "junit.xml";
/// Name of the report document below the output directory.
pub const JSON: &str = "report.json";
/// Name of the summary for people below the output directory.
pub const SUMMARY: &str = "summary.md";

/// A renderer: the whole report in, the whole text of one file out.
type Renderer = fn(&RunReport) -> io::Result<String>;

/// Every report file. Adding a format is one file and one line here.
const FORMATS: [(&str, Renderer); 3] = [
    (JUNIT, junit::render),
    (JSON, json::render),
    (SUMMARY, |report| Ok(markdown::render(report))),
];

/// Writes every report file into `dir`, which is created where it is missing.
///
/// A file appears complete or not at all (temporary file in the same directory, then a rename), and
/// one that cannot be written does not keep the others from being written.
///
/// # Errors
/// The first one met, with the file's name in its message.
pub fn write_all(dir: &Path, report: &RunReport) -> io::Result<()> {
    fs::create_dir_all(dir)?;
    let mut first_error = None;
    for (name, render) in FORMATS {
        let written = render(report).and_then(|text| write_atomically(dir, name, &text));
        if let Err(error) = written {
            let named = io::Error::new(error.kind(), format!("cannot write {name}: {error}"));
            first_error.get_or_insert(named);
        }
    }
    first_error.map_or(Ok(()), Err)
}

/// Puts `text` under `dir/name` in one step, for every reader and for every crash.
///
/// # Errors
/// When it cannot be written; nothing is left behind then.
pub fn write_atomically(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    let partial = dir.join(format!(".{name}.partial"));
    let done = fill(&partial, text).and_then(|()| fs::rename(&partial, dir.join(name)));
    if done.is_err() {
        // The first cause counts: a leftover that cannot be removed either must not hide it.
        let _ = fs::remove_file(&partial);
        return done;
    }
    // The rename itself is in the directory; without this a power cut could undo it.
    File::open(dir)?.sync_all()
}

fn fill(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
