//! Suite files from outside: the fixtures, the suites of this project, and whatever chance makes.
//! Files go through the public functions; rendered problems are compared with goldens beside them.
//! It must never need a server: everything here is pure.
//!
//! `UPDATE_GOLDEN=1 cargo test --test suites` writes the goldens anew.

#![allow(clippy::unwrap_used)]

#[path = "suites/rules.rs"]
mod rules;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use ackproof::cli::validate::validate;
use ackproof::plan::{Request, Subjects};
use ackproof::suite::manifest::{self, Manifest};
use ackproof::{cli, suite};
use proptest::prelude::*;

const INVALID: &str = "fixtures/suites/invalid";
const VALID: &str = "fixtures/suites/valid";

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_case = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|e| e == "yaml");
    let mut paths: Vec<PathBuf> = entries.filter(is_case).collect();
    paths.sort();
    paths
}

fn compare(golden: &Path, text: &str, failures: &mut Vec<String>) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, text).unwrap();
    }
    match std::fs::read_to_string(golden) {
        Ok(expected) if expected == text => {}
        Ok(expected) => failures
            .push(format!("--- {} has\n{expected}\n--- but it is\n{text}", golden.display())),
        Err(error) => failures.push(format!("{}: {error}", golden.display())),
    }
}

#[test]
fn invalid_files_show_the_problems_of_their_goldens() {
    let mut failures = Vec::new();
    let fixtures = fixtures(INVALID);
    assert!(fixtures.len() > 40, "{} fixtures are too few", fixtures.len());
    for path in fixtures {
        let validation = validate(&[&path]);
        if validation.problems.is_empty() {
            failures.push(format!("{} has no problem at all", path.display()));
        }
        compare(&path.with_extension("txt"), &validation.text(), &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The golden shows a reviewer what a changed suite or planner means for a run.
/// The worker of the fixtures.
fn worker() -> Manifest {
    manifest::load(Path::new(&format!("{VALID}/worker.yaml"))).unwrap()
}

/// Every cell of these sets, once.
fn request(sets: &[&str], manifests: Vec<Manifest>) -> Request {
    Request {
        profile: None,
        sets: sets.iter().map(|set| (*set).to_owned()).collect(),
        clients: Vec::new(),
        producer: None,
        overrides: Vec::new(),
        filters: Vec::new(),
        subjects: Subjects::Scenarios,
        seed: 1,
        repeat: std::num::NonZeroU32::MIN,
        shard: None,
        without: Vec::new(),
        manifests,
    }
}

#[test]
fn the_quick_plan_is_the_one_of_its_golden() {
    let mut request = request(&["current", "previous"], vec![worker()]);
    request.profile = Some("quick".to_owned());
    let plan = cli::plan::plan(&["suites"], request).unwrap();
    let table = cli::plan::table(&plan);
    // The hash changes with every comment in a suite; the rest only with what is planned.
    let (_, table) = table.split_once('\n').unwrap();
    let mut failures = Vec::new();
    compare(Path::new("fixtures/suites/quick-plan.txt"), table, &mut failures);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_table_of_a_plan_names_what_is_known_and_what_is_expected_by_version() {
    let mut request = request(&["old"], Vec::new());
    request.filters = vec!["id(example/by-version)".to_owned()];
    let table = cli::plan::table(&cli::plan::plan(&[VALID], request).unwrap());
    let line = table.lines().find(|line| line.contains("by-version@kafka-4.1.2+rdkafka-")).unwrap();
    let said = "controls: no-inbox; known: drained; known: effects; by version: deliveries; by \
                version: effects; by version: conserved";
    assert!(line.ends_with(said), "{line}");
    let line = table.lines().find(|line| line.contains("by-version@pulsar-4.0.7+pulsar-")).unwrap();
    assert!(line.ends_with("controls: no-inbox"), "{line}");
}

#[test]
fn valid_files_have_no_problems() {
    for folder in [VALID, "suites", "fixtures/suites/behaviours"] {
        let validation = validate(&[folder]);
        assert!(validation.problems.is_empty(), "{}", validation.text());
        assert!(validation.scenarios > 0);
    }
}

#[test]
fn all_files_are_tried_and_all_of_their_problems_shown() {
    let alone: usize = fixtures(INVALID).iter().map(|path| validate(&[path]).problems.len()).sum();
    let together = validate(&[INVALID]).problems.len();
    // Together more: most fixtures tell of the same `example/one`.
    assert!(together > alone, "{together} together, {alone} one by one");
}

#[test]
fn files_that_cannot_be_read_are_problems_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    assert_eq!(validate(&[folder.path()]).problems.len(), 1, "an empty folder");
    assert_eq!(validate(&[path("absent.yaml")]).problems.len(), 1, "no file");
    std::fs::write(path("binary.yaml"), [0xFF, 0xFE, 0x00]).unwrap();
    std::fs::write(path("large.yaml"), vec![b'#'; 2 * 1024 * 1024]).unwrap();
    std::fs::write(path("ignored.txt"), "kind: [").unwrap();
    let found = validate(&[folder.path()]);
    let messages: Vec<&str> = found.problems.iter().map(|p| p.message.as_str()).collect();
    let expected = ["byte 0 is not UTF-8", "2097152 bytes are too many for a suite file"];
    assert_eq!(messages, expected);
}

/// The limit is the test itself: a pipe without a writer would wait for ever.
#[test]
fn only_regular_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let pipe = path("pipe.yaml");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::os::unix::fs::symlink(&pipe, path("link-to-pipe.yaml")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", path("zero.yaml")).unwrap();
    std::os::unix::fs::symlink("/nowhere", path("dangling.yaml")).unwrap();
    let smallest = std::fs::canonicalize(format!("{VALID}/smallest.yaml")).unwrap();
    std::os::unix::fs::symlink(smallest, path("link.yaml")).unwrap();
    std::fs::copy(format!("{VALID}/pins.yaml"), path("pins.yaml")).unwrap();
    let found = validate(&[folder.path()]);
    let messages: Vec<&str> = found.problems.iter().map(|p| p.message.as_str()).collect();
    let special = "this is no file with a text in it";
    assert_eq!(messages, ["there is no such file or folder", special, special, special]);
    assert_eq!(found.scenarios, 1, "a link to a regular file is followed");
    assert_eq!(validate(&[Path::new("/dev/zero")]).problems[0].message, special);
    assert_eq!(manifest::load(&pipe).unwrap_err()[0].message, special);
    assert_eq!(manifest::load(Path::new("/dev/zero")).unwrap_err()[0].message, special);
}

/// A shown problem must not be able to move the cursor or to turn the text around.
#[test]
fn problems_show_no_unprintable_characters() {
    for path in fixtures(INVALID) {
        for problem in validate(&[&path]).problems {
            let bad = |c: char| c.is_control() && c != '\n' || c == '\u{202E}';
            assert!(!problem.rendered.contains(bad), "{:?}", problem.rendered);
            let quoted = format!("{}{}", problem.help, problem.message);
            assert!(!quoted.contains(bad), "{quoted:?}");
        }
    }
}

#[test]
fn a_byte_order_mark_does_not_move_the_carets() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bom.yaml");
    std::fs::write(&path, "\u{FEFF}kind: sweet\n").unwrap();
    let found = validate(&[&path]);
    assert_eq!((found.problems[0].line, found.problems[0].column), (1, 7));
}

#[test]
fn a_file_that_is_reached_twice_is_read_once() {
    let file = format!("{VALID}/smallest.yaml");
    let validation = validate(&[VALID, file.as_str()]);
    assert!(validation.problems.is_empty(), "{}", validation.text());
}

#[test]
fn the_suites_stand_in_the_folder_of_their_property() {
    let loaded = suite::load(&["suites"]);
    for read in &loaded.suites {
        let folder = Path::new(&read.source.relative).parent().unwrap();
        assert_eq!(folder, Path::new(&read.file.property.value), "{}", read.source.display);
    }
}

/// A folder is what is run, and a run needs versions; a file alone is what an editor looks at.
#[test]
fn a_folder_of_suites_without_pins_is_told_what_a_run_would_lack() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(format!("{VALID}/smallest.yaml"), folder.path().join("a.yaml")).unwrap();
    let text = validate(&[folder.path()]).text();
    assert!(text.contains("there is no set of pins with these suites"), "{text}");
    assert!(text.contains("`kind: pins`") && text.ends_with("1 error\n"), "{text}");
    let pins = PathBuf::from(format!("{VALID}/pins.yaml"));
    assert_eq!(validate(&[folder.path(), &pins]).problems, []);
    assert_eq!(validate(&[folder.path().join("a.yaml")]).problems, []);
}

/// Every scenario of the project without its controls, or without its checks, is refused.
#[test]
fn a_scenario_cannot_go_without_controls_or_checks() {
    let mut loaded = suite::load(&["suites"]);
    for read in &mut loaded.suites {
        for scenario in &mut read.file.scenarios {
            scenario.value.controls.clear();
        }
    }
    let scenarios = loaded.scenarios().count();
    let problems = suite::validate(&loaded);
    let vacuous = problems.iter().filter(|p| p.message.contains("a pass would prove nothing"));
    assert!(vacuous.count() >= scenarios);
    let mut loaded = suite::load(&["suites"]);
    for read in &mut loaded.suites {
        for scenario in &mut read.file.scenarios {
            scenario.value.checks.clear();
        }
    }
    let problems = suite::validate(&loaded);
    let vacuous = problems.iter().filter(|p| p.message.contains("passes whatever happens"));
    assert_eq!(vacuous.count(), scenarios);
}

/// The example of the README, with the rest of the scenario from the one before it.
#[test]
fn the_matrix_in_the_readme_is_one() {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let blocks: Vec<&str> =
        readme.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let block = |part: &str| *blocks.iter().find(|block| block.contains(part)).unwrap();
    let (whole, matrix, fragments) =
        (blocks[0], block("\n    matrix:"), block("kind: fragments\n"));
    let between = |from: &str, to: &str| {
        let start = whole.find(from).unwrap();
        &whole[start..start + whole[start..].find(to).unwrap()]
    };
    let rest = between("    about:", "    topology:").to_owned()
        + &whole[whole.find("    phases:").unwrap()..];
    let rest = rest.replace("brokers: [kafka]", "brokers: [pulsar]");
    let suite = matrix.replace("    # and the rest of the scenario\n", &rest);
    assert_ne!(suite, matrix);
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in
        [("at-least-once/a.yaml", suite.as_str()), ("fragments/billing.yaml", fragments)]
    {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    std::fs::copy(format!("{VALID}/pins.yaml"), folder.path().join("pins.yaml")).unwrap();
    let validation = validate(&[folder.path()]);
    assert!(validation.problems.is_empty(), "{}", validation.text());
    let ids: Vec<String> = suite::load(&[folder.path()])
        .scenarios()
        .map(|(_, _, scenario)| scenario.id.value.clone())
        .collect();
    assert_eq!((ids.len(), ids[0].as_str()), (4, "kill-before-ack-partitions-1-type-shared"));
}

fn damaged() -> impl Strategy<Value = String> {
    let texts: Vec<String> = [
        "suites/redrive/interrupted.yaml",
        "suites/ack-timeout/long-handling.yaml",
        "fixtures/suites/valid/every-word.yaml",
        "fixtures/suites/valid/matrix.yaml",
        "fixtures/suites/valid/pins.yaml",
        "fixtures/suites/valid/worker.yaml",
    ]
    .iter()
    .map(|path| std::fs::read_to_string(path).unwrap())
    .collect();
    let insert = prop_oneof![
        Just(String::new()),
        "[ -~\n]{0,12}",
        "\\PC{0,4}",
        Just("*a".to_owned()),
        Just("&a ".to_owned()),
        Just("\t".to_owned()),
        Just("18446744073709551616".to_owned()),
    ];
    let edit = (any::<prop::sample::Index>(), 0_usize..40, insert);
    (prop::sample::select(texts), prop::collection::vec(edit, 1..4)).prop_map(|(text, edits)| {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, length, insert) in edits {
            let start = at.index(chars.len() + 1);
            let end = (start + length).min(chars.len());
            chars.splice(start..end, insert.chars());
        }
        chars.into_iter().collect()
    })
}

fn copy_fragments(folder: &Path) {
    std::fs::create_dir(folder.join("fragments")).unwrap();
    for name in ["fragments/workers.yaml", "fragments/controls.yaml"] {
        std::fs::copy(Path::new(VALID).join(name), folder.join(name)).unwrap();
    }
}

/// Lines of the scenario with the matrix in `matrix.yaml`, and the file with a problem before and
/// behind them.
fn around_a_matrix(values: &[String], partitions: usize) -> (std::ops::Range<usize>, String) {
    let text = std::fs::read_to_string(format!("{VALID}/matrix.yaml")).unwrap();
    let quoted: Vec<String> =
        values.iter().map(|v| format!("'{}'", v.replace('\'', "''"))).collect();
    let counts: Vec<String> = (1..=partitions).map(|n| n.to_string()).collect();
    let text = text
        .replacen("property: example", "property: Example", 1)
        .replacen("bytes: 64}", "bytes: 64, what: 1}", 1)
        .replacen("read ${type};", "read ${type}, ${text} and ${text};", 1)
        .replacen("[1, 3]", &format!("[{}]", counts.join(", ")), 1)
        .replacen("matrix:", &format!("matrix:\n      text: [{}]", quoted.join(", ")), 1)
        .replacen(
            "    clauses: [ACK-3]\n    level: core\n    brokers: [kafka]\n    topology:\n      \
                   partitions: 1",
            "    clauses: [ACK-3, ACK-33]\n    level: core\n    brokers: \
                   [kafka]\n    topology:\n      partitions: 0",
            1,
        );
    let line = |what: &str| text[..text.find(what).unwrap()].matches('\n').count() + 1;
    (line("- id: matrix")..line("- id: beside"), text)
}

/// Line, column and message of every problem outside of the scenario with the matrix.
fn problems_around_a_matrix(values: &[String], partitions: usize) -> Vec<(usize, usize, String)> {
    let (scenario, text) = around_a_matrix(values, partitions);
    let folder = tempfile::tempdir().unwrap();
    copy_fragments(folder.path());
    std::fs::write(folder.path().join("a.yaml"), &text).unwrap();
    let found = validate(&[folder.path().join("a.yaml")]).problems;
    let mut problems: Vec<_> = found
        .into_iter()
        .filter(|problem| !scenario.contains(&problem.line))
        .map(|problem| (problem.line, problem.column, problem.message))
        .collect();
    problems.sort();
    problems
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..Default::default()
    })]

    /// However a file is damaged: no panic, the same answer twice, and every problem has its place.
    #[test]
    fn damaged_files_are_answered_with_located_problems(text in damaged()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.yaml");
        std::fs::write(&path, &text).unwrap();
        copy_fragments(folder.path());
        let first = validate(&[&path]);
        let second = validate(&[&path]);
        prop_assert_eq!(&first, &second);
        for problem in &first.problems {
            // What is wrong with a piece is shown where it stands.
            let text = std::fs::read_to_string(&problem.file).unwrap();
            let lines: Vec<&str> = text.split('\n').collect();
            prop_assert!(problem.line >= 1 && problem.line <= lines.len(), "{}", problem);
            let width = lines[problem.line - 1].chars().count();
            prop_assert!(problem.column >= 1 && problem.column <= width + 1, "{}", problem);
            let heading = format!("{}[{}]: ", problem.severity, problem.rule);
            prop_assert!(problem.rendered.contains(&heading), "{}", problem);
        }
    }

    /// However long the values are, and however many copies they make: outside of the scenario
    /// every problem stands where it stood, and shows the same line.
    #[test]
    fn filling_in_moves_nothing_outside_of_the_scenario(
        values in prop::collection::vec("[ -#%-~]{0,12}[a-z]", 1..4),
        partitions in 1_usize..5,
    ) {
        // One letter each, so that no two of them come to the same id.
        let letters = ['a', 'b', 'c'].iter();
        let values: Vec<String> =
            letters.zip(values).map(|(letter, value)| format!("{letter}{value}")).collect();
        static PLAIN: LazyLock<Vec<(usize, usize, String)>> =
            LazyLock::new(|| problems_around_a_matrix(&["x".to_owned()], 1));
        prop_assert_eq!(PLAIN.len(), 4, "{:?}", *PLAIN);
        prop_assert_eq!(&*PLAIN, &problems_around_a_matrix(&values, partitions));
    }
}
