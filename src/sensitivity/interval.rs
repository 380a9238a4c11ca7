//! Intervals by resampling: every index is computed again from samples drawn with replacement.

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use crate::numeric::{Random, statistics::quantile};

/// How often samples are drawn again.
pub(crate) const RESAMPLES: usize = 200;
/// Share of the resampled values below the interval, and above it.
const TAIL: f64 = 0.025;

/// An estimate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate from all samples.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// From the value of all samples and those of the resampled ones; an interval that resampling puts beside
    /// the value is widened to hold it.
    pub fn new(value: f64, resampled: &[f64]) -> Estimate {
        let mut sorted: Vec<f64> = resampled
            .iter()
            .copied()
            .filter(|v| v.is_finite())
            .collect();
        if sorted.is_empty() {
            return Estimate {
                value,
                low: value,
                high: value,
            };
        }
        sorted.sort_by(f64::total_cmp);
        Estimate {
            value,
            low: quantile(&sorted, TAIL).min(value),
            high: quantile(&sorted, 1.0 - TAIL).max(value),
        }
    }

    /// Upper end less lower end.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Whether a number is inside.
    pub fn holds(self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// How often each of `samples` is drawn, a row each resample: sums over a resample are one product of matrices.
pub(crate) fn counts(samples: usize, seed: u64) -> DMatrix<f64> {
    let mut random = Random::stream(seed, samples as u64);
    let mut counts = DMatrix::zeros(RESAMPLES, samples);
    for resample in 0..RESAMPLES {
        for _ in 0..samples {
            let drawn = random.below(samples);
            counts[(resample, drawn)] += 1.0;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_two_standard_errors_wide_each_way() {
        let n = 400;
        let mut random = Random(5);
        let values: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let sums = counts(n, 1) * DMatrix::from_column_slice(n, 1, &values);
        let resampled: Vec<f64> = sums.iter().map(|s| s / n as f64).collect();
        let estimate = Estimate::new(mean, &resampled);
        let expected = 2.0 * 1.96 / (n as f64).sqrt();
        // 200 resamples give the width to about a tenth.
        assert!(
            (estimate.width() / expected - 1.0).abs() < 0.25,
            "{estimate:?}"
        );
        assert!(estimate.holds(0.0) && estimate.holds(mean));
    }

    #[test]
    fn every_resample_draws_as_many_as_there_are() {
        let counts = counts(50, 3);
        assert_eq!(counts.nrows(), RESAMPLES);
        assert!(counts.row_iter().all(|row| row.sum() == 50.0));
        assert!(counts.iter().any(|c| *c > 1.0));
    }
}
