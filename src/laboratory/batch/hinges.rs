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

impl HingeBlock {
    /// Reads some conditions of some sets: pairs of a set and a place in [`HingeBlock::conditions`].
    pub(in crate::laboratory) fn read_some(
        &self,
        pairs: &[(usize, usize)],
        request: &Request,
        results: &mut [Readings],
    ) -> Result<()> {
        let (compute, sets) = (request.compute, request.sets);
        let (hinges, width) = (self.rollout.hinges, request.strains.len());
        let each = hinges * self.rollout.schedule.readings.len();
        let row = |&(s, k): &(usize, usize)| {
            request.scaled(&sets[s][self.conditions[k].1], self.scales[k])
        };
        let rows: Vec<f64> = pairs.iter().flat_map(row).collect();
        let of = |all: &[f64], each: usize| -> Vec<f64> {
            let part = pairs.iter().map(|(_, k)| &all[k * each..(k + 1) * each]);
            part.flatten().copied().collect()
        };
        let batch = Rollout {
            points: pairs.len(),
            amplitude: of(&self.rollout.amplitude, hinges),
            duration: of(&self.rollout.duration, hinges),
            ..self.rollout.clone()
        };
        let weights = of(&self.weights, each);
        let shape = [batch.points, hinges, batch.schedule.readings.len()];
        let parameters = compute.tensor(&rows, [batch.points, width]);
        let (readings, gradient) = if request.sought.is_some() {
            let seed = compute.tensor(&weights, shape);
            let (readings, gradient) = batch.linearized(compute, parameters, seed);
            (readings, Some(compute.values(gradient)?))
        } else {
            (batch.forward(compute, parameters), None)
        };
        let readings = compute.values(readings)?;
        for (row, &(s, k)) in pairs.iter().enumerate() {
            let (condition, result) = (self.conditions[k].0, &mut results[s]);
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
        Ok(())
    }
}

impl PreparedTest for HingeBlock {
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let conditions = 0..self.conditions.len();
        let of_set = |s: usize| conditions.clone().map(move |k| (s, k));
        let pairs: Vec<_> = (0..request.sets.len()).flat_map(of_set).collect();
        self.read_some(&pairs, request, results)
    }
}
