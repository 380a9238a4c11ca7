//! Conditions that are roll-outs of hinges with a common schedule.

use super::{PreparedTest, Readings, Request};
use crate::{error::Result, rollout::Rollout};

/// Roll-outs that share a schedule. All strains are in units of the largest curvature of their test, so
/// that one width of the gate suits a gap of half a millimetre and one of four.
pub(in crate::laboratory) struct HingeBlock {
    pub rollout: Rollout,
    /// ∂(reading)/∂(roll-out's reading), `[points, hinges, readings]`.
    pub weights: Vec<f64>,
    /// reading = offset + Σ weights·(roll-out's readings).
    pub offset: f64,
    /// Which conditions the points are, each with its group.
    pub conditions: Vec<(usize, usize)>,
    /// Largest curvature of each point's test \[1/m\].
    pub scales: Vec<f64>,
}

impl PreparedTest for HingeBlock {
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let (compute, sets) = (request.compute, request.sets);
        let (count, width) = (self.conditions.len(), request.strains.len());
        let mut rows = Vec::with_capacity(sets.len() * count * width);
        for set in sets {
            for ((_, group), scale) in self.conditions.iter().zip(&self.scales) {
                rows.extend(request.scaled(&set[*group], *scale));
            }
        }
        let batch = self.rollout.repeated(sets.len());
        let shape = [batch.points, batch.hinges, batch.schedule.readings.len()];
        let weights = self.weights.repeat(sets.len());
        let parameters = compute.tensor(&rows, [batch.points, width]);
        let (readings, gradient) = if request.sought.is_some() {
            let seed = compute.tensor(&weights, shape);
            let (readings, gradient) = batch.linearized(compute, parameters, seed);
            (readings, Some(compute.values(gradient)?))
        } else {
            (batch.forward(compute, parameters), None)
        };
        let readings = compute.values(readings)?;
        let each = shape[1] * shape[2];
        for (s, result) in results.iter_mut().enumerate() {
            for (k, &(condition, _)) in self.conditions.iter().enumerate() {
                let row = s * count + k;
                let span = row * each..(row + 1) * each;
                let products = readings[span.clone()].iter().zip(&weights[span]);
                let sum: f64 = products.map(|(r, w)| r * w).sum();
                result.values[condition] = self.offset + sum;
                let Some(gradient) = &gradient else { continue };
                for (p, strain) in request.strains.iter().enumerate() {
                    let scale = if *strain { self.scales[k] } else { 1.0 };
                    result.slopes[condition * width + p] = gradient[row * width + p] / scale;
                }
            }
        }
        Ok(())
    }
}
