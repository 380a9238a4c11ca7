//! Recovery angles of strip meshes: the values of a fit whose specimen is a mesh.
//!
//! The slopes of such a fit are the hinge ensemble's. A hinge that begins to slip loses its dwell and slides all
//! the way, whatever the gate: taken in forty steps, a share of the dwell that a smooth gate takes away lowers
//! the threshold, which opens the gate further. So the angle of a mesh jumps hinge by hinge, and its own
//! derivative, exact between two jumps, misses what they add up to
//! (`a_meshs_own_derivative_misses_its_jumps` in `tests/inside/fit/strip.rs` prints both). A mesh is therefore run under the hard law, which needs no sweep back and has no smoothing bias.

use rayon::prelude::*;

use super::StripTest;
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{
        CREST_CURVATURE, CreasePoint, TestSetup,
        batch::{PreparedTest, Readings, Request, or_wall},
    },
    numeric::Gate,
};

/// Steps of the release: within 0.3° of four times as many for cotton, at gaps of 0.5 and 2 mm.
const RELEASE_STEPS: usize = 40;
/// Strips of one mesh. They share the end of each linear solve, so that an angle depends on the others of its mesh
/// by some 1e-10°. Strips are grouped by their conditions only, so that a point of the search has the same bits
/// whatever other points are evaluated with it. With a mesh for every strip the fit of fits/strip_mesh takes 153 s of CPU time instead of 67.
const STRIPS: usize = 4;

/// The recovery conditions of a list, as strips.
pub(in crate::laboratory) struct StripBlock {
    test: StripTest,
    /// Which conditions they are, each with its group.
    conditions: Vec<(usize, usize)>,
    /// All with a crest curvature of one.
    points: Vec<CreasePoint>,
    /// Crest curvature of each test \[1/m\].
    scales: Vec<f64>,
}

impl StripBlock {
    /// Strips of so many cells; none where no condition is a recovery. Refuses readings some time after the release,
    /// which the mesh does not follow.
    pub(crate) fn new(cells: usize, setup: &TestSetup) -> Result<Option<StripBlock>> {
        let mut block = StripBlock {
            // The hard law does not depend on the steps of fold and hold.
            test: StripTest {
                cells,
                fold_steps: 1,
                hold_steps: 1,
                release_steps: RELEASE_STEPS,
            },
            conditions: Vec::new(),
            points: Vec::new(),
            scales: Vec::new(),
        };
        for (i, (group, condition)) in setup.conditions.iter().enumerate() {
            let Some(point) = CreasePoint::of(condition) else {
                continue;
            };
            if point.read > 0.0 {
                return bad_input(format!(
                    "a strip mesh is read right after its release, not after {} s, until when flow and relaxation branches move it on; give a recovery time of 0 (tests.read_s where the data have none), or \"specimen\": \"hinges\"",
                    readable(point.read)
                ));
            }
            block.conditions.push((i, *group));
            block.scales.push(CREST_CURVATURE / point.gap);
            let gap = CREST_CURVATURE;
            block.points.push(CreasePoint { gap, ..point });
        }
        Ok((!block.points.is_empty()).then_some(block))
    }
}

impl PreparedTest for StripBlock {
    /// The angles of all sets. Slopes stay those of the hinge ensemble.
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let starts: Vec<usize> = (0..self.points.len()).step_by(STRIPS).collect();
        let meshes: Vec<(usize, usize)> = (0..results.len())
            .flat_map(|set| starts.iter().map(move |first| (set, *first)))
            .collect();
        let angles: Result<Vec<Vec<f64>>> = meshes
            .par_iter()
            .map(|&(set, first)| {
                let span = first..(first + STRIPS).min(self.points.len());
                let row = |k: usize| {
                    let values = &request.sets[set][self.conditions[k].1];
                    request.scaled(values, self.scales[k])
                };
                let rows: Vec<Vec<f64>> = span.clone().map(row).collect();
                let points = &self.points[span.clone()];
                let law = request.law.clone();
                let strips = self.test.strips(law, Gate::Hard, points, request.compute);
                let curves = strips.and_then(|mut strips| strips.angles(&rows, false));
                or_wall(curves.map(|c| c.angles), span.len())
            })
            .collect();
        for ((set, first), angles) in meshes.into_iter().zip(angles?) {
            for ((condition, _), angle) in self.conditions[first..].iter().zip(angles) {
                results[set].values[*condition] = angle;
            }
        }
        Ok(())
    }
}
