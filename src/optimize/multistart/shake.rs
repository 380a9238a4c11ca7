//! Shakes: the cost of the last stage may have kinks, such as where a threshold passes the crest of a fold. From one side
//! of a kink its other side cannot be seen, and a walker may rest there. It goes on with the slopes of secants, which reach
//! across kinks, and then it is moved a little, many times, and each copy descends again.

use nalgebra::{DMatrix, DVector};

use super::{SearchPlan, kick::RestPlace};
use crate::{
    error::Result,
    numeric::Random,
    optimize::{
        Linearized, Problem,
        levenberg::{Batch, Walker},
    },
};

/// How often the best copy is shaken again, at most.
const MOST_SHAKES: usize = 8;
/// A copy that is lower by less than this share of the cost, and by less than [`LEVEL`], is no better place.
const SAME_SHARE: f64 = 1e-3;
/// A difference of χ² that changes no interval.
const LEVEL: f64 = 1e-3;
/// Set in the number of a random stream, which kicks leave clear.
const SHAKE_STREAM: u64 = 1 << 63;
/// How far secants reach, in standard deviations, one descent after the other.
const REACHES: [f64; 3] = [1.0, 0.3, 0.1];
/// A descent with secants has converged when a step promises to lower its cost by less than this share.
const SECANT_TOLERANCE: f64 = 1e-4;

/// The lowest place that a walker at rest, the start of this number, comes to when it is shaken.
pub(super) fn shaken(
    problem: &dyn Problem,
    plan: &SearchPlan,
    start: usize,
    mut walker: Walker,
) -> Result<Walker> {
    for shake in 0..MOST_SHAKES {
        let mut ends = vec![across(problem, plan, walker.clone())?];
        ends.extend(copies(problem, plan, &walker, start * MOST_SHAKES + shake)?);
        let cost = |w: &Walker| w.cost.unwrap_or(f64::INFINITY);
        let Some(best) = ends.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b))) else {
            break;
        };
        let (before, after) = (cost(&walker), cost(&best));
        if after < before {
            walker = best;
        }
        if before - after < (SAME_SHARE * before).min(LEVEL) || after >= before {
            break;
        }
    }
    Ok(walker)
}

/// Ends of copies that begin around a walker.
fn copies(
    problem: &dyn Problem,
    plan: &SearchPlan,
    walker: &Walker,
    number: usize,
) -> Result<Vec<Walker>> {
    let stage = problem.stages() - 1;
    let point = DVector::from_column_slice(&walker.point);
    let at = problem.linearized(stage, &[point])?.remove(0);
    let rest = RestPlace::new(walker.clone(), Some(&at));
    let copy = |k: usize| {
        let first = plan.first * MOST_SHAKES;
        let number = ((first + number) * plan.shakes + k) as u64;
        let mut random = Random::stream(plan.seed, SHAKE_STREAM | number);
        let point = rest.kicked(problem.bounds(), &mut random);
        Walker::new(point, walker.rounds, plan.rounds)
    };
    let copies = (0..plan.shakes).map(copy).collect();
    let mut batch = Batch::new(problem, plan.levenberg, stage, copies);
    batch.run()?;
    Ok(batch.walkers)
}

/// Where a walker ends that descends with the slopes of secants, shorter from one descent to the next.
fn across(problem: &dyn Problem, plan: &SearchPlan, mut walker: Walker) -> Result<Walker> {
    let stage = problem.stages() - 1;
    let mut settings = plan.levenberg;
    settings.tolerance = settings.tolerance.max(SECANT_TOLERANCE);
    let mut at = None;
    for reach in REACHES {
        let point = [DVector::from_column_slice(&walker.point)];
        let here = match at {
            Some(at) => at,
            None => problem.linearized(stage, &point)?.remove(0),
        };
        let Some(steps) = RestPlace::new(walker.clone(), Some(&here)).steps(reach) else {
            break;
        };
        let secants = Secants { problem, steps };
        let moving = Walker::new(walker.point.clone(), walker.rounds, plan.rounds);
        let mut batch = Batch::new(&secants, settings, stage, vec![moving]);
        batch.run()?;
        at = batch.at(0).cloned();
        walker = batch.walkers.remove(0);
    }
    let last = Walker::new(walker.point.clone(), walker.rounds, plan.rounds);
    let mut batch = Batch::new(problem, plan.levenberg, stage, vec![last]);
    batch.run()?;
    Ok(batch.walkers.remove(0))
}

/// A problem whose Jacobian is one of secants: differences between points that are a step apart either way.
struct Secants<'a> {
    problem: &'a dyn Problem,
    /// The steps, as columns.
    steps: DMatrix<f64>,
}

impl Problem for Secants<'_> {
    fn bounds(&self) -> &[(f64, f64)] {
        self.problem.bounds()
    }

    fn data(&self) -> usize {
        self.problem.data()
    }

    fn stages(&self) -> usize {
        self.problem.stages()
    }

    fn linearized(&self, stage: usize, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
        let inside = |mut point: DVector<f64>| {
            for (x, (low, high)) in point.iter_mut().zip(self.bounds()) {
                *x = x.clamp(*low, *high);
            }
            point
        };
        let mut all = Vec::new();
        for point in points {
            all.push(point.clone());
            for step in self.steps.column_iter() {
                all.extend([inside(point + step), inside(point - step)]);
            }
        }
        let found = self.problem.linearized(stage, &all)?;
        let each = 1 + 2 * self.steps.ncols();
        let one = |(points, found): (&[DVector<f64>], &[Linearized])| {
            let pairs = 0..self.steps.ncols();
            let differences = |values: &dyn Fn(usize) -> DVector<f64>| {
                let columns: Vec<_> = pairs
                    .clone()
                    .map(|k| values(1 + 2 * k) - values(2 + 2 * k))
                    .collect();
                DMatrix::from_columns(&columns)
            };
            let moved = differences(&|i| points[i].clone());
            let changed = differences(&|i| found[i].residuals.clone());
            // Steps that the box cuts off may leave a direction out.
            let jacobian = match moved.try_inverse() {
                Some(inverse) => changed * inverse,
                None => found[0].jacobian.clone(),
            };
            Linearized {
                residuals: found[0].residuals.clone(),
                jacobian,
            }
        };
        Ok(all.chunks(each).zip(found.chunks(each)).map(one).collect())
    }
}
