//! The recovery conditions of a list under the hard law: whole folds, in closed form or by quadrature; hinges where
//! neither is possible.

use rayon::prelude::*;

use super::{CREST_CURVATURE, CreasePoint, CreaseTest, exact, quadrature};
use crate::{
    error::Result,
    laboratory::{Condition, PreparedTest, Readings, Request, TestSetup, batch::HingeBlock},
    material::{Law, LawForm},
};

/// Recovery angle \[degrees\] of a fold under the hard law and its derivatives by the parameters that are sought. `None`
/// where neither form is possible.
pub(super) fn recovery(
    form: &LawForm,
    values: &[f64],
    sought: &[usize],
    point: &CreasePoint,
) -> Option<(f64, Vec<f64>)> {
    let (angle, mut slopes) = match exact::recovery(form, values, sought, point) {
        Some(found) => found,
        None => quadrature::recovery(form, values, sought, point, &quadrature::USUAL)?,
    };
    // With a threshold exactly at the crest the angle has a slope on one side only: none.
    for slope in slopes
        .iter_mut()
        .filter(|slope: &&mut f64| !slope.is_finite())
    {
        *slope = 0.0;
    }
    Some((angle, slopes))
}

/// By how much the angle of a fold that is taken by quadrature differs from that of a finer one \[degrees\]. `None` for
/// folds with a closed form.
pub(crate) fn quadrature_error(
    law: &dyn Law,
    values: &[f64],
    condition: &Condition,
) -> Option<f64> {
    let point = CreasePoint::of(condition)?;
    let form = law.form();
    if exact::recovery(&form, values, &[], &point).is_some() {
        return None;
    }
    let angle = |fineness| quadrature::recovery(&form, values, &[], &point, fineness);
    let (usual, finer) = (angle(&quadrature::USUAL)?, angle(&quadrature::FINER)?);
    Some((usual.0 - finer.0).abs())
}

/// Folds under the hard law. A reading of a whole fold is a function of its own condition alone.
pub(super) struct WholeFolds {
    /// The points, in the order of the block of hinges.
    pub points: Vec<CreasePoint>,
    /// The same folds as hinges, for those that are no whole ones.
    pub hinges: HingeBlock,
}

impl PreparedTest for WholeFolds {
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let width = request.strains.len();
        let form = request.law.form();
        let sought = request.sought.unwrap_or_default();
        let each = request.sets.par_iter().zip(results.par_iter_mut());
        let open: Vec<Vec<usize>> = each
            .map(|(set, result)| {
                let conditions = self.hinges.conditions.par_iter().zip(&self.points);
                let angle = |(&(_, group), point): (&(usize, usize), &CreasePoint)| {
                    recovery(&form, &set[group], sought, point)
                };
                let angles: Vec<_> = conditions.map(angle).collect();
                let mut open = Vec::new();
                for (k, angle) in angles.into_iter().enumerate() {
                    let Some((angle, slopes)) = angle else {
                        open.push(k);
                        continue;
                    };
                    let condition = self.hinges.conditions[k].0;
                    result.values[condition] = angle;
                    for (p, slope) in sought.iter().zip(slopes) {
                        result.slopes[condition * width + p] = slope;
                    }
                }
                open
            })
            .collect();
        let mut pairs = Vec::new();
        for (s, open) in open.into_iter().enumerate() {
            pairs.extend(open.into_iter().map(|k| (s, k)));
        }
        match pairs.is_empty() {
            true => Ok(()),
            false => self.hinges.read_some(&pairs, request, results),
        }
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
