//! Output directories without a server: a world written down as a run would, or a run in vain.
//! A world comes in; a directory with its evidence and its report comes out.
//! It must never write a report by hand: `judge` does.

use std::path::Path;

use ackproof::evidence::event::Event;
use ackproof::evidence::seal::sha256_of;
use tempfile::TempDir;

use crate::program::{Ended, run, run_with};
use crate::world::World;

/// Writes the evidence of a world, without any report.
pub fn write(mut world: World, dir: &Path) {
    std::fs::create_dir_all(dir.join("histories")).unwrap();
    let stories = std::mem::take(&mut world.stories);
    for (unit, story) in stories {
        let text = story.and(Event::Sealed { records: 0 }).ndjson();
        let run = world.run.units.get_mut(&unit).unwrap();
        std::fs::write(dir.join(&run.history), &text).unwrap();
        run.sha256 = sha256_of(text.as_bytes());
    }
    let json = |name: &str, value: String| std::fs::write(dir.join(name), value).unwrap();
    json("plan.json", serde_json::to_string(&world.plan).unwrap());
    json("run.json", serde_json::to_string(&world.run).unwrap());
}

/// The evidence of a world, and its reports; `judge` must have ended with this code.
pub fn judged(world: World, code: i32) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(world, dir.path());
    run(&["judge", dir.path().to_str().unwrap()]).expect_code(code);
    dir
}

/// Runs the program where no engine answers.
pub fn without_engine(arguments: &[&str]) -> Ended {
    run_with(arguments, &[("DOCKER_HOST", "unix:///nonexistent/ackproof-test.sock")])
}
