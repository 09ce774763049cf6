//! No option without an effect: every argument of every verb is seen to change something.
//! Pairs of command lines that differ in one argument go in; what they say or plan must differ.
//! It must never know the arguments by heart: they come from the definition of the command line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ackproof::cli::command::definition;
use serde_json::Value;
use tempfile::TempDir;

use super::evidence::{judged, without_engine};
use crate::world::World;

/// How an argument is shown to have an effect.
enum Effect {
    /// Two command lines after the verb, of which the second has the argument or another value.
    Pair(&'static [&'static str], &'static [&'static str]),
    /// A test that sees the effect, because it needs a server; its file names the option.
    Seen(&'static str),
}
use Effect::{Pair, Seen};

const KAFKA: &str = "broker(kafka)";
const STORY: &str = "id(redrive/interrupted@kafka*)";

/// Arguments that choose cells, for the verbs that have all of them.
const SELECTION: &[(&str, Effect)] = &[
    ("paths", Pair(&["suites"], &["fixtures/suites/valid"])),
    ("workers", Pair(&[], &["--workers", "fixtures/hostile/wrong-version"])),
    ("profile", Pair(WITH_PROFILE, &["suites", PROFILE, "--profile", "kafka-only"])),
    ("sets", Pair(&[], &["--set", "previous"])),
    ("pins", Pair(&[], &["--pin", "kafka=4.4.0"])),
    ("clients", Pair(&[], &["--clients", "oldest"])),
    ("producer", Pair(&[], &["--producer", "rdkakfa"])),
    ("filters", Pair(&[], &["--filter", KAFKA])),
    ("shard", Pair(&["--filter", STORY, "--shard", "1/2"], OTHER_SHARD)),
    ("without", Pair(&[], &["--without", "pulsar"])),
    ("only_controls", Pair(&["--set", "current,previous"], ONLY_CONTROLS)),
];
const PROFILE: &str = "fixtures/suites/kafka-only.yaml";
const WITH_PROFILE: &[&str] = &["suites", PROFILE];
const OTHER_SHARD: &[&str] = &["--filter", STORY, "--shard", "2/2"];
const ONLY_CONTROLS: &[&str] = &["--set", "current,previous", "--only-controls"];

const CHANCE: &[(&str, Effect)] =
    &[("seed", Pair(&[], &["--seed", "2"])), ("repeat", Pair(&[], &["--repeat", "2"]))];

/// Arguments that say how units are run.
const MANNER: &[(&str, Effect)] = &[
    ("images", Seen("an_image_that_nobody_has_is_named_with_every_way_that_was_tried")),
    ("keep", Seen("a_kept_run_is_spared_until_it_is_asked_for")),
    ("jobs", Seen("with_one_job_no_two_units_overlap")),
    ("fail_fast", Seen("the_first_failure_ends_the_start_of_units")),
    ("strict", Pair(&["--filter", STORY], &["--filter", STORY, "--strict"])),
    ("quiet", Seen("a_quiet_run_says_only_its_result")),
];

const RERUN: &[(&str, Effect)] = &[
    ("dir", Pair(&["{evidence}"], &["{passed}"])),
    ("workers", Pair(&["{evidence}"], &["{evidence}", "--workers", "fixtures/suites/valid"])),
    ("out", Pair(&["{evidence}"], &["{evidence}", "--out", "{evidence}"])),
    ("strict", Pair(&["{evidence}"], &["{evidence}", "--strict"])),
    ("quiet", Seen("a_quiet_run_says_only_its_result")),
];

const WRONG: &[&str] = &["fixtures/suites/invalid/no-kind.yaml"];
const WARNED: &[&str] = &["fixtures/suites/invalid/check-untested.yaml"];

