//! Builds of images and workers: other people's tools, run to their end.
//! A command comes in; nothing, or the last lines that it printed, comes out.
//! It must never let a process of the tool outlive the wait for it.

use tokio::process::Command;

use super::{EnvError, family};

/// Lines of a failed tool that an error shows.
const SHOWN: usize = 15;

/// Runs a build; `mark` is what its processes are known by, `what` is what an error is about.
///
/// # Errors
/// When it cannot be started or fails: with what it printed last, and how to see all of it.
pub async fn run(what: &str, mark: String, mut command: Command) -> Result<(), EnvError> {
    command.env(family::MARK, &mark).kill_on_drop(true);
    // Tools start others; whatever ends this function, a signal included, ends them all.
    let _guard = family::EndOnDrop(mark);
    let words = std::iter::once(command.as_std().get_program()).chain(command.as_std().get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let words = words.join(" ");
    let output = command.output().await;
    let output = output.map_err(|e| EnvError::new(what, format!("cannot run `{words}`: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    // What went wrong stands on standard error, and of some tools only on standard output.
    let printed = [output.stdout, output.stderr].map(|o| String::from_utf8_lossy(&o).into_owned());
    let said = last_lines(&printed.join("\n"));
    let detail = format!(
        "`{words}` ended with {}; run it yourself to see all of it:\n{said}",
        output.status
    );
    Err(EnvError::new(what, detail))
}

/// The last lines with something on them, without colours.
fn last_lines(printed: &str) -> String {
    let plain = console::strip_ansi_codes(printed);
    let lines = plain.lines().map(str::trim_end).filter(|line| {
        // Maven marks each line, and an empty one with the mark alone.
        !matches!(line.trim(), "" | "[ERROR]" | "[INFO]")
    });
    let lines: Vec<&str> = lines.collect();
    let shown = lines[lines.len().saturating_sub(SHOWN)..].iter();
    shown.map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn lines_are_plain_and_the_last_ones() {
        let printed = format!(
            "{}\u{1b}[31m[ERROR]\u{1b}[m no such \u{1b}[1mversion\u{1b}[m\n\n[ERROR]\n",
            "first\n".repeat(40)
        );
        let said = last_lines(&printed);
        assert_eq!(said.lines().count(), SHOWN);
        assert_eq!(said.lines().last(), Some("    [ERROR] no such version"));
    }

    #[tokio::test]
    async fn a_tool_that_fails_shows_what_it_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; exit 3"]);
        let error = run("a thing", "test/tool".to_owned(), command).await.unwrap_err();
        assert!(error.detail.contains("exit status: 3"), "{error}");
        assert!(error.detail.ends_with("    one\n    two"), "{error}");
        let missing = Command::new("no-such-program-anywhere");
        let error = run("a thing", "test/tool".to_owned(), missing).await.unwrap_err();
        assert!(error.detail.starts_with("cannot run `no-such-program-anywhere`"), "{error}");
    }
}
