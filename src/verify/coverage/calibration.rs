//! Simulation-based calibration (Talts et al. 2018): if a sample says what is known, the truth is as likely at any rank of it.
//!
//! The sample here is a parametric bootstrap and not a posterior. Its ranks are even where errors do not depend on the truth
//! on some scale. Ranks that pile up at both ends say that the sample is too narrow, in the middle that it is too wide, at one
//! end that the estimate is biased.

use serde::{Deserialize, Serialize};

use super::Estimate;
use crate::numeric::statistics::{chi2_exceeds, count_interval};

/// Bins of a histogram.
const BINS: usize = 10;
/// With fewer ranks in a bin, χ² says nothing of the histogram.
const LEAST_IN_BIN: f64 = 5.0;

/// Ranks of the truth among the refits, as shares in bins of equal width.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct RankHistogram {
    /// Data sets that are counted.
    pub sets: usize,
    /// How many of them are in each bin. A rank r of n refits is spread over the shares from r/(n + 1) to (r + 1)/(n + 1).
    pub bins: Vec<f64>,
    /// How many to expect in a bin, in 95 of 100 such histograms of even ranks.
    pub band: [f64; 2],
    /// Probability of bins as uneven, if ranks are even; none where the ranks are too few to say.
    pub probability: Option<f64>,
}

impl RankHistogram {
    /// Of the ranks of some estimates; none where none has one.
    pub(crate) fn of<'a>(estimates: impl Iterator<Item = &'a Estimate>) -> Option<RankHistogram> {
        let ranks: Vec<(usize, usize)> = estimates.filter_map(|e| e.rank).collect();
        let sets = ranks.len();
        let band = count_interval(sets, 1.0 / BINS as f64).filter(|_| sets > 0)?;
        let mut bins = vec![0.0; BINS];
        for (rank, refits) in ranks {
            let places = (refits + 1) as f64;
            let (low, high) = (rank as f64 / places, (rank + 1) as f64 / places);
            for (b, bin) in bins.iter_mut().enumerate() {
                let (from, to) = (b as f64 / BINS as f64, (b + 1) as f64 / BINS as f64);
                *bin += places * (high.min(to) - low.max(from)).max(0.0);
            }
        }
        let expected = sets as f64 / BINS as f64;
        let chi2: f64 = bins.iter().map(|n| (n - expected).powi(2) / expected).sum();
        Some(RankHistogram {
            sets,
            bins,
            band,
            probability: (expected >= LEAST_IN_BIN).then(|| chi2_exceeds(chi2, (BINS - 1) as f64)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Random;

    fn of(ranks: impl Iterator<Item = (usize, usize)>) -> Option<RankHistogram> {
        let estimates: Vec<Estimate> = ranks
            .map(|rank| Estimate {
                name: "p".into(),
                truth: 1.0,
                best: 1.0,
                std_error: None,
                ci95: [None, None],
                identified: true,
                verdict: String::new(),
                rank: Some(rank),
            })
            .collect();
        RankHistogram::of(estimates.iter())
    }

    /// Even ranks are within the band and called probable, for a number of refits that no bin divides; those of a sample
    /// that is half as wide as it should be are not.
    #[test]
    fn even_ranks_pass_and_a_narrow_sample_does_not() {
        let mut random = Random(3);
        let mut ranks = |width: f64| {
            let ranks = (0..400).map(|_| {
                let truth = random.normal();
                let below = (0..37).filter(|_| width * random.normal() < truth).count();
                (below, 37)
            });
            of(ranks.collect::<Vec<_>>().into_iter()).unwrap()
        };
        let even = ranks(1.0);
        assert!((even.bins.iter().sum::<f64>() - 400.0).abs() < 1e-9);
        let inside = |h: &RankHistogram| {
            let [low, high] = h.band;
            h.bins.iter().filter(|n| (low..=high).contains(n)).count()
        };
        // Chance puts three of ten bins outside in one of a hundred histograms.
        assert!(
            inside(&even) >= 8 && even.probability.unwrap() > 0.01,
            "{even:?}"
        );
        let narrow = ranks(0.5);
        assert!(narrow.bins[0] > narrow.band[1] && narrow.bins[9] > narrow.band[1]);
        assert!(narrow.probability.unwrap() < 1e-6, "{narrow:?}");
    }

    #[test]
    fn a_rank_is_spread_over_its_share() {
        // Ranks 0 to 4 of four refits take two bins each.
        let bins = of([(0, 4), (4, 4), (4, 4)].into_iter()).unwrap();
        let mut expected = [0.0; 10];
        (expected[0], expected[1], expected[8], expected[9]) = (0.5, 0.5, 1.0, 1.0);
        for (bin, wanted) in bins.bins.iter().zip(expected) {
            assert!((bin - wanted).abs() < 1e-12, "{bins:?}");
        }
        assert_eq!(bins.probability, None);
        assert_eq!(of(std::iter::empty()), None);
    }
}
