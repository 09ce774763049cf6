//! stub
#![allow(missing_docs)]
use std::collections::BTreeMap;
#[derive(Debug, Clone)]
pub struct Manifest {
    pub name: String,
    pub toolchain: Toolchain,
    pub inputs: Vec<String>,
    pub build: Build,
    pub run: Vec<String>,
}
#[derive(Debug, Clone)]
pub struct Toolchain {
    pub name: String,
    pub probe: Vec<String>,
}
#[derive(Debug, Clone)]
pub struct Build {
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub artifact: String,
}
