//! Profile likelihoods: a parameter is moved away from its best value, the others are fitted again.

mod beyond;

use std::ops::ControlFlow;

use nalgebra::DVector;
use serde::{Deserialize, Serialize};

use super::{
    Problem,
    levenberg::{Batch, Levenberg, Perturbation, Pin, Walker},
    uncertainty::Uncertainty,
};
use crate::error::Result;

/// Steps that a parabola takes to the threshold.
const STEPS_TO_THRESHOLD: f64 = 3.5;
/// Most steps a side takes, as a multiple of those.
const MOST_STEPS: f64 = 5.0;
/// A point is better than the optimum when it is lower by this share of the threshold.
const BETTER: f64 = 0.01;
/// A step is taken again, shorter, when Δcost comes out so many times above the threshold …
const OVERSHOOT: f64 = 3.0;
/// … so often.
const MOST_OVERSHOOTS: usize = 8;
/// Rounds of the search at each step.
const ROUNDS: usize = 25;

/// What is profiled, and from where.
pub(crate) struct ProfileTask<'a> {
    /// The problem; profiles are taken in its last stage.
    pub problem: &'a dyn Problem,
    /// Settings of the search at each step.
    pub levenberg: Levenberg,
    /// The optimum.
    pub best: DVector<f64>,
    /// Cost there.
    pub cost: f64,
    /// Other data than the problem's own, as an offset of the residuals.
    pub offset: Option<DVector<f64>>,
    /// For the first step: the covariance if every residual has a standard deviation of one.
    pub uncertainty: &'a Uncertainty,
    /// How much finer than usual the steps are.
    pub fineness: f64,
    /// Whether a better point ends the profile; else it counts as level with the optimum.
    pub may_be_better: bool,
    /// How often an end may be looked beyond, for problems with several minima.
    pub looks: usize,
    /// Of the starts of these looks.
    pub seed: u64,
}

impl ProfileTask<'_> {
    /// How much √Δcost is to rise in a step towards a threshold.
    fn rise(&self, threshold: f64) -> f64 {
        threshold.sqrt() / (STEPS_TO_THRESHOLD * self.fineness)
    }

    /// How far a walker of a batch is above the optimum, without its pin; none before its first round.
    fn delta(&self, batch: &Batch, walker: usize) -> Option<f64> {
        let mut residuals = batch.at(walker)?.residuals.clone();
        if let Some(offset) = &self.offset {
            residuals += offset;
        }
        let cost = self.levenberg.loss.cost(&residuals, self.problem.data());
        Some(match cost.is_finite() {
            true => cost - self.cost,
            false => f64::MAX,
        })
    }

    fn most_steps(&self) -> usize {
        (MOST_STEPS * STEPS_TO_THRESHOLD * self.fineness) as usize
    }
}

/// One side of the profile of one quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProfileSide {
    /// Which quantity.
    pub quantity: usize,
    /// −1 or 1.
    pub direction: f64,
    /// Ends of the quantity.
    range: (f64, f64),
    /// Δcost at which the side ends.
    threshold: f64,
    /// (quantity, Δcost), outwards, from the optimum.
    pub path: Vec<(f64, f64)>,
    points: Vec<Vec<f64>>,
    step: f64,
    /// Steps in a row that went too far.
    overshoots: usize,
    pub(crate) done: bool,
    /// How often its end may still be looked beyond.
    looks: usize,
}

impl ProfileSide {
    /// Where Δcost crosses the threshold for the last time, linear in √Δcost; none where it does not.
    pub(crate) fn end(&self, threshold: f64) -> Option<f64> {
        let crosses = |w: &&[(f64, f64)]| w[0].1 < threshold && w[1].1 >= threshold;
        let crossing = self.path.windows(2).rfind(crosses)?;
        // The last step may have come back below the threshold.
        if self.path.last()?.1 < threshold {
            return None;
        }
        let root = |delta: f64| delta.max(0.0).sqrt();
        let [(a, low), (b, high)] = [crossing[0], crossing[1]];
        let share = (root(threshold) - root(low)) / (root(high) - root(low)).max(1e-300);
        Some(a + (b - a) * share.clamp(0.0, 1.0))
    }

    fn target(&self) -> f64 {
        let (last, _) = self.path[self.path.len() - 1];
        (last + self.direction * self.step).clamp(self.range.0, self.range.1)
    }

