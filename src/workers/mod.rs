//! Workers: programs that speak the protocol, described by a manifest, in any language.
//! Manifests come in as YAML; what to build, how to start it and what its clients can do comes out.
//! It must never know a language: whatever differs between workers is data in the manifest.

pub mod manifest;
