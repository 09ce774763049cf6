//! Golden reports: hand-made verdicts in `fixtures/reports/*.json` through every renderer.
//! Verdicts come in as JSON; the rendered files are compared with the ones that were reviewed.
//! It must never run a server: what a report says is decided by verdicts alone.
#![allow(clippy::unwrap_used)]

#[path = "reports/people.rs"]
mod people;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ackproof::names::Outcome;
use ackproof::reports::console::{self, Style};
use ackproof::reports::{self, json, junit, markdown};
use ackproof::verdict::{RunReport, Summary};
use quick_xml::events::Event;
use serde_json::Value;

const SAMPLES: [&str; 7] = [
    "pass-with-hazard",
    "fail-with-lost-event",
    "inconclusive-each-cause",
    "unsupported",
    "known",
    "strict-and-partial",
    "hostile-strings",
];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/reports")
}

fn sample(name: &str) -> RunReport {
    let text = fs::read_to_string(fixtures().join(format!("{name}.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(fixtures().join("golden"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn every_sample_reads_as_it_was_reviewed() {
    for name in SAMPLES {
        let report = sample(name);
        golden(&format!("{name}.junit"), &junit::render(&report).unwrap());
        golden(&format!("{name}.report"), &json::render(&report).unwrap());
        golden(&format!("{name}.summary"), &markdown::render(&report));
        let text = console::render(&report, Path::new("out"), Style::Plain);
        golden(&format!("{name}.console"), &text);
    }
}

// --- JUnit ---------------------------------------------------------------------------------------

/// Names of the elements inside each test case that say how it ended.
fn endings(xml: &str) -> Vec<Vec<String>> {
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().check_end_names = true;
    let mut cases: Vec<Vec<String>> = Vec::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) | Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    attribute
                        .unwrap()
                        .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                        .unwrap();
                }
                let name = String::from_utf8(tag.name().as_ref().to_vec()).unwrap();
                match name.as_str() {
                    "testcase" => cases.push(Vec::new()),
                    "failure" | "error" | "skipped" => cases.last_mut().unwrap().push(name),
                    _ => {}
                }
            }
            Event::Eof => return cases,
            _ => {}
        }
    }
}

#[test]
fn each_outcome_becomes_its_own_junit_ending() {
    let ending = |name: &str| endings(&junit::render(&sample(name)).unwrap());
    assert_eq!(ending("pass-with-hazard"), [[""; 0]; 2]);
    assert_eq!(ending("known"), [[""; 0]]);
    assert_eq!(ending("strict-and-partial"), [["failure"]]);
    assert_eq!(ending("fail-with-lost-event"), [["failure"]]);
    // All of it unsupported: one more test case says that nothing was decided.
    assert_eq!(ending("unsupported"), [["skipped"], ["error"]]);
    assert_eq!(ending("inconclusive-each-cause"), [["error"]; 12]);
}

#[test]
fn an_empty_run_is_not_green() {
    let mut report = sample("known");
    report.cells.clear();
    report.summary = Summary::default();
    assert_eq!(endings(&junit::render(&report).unwrap()), [["error"]]);
    assert!(markdown::render(&report).starts_with("# ackproof: nothing was decided\n"));
    let text = console::render(&report, Path::new("out"), Style::Plain);
    assert!(text.contains("nothing was decided; cells: 0\n"), "{text}");
}

#[test]
fn a_cell_that_was_not_decided_claims_no_mark() {
    let xml = junit::render(&sample("unsupported")).unwrap();
    assert!(xml.contains("name=\"lost\" value=\"not decided\""), "{xml}");
    assert!(markdown::render(&sample("unsupported")).contains("| - / - | - | - | - | - |"));
}

#[test]
fn what_is_known_is_told_everywhere_and_fails_nowhere() {
    let report = sample("known");
    let console = console::render(&report, Path::new("out"), Style::Plain);
    let texts = [junit::render(&report).unwrap(), markdown::render(&report), console];
    for text in &texts {
        for told in ["1234", "2030-12-31", "4.2.4", "starts again after an unload"] {
            assert!(text.contains(told), "{told} is missing in {text}");
        }
    }
    let [xml, summary, console] = texts;
    assert!(xml.contains("name=\"known.redelivery_counts\""), "{xml}");
    assert!(xml.contains("name=\"expectation.deliveries\""), "{xml}");
    let headline = "nothing broken but what is known";
    assert!(summary.starts_with(&format!("# ackproof: {headline}\n")), "{summary}");
    assert!(console.contains(&format!("\n{headline}; cells: 1, 1 known\n")), "{console}");
    assert!(console.contains("  known: redelivery_counts in client pulsar-client"), "{console}");
}

#[test]
fn an_error_carries_its_cause_as_type() {
    let xml = junit::render(&sample("inconclusive-each-cause")).unwrap();
    for cell in sample("inconclusive-each-cause").cells {
        let wanted = format!("type=\"{}\"", cell.cause.unwrap());
        assert!(xml.contains(&wanted), "{wanted} is missing");
    }
}

