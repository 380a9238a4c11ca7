//! Readings of a cloth: what they mean, and their gradients.

use crate::inside::common::{
    cloth::{Dice, crumpled, parameters, remembering_setup, sheet, solver},
    cpu,
};
use std::sync::Arc;

use rumple::{
    material::Elastic,
    mesh::generate::Pattern,
    numeric::Field,
    reading::Reading,
    step::{Cloth, ClothSetup, Damping, Drive, Parameters, State},
};

const LAW: [f64; 9] = [2e-5, 3e-5, 5.0, 50.0, 30.0, 10.0, 2e-5, 0.6, 30.0];

struct Scene {
    cloth: Cloth,
    parameters: Parameters,
    state: State,
    drive: Drive,
    targets: Vec<[f64; 3]>,
}

/// A crumpled sheet that has slipped and yielded, with some vertices held.
fn scene() -> Scene {
    let mesh = sheet(5, 4, Pattern::Irregular { seed: 3 });
    let mut dice = Dice::new(5);
    let places = crumpled(&mesh, &mut dice, [2e-4, 2e-4, 2e-3]);
    let targets = crumpled(&mesh, &mut dice, [1e-3, 1e-3, 1e-3]);
    let parameters = parameters(&LAW);
    let cloth = Cloth::new(mesh, remembering_setup(), &cpu()).unwrap();
    let mut drive = cloth.free_drive(0.01);
    let count = cloth.vertices();
    let grip: Vec<f64> = (0..count).map(|v| if v < 4 { 50.0 } else { 0.0 }).collect();
    drive.grip = cloth.compute.tensor(&grip, [1, count]);
    drive.anchors = cloth.vertex_tensor(&targets);
    // Vertex 2 is pinned besides, so that forces are those of springs and pins.
    let free: Vec<f64> = (0..count).map(|v| if v == 2 { 0.0 } else { 1.0 }).collect();
    drive.free = cloth.compute.tensor(&free, [1, count]);
    drive.pinned = true;
    let mut state = cloth.start(&parameters);
    state.positions = cloth.vertex_tensor(&places);
    let mut solver = solver(&cloth);
    for _ in 0..3 {
        state = cloth
            .advance(&mut solver, &state, &parameters, &drive)
            .unwrap()
            .state;
    }
    Scene {
        cloth,
        parameters,
        state,
        drive,
        targets,
    }
}

fn all(scene: &Scene) -> Vec<Reading> {
    let (up, about) = ([0.0, 0.6, 0.8], [0.01, -0.02, 0.03]);
    vec![
        Reading::RecoveryAngle {
            roots: [vec![7, 8], vec![20, 21]],
            tips: [vec![0, 1], vec![28, 29]],
        },
        Reading::TotalAngle,
        Reading::BendingEnergy,
        Reading::PlasticEnergy,
        Reading::StretchEnergy,
        Reading::KineticEnergy,
        Reading::RmsHeight { axis: up },
        Reading::RmsRadius { axis: up, about },
        Reading::MeanHeight { axis: up },
        Reading::CurvatureWave {
            along_weft: false,
            waves: 2,
        },
        Reading::CurvatureWave {
            along_weft: true,
            waves: 1,
        },
        Reading::Drape {
            axis: [0.0, 0.0, 1.0],
            support_area: 1e-4,
        },
        Reading::Distance {
            targets: scene.targets.clone(),
        },
        Reading::HandleForce {
            vertices: vec![0, 1, 2],
            direction: up,
        },
        Reading::HandleTorque {
            vertices: vec![0, 2, 3],
            axis: up,
            about,
        },
    ]
}

