//! Gaps and pressing times that a design tries and a made-up table has.

/// Gaps that a made-up table has, and that a design tries where the data have none \[m\].
pub(super) const GAPS: [f64; 4] = [0.5e-3, 1e-3, 2e-3, 4e-3];

/// The gaps of the data, half the smallest and twice the largest.
pub(super) fn around(mut gaps: Vec<f64>) -> Vec<f64> {
    gaps.sort_by(f64::total_cmp);
    gaps.dedup();
    let (Some(low), Some(high)) = (gaps.first().copied(), gaps.last().copied()) else {
        return GAPS.to_vec();
    };
    let mut all = vec![0.5 * low];
    all.extend(gaps);
    all.push(2.0 * high);
    all
}

/// 1, 3, 10, 30, … seconds from a tenth of the shortest to the longest of the data, or 1000 s.
pub(super) fn one_three_ten(presses: impl Iterator<Item = f64>) -> Vec<f64> {
    let presses: Vec<f64> = presses.filter(|p| *p > 0.0).collect();
    let low = presses.iter().copied().fold(1.0, f64::min) / 10.0;
    let high = presses.iter().copied().fold(1e3, f64::max);
    let decades = low.log10().round() as i32..=high.log10().round() as i32;
    let times = decades.flat_map(|d| [10f64.powi(d), 3.0 * 10f64.powi(d)]);
    times.filter(|t| *t <= 1.001 * high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_surrounds_the_data() {
        assert_eq!(around(vec![2.0, 1.0, 2.0]), [0.5, 1.0, 2.0, 4.0]);
        assert_eq!(around(Vec::new()), GAPS);
        let times = one_three_ten([1.0, 1e3].into_iter());
        assert_eq!(times.len(), 9, "{times:?}");
        assert!(
            (times[0] - 0.1).abs() < 1e-12 && (times[8] - 1e3).abs() < 1e-6,
            "{times:?}"
        );
    }
}