const OTHERS: &[(&str, &[(&str, Effect)])] = &[
    ("judge", &[("dir", Pair(&["{evidence}"], &["{passed}"]))]),
    (
        "verify",
        &[
            ("report", Pair(&["{passed}/report.json"], &["{evidence}/report.json"])),
            (
                "expect",
                Pair(&["{passed}/report.json"], &["{passed}/report.json", "--expect", ZERO]),
            ),
        ],
    ),
    (
        "list",
        &[
            ("paths", Pair(&["suites"], &["fixtures/suites/valid"])),
            ("profile", Pair(&[], &["--profile", "quik"])),
            ("contract", Pair(&[], &["--contract"])),
            ("json", Pair(&[], &["--json"])),
        ],
    ),
    (
        "validate",
        &[
            ("paths", Pair(&["suites"], &["fixtures/suites/valid"])),
            ("workers", Pair(&["suites"], &["suites", "--workers", "fixtures/suites/invalid"])),
            ("message_format", Pair(WRONG, &[WRONG[0], "--message-format", "json"])),
            ("deny_warnings", Pair(WARNED, &[WARNED[0], "--deny-warnings"])),
            ("rules", Pair(&["suites"], &["suites", "--rules"])),
        ],
    ),
    (
        "init",
        &[
            ("dir", Pair(&["{new}"], &["src"])),
            ("broker", Pair(&["{new}"], &["{new}", "--broker", "pulsar"])),
            ("partitions", Pair(&["{new}"], &["{new}", "--partitions", "5"])),
        ],
    ),
    (
        "explain",
        &[
            ("word", Pair(&[], &["before_ack"])),
            ("suites", Pair(EXPLAINED, &["before_ack", "--suites", "fixtures/suites/valid"])),
        ],
    ),
    (
        "compare",
        &[
            ("dirs", Pair(&["{evidence}"], &["{evidence}", "{passed}"])),
            ("json", Pair(&["{evidence}"], &["{evidence}", "--json"])),
        ],
    ),
    ("schema", &[("kind", Pair(&[], &["profile"]))]),
    ("plan", &[("json", Pair(&[], &["--json"]))]),
    (
        "run",
        &[
            ("out", Pair(&["--filter", STORY], &["--filter", STORY, "--out", "src"])),
            ("locked", Seen("a_locked_run_wants_what_is_locked_and_nothing_else")),
        ],
    ),
    (
        "images",
        &[
            ("images", Pair(&["--images", "local"], &["--images", "upstream"])),
            ("boot", Pair(&[], &["--boot"])),
            ("lock", Seen("a_locked_run_wants_what_is_locked_and_nothing_else")),
        ],
    ),
    ("clean", &[("all", Seen("a_kept_run_is_spared_until_it_is_asked_for"))]),
    ("completions", &[("shell", Pair(&["bash"], &["fish"]))]),
    ("doctor", &[("workers", Pair(&[], &["--workers", "fixtures/suites/valid"]))]),
];
const EXPLAINED: &[&str] = &["before_ack", "--suites", "suites"];
const ZERO: &str = "0000000000000000000000000000000000000000000000000000000000000000";

fn table() -> BTreeMap<(&'static str, &'static str), &'static Effect> {
    let mut table = BTreeMap::new();
    let mut add = |verb: &'static str, entries: &'static [(&'static str, Effect)]| {
        for (argument, effect) in entries {
            // What is said of one verb goes before what several share.
            table.entry((verb, *argument)).or_insert(effect);
        }
    };
    OTHERS.iter().for_each(|(verb, entries)| add(verb, entries));
    add("rerun", RERUN);
    for verb in ["run", "plan", "images"] {
        add(verb, SELECTION);
    }
    for verb in ["run", "plan"] {
        add(verb, CHANCE);
    }
    for verb in ["run", "rerun"] {
        add(verb, MANNER);
    }
    table
}

/// Every argument of every verb, by the name that the program itself gives it.
fn arguments() -> BTreeSet<(String, String)> {
    let definition = definition();
    let mut arguments = BTreeSet::new();
    for verb in definition.get_subcommands() {
        for argument in verb.get_arguments() {
            arguments.insert((verb.get_name().to_owned(), argument.get_id().to_string()));
        }
    }
    arguments
}

#[test]
fn every_argument_has_an_effect_in_the_table_and_the_table_has_no_other() {
    let listed = table().keys().map(|(v, a)| ((*v).to_owned(), (*a).to_owned())).collect();
    assert_eq!(arguments(), listed);
}

