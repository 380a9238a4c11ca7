//! Probabilities and quantiles that reports need. Distributions are those of the `statrs` crate.

use statrs::{
    distribution::{Binomial, ContinuousCDF, DiscreteCDF, FisherSnedecor, Normal, StudentsT},
    function::gamma::checked_gamma_ur,
};

/// Q(a, x): the upper regularised incomplete gamma function; 1 below x = 0, NaN where it has no value.
fn upper_gamma(a: f64, x: f64) -> f64 {
    match x <= 0.0 {
        true => 1.0,
        false => checked_gamma_ur(a, x).unwrap_or(f64::NAN),
    }
}

/// Probability that χ² with `freedom` degrees of freedom exceeds `value`.
pub(crate) fn chi2_exceeds(value: f64, freedom: f64) -> f64 {
    upper_gamma(0.5 * freedom, 0.5 * value)
}

/// Probability that F with `above` over `below` degrees of freedom exceeds `value`.
pub(crate) fn f_exceeds(value: f64, (above, below): (f64, f64)) -> f64 {
    match FisherSnedecor::new(above, below) {
        Ok(law) if value > 0.0 => law.sf(value),
        Ok(_) => 1.0,
        Err(_) => f64::NAN,
    }
}

/// The value below which lies a share of Student's t with `freedom` degrees of freedom.
pub(crate) fn student_quantile(share: f64, freedom: f64) -> f64 {
    match StudentsT::new(0.0, 1.0, freedom) {
        Ok(law) => law.inverse_cdf(share),
        Err(_) => f64::NAN,
    }
}

/// Probability that a standard normal number lies below `z`, to 1e-15. By the gamma function: the error function of
/// `statrs` 0.19 has only 11 digits.
pub(crate) fn normal_below(z: f64) -> f64 {
    let tail = 0.5 * upper_gamma(0.5, 0.5 * z * z);
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// The inverse of [`normal_below`].
pub(crate) fn normal_quantile(share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return f64::INFINITY.copysign(share - 0.5);
    }
    Normal::standard().inverse_cdf(share)
}

/// The 95 % interval of Wilson for the probability of what has happened `count` times in `all`.
pub(crate) fn share_interval(count: usize, all: usize) -> [f64; 2] {
    let (share, all, z2) = (count as f64 / all as f64, all as f64, 3.841_458_820_694_124);
    let middle = (share + 0.5 * z2 / all) / (1.0 + z2 / all);
    let variance = (share * (1.0 - share) + 0.25 * z2 / all) * z2 / all;
    let half = variance.sqrt() / (1.0 + z2 / all);
    [middle - half, middle + half]
}

/// The 2.5 % and 97.5 % quantiles of how often something with a probability happens in `all`; none for no probability.
pub(crate) fn count_interval(all: usize, probability: f64) -> Option<[f64; 2]> {
    let counts = Binomial::new(probability, all as u64).ok()?;
    Some([0.025, 0.975].map(|share| counts.inverse_cdf(share) as f64))
}

/// A quantile of sorted values, linear between them.
///
/// # Panics
/// When there are no values.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// Runs of one sign in each sequence, what to expect of signs drawn by a fair coin, and the probability of
/// so few (normal approximation); none where the signs are too few to say. Unlike in the test of Wald and
/// Wolfowitz the number of signs of each kind is not given: a curve that lies wholly below its data counts.
pub(crate) fn runs(sequences: &[Vec<f64>]) -> (usize, f64, Option<f64>) {
    let (mut count, mut expected, mut variance) = (0, 0.0, 0.0);
    for sequence in sequences.iter().filter(|s| !s.is_empty()) {
        let changes = sequence.windows(2).filter(|w| (w[0] > 0.0) != (w[1] > 0.0));
        count += 1 + changes.count();
        let pairs = (sequence.len() - 1) as f64;
        expected += 1.0 + 0.5 * pairs;
        variance += 0.25 * pairs;
    }
    let probability =
        (variance >= 1.0).then(|| normal_below((count as f64 + 0.5 - expected) / variance.sqrt()));
    (count, expected, probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_agree_with_tables() {
        for (value, freedom, p) in [
            (3.841_458_820_694_124, 1.0, 0.05),
            (18.307_038_053_275_14, 10.0, 0.05),
            (50.0, 40.0, 0.133_574_83),
            (0.5, 3.0, 0.918_891_4),
        ] {
            assert!(
                (chi2_exceeds(value, freedom) - p).abs() < 1e-7,
                "{value} {freedom}"
            );
        }
        assert!((f_exceeds(3.373_754, (6.0, 9.0)) - 0.05).abs() < 1e-6);
        for (freedom, t) in [(4.0, 2.776_445_105), (30.0, 2.042_272_456)] {
            assert!((student_quantile(0.975, freedom) - t).abs() < 1e-7);
        }
        assert!((normal_below(-1.959_963_984_540_054) - 0.025).abs() < 1e-12);
        assert!((normal_below(1.0) - 0.841_344_746_068_543).abs() < 1e-12);
    }

    #[test]
    fn the_normal_quantile_inverts_the_probability() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-12);
        assert!((normal_quantile(1e-10) + 6.361_340_902_404_056).abs() < 1e-9);
        for share in [1e-12, 0.003, 0.25, 0.5, 0.8, 0.999] {
            let back = normal_below(normal_quantile(share));
            assert!((back / share - 1.0).abs() < 1e-10, "{share} {back}");
        }
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }

    #[test]
    fn long_runs_are_improbable_and_alternation_is_not() {
        let trend: Vec<f64> = (0..20).map(|i| f64::from(i) - 9.5).collect();
        let (count, expected, p) = runs(&[trend]);
        assert_eq!((count, expected), (2, 10.5));
        assert!(p.unwrap() < 1e-3);
        let wiggle: Vec<f64> = (0..20)
            .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        assert!(runs(&[wiggle]).2.unwrap() > 0.99);
        assert_eq!(runs(&[vec![1.0]]).2, None);
    }

    /// Computed from the definitions by a few lines of Python, the quantiles by summing the terms of the distribution.
    #[test]
    fn intervals_of_shares_and_counts_agree_with_tables() {
        for (count, all, ends) in [(0, 10, [0.0, 0.277_533]), (95, 100, [0.888_250, 0.978_456])] {
            let found = share_interval(count, all);
            for (a, b) in found.iter().zip(ends) {
                assert!((a - b).abs() < 1e-5, "{found:?}");
            }
        }
        assert_eq!(count_interval(100, 0.1), Some([5.0, 16.0]));
        assert_eq!(count_interval(10, 1.5), None);
    }

    #[test]
    fn quantiles_are_linear_between_values() {
        assert_eq!(quantile(&[0.0, 1.0, 2.0], 0.25), 0.5);
        assert_eq!(quantile(&[3.0], 0.9), 3.0);
    }
}
