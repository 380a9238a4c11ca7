//! The shape of a strip under its own weight, by Newton's method, and the overhang's derivatives.

use nalgebra::{DMatrix, DVector};

use super::{CantileverPoint, bending_length_share, share};
use crate::{
    error::Result,
    laboratory::{PreparedTest, Readings, Request, TestSetup},
    material::ParameterRole,
    rollout::{HingeReading, Rollout, Schedule, Step},
};

/// Cells along the overhang: the overhang is within 1e-4 of its value for many.
const CELLS: usize = 64;
/// Steps from no curvature to the final one. The hard law needs one, Dahl's friction as many as a KES loop.
const STEPS: usize = 50;
/// Most evaluations of Newton's method.
const MOST_ROUNDS: usize = 100;
/// Residual at which the shape is found: of the moments in units of w·L², and of the angle \[rad\].
const TOLERANCE: f64 = 1e-12;

/// A hinge that is bent to a curvature of one in no time; its stress is read at the end.
fn ramp(setup: &TestSetup) -> Result<Rollout> {
    let steps = (1..=STEPS).map(|k| Step::prescribe(k as f64 / STEPS as f64, 0.0));
    let ramp = Rollout {
        law: setup.law.clone(),
        gate: setup.resolution.gate(),
        schedule: Schedule {
            steps: steps.collect(),
            readings: vec![STEPS - 1],
            reading: HingeReading::Stress,
        },
        points: 1,
        hinges: 1,
        amplitude: vec![1.0],
        duration: vec![0.0],
    };
    ramp.check()?;
    Ok(ramp)
}

/// The cantilever conditions of a list.
pub(super) struct CantileverStrips {
    /// Place of the elastic rigidity among the parameters.
    bending: Option<usize>,
    ramp: Rollout,
    /// Which conditions they are, each with its group.
    conditions: Vec<(usize, usize)>,
    points: Vec<CantileverPoint>,
    /// Their readings over the overhangs.
    shares: Vec<f64>,
}

/// A strip on the way to its shape. The unknowns are the curvatures of the cells \[1/m\], from the edge to the tip, and
/// the overhang \[m\].
struct StripShape {
    point: CantileverPoint,
    /// The best unknowns so far.
    best: DVector<f64>,
    /// The step from there, and its share that is tried.
    step: DVector<f64>,
    share: f64,
    residual: f64,
    /// At the best unknowns: the Jacobian of the balance, and ∂moment/∂parameter of every cell.
    jacobian: DMatrix<f64>,
    slopes: DMatrix<f64>,
}

/// A law's moments in all cells \[N·m/m\], their slopes by the curvature \[N·m\], and by the parameters.
struct CellMoments {
    values: Vec<f64>,
    by_curvature: Vec<f64>,
    by_parameter: DMatrix<f64>,
}

impl StripShape {
    /// Begins with Peirce's overhang for a rigidity \[N·m\] and a curvature that falls to the tip as that of a beam.
    fn new(point: CantileverPoint, rigidity: f64) -> StripShape {
        let overhang = (rigidity / point.weight()).cbrt() / bending_length_share(point.angle);
        let edge = 2.0 * point.angle / overhang;
        let curvature = |k: usize| edge * (1.0 - (k as f64 + 0.5) / CELLS as f64).powi(2);
        let first = (0..CELLS).map(curvature).chain([overhang]);
        StripShape {
            point,
            best: DVector::from_iterator(CELLS + 1, first),
            step: DVector::zeros(CELLS + 1),
            share: 1.0,
            residual: f64::INFINITY,
            jacobian: DMatrix::zeros(0, 0),
            slopes: DMatrix::zeros(0, 0),
        }
    }

    fn trial(&self) -> DVector<f64> {
        &self.best + &self.step * self.share
    }

    fn is_found(&self) -> bool {
        self.residual < TOLERANCE
    }

    /// Whether steps have become too short to lead anywhere.
    fn is_lost(&self) -> bool {
        self.share < 1e-6
    }

