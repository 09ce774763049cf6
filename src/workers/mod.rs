<<<<<<< HEAD
//! Workers: separate programs that the runner starts, arms, hears and lets go on.
//! A program and a `Start` come in; a live worker whose lines arrive as `Said` comes out.
//! It must never know a language, and never take a worker's word for anything but a claim.

pub mod build;
pub mod live;
pub mod manifest;
pub mod protocol;
=======
//! Workers: programs that speak the protocol, described by a manifest, in any language.
//! Manifests come in as YAML; what to build, how to start it and what its clients can do comes out.
//! It must never know a language: whatever differs between workers is data in the manifest.

pub mod manifest;
>>>>>>> language
