//! Which image a server runs from: a local one, an upstream one, or one built on the spot.
//! A `ServerSpec` and the user's choice come in; an image that the engine has comes out.
//! It must never run an image without saying which one and from where.

use std::path::{Path, PathBuf};

use bollard::query_parameters::CreateImageOptionsBuilder;
use futures_util::StreamExt;

use super::EnvError;
use super::container::ServerSpec;
use super::engine::Engine;
use super::tool;

/// Variable with a registry prefix for upstream images, for example `127.0.0.1:5000`.
pub const REGISTRY_VARIABLE: &str = "ACKPROOF_REGISTRY";

/// What `--images` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ImageChoice {
    /// A local image if there is one, else pull, else build.
    Auto,
    /// The image that the project behind the server publishes.
    Upstream,
    /// An image built by `ci/images`.
    Local,
}

/// An image that the engine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedImage {
    pub name: String,
    /// Repository digest, or the image id where there is none.
    pub digest: String,
    /// `local` or `upstream`.
    pub source: &'static str,
}

/// Names of the images that a choice allows, in the order in which they are tried.
pub fn candidates(spec: &ServerSpec, choice: ImageChoice) -> Vec<String> {
    let upstream = upstream_name(spec, std::env::var(REGISTRY_VARIABLE).ok().as_deref());
    match choice {
        ImageChoice::Auto => vec![spec.local_image.clone(), upstream],
        ImageChoice::Upstream => vec![upstream],
        ImageChoice::Local => vec![spec.local_image.clone()],
    }
}

/// Gets an image for a server; `recipes` is the folder of `ci/images`, if this is a checkout.
///
/// # Errors
/// When none can be had; the error names every way that was tried.
pub async fn resolve(
    engine: &Engine,
    spec: &ServerSpec,
    choice: ImageChoice,
    recipes: Option<&Path>,
) -> Result<ResolvedImage, EnvError> {
    let upstream = upstream_name(spec, std::env::var(REGISTRY_VARIABLE).ok().as_deref());
    let mut tried = Vec::new();
    if choice != ImageChoice::Upstream
        && let Some(found) = present(engine, &spec.local_image, "local").await
    {
        return Ok(found);
    }
    if choice != ImageChoice::Local {
        if let Some(found) = present(engine, &upstream, "upstream").await {
            return Ok(found);
        }
        match pull(engine, &upstream).await {
            Ok(()) => {
                if let Some(found) = present(engine, &upstream, "upstream").await {
                    return Ok(found);
                }
            }
            Err(error) => tried.push(format!("pulling {upstream}: {error}")),
        }
    }
    if choice != ImageChoice::Upstream {
        match build(spec, recipes).await {
            Ok(()) => {
                if let Some(found) = present(engine, &spec.local_image, "local").await {
                    return Ok(found);
                }
                tried.push(format!("the recipe left no image {}", spec.local_image));
            }
            Err(error) => tried.push(format!("building {}: {error}", spec.local_image)),
        }
    }
    Err(EnvError::new(
        format!("no image for {} {}", spec.kind, spec.pin),
        format!(
            "{}; build it with `ackproof images` or name a registry in {REGISTRY_VARIABLE}",
            tried.join("; ")
        ),
    ))
}

fn upstream_name(spec: &ServerSpec, registry: Option<&str>) -> String {
    match registry.filter(|prefix| !prefix.is_empty()) {
        Some(prefix) => format!("{}/{}", prefix.trim_end_matches('/'), spec.upstream_image),
        None => spec.upstream_image.clone(),
    }
}

async fn present(engine: &Engine, name: &str, source: &'static str) -> Option<ResolvedImage> {
    let image = engine.docker().inspect_image(name).await.ok()?;
    let digest = image
        .repo_digests
        .and_then(|digests| digests.into_iter().next())
        .or(image.id)
        .unwrap_or_default();
    Some(ResolvedImage { name: name.to_owned(), digest, source })
}

async fn pull(engine: &Engine, name: &str) -> Result<(), bollard::errors::Error> {
    let options = CreateImageOptionsBuilder::new().from_image(name).build();
    let mut progress = engine.docker().create_image(Some(options), None, None);
    while let Some(step) = progress.next().await {
        step?;
    }
    Ok(())
}

async fn build(spec: &ServerSpec, recipes: Option<&Path>) -> Result<(), EnvError> {
    let what = format!("{} {}", spec.kind, spec.pin);
    let script = recipes
        .map(|folder| folder.join("build"))
        .filter(|script| script.is_file())
        .ok_or_else(|| EnvError::new(&what, "no recipes: this is no checkout with ci/images"))?;
    let mark = format!("image/{}/{}-{}", std::process::id(), spec.kind, spec.pin);
    let mut build = tokio::process::Command::new(&script);
    build.arg(spec.kind.to_string()).arg(&spec.pin);
    tool::run(&what, mark, build).await
}

/// The folder of the image recipes, seen from the working directory or from `ACKPROOF_ROOT`.
pub fn recipes_folder() -> Option<PathBuf> {
    let root = std::env::var_os("ACKPROOF_ROOT").map_or_else(|| PathBuf::from("."), PathBuf::from);
    let folder = root.join("ci/images");
    folder.is_dir().then(|| folder.canonicalize().unwrap_or(folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::ServerKind;

    #[test]
    fn a_registry_prefix_goes_in_front_of_the_upstream_name() {
        let spec = ServerSpec {
            kind: ServerKind::Kafka,
            pin: String::from("4.3.1"),
            local_image: String::from("ackproof/kafka:4.3.1"),
            upstream_image: String::from("apache/kafka:4.3.1"),
            command: Vec::new(),
            env: Vec::new(),
            ports: Vec::new(),
            data_path: String::new(),
            full_disk: &[],
            contents: "",
            attest_command: None,
        };
        assert_eq!(upstream_name(&spec, None), "apache/kafka:4.3.1");
        assert_eq!(upstream_name(&spec, Some("")), "apache/kafka:4.3.1");
        assert_eq!(
            upstream_name(&spec, Some("127.0.0.1:5000/")),
            "127.0.0.1:5000/apache/kafka:4.3.1"
        );
    }
}
