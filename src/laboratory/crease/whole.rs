//! The recovery conditions of a list under the hard law: whole folds in closed form, hinges where there is none.

use std::slice;

use rayon::prelude::*;

use super::{CREST_CURVATURE, CreasePoint, CreaseTest, exact};
use crate::{
    error::Result,
    laboratory::{PreparedTest, Readings, Request, TestSetup, batch::HingeBlock},
};

/// Folds under the hard law. A reading in closed form is a function of its own condition alone.
pub(super) struct WholeFolds {
    /// The points, in the order of the block of hinges.
    pub points: Vec<CreasePoint>,
    /// The same folds as hinges, for those without a closed form.
    pub hinges: HingeBlock,
}

impl PreparedTest for WholeFolds {
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let width = request.strains.len();
        let law = request.law.as_ref();
        let each = request.sets.par_iter().zip(results.par_iter_mut());
        let open: Vec<Vec<usize>> = each
            .map(|(set, result)| {
                let mut open = Vec::new();
                let conditions = self.hinges.conditions.iter().zip(&self.points);
                for (&(condition, group), point) in conditions {
                    let Some((angle, slopes)) = exact::recovery(law, &set[group], point) else {
                        open.push(condition);
                        continue;
                    };
                    result.values[condition] = angle;
                    if request.sought.is_some() {
                        result.slopes[condition * width..][..width].copy_from_slice(&slopes);
                    }
                }
                open
            })
            .collect();
        for (s, open) in open.iter().enumerate().filter(|(_, open)| !open.is_empty()) {
            let alone = Request {
                sets: slice::from_ref(&request.sets[s]),
                ..*request
            };
            let mut rolled = results[s].clone();
            self.hinges.read(&alone, slice::from_mut(&mut rolled))?;
            for &condition in open {
                results[s].values[condition] = rolled.values[condition];
                if request.sought.is_some() {
                    let row = condition * width..(condition + 1) * width;
                    results[s].slopes[row.clone()].copy_from_slice(&rolled.slopes[row]);
                }
            }
        }
        Ok(())
    }
}

/// The recovery conditions of a list as hinges; none where there are none.
pub(super) fn hinge_block(setup: &TestSetup) -> Result<Option<HingeBlock>> {
    let (mut indices, mut scales, mut points) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (group, condition)) in setup.conditions.iter().enumerate() {
        if let Some(point) = CreasePoint::of(condition) {
            indices.push((i, *group));
            scales.push(CREST_CURVATURE / point.gap);
            // A gap whose crest has a curvature of one.
            let gap = CREST_CURVATURE;
            points.push(CreasePoint { gap, ..point });
        }
    }
    if points.is_empty() {
        return Ok(None);
    }
    // The hard law does not depend on the steps of fold, hold and snap, and a smooth gate is the closer to
    // it the fewer there are; the steps to a reading are those of `rumple crease`.
    let test = CreaseTest {
        hinges: setup.resolution.hinges,
        fold_steps: 1,
        hold_steps: 1,
        snap_steps: 1,
        ..CreaseTest::default()
    };
    let rollout = test.rollout(setup.law.clone(), setup.resolution.gate(), &points)?;
    let weights = test.angle_weights(setup.compute, &rollout, &points);
    let weights = setup.compute.values(weights)?;
    Ok(Some(HingeBlock {
        weights: weights.into_iter().map(|w| -w).collect(),
        rollout,
        offset: 180.0,
        conditions: indices,
        scales,
    }))
}
