//! The program as it is, whose hinges push otherwise than its paper says.

use rumple::step::Cloth;

use super::{PROBE, scene::Probe};
use crate::inside::common::cloth::{cross, difference, dot, sub};

/// Forces of the hinges with ∇θ divided by max(height, edge length), as the program does it.
fn unmended_forces(cloth: &Cloth, positions: &[[f64; 3]], moments: &[f64]) -> Vec<f64> {
    let mut forces = vec![[0.0; 3]; positions.len()];
    for (hinge, moment) in cloth.topology.hinges.iter().zip(moments) {
        let corners = hinge.vertices;
        let [i, j, k, l] = corners.map(|v| positions[v]);
        let edge = sub(j, i);
        let length = dot(edge, edge).sqrt();
        let wings = [sub(k, i), sub(l, i)];
        let normals = [cross(edge, wings[0]), cross(wings[1], edge)];
        let mut weights = [[0.0; 2]; 4];
        for side in 0..2 {
            let area = dot(normals[side], normals[side]).sqrt();
            let pull = 1.0 / (area * (area / length).max(length));
            let foot = dot(wings[side], edge) / (length * length);
            weights[0][side] = -(1.0 - foot) * pull;
            weights[1][side] = -foot * pull;
            weights[2 + side][side] = pull;
        }
        for (corner, weight) in corners.into_iter().zip(weights) {
            for axis in 0..3 {
                let slope = weight[0] * normals[0][axis] + weight[1] * normals[1][axis];
                forces[corner][axis] -= moment * slope;
            }
        }
    }
    forces.concat()
}

/// The program as it is divides ∇θ by max(height, edge): that, and nothing else, is why its hinges push
/// otherwise than ours. The largest difference is as large as its largest force, and larger.
#[test]
fn the_unmended_program_differs_in_the_hinges_only() {
    for (name, known) in [("random_probe", 1.001), ("drape12", 1.865)] {
        let probe = Probe::load(&format!("mesh/{name}"));
        let cloth = &probe.scene.cloth;
        let stretch = probe.golden(&["force_stretch"]);
        let bend = probe.golden(&["force_bend_elastoplastic", "force_bend_friction"]);
        let mut still = probe.scene.parameters.clone();
        for i in [0, 1, 6] {
            still.bending[i] = still.bending[i].clone() * 1e-20;
        }
        let membrane = cloth.respond(&probe.state, &still, &probe.drive);
        let membrane = probe.scene.flat(&membrane.forces(cloth));
        assert!(difference(&membrane, &stretch) < PROBE, "{name}");
        let all = probe.scene.flat(&probe.system.response.forces(cloth));
        let ours: Vec<f64> = all.iter().zip(&membrane).map(|(a, m)| a - m).collect();
        let moments = cloth
            .compute
            .values(probe.system.response.hinges.moment.clone())
            .unwrap();
        let positions = cloth.vertex_values(&probe.state.positions).unwrap();
        let error = difference(&unmended_forces(cloth, &positions, &moments), &bend);
        let departure = difference(&ours, &bend);
        println!("{name}: with max(height, edge) {error:.1e}, with the height {departure:.3}");
        assert!(error < PROBE, "{name}: {error:e}");
        assert!((departure - known).abs() < 1e-3, "{name}: {departure}");
    }
}