/// The `Char` production of XML 1.0, which `quick-xml` does not enforce.
fn is_xml_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[test]
fn every_junit_report_is_strict_xml() {
    for name in SAMPLES {
        let xml = junit::render(&sample(name)).unwrap();
        assert!(xml.chars().all(is_xml_char), "{name}");
        assert!(!endings(&xml).is_empty(), "{name}");
        xmllint(&xml).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_strict_reader_refuses_what_is_no_xml() {
    assert!(!"a\u{0}".chars().all(is_xml_char));
    assert!(!"a\u{fffe}".chars().all(is_xml_char));
    if installed("xmllint") {
        assert!(xmllint("<a>\u{1}</a>").is_err());
        assert!(xmllint("<a>]]></a>").is_err());
    }
}

fn installed(program: &str) -> bool {
    let mut probe = Command::new(program);
    probe.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok()
}

/// Asks libxml2, where it is installed: it is stricter than the Rust reader.
fn xmllint(xml: &str) -> Result<(), String> {
    if !installed("xmllint") {
        return Ok(());
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("junit.xml");
    fs::write(&path, xml).unwrap();
    let output = Command::new("xmllint").arg("--noout").arg(&path).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    output.status.success().then_some(()).ok_or(error)
}

#[test]
fn any_code_point_anywhere_stays_valid_xml() {
    let mut report = sample("known");
    let every_bmp = (0..0x1_1000u32).filter_map(char::from_u32).collect::<Vec<_>>();
    report.cells[0].outcome = Outcome::Fail;
    let template = report.cells[0].clone();
    report.cells = every_bmp
        .chunks(900)
        .map(|chunk| {
            let mut cell = template.clone();
            cell.reason = chunk.iter().collect();
            cell.id = chunk.iter().rev().collect();
            cell
        })
        .collect();
    let xml = junit::render(&report).unwrap();
    assert!(xml.chars().all(is_xml_char));
    xmllint(&xml).unwrap();
}

#[test]
fn megabytes_of_worker_output_are_cut() {
    let mut report = sample("fail-with-lost-event");
    let huge = "\u{1b}é]]>".repeat(1 << 20);
    report.cells[0].reason = huge.clone();
    report.cells[0].findings[1].observed = huge.clone();
    report.cells[0].reproduce = huge;
    let texts = [
        junit::render(&report).unwrap(),
        markdown::render(&report),
        console::render(&report, Path::new("out"), Style::Plain),
    ];
    for text in texts {
        assert!(text.len() < 200_000, "{} bytes", text.len());
        assert!(text.contains("more characters)"));
    }
}

// --- Console and Markdown ------------------------------------------------------------------------

#[test]
fn nothing_raw_reaches_the_terminal() {
    let report = sample("hostile-strings");
    let text = console::render(&report, Path::new("o\u{1b}[2Jut"), Style::Plain);
    let raw = text.chars().find(|c| c.is_control() && *c != '\n');
    assert_eq!(raw, None, "{text:?}");
    assert!(!text.contains('\u{202e}'));
    assert!(!text.lines().any(|line| line.starts_with("PASS")), "a forged line: {text}");
}

#[test]
fn colours_are_only_the_five_of_the_outcomes() {
    let report = sample("hostile-strings");
    let text = console::render(&report, Path::new("out"), Style::Coloured);
    let sequences: Vec<_> = text.split('\u{1b}').skip(1).map(|rest| &rest[..4]).collect();
    assert!(!sequences.is_empty());
    assert!(
        sequences.iter().all(|s| s.starts_with("[31m") || s.starts_with("[0m")),
        "{sequences:?}"
    );
}

#[test]
fn a_pipe_gets_no_colours() {
    let file = tempfile::tempfile().unwrap();
    assert_eq!(Style::of(&file), Style::Plain);
}

#[test]
fn text_from_outside_is_no_markup() {
    let text = markdown::render(&sample("hostile-strings"));
    for tag in ["<script", "<img", "<b>"] {
        let outside_code = text.lines().filter(|line| !line.starts_with("    "));
        let outside_spans = outside_code.map(|line| line.split('`').step_by(2).collect::<String>());
        assert!(!outside_spans.into_iter().any(|line| line.contains(tag)), "{tag} in {text}");
    }
    assert!(!text.lines().any(|line| line.starts_with("## injected")));
    assert!(!text.lines().any(|line| line.starts_with("- fake")));
}

// --- The document and its schema -----------------------------------------------------------------

/// The part of JSON Schema that `report.schema.json` uses; `at` is the path for messages.
fn check(schema: &Value, root: &Value, value: &Value, at: &str) -> Vec<String> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return check(target, root, value, at);
    }
    let mut wrong = Vec::new();
    if let Some(wanted) = schema.get("const")
        && wanted != value
    {
        wrong.push(format!("{at}: expected {wanted}"));
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        wrong.push(format!("{at}: {value} is not listed"));
    }
    if let Some(any) = schema.get("anyOf").and_then(Value::as_array)
        && any.iter().all(|one| !check(one, root, value, at).is_empty())
    {
        wrong.push(format!("{at}: fits none of the forms"));
    }
    wrong.extend(check_type(schema, value, at));
    match value {
        Value::Object(_) => wrong.extend(check_object(schema, root, value, at)),
        Value::Array(items) => {
            if let Some(item) = schema.get("items") {
                let each = items.iter().enumerate();
                wrong.extend(each.flat_map(|(i, v)| check(item, root, v, &format!("{at}/{i}"))));
            }
        }
        _ => {}
    }
    wrong
}

fn check_type(schema: &Value, value: &Value, at: &str) -> Option<String> {
    let actual = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = match schema.get("type")? {
        Value::String(one) => one == actual,
        Value::Array(several) => several.iter().any(|one| one == actual),
        _ => false,
    };
    (!fits).then(|| format!("{at}: {actual} is not allowed"))
}

fn check_object(schema: &Value, root: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let required = schema.get("required").and_then(Value::as_array);
    for key in required.into_iter().flatten().filter_map(Value::as_str) {
        if value.get(key).is_none() {
            wrong.push(format!("{at}/{key}: missing"));
        }
    }
    for (key, inside) in value.as_object().into_iter().flatten() {
        let named = schema.get("properties").and_then(|all| all.get(key));
        match named.or(schema.get("additionalProperties")) {
            Some(Value::Bool(false)) => wrong.push(format!("{at}/{key}: not in the schema")),
            Some(part) => wrong.extend(check(part, root, inside, &format!("{at}/{key}"))),
            None => {}
        }
    }
    wrong
}

fn schema() -> Value {
    let text = fs::read_to_string(fixtures().join("report.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn rendered(name: &str) -> Value {
    serde_json::from_str(&json::render(&sample(name)).unwrap()).unwrap()
}

#[test]
fn every_document_fits_the_published_schema() {
    let schema = schema();
    for name in SAMPLES {
        assert_eq!(check(&schema, &schema, &rendered(name), name), [""; 0]);
    }
}

#[test]
fn the_schema_refuses_what_is_no_report() {
    let schema = schema();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut document = rendered("fail-with-lost-event");
        change(&mut document);
        check(&schema, &schema, &document, "").join("; ")
    };
    let missing = refused(&|d| drop(d["run"].as_object_mut().unwrap().remove("root_hash")));
    assert_eq!(missing, "/run/root_hash: missing");
    let unknown = refused(&|d| d["cells"][0]["verdict"] = "pass".into());
    assert_eq!(unknown, "/cells/0/verdict: not in the schema");
    assert_eq!(refused(&|d| d["version"] = 1.into()), "/version: expected 2");
    let status = refused(&|d| d["cells"][0]["known"][0]["status"] = "gone".into());
    assert_eq!(status, "/cells/0/known/0/status: \"gone\" is not listed");
    let outcome = refused(&|d| d["cells"][0]["outcome"] = "passed".into());
    assert_eq!(outcome, "/cells/0/outcome: \"passed\" is not listed");
    let grade = refused(&|d| d["cells"][0]["counts"]["effects"] = 17.into());
    assert_eq!(grade, "/cells/0/counts/effects: fits none of the forms");
}

/// Both directions: what serde writes is in the schema (above), and the schema names nothing else.
#[test]
fn every_object_of_the_schema_is_closed_and_requires_all_it_names() {
    fn walk(value: &Value, at: &str) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            assert_eq!(value["additionalProperties"], Value::Bool(false), "{at} is open");
            let required = value["required"].as_array().unwrap();
            let names: Vec<_> = properties.keys().map(|key| Value::from(key.as_str())).collect();
            let optional: Vec<_> = names.iter().filter(|name| !required.contains(name)).collect();
            assert!(optional.is_empty(), "{at}: {optional:?} should be required");
        }
        for (key, inside) in value.as_object().into_iter().flatten() {
            walk(inside, &format!("{at}/{key}"));
        }
    }
    walk(&schema(), "");
}

