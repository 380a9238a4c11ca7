//! The memory of a gradient: forecast and measured. A file of its own, because every allocation is counted.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
};

use rumple::{
    numeric::{Compute, Precision},
    rollout::cloth::{ClothRollout, Watch},
    verify::ClothBench,
};

/// Allocations from here on are not counted \[bytes\]: each thread reserves 64 MiB at some time, which stay untouched
/// (the peak that the system reports for this file is 22 MB).
const RESERVE: usize = 32 << 20;

/// The system's allocator with a count of the bytes alive, and the most there were.
struct Counting;

static ALIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: the system's allocator does the work; counting touches no memory that it hands out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() < RESERVE {
            let alive = ALIVE.fetch_add(layout.size(), Relaxed) + layout.size();
            MOST.fetch_max(alive, Relaxed);
        }
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if layout.size() < RESERVE {
            ALIVE.fetch_sub(layout.size(), Relaxed);
        }
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(place, layout) }
    }
}

/// Forecast and measured bytes of a gradient; a twist is held once it is turned.
fn forecast_and_peak(bench: &ClothBench, steps: usize, memory: usize) -> (f64, f64) {
    let drive = |k: usize| bench.drive(k);
    let rollout = ClothRollout {
        cloth: &bench.cloth,
        drive: &drive,
        steps,
        memory,
    };
    let start = bench.cloth.start(&bench.parameters);
    let mut solver = bench.solver().unwrap();
    let watch = Watch {
        after: steps,
        ..bench.watch()
    };
    let before = ALIVE.load(Relaxed);
    MOST.store(before, Relaxed);
    let back = rollout
        .gradient(&mut solver, &start, &bench.parameters, &[watch])
        .unwrap();
    let peak = MOST.load(Relaxed) - before;
    assert!(back.values[0] != 0.0);
    let forecast = rollout.forecast(&start);
    println!(
        "{steps} steps: {forecast:?}, {} B; measured {peak} B",
        forecast.bytes()
    );
    (forecast.bytes() as f64, peak as f64)
}

/// The forecast is true within a factor of 1.5, for a cloth that remembers and an elastic one, whether all states are
/// kept or checkpoints. A thousand steps need the memory of three times the states of a hundred, not of ten times.
#[test]
fn the_memory_of_a_gradient_is_as_forecast() {
    let compute = Compute::cpu(Precision::F64);
    let measured = |bench: &ClothBench, steps: usize, memory: usize| {
        let (forecast, peak) = forecast_and_peak(bench, steps, memory);
        let ratio = forecast / peak;
        assert!((1.0 / 1.5..1.5).contains(&ratio), "{forecast} {peak}");
        peak
    };
    let twist = ClothBench::twist(400, true, &compute).unwrap();
    let hundred = measured(&twist, 100, 0);
    let thousand = measured(&twist, 1000, 0);
    let all = measured(&twist, 100, usize::MAX);
    assert!(
        thousand < 2.5 * hundred && thousand < all,
        "{thousand} {hundred} {all}"
    );
    let square = ClothBench::square(20, 100, &compute).unwrap();
    measured(&square, 100, 0);
}
