//! Gradients through a hundred steps of a cloth, and the memory they take.

mod common;

use rumple::{
    experiment::{MESH_CHECK_STEPS, MeshCheck, mesh_gradient_cases},
    rollout::cloth::MEMORY,
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
    assert!(lowest < 0.003, "within the contact's thickness of 4 mm: {lowest}");
}

/// Every kind of input: relative error at most 1e-5 and Taylor slope 2 ± 0.1 (or the remainder is rounding).
#[test]
fn every_gradient_of_a_hundred_steps_is_right() {
    let mut cases = Vec::new();
    mesh_gradient_cases(1, |case| cases.push(case)).unwrap();
    assert!(cases.len() > 25, "{MESH_CHECK_STEPS} steps: {}", cases.len());
    for case in &cases {
        let check = &case.check;
        assert!(
            case.passed() && check.slope.is_none_or(|s| (s - 2.0).abs() < 0.1),
            "{}: {} against {}, slope {:?}",
            case.parameter,
            check.derivative,
            check.difference,
            check.slope
        );
        assert!(check.derivative != 0.0, "{} must matter", case.parameter);
    }
    let curved = cases.iter().filter(|c| c.check.slope.is_some());
    assert!(curved.count() * 10 >= cases.len() * 8, "nearly all remainders stand clear of rounding");
}
