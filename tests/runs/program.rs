//! The program under test and what it wrote.
//! Arguments come in; an ended run with its exit code, output and report document comes out.
//! It must never run two programs in one output directory.

use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A run that has ended.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub out: TempDir,
}

/// The command with a fresh output directory; the caller adds what it needs.
pub fn command(arguments: &[&str]) -> (Command, TempDir) {
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ackproof"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
    // One client is enough for what the runner itself does; a test of clients names others.
    command.args(arguments).env("ACKPROOF_WORKERS", "fixtures/workers/rust");
    if arguments.first() == Some(&"run") {
        command.arg("--out").arg(out.path());
    }
    (command, out)
}

/// Runs the program to its end.
pub fn run(arguments: &[&str]) -> Ended {
    run_with(arguments, &[])
}

/// Runs the program to its end, with more variables.
pub fn run_with(arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let (mut command, out) = command(arguments);
    command.envs(variables.iter().copied());
    ended(command.output().expect("the program runs"), out)
}

/// Starts the program and does not wait for it.
pub fn start(arguments: &[&str]) -> (Child, TempDir) {
    let (mut command, out) = command(arguments);
    let child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
    (child, out)
}

/// What a program that was started by hand came to.
pub fn ended(output: Output, out: TempDir) -> Ended {
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        out,
    }
}

impl Ended {
    /// Fails with everything that the program said, unless the code is this one.
    pub fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.out.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// The report document.
    pub fn report(&self) -> Value {
        serde_json::from_str(&self.text("report.json")).expect("report.json is JSON")
    }

    /// All cells of the report.
    pub fn cells(&self) -> Vec<Value> {
        self.report()["cells"].as_array().expect("cells").clone()
    }

    /// The only cell whose id begins so.
    pub fn cell(&self, start: &str) -> Value {
        let mut found = self
            .cells()
            .into_iter()
            .filter(|cell| cell["id"].as_str().is_some_and(|id| id.starts_with(start)));
        let cell = found.next().unwrap_or_else(|| panic!("no cell {start}"));
        assert!(found.next().is_none(), "more than one cell {start}");
        cell
    }

    /// A strict XML parser reads the JUnit file to its end.
    pub fn expect_strict_xml(&self) -> &Self {
        let text = self.text("junit.xml");
        let mut reader = quick_xml::Reader::from_str(&text);
        loop {
            match reader.read_event() {
                Ok(quick_xml::events::Event::Eof) => break,
                Ok(_) => {}
                Err(error) => panic!("junit.xml: {error}"),
            }
        }
        let legal = |c: char| {
            matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}'
            | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
        };
        assert!(text.chars().all(legal), "junit.xml holds characters that XML 1.0 forbids");
        self
    }
}
