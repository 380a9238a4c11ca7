//! Gradients through a hundred steps of a cloth, and the memory they take.

use crate::inside::common::cloth_devices;
use rumple::{
    numeric::{Compute, Precision},
    rollout::cloth::{ClothRollout, MEMORY},
    verify::{ClothBench, MESH_CHECK_STEPS, MeshCheck, mesh_gradient_cases},
};

/// The roll-out that the gradients are checked on does what it is there for.
#[test]
fn the_checked_roll_out_sticks_slips_yields_and_touches() {
    let check = MeshCheck::new(1, MEMORY).unwrap();
    let compute = check.cloth.compute.clone();
    let (mut stuck, mut slipped, mut yielded, mut stretched, mut lowest) = (0, 0, 0, 0, f64::MAX);
    check
        .watch(|_, state| {
            let count = |field: &rumple::numeric::Field, f: &dyn Fn(f64) -> bool| {
                let values = compute.values(field.clone()).unwrap();
                values.into_iter().filter(|v| f(*v)).count()
            };
            stuck += count(&state.bending[1], &|t| t > 0.02);
            slipped += count(&state.bending[1], &|t| t == 0.0);
            yielded = count(&state.bending[3], &|p| p > 1e-3);
            stretched = count(&state.tensile[3], &|p| p > 1e-5);
            let places = check.cloth.vertex_values(&state.positions).unwrap();
            for [x, y, z] in places {
                let gap = (x - 0.05).hypot(y - 0.03).hypot(z + 0.033) - 0.03;
                lowest = lowest.min(gap);
            }
        })
        .unwrap();
    assert!(stuck > 100 && slipped > 100, "{stuck} {slipped}");
    assert!(yielded > 3 && stretched > 3, "{yielded} {stretched}");
    assert!(
        lowest < 0.003,
        "within the contact's thickness of 4 mm: {lowest}"
    );
}

/// Every kind of input: relative error at most 1e-5, Taylor slope at least 1.9, and 2 ± 0.1 for those listed.
#[test]
fn every_gradient_of_a_hundred_steps_is_right() {
    let mut cases = Vec::new();
    mesh_gradient_cases(1, |case| cases.push(case)).unwrap();
    assert!(
        cases.len() > 25,
        "{MESH_CHECK_STEPS} steps: {}",
        cases.len()
    );
    for case in &cases {
        let check = &case.check;
        assert!(
            case.passed(),
            "{}: {} against {}, slope {:?}",
            case.parameter,
            check.derivative,
            check.difference,
            check.slope
        );
        assert!(check.derivative != 0.0, "{} must matter", case.parameter);
    }
    // Elsewhere a second derivative may happen to vanish, and the remainder falls faster or is rounding.
    for kind in [
        "bending_stiffness",
        "friction_stiffness",
        "friction_threshold_initial",
        "dwell_time",
        "hardening_drop",
        "weft_ratio",
        "density",
        "tensile_friction_stiffness",
        "tensile_yield_strain",
        "initial positions",
        "initial velocities",
        "handle motion",
        "pin motion",
        "obstacle position",
    ] {
        let slope = cases
            .iter()
            .find(|c| c.parameter == kind)
            .and_then(|c| c.check.slope);
        assert!(
            slope.is_some_and(|s| (s - 2.0).abs() < 0.1),
            "{kind}: {slope:?}"
        );
    }
}

/// f32 on the CPU gives the answers of f64 within f32's means.
#[test]
fn single_precision_agrees() {
    let (single, double) = (Precision::F32, Precision::F64);
    cloth_devices::compare(&Compute::cpu(single), &Compute::cpu(double), 10);
}

/// A gradient through 1000 steps keeps the states of the checkpoint schedule, about twice the root of the steps,
/// and is the one that all states give.
#[test]
fn a_thousand_steps_need_the_memory_of_the_checkpoints() {
    const STEPS: usize = 1000;
    let compute = Compute::cpu(Precision::F64);
    let bench = ClothBench::square(4, STEPS, &compute).unwrap();
    let start = bench.cloth.start(&bench.parameters);
    let run = |memory: usize| {
        let drive = |k: usize| bench.drive(k);
        let rollout = ClothRollout {
            cloth: &bench.cloth,
            drive: &drive,
            steps: STEPS,
            memory,
        };
        let watches = [bench.watch()];
        let mut solver = bench.solver().unwrap().with_tolerance(1e-13);
        let back = rollout
            .gradient(&mut solver, &start, &bench.parameters, &watches)
            .unwrap();
        let stiffness = compute
            .values(back.parameters.membrane.warp.clone())
            .unwrap()[0];
        (
            rollout.forecast(&start),
            back.kept_states,
            back.values[0],
            stiffness,
        )
    };
    let (plan, kept, value, slope) = run(0);
    let (whole, _, expected, expected_slope) = run(MEMORY);
    assert!(whole.keeps_all && !plan.keeps_all);
    assert!(plan.states <= 64 && kept <= 65, "{plan:?} {kept}");
    assert!((value - expected).abs() < 1e-9 * expected.abs());
    assert!((slope - expected_slope).abs() < 1e-6 * expected_slope.abs());
    assert!(expected_slope != 0.0);
}
