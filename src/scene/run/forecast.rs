//! What a run will need, told before it takes it.

use std::time::{Duration, Instant};

use crate::{
    error::{Result, bad_input},
    numeric::Compute,
    scene::{PreparedScene, Scene},
    study::time_in_words,
};

/// Memory of a run \[bytes per vertex\], all temporaries included: the twist of examples/scenes takes 114,
/// 199 and 920 MiB (VmHWM) with 1,792, 7,056 and 27,032 vertices, the factor of the matrix growing fastest.
const BYTES_PER_VERTEX: u64 = 36_000;
/// The program itself \[bytes\].
const BASE_BYTES: u64 = 80 << 20;
/// A longer run is announced.
const LONG: Duration = Duration::from_secs(30);
/// Steps that are timed before the announcement; the first is slower than the rest.
const TIMED: usize = 4;

/// Prepares a scene, unless its mesh needs more memory than is free: asked before a generated mesh is made, and after
/// one was read.
pub(crate) fn prepare_within_memory(scene: &Scene, compute: &Compute) -> Result<PreparedScene> {
    check_memory(&scene.place, scene.mesh.vertices().unwrap_or(0))?;
    let prepared = scene.prepare(compute)?;
    check_memory(&scene.place, prepared.cloth.vertices())?;
    Ok(prepared)
}

/// Refuses a run that does not fit into what is free, where the system tells.
fn check_memory(place: &str, vertices: usize) -> Result<()> {
    let needed = needed_bytes(vertices);
    match free_bytes() {
        Some(free) if needed > free => bad_input(format!(
            "{place}: a mesh of {vertices} vertices needs about {} MiB, and {} MiB are free; take a coarser mesh \
             or a larger machine",
            needed >> 20,
            free >> 20
        )),
        _ => Ok(()),
    }
}

/// What a run takes.
fn needed_bytes(vertices: usize) -> u64 {
    let mesh = (vertices as u64).saturating_mul(BYTES_PER_VERTEX);
    mesh.saturating_add(BASE_BYTES)
}

/// Memory that programs can still have, where the system tells \[bytes\].
fn free_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

/// Times the first steps.
pub(super) struct Forecast {
    first: usize,
    steps: usize,
    vertices: usize,
    clock: Instant,
}

impl Forecast {
    /// Before the first step of this session.
    pub(crate) fn start(first: usize, steps: usize, vertices: usize) -> Forecast {
        Forecast {
            first,
            steps,
            vertices,
            clock: Instant::now(),
        }
    }

    /// What to say after some steps: once, and only about a long run.
    pub(crate) fn after(&mut self, step: usize) -> Option<String> {
        if step == self.first + 1 {
            self.clock = Instant::now();
        }
        if step != self.first + 1 + TIMED {
            return None;
        }
        let a_step = self.clock.elapsed() / TIMED as u32;
        let left = a_step * (self.steps - step) as u32;
        (left > LONG).then(|| {
            format!(
                "forecast: about {} for {} steps more ({:.3} s each) and up to {} MiB; Ctrl-C keeps what is done, the same command goes on",
                time_in_words(left.as_secs_f64()),
                self.steps - step,
                a_step.as_secs_f64(),
                needed_bytes(self.vertices) >> 20
            )
        })
    }
}
