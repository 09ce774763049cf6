//! The commands as functions: what the command line calls, without its parsing.
//! Paths and requests come in; results and text for people come out.
//! It must never end the process: `main` turns what comes back into an exit code.

pub mod plan;
pub mod validate;
