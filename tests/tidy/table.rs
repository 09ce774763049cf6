//! The one place that says who may import whom, and the other numbers and names of the house rules.
//! Nothing comes in; constants come out that `rules` applies and `ARCHITECTURE.md` explains.
//! It must never allow a way from `checks` to a broker, or from a report to a check's behaviour.

/// Patterns of paths; `*` stands for any part of one name, and whatever is below is allowed too.
type Paths = &'static [&'static str];

/// What YAML says about checks, and what they answer: data without behaviour.
const CHECK_DATA: Paths = &[
    "checks::AlwaysOn",
    "checks::Bound",
    "checks::CHECKS",
    "checks::CheckSpec",
    "checks::Finding*",
    "checks::Pin*",
    "checks::Scope",
    "checks::check_names",
    "checks::*::*Spec",
    "checks::dead_letters::Fidelity",
    "checks::not_redelivered::Since",
];

/// What YAML says about faults.
const FAULT_DATA: Paths = &[
    "faults::EventRef",
    "faults::FaultSpec",
    "faults::PointTrigger",
    "faults::*::*Spec",
    "faults::admin::AdminAction",
    "faults::kill::AfterKill",
    "faults::unbuilt",
    "faults::stall::StallEnd",
    "faults::withhold::Piece",
];

/// What the runner writes down about itself.
const RUN_RECORD: Paths =
    &["verdict::Host", "verdict::RunRecord", "verdict::ServerRun", "verdict::UnitRun"];

/// Module by module, in data-flow order: what it may import beside itself.
pub const IMPORTS: &[(&str, &[Paths])] = &[
    ("names", &[]),
    ("wait", &[&["names"]]),
    ("suite", &[&["names"], CHECK_DATA, FAULT_DATA]),
    ("plan", &[&["names", "suite", "evidence::seal::sha256_of"], CHECK_DATA, FAULT_DATA]),
    ("evidence", &[&["names"]]),
    ("env", &[&["names", "wait", "evidence", "plan"]]),
    ("brokers", &[&["names", "wait", "evidence", "env::container", "suite::model"], FAULT_DATA]),
    (
        "workers",
        &[&[
            "names",
            "wait",
            "evidence",
            "env",
            "suite::model",
            "suite::manifest",
            "suite::handler",
        ]],
    ),
    (
        "faults",
        &[
            &["names", "wait", "evidence", "env", "brokers", "workers", "run"],
            &["suite::model", "suite::time"],
        ],
    ),
    (
        "run",
        &[
            &["names", "wait", "suite", "plan", "evidence", "env", "brokers", "workers", "faults"],
            &["reports::progress"],
            CHECK_DATA,
            RUN_RECORD,
        ],
    ),
    ("checks", &[&["names", "evidence"], FAULT_DATA]),
    (
        "verdict",
        &[
            &["names", "checks", "evidence", "plan", "suite::manifest::Lack", "suite::model"],
            &["suite::change", "suite::workload"],
            &["suite::deviations::Occurs", "suite::handler", "suite::versions::Coverage"],
            FAULT_DATA,
        ],
    ),
    (
        "reports",
        &[&[
            "names",
            "verdict",
            "suite::deviations::Occurs",
            "suite::manifest::Lack",
            "suite::change::Defect",
            "checks::Finding*",
        ]],
    ),
];

/// Modules that put the others together and may import all of them.
pub const FREE: [&str; 3] = ["cli", "main", "lib"];

/// Modules that give the same answer for the same input, today and from disk.
pub const PURE: [&str; 7] = ["names", "suite", "plan", "evidence", "checks", "verdict", "reports"];

/// The one file of a pure module that has a clock: it gives every record its time.
pub const RECORDER: &str = "src/evidence/recorder.rs";

/// Names that no pure module may use.
pub const IMPURE: [&str; 11] = [
    "tokio",
    "async_trait",
    "bollard",
    "testcontainers",
    "sqlx",
    "rdkafka",
    "reqwest",
    "nix",
    "rustix",
    "Instant",
    "SystemTime",
];

/// The same for the standard library, below `std::`.
pub const IMPURE_STD: [&str; 5] = ["net", "process", "thread", "time::Instant", "time::SystemTime"];

/// Where a library is at home; elsewhere it is not named.
pub const HOMES: &[(&str, &[&str])] = &[
    ("serde_saphyr", &["src/suite/", "src/workers/manifest"]),
    ("granit_parser", &["src/suite/compose/"]),
    ("annotate_snippets", &["src/suite/", "src/workers/manifest"]),
    ("quick_junit", &["src/reports/junit.rs"]),
    ("indicatif", &["src/reports/progress.rs"]),
    ("sqlx", &["src/env/"]),
    ("testcontainers", &["src/env/"]),
    ("bollard", &["src/env/"]),
    ("rdkafka", &["src/brokers/kafka"]),
];

/// The one file that may sleep: between two tries of a probe.
pub const WAIT: &str = "src/wait.rs";

pub const FILE_LINES: usize = 500;
pub const FUNCTION_LINES: usize = 70;
pub const COLUMNS: usize = 100;

/// File and folder names that say nothing.
pub const VAGUE: [&str; 9] =
    ["utils", "util", "manager", "managers", "helper", "helpers", "common", "misc", "stuff"];

/// Generated files that list where packages came from.
pub const LOCK_FILES: [&str; 3] = ["Cargo.lock", "package-lock.json", "go.sum"];

/// Addresses that belong into a user's own settings. In two parts, so that this file is clean too.
pub const REGISTRY_HOSTS: [&str; 13] = [
    concat!("docker", ".io/"),
    concat!("ghcr", ".io"),
    concat!("quay", ".io"),
    concat!("gcr", ".io"),
    concat!("public.ecr", ".aws"),
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("repo1.maven", ".org"),
    concat!("repo.maven", ".apache.org"),
    concat!("registry.npmjs", ".org"),
    concat!("pypi", ".org"),
    concat!("pythonhosted", ".org"),
    concat!("proxy.golang", ".org"),
];

/// Absolute paths of one machine.
pub const PLACES: [&str; 2] = [concat!("/", "work/"), concat!("/tmp", "/w/")];
