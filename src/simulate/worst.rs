//! Where a run went wrong: the elements that are stretched, bent or thrown the most.

use crate::{
    error::Result,
    mesh::{RestTriangle, hinge_angles, vector::length},
    scene::Prepared,
    step::State,
};

/// Largest stretch of the two yarn directions of a triangle, |F_u| − 1 or |F_v| − 1, by its size.
pub(super) fn stretch(rest: &RestTriangle, corners: [[f64; 3]; 3]) -> f64 {
    let column = |gradient: &[f64; 3]| -> [f64; 3] {
        std::array::from_fn(|axis| (0..3).map(|k| gradient[k] * corners[k][axis]).sum())
    };
    let along = [&rest.gradient_u, &rest.gradient_v].map(|g| length(column(g)) - 1.0);
    if along[0].abs() > along[1].abs() {
        along[0]
    } else {
        along[1]
    }
}

/// Stretch of every triangle.
pub(super) fn stretches(prepared: &Prepared, positions: &[[f64; 3]]) -> Vec<f64> {
    let cloth = &prepared.cloth;
    let pairs = cloth.mesh.triangles.iter().zip(&cloth.rest.triangles);
    pairs
        .map(|(vertices, rest)| stretch(rest, vertices.map(|v| positions[v])))
        .collect()
}

/// The worst triangle, hinge and vertex of a state, in words.
pub(super) fn describe(prepared: &Prepared, state: &State) -> Result<String> {
    let cloth = &prepared.cloth;
    let positions = cloth.vertex_values(&state.positions)?;
    let speeds = cloth.vertex_values(&state.velocities)?;
    let speeds: Vec<f64> = speeds.into_iter().map(length).collect();
    let stretches = stretches(prepared, &positions);
    let angles = hinge_angles(&positions, &cloth.topology.hinges);
    let (triangle, hinge, vertex) = (largest(&stretches), largest(&angles), largest(&speeds));
    Ok(format!(
        "triangle {triangle} (vertices {:?}) is stretched the most, by {:.3} %, hinge {hinge} (vertices {:?}) \
         is bent the most, by {:.1}°, and vertex {vertex} is the fastest, at {:.3e} m/s",
        cloth.mesh.triangles[triangle],
        100.0 * stretches[triangle],
        cloth.topology.hinges[hinge].vertices,
        angles[hinge].to_degrees(),
        speeds[vertex]
    ))
}

/// Where the number of largest size is; a number that is none counts as the largest.
fn largest(values: &[f64]) -> usize {
    let size = |i: &usize| {
        let size = values[*i].abs();
        if size.is_nan() { f64::INFINITY } else { size }
    };
    (0..values.len())
        .max_by(|a, b| size(a).total_cmp(&size(b)))
        .unwrap_or(0)
}
