//! Levenberg-Marquardt over a batch of walkers, within a box.
//!
//! The box is kept by projection. A logit transform is flat at its ends, and starts get stuck there. An unknown at a
//! bound whose step would leave the box is left out of the step. Every step is cut at the bounds.

use nalgebra::DVector;
use serde::{Deserialize, Serialize};

pub(crate) use super::walker::{Walker, WalkerEnd};
use super::{Linearized, Problem, RobustLoss};
use crate::error::Result;

/// Settings; the defaults suit unknowns of order one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Levenberg {
    /// A walker has converged when a step promises to lower its cost by less than this share.
    pub tolerance: f64,
    /// Longest step in any unknown: beyond, a linear model of gates means nothing.
    pub longest_step: f64,
    /// A walker has stalled when its damping, a share of the diagonal of JᵀJ, is beyond this: the step
    /// is then shorter than rounding.
    pub most_damping: f64,
    /// How residuals count.
    pub loss: RobustLoss,
}

impl Default for Levenberg {
    fn default() -> Self {
        Levenberg {
            tolerance: 1e-8,
            longest_step: 0.5,
            most_damping: 1e12,
            loss: RobustLoss::Squares,
        }
    }
}

/// A change to the problem that one walker sees.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Perturbation {
    /// Added to the residuals: other data.
    pub offset: Option<DVector<f64>>,
    /// Holds a quantity near a value.
    pub pin: Option<Pin>,
}

/// A residual more: stiffness·(quantity − target).
///
/// The minimum with a pin is a point of the profile likelihood whatever the stiffness, since the pin is
/// the same for all points of equal quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pin {
    /// Which quantity of the problem.
    pub quantity: usize,
    /// Where it is to be.
    pub target: f64,
    /// One over the deviation that costs 1.
    pub stiffness: f64,
}

/// A batch of walkers at one stage of a problem.
pub(crate) struct Batch<'a> {
    problem: &'a dyn Problem,
    settings: Levenberg,
    stage: usize,
    /// The walkers; one that has an outcome rests.
    pub walkers: Vec<Walker>,
    perturbations: Vec<Perturbation>,
    /// At each walker's point, without its perturbation and loss; none until evaluated.
    here: Vec<Option<Linearized>>,
}

impl<'a> Batch<'a> {
    /// Walkers without perturbations.
    pub(crate) fn new(
        problem: &'a dyn Problem,
        settings: Levenberg,
        stage: usize,
        walkers: Vec<Walker>,
    ) -> Self {
        let perturbations = vec![Perturbation::default(); walkers.len()];
        Self::perturbed(problem, settings, stage, walkers, perturbations)
    }

    /// Walkers that each see their own change of the problem.
    pub(crate) fn perturbed(
        problem: &'a dyn Problem,
        settings: Levenberg,
        stage: usize,
        walkers: Vec<Walker>,
        perturbations: Vec<Perturbation>,
    ) -> Self {
        let here = vec![None; walkers.len()];
        Batch {
            problem,
            settings,
            stage,
            walkers,
            perturbations,
            here,
        }
    }

    /// Walkers that still move.
    pub(crate) fn alive(&self) -> usize {
        self.walkers.iter().filter(|w| w.outcome.is_none()).count()
    }

    /// Smallest cost so far.
    pub(crate) fn best(&self) -> f64 {
        let costs = self.walkers.iter().filter_map(|w| w.cost);
        costs.fold(f64::INFINITY, f64::min)
    }

    /// Residuals and Jacobian at a walker's point, without its perturbation; none before the first round.
    pub(crate) fn at(&self, walker: usize) -> Option<&Linearized> {
        self.here[walker].as_ref()
    }

    /// Puts another walker in the place of one.
    pub(crate) fn replace(&mut self, walker: usize, by: Walker) {
        self.walkers[walker] = by;
        self.here[walker] = None;
    }

    /// Moves every walker that is still moving by one step. A new walker is evaluated instead, in the same batch.
    pub(crate) fn round(&mut self) -> Result<()> {
        self.evaluate_returned()?;
        let mut trials = Vec::new();
        for i in 0..self.walkers.len() {
            if self.walkers[i].outcome.is_some() {
                continue;
            }
            let point = DVector::from_column_slice(&self.walkers[i].point);
            let Some(at) = &self.here[i] else {
                trials.push((i, point, 0.0));
                continue;
            };
            let seen = self.seen(i, at, &point);
            let walker = &mut self.walkers[i];
            let (trial, promised) = walker.propose(&self.settings, self.problem.bounds(), &seen);
            let cost = walker.cost.unwrap_or(f64::INFINITY);
            if promised <= self.settings.tolerance * cost.max(1e-20) {
                walker.outcome = Some(WalkerEnd::Converged);
            } else {
                trials.push((i, trial, promised));
            }
        }
        let points: Vec<DVector<f64>> = trials.iter().map(|(_, point, _)| point.clone()).collect();
        if points.is_empty() {
            return Ok(());
        }
        let results = self.problem.linearized(self.stage, &points)?;
        for ((i, trial, promised), at) in trials.into_iter().zip(results) {
            let cost = self.cost(i, &at, &trial);
            let walker = &mut self.walkers[i];
            walker.rounds += 1;
            if walker.cost.is_none() {
                walker.begin(cost);
                self.here[i] = Some(at);
            } else if walker.judge(&trial, cost, promised, self.settings.most_damping) {
                self.here[i] = Some(at);
            }
            if walker.outcome.is_none() && walker.rounds >= walker.limit {
                walker.outcome = Some(WalkerEnd::OutOfRounds);
            }
        }
        Ok(())
    }

