//! The first steps of paper 1's twist.

use rumple::{
    material::StrainMeasure,
    mesh::hinge_angles,
    step::{Cloth, ClothSetup, Parameters},
};

use crate::inside::common::{
    cloth::{cross, dot, elastic_setup, membrane, parameters, solver, sub},
    cpu, golden,
};

/// Rows of the twist to run: buckling comes later, and a step of 1792 vertices takes its time.
const TWIST_STEPS: usize = 4;

/// The first steps of paper 1's twist without friction and plasticity. The program's ∇θ is the unmended one
/// here, so its numbers are not ours; as stretching decides nearly everything, they agree to 2e-4 all the same.
#[test]
fn the_twist_begins_like_the_programs() {
    let mesh = golden::path("mesh/twist_2k/cyl_2k.obj");
    let (mut mesh, _) = rumple::mesh::read_obj(&mesh, 1.0).unwrap();
    // The program reads its numbers as f32.
    for value in mesh.positions.as_flattened_mut() {
        *value = f64::from(*value as f32);
    }
    for value in mesh.material.as_flattened_mut() {
        *value = f64::from(*value as f32);
    }
    let start = mesh.positions.clone();
    let compute = cpu();
    let setup = ClothSetup {
        strain: StrainMeasure::Angle,
        gravity: [0.0, 0.0, -9.8],
        ..elastic_setup()
    };
    let parameters = Parameters {
        membrane: membrane([50.0, 0.2, 50.0, 30.0]),
        ..parameters(&[5e-6 / 3.0])
    };
    let cloth = Cloth::new(mesh, setup, &compute).unwrap();
    let height = start.iter().fold(0.0f64, |m, p| m.max(p[2]));
    let held = |p: &[f64; 3]| p[2] == 0.0 || p[2] == height;
    let grip: Vec<f64> = start
        .iter()
        .map(|p| if held(p) { 1e5 } else { 0.0 })
        .collect();
    let theirs = golden::rows("mesh/twist_2k/series_off.csv");
    let mut state = cloth.start(&parameters);
    let mut solver = solver(&cloth);
    for (step, row) in theirs.iter().enumerate().take(TWIST_STEPS) {
        let angle = -std::f64::consts::FRAC_PI_4 * (step + 1) as f64 / 30.0;
        let (sin, cos) = angle.sin_cos();
        let turned = |p: &[f64; 3]| [cos * p[0] - sin * p[1], sin * p[0] + cos * p[1], p[2]];
        let place = |p: &[f64; 3]| if p[2] == height { turned(p) } else { *p };
        let anchors: Vec<[f64; 3]> = start.iter().map(place).collect();
        let mut drive = cloth.free_drive(0.01);
        drive.grip = compute.tensor(&grip, [1, grip.len()]);
        drive.anchors = cloth.vertex_tensor(&anchors);
        state = cloth
            .advance(&mut solver, &state, &parameters, &drive)
            .unwrap()
            .state;
        let positions = cloth.vertex_values(&state.positions).unwrap();
        let speeds: Vec<f64> = cloth
            .vertex_values(&state.velocities)
            .unwrap()
            .iter()
            .map(|v| dot(*v, *v).sqrt())
            .collect();
        let top = positions
            .iter()
            .zip(&anchors)
            .zip(&start)
            .filter(|(_, s)| s[2] == height);
        let torque: f64 = top
            .map(|((p, a), _)| {
                let force = sub(*a, *p).map(|d| 1e5 * d);
                cross(*p, force)[2]
            })
            .sum();
        let kinetic: f64 = (speeds.iter().zip(&cloth.rest.vertex_area))
            .map(|(s, area)| 0.5 * 0.06 * area * s * s)
            .sum();
        let angles = hinge_angles(&positions, &cloth.topology.hinges);
        let ours = [
            angles.iter().fold(0.0f64, |m, a| m.max(a.abs())),
            speeds.iter().fold(0.0f64, |m, s| m.max(*s)),
            kinetic,
            torque,
        ];
        let ratios: Vec<f64> = ours
            .iter()
            .zip([1, 2, 3, 6])
            .map(|(o, c)| o / row[c])
            .collect();
        println!("step {step}: ours over theirs: θ, speed, energy, torque {ratios:.4?}");
        assert!(
            ratios.iter().all(|r| (r - 1.0).abs() < 1e-3),
            "step {step}: {ratios:?}"
        );
    }
}
