//! The memory of a gradient: forecast and measured.
//!
//! Every allocation of a process is counted, so that the measurement has a process of its own: this test binary,
//! started again with this test alone.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    env,
    process::Command,
    sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed},
};

use rumple::{
    numeric::{Compute, Precision},
    rollout::cloth::{ClothRollout, WatchedReading},
    verify::ClothBench,
};

/// Allocations from here on are not counted \[bytes\]: each thread reserves 64 MiB at some time, which stay untouched
/// (the peak that the system reports for the measurement is 22 MB).
const RESERVE: usize = 32 << 20;
/// Set in the process that measures.
const MEASURES: &str = "RUMPLE_TEST_MEASURES_MEMORY";

/// The system's allocator. Once it counts, it knows the bytes alive since then and the most there were.
struct Counting;

static COUNTS: AtomicBool = AtomicBool::new(false);
/// Below zero where more was freed than allocated since the count began.
static ALIVE: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

impl Counting {
    /// The size of an allocation \[bytes\] if it is to be counted.
    fn counted(layout: Layout) -> Option<isize> {
        let counts = COUNTS.load(Relaxed) && layout.size() < RESERVE;
        counts.then_some(layout.size() as isize)
    }
}

// SAFETY: the system's allocator does the work; counting touches no memory that it hands out.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(size) = Counting::counted(layout) {
            let alive = ALIVE.fetch_add(size, Relaxed) + size;
            MOST.fetch_max(alive, Relaxed);
        }
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        if let Some(size) = Counting::counted(layout) {
            ALIVE.fetch_sub(size, Relaxed);
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
    let watch = WatchedReading {
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

/// Runs one test of this binary in a process that counts its memory; the test must pass there.
fn measure(test: &str) {
    let (_, place) = module_path!().split_once("::").unwrap();
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("{place}::{test}"), "--nocapture"])
        .env(MEASURES, "1")
        .output()
        .unwrap();
    let [said, wrong] = [output.stdout, output.stderr].map(|s| String::from_utf8(s).unwrap());
    print!("{said}");
    assert!(output.status.success(), "{said}{wrong}");
    assert!(said.contains("1 passed"), "no such test: {said}{wrong}");
}

/// The forecast is true within a factor of 1.5, for a cloth that remembers and an elastic one, whether all states are
/// kept or checkpoints. A thousand steps need the memory of three times the states of a hundred, not of ten times.
#[test]
fn the_memory_of_a_gradient_is_as_forecast() {
    if env::var_os(MEASURES).is_none() {
        return measure("the_memory_of_a_gradient_is_as_forecast");
    }
    COUNTS.store(true, Relaxed);
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
