//! `ackproof completions`: what a shell needs to complete verbs and options.
//! A shell comes in; a script for it comes out.
//! It must never list a word by hand: all of them come from the command line's own definition.

use clap_complete::Shell;

/// The script, to be read by the shell at its start.
pub fn completions(shell: Shell) -> String {
    let mut definition = super::command::definition();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition, "ackproof", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}
