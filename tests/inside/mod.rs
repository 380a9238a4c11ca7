//! Tests of what the library does not show to its users: they are part of the library's own test binary.
//!
//! Tests of the program and of what the library shows are in `tests/*.rs` and `tests/*/main.rs`.

mod common;
mod fit;
#[cfg(feature = "gpu")]
mod gpu;
mod laboratory;
mod law;
mod layers;
mod learn;
mod mesh;
mod scene;
mod sensitivity;
