//! The commands as functions: what the command line calls, without its parsing.
//! Paths and requests come in; results and text for people come out.
//! It must never end the process: `main` turns what comes back into an exit code.

pub mod clean;
pub mod command;
pub mod compare;
pub mod completions;
pub mod doctor;
pub mod evidence;
pub mod exit;
pub mod explain;
pub mod fail_fast;
pub mod images;
pub mod init;
pub mod interrupt;
pub mod judge;
pub mod list;
pub mod lock;
pub mod output;
pub mod plan;
pub mod record;
pub mod report_words;
pub mod rerun;
pub mod run;
pub mod schema;
pub mod select;
pub mod validate;
pub mod verify;
