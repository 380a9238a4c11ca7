//! How the recovery of a crease depends on every parameter of its fabric: one forward and one reverse
//! pass for a whole curve. Ends with a check against differences.
//!
//! `cargo run --release --example recovery_gradient`

use rumple::{
    error::Result,
    laboratory::CreaseTest,
    material::{Material, Timer},
    numeric::{Compute, Gate, Precision},
};

fn main() -> Result<()> {
    let compute = Compute::cpu(Precision::F64);
    let material = Material::preset("cotton broad")?;
    let law = material.build_law(Timer::Authors);
    let values = material.values_for(law.as_ref())?;

    // A curve of recovery against pressing time at a gap of 1 mm, read after five minutes. The band of
    // the gate spans a few hinges, so that the gradient sees the boundary between rest and slip move.
    let test = CreaseTest::default();
    let points = CreaseTest::grid(&[1e-3], &[10.0, 100.0, 300.0, 3000.0], &[300.0]);
    let gate = Gate::Smoothstep { width: 60.0 };
    let rollout = test.rollout(law.clone(), gate, &points)?;
    let angles_and_jacobian = |values: &[f64], jacobian: bool| {
        let parameters = rollout.shared_parameters(&compute, values);
        test.run(&compute, &rollout, &points, parameters, jacobian)
    };
    let curves = angles_and_jacobian(&values, true)?;
    let jacobian = curves.jacobian.unwrap_or_default();

    println!("change of the recovery angle [°] for 1 % more of a parameter:");
    for (p, parameter) in law.parameters().iter().enumerate() {
        print!("{:>30}", parameter.name);
        for row in jacobian.chunks_exact(values.len()) {
            print!("  {:+8.4}", 0.01 * row[p] * values[p]);
        }
        println!();
    }

    // The check: τ_f by central differences.
    let (p, step) = (4, 1e-7 * values[4]);
    let shifted = |by: f64| {
        let mut moved = values.clone();
        moved[p] += by;
        angles_and_jacobian(&moved, false)
    };
    let (up, down) = (shifted(step)?, shifted(-step)?);
    for (i, row) in jacobian.chunks_exact(values.len()).enumerate() {
        let difference = (up.angles[i] - down.angles[i]) / (2.0 * step);
        assert!(
            (difference - row[p]).abs() < 1e-5 * row[p].abs().max(1e-4),
            "point {i}: {} against {difference}",
            row[p]
        );
    }
    println!("the column of dwell_time agrees with central differences");
    Ok(())
}
