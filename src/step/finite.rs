//! A run that diverges stops at once and says where.

use burn::tensor::Tensor;

use super::{Cloth, State};
use crate::{
    error::{Error, Result},
    mesh::{RestTriangle, hinge_angles, vector::length},
};

/// Coordinates beyond this \[m\] count as diverged: no cloth is as large or falls as far.
const LARGEST: f64 = 1e6;

impl Cloth {
    /// Refuses the state after a step, counted from 0, that is not finite or leaves all bounds, naming a vertex.
    ///
    /// # Errors
    /// [`Error::Diverged`].
    pub(crate) fn check_bounds(&self, after: &State, step: usize) -> Result<()> {
        let State {
            positions,
            velocities,
            ..
        } = after;
        // The sum finds numbers that are not finite, which the largest size may pass over.
        let sum = (positions.clone() + velocities.clone()).sum();
        let largest = positions.clone().abs().max();
        let read = self
            .compute
            .values(Tensor::<1>::cat(vec![sum, largest], 0))?;
        if read[0].is_finite() && read[1] <= LARGEST {
            return Ok(());
        }
        let (positions, velocities) = (
            self.vertex_values(positions)?,
            self.vertex_values(velocities)?,
        );
        // Written so that NaN is found as well.
        let lost = |v: &usize| {
            !(positions[*v].iter().all(|x| x.abs() <= LARGEST)
                && velocities[*v].iter().all(|x| x.is_finite()))
        };
        let where_is = match (0..positions.len()).find(lost) {
            Some(v) => format!(
                "vertex {v} is at {:?} m and moves at {:?} m/s",
                positions[v], velocities[v]
            ),
            None => "the sum of positions and velocities is too large for a number".into(),
        };
        Err(Error::Diverged(format!(
            "the run diverged in step {step}: {where_is}; take a smaller time step, slower motions or softer \
             springs and contacts, or add damping"
        )))
    }

    /// Stretch of every triangle at some positions: the larger of |F_u| − 1 and |F_v| − 1 by size.
    pub fn stretches(&self, positions: &[[f64; 3]]) -> Vec<f64> {
        let pairs = self.mesh.triangles.iter().zip(&self.rest.triangles);
        pairs
            .map(|(vertices, rest)| stretch(rest, vertices.map(|v| positions[v])))
            .collect()
    }

    /// The worst triangle, hinge and vertex of a state, in words.
    pub fn worst(&self, state: &State) -> Result<String> {
        let positions = self.vertex_values(&state.positions)?;
        let speeds = self.vertex_values(&state.velocities)?;
        let speeds: Vec<f64> = speeds.into_iter().map(length).collect();
        let stretches = self.stretches(&positions);
        let angles = hinge_angles(&positions, &self.topology.hinges);
        let (triangle, hinge, vertex) = (largest(&stretches), largest(&angles), largest(&speeds));
        Ok(format!(
            "triangle {triangle} (vertices {:?}) is stretched the most, by {:.3} %, hinge {hinge} (vertices {:?}) \
             is bent the most, by {:.1}°, and vertex {vertex} is the fastest, at {:.3e} m/s",
            self.mesh.triangles[triangle],
            100.0 * stretches[triangle],
            self.topology.hinges[hinge].vertices,
            angles[hinge].to_degrees(),
            speeds[vertex]
        ))
    }
}

/// Largest stretch of the two yarn directions of a triangle, |F_u| − 1 or |F_v| − 1, by its size.
fn stretch(rest: &RestTriangle, corners: [[f64; 3]; 3]) -> f64 {
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
