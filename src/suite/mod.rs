//! Suite files: YAML text in, typed and spanned files out, all problems of all files at once.
//! `load` reads files; `validate` checks references and the contract lint; both give `Problem`s.
//! It must never fill in a value that matters, and never touch a network or a server.

pub mod model;
