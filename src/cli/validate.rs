//! `ackproof validate`: every problem of every suite file, or what was read.
//! Paths come in; problems and a summary, for people, programs or a code review, come out.
//! It must never start anything: it is what an editor or a pre-commit hook runs.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::select::{WORKERS, WORKERS_VARIABLE, manifest_paths};
use super::{exit, output};
use crate::suite::problem::Words;
use crate::suite::rule::Rule;
use crate::suite::{self, Problem, manifest};

/// What `ackproof validate` is asked.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Suite files or folders.
    #[arg(default_value = "suites")]
    paths: Vec<PathBuf>,
    /// Folder of a worker, or of several; fixtures/workers if it is there.
    #[arg(long, env = WORKERS_VARIABLE)]
    workers: Option<PathBuf>,
    /// How problems are shown; human by default, and github too where GITHUB_ACTIONS is true.
    #[arg(long, value_enum)]
    message_format: Option<MessageFormat>,
    /// Exit with 2 for warnings too.
    #[arg(long)]
    deny_warnings: bool,
    /// List the rules instead, one a line.
    #[arg(long)]
    rules: bool,
}

/// How problems are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// Source lines with carets, and a line that counts.
    Human,
    /// One object a line: rule, severity, file, line, column, end, message, help.
    Json,
    /// Workflow commands, which become annotations of a code review.
    Github,
}

/// What validation found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    pub suites: usize,
    pub scenarios: usize,
    pub problems: Vec<Problem>,
}

/// Does what the arguments say, and gives the exit code.
pub fn run(arguments: &Arguments, surroundings: Surroundings) -> u8 {
    if arguments.rules {
        return output::result(&rules(), exit::OK);
    }
    let validation = validate(&arguments.paths).with_workers(arguments.workers.as_deref());
    if arguments.workers.is_none() && manifest_paths(Path::new(WORKERS)).is_empty() {
        output::message(&format!(
            "no worker was looked at: there is none in {WORKERS}; --workers names another folder"
        ));
    }
    let formats = match (arguments.message_format, surroundings) {
        (Some(format), _) => vec![format],
        (None, Surroundings::GithubActions) => vec![MessageFormat::Human, MessageFormat::Github],
        (None, Surroundings::Other) => vec![MessageFormat::Human],
    };
    let denied = |problem: &Problem| problem.is_error() || arguments.deny_warnings;
    let is_denied = validation.problems.iter().any(denied);
    let mut code = if is_denied { exit::USAGE } else { exit::OK };
    for format in formats {
        let text = validation.shown(format);
        if !text.is_empty() {
            code = output::result(&text, code);
        }
    }
    code
}

/// Where the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surroundings {
    GithubActions,
    Other,
}

impl Surroundings {
    /// As the environment says.
    pub fn here() -> Self {
        match std::env::var("GITHUB_ACTIONS").is_ok_and(|value| value == "true") {
            true => Self::GithubActions,
            false => Self::Other,
        }
    }
}

/// Reads and examines everything under the paths.
pub fn validate<P: AsRef<Path>>(paths: &[P]) -> Validation {
    let loaded = suite::load(paths);
    let mut problems = suite::validate(&loaded);
    // A file alone is what an editor looks at; a folder is what is run.
    let folder = paths.iter().map(AsRef::as_ref).find(|path| path.is_dir());
    if let Some(folder) = folder
        && !loaded.suites.is_empty()
        && loaded.pins.is_empty()
    {
        let help = "a run needs versions: copy a file of `kind: pins` into the folder, or name one \
                    along with it";
        let message = "there is no set of pins with these suites";
        let words = Words::new(message).help(help.to_owned());
        problems.push(Problem::of_file(Rule::NoPins, &folder.display().to_string(), words));
    }
    Validation { suites: loaded.suites.len(), scenarios: loaded.scenarios().count(), problems }
}

/// Every rule that a file can break: name, severity, one line.
pub fn rules() -> String {
    let rules = || Rule::ALL.iter().filter(|rule| !rule.is_of_request());
    let width = rules().map(|rule| rule.name().len()).max().unwrap_or_default();
    rules()
        .map(|rule| format!("{rule:width$}  {:7}  {}\n", rule.severity(), rule.about()))
        .collect()
}

impl Validation {
    /// The same with the problems of the workers' manifests: in the folder, or where workers are
    /// unless one is named. What was read already is not told twice.
    pub fn with_workers(mut self, folder: Option<&Path>) -> Self {
        let paths = manifest_paths(folder.unwrap_or(Path::new(WORKERS)));
        if let (Some(folder), true) = (folder, paths.is_empty()) {
            let words = Words::new("no worker.yaml in this folder or in a folder below");
            let shown = folder.display().to_string();
            self.problems.push(Problem::of_file(Rule::NoWorker, &shown, words));
        }
        for path in paths {
            self.problems.extend(manifest::load(&path).err().unwrap_or_default());
        }
        self.problems.sort();
        self.problems.dedup();
        self
    }

    /// In one of the formats; every problem, each line ended.
    pub fn shown(&self, format: MessageFormat) -> String {
        match format {
            MessageFormat::Human => self.text(),
            MessageFormat::Json => {
                let lines = self.problems.iter().filter_map(|p| serde_json::to_string(p).ok());
                lines.map(|line| line + "\n").collect()
            }
            MessageFormat::Github => self.problems.iter().map(workflow_command).collect(),
        }
    }

    /// For people: the problems with their carets, then one line that counts.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for problem in &self.problems {
            text.push_str(&problem.rendered);
            text.push_str("\n\n");
        }
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let read =
            format!("{}, {}", count(self.suites, "suite"), count(self.scenarios, "scenario"));
        let errors = self.problems.iter().filter(|problem| problem.is_error()).count();
        let warnings = self.problems.len() - errors;
        let verdict = match (errors, warnings) {
            (0, 0) => "no problems".to_owned(),
            (_, 0) => count(errors, "error"),
            (0, _) => count(warnings, "warning"),
            _ => format!("{}, {}", count(errors, "error"), count(warnings, "warning")),
        };
        text.push_str(&format!("{read}: {verdict}\n"));
        text
    }
}

/// `::error file=…,line=…,col=…::…`; of a whole file without line and column.
fn workflow_command(problem: &Problem) -> String {
    let mut properties = vec![format!("file={}", property(&problem.file))];
    if problem.line > 0 {
        properties.push(format!("line={}", problem.line));
        properties.push(format!("col={}", problem.column));
        properties.push(format!("endColumn={}", problem.end));
    }
    properties.push(format!("title={}", problem.rule));
    let mut message = format!("{}\nhelp: {}", problem.message, problem.help);
    if let Some(note) = &problem.note {
        message.push_str(&format!("\nnote: {note}"));
    }
    format!("::{} {}::{}\n", problem.severity, properties.join(","), data(&message))
}

/// What a workflow command would end at, as escapes.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
