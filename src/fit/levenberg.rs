//! Levenberg-Marquardt over a batch of walkers, within a box.
//!
//! The box is kept by projection, not by a logit transform: under a logit 15 of 16 starts of the bench
//! problem ran into its flat ends and stayed there. An unknown at its wall that wants out is left out of
//! the step; every step is cut at the walls.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::{Linearized, Loss, Problem};
use crate::error::Result;

/// Settings; the defaults suit unknowns of order one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Levenberg {
    /// A walker has converged when a step promises to lower its cost by less than this share.
    pub tolerance: f64,
    /// Longest step in any unknown: beyond, a linear model of gates means nothing.
    pub longest_step: f64,
    /// A walker has stalled when its damping, a share of the diagonal of JᵀJ, is beyond this: the step
    /// is then shorter than rounding.
    pub most_damping: f64,
    /// How residuals count.
    pub loss: Loss,
}

impl Default for Levenberg {
    fn default() -> Self {
        Levenberg {
            tolerance: 1e-8,
            longest_step: 0.5,
            most_damping: 1e12,
            loss: Loss::Squares,
        }
    }
}

/// Why a walker stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// No step promises to lower the cost any further.
    Converged,
    /// No step, however short, lowered the cost.
    Stalled,
    /// The rounds were used up.
    OutOfRounds,
    /// The residuals were not finite at the first point.
    NotFinite,
    /// It came to where a walker before it already was.
    Joined(usize),
}

impl Outcome {
    /// In words, with what to do.
    pub fn message(self) -> String {
        match self {
            Outcome::Converged => "converged: no step lowers the cost any further".into(),
            Outcome::Stalled => {
                "stalled: even tiny steps do not lower the cost (a kink of the law, or rounding)"
                    .into()
            }
            Outcome::OutOfRounds => "out of rounds: it was still getting better; give more".into(),
            Outcome::NotFinite => {
                "the start itself has residuals that are not finite; narrow the bounds".into()
            }
            Outcome::Joined(other) => format!("joined start {}", other + 1),
        }
    }
}

/// One start on its way: all that is needed to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Walker {
    /// Unknowns of the best point so far.
    pub point: Vec<f64>,
    /// Cost there; none before the first evaluation.
    pub cost: Option<f64>,
    /// Rounds spent, all stages together.
    pub rounds: usize,
    /// Rounds after which it gives up.
    pub limit: usize,
    /// Why it stopped, once it has.
    pub outcome: Option<Outcome>,
    damping: f64,
    growth: f64,
}

/// A change to the problem that one walker sees.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Twist {
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
pub struct Pin {
    /// Which quantity of the problem.
    pub quantity: usize,
    /// Where it is to be.
    pub target: f64,
    /// One over the deviation that costs 1.
    pub stiffness: f64,
}

/// Damping at the start, as a share of the diagonal of JᵀJ.
const FIRST_DAMPING: f64 = 1e-2;

impl Walker {
    /// A walker at a point, that has spent `rounds` before and may spend `more`.
    pub fn new(point: Vec<f64>, rounds: usize, more: usize) -> Self {
        Walker {
            point,
            cost: None,
            rounds,
            limit: rounds + more,
            outcome: None,
            damping: FIRST_DAMPING,
            growth: 2.0,
        }
    }

    /// The next trial point, and the decrease of the cost that the linear model promises for it.
    fn propose(
        &self,
        settings: &Levenberg,
        bounds: &[(f64, f64)],
        at: &Linearized,
    ) -> (DVector<f64>, f64) {
        let n = self.point.len();
        let gradient = at.jacobian.tr_mul(&at.residuals);
        let mut free: Vec<usize> = (0..n)
            .filter(|&j| {
                let (low, high) = bounds[j];
                let outward = (self.point[j] <= low && gradient[j] > 0.0)
                    || (self.point[j] >= high && gradient[j] < 0.0);
                !outward && gradient[j] != 0.0
            })
            .collect();
        let mut moved = DVector::zeros(n);
        // An unknown whose step would leave the box goes to its wall, and the others make the best of it.
        while !free.is_empty() {
            let residuals = &at.residuals + &at.jacobian * &moved;
            let mut step = damped_step(&residuals, &at.jacobian, &free, self.damping);
            let length = step.amax();
            if length > settings.longest_step {
                step *= settings.longest_step / length;
            }
            let mut inside = Vec::new();
            for (k, &j) in free.iter().enumerate() {
                let end = self.point[j] + step[k];
                let wall = end.clamp(bounds[j].0, bounds[j].1);
                if end == wall {
                    inside.push((j, step[k]));
                } else {
                    moved[j] = wall - self.point[j];
                }
            }
            if inside.len() == free.len() {
                inside.iter().for_each(|(j, step)| moved[*j] = *step);
                break;
            }
            free = inside.into_iter().map(|(j, _)| j).collect();
        }
        let mut trial = DVector::from_column_slice(&self.point) + &moved;
        for (x, (low, high)) in trial.iter_mut().zip(bounds) {
            *x = x.clamp(*low, *high);
        }
        let predicted = &at.residuals + &at.jacobian * moved;
        let promised = at.residuals.norm_squared() - predicted.norm_squared();
        (trial, promised)
    }

