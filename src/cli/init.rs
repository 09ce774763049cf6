//! `ackproof init`: a first suite, the versions that it is run on, and a profile, in a new folder.
//! A folder and two choices come in; files and a text with the next command come out.
//! It must never write into a folder that holds anything, nor a file that `validate` would refuse.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use super::schema;
use crate::names::BrokerKind;
use crate::suite::Problem;
use crate::suite::problem::Words;
use crate::suite::rule::Rule;
use crate::suite::schema::FileKind;

const SUITE: &str = include_str!("../../fixtures/init/killed-before-ack.yaml");
const PROFILE: &str = include_str!("../../fixtures/init/quick.yaml");
const PINS: &str = include_str!("../../suites/pins.yaml");

/// Lines of the suite that a choice changes.
const BROKERS: &str = "    brokers: [kafka]\n";
const PARTITIONS: &str = "      partitions: 3\n";
const KAFKA_OPTIONS: &str = concat!(
    "        # A static member takes its partitions over at once; ",
    "any other waits for the session to end.\n",
    "        options: {kafka: {group.instance.id: consumer}}\n",
);

/// What the first suite is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    pub broker: BrokerKind,
    /// Of the topic; 1 to 64.
    pub partitions: u16,
}

/// The files of a first suite: path below the folder, and text.
pub fn files(choice: Choice) -> Vec<(&'static str, String)> {
    let here = PINS.replace("$schema=../fixtures/schemas/", "$schema=schemas/");
    vec![
        ("at-least-once/killed-before-ack.yaml", suite(choice)),
        ("pins.yaml", here),
        ("profiles/quick.yaml", PROFILE.to_owned()),
        ("schemas/suite.schema.json", schema::text(FileKind::Suite)),
        ("schemas/pins.schema.json", schema::text(FileKind::Pins)),
        ("schemas/profile.schema.json", schema::text(FileKind::Profile)),
    ]
}

fn suite(choice: Choice) -> String {
    let text = SUITE
        .replace(BROKERS, &format!("    brokers: [{}]\n", choice.broker))
        .replace(PARTITIONS, &format!("      partitions: {}\n", choice.partitions));
    match choice.broker {
        BrokerKind::Kafka => text,
        BrokerKind::Pulsar => text.replace(KAFKA_OPTIONS, ""),
    }
}

/// Writes a first suite into a new or empty folder, and says what to do with it.
///
/// # Errors
/// A problem when the folder holds something or cannot be written.
pub fn init(folder: &Path, choice: Choice) -> Result<String, Problem> {
    let shown = folder.display().to_string();
    if is_occupied(folder) {
        let help = "name a new folder: `ackproof init FOLDER`; nothing is overwritten";
        let message = "there is something in this place already";
        let words = Words::new(message).help(help.to_owned());
        return Err(Problem::of_file(Rule::OccupiedFolder, &shown, words));
    }
    let mut text = String::new();
    for (name, content) in files(choice) {
        let path = folder.join(name);
        write(&path, &content).map_err(|error| {
            let message = format!("cannot be written: {error}");
            let shown = path.display().to_string();
            Problem::of_file(Rule::UnreadableFile, &shown, Words::new(message))
        })?;
        let _ = writeln!(text, "wrote {}", path.display());
    }
    let _ = writeln!(text, "\nnext, from the checkout, with the reference worker:");
    let _ = writeln!(text, "  ackproof run {shown}");
    let _ = writeln!(text, "and with a worker of your own (fixtures/workers/PROTOCOL.md):");
    let _ = writeln!(text, "  ackproof run {shown} --workers FOLDER-OF-YOUR-WORKER");
    Ok(text)
}

/// A file, or a folder with anything in it. What cannot be read is not empty.
fn is_occupied(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut file = std::fs::File::create_new(path)?;
    io::Write::write_all(&mut file, text.as_bytes())
}