    /// Judges the trial by the law's moments there, and takes it or shortens the step.
    fn judge(&mut self, moments: CellMoments) {
        let trial = self.trial();
        let (balance, jacobian) = balance(&self.point, &trial, &moments);
        let size = balance.amax();
        // NaN is no progress either.
        let better = size < self.residual;
        if !better || trial.iter().any(|x| *x <= 0.0) {
            self.share *= 0.5;
            return;
        }
        let Some(step) = jacobian.clone().lu().solve(&balance) else {
            self.share = 0.0;
            return;
        };
        self.best = trial;
        self.residual = size;
        self.jacobian = jacobian;
        self.slopes = moments.by_parameter;
        self.step = -step;
        // Curvatures and the overhang stay positive.
        let longest = self.step.iter().zip(&self.best);
        let longest = longest.map(|(d, x)| -d / x).fold(0.0, f64::max);
        self.share = if longest > 0.9 { 0.9 / longest } else { 1.0 };
    }

    /// The overhang \[m\] and its derivatives by the parameters.
    fn overhang(&self) -> (f64, Option<Vec<f64>>) {
        let mut wanted = DVector::zeros(CELLS + 1);
        wanted[CELLS] = -1.0;
        let weights = self.jacobian.transpose().lu().solve(&wanted);
        let unit = self.unit();
        let slopes = weights.map(|weights| {
            let of_cells = weights.rows(0, CELLS) / unit;
            self.slopes.tr_mul(&of_cells).iter().copied().collect()
        });
        (self.best[CELLS], slopes)
    }

    /// Unit of the moments' balance \[N·m/m\].
    fn unit(&self) -> f64 {
        self.point.weight() * self.best[CELLS].powi(2)
    }
}

/// What is out of balance, and its Jacobian: for every cell the law's moment less that of the weight, in units of
/// w·L², and the angle of the tip less the wanted one.
fn balance(
    point: &CantileverPoint,
    unknowns: &DVector<f64>,
    moments: &CellMoments,
) -> (DVector<f64>, DMatrix<f64>) {
    let n = CELLS;
    let (length, cell) = (unknowns[n], unknowns[n] / n as f64);
    let unit = point.weight() * length * length;
    // Angles at the middle of the cells.
    let mut angles = vec![0.0; n];
    let mut before = 0.0;
    for j in 0..n {
        angles[j] = cell * (before + 0.5 * unknowns[j]);
        before += unknowns[j];
    }
    // Share of the strip beyond the middle of a cell; of its own second half only half is beyond.
    let beyond = |j: usize| 1.0 - (j as f64 + 0.5) / n as f64;
    let own = |i: usize| 0.5 * (beyond(i) - 0.25 / n as f64);
    // Sums over the cells after each: of the lever, and of its slope.
    let (mut levers, mut slopes, mut turns) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for j in (0..n - 1).rev() {
        let next = j + 1;
        let slope = beyond(next) * angles[next].sin();
        levers[j] = levers[next] + beyond(next) * angles[next].cos();
        slopes[j] = slopes[next] + slope;
        turns[j] = turns[next] + slope * angles[next];
    }
    let share = 1.0 / n as f64;
    let mut out = DVector::zeros(n + 1);
    let mut jacobian = DMatrix::zeros(n + 1, n + 1);
    for i in 0..n {
        let (sine, cosine) = angles[i].sin_cos();
        let own_slope = own(i) * sine;
        out[i] = moments.values[i] / unit - share * (levers[i] + own(i) * cosine);
        for k in 0..n {
            let turned = match k.cmp(&i) {
                std::cmp::Ordering::Less => slopes[i] + own_slope,
                std::cmp::Ordering::Equal => slopes[i] + 0.5 * own_slope,
                std::cmp::Ordering::Greater => slopes[k] + 0.5 * beyond(k) * angles[k].sin(),
            };
            jacobian[(i, k)] = share * cell * turned;
        }
        jacobian[(i, i)] += moments.by_curvature[i] / unit;
        let turned = share * (turns[i] + own_slope * angles[i]);
        jacobian[(i, n)] = (turned - 2.0 * moments.values[i] / unit) / length;
    }
    let (x, y) = angles.iter().fold((0.0, 0.0), |(x, y), angle| {
        (x + angle.cos(), y + angle.sin())
    });
    out[n] = y.atan2(x) - point.angle;
    let mut after = 0.0;
    for j in (0..n).rev() {
        let slope = (x * angles[j].cos() + y * angles[j].sin()) / (x * x + y * y);
        jacobian[(n, j)] = cell * (after + 0.5 * slope);
        jacobian[(n, n)] += slope * angles[j] / length;
        after += slope;
    }
    (out, jacobian)
}