    /// Takes or refuses a trial point (Nielsen's rule for the damping); whether it was taken.
    fn judge(&mut self, trial: &DVector<f64>, cost: f64, promised: f64, most: f64) -> bool {
        let before = self.cost.unwrap_or(f64::INFINITY);
        let gain = (before - cost) / promised.max(f64::MIN_POSITIVE);
        let taken = cost.is_finite() && promised > 0.0 && gain > 0.0;
        if taken {
            self.point = trial.as_slice().to_vec();
            self.cost = Some(cost);
            let factor = (1.0 - (2.0 * gain.min(1.0) - 1.0).powi(3)).max(1.0 / 3.0);
            self.damping = (self.damping * factor).max(1e-12);
            self.growth = 2.0;
        } else {
            self.damping *= self.growth;
            self.growth *= 2.0;
            if self.damping > most {
                self.outcome = Some(Outcome::Stalled);
            }
        }
        taken
    }

    /// Its first evaluation, at its own point.
    fn begin(&mut self, cost: f64) {
        if cost.is_finite() {
            self.cost = Some(cost);
        } else {
            self.outcome = Some(Outcome::NotFinite);
        }
    }
}

/// Least squares of [J; √λ·D]·step = [−r; 0] over the free columns, by QR: the normal equations would
/// lose half of the digits.
fn damped_step(
    residuals: &DVector<f64>,
    jacobian: &DMatrix<f64>,
    free: &[usize],
    damping: f64,
) -> DVector<f64> {
    let (m, n) = (jacobian.nrows(), free.len());
    if n == 0 {
        return DVector::zeros(0);
    }
    let mut stacked = DMatrix::zeros(m + n, n);
    let mut right = DVector::zeros(m + n);
    right.rows_mut(0, m).copy_from(&-residuals);
    for (k, &j) in free.iter().enumerate() {
        let column = jacobian.column(j);
        stacked.view_mut((0, k), (m, 1)).copy_from(&column);
        // Marquardt's scaling, with a floor for an unknown that hardly matters here.
        stacked[(m + k, k)] = damping.sqrt() * column.norm().max(1e-3);
    }
    let qr = stacked.qr();
    qr.q_tr_mul(&mut right);
    let head = right.rows(0, n).into_owned();
    qr.r()
        .solve_upper_triangular(&head)
        .unwrap_or_else(|| DVector::zeros(n))
}

/// A batch of walkers at one stage of a problem.
pub struct Batch<'a> {
    problem: &'a dyn Problem,
    settings: Levenberg,
    stage: usize,
    /// The walkers; one that has an outcome rests.
    pub walkers: Vec<Walker>,
    twists: Vec<Twist>,
    /// At each walker's point, without its twist and loss; none until evaluated.
    here: Vec<Option<Linearized>>,
}

impl<'a> Batch<'a> {
    /// Walkers without twists.
    pub fn new(
        problem: &'a dyn Problem,
        settings: Levenberg,
        stage: usize,
        walkers: Vec<Walker>,
    ) -> Self {
        let twists = vec![Twist::default(); walkers.len()];
        Self::twisted(problem, settings, stage, walkers, twists)
    }

