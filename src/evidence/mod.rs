//! Evidence of a run: the recorder (the only writer) and the history (what all is judged by).
//! Records go in while the run goes on; a sealed, ordered history comes out, from memory or disk.
//! It must never be changed after it was sealed, and nothing in it may depend on who reads it.

pub mod cursor;
pub mod event;
pub mod history;
pub mod recorder;
pub mod seal;

pub use history::{History, HistoryError};
pub use recorder::Recorder;
pub use seal::{root_hash, sha256_of_file};
