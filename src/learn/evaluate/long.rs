//! Long roll-outs: does rest bending drift?
//!
//! The same bend again and again, both networks on their own. After every bend the body is in the same pose, so a method
//! that does not drift comes to the same rest bending and the same shape; and where a reference of as many frames has been
//! simulated, which takes many minutes, there is an error too. Paper 2 (section 5, Fig. 8b) reports of ten long motions that
//! the mean error of the worst fifth stays near 0.05 for the first 700 frames and near 0.1 up to about 2500, and that drift
//! appears at about 3000.

use serde::{Deserialize, Serialize};

use super::frames::{mean_size, top};
use crate::{
    error::{Result, bad_input},
    learn::{
        Bend, Body, Motion, Track,
        curriculum::{Curriculum, Students},
        lesson::Lesson,
    },
    numeric::Compute,
};

/// Paper 2's figure: its drift appears where the mean error of the worst fifth leaves this \[rad\].
pub const DRIFT: f64 = 0.1;

/// A change of more than this share of what the first bend left is no small one, whatever its size: a P-Net that
/// forgets all of it changes by less than [`DRIFT`] where it had little.
pub const FORGOTTEN: f64 = 0.5;

/// Most frames of a roll-out. All are kept, with how the garment goes with the body: about 70 kB a frame of the default
/// garment, 0.7 GB together.
const MOST_FRAMES: usize = 10_000;

/// The garment after some bends, the body straight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LongRow {
    /// From 0.
    pub frame: usize,
    /// Bends before it.
    pub bends: usize,
    /// Mean |ε_p| \[rad\].
    pub rest_bending: f64,
    /// Mean of the fifth with the largest |ε_p| \[rad\].
    pub rest_bending_top_fifth: f64,
    /// Largest |ε_p| \[rad\].
    pub largest_rest_bending: f64,
    /// The furthest that a vertex is from where skinning alone puts it \[m\].
    pub largest_offset: f64,
    /// Mean |ε_p − ε_p after the first bend| \[rad\]; nothing before that.
    pub change: Option<f64>,
    /// The same of the fifth where it is largest.
    pub change_top_fifth: Option<f64>,
    /// Mean |ε_p| of the reference \[rad\]; nothing where it was not simulated for so long.
    #[serde(default)]
    pub reference: Option<f64>,
    /// Mean |ε_p − that of the reference| \[rad\].
    #[serde(default)]
    pub error: Option<f64>,
    /// The same of the fifth where it is largest, paper 2's measure.
    #[serde(default)]
    pub error_top_fifth: Option<f64>,
}

/// The largest change since the first bend, over all bends after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LargestChange {
    /// Mean of the fifth of the hinges where it is largest \[rad\].
    pub top_fifth: f64,
    /// When.
    pub frame: usize,
    /// As a share of the largest fifth of |ε_p| after the first bend; nothing where that bend left none.
    pub share: Option<f64>,
}

impl LargestChange {
    /// Of the rows of a roll-out; nothing where they end before a second bend.
    pub fn of(rows: &[LongRow]) -> Option<LargestChange> {
        let first = rows.iter().find(|row| row.bends == 1)?;
        let later = rows.iter().filter(|row| row.bends > 1);
        let changes = later.filter_map(|row| Some((row.frame, row.change_top_fifth?)));
        let (frame, top_fifth) = changes.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let bent = first.rest_bending_top_fifth;
        Some(LargestChange {
            top_fifth,
            frame,
            share: (bent > 0.0).then(|| top_fifth / bent),
        })
    }
}

/// The last frame of rest before each bend.
fn looked_at(frames: usize) -> impl Iterator<Item = usize> {
    let bend = Bend::canonical();
    (bend.rest..frames).step_by(bend.frames())
}

/// Whether rows end before the frames that were asked for: something was no longer finite.
pub fn is_cut_off(rows: &[LongRow], frames: usize) -> bool {
    rows.len() < looked_at(frames).count()
}

/// Refuses a number of frames that shows no drift, or too many for the memory.
pub fn check_frames(frames: usize) -> Result<()> {
    let bend = Bend::canonical();
    let least = bend.frames() + bend.rest + 1;
    if !(least..=MOST_FRAMES).contains(&frames) {
        return bad_input(format!(
            "--frames is {frames}; give {least}, which is one bend, to {MOST_FRAMES}"
        ));
    }
    Ok(())
}