    /// Walkers that each see their own change of the problem.
    pub fn twisted(
        problem: &'a dyn Problem,
        settings: Levenberg,
        stage: usize,
        walkers: Vec<Walker>,
        twists: Vec<Twist>,
    ) -> Self {
        let here = vec![None; walkers.len()];
        Batch {
            problem,
            settings,
            stage,
            walkers,
            twists,
            here,
        }
    }

    /// Walkers that still move.
    pub fn alive(&self) -> usize {
        self.walkers.iter().filter(|w| w.outcome.is_none()).count()
    }

    /// Smallest cost so far.
    pub fn best(&self) -> f64 {
        let costs = self.walkers.iter().filter_map(|w| w.cost);
        costs.fold(f64::INFINITY, f64::min)
    }

    /// Residuals and Jacobian at a walker's point, without its twist; none before the first round.
    pub fn at(&self, walker: usize) -> Option<&Linearized> {
        self.here[walker].as_ref()
    }

    /// Puts another walker in the place of one.
    pub fn replace(&mut self, walker: usize, by: Walker) {
        self.walkers[walker] = by;
        self.here[walker] = None;
    }

    /// Moves every walker that still moves by one step; one that has just come is evaluated instead, in
    /// the same batch.
    pub fn round(&mut self) -> Result<()> {
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
                walker.outcome = Some(Outcome::Converged);
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
                walker.outcome = Some(Outcome::OutOfRounds);
            }
        }
        Ok(())
    }

    /// Rounds until every walker rests.
    pub fn run(&mut self) -> Result<()> {
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

    /// The problem as walker `i` sees it: with its twist, as plain squares.
    fn seen(&self, i: usize, at: &Linearized, point: &DVector<f64>) -> Linearized {
        let twist = &self.twists[i];
        let mut at = at.clone();
        if let Some(offset) = &twist.offset {
            at.residuals += offset;
        }
        let mut at = self.settings.loss.reweighted(&at, self.problem.data());
        if let Some(pin) = &twist.pin {
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
        let twist = &self.twists[i];
        let residuals = match &twist.offset {
            Some(offset) => &at.residuals + offset,
            None => at.residuals.clone(),
        };
        let pin = twist.pin.map_or(0.0, |pin| {
            let (value, _) = self.problem.quantity(pin.quantity, point);
            (pin.stiffness * (value - pin.target)).powi(2)
        });
        self.settings.loss.cost(&residuals, self.problem.data()) + pin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn ends(problem: &Rosenbrock, starts: &[[f64; 2]], twist: &Twist) -> Vec<Walker> {
        let walkers: Vec<Walker> = starts
            .iter()
            .map(|s| Walker::new(s.to_vec(), 0, 200))
            .collect();
        let twists = vec![twist.clone(); walkers.len()];
        let settings = Levenberg::default();
        let mut batch = Batch::twisted(problem, settings, 0, walkers, twists);
        batch.run().unwrap();
        batch.walkers
    }

    #[test]
    fn every_start_finds_the_valley_floor_and_a_broken_one_is_named() {
        let starts = [[-1.2, 1.0], [3.0, -4.0], [0.0, 0.0], [f64::NAN, 0.0]];
        let problem = Rosenbrock([(-9.0, 9.0); 2]);
        let ends = ends(&problem, &starts, &Twist::default());
        for end in &ends[..3] {
            assert_eq!(end.outcome, Some(Outcome::Converged));
            let off = (end.point[0] - 1.0).abs() + (end.point[1] - 1.0).abs();
            assert!(off < 1e-6, "{end:?}");
        }
        assert_eq!(ends[3].outcome, Some(Outcome::NotFinite));
    }

    #[test]
    fn a_wall_stops_a_walker_at_the_best_point_of_the_box() {
        // With x ≤ 0.5 the minimum is at x = 0.5, y = 0.25.
        let problem = Rosenbrock([(-9.0, 0.5), (-9.0, 9.0)]);
        for end in ends(&problem, &[[-1.2, 1.0], [0.5, 8.0]], &Twist::default()) {
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
            let twist = Twist {
                pin: Some(pin),
                offset: None,
            };
            let end = &ends(&problem, &[[1.0, 1.0]], &twist)[0];
            assert!((end.point[1] - end.point[0].powi(2)).abs() < 1e-5);
            assert!((end.point[0] - 0.3).abs() < 0.7 / (1.0 + stiffness * stiffness) + 1e-5);
        }
    }
}
