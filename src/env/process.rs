//! Processes of workers: started by one thread that lives as long as the run, signalled by pidfd.
//! A command comes in; a child in its own process group, with its pipes and a pidfd, comes out.
//! It must never signal by number or name alone: a pidfd cannot hit a process that took the number.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use tokio::sync::oneshot;

use super::EnvError;
use crate::evidence::event::Exit;

/// A program to start.
#[derive(Debug, Clone)]
pub struct Program {
    pub command: Vec<String>,
    pub folder: PathBuf,
    pub env: BTreeMap<String, String>,
}

/// Starts processes from one thread: the kernel's parent-death signal is bound to the *thread* that
/// started a child, so that thread must live until the last child is gone.
#[derive(Debug, Clone)]
pub struct Spawner {
    requests: mpsc::Sender<Request>,
}

#[derive(Debug)]
struct Request {
    program: Program,
    reply: oneshot::Sender<io::Result<Started>>,
}

/// A child that was started, with its pipes.
#[derive(Debug)]
pub struct Started {
    pub process: RunningProcess,
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// A child that is not reaped yet.
#[derive(Debug)]
pub struct RunningProcess {
    child: Child,
    pidfd: OwnedFd,
}

/// Sends signals to one process, and never to another one that got its number.
#[derive(Debug)]
pub struct SignalHandle {
    pidfd: OwnedFd,
}

impl Spawner {
    /// Starts the spawner thread. It ends when the last handle to it is dropped.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start() -> Result<Self, EnvError> {
        keep_inherited_files();
        let (requests, inbox) = mpsc::channel::<Request>();
        thread::Builder::new()
            .name(String::from("spawner"))
            .spawn(move || {
                for request in inbox {
                    let _ = request.reply.send(start(&request.program));
                }
            })
            .map_err(|e| EnvError::new("cannot start the spawner thread", e))?;
        Ok(Self { requests })
    }

    /// Starts a program.
    ///
    /// # Errors
    /// When it cannot be started; the error names the command.
    pub async fn spawn(&self, program: Program) -> Result<Started, EnvError> {
        let what = format!("cannot start {}", program.command.join(" "));
        let (reply, answer) = oneshot::channel();
        let request = Request { program, reply };
        self.requests.send(request).map_err(|_| EnvError::new(&what, "the spawner has ended"))?;
        answer
            .await
            .map_err(|_| EnvError::new(&what, "the spawner has ended"))?
            .map_err(|e| EnvError::new(&what, e))
    }
}

/// Files and sockets that the runner itself was started with are not for its workers: a worker must
/// hold no connection that it did not make.
fn keep_inherited_files() {
    let Ok(entries) = std::fs::read_dir("/proc/self/fd") else { return };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    for number in numbers.filter(|number| *number > 2) {
        close_on_exec(number);
    }
}

#[expect(unsafe_code, reason = "a file that was inherited has no owner in this program")]
fn close_on_exec(number: std::os::fd::RawFd) {
    // SAFETY: the number was open a moment ago and is only borrowed for one call. If it was closed
    // meanwhile (the directory that is being read is such a one), the call fails and does nothing;
    // if it was opened again by this program, it carries the flag already.
    let file = unsafe { std::os::fd::BorrowedFd::borrow_raw(number) };
    let _ = rustix::io::fcntl_setfd(file, rustix::io::FdFlags::CLOEXEC);
}

fn start(program: &Program) -> io::Result<Started> {
    let (name, arguments) = program
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"))?;
    let mut command = Command::new(name);
    command
        .args(arguments)
        .current_dir(&program.folder)
        .envs(&program.env)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    die_with_parent(&mut command);
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(io::Error::other("a pipe to the child is missing"));
    };
    // The child is not reaped yet, so its number is still its own.
    let pidfd = pidfd_open(pid, PidfdFlags::NONBLOCK)?;
    Ok(Started { process: RunningProcess { child, pidfd }, stdin, stdout, stderr })
}

#[expect(unsafe_code, reason = "pre_exec has no safe form; the closure only makes system calls")]
fn die_with_parent(command: &mut Command) {
    let runner = std::process::id();
    let arm = move || {
        nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
        // The runner may have died between fork and prctl; then nobody would ever send the signal.
        if nix::unistd::getppid().as_raw() != runner.cast_signed() {
            return Err(io::Error::other("the runner is gone"));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe system calls (prctl, getppid) are made,
    // and nothing is allocated unless one of them fails.
    unsafe {
        command.pre_exec(arm);
    }
}

impl RunningProcess {
    /// The kernel's process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A second handle for signals.
    ///
    /// # Errors
    /// When the file descriptor cannot be duplicated.
    pub fn signal_handle(&self) -> io::Result<SignalHandle> {
        Ok(SignalHandle { pidfd: self.pidfd.try_clone()? })
    }

    /// Waits until the process has ended and reaps it.
    ///
    /// # Errors
    /// When its wait status cannot be had.
    pub async fn wait(mut self) -> io::Result<Exit> {
        let status = tokio::task::spawn_blocking(move || self.child.wait())
            .await
            .map_err(io::Error::other)??;
        match (status.code(), status.signal()) {
            (Some(code), _) => Ok(Exit::Code(code)),
            (None, Some(signal)) => Ok(Exit::Signal(signal)),
            (None, None) => Err(io::Error::other(format!("no exit in wait status {status}"))),
        }
    }
}

impl SignalHandle {
    /// Sends SIGKILL.
    ///
    /// # Errors
    /// When the process has already been reaped.
    pub fn kill(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(self.pidfd.as_fd(), Signal::KILL)?)
    }

    /// Sends SIGTERM.
    ///
    /// # Errors
    /// When the process has already been reaped.
    pub fn terminate(&self) -> io::Result<()> {
        Ok(pidfd_send_signal(self.pidfd.as_fd(), Signal::TERM)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program {
            command: vec![String::from("sh"), String::from("-c"), script.to_owned()],
            folder: std::env::temp_dir(),
            env: BTreeMap::new(),
        }
    }

    #[tokio::test]
    async fn a_kill_is_seen_in_the_wait_status() {
        let spawner = Spawner::start().expect("a spawner");
        let started = spawner.spawn(shell("read line")).await.expect("started");
        started.process.signal_handle().expect("a handle").kill().expect("sent");
        assert_eq!(started.process.wait().await.expect("reaped"), Exit::Signal(9));
    }

    #[tokio::test]
    async fn an_exit_code_is_seen_too() {
        let spawner = Spawner::start().expect("a spawner");
        let started = spawner.spawn(shell("exit 7")).await.expect("started");
        assert_eq!(started.process.wait().await.expect("reaped"), Exit::Code(7));
    }

    #[tokio::test]
    async fn a_worker_does_not_inherit_a_socket_of_the_runner() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
        let number = std::os::fd::AsRawFd::as_raw_fd(&listener);
        rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::empty()).expect("inheritable");
        let spawner = Spawner::start().expect("a spawner");
        let program = shell(&format!("test ! -e /proc/self/fd/{number}"));
        let started = spawner.spawn(program).await.expect("started");
        assert_eq!(started.process.wait().await.expect("reaped"), Exit::Code(0));
    }

    #[tokio::test]
    async fn a_program_that_does_not_exist_is_named() {
        let spawner = Spawner::start().expect("a spawner");
        let program = Program { command: vec![String::from("/no/such/worker")], ..shell("") };
        let error = spawner.spawn(program).await.expect_err("not there");
        assert!(error.to_string().contains("/no/such/worker"), "{error}");
    }
}
