//! The start of a roll-out: virgin cloth at rest.

use rumple::{
    mesh::generate::Pattern,
    numeric::Field,
    step::{Cloth, ClothSetup, Parameters},
};

use super::{
    judge::{SLOPE, TOLERANCE, pull_back},
    specimen::everything,
};
use crate::inside::common::{
    cloth::{
        CELL, Dice, Input, Objective, Specimen, check, elastic_setup, parameters, pinned, run,
        sheet, solver,
    },
    cpu,
};

/// Three steps from virgin cloth: the chain of products, with the part that ε_Y0 has in the start.
#[test]
fn a_chain_of_steps_reaches_the_virgin_state() {
    let mut dice = Dice::new(3);
    let first = everything(&mut dice);
    let steps = 3;
    let roll = |fabric: &Parameters| {
        let mut state = first.cloth.start(fabric);
        state.positions = first.state.positions.clone();
        state.velocities = first.state.velocities.clone();
        let mut states = vec![state];
        for k in 0..steps {
            states.push(run(&first.cloth, &states[k], fabric, &first.drive, 1));
        }
        states
    };
    let states = roll(&first.parameters);
    let objective = Objective::new(&first, &mut dice);
    let compute = &first.cloth.compute;
    let mut adjoint = objective.adjoint(&states[steps]);
    let mut total = first.parameters.map(Field::zeros_like);
    let plus = |a: &Parameters, b: &Parameters| {
        let mut others = b.list().into_iter();
        a.map(|f| f.clone() + others.next().unwrap().clone())
    };
    for k in (0..steps).rev() {
        let mut solver = solver(&first.cloth);
        let pair = (&states[k], &states[k + 1]);
        let gradient = first
            .cloth
            .pull_back(&mut solver, pair, &first.parameters, &first.drive, &adjoint)
            .unwrap();
        total = plus(&total, &gradient.parameters);
        adjoint = gradient.state;
    }
    let without_start = total.clone();
    total = plus(
        &total,
        &first.cloth.pull_back_start(&first.parameters, &adjoint),
    );
    let names = total.names(&first.cloth.setup.law);
    for name in ["yield_strain", "tensile_yield_strain"] {
        let place = names.iter().position(|n| n == name).unwrap();
        let sum = |p: &Parameters| -> f64 { first.values(p.list()[place]).iter().sum() };
        let value = first.values(first.parameters.list()[place])[0];
        let at = |s: f64| {
            let moved = first.with(
                Input::Parameter(place),
                first.parameters.list()[place].clone() + s * value,
            );
            objective.value(compute, &roll(&moved.parameters)[steps]).0
        };
        let step = 1e-6;
        let numeric = (at(step) - at(-step)) / (2.0 * step * value);
        println!(
            "{name}: {} {numeric}, without the start {}",
            sum(&total),
            sum(&without_start)
        );
        assert!((sum(&total) / numeric - 1.0).abs() < TOLERANCE);
        assert!(
            (sum(&without_start) / numeric - 1.0).abs() > 1e-3,
            "the start must matter"
        );
    }
}

/// At rest, where every roll-out starts, the hard clamp of the tension has no derivative by the positions and
/// the soft one has.
#[test]
fn the_start_at_rest_needs_a_soft_clamp() {
    let [hard, soft] = [0.0, 1e-3].map(|tension_softness| {
        let setup = ClothSetup {
            gravity: [0.0, 0.0, -9.8],
            tension_softness,
            ..elastic_setup()
        };
        let mesh = sheet(4, 3, Pattern::Irregular { seed: 5 });
        let cloth = Cloth::new(mesh, setup, &cpu()).unwrap();
        let parameters = parameters(&[2e-6]);
        let pins = [0, 4].map(|v| (v, cloth.mesh.positions[v]));
        let specimen = Specimen {
            state: cloth.start(&parameters),
            drive: pinned(&cloth, 0.01, &pins),
            parameters,
            cloth,
        };
        let mut dice = Dice::new(8);
        let objective = Objective::new(&specimen, &mut dice);
        let all = pull_back(&specimen, &objective);
        let positions = (Input::Positions, 0.1 * CELL);
        let verdict = check(&specimen, &objective, &all, positions, &mut dice);
        let slope = verdict.slope.unwrap();
        println!(
            "softness {tension_softness}: error {:.1e}, slope {slope:.3}",
            verdict.relative_error
        );
        (verdict.relative_error, slope)
    });
    assert!(
        soft.0 <= TOLERANCE && (soft.1 - 2.0).abs() <= SLOPE,
        "{soft:?}"
    );
    assert!(hard.0 > 0.01 && hard.1 < 1.1, "{hard:?}");
}
