//! `ackproof images`: gets the images of all pinned servers, so that a run need not.
//! A selection comes in; images come to the engine and are named with their source.
//! It must never start a server.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{exit, output, select};
use crate::env::container::Addresses;
use crate::env::engine::Engine;
use crate::env::image::{self, ImageChoice};
use crate::plan::{Request, ServerKey};
use crate::run::servers::server_spec;

/// Gets every image that the selected units need.
pub async fn images(
    paths: &[PathBuf],
    workers: &Path,
    request: Request,
    choice: ImageChoice,
) -> u8 {
    let plan = match select::select(paths, workers, request) {
        Ok(selected) => selected.plan,
        Err(problems) => return select::report(&problems),
    };
    let engine = match Engine::connect().await {
        Ok(engine) => engine,
        Err(error) => {
            output::message(&error.to_string());
            return exit::INCONCLUSIVE;
        }
    };
    let keys: BTreeSet<ServerKey> =
        plan.units.iter().flat_map(|unit| [unit.server.clone(), unit.database.clone()]).collect();
    let recipes = image::recipes_folder();
    // No port is used: only the names of the images matter here.
    let addresses = Addresses { link: 0, behind_link: 0, observer: 0 };
    let mut code = exit::OK;
    for key in keys {
        let resolved = match server_spec(&key, addresses) {
            Ok(spec) => image::resolve(&engine, &spec, choice, recipes.as_deref()).await,
            Err(error) => Err(error),
        };
        match resolved {
            Ok(image) => output::result(&format!(
                "{} {}: {} ({}, {})",
                key.kind, key.pin, image.name, image.source, image.digest
            )),
            Err(error) => {
                output::message(&error.to_string());
                code = exit::INCONCLUSIVE;
            }
        }
    }
    code
}
