//! The program `ackproof`: arguments in, one exit code out.
//! Everything that it does is a function of the library; this file only joins the two.
//! It must never hold logic of its own, nor end the process from anywhere but its last line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ackproof::cli::command::main())
}