/// Central differences over random directions of positions, velocities, history, parameters and anchors; the
/// readings are smooth there, so 1e-6 is what steps of 1e-6 leave.
#[test]
fn every_reading_has_its_gradient() {
    let scene = scene();
    let compute = &scene.cloth.compute;
    let total = |f: &Field| compute.values(f.clone().sum()).unwrap()[0];
    for reading in all(&scene) {
        let mut dice = Dice::new(9);
        let at = reading
            .linearized(
                &scene.cloth,
                &scene.state,
                &scene.parameters,
                &scene.drive,
                1.0,
            )
            .unwrap();
        // Directions in proportion to each quantity, so that no kind drowns another.
        let mut along = |f: &Field, size: f64| {
            let noise: Vec<f64> = (0..f.shape().num_elements())
                .map(|_| size * dice.one())
                .collect();
            compute.tensor(&noise, f.dims())
        };
        let moves = State {
            positions: along(&scene.state.positions, 1e-3),
            velocities: along(&scene.state.velocities, 1e-2),
            bending: scene.state.bending.iter().map(|f| along(f, 1.0)).collect(),
            tensile: Vec::new(),
        };
        let fabric = scene.parameters.map(|f| f.clone() * 0.1);
        let pulled = along(&scene.drive.anchors, 1e-3);
        let mut derivative = total(&(at.anchors.clone() * pulled.clone()));
        for (gradient, direction) in at.state.list().into_iter().zip(moves.list()) {
            derivative += total(&(gradient.clone() * direction.clone()));
        }
        for (gradient, direction) in at.parameters.list().into_iter().zip(fabric.list()) {
            derivative += total(&(gradient.clone() * direction.clone()));
        }
        let value = |step: f64| {
            let shift = |a: &Field, b: &Field| a.clone() + b.clone() * step;
            let state = State {
                positions: shift(&scene.state.positions, &moves.positions),
                velocities: shift(&scene.state.velocities, &moves.velocities),
                bending: scene
                    .state
                    .bending
                    .iter()
                    .zip(&moves.bending)
                    .map(|(a, b)| shift(a, b))
                    .collect(),
                tensile: Vec::new(),
            };
            let mut others = fabric.list().into_iter();
            let parameters = scene.parameters.map(|f| shift(f, others.next().unwrap()));
            let mut drive = scene.drive.clone();
            drive.anchors = shift(&drive.anchors, &pulled);
            reading
                .value(&scene.cloth, &state, &parameters, &drive)
                .unwrap()
        };
        let step = 1e-5;
        let difference = (value(step) - value(-step)) / (2.0 * step);
        let size = derivative.abs().max(difference.abs());
        assert!(size > 0.0, "{reading:?} must depend on something");
        assert!(
            (derivative - difference).abs() < 1e-6 * size.max(at.value.abs()),
            "{reading:?}: {derivative} {difference}"
        );
    }
}

/// A flat sheet: no angle, no energy, the drape of a disc that does not drape, a strip that has recovered.
#[test]
fn readings_of_a_flat_sheet_are_known() {
    let mesh = sheet(6, 2, Pattern::OneSided);
    let cloth = Cloth::new(mesh, remembering_setup(), &cpu()).unwrap();
    let parameters = parameters(&LAW);
    let state = cloth.start(&parameters);
    let drive = cloth.free_drive(0.01);
    let read = |reading: Reading| reading.value(&cloth, &state, &parameters, &drive).unwrap();
    assert!(read(Reading::BendingEnergy).abs() < 1e-20);
    assert!(read(Reading::StretchEnergy).abs() < 1e-20);
    let up = [0.0, 0.0, 1.0];
    assert!(read(Reading::RmsHeight { axis: up }) < 1e-14);
    let drape = read(Reading::Drape {
        axis: up,
        support_area: 1e-5,
    });
    assert!((drape - 1.0).abs() < 1e-9, "{drape}");
    let columns = 7;
    let column = |c: usize| vec![c, columns + c, 2 * columns + c];
    let angle = read(Reading::RecoveryAngle {
        roots: [column(2), column(4)],
        tips: [column(0), column(6)],
    });
    assert!((angle - 180.0).abs() < 1e-5, "{angle}");
}

/// A sheet that hangs at rest from two pins: they carry its weight, and their torque about a line through them is
/// none.
#[test]
fn pins_carry_the_weight() {
    let mesh = sheet(4, 4, Pattern::Alternating);
    let setup = ClothSetup {
        law: Arc::new(Elastic),
        gravity: [0.0, 0.0, -9.81],
        damping: Damping {
            stiffness: 0.01,
            mass: 20.0,
        },
        ..remembering_setup()
    };
    let cloth = Cloth::new(mesh, setup, &cpu()).unwrap();
    let parameters = parameters(&[2e-5]);
    let mut drive = cloth.free_drive(0.02);
    let count = cloth.vertices();
    let pins = [0, 4];
    let free: Vec<f64> = (0..count)
        .map(|v| if pins.contains(&v) { 0.0 } else { 1.0 })
        .collect();
    drive.free = cloth.compute.tensor(&free, [1, count]);
    drive.pinned = true;
    drive.anchors = cloth.vertex_tensor(&cloth.mesh.positions);
    let mut state = cloth.start(&parameters);
    let mut solver = solver(&cloth);
    for _ in 0..400 {
        state = cloth
            .advance(&mut solver, &state, &parameters, &drive)
            .unwrap()
            .state;
    }
    let read = |reading: Reading| reading.value(&cloth, &state, &parameters, &drive).unwrap();
    let force = read(Reading::HandleForce {
        vertices: pins.to_vec(),
        direction: [0.0, 0.0, 1.0],
    });
    let density = cloth.compute.values(parameters.density.clone()).unwrap()[0];
    let weight = 9.81 * density * cloth.rest.area();
    // What is left of the swing after 8 s.
    assert!((force - weight).abs() < 1e-4 * weight, "{force} {weight}");
    let torque = read(Reading::HandleTorque {
        vertices: pins.to_vec(),
        axis: [1.0, 0.0, 0.0],
        about: [0.0; 3],
    });
    assert!(torque.abs() < 1e-9, "{torque}");
}
