//! One step and its gradient by both solvers and in both precisions.

use rumple::{
    contact::Pose,
    numeric::{Compute, Field, Precision},
    solve::Solver,
    step::{Cloth, Drive},
};

use super::{judge::pull_back, specimen::everything};
use crate::inside::common::cloth::{Dice, Objective, Specimen, difference, solver};

/// The factorised matrix and conjugate gradients over the elements give the same step, to the tolerance of
/// the solves times the condition of the matrix.
#[test]
fn both_solvers_give_the_same_step() {
    let specimen = everything(&mut Dice::new(4));
    let direct = specimen.advance();
    let mut conjugate = Solver::conjugate(&specimen.cloth.compute, 1e-13);
    let (fabric, drive) = (&specimen.parameters, &specimen.drive);
    let next = specimen
        .cloth
        .advance(&mut conjugate, &specimen.state, fabric, drive)
        .unwrap();
    let [ours, theirs] = [&direct, &next.state].map(|s| specimen.values(&s.velocities));
    assert!(difference(&ours, &theirs) < 1e-10);
    let objective = Objective::new(&specimen, &mut Dice::new(5));
    let states = (&specimen.state, &direct);
    let adjoint = objective.adjoint(&direct);
    let back = specimen
        .cloth
        .pull_back(&mut conjugate, states, fabric, drive, &adjoint)
        .unwrap();
    let [ours, theirs] =
        [&pull_back(&specimen, &objective), &back].map(|g| specimen.values(&g.state.positions));
    assert!(difference(&ours, &theirs) < 1e-10);
}

/// The same specimen in another precision.
fn in_precision(specimen: &Specimen, precision: Precision) -> Specimen {
    let compute = Compute::cpu(precision);
    let to = |f: &Field| compute.tensor(&specimen.values(f), f.dims());
    let Drive {
        grip,
        free,
        anchors,
        obstacles,
        ..
    } = &specimen.drive;
    let pose = |p: &Pose| Pose {
        center: to(&p.center),
        velocity: to(&p.velocity),
    };
    Specimen {
        cloth: Cloth::new(
            specimen.cloth.mesh.clone(),
            specimen.cloth.setup.clone(),
            &compute,
        )
        .unwrap(),
        state: specimen.state.map(to),
        parameters: specimen.parameters.map(to),
        drive: Drive {
            grip: to(grip),
            free: to(free),
            anchors: to(anchors),
            obstacles: obstacles.iter().map(pose).collect(),
            ..specimen.drive.clone()
        },
    }
}

/// In f32 step and gradient are those of f64 up to its rounding, 6e-8, times what strains of a few percent
/// (from U·U − 1) and stiff triangles make of it.
#[test]
fn single_precision_is_close() {
    let double = everything(&mut Dice::new(6));
    let single = in_precision(&double, Precision::F32);
    let objective = Objective::new(&double, &mut Dice::new(7));
    let [ours, theirs] = [&single, &double].map(|s| s.values(&s.advance().velocities));
    let step = difference(&ours, &theirs);
    let after = single.advance();
    let adjoint = {
        let exact = objective.adjoint(&double.advance());
        let compute = &single.cloth.compute;
        exact.map(|f| compute.tensor(&double.values(f), f.dims()))
    };
    let (states, fabric) = ((&single.state, &after), &single.parameters);
    let mut solver = solver(&single.cloth);
    let back = single
        .cloth
        .pull_back(&mut solver, states, fabric, &single.drive, &adjoint)
        .unwrap();
    let exact = pull_back(&double, &objective);
    let mut worst = 0.0f64;
    for (ours, theirs) in back.state.list().into_iter().zip(exact.state.list()) {
        worst = worst.max(difference(&single.values(ours), &double.values(theirs)));
    }
    for (ours, theirs) in back
        .parameters
        .list()
        .into_iter()
        .zip(exact.parameters.list())
    {
        worst = worst.max(difference(&single.values(ours), &double.values(theirs)));
    }
    println!("f32: step {step:.1e}, gradients {worst:.1e}");
    assert!(step < 1e-5 && worst < 1e-3);
}