#[test]
fn the_document_comes_back_as_it_was() {
    for name in SAMPLES {
        let report = sample(name);
        let text = json::render(&report).unwrap();
        let back: json::Document = serde_json::from_str(&text).unwrap();
        assert_eq!(back, json::document(&report), "{name}");
    }
}

// --- Files ---------------------------------------------------------------------------------------

fn listing(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_directory_holds_the_reports_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("a/b");
    reports::write_all(&out, &sample("known")).unwrap();
    assert_eq!(listing(&out), ["junit.xml", "report.json", "summary.md"]);
    let first = fs::read(out.join("report.json")).unwrap();
    reports::write_all(&out, &sample("known")).unwrap();
    assert_eq!(fs::read(out.join("report.json")).unwrap(), first);
}

#[test]
fn one_report_that_cannot_be_written_costs_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    // A directory where the file should be: the rename fails, whoever runs the test.
    fs::create_dir_all(dir.path().join("junit.xml/in-the-way")).unwrap();
    let error = reports::write_all(dir.path(), &sample("known")).unwrap_err();
    assert!(error.to_string().starts_with("cannot write junit.xml: "), "{error}");
    assert_eq!(listing(dir.path()), ["junit.xml", "report.json", "summary.md"]);
    assert!(dir.path().join("junit.xml").is_dir());
}
