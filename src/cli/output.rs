//! What the program prints: results to stdout, everything else to stderr.
//! Text and the exit code so far come in; the text is written and the code comes out again.
//! It must never be called from a module below `cli`, nor lose a result without a word.

use std::io::{self, ErrorKind, Write};

use super::exit;

/// Prints a result and gives the exit code: `code`, or 3 in the place of 0 when the result could
/// not be written. A reader that has seen enough (`| head`) is nobody's failure.
pub fn result(text: &str, code: u8) -> u8 {
    let text = text.trim_end_matches('\n');
    let mut out = io::stdout().lock();
    // Flushed here: an error that comes at the end of the process would go unnoticed.
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    after(written, code)
}

/// The exit code after a result was written, or not.
pub fn after(written: io::Result<()>, code: u8) -> u8 {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            message(&format!("the result cannot be written to standard output: {error}"));
            if code == exit::OK { exit::INCONCLUSIVE } else { code }
        }
        _ => code,
    }
}

/// Prints a message for a person.
pub fn message(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", text.trim_end_matches('\n'));
}
