//! What a person sees while a run goes on: bars on a terminal, plain lines in a pipe or CI log.
//! Progress events come in from any task; lines go to standard error, never to standard output.
//! It must never decide anything, slow a run down by failing, or show a raw control character.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::text;

/// Characters of a name or detail in a line.
const WIDTH: usize = 200;

/// Something that a person may want to know at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgressEvent {
    PlanReady {
        cells: usize,
        units: usize,
    },
    WorkerBuilding {
        worker: String,
    },
    WorkerBuilt {
        worker: String,
        took_ms: u64,
    },
    ServerStarting {
        server: String,
    },
    ServerReady {
        server: String,
        took_ms: u64,
    },
    ServerFailed {
        server: String,
        detail: String,
    },
    UnitStarted {
        unit: String,
        ordinal: usize,
        of: usize,
    },
    UnitPhase {
        unit: String,
        phase: String,
    },
    /// `recorded` is not a verdict: it says that the history is sealed.
    UnitEnded {
        unit: String,
        ending: UnitEnding,
        took_ms: u64,
    },
    CleaningUp,
    /// Anything else worth a line.
    Note {
        text: String,
    },
}

/// How the recording of a unit ended; what it means is judged later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitEnding {
    Recorded,
    /// Something could not be found out or done.
    Trouble(String),
    Cancelled,
}

/// Where an event belongs on a terminal.
enum Place<'a> {
    /// A line of its own that changes until `Close`.
    Open(&'a str),
    /// The line of this name is finished.
    Close(&'a str),
    /// Only a line.
    Plain,
}

impl ProgressEvent {
    /// The event as one line, safe to show.
    pub fn line(&self) -> String {
        let name = |name: &str| text::line(name, WIDTH);
        match self {
            Self::PlanReady { cells, units } => format!("plan: {cells} cells, {units} units"),
            Self::WorkerBuilding { worker } => format!("worker {}: building", name(worker)),
            Self::WorkerBuilt { worker, took_ms } => {
                format!("worker {}: built in {}", name(worker), seconds(*took_ms))
            }
            Self::ServerStarting { server } => format!("server {}: starting", name(server)),
            Self::ServerReady { server, took_ms } => {
                format!("server {}: ready after {}", name(server), seconds(*took_ms))
            }
            Self::ServerFailed { server, detail } => {
                format!("server {}: failed: {}", name(server), name(detail))
            }
            Self::UnitStarted { unit, ordinal, of } => {
                format!("[{ordinal}/{of}] {}: started", name(unit))
            }
            Self::UnitPhase { unit, phase } => format!("{}: {}", name(unit), name(phase)),
            Self::UnitEnded { unit, ending, took_ms } => {
                let ending = match ending {
                    UnitEnding::Recorded => String::from("recorded"),
                    UnitEnding::Trouble(what) => format!("trouble: {}", name(what)),
                    UnitEnding::Cancelled => String::from("cancelled"),
                };
                format!("{}: {ending} after {}", name(unit), seconds(*took_ms))
            }
            Self::CleaningUp => String::from("cleaning up"),
            Self::Note { text } => name(text),
        }
    }

    fn place(&self) -> Place<'_> {
        match self {
            Self::WorkerBuilding { worker: name }
            | Self::ServerStarting { server: name }
            | Self::UnitStarted { unit: name, .. }
            | Self::UnitPhase { unit: name, .. } => Place::Open(name),
            Self::WorkerBuilt { worker: name, .. }
            | Self::ServerReady { server: name, .. }
            | Self::ServerFailed { server: name, .. }
            | Self::UnitEnded { unit: name, .. } => Place::Close(name),
            Self::PlanReady { .. } | Self::CleaningUp | Self::Note { .. } => Place::Plain,
        }
    }
}

fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

/// The receiver of progress events; shared by reference between the tasks of a run.
pub struct Progress {
    screen: Mutex<Screen>,
}

enum Screen {
    Lines(Box<dyn Write + Send>),
    Bars { all: MultiProgress, open: BTreeMap<String, ProgressBar> },
}

