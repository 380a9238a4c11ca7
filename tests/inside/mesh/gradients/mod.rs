//! The vector-Jacobian product of one mesh step, input by input, against differences of the step.

mod agreement;
mod judge;
mod specimen;
mod start;

use crate::inside::common::{
    cloth::{Dice, Input, Objective, difference, elastic_setup, parameters, remembering_setup},
    cpu,
};
use judge::{check_all, pull_back};
use rumple::{
    contact::{Contact, Obstacle},
    material::{Dimension, StrainMeasure},
    numeric::{Field, Gate},
    step::ClothSetup,
    verify::checked_laws,
};
use specimen::{BALL, ball, branches, everything, specimen, touching};

/// Every kind of input of a step in which hinges and triangles stick, slip and yield and vertices touch a
/// rough ball, are held and are pinned.
#[test]
fn every_input_of_a_step_has_its_gradient() {
    let mut dice = Dice::new(1);
    let specimen = everything(&mut dice);
    let after = specimen.advance();
    let hinges = branches(&specimen, &specimen.state.bending, &after.bending);
    let triangles = branches(&specimen, &specimen.state.tensile, &after.tensile);
    let touching = touching(&specimen, &ball(), BALL);
    println!("stick, slip, flow: hinges {hinges:?}, triangles {triangles:?}; touching {touching}");
    assert!(hinges.iter().chain(&triangles).all(|n| *n >= 3) && touching >= 3);
    let checked = check_all(&specimen, &mut dice, |_| true);
    assert_eq!(checked, 3 + 7 + 7 + 9 + 6 + 8 + 1);
}

/// A value for every element: their gradients add up to that of the common value, to rounding of the sums,
/// and each is right on its own.
#[test]
fn parameters_of_every_element_have_their_gradients() {
    let mut dice = Dice::new(2);
    let common = everything(&mut dice);
    let objective = Objective::new(&common, &mut dice);
    let of_common = pull_back(&common, &objective);
    let mut own = common.clone();
    let (hinges, triangles) = (
        common.cloth.topology.hinges.len(),
        common.cloth.mesh.triangles.len(),
    );
    let wide = |f: &Field, count: usize| f.clone().repeat_dim(1, count);
    let fabric = &mut own.parameters;
    fabric.bending.iter_mut().for_each(|f| *f = wide(f, hinges));
    fabric.weft_ratio = wide(&fabric.weft_ratio, hinges);
    fabric.membrane = fabric.membrane.map(|f| wide(f, triangles));
    fabric.density = wide(&fabric.density, common.cloth.vertices());
    fabric
        .tensile
        .iter_mut()
        .for_each(|f| *f = wide(f, triangles));
    let of_own = pull_back(&own, &objective);
    let pairs = of_own
        .parameters
        .list()
        .into_iter()
        .zip(of_common.parameters.list());
    for (own, common_value) in pairs {
        let sum = common.values(&own.clone().sum_dim(1));
        let whole = common.values(common_value);
        assert!(difference(&sum, &whole) < 1e-9, "{sum:?} {whole:?}");
    }
    let names = own.parameters.names(&own.cloth.setup.law);
    let place = |name: &str| Input::Parameter(names.iter().position(|n| n == name).unwrap());
    let chosen = [
        "yield_strain",
        "membrane_shear",
        "density",
        "tensile_dwell_time",
    ]
    .map(place);
    assert_eq!(
        check_all(&own, &mut dice, |input| chosen.contains(&input)),
        4
    );
}

/// Every obstacle, moved, and the cloth that it touches.
#[test]
fn every_obstacle_has_its_gradient() {
    let tilt = [0.48, 0.6, 0.64];
    let shapes = [
        (Obstacle::Plane { normal: tilt }, [0.02, 0.015, -0.001]),
        (
            Obstacle::Capsule {
                half_axis: [0.012, 0.004, 0.0],
                radius: 0.01,
            },
            [0.02, 0.015, -0.0105],
        ),
        (
            Obstacle::Cylinder {
                axis: [0.6, 0.8, 0.0],
                radius: 0.02,
                inside: false,
            },
            [0.02, 0.015, -0.0205],
        ),
        (
            Obstacle::Cylinder {
                axis: [0.6, 0.8, 0.0],
                radius: 0.02,
                inside: true,
            },
            [0.02, 0.015, 0.019],
        ),
        (
            Obstacle::Block {
                half: [0.013, 0.008, 0.004],
            },
            [0.021, 0.0157, -0.0045],
        ),
    ];
    for (number, (obstacle, center)) in shapes.into_iter().enumerate() {
        println!("{obstacle:?}");
        let mut dice = Dice::new(30 + number as u64);
        let contact = Contact { obstacle, ..ball() };
        let setup = ClothSetup {
            contacts: vec![contact],
            ..elastic_setup()
        };
        let specimen = specimen(setup, parameters(&[2e-6]), &[center], &mut dice);
        let inputs = [Input::Positions, Input::Velocities, Input::Center(0)];
        let checked = check_all(&specimen, &mut dice, |input| inputs.contains(&input));
        assert_eq!(checked, 3);
    }
}

/// Every bending law, its thresholds as angles, on a sheet that is curved at rest.
#[test]
fn every_law_has_its_gradient() {
    for (number, checked) in checked_laws().into_iter().enumerate() {
        if checked.strain != 1.0 {
            continue;
        }
        println!("{}", checked.name);
        let mut dice = Dice::new(50 + number as u64);
        let setup = ClothSetup {
            law: checked.law.clone(),
            strain: StrainMeasure::Angle,
            gate: Gate::Smoothstep { width: 0.2 },
            rest_is_curved: true,
            ..remembering_setup()
        };
        let mut values = checked.values.clone();
        let stiffnesses = checked.law.parameters().into_iter().enumerate();
        for (i, _) in stiffnesses.filter(|(_, p)| p.dimension == Dimension::Stiffness) {
            values[i] *= 3e-6;
        }
        let mut specimen = specimen(setup, parameters(&values), &[], &mut dice);
        let names = checked.law.history();
        for (name, field) in names.iter().zip(&mut specimen.state.bending) {
            let is = |variable: &str| name.ends_with(variable);
            let range = if is("stick_time") || is("flow_time") {
                (0.0, 100.0)
            } else if is("yield_strain") {
                (0.05, 0.5)
            } else if is("accumulated_plastic") {
                (0.0, 0.3)
            } else {
                (-0.5, 0.5)
            };
            *field = dice.field(&cpu(), field.dims(), range);
        }
        let wanted = |input| {
            matches!(
                input,
                Input::Positions | Input::Bending(_) | Input::Parameter(0)
            )
        };
        let count = check_all(&specimen, &mut dice, wanted);
        assert_eq!(count, 2 + names.len());
    }
}
