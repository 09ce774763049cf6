//! One live worker process: its lines in, its messages out, its end.
//! A spawner, a program and a `Start` come in; what it says arrives on a channel, in order.
//! It must never block on a worker that does not read, nor keep more than the tail of its log.

use std::collections::VecDeque;
use std::fs::File as LogFile;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{ChildStderr, ChildStdin};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use super::protocol::{FromWorker, LINE_BYTES_MAX, ToWorker, parse};
use crate::env::EnvError;
use crate::env::family;
use crate::env::process::{Program, SignalHandle, Spawner};
use crate::evidence::event::{Exit, Process};

/// Time after a worker's end in which its pipes have to be at theirs.
const PIPES: Duration = Duration::from_secs(1);
/// Lines of stderr that are kept for an error message.
const TAIL_LINES: usize = 20;

/// What came from a worker, in the order in which it came.
#[derive(Debug)]
pub enum Said {
    Message(Process, FromWorker),
    /// It broke the protocol; nothing more is read from it.
    Garbage(Process, String),
    /// It made this many claims and goes on; nothing more is read from it.
    TooMuch(Process, u64),
    /// It has ended and was reaped; all of its lines came before.
    Ended(Process, Exit),
}

/// Where a worker's words go, and how many of them are taken.
#[derive(Debug)]
pub struct Hearing<'a> {
    /// What it says on standard output.
    pub said: UnboundedSender<Said>,
    /// Claims after which it is heard no more.
    pub claims_max: u64,
    /// File for its standard error.
    pub log: &'a Path,
}

/// A worker process that was started.
#[derive(Debug)]
pub struct LiveWorker {
    pub process: Process,
    pub pid: u32,
    signals: SignalHandle,
    /// Marks the process and whatever it starts.
    mark: String,
    lines: std::sync::mpsc::Sender<String>,
    tail: Arc<Mutex<VecDeque<String>>>,
}

impl LiveWorker {
    /// Starts a worker that is heard as `hearing` says. `started_as` learns its process id before
    /// anything that it says can arrive.
    ///
    /// # Errors
    /// When the program cannot be started or its log cannot be written.
    pub async fn start(
        spawner: &Spawner,
        mut program: Program,
        process: Process,
        mark: &str,
        hearing: Hearing<'_>,
        started_as: impl FnOnce(u32) + Send,
    ) -> Result<Self, EnvError> {
        let what = format!("worker {process}");
        let error = |e: &dyn std::fmt::Display| EnvError::new(&what, e);
        let Hearing { said, claims_max, log } = hearing;
        let log = LogFile::create(log).map_err(|e| error(&e))?;
        let mark = format!("{mark}/{process}");
        program.env.insert(family::MARK.to_owned(), mark.clone());
        let started = spawner.spawn(program).await?;
        let pid = started.process.pid();
        let signals = started.process.signal_handle().map_err(|e| error(&e))?;
        started_as(pid);
        let tail = Arc::new(Mutex::new(VecDeque::new()));
        let (lines, outbox) = std::sync::mpsc::channel();
        std::thread::spawn(move || write_lines(started.stdin, &outbox));
        let heard = Arc::clone(&tail);
        let (log_read, log_end) = oneshot::channel();
        std::thread::spawn(move || {
            keep_log(started.stderr, log, &heard);
            let _ = log_read.send(());
        });
        let (name, sender) = (process.clone(), said.clone());
        let (all_said, end_of_lines) = oneshot::channel();
        std::thread::spawn(move || {
            read_lines(started.stdout, &name, &sender, claims_max);
            let _ = all_said.send(());
        });
        let name = process.clone();
        let child = started.process;
        tokio::spawn(async move {
            let exit = child.wait().await.unwrap_or(Exit::Code(-1));
            // Its pipes are at their end now: whatever it said goes before its end. A child of it
            // may hold them open; it is ended with the worker, and not waited for.
            let pipes = async { (end_of_lines.await, log_end.await) };
            let _ = tokio::time::timeout(PIPES, pipes).await;
            let _ = said.send(Said::Ended(name, exit));
        });
        Ok(Self { process, pid, signals, mark, lines, tail })
    }

    /// Sends a message. A worker that is gone does not read it, which its end will show.
    pub fn send(&self, message: &ToWorker) {
        match serde_json::to_string(message) {
            Ok(line) => drop(self.lines.send(line)),
            Err(error) => tracing::error!(%error, "a message to a worker is not JSON"),
        }
    }

    /// Sends SIGKILL through the pidfd, and ends whatever the process has started.
    ///
    /// # Errors
    /// When it has been reaped already.
    pub fn kill(&self) -> std::io::Result<()> {
        let killed = self.signals.kill();
        self.end_family();
        killed
    }

    /// Ends what the process has started and left behind.
    pub fn end_family(&self) -> usize {
        family::end(&self.mark)
    }

    /// The process and everything that it has started, as far as it lives.
    pub fn family(&self) -> Vec<u32> {
        family::members(&self.mark)
    }