impl Progress {
    /// Bars where standard error is a terminal, plain lines otherwise.
    pub fn on_stderr() -> Self {
        match io::stderr().is_terminal() {
            true => Self::of(Screen::Bars { all: MultiProgress::new(), open: BTreeMap::new() }),
            false => Self::lines_to(Box::new(io::stderr())),
        }
    }

    /// Plain lines into `out`.
    pub fn lines_to(out: Box<dyn Write + Send>) -> Self {
        Self::of(Screen::Lines(out))
    }

    fn of(screen: Screen) -> Self {
        Self { screen: Mutex::new(screen) }
    }

    /// Shows one event. A line that cannot be written is lost: progress is no evidence.
    pub fn tell(&self, event: &ProgressEvent) {
        match &mut *self.lock() {
            Screen::Lines(out) => {
                let _ = writeln!(out, "{}", event.line()).and_then(|()| out.flush());
            }
            Screen::Bars { all, open } => tell_bars(all, open, event),
        }
    }

    /// Takes all bars off the screen, so that the table stands alone.
    pub fn finish(&self) {
        if let Screen::Bars { all, open } = &mut *self.lock() {
            open.clear();
            let _ = all.clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell_bars(all: &MultiProgress, open: &mut BTreeMap<String, ProgressBar>, event: &ProgressEvent) {
    match event.place() {
        Place::Open(name) => {
            let bar = open.entry(name.to_owned()).or_insert_with(|| all.add(spinner()));
            bar.set_message(event.line());
        }
        Place::Close(name) => {
            if let Some(bar) = open.remove(name) {
                bar.finish_and_clear();
                all.remove(&bar);
            }
            let _ = all.println(event.line());
        }
        Place::Plain => {
            let _ = all.println(event.line());
        }
    }
}

/// A line that shows that something goes on, and for how long.
fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("the kept lines").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn shown(events: &[ProgressEvent]) -> String {
        let kept = Kept::default();
        let progress = Progress::lines_to(Box::new(kept.clone()));
        events.iter().for_each(|event| progress.tell(event));
        progress.finish();
        let bytes = kept.0.lock().expect("the kept lines").clone();
        String::from_utf8(bytes).expect("UTF-8")
    }

    #[test]
    fn a_run_reads_as_plain_lines() {
        let unit = || String::from("at-least-once/kill@kafka-4.3.1");
        let ending = UnitEnding::Recorded;
        let text = shown(&[
            ProgressEvent::PlanReady { cells: 2, units: 5 },
            ProgressEvent::ServerStarting { server: "kafka 4.3.1".into() },
            ProgressEvent::ServerReady { server: "kafka 4.3.1".into(), took_ms: 3049 },
            ProgressEvent::UnitStarted { unit: unit(), ordinal: 1, of: 5 },
            ProgressEvent::UnitEnded { unit: unit(), ending, took_ms: 8500 },
        ]);
        let expected = "plan: 2 cells, 5 units\n\
            server kafka 4.3.1: starting\n\
            server kafka 4.3.1: ready after 3.0 s\n\
            [1/5] at-least-once/kill@kafka-4.3.1: started\n\
            at-least-once/kill@kafka-4.3.1: recorded after 8.5 s\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn hostile_output_of_a_worker_stays_one_harmless_line() {
        let detail = String::from("\u{1b}]0;owned\u{7}\u{1b}[2J\r\nfake: recorded");
        let text = shown(&[ProgressEvent::ServerFailed { server: "x".into(), detail }]);
        assert_eq!(text.lines().count(), 1, "{text:?}");
        assert!(!text.trim_end_matches('\n').chars().any(char::is_control), "{text:?}");
    }

    #[test]
    fn bars_take_every_event_without_a_terminal() {
        let all = MultiProgress::with_draw_target(indicatif::ProgressDrawTarget::hidden());
        let progress = Progress::of(Screen::Bars { all, open: BTreeMap::new() });
        let unit = || String::from("u");
        progress.tell(&ProgressEvent::UnitStarted { unit: unit(), ordinal: 1, of: 1 });
        progress.tell(&ProgressEvent::UnitPhase { unit: unit(), phase: "drain".into() });
        progress.tell(&ProgressEvent::UnitEnded {
            unit: unit(),
            ending: UnitEnding::Cancelled,
            took_ms: 1,
        });
        progress.finish();
    }
}
