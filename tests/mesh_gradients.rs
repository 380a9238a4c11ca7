//! The vector-Jacobian product of one mesh step, input by input, against differences of the step.

mod common;

use std::sync::Arc;

use common::{
    cloth::{
        CELL, Dice, Input, Objective, Specimen, check, crumpled, largest, one, parameters,
        remembering_setup, sheet, solver, tensile,
    },
    cpu,
};
use rumple::{
    experiment::checked_laws,
    material::StrainMeasure,
    mesh::generate::Pattern,
    numeric::{Field, Gate},
    step::{Cloth, Contact, Damping, Obstacle, Parameters, Pose, Setup, State},
};

/// The tolerance against central differences in f64.
const TOLERANCE: f64 = 1e-5;
/// The range of the Taylor slope about 2.
const SLOPE: f64 = 0.1;

/// Bending whose thresholds lie among the curvatures of a crumpled sheet (some 200 1/m).
const BENDING: [f64; 9] = [2e-6, 3e-6, 30.0, 200.0, 5.0, 150.0, 1e-6, 0.6, 20.0];

/// A ball under the middle of the sheet whose top reaches into it.
fn ball() -> Contact {
    Contact {
        obstacle: Obstacle::Sphere { radius: 0.03 },
        thickness: 2e-3,
        stiffness: 20.0,
        friction: 0.4,
    }
}

/// A crumpled sheet in motion with a random history, two pinned and three held vertices.
fn specimen(setup: Setup, parameters: Parameters, centers: &[[f64; 3]], dice: &mut Dice) -> Specimen {
    let compute = cpu();
    let mesh = sheet(4, 3, Pattern::Irregular { seed: 5 });
    let positions = crumpled(&mesh, dice, [4e-4, 4e-4, 2e-3]);
    let cloth = Cloth::new(mesh, setup, &compute).unwrap();
    let count = cloth.vertices();
    let motion: Vec<[f64; 3]> = (0..count).map(|_| dice.vector([0.1; 3])).collect();
    let mut start = cloth.start(&parameters);
    start.positions = cloth.vertex_tensor(&positions);
    start.velocities = cloth.vertex_tensor(&motion);
    let mut drive = cloth.free_drive(0.01);
    drive.material_seconds = 0.5;
    drive.elapse = 2.0;
    let (mut grip, mut free) = (vec![0.0; count], vec![1.0; count]);
    let mut anchors = vec![[0.0; 3]; count];
    for held in [3, 9, 17] {
        grip[held] = 20.0;
    }
    for pinned in [0, 4] {
        free[pinned] = 0.0;
    }
    for (anchor, position) in anchors.iter_mut().zip(&positions) {
        let moved = dice.vector([1e-3; 3]);
        *anchor = std::array::from_fn(|a| position[a] + moved[a]);
    }
    drive.grip = compute.tensor(&grip, [1, count]);
    drive.pinned = true;
    drive.free = compute.tensor(&free, [1, count]);
    drive.anchors = cloth.vertex_tensor(&anchors);
    drive.obstacles = centers
        .iter()
        .map(|c| Pose {
            center: compute.tensor(c, [3, 1]),
            velocity: compute.tensor(&dice.vector([0.03; 3]), [3, 1]),
        })
        .collect();
    Specimen {
        cloth,
        state: start,
        parameters,
        drive,
    }
}

/// A history of the law that remembers, for strains of about `strain`: anchors and plastic strains on both
/// sides, all ages, all flow directions.
fn used_history(list: &mut [Field], strain: f64, dice: &mut Dice) {
    let ranges = [
        (-strain, strain),
        (0.0, 10.0),
        (-0.3 * strain, 0.3 * strain),
        (0.0, 0.3 * strain),
        (0.0, 30.0),
        (-1.0, 1.0),
        (0.2 * strain, strain),
    ];
    for (field, range) in list.iter_mut().zip(ranges) {
        *field = dice.field(&cpu(), field.dims(), range);
    }
}

/// Checks every input of a step, or those that `wanted` picks, along a random direction each.
fn check_all(specimen: &Specimen, dice: &mut Dice, wanted: impl Fn(Input) -> bool) -> usize {
    let objective = Objective::new(specimen, dice);
    let after = specimen.advance();
    let adjoint = objective.adjoint(&after);
    let all = specimen
        .cloth
        .pull_back(
            &mut solver(&specimen.cloth),
            (&specimen.state, &after),
            &specimen.parameters,
            &specimen.drive,
            &adjoint,
        )
        .unwrap();
    let mut failed = Vec::new();
    let mut checked = 0;
    for (name, input) in specimen.inputs() {
        if !wanted(input) {
            continue;
        }
        let reach = match input {
            Input::Positions | Input::Anchors | Input::Center(_) => 0.1 * CELL,
            _ => largest(&specimen.values(&specimen.read(input))).max(1e-9),
        };
        let verdict = check(specimen, &objective, &all, (input, reach), dice);
        let right = verdict.relative_error <= TOLERANCE
            && verdict.slope.is_some_and(|s| (s - 2.0).abs() <= SLOPE)
            && verdict.derivative != 0.0;
        println!(
            "{name:36} {:12.4e} error {:.1e} slope {:?} {}",
            verdict.derivative,
            verdict.relative_error,
            verdict.slope.map(|s| (1e3 * s).round() / 1e3),
            if right { "" } else { "FAILED" }
        );
        if !right {
            failed.push(name);
        }
        checked += 1;
    }
    assert!(failed.is_empty(), "{failed:?}");
    checked
}

/// Every kind of input of a step in which hinges and triangles stick, slip and yield and vertices touch a
/// rough ball, are held and are pinned: slope 2 and 1e-5.
#[test]
fn every_input_of_a_step_has_its_gradient() {
    let mut dice = Dice::new(1);
    let setup = Setup {
        gate: Gate::Smoothstep { width: 60.0 },
        tensile_gate: Gate::Smoothstep { width: 0.02 },
        gravity: [0.0, 0.0, -9.8],
        damping: Damping {
            stiffness: 2e-3,
            mass: 1.5,
        },
        contacts: vec![ball()],
        ..remembering_setup()
    };
    let mut fabric = parameters(&BENDING);
    fabric.weft_ratio = one(0.6);
    fabric.tensile = tensile();
    let mut specimen = specimen(setup, fabric, &[[0.02, 0.015, -0.0305]], &mut dice);
    used_history(&mut specimen.state.bending, 300.0, &mut dice);
    used_history(&mut specimen.state.tensile, 0.08, &mut dice);
    let checked = check_all(&specimen, &mut dice, |_| true);
    assert_eq!(checked, 3 + 7 + 7 + 9 + 6 + 8 + 1);
}
