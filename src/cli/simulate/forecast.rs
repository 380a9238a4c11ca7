//! What a run will need, told before it takes it.

use std::time::{Duration, Instant};

use crate::error::{Result, bad_input};

/// Memory of a run \[bytes per vertex\], all temporaries included: the twist of examples/scenes takes 114,
/// 199 and 920 MiB (VmHWM) with 1,792, 7,056 and 27,032 vertices, the factor of the matrix growing fastest.
const BYTES_PER_VERTEX: u64 = 36_000;
/// The program itself \[bytes\].
const BASE_BYTES: u64 = 80 << 20;
/// A longer run is announced.
const LONG: Duration = Duration::from_secs(30);
/// Steps that are timed before the announcement; the first is slower than the rest.
const TIMED: usize = 4;

/// Refuses a run that does not fit into what is free, where the system tells.
pub fn check_memory(place: &str, vertices: usize) -> Result<()> {
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
pub struct Forecast {
    first: usize,
    steps: usize,
    vertices: usize,
    clock: Instant,
}

impl Forecast {
    /// Before the first step of this session.
    pub fn start(first: usize, steps: usize, vertices: usize) -> Forecast {
        Forecast {
            first,
            steps,
            vertices,
            clock: Instant::now(),
        }
    }

    /// What to say after some steps: once, and only about a long run.
    pub fn after(&mut self, step: usize) -> Option<String> {
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
                words(left),
                self.steps - step,
                a_step.as_secs_f64(),
                needed_bytes(self.vertices) >> 20
            )
        })
    }
}

fn words(time: Duration) -> String {
    match time.as_secs() {
        0..120 => format!("{} s", time.as_secs()),
        120..7200 => format!("{} min", time.as_secs() / 60),
        hours => format!("{:.1} h", hours as f64 / 3600.0),
    }
}
