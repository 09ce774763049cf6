//! `ackproof judge`: the verdicts of a run, recomputed from its evidence.
//! An output directory comes in; its reports are written anew, byte for byte if nothing changed.
//! It must never use anything but the evidence: no server, no suite file, no clock.

use std::path::Path;

use super::{evidence, exit, output};
use crate::reports;

/// Where a report goes that the evidence does not bear out.
const FORMER: &str = "report.json.former";

/// Judges a run again and says whether `report.json` held the same.
pub fn judge(dir: &Path) -> u8 {
    let report = match evidence::judge(dir) {
        Ok(report) => report,
        Err(error) => {
            output::message(&format!("cannot judge: {error}"));
            return exit::USAGE;
        }
    };
    let style = reports::console::Style::of(&std::io::stdout());
    let code = if report.run.cancelled { exit::INTERRUPTED } else { report.exit_code() };
    let code = output::result(&reports::console::render(&report, dir, style), code);
    let document = dir.join(reports::JSON);
    let before = std::fs::read(&document).ok();
    let now = match reports::json::render(&report) {
        Ok(text) => text.into_bytes(),
        Err(error) => {
            output::message(&format!("cannot render the report: {error}"));
            return exit::INCONCLUSIVE;
        }
    };
    let differs = before.as_ref().is_some_and(|before| *before != now);
    if differs {
        // The report that was there is evidence of its own: somebody has changed something.
        let _ = std::fs::rename(&document, dir.join(FORMER));
    }
    if let Err(error) = reports::write_all(dir, &report) {
        output::message(&format!("the verdicts stand above; nothing was written: {error}"));
        return code;
    }
    output::message(match before {
        None => "judged from the evidence; there was no report before",
        Some(_) if differs => {
            "judged again: the report DIFFERS from the one that was there, now report.json.former"
        }
        Some(_) => "judged again: the report is the same, byte for byte",
    });
    if differs && code == exit::OK { exit::INCONCLUSIVE } else { code }
}
