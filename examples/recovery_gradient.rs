//! How the recovery of a crease depends on every parameter of its fabric: one forward and one reverse
//! pass for a whole curve. Ends with a check against differences.
//!
//! `cargo run --release --example recovery_gradient`

use rumple::{
    error::Result,
    laboratory::CreaseTest,
    material::ReadyMaterial,
    numeric::{Compute, Gate, Precision},
};

fn main() -> Result<()> {
    let compute = Compute::cpu(Precision::F64);
    // The band of the gate spans a few hinges, so that the gradient sees the boundary between rest and
    // slip move.
    let mut cotton = ReadyMaterial::hard("cotton broad")?;
    cotton.gate = Gate::Smoothstep { width: 60.0 };
    let values = &cotton.values;

    // A curve of recovery against pressing time at a gap of 1 mm, read after five minutes.
    let test = CreaseTest::default();
    let points = CreaseTest::grid(&[1e-3], &[10.0, 100.0, 300.0, 3000.0], &[300.0]);
    let angles = test.simulate(&cotton, &points, &compute, true)?;

    println!("change of the recovery angle [°] for 1 % more of a parameter:");
    for (p, name) in cotton.parameter_names().iter().enumerate() {
        print!("{name:>30}");
        for row in angles.slopes.chunks_exact(values.len()) {
            print!("  {:+8.4}", 0.01 * row[p] * values[p]);
        }
        println!();
    }

    // The check: τ_f by central differences.
    let (p, step) = (4, 1e-7 * values[4]);
    let shifted = |by: f64| {
        let mut moved = cotton.clone();
        moved.values[p] += by;
        test.simulate(&moved, &points, &compute, false)
    };
    let (up, down) = (shifted(step)?, shifted(-step)?);
    for (i, row) in angles.slopes.chunks_exact(values.len()).enumerate() {
        let difference = (up.values[i] - down.values[i]) / (2.0 * step);
        assert!(
            (difference - row[p]).abs() < 1e-5 * row[p].abs().max(1e-4),
            "point {i}: {} against {difference}",
            row[p]
        );
    }
    println!("the column of dwell_time agrees with central differences");
    Ok(())
}