    /// Where to start the search for the next point: along the last two, or as the covariance says.
    fn guess(&self, task: &ProfileTask, target: f64) -> DVector<f64> {
        let n = self.path.len();
        let last = DVector::from_column_slice(&self.points[n - 1]);
        let (q, _) = self.path[n - 1];
        let mut guess = if n >= 2 && (q - self.path[n - 2].0).abs() > 1e-12 {
            let before = DVector::from_column_slice(&self.points[n - 2]);
            &last + (&last - before) * ((target - q) / (q - self.path[n - 2].0)).clamp(0.0, 2.0)
        } else {
            let (_, gradient) = task.problem.quantity(self.quantity, &last);
            &last + task.uncertainty.follow(&gradient) * (target - q)
        };
        for (x, (low, high)) in guess.iter_mut().zip(task.problem.bounds()) {
            *x = x.clamp(*low, *high);
        }
        guess
    }

    /// Notes where the search came out, and how far the next step goes.
    fn extend(&mut self, task: &ProfileTask, q: f64, delta: f64, point: Vec<f64>) {
        let (before, height) = self.path[self.path.len() - 1];
        let moved = (q - before) * self.direction;
        let root = |delta: f64| delta.max(0.0).sqrt();
        // A step that leaps over the threshold says nothing of where it is crossed.
        if delta > OVERSHOOT * self.threshold && self.overshoots < MOST_OVERSHOOTS && moved > 0.0 {
            self.overshoots += 1;
            self.step = 0.25 * moved;
            return;
        }
        self.overshoots = 0;
        let slope = (root(delta) - root(height)) / moved.max(1e-300);
        self.path.push((q, delta));
        self.points.push(point);
        let ideal = if slope > 0.0 {
            task.rise(self.threshold) / slope
        } else {
            f64::INFINITY
        };
        self.step = ideal.clamp(0.5 * self.step, 2.0 * self.step);
        let wall = if self.direction > 0.0 {
            self.range.1
        } else {
            self.range.0
        };
        let at_wall = (wall - q) * self.direction <= 1e-6 * (self.range.1 - self.range.0);
        let stuck = moved <= 1e-9 * (self.range.1 - self.range.0);
        self.done =
            delta > 1.1 * self.threshold || at_wall || stuck || self.path.len() > task.most_steps();
    }
}

/// How far the profile of a quantity goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ProfileRange {
    pub quantity: usize,
    /// Its ends.
    pub range: (f64, f64),
    /// Δcost at which both sides end.
    pub threshold: f64,
}

/// Both sides of every quantity, before the first step.
pub(crate) fn sides(task: &ProfileTask, ranges: &[ProfileRange]) -> Vec<ProfileSide> {
    let mut sides = Vec::new();
    for &ProfileRange {
        quantity,
        range,
        threshold,
    } in ranges
    {
        let (q, gradient) = task.problem.quantity(quantity, &task.best);
        let error = task.uncertainty.std_error(&gradient);
        for direction in [-1.0, 1.0] {
            let wall = if direction > 0.0 { range.1 } else { range.0 };
            sides.push(ProfileSide {
                quantity,
                direction,
                range,
                threshold,
                path: vec![(q, 0.0)],
                points: vec![task.best.as_slice().to_vec()],
                // A parabola of this error has risen by one.
                // The box may be narrower than the least step.
                step: (task.rise(threshold) * error)
                    .max(1e-6)
                    .min(0.1 * (range.1 - range.0)),
                overshoots: 0,
                done: (wall - q) * direction <= 1e-9,
                looks: task.looks,
            });
        }
    }
    sides
}

/// How a profile ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ProfileEnd {
    /// All sides are done.
    Done,
    /// The watcher wanted no more.
    Stopped,
    /// A point better than the optimum turned up: fit again from there.
    Better(Vec<f64>),
}

