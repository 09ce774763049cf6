//! Damaged suite files by the hundred thousand: whatever comes in, problems come out.
//! Takes a seed, a number of inputs and a number of seconds; prints what it tried, and its peak
//! memory. An input that panics, hangs, is answered twice differently or shown without its place
//! is kept beside the build, named by seed and number; the exit code is then 1.
//! It must never depend on anything but its arguments and the files of the project.

mod damage;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use ackproof::suite::rule::Rule;
use ackproof::suite::{Problem, load, validate};
use damage::{Chance, Corpus};

/// An input that takes longer hangs.
const HANG: Duration = Duration::from_secs(10);
/// Peak memory that is allowed, in kB.
const MOST_KB: u64 = 200 * 1024;
/// Every so-manieth input is read twice, and has to be answered alike.
const AGAIN: u64 = 16;
/// After so many failures the rest is not worth the time.
const ENOUGH: usize = 20;

struct Arguments {
    seed: u64,
    inputs: u64,
    limit: Duration,
    /// Only this input, to see it fail again.
    only: Option<u64>,
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        eprintln!("usage: suites SEED INPUTS SECONDS [ONLY_THIS_INPUT]");
        return ExitCode::from(2);
    };
    let folder = Path::new("target/fuzz");
    if let Err(error) = std::fs::create_dir_all(folder) {
        eprintln!("{}: {error}; run it from the checkout", folder.display());
        return ExitCode::from(2);
    }
    let corpus = match Corpus::read() {
        Ok(corpus) => corpus,
        Err(error) => {
            eprintln!("{error}; run it from the checkout");
            return ExitCode::from(2);
        }
    };
    match fuzz(&arguments, folder, &corpus) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            eprintln!("{failures} inputs failed; they are in {}", folder.display());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn arguments() -> Option<Arguments> {
    let numbers: Vec<u64> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>().ok()?;
    match numbers[..] {
        [seed, inputs, seconds] => {
            Some(Arguments { seed, inputs, limit: Duration::from_secs(seconds), only: None })
        }
        [seed, inputs, seconds, only] => {
            let limit = Duration::from_secs(seconds);
            Some(Arguments { seed, inputs, limit, only: Some(only) })
        }
        _ => None,
    }
}

fn fuzz(arguments: &Arguments, folder: &Path, corpus: &Corpus) -> std::io::Result<usize> {
    let alive = watch();
    let path = folder.join("input.yaml");
    let started = Instant::now();
    let (mut tried, mut read, mut failures) = (0_u64, 0_u64, 0);
    let mut slowest = (Duration::ZERO, 0);
    let mut rules: BTreeSet<Rule> = BTreeSet::new();
    let all = arguments.only.map_or(0..arguments.inputs, |only| only..only.saturating_add(1));
    for number in all {
        if started.elapsed() >= arguments.limit || failures >= ENOUGH {
            break;
        }
        let mut chance = Chance::new(arguments.seed, number);
        let bytes = damage::input(corpus, &mut chance);
        // It stays there if the process itself does not.
        std::fs::write(&path, &bytes)?;
        let _ = alive.send(());
        let began = Instant::now();
        let answer = std::panic::catch_unwind(|| examine(&path, &bytes, number));
        slowest = slowest.max((began.elapsed(), number));
        tried += 1;
        match answer {
            Ok(Ok(found)) => {
                read += u64::from(found.is_empty());
                rules.extend(found);
            }
            Ok(Err(why)) => {
                eprintln!("input {number} of seed {}: {why}", arguments.seed);
                keep(&path, folder, arguments.seed, number)?;
                failures += 1;
            }
            Err(_) => {
                eprintln!("input {number} of seed {}: a panic, see above", arguments.seed);
                keep(&path, folder, arguments.seed, number)?;
                failures += 1;
            }
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    let peak = peak_kb()?;
    println!(
        "seed {}: {tried} inputs in {seconds:.1} s, {read} of them without a problem, {} rules \
         shown, slowest {} ms (input {}), peak memory {} MB of {} MB",
        arguments.seed,
        rules.len(),
        slowest.0.as_millis(),
        slowest.1,
        peak / 1024,
        MOST_KB / 1024,
    );
    if peak > MOST_KB {
        eprintln!("too much memory");
        failures += 1;
    }
    if tried == 0 {
        eprintln!("nothing was tried");
        failures += 1;
    }
    Ok(failures)
}

/// A thread that ends the process when nothing is heard for too long.
fn watch() -> mpsc::Sender<()> {
    let (alive, heard) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        loop {
            match heard.recv_timeout(HANG) {
                Ok(()) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    eprintln!("an input hangs: target/fuzz/input.yaml");
                    std::process::abort();
                }
            }
        }
    });
    alive
}

/// The rules that the file breaks, or what is wrong with the answer.
fn examine(path: &PathBuf, bytes: &[u8], number: u64) -> Result<BTreeSet<Rule>, String> {
    let problems = validate(&load(&[path]));
    if number.is_multiple_of(AGAIN) && problems != validate(&load(&[path])) {
        return Err("two answers for one file".to_owned());
    }
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.trim_start_matches('\u{FEFF}').split('\n').collect();
    for problem in &problems {
        if !is_placed(problem, &lines) {
            return Err(format!("not in the file: {}:{}", problem.line, problem.column));
        }
        let is_bad = |c: char| c.is_control() && c != '\n' || c == '\u{202E}';
        if problem.rendered.contains(is_bad) || problem.message.contains(is_bad) {
            return Err(format!("unprintable: {:?}", problem.message));
        }
    }
    Ok(problems.into_iter().map(|problem| problem.rule).collect())
}

fn is_placed(problem: &Problem, lines: &[&str]) -> bool {
    if problem.line == 0 {
        return matches!(problem.rule, Rule::NotUtf8 | Rule::TooLarge);
    }
    lines.get(problem.line - 1).is_some_and(|line| {
        let width = line.chars().count() + 1;
        let end = problem.end as usize;
        problem.column >= 1 && end <= width && problem.column <= end
    })
}

fn keep(path: &Path, folder: &Path, seed: u64, number: u64) -> std::io::Result<()> {
    std::fs::copy(path, folder.join(format!("seed-{seed}-input-{number}.yaml"))).map(|_| ())
}

/// Most memory that this process ever had, by the kernel's word.
fn peak_kb() -> std::io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| std::io::Error::other("/proc/self/status does not say VmHWM"))
}
