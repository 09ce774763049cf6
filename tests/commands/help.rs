//! `--help` of the program and of every verb, as a reader meets it.
//! Nothing goes in; the texts are compared with the goldens in `fixtures/help`.
//! It must never leave out a verb: the list comes from the definition itself.
//!
//! `UPDATE_GOLDEN=1 cargo test --test commands help` writes the goldens anew.

use std::path::Path;

use ackproof::cli::command::definition;

use crate::program::run_with;

fn verbs() -> Vec<String> {
    definition().get_subcommands().map(|verb| verb.get_name().to_owned()).collect()
}

#[test]
fn every_help_text_is_the_one_of_its_golden() {
    let mut failures = Vec::new();
    for verb in std::iter::once(String::new()).chain(verbs()) {
        let arguments: &[&str] = if verb.is_empty() { &["--help"] } else { &[&verb, "--help"] };
        let ended = run_with(arguments, &[("COLUMNS", "100"), ("NO_COLOR", "1")]);
        ended.expect_code(0);
        let name = if verb.is_empty() { "ackproof" } else { &verb };
        let path = Path::new("fixtures/help").join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &ended.stdout).unwrap();
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        if golden != ended.stdout {
            failures.push(format!("--- {} has\n{golden}\n--- but it is\n{}", name, ended.stdout));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_verb_and_option_says_what_it_does_in_a_line() {
    for verb in definition().get_subcommands() {
        let name = verb.get_name();
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(about.ends_with('.') || about.len() > 10, "{name}: {about}");
        for argument in verb.get_arguments() {
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.len() > 8, "{name} {}: {help:?}", argument.get_id());
        }
    }
}

#[test]
fn completions_know_every_verb() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = run_with(&["completions", shell], &[]);
        ended.expect_code(0);
        for verb in verbs() {
            assert!(ended.stdout.contains(&verb), "{shell} does not know {verb}");
        }
    }
    run_with(&["completions", "cmd"], &[]).expect_code(2);
}

#[test]
fn completions_are_a_script_that_bash_reads() {
    let ended = run_with(&["completions", "bash"], &[]);
    let script = ended.out.path().join("completions.bash");
    std::fs::write(&script, &ended.stdout).unwrap();
    let read = std::process::Command::new("bash").arg("-n").arg(&script).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
}
