//! What an image holds, as one hash: the files that a server's software consists of.
//! An image and the names of those files come in; a hash that any machine would read comes out.
//! It must never start the server, nor leave the container behind in which it looked.

use std::collections::BTreeMap;

use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{
    CreateContainerOptions, LogsOptionsBuilder, RemoveContainerOptionsBuilder,
    StartContainerOptions, WaitContainerOptions,
};
use futures_util::StreamExt;

use super::EnvError;
use super::container::ServerSpec;
use super::engine::Engine;
use super::image::ResolvedImage;

/// SHA-256 over the names and bytes of the files, without their folders, in the order of their
/// hashes. Nothing is printed where a file cannot be read, or where there is none.
fn script(files: &str) -> String {
    let names_only = "sed 's#  .*/#  #'";
    format!(
        "all=$(sha256sum {files}) && printf '%s\\n' \"$all\" | {names_only} | LC_ALL=C sort \
         | sha256sum | cut -c1-64"
    )
}

/// Reads the hash of a server's software in an image, in a container that only reads files.
///
/// # Errors
/// When the engine does not run it, or the files are not there.
pub async fn content(
    engine: &Engine,
    image: &ResolvedImage,
    spec: &ServerSpec,
    labels: &BTreeMap<String, String>,
) -> Result<String, EnvError> {
    let what = format!("cannot read what {} holds", image.name);
    let error = |e: bollard::errors::Error| EnvError::new(&what, e);
    let body = ContainerCreateBody {
        image: Some(image.name.clone()),
        entrypoint: Some(vec![String::from("sh"), String::from("-c")]),
        cmd: Some(vec![script(spec.contents)]),
        labels: Some(labels.clone().into_iter().collect()),
        network_disabled: Some(true),
        ..ContainerCreateBody::default()
    };
    let docker = engine.docker();
    let made =
        docker.create_container(None::<CreateContainerOptions>, body).await.map_err(error)?;
    let read = read(engine, &made.id).await;
    let options = RemoveContainerOptionsBuilder::new().force(true).v(true).build();
    // What it has said is known by now; a sweep takes what cannot be removed.
    let _ = docker.remove_container(&made.id, Some(options)).await;
    let printed = read.map_err(error)?;
    let hash = printed.trim();
    match hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(hash.to_owned()),
        false => Err(EnvError::new(&what, format!("instead of a hash it printed: {hash}"))),
    }
}

async fn read(engine: &Engine, id: &str) -> Result<String, bollard::errors::Error> {
    let docker = engine.docker();
    docker.start_container(id, None::<StartContainerOptions>).await?;
    let mut ended = docker.wait_container(id, None::<WaitContainerOptions>);
    // A code other than 0 comes as an error; what it printed says more.
    while let Some(Ok(_)) = ended.next().await {}
    let options = LogsOptionsBuilder::new().stdout(true).stderr(true).build();
    let mut logs = docker.logs(id, Some(options));
    let mut printed = String::new();
    while let Some(chunk) = logs.next().await {
        printed.push_str(&String::from_utf8_lossy(&chunk?.into_bytes()));
    }
    Ok(printed)
}
