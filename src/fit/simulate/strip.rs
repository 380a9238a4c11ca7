//! Recovery angles of strip meshes: the values of a fit whose specimen is a mesh.
//!
//! The slopes of such a fit are the hinge ensemble's. A hinge that begins to slip loses its dwell and slides all
//! the way, whatever the gate: taken in forty steps, a share of the dwell that a smooth gate takes away lowers
//! the threshold, which opens the gate further. So the angle of a mesh jumps hinge by hinge, and its own
//! derivative, exact between two jumps, misses what they add up to
//! (`a_meshs_own_derivative_misses_its_jumps` in `tests/inside/fit/strip.rs` prints both). A mesh is therefore run under the hard law, which needs no sweep back and has no smoothing bias.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Condition, Readings};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{CREST_CURVATURE, CreasePoint, StripTest},
    material::Law,
    numeric::{Compute, Gate},
};

/// Steps of the release: within 0.3° of four times as many for cotton, at gaps of 0.5 and 2 mm.
const RELEASE_STEPS: usize = 40;
/// Strips of one mesh. They share the end of each linear solve, so that an angle depends on the others of its mesh
/// by some 1e-10°. Which those are depends on the conditions only, so that a point of the search has the same bits
/// in any company. With a mesh for every strip the fit of fits/strip_mesh takes 153 s of CPU time instead of 67.
const STRIPS: usize = 4;

/// The recovery conditions of a list, as strips.
pub(super) struct StripBlock {
    test: StripTest,
    /// Which conditions they are.
    conditions: Vec<usize>,
    /// All with a crest curvature of one.
    points: Vec<CreasePoint>,
    /// Crest curvature of each test \[1/m\].
    scales: Vec<f64>,
}

/// The test of a fold of so many cells. The hard law does not depend on the steps of fold and hold.
pub(super) fn test(cells: usize) -> StripTest {
    StripTest {
        cells,
        fold_steps: 1,
        hold_steps: 1,
        release_steps: RELEASE_STEPS,
    }
}

impl StripBlock {
    /// None where no condition is a recovery. Refuses readings some time after the release, which
    /// the mesh does not follow.
    pub fn new(test: StripTest, conditions: &[(usize, Condition)]) -> Result<Option<StripBlock>> {
        let mut block = StripBlock {
            test,
            conditions: Vec::new(),
            points: Vec::new(),
            scales: Vec::new(),
        };
        for (i, (_, condition)) in conditions.iter().enumerate() {
            let Condition::Recovery(point) = condition else {
                continue;
            };
            if point.read > 0.0 {
                return bad_input(format!(
                    "a strip mesh is read right after its release, not after {} s, until when flow and relaxation branches move it on; give a recovery time of 0 (tests.read_s where the data have none), or \"specimen\": \"hinges\"",
                    readable(point.read)
                ));
            }
            block.conditions.push(i);
            block.scales.push(CREST_CURVATURE / point.gap);
            let gap = CREST_CURVATURE;
            block.points.push(CreasePoint { gap, ..*point });
        }
        Ok((!block.points.is_empty()).then_some(block))
    }

    /// Puts the angles of all sets into `results`. A mesh that cannot be simulated has no angle, which the
    /// search takes as a wall.
    pub fn read(
        &self,
        compute: &Compute,
        law: &Arc<dyn Law>,
        values: impl Fn(usize, usize, f64) -> Vec<f64> + Sync,
        results: &mut [Readings],
    ) {
        let starts: Vec<usize> = (0..self.points.len()).step_by(STRIPS).collect();
        let meshes: Vec<(usize, usize)> = (0..results.len())
            .flat_map(|set| starts.iter().map(move |first| (set, *first)))
            .collect();
        let angles: Vec<Vec<f64>> = meshes
            .par_iter()
            .map(|&(set, first)| {
                let span = first..(first + STRIPS).min(self.points.len());
                let row = |k: usize| values(set, self.conditions[k], self.scales[k]);
                let rows: Vec<Vec<f64>> = span.clone().map(row).collect();
                let points = &self.points[span.clone()];
                let strips = self.test.strips(law.clone(), Gate::Hard, points, compute);
                let curves = strips.and_then(|mut strips| strips.angles(&rows, false));
                curves.map_or(vec![f64::NAN; span.len()], |c| c.angles)
            })
            .collect();
        for ((set, first), angles) in meshes.into_iter().zip(angles) {
            for (condition, angle) in self.conditions[first..].iter().zip(angles) {
                results[set].values[*condition] = angle;
            }
        }
    }
}