    /// Stops the process and everything that it has started.
    pub fn freeze(&self) -> usize {
        family::freeze(&self.mark)
    }

    /// Lets them go on.
    pub fn thaw(&self) -> usize {
        family::thaw(&self.mark)
    }

    /// Their states by the kernel's letters; `T` is stopped.
    pub fn states(&self) -> Vec<(u32, char)> {
        family::states(&self.mark)
    }

    /// Sends SIGTERM through the pidfd, and to whatever the process has started.
    ///
    /// # Errors
    /// When it has been reaped already.
    pub fn terminate(&self) -> std::io::Result<()> {
        if self.family().iter().any(|pid| *pid != self.pid) {
            family::terminate(&self.mark);
            return Ok(());
        }
        self.signals.terminate()
    }

    /// The last lines of its stderr.
    pub fn log_tail(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.iter().cloned().collect::<Vec<_>>().join("\n")
    }
}

fn write_lines(mut stdin: ChildStdin, outbox: &std::sync::mpsc::Receiver<String>) {
    for line in outbox {
        if stdin.write_all(line.as_bytes()).and_then(|()| stdin.write_all(b"\n")).is_err() {
            return;
        }
    }
    // Dropping the handle closes the worker's stdin, which tells it to exit.
}

fn read_lines(stdout: impl Read, process: &Process, said: &UnboundedSender<Said>, claims_max: u64) {
    let mut reader = BufReader::new(stdout);
    let mut claims = 0;
    loop {
        let mut line = Vec::new();
        let limit = LINE_BYTES_MAX as u64 + 1;
        match reader.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let message = if line.len() > LINE_BYTES_MAX {
            Err(format!("stdout line is longer than {LINE_BYTES_MAX} bytes"))
        } else {
            std::str::from_utf8(&line)
                .map_err(|e| format!("stdout line is not UTF-8: {e}"))
                .and_then(|text| parse(text.trim_end_matches(['\n', '\r'])))
        };
        claims += 1;
        let said_this = match message {
            Ok(_) if claims > claims_max => Said::TooMuch(process.clone(), claims_max),
            Ok(message) => Said::Message(process.clone(), message),
            Err(why) => Said::Garbage(process.clone(), why),
        };
        let heard_out = !matches!(said_this, Said::Message(..));
        if said.send(said_this).is_err() {
            return;
        }
        if heard_out {
            // Read on so that the worker never blocks on a full pipe, but believe nothing more.
            let _ = std::io::copy(&mut reader, &mut std::io::sink());
            return;
        }
    }
}

/// Bytes of a worker's stderr that are kept on disk; the rest is read and thrown away.
const LOG_BYTES_MAX: u64 = 8 * 1024 * 1024;

fn keep_log(stderr: ChildStderr, mut log: LogFile, tail: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(stderr);
    let mut written = 0;
    loop {
        let mut line = Vec::new();
        match reader.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if written < LOG_BYTES_MAX {
            // A full disk must not stop the worker; the run's own records will say that it is full.
            let _ = log.write_all(&line);
            written += line.len() as u64;
        }
        let text = String::from_utf8_lossy(&line);
        let shown = shorten(text.trim_end());
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.push_back(shown);
        if tail.len() > TAIL_LINES {
            tail.pop_front();
        }
    }
}

/// Head and end of a long line: the cause of a failure mostly stands at its end.
fn shorten(line: &str) -> String {
    const HEAD: usize = 160;
    const END: usize = 300;
    let chars: Vec<char> = line.chars().collect();
    if chars.len() <= HEAD + END {
        return line.to_owned();
    }
    let head: String = chars[..HEAD].iter().collect();
    let end: String = chars[chars.len() - END..].iter().collect();
    format!("{head} … {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str, claims_max: u64) -> Vec<Said> {
        let process = Process { worker: String::from("consumer"), incarnation: 1 };
        let (said, mut hearing) = tokio::sync::mpsc::unbounded_channel();
        read_lines(text.as_bytes(), &process, &said, claims_max);
        drop(said);
        std::iter::from_fn(|| hearing.try_recv().ok()).collect()
    }

    #[test]
    fn claims_are_taken_up_to_the_cap_and_not_one_more() {
        let line = "{\"type\":\"rebalance\",\"kind\":\"lost\",\"partitions\":[]}\n";
        let all = heard(&line.repeat(5), 5);
        assert!(all.len() == 5 && all.iter().all(|s| matches!(s, Said::Message(..))), "{all:?}");
        let cut = heard(&line.repeat(1000), 5);
        assert_eq!(cut.len(), 6, "{cut:?}");
        assert!(matches!(cut[5], Said::TooMuch(_, 5)), "{cut:?}");
    }

    #[test]
    fn garbage_is_garbage_below_and_beyond_the_cap() {
        for cap in [0, 9] {
            let heard = heard("no message\n{\"type\":\"ready\"}\n", cap);
            assert!(matches!(heard.as_slice(), [Said::Garbage(..)]), "{heard:?}");
        }
    }
}
