//! The command line: verbs and options, parsed by clap, handed to the functions of this folder.
//! Arguments come in; the exit code of the verb comes out.
//! It must never interpret a suite or a report: it only says who does.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use super::explain::Explanations;
use super::run::{Known, Manner, OnFailure, Shown};
use super::{
    clean, compare, completions, doctor, exit, explain, images, init, judge, list, lock, output,
};
use super::{plan, rerun, run, schema, select, validate, verify};
use crate::env::image::ImageChoice;
use crate::env::run_lock::Keep;
use crate::env::sweep::SweepScope;
use crate::names::BrokerKind;
use crate::plan::{Request, Subjects};
use crate::suite::Problem;

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
    Run {
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        chance: Chance,
        /// Where evidence and reports go.
        #[arg(long, default_value = "ackproof-out")]
        out: PathBuf,
        /// Run nothing unless images and workers hold what `pins.lock`, beside `pins.yaml`, says.
        #[arg(long)]
        locked: bool,
        #[command(flatten)]
        manner: MannerArguments,
    },
    /// Run again what failed or was inconclusive in an earlier run, with the same seeds.
    Rerun {
        /// Output directory of the earlier run.
        #[arg(default_value = "ackproof-out")]
        dir: PathBuf,
        /// Folder of a worker (it has a worker.yaml), or of several such folders.
        #[arg(long, env = select::WORKERS_VARIABLE, default_value = select::WORKERS)]
        workers: PathBuf,
        /// Where evidence and reports go; not the earlier run's directory.
        #[arg(long, default_value = "ackproof-rerun")]
        out: PathBuf,
        #[command(flatten)]
        manner: MannerArguments,
    },
    /// Recompute the verdicts of a run from its recorded evidence, and write the reports anew.
    Judge {
        /// Output directory of the run.
        dir: PathBuf,
    },
    /// Say whether a report follows from the evidence beside it; writes nothing.
    Verify {
        /// The report.json of a run, with its evidence in the same folder.
        report: PathBuf,
        /// The root hash that the evidence must have, from wherever it was noted down.
        #[arg(long, value_name = "ROOTHASH")]
        expect: Option<verify::RootHash>,
    },
    /// List scenarios, or which clauses of the delivery contract they show.
    List {
        /// Suite files or folders.
        #[arg(default_value = "suites")]
        paths: Vec<PathBuf>,
        /// Only scenarios of a profile of the suites.
        #[arg(long)]
        profile: Option<String>,
        /// Clause by clause, with the clauses that no scenario shows.
        #[arg(long)]
        contract: bool,
        /// Print a JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Say every problem of every suite file.
    Validate(validate::Arguments),
    /// Write a first suite, its versions and a profile into a new folder.
    Init {
        /// The folder.
        #[arg(default_value = "suites")]
        dir: PathBuf,
        /// The broker that the suite is run on.
        #[arg(long, value_enum, default_value = "kafka")]
        broker: Broker,
        /// Partitions of its topic.
        #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=64))]
        partitions: u16,
    },
    /// Show the cells and units that a run would have.
    Plan {
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        chance: Chance,
        /// Print the whole plan as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Say what a word of suites, reports or the worker protocol means; list all words without one.
    Explain {
        /// A key, check, fault, point, pattern, capability, clause, outcome, …
        word: Option<String>,
        /// Suites to take examples from.
        #[arg(long, default_value = "suites")]
        suites: PathBuf,
    },
    /// Print the JSON Schema of a kind of YAML file, for editors.
    Schema {
        /// What the file's `kind:` says.
        #[arg(value_enum, default_value = "suite")]
        kind: schema::Kind,
    },
    /// Show clients side by side: what each did in the same scenario, and in what they differ.
    Compare {
        /// Output directories of runs, with one client each or with several.
        #[arg(default_value = "ackproof-out")]
        dirs: Vec<PathBuf>,
        /// A document instead of Markdown.
        #[arg(long)]
        json: bool,
    },
    /// Say what this machine has and lacks.
    Doctor {
        /// Folder of a worker (it has a worker.yaml), or of several such folders.
        #[arg(long, env = select::WORKERS_VARIABLE, default_value = select::WORKERS)]
        workers: PathBuf,
    },
    /// Get the images of the pinned servers: found, pulled or built.
    Images {
        #[command(flatten)]
        selection: Selection,
        /// Which images to use.
        #[arg(long, value_enum, default_value = "auto")]
        images: ImageChoice,
        #[command(flatten)]
        doing: Doing,
    },
    /// Remove what dead runs left at the container engine.
    Clean {
        /// Kept runs too.
        #[arg(long)]
        all: bool,
    },
    /// Print what a shell needs to complete verbs and options.
    Completions {
        /// The shell that is to read it.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

/// What is done with images that are there.
#[derive(Debug, Args)]
struct Doing {
    /// Start every server once, side by side, say when it was ready, and remove it.
    #[arg(long)]
    boot: bool,
    /// Write hashes of what the images and the workers' lock files hold into `pins.lock`,
    /// beside `pins.yaml`, for `run --locked`.
    #[arg(long, conflicts_with = "boot")]
    lock: bool,
}

/// Brokers, as the command line spells them.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Broker {
    Kafka,
    Pulsar,
}

impl From<Broker> for BrokerKind {
    fn from(broker: Broker) -> Self {
        match broker {
            Broker::Kafka => Self::Kafka,
            Broker::Pulsar => Self::Pulsar,
        }
    }
}

#[derive(Debug, Args)]
struct MannerArguments {
    /// Which images to use.
    #[arg(long, value_enum, default_value = "auto")]
    images: ImageChoice,
    /// Leave containers and volumes standing, until `clean --all`.
    #[arg(long)]
    keep: bool,
    /// How many units run side by side; 4 for each core by default.
    #[arg(long)]
    jobs: Option<NonZeroUsize>,
    /// Start no other unit once a cell has failed; what is missing is inconclusive.
    #[arg(long)]
    fail_fast: bool,
    /// A known deviation that shows counts as a failure.
    #[arg(long)]
    strict: bool,
    /// Show no progress, only the result.
    #[arg(long)]
    quiet: bool,
}

impl MannerArguments {
    fn manner(self, out: PathBuf) -> Manner {
        Manner {
            out,
            images: self.images,
            keep: if self.keep { Keep::Everything } else { Keep::Nothing },
            jobs: self.jobs.map(NonZeroUsize::get),
            on_failure: if self.fail_fast { OnFailure::StartNoMore } else { OnFailure::GoOn },
            known: if self.strict { Known::Failure } else { Known::Tolerated },
            progress: if self.quiet { Shown::Nothing } else { Shown::Everything },
            lock: None,
        }
    }
}

#[derive(Debug, Args)]
struct Selection {
    /// Suite files or folders.
    #[arg(default_value = "suites")]
    paths: Vec<PathBuf>,
    /// Folder of a worker (it has a worker.yaml), or of several such folders.
    #[arg(long, env = select::WORKERS_VARIABLE, default_value = select::WORKERS)]
    workers: PathBuf,
    /// Which scenarios: a profile of the suites.
    #[arg(long)]
    profile: Option<String>,
    /// Which versions: a set of pins.yaml; may be given more than once.
    #[arg(long = "set", value_delimiter = ',')]
    sets: Vec<String>,
    /// Which versions of client libraries: a set of clients of pins.yaml, beside which servers; may
    /// be given more than once. Without it each worker has the versions of its manifest.
    #[arg(long, value_delimiter = ',')]
    clients: Vec<String>,
    /// Publish with this client library in all cells of its broker, whoever consumes.
    #[arg(long, value_name = "LIBRARY")]
    producer: Option<String>,
    /// Another version of one server or client library in every set, as `kafka=4.4.0`; may be given
    /// more than once.
    #[arg(long = "pin", value_name = "NAME=VERSION", value_delimiter = ',')]
    pins: Vec<String>,
    /// Which cells: predicates `id`, `property`, `clause`, `broker`, `client`, `level` with a GLOB
    /// in parentheses, `all()` and `none()`, joined by `and`, `or`, `not` and parentheses. Given
    /// more than once, a cell is taken if one of them takes it.
    #[arg(long = "filter", value_name = "EXPRESSION")]
    filters: Vec<String>,
    /// One part of several, as `2/5`; a cell's part depends on its id alone.
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// Leave out the cells of a language, toolchain, worker or broker that may be missing; the
    /// profile is then reported as partial. May be given more than once.
    #[arg(long, value_name = "WORD", value_delimiter = ',')]
    without: Vec<String>,
    /// Run controls as if they were the real worker: each must fail.
    #[arg(long)]
    only_controls: bool,
}

/// What the images of a plan do not depend on.
#[derive(Debug, Args)]
struct Chance {
    /// Decides payloads and everything else that varies.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run each cell N times, each time with its own seed, as cells of their own.
    #[arg(long, value_name = "N", default_value = "1")]
    repeat: NonZeroU32,
}

impl Chance {
    const NONE: Self = Self { seed: 1, repeat: NonZeroU32::MIN };
}

impl Selection {
    fn request(&self, chance: &Chance) -> Request {
        Request {
            profile: self.profile.clone(),
            sets: self.sets.clone(),
            clients: self.clients.clone(),
            producer: self.producer.clone(),
            overrides: self.pins.clone(),
            filters: self.filters.clone(),
            subjects: if self.only_controls { Subjects::OnlyControls } else { Subjects::Scenarios },
            seed: chance.seed,
            repeat: chance.repeat,
            shard: self.shard.clone(),
            without: self.without.clone(),
            manifests: Vec::new(),
        }
    }
}

/// Every verb and option, as clap knows them.
pub fn definition() -> clap::Command {
    Command::command()
}

/// Parses the arguments, does what they say, and gives the exit code.
pub fn main() -> u8 {
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) => {
            let printed = error.print();
            return if error.use_stderr() { exit::USAGE } else { output::after(printed, exit::OK) };
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

/// Prints what came out, or the problem.
fn told(result: Result<String, Problem>) -> u8 {
    match result {
        Ok(text) => output::result(&text, exit::OK),
        Err(problem) => {
            output::message(&problem.rendered);
            exit::USAGE
        }
    }
}

/// Prints a document, or says why there is none.
fn written(what: &str, text: Result<String, serde_json::Error>) -> u8 {
    match text {
        Ok(text) => output::result(&text, exit::OK),
        Err(error) => {
            output::message(&format!("the {what} cannot be written as JSON: {error}"));
            exit::INCONCLUSIVE
        }
    }
}

async fn dispatch(verb: Verb) -> u8 {
    match verb {
        Verb::Run { selection, chance, out, manner, locked } => {
            let lock = locked.then(|| lock::place(&selection.paths));
            let options = run::Options {
                request: selection.request(&chance),
                paths: selection.paths,
                workers: selection.workers,
                manner: Manner { lock, ..manner.manner(out) },
                command: std::env::args().collect(),
            };
            run::run(options).await
        }
        Verb::Rerun { dir, workers, out, manner } => {
            rerun::rerun(&dir, &workers, manner.manner(out)).await
        }
        Verb::Judge { dir } => judge::judge(&dir),
        Verb::Verify { report, expect } => verify::verify(&report, expect.as_ref()),
        Verb::List { paths, profile, contract, json } => {
            let form = if json { list::Form::Json } else { list::Form::Table };
            match list::list(&paths, profile.as_deref()) {
                Ok(listing) if contract => written("list", listing.contract().text(form)),
                Ok(listing) => written("list", listing.text(form)),
                Err(problems) => select::report(&problems),
            }
        }
        Verb::Completions { shell } => output::result(&completions::completions(shell), exit::OK),
        Verb::Validate(arguments) => validate::run(&arguments, validate::Surroundings::here()),
        Verb::Init { dir, broker, partitions } => {
            told(init::init(&dir, init::Choice { broker: broker.into(), partitions }))
        }
        Verb::Plan { selection, chance, json } => {
            let selected = match select::select(
                &selection.paths,
                &selection.workers,
                selection.request(&chance),
            ) {
                Ok(selected) => selected,
                Err(problems) => return select::report(&problems),
            };
            match json.then(|| plan::json(&selected.plan)) {
                None => output::result(&plan::table(&selected.plan), exit::OK),
                Some(text) => written("plan", text),
            }
        }
        Verb::Explain { word, suites } => told(match word {
            Some(word) => Explanations::open(&suites).of(&word),
            None => Ok(explain::list()),
        }),
        Verb::Schema { kind } => output::result(&schema::text(kind.into()), exit::OK),
        Verb::Compare { dirs, json } => compare::compare(
            &dirs,
            if json { compare::Form::Json } else { compare::Form::Markdown },
        ),
        Verb::Doctor { workers } => doctor::doctor(&workers).await,
        Verb::Images { selection, images, doing } => get_images(&selection, images, &doing).await,
        Verb::Clean { all } => {
            clean::clean(if all { SweepScope::DeadAndKeptRuns } else { SweepScope::DeadRuns }).await
        }
    }
}

async fn get_images(selection: &Selection, choice: ImageChoice, doing: &Doing) -> u8 {
    let request = selection.request(&Chance::NONE);
    match select::select(&selection.paths, &selection.workers, request) {
        Ok(selected) if doing.lock => {
            images::lock(&selected, choice, &lock::place(&selection.paths)).await
        }
        Ok(selected) if doing.boot => images::boot(&selected.plan, choice).await,
        Ok(selected) => images::images(&selected.plan, choice).await,
        Err(problems) => select::report(&problems),
    }
}
