//! Workers: separate programs that the runner starts, arms, hears and lets go on.
//! A program and a `Start` come in; a live worker whose lines arrive as `Said` comes out.
//! It must never know a language, and never take a worker's word for anything but a claim.

pub mod build;
pub mod cache;
mod contents;
pub mod live;
pub mod protocol;
