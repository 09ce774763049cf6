//! `ackproof judge`: the verdicts of a run, recomputed from its evidence.
//! An output directory comes in; its reports are written anew, byte for byte if nothing changed.
//! It must never use anything but the evidence: no server, no suite file, no clock.

use std::path::Path;

use super::{evidence, exit, output};
use crate::reports;

/// Judges a run again and says whether `report.json` held the same.
pub fn judge(dir: &Path) -> u8 {
    let report = match evidence::judge(dir) {
        Ok(report) => report,
        Err(error) => {
            output::message(&format!("cannot judge: {error}"));
            return exit::USAGE;
        }
    };
    let document = dir.join(reports::JSON);
    let before = std::fs::read(&document).ok();
    if let Err(error) = reports::write_all(dir, &report) {
        output::message(&format!("cannot write reports: {error}"));
        return exit::INCONCLUSIVE;
    }
    let style = reports::console::Style::of(&std::io::stdout());
    output::result(&reports::console::render(&report, dir, style));
    output::message(match before {
        None => "judged from the evidence; there was no report before",
        Some(before) if std::fs::read(&document).is_ok_and(|after| after == before) => {
            "judged again: the report is the same, byte for byte"
        }
        Some(_) => "judged again: the report DIFFERS from the one that was there",
    });
    if report.run.cancelled { exit::INTERRUPTED } else { report.exit_code() }
}
