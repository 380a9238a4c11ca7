//! What is measured frame by frame.

use serde::{Deserialize, Serialize};

use crate::learn::{
    BodyMotion, GarmentMotion, Phases,
    metrics::{mean, short_way},
};

/// One frame of one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct FrameRow {
    /// Name of the motion.
    pub motion: String,
    /// Name of the method.
    pub method: String,
    /// From 0.
    pub frame: usize,
    /// Mean |ε_p − ε̂_p| against the reference \[rad\].
    pub plastic_error: f64,
    /// The same of the fifth of the hinges with the largest error in that frame \[rad\]; with those below paper 2's Fig. 8b.
    pub plastic_error_top_fifth: f64,
    /// Of the fifth with the next largest errors \[rad\].
    pub plastic_error_second_fifth: f64,
    /// Of the fifth after that \[rad\].
    pub plastic_error_third_fifth: f64,
    /// Of the fifth after that \[rad\].
    pub plastic_error_fourth_fifth: f64,
    /// Of the fifth with the smallest errors \[rad\].
    pub plastic_error_lowest_fifth: f64,
    /// Mean |ε − ε̂|, the short way round \[rad\].
    pub bending_error: f64,
    /// Mean |ε_p| \[rad\].
    pub rest_bending: f64,
    /// Mean of the tenth of the hinges with the largest |ε| \[rad\].
    pub top_tenth_strain: f64,
}

/// All frames of a track against the reference of the same motion.
pub(crate) fn frame_rows(
    motion: &str,
    method: &str,
    track: &GarmentMotion,
    reference: &GarmentMotion,
) -> Vec<FrameRow> {
    let row = |frame: usize| {
        let gap = |a: &[Vec<f64>], b: &[Vec<f64>]| -> Vec<f64> {
            a[frame].iter().zip(&b[frame]).map(|(a, b)| a - b).collect()
        };
        let plastic = gap(&track.plastic, &reference.plastic);
        let strain = gap(&track.strain, &reference.strain);
        let strain: Vec<f64> = strain.into_iter().map(short_way).collect();
        let [top_fifth, second, third, fourth, lowest] = fifths(&plastic);
        FrameRow {
            motion: motion.into(),
            method: method.into(),
            frame,
            plastic_error: mean_size(&plastic),
            plastic_error_top_fifth: top_fifth,
            plastic_error_second_fifth: second,
            plastic_error_third_fifth: third,
            plastic_error_fourth_fifth: fourth,
            plastic_error_lowest_fifth: lowest,
            bending_error: mean_size(&strain),
            rest_bending: mean_size(&track.plastic[frame]),
            top_tenth_strain: top(&track.strain[frame], 0.1),
        }
    };
    (0..track.frames()).map(row).collect()
}

/// Frames before, during and after a bend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BendFrames {
    /// The last before anything moves.
    pub before: usize,
    /// In the middle of the frames that are bent the furthest.
    pub during: usize,
    /// The last one, where the body is back at its first pose then.
    pub after: Option<usize>,
}

impl BendFrames {
    /// Of a motion; none where nothing moves.
    pub(crate) fn of(motion: &BodyMotion) -> Option<BendFrames> {
        let Phases { begin, peak, end } = motion.phases()?;
        Some(BendFrames {
            before: begin,
            during: (peak.start + peak.end) / 2,
            after: end.map(|_| motion.frames() - 1),
        })
    }
}

/// Mean |x|.
pub(crate) fn mean_size(values: &[f64]) -> f64 {
    mean(values.iter().map(|x| x.abs()))
}

/// |x|, the largest first.
fn sorted_sizes(values: &[f64]) -> Vec<f64> {
    let mut sizes: Vec<f64> = values.iter().map(|x| x.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    sizes
}

/// Mean of a share of the values, those with the largest size.
pub(crate) fn top(values: &[f64], share: f64) -> f64 {
    let mut sizes = sorted_sizes(values);
    sizes.truncate(((share * sizes.len() as f64) as usize).max(1));
    mean_size(&sizes)
}

/// Mean |x| of each fifth of the values, that with the largest first. Of fewer than five values each has one.
fn fifths(values: &[f64]) -> [f64; 5] {
    let sizes = sorted_sizes(values);
    let count = sizes.len();
    std::array::from_fn(|k| {
        let start = k * count / 5;
        let end = ((k + 1) * count / 5).max(start + 1).min(count);
        mean_size(&sizes[start..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Body;

    #[test]
    fn the_canonical_bend_is_looked_at_straight_bent_and_straight_again() {
        let body = Body::arm();
        let moments = BendFrames::of(&BodyMotion::canonical(&body)).unwrap();
        assert_eq!(
            (moments.before, moments.during, moments.after),
            (8, 38, Some(94))
        );
        assert_eq!(BendFrames::of(&BodyMotion::still(&body, 9)), None);
    }

    #[test]
    fn strains_are_compared_the_short_way_round_and_rest_bending_is_not() {
        let track = |angle: f64| GarmentMotion {
            positions: vec![vec![0.0; 3]],
            strain: vec![vec![angle]],
            plastic: vec![vec![angle]],
        };
        let row = &frame_rows("m", "a", &track(3.1), &track(-3.1))[0];
        let short = std::f64::consts::TAU - 6.2;
        assert!((row.bending_error - short).abs() < 1e-15, "{row:?}");
        assert_eq!((row.plastic_error, row.plastic_error_top_fifth), (6.2, 6.2));
    }

    #[test]
    fn the_top_share_is_that_of_sizes() {
        let values = [0.0, -4.0, 1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(top(&values, 0.2), 3.0);
        assert_eq!(top(&values, 0.01), 4.0);
        assert_eq!(mean_size(&values), 0.7);
    }

    #[test]
    fn fifths_are_of_ranked_sizes_and_the_first_is_the_top_one() {
        let values = [0.5, -4.0, 1.0, 0.0, 2.0, -1.0, 3.0, 0.0, 0.0, 0.5];
        assert_eq!(fifths(&values), [3.5, 1.5, 0.75, 0.25, 0.0]);
        // Twelve are 2, 2, 3, 2 and 3.
        let uneven: Vec<f64> = (1..=12).map(f64::from).collect();
        assert_eq!(fifths(&uneven), [11.5, 9.5, 7.0, 4.5, 2.0]);
        assert_eq!(fifths(&uneven)[0], top(&uneven, 0.2));
        assert_eq!(fifths(&[2.0, 0.0]), [2.0, 2.0, 2.0, 0.0, 0.0]);
        assert_eq!(fifths(&[]), [0.0; 5]);
    }
}
