//! One start on its way: where it goes next, and whether it takes the step.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::{Linearized, levenberg::Levenberg};

/// Why a walker stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum WalkerEnd {
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

impl WalkerEnd {
    /// In words, with what to do.
    pub(crate) fn message(self) -> String {
        match self {
            WalkerEnd::Converged => "converged: no step lowers the cost any further".into(),
            WalkerEnd::Stalled => {
                "stalled: even tiny steps do not lower the cost (a kink of the law, or rounding)"
                    .into()
            }
            WalkerEnd::OutOfRounds => "the rounds are used up, and it may still get better: narrow the bounds, or fix or share parameters".into(),
            WalkerEnd::NotFinite => {
                "the start itself has residuals that are not finite; narrow the bounds".into()
            }
            WalkerEnd::Joined(other) => format!("joined start {}", other + 1),
        }
    }
}

/// One start on its way: all that is needed to go on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Walker {
    /// Unknowns of the best point so far.
    pub point: Vec<f64>,
    /// Cost there; none before the first evaluation.
    pub cost: Option<f64>,
    /// Rounds spent, all stages together.
    pub rounds: usize,
    /// Rounds after which it gives up.
    pub limit: usize,
    /// Why it stopped, once it has.
    pub outcome: Option<WalkerEnd>,
    damping: f64,
    growth: f64,
}

/// Damping at the start, as a share of the diagonal of JᵀJ.
const FIRST_DAMPING: f64 = 1e-2;

impl Walker {
    /// A walker at a point, that has spent `rounds` before and may spend `more`.
    pub(crate) fn new(point: Vec<f64>, rounds: usize, more: usize) -> Self {
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
    pub(super) fn propose(
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
        // An unknown whose step would leave the box goes to the wall of the box; the step of the others is then computed again.
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
    pub(super) fn judge(
        &mut self,
        trial: &DVector<f64>,
        cost: f64,
        promised: f64,
        most: f64,
    ) -> bool {
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
                self.outcome = Some(WalkerEnd::Stalled);
            }
        }
        taken
    }

    /// Its first evaluation, at its own point.
    pub(super) fn begin(&mut self, cost: f64) {
        if cost.is_finite() {
            self.cost = Some(cost);
        } else {
            self.outcome = Some(WalkerEnd::NotFinite);
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
