//! The command line as its users meet it: help, lists, verification, completions, every option.
//! Command lines go in; exit codes and what was said or written are compared.
//! It must never need a server: what does is in `runs`.

#![allow(clippy::unwrap_used)]

#[path = "runs/program.rs"]
#[allow(dead_code)]
mod program;
mod story;
mod world;

mod commands {
    pub mod evidence;

    mod first_failure;
    mod help;
    mod list;
    mod options;
    mod rerun;
    mod verify;
}
