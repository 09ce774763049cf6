//! What must never pass: evidence that proves nothing, servers that are not what they should be.

use super::engine::{docker, left_of};
use super::program::{Ended, command, ended, run, run_with};

const KAFKA_STORY: &str = "id(at-least-once/sigkill-before-ack@kafka*)";

fn expect_cause(ended: &Ended, start: &str, cause: &str) {
    let cell = ended.cell(start);
    assert_eq!(cell["outcome"], "inconclusive", "{cell:#}");
    assert_eq!(cell["cause"], cause, "{cell:#}");
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_lie_a_fault_that_does_not_land_and_a_control_that_passes_are_no_pass() {
    let ended = run(&["run", "fixtures/suites/violations"]);
    ended.expect_code(1).expect_strict_xml();
    let liar = ended.cell("violations/lying-worker");
    assert_eq!(liar["outcome"], "fail");
    assert_eq!(liar["faults"][0]["landed"], false);
    let receipt = liar["faults"][0]["receipt"].as_str().expect("a receipt");
    assert!(receipt.contains("the ledger shows no effect"), "{receipt}");
    expect_cause(&ended, "violations/fault-that-does-not-land", "fault_not_landed");
    expect_cause(&ended, "violations/control-that-passes", "control_not_caught");
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_server_that_is_not_the_pinned_one_is_no_evidence() {
    docker(&["tag", "ackproof/postgres:15", "ackproof/postgres:17.99"]);
    let ended = run(&[
        "run",
        "fixtures/suites/violations",
        "--set",
        "mislabelled",
        "--filter",
        "id(violations/control-that-passes)",
    ]);
    docker(&["rmi", "ackproof/postgres:17.99"]);
    ended.expect_code(3);
    expect_cause(&ended, "violations/control-that-passes", "wrong_version");
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_server_killed_for_lack_of_memory_is_said_to_be_so() {
    let ended = run_with(
        &["run", "suites", "--filter", KAFKA_STORY],
        &[("ACKPROOF_SERVER_MEMORY_MB", "64")],
    );
    ended.expect_code(3).expect_strict_xml();
    expect_cause(&ended, "at-least-once/sigkill-before-ack@kafka", "oom");
}

#[test]
fn without_an_engine_every_cell_says_what_to_do() {
    let ended =
        run_with(&["run", "suites"], &[("DOCKER_HOST", "unix:///nonexistent/ackproof-test.sock")]);
    ended.expect_code(3).expect_strict_xml();
    for cell in ended.cells() {
        assert_eq!(cell["outcome"], "inconclusive", "{cell:#}");
        assert_eq!(cell["cause"], "environment", "{cell:#}");
    }
    // What every cell lacks is said once, to whoever watches and to whoever reads the end.
    for text in [&ended.stdout, &ended.stderr] {
        assert_eq!(text.matches("DOCKER_HOST").count(), 1, "{text}");
    }
    let cells = ended.cells().len();
    assert!(ended.stdout.contains(&format!("\n{cells} cells\n")), "{}", ended.stdout);
    assert_eq!(ended.text("summary.md").matches("next: ").count(), 1);
}

/// Standard output to a device that is always full.
fn to_a_full_device(arguments: &[&str]) -> Ended {
    let (mut ours, out) = command(arguments);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    ended(ours.stdout(full).output().expect("it runs"), out)
}

#[test]
fn a_result_that_cannot_be_written_is_no_success() {
    let engine = [("DOCKER_HOST", "unix:///nonexistent/ackproof-test.sock")];
    let judged = run_with(&["run", "suites"], &engine);
    let evidence = judged.out.path().to_str().expect("UTF-8");
    for arguments in [
        &["plan", "suites"][..],
        &["plan", "suites", "--json"],
        &["validate", "suites"],
        &["judge", evidence],
        &["--help"],
        &["--version"],
    ] {
        let ended = to_a_full_device(arguments);
        ended.expect_code(3);
        assert!(ended.stderr.contains("cannot be written to standard output"), "{}", ended.stderr);
        assert!(ended.stderr.contains("os error 28"), "{}", ended.stderr);
    }
    // What was wrong before stays what it was.
    let ended = to_a_full_device(&["validate", "fixtures/suites/invalid/no-kind.yaml"]);
    ended.expect_code(2);
    assert!(ended.stderr.contains("cannot be written"), "{}", ended.stderr);
}

#[test]
fn a_reader_that_has_seen_enough_is_nobody_s_failure() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let (mut ours, out) = command(&["plan", "suites"]);
    let ended = ended(ours.stdout(writer).output().expect("it runs"), out);
    ended.expect_code(0);
    assert_eq!(ended.stderr, "");
}

#[test]
fn variables_that_cannot_be_read_are_all_named_and_nothing_is_run() {
    let variables = [("ACKPROOF_PORTS", "30000-20000"), ("ACKPROOF_DATA_SIZE_MB", "64MB")];
    for verb in [&["run", "suites"][..], &["images", "suites", "--boot"]] {
        let ended = run_with(verb, &variables);
        ended.expect_code(2);
        for (name, value) in variables {
            assert!(ended.stderr.contains(&format!("{name}=\"{value}\"")), "{}", ended.stderr);
        }
        assert!(!ended.path("plan.json").exists());
    }
}

/// A range that holds the ports of the database and not those of the broker as well.
#[test]
#[ignore = "starts containers; ci/test runs it"]
fn ports_that_the_user_fixed_are_the_only_ones() {
    let narrow =
        run_with(&["run", "suites", "--filter", KAFKA_STORY], &[("ACKPROOF_PORTS", "19200-19202")]);
    narrow.expect_code(3).expect_strict_xml();
    expect_cause(&narrow, "at-least-once/sigkill-before-ack@kafka", "environment");
    for words in ["ACKPROOF_PORTS=19200-19202", "wider range"] {
        assert!(narrow.stdout.contains(words), "{}", narrow.stdout);
    }
    let enough = run_with(
        &["run", "suites", "--filter", KAFKA_STORY, "--keep"],
        &[("ACKPROOF_PORTS", "19200-19209")],
    );
    let report = enough.report();
    let label = format!("label=dev.ackproof.run={}", report["run"]["id"].as_str().expect("an id"));
    let ports = docker(&["ps", "--filter", &label, "--format", "{{.Ports}}"]);
    let ids = docker(&["ps", "-q", "--filter", &label]);
    let links: Vec<String> = ids
        .lines()
        .map(|id| docker(&["inspect", "--format", "{{.Config.Env}}", id]))
        .filter_map(|env| Some(env.split("LINK://127.0.0.1:").nth(1)?.split(',').next()?.into()))
        .collect();
    run(&["clean", "--all"]).expect_code(0);
    enough.expect_code(0);
    let published = ports
        .split("127.0.0.1:")
        .skip(1)
        .map(|rest| rest[..rest.find('-').expect("->")].to_owned());
    let all: Vec<u16> = published.chain(links).map(|port| port.parse().expect("a port")).collect();
    assert_eq!(all.len(), 4, "{ports}");
    assert!(all.iter().all(|port| (19200..=19209).contains(port)), "{all:?}");
}

#[test]
fn a_folder_that_holds_something_else_is_not_touched() {
    let (mut ours, out) = command(&["run", "suites"]);
    std::fs::create_dir(out.path().join("logs")).expect("created");
    std::fs::write(out.path().join("logs/mine.log"), "mine").expect("written");
    std::fs::write(out.path().join("plan.json"), "{}").expect("written");
    let ended = ended(ours.output().expect("it runs"), out);
    ended.expect_code(2);
    assert!(ended.stderr.contains("no run's output"), "{}", ended.stderr);
    assert_eq!(ended.text("logs/mine.log"), "mine");
    assert_eq!(ended.text("plan.json"), "{}");
}

#[test]
fn a_folder_that_another_run_writes_into_is_refused() {
    let (mut ours, out) = command(&["run", "suites"]);
    let file = std::fs::File::create(out.path().join(".ackproof.lock")).expect("created");
    let held = nix::fcntl::Flock::lock(file, nix::fcntl::FlockArg::LockExclusiveNonblock);
    let ended = ended(ours.output().expect("it runs"), out);
    drop(held);
    ended.expect_code(2);
    assert!(ended.stderr.contains("another run writes into it"), "{}", ended.stderr);
}

#[test]
#[ignore = "needs the engine; ci/test runs it"]
fn an_image_that_nobody_has_is_named_with_every_way_that_was_tried() {
    let ended = run(&[
        "run",
        "suites",
        "fixtures/suites/no-such-version.yaml",
        "--set",
        "imaginary",
        "--filter",
        KAFKA_STORY,
        "--images",
        "local",
    ]);
    ended.expect_code(3).expect_strict_xml();
    expect_cause(&ended, "at-least-once/sigkill-before-ack@kafka", "environment");
    assert!(ended.stdout.contains("ackproof/kafka:0.0.1"), "{}", ended.stdout);
}

#[test]
#[ignore = "starts containers and a registry; ci/test runs it"]
fn upstream_images_are_pulled_from_the_registry_that_the_environment_names() {
    let (mut ours, out) = command(&["run", "suites", "--filter", KAFKA_STORY]);
    ours.args(["--images", "upstream"]);
    let mut check = std::process::Command::new("ci/images/registry-check");
    check.current_dir(env!("CARGO_MANIFEST_DIR")).arg("--");
    check.arg(ours.get_program()).args(ours.get_args());
    let ended = ended(check.output().expect("it runs"), out);
    ended.expect_code(0);
    let report = ended.report();
    let servers = report["run"]["servers"].as_array().expect("servers").clone();
    assert_eq!(servers.len(), 2);
    for server in servers {
        assert_eq!(server["source"], "upstream", "{server:#}");
        assert!(server["image"].as_str().is_some_and(|image| image.starts_with("127.0.0.1:")));
    }
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_server_that_never_gets_ready_is_named_with_the_end_of_its_log() {
    docker(&["tag", "ackproof/base-jre:bookworm-17", "ackproof/postgres:17.98"]);
    let ended = run_with(
        &[
            "run",
            "fixtures/suites/violations",
            "--set",
            "imposter",
            "--filter",
            "id(violations/control-that-passes)",
        ],
        &[("ACKPROOF_BOOT_DEADLINE_S", "5")],
    );
    docker(&["rmi", "ackproof/postgres:17.98"]);
    ended.expect_code(3).expect_strict_xml();
    expect_cause(&ended, "violations/control-that-passes", "environment");
    // Its story never began: the wait for the server is no time of the cell.
    assert_eq!(ended.cell("violations/control-that-passes")["duration_ms"], 0);
}

#[test]
#[ignore = "starts containers; ci/test runs it"]
fn a_kept_run_is_spared_until_it_is_asked_for() {
    let ended = run(&["run", "suites", "--filter", KAFKA_STORY, "--keep"]);
    ended.expect_code(0);
    let report = ended.report();
    let id = report["run"]["id"].as_str().expect("an id");
    assert!(!left_of(id).is_empty(), "a kept run keeps its containers");
    run(&["clean"]).expect_code(0);
    assert!(!left_of(id).is_empty(), "a sweep spares a kept run");
    run(&["clean", "--all"]).expect_code(0);
    assert_eq!(left_of(id), Vec::<String>::new());
}
