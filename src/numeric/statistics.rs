//! Probabilities and quantiles that reports need.

/// ln Γ(x) for x > 0 (Lanczos, 15 digits).
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let t = x + 7.5;
    let series = COEFFICIENTS[1..].iter().enumerate();
    let sum = series.fold(COEFFICIENTS[0], |s, (i, c)| s + c / (x + 1.0 + i as f64));
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

/// Q(a, x): the upper regularised incomplete gamma function, by series or continued fraction.
fn upper_gamma(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum) = (1.0 / a, 1.0 / a);
        for n in 1..10_000 {
            term *= x / (a + f64::from(n));
            sum += term;
            if term < 1e-16 * sum {
                break;
            }
        }
        return 1.0 - front * sum;
    }
    let tiny = 1e-300;
    let (mut b, mut c) = (x + 1.0 - a, 1.0 / tiny);
    let mut d = 1.0 / b;
    let mut h = d;
    for n in 1..10_000 {
        let an = -f64::from(n) * (f64::from(n) - a);
        b += 2.0;
        d = 1.0 / (an * d + b).abs().max(tiny).copysign(an * d + b);
        c = (b + an / c).abs().max(tiny).copysign(b + an / c);
        h *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * h
}

/// Probability that χ² with `freedom` degrees of freedom exceeds `value`.
pub fn chi2_exceeds(value: f64, freedom: usize) -> f64 {
    upper_gamma(0.5 * freedom as f64, 0.5 * value)
}

/// Probability that a standard normal number lies below `z`.
pub fn normal_below(z: f64) -> f64 {
    let tail = 0.5 * upper_gamma(0.5, 0.5 * z * z);
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// The inverse of [`normal_below`], to 1e-13 for shares from 1e-300 to 1 − 1e-15: the rational start of
/// Abramowitz and Stegun (26.2.23), then Halley's steps.
pub fn normal_quantile(share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return f64::INFINITY.copysign(share - 0.5);
    }
    let tail = share.min(1.0 - share);
    let t = (-2.0 * tail.ln()).sqrt();
    let start = t
        - (2.515_517 + t * (0.802_853 + t * 0.010_328))
            / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    let mut z = -start;
    for _ in 0..4 {
        let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let step = (normal_below(z) - tail) / density;
        z -= step / (1.0 + 0.5 * z * step);
    }
    if share < 0.5 { z } else { -z }
}

/// A quantile of sorted values, linear between them.
///
/// # Panics
/// When there are no values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

/// Runs of one sign in each sequence, what to expect of signs drawn by a fair coin, and the probability of
/// so few (normal approximation); none where the signs are too few to say. Unlike in the test of Wald and
/// Wolfowitz the number of signs of each kind is not given: a curve that lies wholly below its data counts.
pub fn runs(sequences: &[Vec<f64>]) -> (usize, f64, Option<f64>) {
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
            (3.841_458_820_694_124, 1, 0.05),
            (18.307_038_053_275_14, 10, 0.05),
            (50.0, 40, 0.133_574_83),
            (0.5, 3, 0.918_891_4),
        ] {
            assert!(
                (chi2_exceeds(value, freedom) - p).abs() < 1e-7,
                "{value} {freedom}"
            );
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

    #[test]
    fn quantiles_are_linear_between_values() {
        assert_eq!(quantile(&[0.0, 1.0, 2.0], 0.25), 0.5);
        assert_eq!(quantile(&[3.0], 0.9), 3.0);
    }
}