/// Goes on, one step on all sides at a time, until all are done; `watch` sees every step.
pub(crate) fn profile(
    task: &ProfileTask,
    sides: &mut [ProfileSide],
    watch: &mut dyn FnMut(&[ProfileSide]) -> Result<ControlFlow<()>>,
) -> Result<ProfileEnd> {
    let stage = task.problem.stages() - 1;
    loop {
        let open: Vec<usize> = (0..sides.len()).filter(|&i| !sides[i].done).collect();
        if open.is_empty() {
            if let Some(better) = beyond::look(task, sides)? {
                return Ok(ProfileEnd::Better(better));
            }
            if watch(sides)?.is_break() {
                return Ok(ProfileEnd::Stopped);
            }
            match sides.iter().all(|s| s.done) {
                true => return Ok(ProfileEnd::Done),
                false => continue,
            }
        }
        let (mut walkers, mut perturbations) = (Vec::new(), Vec::new());
        for &i in &open {
            let target = sides[i].target();
            let guess = sides[i].guess(task, target);
            walkers.push(Walker::new(guess.as_slice().to_vec(), 0, ROUNDS));
            let pin = Pin {
                quantity: sides[i].quantity,
                target,
                // Stiff against the step, soft enough for a curved constraint.
                stiffness: 30.0 / sides[i].step.max(1e-9),
            };
            perturbations.push(Perturbation {
                offset: task.offset.clone(),
                pin: Some(pin),
            });
        }
        let mut settings = task.levenberg;
        settings.tolerance = settings.tolerance.max(1e-5);
        let mut batch = Batch::perturbed(task.problem, settings, stage, walkers, perturbations);
        batch.run()?;
        for (k, &i) in open.iter().enumerate() {
            let point = DVector::from_column_slice(&batch.walkers[k].point);
            let Some(delta) = task.delta(&batch, k) else {
                continue;
            };
            if delta < -BETTER * sides[i].threshold && task.may_be_better {
                return Ok(ProfileEnd::Better(batch.walkers[k].point.clone()));
            }
            let (q, _) = task.problem.quantity(sides[i].quantity, &point);
            sides[i].extend(task, q, delta, batch.walkers[k].point.clone());
        }
        if watch(sides)?.is_break() {
            return Ok(ProfileEnd::Stopped);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optimize::Linearized;
    use nalgebra::DMatrix;

    /// Δχ² of a 95 % interval for one parameter.
    const THRESHOLD_95: f64 = 3.841_458_820_694_124;

    /// Residuals that are linear in two correlated unknowns.
    struct Plane;

    impl Problem for Plane {
        fn bounds(&self) -> &[(f64, f64)] {
            &[(-10.0, 10.0), (-10.0, 0.5)]
        }

        fn data(&self) -> usize {
            2
        }

        fn stages(&self) -> usize {
            1
        }

        fn linearized(&self, _: usize, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
            let jacobian = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 0.0, 1.0]);
            let at = |p: &DVector<f64>| Linearized {
                residuals: &jacobian * p,
                jacobian: jacobian.clone(),
            };
            Ok(points.iter().map(at).collect())
        }
    }

    #[test]
    fn a_linear_problem_has_intervals_of_196_standard_errors_and_open_ends_at_walls() {
        let best = DVector::zeros(2);
        let at = &Plane.linearized(0, std::slice::from_ref(&best)).unwrap()[0];
        let uncertainty = Uncertainty::new(at, Plane.bounds());
        let task = ProfileTask {
            problem: &Plane,
            levenberg: Levenberg::default(),
            best,
            cost: 0.0,
            offset: None,
            uncertainty: &uncertainty,
            fineness: 1.0,
            may_be_better: true,
            looks: 0,
            seed: 1,
        };
        let ranges = [(0, (-10.0, 10.0)), (1, (-10.0, 0.5))];
        let ranges = ranges.map(|(quantity, range)| ProfileRange {
            quantity,
            range,
            threshold: THRESHOLD_95,
        });
        let mut list = sides(&task, &ranges);
        let outcome = profile(&task, &mut list, &mut |_| Ok(ControlFlow::Continue(()))).unwrap();
        assert_eq!(outcome, ProfileEnd::Done);
        // Covariance (JᵀJ)⁻¹ = [[½, −½], [−½, 1]]; downwards y is free to go, so x rises as expected.
        let x_error = 0.5f64.sqrt();
        let end = |i: usize| list[i].end(THRESHOLD_95);
        assert!(
            (end(1).unwrap() - 1.96 * x_error).abs() < 0.02,
            "{:?}",
            list[1]
        );
        assert!((end(2).unwrap() + 1.96).abs() < 0.02);
        assert_eq!(end(3), None);
    }
}
