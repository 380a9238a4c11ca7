//! Sobol' indices: shares of an output's variance.
//!
//! With V the variance of the output, f(A), f(B) the outputs of two independent samples and f(A_B) those of A
//! with the group's columns taken from B:
//!
//! ```text
//! first order   S  = Var E[f | group] / V            total   T = E Var[f | all others] / V
//! Jansen        S  = 1 − mean (f(B) − f(A_B))² / 2V          T = mean (f(A) − f(A_B))² / 2V     (Jansen 1999)
//! Martinez      S  = corr(f(B), f(A_B))                      T = 1 − corr(f(A), f(A_B))         (Martinez 2011)
//! Saltelli      S  = mean f(B)·(f(A_B) − f(A)) / V                                              (Saltelli 2010)
//! ```
//!
//! V is that of A and B together (divided by their number); outputs are centred on the mean of all runs first,
//! which matters for Saltelli's estimator only. SALib does both.

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::interval::{Estimate, RESAMPLES};

/// Outputs of one scalar for a design of [`super::sample::saltelli`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SobolRuns {
    /// f(A).
    pub a: Vec<f64>,
    /// f(B).
    pub b: Vec<f64>,
    /// f(A_B), a list a group, the dummy's last.
    pub mixed: Vec<Vec<f64>>,
    /// Whether the last of them is a dummy's, for which nothing was run.
    pub has_dummy: bool,
}

/// Indices of one group by every estimator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Indices<T> {
    /// First order by Jansen.
    pub first_jansen: T,
    /// First order by Martinez.
    pub first_martinez: T,
    /// First order by Saltelli.
    pub first_saltelli: T,
    /// Total by Jansen.
    pub total_jansen: T,
    /// Total by Martinez.
    pub total_martinez: T,
}

impl<T: Copy> Indices<T> {
    /// (order, estimator, index) of each.
    pub fn list(&self) -> [(&'static str, &'static str, T); 5] {
        [
            ("first", "jansen", self.first_jansen),
            ("first", "martinez", self.first_martinez),
            ("first", "saltelli", self.first_saltelli),
            ("total", "jansen", self.total_jansen),
            ("total", "martinez", self.total_martinez),
        ]
    }

    fn from_fn(mut of: impl FnMut(usize) -> T) -> Indices<T> {
        Indices {
            first_jansen: of(0),
            first_martinez: of(1),
            first_saltelli: of(2),
            total_jansen: of(3),
            total_martinez: of(4),
        }
    }
}

/// A variance below this share of the squared size of the output is rounding: the output does not vary.
const ROUNDING: f64 = 1e-24;
/// Products of A and B alone, before those of each group.
const SHARED: usize = 5;
/// Products of each group.
const EACH: usize = 4;

impl SobolRuns {
    /// The runs of an output, in the order of the design, without base samples of which a run failed.
    pub(crate) fn split(outputs: &[f64], groups: usize) -> SobolRuns {
        let mut runs = SobolRuns {
            a: Vec::new(),
            b: Vec::new(),
            mixed: vec![Vec::new(); groups],
            has_dummy: false,
        };
        for block in outputs.chunks_exact(groups + 2) {
            if block.iter().any(|v| !v.is_finite()) {
                continue;
            }
            runs.a.push(block[0]);
            for (list, value) in runs.mixed.iter_mut().zip(&block[1..]) {
                list.push(*value);
            }
            runs.b.push(block[groups + 1]);
        }
        runs
    }

    /// With a dummy: a group that the output cannot depend on, so that its runs are those of A. What its
    /// first-order index comes out as is the error of the estimator.
    pub(crate) fn with_dummy(mut self) -> SobolRuns {
        self.mixed.push(self.a.clone());
        self.has_dummy = true;
        self
    }

    /// The first base samples only.
    pub(crate) fn first(&self, samples: usize) -> SobolRuns {
        let cut = |list: &Vec<f64>| list[..samples.min(list.len())].to_vec();
        SobolRuns {
            a: cut(&self.a),
            b: cut(&self.b),
            mixed: self.mixed.iter().map(cut).collect(),
            has_dummy: self.has_dummy,
        }
    }

