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
    /// A fault has done what it does; whether it landed is judged later.
    FaultStruck {
        unit: String,
        fault: String,
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
            Self::FaultStruck { unit, fault } => format!("{}: {} struck", name(unit), name(fault)),
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
            | Self::UnitPhase { unit: name, .. }
            | Self::FaultStruck { unit: name, .. } => Place::Open(name),
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
    Nothing,
    Lines(Box<dyn Write + Send>),
    Bars(Bars),
}

/// A terminal: a line for whatever is going on, and below them how far the whole run is.
struct Bars {
    all: MultiProgress,
    open: BTreeMap<String, ProgressBar>,
    whole: ProgressBar,
    faults: u64,
    troubles: u64,
}

impl Progress {
    /// Bars where standard error is a terminal, plain lines otherwise.
    pub fn on_stderr() -> Self {
        match io::stderr().is_terminal() {
            true => Self::of(Screen::Bars(Bars::on(MultiProgress::new()))),
            false => Self::lines_to(Box::new(io::stderr())),
        }
    }

    /// Nothing at all.
    pub fn quiet() -> Self {
        Self::of(Screen::Nothing)
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
            Screen::Bars(bars) => bars.tell(event),
            Screen::Nothing => {}
        }
    }

    /// Takes all bars off the screen, so that the table stands alone.
    pub fn finish(&self) {
        if let Screen::Bars(bars) = &mut *self.lock() {
            bars.open.clear();
            bars.whole.finish_and_clear();
            let _ = bars.all.clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Screen> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Bars {
    fn on(all: MultiProgress) -> Self {
        let (open, whole) = (BTreeMap::new(), ProgressBar::hidden());
        Self { all, open, whole, faults: 0, troubles: 0 }
    }

    fn tell(&mut self, event: &ProgressEvent) {
        match event.place() {
            Place::Open(name) => {
                let bar = self.open.entry(name.to_owned());
                // Above the line of the whole, which stays the last one.
                let bar = bar.or_insert_with(|| {
                    let bar = self.all.insert_before(&self.whole, spinner());
                    bar.enable_steady_tick(TICK);
                    bar
                });
                bar.set_message(event.line());
            }
            Place::Close(name) => {
                if let Some(bar) = self.open.remove(name) {
                    bar.finish_and_clear();
                    self.all.remove(&bar);
                }
                let _ = self.all.println(event.line());
            }
            Place::Plain => {
                let _ = self.all.println(event.line());
            }
        }
        self.count(event);
    }

    /// The line of the whole: units that are recorded, what happened so far, time left.
    fn count(&mut self, event: &ProgressEvent) {
        match event {
            ProgressEvent::PlanReady { units, .. } => {
                let whole = ProgressBar::new(*units as u64);
                whole.set_style(style(WHOLE));
                self.whole = self.all.add(whole);
                self.whole.enable_steady_tick(TICK);
            }
            ProgressEvent::FaultStruck { .. } => self.faults += 1,
            ProgressEvent::UnitEnded { ending, .. } => {
                self.troubles += u64::from(*ending != UnitEnding::Recorded);
                self.whole.inc(1);
            }
            _ => return,
        }
        let trouble = match self.troubles {
            0 => String::new(),
            n => format!(", {n} in trouble"),
        };
        self.whole.set_message(format!("{} faults struck{trouble}", self.faults));
    }
}

/// How often times on the screen are brought up to date.
const TICK: Duration = Duration::from_millis(250);
/// A line that shows that something goes on, and for how long; it is cut at the screen's edge.
const ONE: &str = "{spinner} {elapsed} {wide_msg}";
/// The time left is what the units so far took, for those that are left.
const WHOLE: &str = "{pos}/{len} units, about {eta} left, {wide_msg}";

fn style(template: &str) -> ProgressStyle {
    // The templates are constants, and a test shows both.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn spinner() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_style(style(ONE));
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

    /// What a terminal of this width shows after these events, line by line.
    fn screen(width: u16, events: &[ProgressEvent]) -> Vec<String> {
        let terminal = indicatif::InMemoryTerm::new(12, width);
        let target = indicatif::ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let progress =
            Progress::of(Screen::Bars(Bars::on(MultiProgress::with_draw_target(target))));
        events.iter().for_each(|event| progress.tell(event));
        let shown = terminal.contents().lines().map(str::to_owned).collect();
        progress.finish();
        assert!(!terminal.contents().contains("units,"), "{}", terminal.contents());
        shown
    }

    #[test]
    fn a_terminal_of_any_width_shows_a_line_for_each_unit_and_one_for_the_whole() {
        // Each of these characters takes two columns.
        let names = ["short", &"永".repeat(150)];
        for width in [40_u16, 80, 200] {
            let mut events = vec![ProgressEvent::PlanReady { cells: 1, units: 4 }];
            for unit in names.map(str::to_owned) {
                events.push(ProgressEvent::UnitStarted { unit: unit.clone(), ordinal: 1, of: 4 });
                events.push(ProgressEvent::FaultStruck { unit, fault: "kill".into() });
            }
            let shown = screen(width, &events);
            assert_eq!(shown.len(), 4, "{shown:#?}");
            assert!(shown[1].ends_with("short: kill struck"), "{shown:#?}");
            assert!(shown[2].contains('永') && shown[2].chars().count() <= usize::from(width));
            assert!(shown[3].starts_with("0/4 units, about "), "{shown:#?}");
            assert!(shown[3].contains("2 faults st"), "{shown:#?}");
            let trouble = UnitEnding::Trouble(String::from("gone"));
            let took_ms = 5;
            events.push(ProgressEvent::UnitEnded {
                unit: names[0].into(),
                ending: trouble,
                took_ms,
            });
            let shown = screen(width.max(80), &events);
            assert!(
                shown.iter().any(|line| line == "short: trouble: gone after 0.0 s"),
                "{shown:#?}"
            );
            let whole = shown.last().expect("a line");
            assert!(whole.starts_with("1/4 units") && whole.ends_with(", 1 in trouble"), "{whole}");
        }
    }
}