/// So many frames of bends, which [`check_frames`] has seen.
pub fn long_motion(body: &Body, frames: usize) -> Motion {
    let bend = Bend::canonical();
    let bends = vec![bend; frames.div_ceil(bend.frames())];
    Motion::bends("90° again and again", body, &bends, frames)
}

/// Rolls out a [`long_motion`], and compares with its reference where there is one; rows end where something is no longer
/// finite.
pub fn long_roll_out(
    course: &Curriculum,
    students: &Students,
    motion: Motion,
    reference: Option<&Track>,
    compute: &Compute,
) -> Result<Vec<LongRow>> {
    let scene = &course.scene;
    let frames = motion.frames();
    let lesson = Lesson::new(scene, motion, compute)?;
    let predicted = course.predict(students, &lesson)?;
    let mut rows: Vec<LongRow> = Vec::new();
    let mut first = None;
    for (bends, frame) in looked_at(frames).enumerate() {
        let bent = compute.values(predicted.rest_bending.clone().narrow(0, frame, 1))?;
        let skinned = scene.skinned(&lesson.poses[frame..=frame], compute);
        let offsets = predicted.positions[frame].clone() - skinned.plain();
        let squared = compute.values(offsets.powi_scalar(2).sum_dim(0))?;
        if bent.iter().chain(&squared).any(|x| !x.is_finite()) {
            break;
        }
        if bends == 1 {
            first = Some(bent.clone());
        }
        let gaps =
            |from: &Vec<f64>| -> Vec<f64> { from.iter().zip(&bent).map(|(a, b)| a - b).collect() };
        let changes = first.as_ref().map(gaps);
        let simulated = reference.map(|track| &track.plastic[frame]);
        let errors = simulated.map(gaps);
        rows.push(LongRow {
            frame,
            bends,
            rest_bending: mean_size(&bent),
            rest_bending_top_fifth: top(&bent, 0.2),
            largest_rest_bending: bent.iter().fold(0.0, |m: f64, x| m.max(x.abs())),
            largest_offset: squared.iter().copied().fold(0.0, f64::max).sqrt(),
            change: changes.as_ref().map(|gaps| mean_size(gaps)),
            change_top_fifth: changes.as_ref().map(|gaps| top(gaps, 0.2)),
            reference: simulated.map(|row| mean_size(row)),
            error: errors.as_ref().map(|gaps| mean_size(gaps)),
            error_top_fifth: errors.as_ref().map(|gaps| top(gaps, 0.2)),
        });
    }
    Ok(rows)
}

#[cfg(test)]
impl LongRow {
    /// A row with rest bending and its change, largest fifths.
    pub(crate) fn made_up(bends: usize, bent: f64, change: Option<f64>) -> LongRow {
        LongRow {
            frame: 8 + 68 * bends,
            bends,
            rest_bending: bent / 5.0,
            rest_bending_top_fifth: bent,
            largest_rest_bending: bent,
            largest_offset: 0.01,
            change: change.map(|c| c / 5.0),
            change_top_fifth: change,
            reference: None,
            error: None,
            error_top_fifth: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bends: usize, bent: f64, change: Option<f64>) -> LongRow {
        LongRow::made_up(bends, bent, change)
    }

    #[test]
    fn the_largest_change_counts_not_the_last() {
        let rows = [
            row(0, 0.0, None),
            row(1, 0.05, Some(0.0)),
            row(2, 0.0, Some(0.05)),
            row(3, 0.05, Some(0.01)),
        ];
        let found = LargestChange::of(&rows).unwrap();
        assert_eq!((found.top_fifth, found.frame), (0.05, 144));
        // All was forgotten for a while, though that is less than paper 2's drift.
        assert_eq!(found.share, Some(1.0));
        assert!(found.top_fifth < DRIFT && found.share > Some(FORGOTTEN));
        assert_eq!(LargestChange::of(&rows[..2]), None, "one bend");
        let unbent = [
            row(0, 0.0, None),
            row(1, 0.0, Some(0.0)),
            row(2, 0.0, Some(0.0)),
        ];
        let none = LargestChange::of(&unbent).unwrap();
        assert_eq!((none.top_fifth, none.share), (0.0, None));
    }

    #[test]
    fn rows_that_are_missing_are_noticed() {
        let rows = [row(0, 0.0, None), row(1, 0.1, Some(0.0))];
        assert!(!is_cut_off(&rows, 77) && !is_cut_off(&rows, 144));
        assert!(is_cut_off(&rows, 145) && is_cut_off(&[], 77));
        assert!(check_frames(77).is_ok() && check_frames(10_001).is_err());
    }
}