    /// Base samples.
    pub(crate) fn samples(&self) -> usize {
        self.a.len()
    }

    /// Mean of all runs but a dummy's, and the variance of A and B.
    pub(crate) fn moments(&self) -> (f64, f64) {
        let lists = [&self.a, &self.b];
        let run = self.mixed.len() - usize::from(self.has_dummy);
        let mixed = self.mixed[..run].iter();
        let all: Vec<f64> = lists.into_iter().chain(mixed).flatten().copied().collect();
        let center = all.iter().sum::<f64>() / all.len().max(1) as f64;
        let both = || self.a.iter().chain(&self.b);
        let count = (2 * self.samples()).max(1) as f64;
        let mean = both().sum::<f64>() / count;
        let variance = both().map(|v| (v - mean).powi(2)).sum::<f64>() / count;
        (center, variance)
    }

    /// Whether the output varies at all; without that no share of its variance can be told.
    pub(crate) fn varies(&self) -> bool {
        let largest = self
            .a
            .iter()
            .chain(&self.b)
            .fold(0.0f64, |m, v| m.max(v.abs()));
        self.samples() > 1 && self.moments().1 > ROUNDING * largest * largest
    }

    /// Indices of every group with their intervals; none where the output does not vary. `counts` are those of
    /// as many samples: many outputs share them.
    pub(crate) fn indices(&self, counts: &DMatrix<f64>) -> Option<Vec<Indices<Estimate>>> {
        if !self.varies() {
            return None;
        }
        let products = self.products();
        let n = self.samples();
        let whole = DMatrix::repeat(1, n, 1.0) * &products;
        let drawn = counts * &products;
        let list = (0..self.mixed.len()).map(|group| {
            let at = |sums: &DMatrix<f64>, row: usize| estimates(sums, row, group, n as f64);
            let value = at(&whole, 0);
            let resampled: Vec<[f64; 5]> = (0..RESAMPLES).map(|r| at(&drawn, r)).collect();
            Indices::from_fn(|k| {
                let values: Vec<f64> = resampled.iter().map(|r| r[k]).collect();
                Estimate::new(value[k], &values)
            })
        });
        Some(list.collect())
    }

    /// Products of the centred outputs, a row a base sample, of whose sums every estimator is a function.
    fn products(&self) -> DMatrix<f64> {
        let (center, variance) = self.moments();
        // In units of its own spread, so that sums of squares do not lose digits.
        let scale = 1.0 / variance.sqrt();
        let n = self.samples();
        let mut products = DMatrix::zeros(n, SHARED + EACH * self.mixed.len());
        for i in 0..n {
            let [a, b] = [self.a[i], self.b[i]].map(|v| (v - center) * scale);
            let mut put = |k: usize, v: f64| products[(i, k)] = v;
            for (k, v) in [a, b, a * a, b * b, a * b].into_iter().enumerate() {
                put(k, v);
            }
            for (g, mixed) in self.mixed.iter().enumerate() {
                let c = (mixed[i] - center) * scale;
                for (k, v) in [c, c * c, a * c, b * c].into_iter().enumerate() {
                    put(SHARED + EACH * g + k, v);
                }
            }
        }
        products
    }
}

/// The five estimators from the sums of products in a row.
fn estimates(sums: &DMatrix<f64>, row: usize, group: usize, n: f64) -> [f64; 5] {
    let mean = |k: usize| sums[(row, k)] / n;
    let [a, b, aa, bb, ab] = [0, 1, 2, 3, 4].map(mean);
    let [c, cc, ac, bc] = [0, 1, 2, 3].map(|k| mean(SHARED + EACH * group + k));
    let variance = 0.5 * (aa + bb) - (0.5 * (a + b)).powi(2);
    let correlation =
        |xy: f64, x: f64, xx: f64| (xy - x * c) / ((xx - x * x) * (cc - c * c)).sqrt();
    [
        1.0 - 0.5 * (bb - 2.0 * bc + cc) / variance,
        correlation(bc, b, bb),
        (bc - ab) / variance,
        0.5 * (aa - 2.0 * ac + cc) / variance,
        1.0 - correlation(ac, a, aa),
    ]
}
