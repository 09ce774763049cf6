//! `ackproof images`: gets the images of all pinned servers, and starts each once if asked to.
//! A plan comes in; images come to the engine and are named with their source.
//! It must never run a unit, nor leave a server standing.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use tokio::sync::mpsc;

use super::select::Selected;
use super::{exit, interrupt, lock, output, select};
use crate::env::engine::Engine;
use crate::env::image::{self, ImageChoice, ResolvedImage};
use crate::env::ports::Ports;
use crate::env::run_lock::{Keep, RunLock};
use crate::env::settings::Settings;
use crate::plan::{Plan, ServerKey};
use crate::run::servers::{BootSetup, NO_ADDRESSES, Servers, server_spec};

/// Gets every image that the plan needs; without an engine, says which ones that would be.
pub async fn images(plan: &Plan, choice: ImageChoice) -> u8 {
    let engine = match Engine::connect().await {
        Ok(engine) => engine,
        Err(error) => {
            for key in keys(plan) {
                if let Ok(spec) = server_spec(&key, NO_ADDRESSES) {
                    let names = image::candidates(&spec, choice).join(" or ");
                    let needed = format!("{} {}: needs {names}", key.kind, key.pin);
                    // The code is that of the missing engine, whatever became of this line.
                    output::result(&needed, exit::INCONCLUSIVE);
                }
            }
            output::message(&error.to_string());
            return exit::INCONCLUSIVE;
        }
    };
    let recipes = image::recipes_folder();
    let mut code = exit::OK;
    for key in keys(plan) {
        let resolved = match server_spec(&key, NO_ADDRESSES) {
            Ok(spec) => image::resolve(&engine, &spec, choice, recipes.as_deref()).await,
            Err(error) => Err(error),
        };
        match resolved {
            Ok(image) => {
                let ResolvedImage { name, source, digest } = image;
                let line = format!("{} {}: {name} ({source}, {digest})", key.kind, key.pin);
                code = output::result(&line, code);
            }
            Err(error) => {
                output::message(&error.to_string());
                code = exit::INCONCLUSIVE;
            }
        }
    }
    code
}

/// Writes what the images and workers hold beside `pins.yaml`.
pub async fn lock(selected: &Selected, choice: ImageChoice, path: &Path) -> u8 {
    let written = async {
        let run = RunLock::take(Keep::Nothing).map_err(|e| e.to_string())?;
        let engine = Engine::connect().await.map_err(|e| e.to_string())?;
        let found = lock::found(&engine, selected, choice, &run.labels()).await;
        let found = found.map_err(|e| e.to_string())?;
        let said = found.servers.iter().map(|(pin, hash)| format!("{pin}: sha256 {hash}\n"));
        let said: String = said.collect();
        found.add_to(path).map(|()| format!("{said}written to {}", path.display()))
    };
    match written.await {
        Ok(said) => output::result(&said, exit::OK),
        Err(error) => {
            output::message(&error);
            exit::INCONCLUSIVE
        }
    }
}

/// Starts every server that the plan needs, side by side, and says when each was ready.
pub async fn boot(plan: &Plan, choice: ImageChoice) -> u8 {
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(problems) => return select::refuse(&problems),
    };
    let lock = match RunLock::take(Keep::Nothing) {
        Ok(lock) => lock,
        Err(error) => {
            output::message(&error.to_string());
            return exit::INCONCLUSIVE;
        }
    };
    let engine = match Engine::connect().await {
        Ok(engine) => engine,
        Err(error) => {
            output::message(&error.to_string());
            return exit::INCONCLUSIVE;
        }
    };
    let setup = BootSetup {
        engine: Ok(engine),
        images: choice,
        recipes: image::recipes_folder(),
        run: lock.id().to_owned(),
        labels: lock.labels(),
        keep: Keep::Nothing,
        ports: Ports::new(settings.ports.clone()),
        settings,
        cancel: interrupt::on_signal("removing servers"),
    };
    let keys = keys(plan);
    let wanted = keys.len();
    let started = Instant::now();
    let (notices, mut events) = mpsc::unbounded_channel();
    let servers = Servers::boot(keys, &setup, &notices);
    let all = servers.all().await;
    let joint_ms = started.elapsed().as_millis();
    drop(notices);
    let mut code = if all.len() == wanted { exit::OK } else { exit::INCONCLUSIVE };
    if *setup.cancel.borrow() {
        code = exit::INTERRUPTED;
    }
    while let Some(event) = events.recv().await {
        code = output::result(&event.line(), code);
    }
    let ready = match all.len() {
        n if n == wanted => format!("all ready after {joint_ms} ms"),
        n => format!("{n} of {wanted} ready after {joint_ms} ms"),
    };
    code = output::result(&ready, code);
    for server in &all {
        server.container.remove().await;
    }
    code
}

fn keys(plan: &Plan) -> BTreeSet<ServerKey> {
    plan.units.iter().flat_map(|unit| [unit.server.clone(), unit.database.clone()]).collect()
}