    /// Rounds until every walker rests.
    pub(crate) fn run(&mut self) -> Result<()> {
        while self.alive() > 0 {
            self.round()?;
        }
        Ok(())
    }

    /// Evaluates walkers that have come back from a journal once more.
    fn evaluate_returned(&mut self) -> Result<()> {
        let returned = |w: &Walker| w.outcome.is_none() && w.cost.is_some();
        let missing: Vec<usize> = (0..self.walkers.len())
            .filter(|&i| returned(&self.walkers[i]) && self.here[i].is_none())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let point = |i: &usize| DVector::from_column_slice(&self.walkers[*i].point);
        let points: Vec<DVector<f64>> = missing.iter().map(point).collect();
        let results = self.problem.linearized(self.stage, &points)?;
        for (i, at) in missing.into_iter().zip(results) {
            self.here[i] = Some(at);
        }
        Ok(())
    }

    /// The problem as walker `i` sees it: with its perturbation, as plain squares.
    fn seen(&self, i: usize, at: &Linearized, point: &DVector<f64>) -> Linearized {
        let perturbation = &self.perturbations[i];
        let mut at = at.clone();
        if let Some(offset) = &perturbation.offset {
            at.residuals += offset;
        }
        let mut at = self.settings.loss.reweighted(&at, self.problem.data());
        if let Some(pin) = &perturbation.pin {
            let (value, gradient) = self.problem.quantity(pin.quantity, point);
            let rows = at.residuals.len();
            at.residuals = at.residuals.push(pin.stiffness * (value - pin.target));
            at.jacobian = at.jacobian.insert_row(rows, 0.0);
            at.jacobian
                .row_mut(rows)
                .tr_copy_from(&(gradient * pin.stiffness));
        }
        at
    }

    fn cost(&self, i: usize, at: &Linearized, point: &DVector<f64>) -> f64 {
        let perturbation = &self.perturbations[i];
        let residuals = match &perturbation.offset {
            Some(offset) => &at.residuals + offset,
            None => at.residuals.clone(),
        };
        let pin = perturbation.pin.map_or(0.0, |pin| {
            let (value, _) = self.problem.quantity(pin.quantity, point);
            (pin.stiffness * (value - pin.target)).powi(2)
        });
        self.settings.loss.cost(&residuals, self.problem.data()) + pin
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::DMatrix;

    /// Rosenbrock's valley as residuals (10·(y − x²), 1 − x): one minimum, at (1, 1).
    struct Rosenbrock([(f64, f64); 2]);

    impl Problem for Rosenbrock {
        fn bounds(&self) -> &[(f64, f64)] {
            &self.0
        }

        fn data(&self) -> usize {
            2
        }

        fn stages(&self) -> usize {
            1
        }

        fn linearized(&self, _: usize, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
            let at = |p: &DVector<f64>| Linearized {
                residuals: DVector::from_vec(vec![10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]]),
                jacobian: DMatrix::from_row_slice(2, 2, &[-20.0 * p[0], 10.0, -1.0, 0.0]),
            };
            Ok(points.iter().map(at).collect())
        }
    }

    fn ends(problem: &Rosenbrock, starts: &[[f64; 2]], perturbation: &Perturbation) -> Vec<Walker> {
        let walkers: Vec<Walker> = starts
            .iter()
            .map(|s| Walker::new(s.to_vec(), 0, 200))
            .collect();
        let perturbations = vec![perturbation.clone(); walkers.len()];
        let settings = Levenberg::default();
        let mut batch = Batch::perturbed(problem, settings, 0, walkers, perturbations);
        batch.run().unwrap();
        batch.walkers
    }

    #[test]
    fn every_start_finds_the_valley_floor_and_a_broken_one_is_named() {
        let starts = [[-1.2, 1.0], [3.0, -4.0], [0.0, 0.0], [f64::NAN, 0.0]];
        let problem = Rosenbrock([(-9.0, 9.0); 2]);
        let ends = ends(&problem, &starts, &Perturbation::default());
        for end in &ends[..3] {
            assert_eq!(end.outcome, Some(WalkerEnd::Converged));
            let off = (end.point[0] - 1.0).abs() + (end.point[1] - 1.0).abs();
            assert!(off < 1e-6, "{end:?}");
        }
        assert_eq!(ends[3].outcome, Some(WalkerEnd::NotFinite));
    }

    #[test]
    fn a_wall_stops_a_walker_at_the_best_point_of_the_box() {
        // With x ≤ 0.5 the minimum is at x = 0.5, y = 0.25.
        let problem = Rosenbrock([(-9.0, 0.5), (-9.0, 9.0)]);
        for end in ends(
            &problem,
            &[[-1.2, 1.0], [0.5, 8.0]],
            &Perturbation::default(),
        ) {
            assert_eq!(end.point[0], 0.5);
            assert!((end.point[1] - 0.25).abs() < 1e-6, "{end:?}");
        }
    }

    #[test]
    fn a_pinned_walker_is_on_the_profile() {
        // At fixed x the best y is x², whatever the stiffness of the pin.
        let problem = Rosenbrock([(-9.0, 9.0); 2]);
        for stiffness in [1.0, 100.0] {
            let pin = Pin {
                quantity: 0,
                target: 0.3,
                stiffness,
            };
            let perturbation = Perturbation {
                pin: Some(pin),
                offset: None,
            };
            let end = &ends(&problem, &[[1.0, 1.0]], &perturbation)[0];
            assert!((end.point[1] - end.point[0].powi(2)).abs() < 1e-5);
            assert!((end.point[0] - 0.3).abs() < 0.7 / (1.0 + stiffness * stiffness) + 1e-5);
        }
    }
}