/// Evidence of a run in vain, and of one in which a cell passed.
struct Ground {
    evidence: TempDir,
    passed: TempDir,
}

impl Ground {
    fn new() -> Self {
        let evidence = without_engine(&["run", "suites", "--filter", STORY]);
        evidence.expect_code(3);
        Self { evidence: evidence.out, passed: judged(World::new(), 0) }
    }

    /// Everything that a command line says and plans, without what differs by itself.
    fn observe(&self, verb: &str, words: &[&str]) -> String {
        let place = |dir: &TempDir| dir.path().display().to_string();
        let out = tempfile::tempdir().unwrap();
        let mut words: Vec<String> = words
            .iter()
            .map(|word| word.replace("{evidence}", &place(&self.evidence)))
            .map(|word| word.replace("{passed}", &place(&self.passed)))
            .map(|word| word.replace("{new}", &place(&out)))
            .collect();
        if matches!(verb, "run" | "rerun") && !words.contains(&"--out".to_owned()) {
            words.extend(["--out".to_owned(), place(&out)]);
        }
        let line: Vec<&str> =
            std::iter::once(verb).chain(words.iter().map(String::as_str)).collect();
        // Not through `without_engine`: that gives a run a folder of its own.
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_ackproof"))
            .args(line)
            .env("DOCKER_HOST", "unix:///nonexistent/ackproof-test.sock")
            .env("ACKPROOF_WORKERS", "fixtures/workers/rust")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let planned = out.path().join("plan.json");
        if planned.exists() {
            return self::planned(out.path());
        }
        let suite = out.path().join("at-least-once/killed-before-ack.yaml");
        if let Ok(written) = std::fs::read_to_string(suite) {
            return written;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&place(&out), "OUT");
        let (said, told) = (text(&output.stdout), text(&output.stderr));
        format!("{:?}\n{said}\n{told}", output.status.code())
    }
}

/// What a run was to do, and how its outcomes count.
fn planned(out: &Path) -> String {
    let text = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let record: Value = serde_json::from_str(&text("run.json")).unwrap();
    format!("{}\nstrict: {}", text("plan.json"), record["strict"])
}

#[test]
fn every_pair_of_the_table_differs() {
    let ground = Ground::new();
    let mut seen: BTreeMap<(&str, &[&str]), String> = BTreeMap::new();
    for ((verb, argument), effect) in table() {
        let Pair(first, second) = effect else { continue };
        assert_ne!(first, second);
        for words in [first, second] {
            let observe = || ground.observe(verb, words);
            seen.entry((verb, words)).or_insert_with(observe);
        }
        let (one, other) = (&seen[&(verb, *first)], &seen[&(verb, *second)]);
        assert_ne!(one, other, "{verb} {first:?} and {second:?}: {argument} has no effect");
    }
}

#[test]
fn every_test_that_the_table_relies_on_is_there_and_names_the_option() {
    let mut files = Vec::new();
    for folder in ["tests", "tests/runs", "tests/commands"] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                files.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    for ((verb, argument), effect) in table() {
        let Seen(test) = effect else { continue };
        let function = format!("fn {test}()");
        let option = format!("--{}", argument.replace('_', "-"));
        let found = files.iter().any(|text| text.contains(&function) && text.contains(&option));
        assert!(found, "{verb} {option}: no test {test} that names it");
    }
}

#[test]
fn a_quiet_run_says_only_its_result() {
    let run = ["run", "suites", "--filter", STORY];
    let loud = without_engine(&run);
    let quiet = without_engine(&[&run[..], &["--quiet"]].concat());
    assert_eq!((loud.code, quiet.code), (3, 3));
    assert!(loud.stderr.contains("plan: 1 cells"), "{}", loud.stderr);
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("INCONCLUSIVE"), "{}", quiet.stdout);
    let evidence = quiet.out.path().to_str().unwrap();
    let again = without_engine(&["rerun", evidence, "--quiet", "--out", evidence]);
    assert!(!again.stderr.contains("plan: "), "{}", again.stderr);
}
