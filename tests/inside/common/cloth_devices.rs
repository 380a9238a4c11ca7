//! One cloth on two devices.

use rumple::{numeric::Compute, verify::ClothBench};

/// Relative difference of the mean height that f32 may show.
const HEIGHT: f64 = 1e-4;
/// Of the torque: springs of 1e5 N/m turn f32's rounding of positions, 4e-9 m, into 4e-4 N a vertex.
const TORQUE: f64 = 0.05;
/// Of the largest derivatives.
const GRADIENT: f64 = 2e-2;

/// A pinned square and a twist that slips agree in reading and gradient.
pub fn compare(device: &Compute, exact: &Compute, steps: usize) {
    for (name, tolerance) in [("square", HEIGHT), ("twist", TORQUE)] {
        let run = |compute: &Compute| {
            let mut bench = match name {
                "square" => ClothBench::square(6, steps, compute).unwrap(),
                _ => ClothBench::twist(150, true, compute).unwrap(),
            };
            bench.steps = steps;
            let mut solver = bench.solver().unwrap();
            let back = bench.gradient(&mut solver).unwrap();
            let total = back.since_virgin(&bench.cloth, &bench.parameters);
            // Derivatives by relative changes are comparable with each other.
            let pairs = total.list().into_iter().zip(bench.parameters.list());
            let slopes: Vec<f64> = pairs
                .map(|(g, p)| compute.values((g.clone() * p.clone()).sum()).unwrap()[0])
                .collect();
            (back.values[0], slopes)
        };
        let ((value, slopes), (truth, exact)) = (run(device), run(exact));
        let gap = (value - truth).abs() / truth.abs();
        let largest = exact.iter().fold(0.0f64, |m, s| m.max(s.abs()));
        let worst = slopes
            .iter()
            .zip(&exact)
            .fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        println!("{name}: reading {gap:e}, gradient {:e}", worst / largest);
        assert!(gap < tolerance, "{name}: {value} {truth}");
        assert!(worst < GRADIENT * largest, "{name}: {slopes:?} {exact:?}");
        assert!(truth != 0.0 && largest > 0.0);
    }
}
