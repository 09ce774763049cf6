//! The one writer of a history: a record gets its number and time here and goes to disk at once.
//! Events come in from any task of the run; NDJSON lines come out in the order of their arrival.
//! It must never lose a line silently: a failed write is kept and makes `seal` fail.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::event::{Event, Record};

/// A handle to the writer; clones write into the same history.
#[derive(Debug, Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    epoch: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    out: BufWriter<File>,
    next: u64,
    failure: Option<std::io::Error>,
    sealed: bool,
}

impl Recorder {
    /// Opens a new history file; `epoch` is the start of the run, shared by all its histories.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path, epoch: Instant) -> std::io::Result<Self> {
        let out = BufWriter::new(File::create(path)?);
        let state = State { out, next: 0, failure: None, sealed: false };
        let shared = Shared { path: path.to_owned(), epoch, state: Mutex::new(state) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Microseconds since the run started, by the monotonic clock.
    pub fn now_us(&self) -> u64 {
        u64::try_from(self.shared.epoch.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Where the history is written.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Appends one event. A failed write is reported by `seal`; what comes after a seal is dropped.
    pub fn record(&self, event: Event) {
        let mut state = self.lock();
        if state.sealed || state.failure.is_some() {
            return;
        }
        let record = Record { seq: state.next, at_us: self.now_us(), event };
        state.next += 1;
        if let Err(error) = write_line(&mut state.out, &record) {
            state.failure = Some(error);
        }
    }

    /// Writes the last line and forces the file to disk.
    ///
    /// # Errors
    /// When any write failed since the history was opened (a full disk, for example).
    pub fn seal(&self) -> std::io::Result<()> {
        let records = self.lock().next;
        self.record(Event::Sealed { records });
        let mut state = self.lock();
        state.sealed = true;
        if let Some(error) = state.failure.take() {
            return Err(error);
        }
        state.out.flush()?;
        state.out.get_ref().sync_all()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic in another task must not cost the evidence gathered so far.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write_line(out: &mut BufWriter<File>, record: &Record) -> std::io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")?;
    // A killed runner must leave what it saw: one system call a record is cheap beside a network.
    out.flush()
}