impl PreparedTest for CantileverStrips {
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let width = request.strains.len();
        let mut shapes = Vec::new();
        for set in request.sets {
            for ((_, group), point) in self.conditions.iter().zip(&self.points) {
                let rigidity = self.bending.map_or(1e-5, |p| set[*group][p]);
                shapes.push(StripShape::new(*point, rigidity));
            }
        }
        for _ in 0..MOST_ROUNDS {
            let open = |s: &&mut StripShape| !s.is_found() && !s.is_lost();
            let count = self.conditions.len();
            let groups = self.conditions.iter().cycle().map(|(_, group)| *group);
            let values = |i: usize, group: usize| request.sets[i / count][group].as_slice();
            let mut moving: Vec<(&[f64], &mut StripShape)> = shapes
                .iter_mut()
                .zip(groups)
                .enumerate()
                .filter_map(|(i, (shape, group))| {
                    open(&&mut *shape).then(|| (values(i, group), shape))
                })
                .collect();
            if moving.is_empty() {
                break;
            }
            self.advance(request, &mut moving)?;
        }
        for (i, shape) in shapes.iter().enumerate().filter(|(_, s)| s.is_found()) {
            let (set, k) = (i / self.conditions.len(), i % self.conditions.len());
            let (condition, share) = (self.conditions[k].0, self.shares[k]);
            let (overhang, slopes) = shape.overhang();
            results[set].values[condition] = share * overhang;
            if let (Some(_), Some(slopes)) = (request.sought, slopes) {
                for (p, slope) in slopes.into_iter().enumerate() {
                    results[set].slopes[condition * width + p] = share * slope;
                }
            }
        }
        Ok(())
    }
}

impl CantileverStrips {
    /// Those of a list; none where no condition is a cantilever.
    pub(super) fn new(setup: &TestSetup) -> Result<Option<CantileverStrips>> {
        let mut strips = CantileverStrips {
            bending: setup
                .law
                .parameters()
                .iter()
                .position(|p| p.role == ParameterRole::BendingStiffness),
            ramp: ramp(setup)?,
            conditions: Vec::new(),
            points: Vec::new(),
            shares: Vec::new(),
        };
        for (i, (group, condition)) in setup.conditions.iter().enumerate() {
            if let Some(point) = CantileverPoint::of(condition) {
                strips.conditions.push((i, *group));
                strips.points.push(point);
                strips.shares.push(share(condition));
            }
        }
        Ok((!strips.points.is_empty()).then_some(strips))
    }

    /// One round of all strips that move: the law's moments at their trials in one batch.
    fn advance(&self, request: &Request, moving: &mut [(&[f64], &mut StripShape)]) -> Result<()> {
        let width = request.strains.len();
        let trials: Vec<DVector<f64>> = moving.iter().map(|(_, shape)| shape.trial()).collect();
        let mut rows = Vec::with_capacity(moving.len() * CELLS * width);
        for ((values, _), trial) in moving.iter().zip(&trials) {
            for k in 0..CELLS {
                rows.extend(request.scaled(values, trial[k]));
            }
        }
        let batch = self.ramp.repeated(moving.len() * CELLS);
        let compute = request.compute;
        let parameters = compute.tensor(&rows, [batch.points, width]);
        let seed = compute.tensor(&vec![1.0; batch.points], [batch.points, 1, 1]);
        let (stress, gradient) = batch.linearized(compute, parameters, seed);
        let (stress, gradient) = (compute.values(stress)?, compute.values(gradient)?);
        for (s, ((_, shape), trial)) in moving.iter_mut().zip(&trials).enumerate() {
            let mut moments = CellMoments {
                values: vec![0.0; CELLS],
                by_curvature: vec![0.0; CELLS],
                by_parameter: DMatrix::zeros(CELLS, width),
            };
            for k in 0..CELLS {
                // Strains are in units of the cell's own curvature, so the moment is that times the stress, and
                // it grows in proportion to the curvature and all strains of the law together.
                let row = (s * CELLS + k) * width;
                let curvature = trial[k];
                moments.values[k] = curvature * stress[s * CELLS + k];
                moments.by_curvature[k] = stress[s * CELLS + k];
                for p in 0..width {
                    let slope = gradient[row + p];
                    if request.strains[p] {
                        moments.by_curvature[k] -= rows[row + p] * slope;
                        moments.by_parameter[(k, p)] = slope;
                    } else {
                        moments.by_parameter[(k, p)] = curvature * slope;
                    }
                }
            }
            shape.judge(moments);
        }
        Ok(())
    }
}
