//! Torques of twisted cylinders. A run under the hard law gives all readings of a twist; slopes are central
//! differences in the parameters that are looked for: two runs each, where reverse sweeps would take the time of
//! three runs for every reading. The sweep's derivative is what a test holds them to.

use rayon::prelude::*;

use super::{TorquePoint, Twist, TwistTest};
use crate::{
    error::Result,
    laboratory::batch::{PreparedTest, Readings, Request, TestSetup, or_wall},
    numeric::Gate,
};

/// Step of the differences, as a share of the value: far above the tolerance of the solves, and so small that
/// curvature leaves 1e-6 of the slope.
const DIFFERENCE: f64 = 1e-3;

/// The readings of one twist and group.
pub(super) struct TwistBlock {
    test: TwistTest,
    twist: Twist,
    group: usize,
    /// Which conditions they are, and where they are among the torques of a run.
    readings: Vec<(usize, [(usize, f64); 2])>,
}

/// A block for every twist and group of a list.
pub(super) fn blocks(test: &TwistTest, setup: &TestSetup) -> Result<Vec<TwistBlock>> {
    let mut blocks: Vec<TwistBlock> = Vec::new();
    for (i, (group, condition)) in setup.conditions.iter().enumerate() {
        let Some(TorquePoint {
            twist, way, turn, ..
        }) = TorquePoint::of(condition)
        else {
            continue;
        };
        let reading = (i, test.weights(twist, way, turn)?);
        match blocks
            .iter_mut()
            .find(|b| b.twist == twist && b.group == *group)
        {
            Some(block) => block.readings.push(reading),
            None => blocks.push(TwistBlock {
                test: *test,
                twist,
                group: *group,
                readings: vec![reading],
            }),
        }
    }
    Ok(blocks)
}

impl PreparedTest for TwistBlock {
    /// Torques, and slopes over the parameters that are sought.
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let mut runs: Vec<(usize, Option<(usize, f64)>)> = Vec::new();
        for set in 0..request.sets.len() {
            runs.push((set, None));
            for p in request.sought.unwrap_or_default() {
                runs.extend([-DIFFERENCE, DIFFERENCE].map(|step| (set, Some((*p, step)))));
            }
        }
        let torques: Result<Vec<Vec<f64>>> = runs
            .par_iter()
            .map(|(set, change)| {
                let mut values = request.sets[*set][self.group].clone();
                if let Some((p, step)) = change {
                    values[*p] *= 1.0 + step;
                }
                let (law, compute) = (request.law, request.compute);
                let torques = self
                    .test
                    .torques(law, Gate::Hard, self.twist, &values, compute);
                or_wall(torques, 2 * self.test.steps + 1)
            })
            .collect();
        let width = request.strains.len();
        let at = |torques: &[f64], places: &[(usize, f64); 2]| -> f64 {
            places.iter().map(|(k, weight)| weight * torques[*k]).sum()
        };
        for ((set, change), torques) in runs.into_iter().zip(torques?) {
            for (condition, places) in &self.readings {
                let torque = at(&torques, places);
                match change {
                    None => results[set].values[*condition] = torque,
                    Some((p, step)) => {
                        let value = request.sets[set][self.group][p];
                        results[set].slopes[condition * width + p] +=
                            torque * step.signum() / (2.0 * DIFFERENCE * value);
                    }
                }
            }
        }
        Ok(())
    }
}
