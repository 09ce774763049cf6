//! The command line: verbs and options, parsed by clap, handed to the functions of this folder.
//! Arguments come in; the exit code of the verb comes out.
//! It must never interpret a suite or a report: it only says who does.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::{clean, doctor, exit, images, judge, output, plan, run, select, validate};
use crate::env::image::ImageChoice;
use crate::env::run_lock::Keep;
use crate::env::sweep::SweepScope;
use crate::plan::{Request, Subjects};

/// Proves, on real brokers, what happens to an event around its ACK.
#[derive(Debug, Parser)]
#[command(version, propagate_version = true, max_term_width = 100)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run suites on real servers and write reports.
    Run(RunArguments),
    /// Recompute the verdicts of a run from its recorded evidence.
    Judge {
        /// Output directory of the run.
        dir: PathBuf,
    },
    /// Say every problem of every suite file.
    Validate(validate::Arguments),
    /// Show the cells and units that a run would have.
    Plan {
        #[command(flatten)]
        selection: Selection,
        /// Print the whole plan as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Say what this machine has and lacks.
    Doctor,
    /// Get the images of the pinned servers: found, pulled or built.
    Images {
        #[command(flatten)]
        selection: Selection,
        /// Which images to use.
        #[arg(long, value_enum, default_value = "auto")]
        images: ImageChoice,
        /// Start every server once, side by side, say when it was ready, and remove it.
        #[arg(long)]
        boot: bool,
    },
    /// Remove what dead runs left at the container engine.
    Clean {
        /// Kept runs too.
        #[arg(long)]
        all: bool,
    },
}

#[derive(Debug, Args)]
struct RunArguments {
    #[command(flatten)]
    selection: Selection,
    /// Where evidence and reports go.
    #[arg(long, default_value = "ackproof-out")]
    out: PathBuf,
    /// Which images to use.
    #[arg(long, value_enum, default_value = "auto")]
    images: ImageChoice,
    /// Leave containers and volumes standing, until `clean --all`.
    #[arg(long)]
    keep: bool,
    /// How many units run side by side; 4 for each core by default.
    #[arg(long)]
    jobs: Option<std::num::NonZeroUsize>,
}

#[derive(Debug, Args)]
struct Selection {
    /// Suite files or folders.
    #[arg(default_value = "suites")]
    paths: Vec<PathBuf>,
    /// Folder of a worker (it has a worker.yaml), or of several such folders.
    #[arg(long, default_value = select::WORKERS)]
    workers: PathBuf,
    /// Which scenarios: a profile of the suites.
    #[arg(long)]
    profile: Option<String>,
    /// Which versions: a set of pins.yaml; may be given more than once.
    #[arg(long = "set", value_delimiter = ',')]
    sets: Vec<String>,
    /// Which scenarios: `id(GLOB)` over `property/scenario`.
    #[arg(long)]
    filter: Option<String>,
    /// Run controls as if they were the real worker: each must fail.
    #[arg(long)]
    only_controls: bool,
    /// Decides payloads and everything else that varies.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Selection {
    fn request(&self) -> Request {
        Request {
            profile: self.profile.clone(),
            sets: self.sets.clone(),
            overrides: Vec::new(),
            filter: self.filter.clone(),
            subjects: if self.only_controls { Subjects::OnlyControls } else { Subjects::Scenarios },
            seed: self.seed,
            manifests: Vec::new(),
        }
    }
}

/// Parses the arguments, does what they say, and gives the exit code.
pub fn main() -> u8 {
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) => {
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE } else { exit::OK };
        }
    };
    log_to_stderr();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::message(&format!("cannot start the runtime: {error}"));
            return exit::INCONCLUSIVE;
        }
    };
    runtime.block_on(dispatch(command.verb))
}

/// `RUST_LOG` decides; warnings by default.
fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,librdkafka=error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}

async fn dispatch(verb: Verb) -> u8 {
    match verb {
        Verb::Run(arguments) => {
            let options = run::Options {
                paths: arguments.selection.paths.clone(),
                workers: arguments.selection.workers.clone(),
                request: arguments.selection.request(),
                out: arguments.out,
                images: arguments.images,
                keep: if arguments.keep { Keep::Everything } else { Keep::Nothing },
                jobs: arguments.jobs.map(std::num::NonZeroUsize::get),
                command: std::env::args().collect(),
            };
            run::run(options).await
        }
        Verb::Judge { dir } => judge::judge(&dir),
        Verb::Validate(arguments) => validate::run(&arguments, validate::Surroundings::here()),
        Verb::Plan { selection, json } => {
            let selected =
                match select::select(&selection.paths, &selection.workers, selection.request()) {
                    Ok(selected) => selected,
                    Err(problems) => return select::report(&problems),
                };
            output::result(&match json.then(|| plan::json(&selected.plan)) {
                None => plan::table(&selected.plan),
                Some(Ok(json)) => json,
                Some(Err(error)) => error.to_string(),
            });
            exit::OK
        }
        Verb::Doctor => doctor::doctor().await,
        Verb::Images { selection, images, boot } => {
            let selected =
                select::select(&selection.paths, &selection.workers, selection.request());
            match selected {
                Ok(selected) if boot => images::boot(&selected.plan, images).await,
                Ok(selected) => images::images(&selected.plan, images).await,
                Err(problems) => select::report(&problems),
            }
        }
        Verb::Clean { all } => {
            clean::clean(if all { SweepScope::DeadAndKeptRuns } else { SweepScope::DeadRuns }).await
        }
    }
}
