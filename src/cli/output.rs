//! What the program prints: results to stdout, everything else to stderr.
//! Text comes in; it is written, and a closed pipe is nobody's failure.
//! It must never be called from a module below `cli`.

use std::io::Write;

/// Prints a result.
pub fn result(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{}", text.trim_end_matches('\n'));
}

/// Prints a message for a person.
pub fn message(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", text.trim_end_matches('\n'));
}
