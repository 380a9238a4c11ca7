//! How far a prediction is from the reference: the metrics of paper 2's supplement (A.1), all means over the
//! frames; lower is better.
//!
//! Energies are those of [`super::Loss::energies`] with the default forms, so stretch and gravity are not the
//! misprinted ones. Strains are compared the short way round, as in the loss: where a fold closes an angle jumps
//! from π to −π, and nothing has moved.

use std::f64::consts::TAU;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{
    BodyMotion, BodyScene, GarmentBatch, GarmentLoss, GarmentMotion, LossConfig, Materials,
};
use crate::{
    error::{Result, bad_input},
    numeric::Compute,
};

/// All metrics of one motion, or means over motions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metrics {
    /// BED \[rad\]: mean |ε − ε̂| of the hinges that are creased the most, see [`most_creased`]; 0 where none is.
    pub bending_distribution: f64,
    /// PE \[rad\]: mean |ε_p − ε̂_p|.
    pub plastic_error: f64,
    /// BE \[rad\]: mean |ε − ε̂| of all hinges.
    pub bending_error: f64,
    /// MED \[m\]: mean distance between a vertex and the same one of the reference.
    pub distance: f64,
    /// CD \[m²\]: mean squared distance to the nearest vertex, from either to the other, added.
    pub chamfer: f64,
    /// BEN \[J\]: mean of k_b·(ε − ε_p)², without the hinge's shape.
    pub bending_energy: f64,
    /// COL \[m\]: mean depth inside the body, over all vertices.
    pub collision: f64,
    /// STE \[J\].
    pub stretch_energy: f64,
    /// SHE \[J\].
    pub shear_energy: f64,
    /// GE \[J\].
    pub gravity_energy: f64,
    /// IE \[J\].
    pub inertia_energy: f64,
}

/// Most that BED looks at, as a share of all hinges.
const CREASED_SHARE: f64 = 0.1;

/// Frames that are computed at once; bounds the memory of long roll-outs.
const BATCH: usize = 32;

impl Metrics {
    /// Short names as in the paper's tables, units, values.
    pub(crate) fn named(&self) -> [(&'static str, &'static str, f64); 11] {
        [
            ("BED", "rad", self.bending_distribution),
            ("PE", "rad", self.plastic_error),
            ("BE", "rad", self.bending_error),
            ("MED", "m", self.distance),
            ("CD", "m²", self.chamfer),
            ("BEN", "J", self.bending_energy),
            ("COL", "m", self.collision),
            ("STE", "J", self.stretch_energy),
            ("SHE", "J", self.shear_energy),
            ("GE", "J", self.gravity_energy),
            ("IE", "J", self.inertia_energy),
        ]
    }

    /// Means over motions; zeros for none.
    pub(crate) fn mean(all: &[Metrics]) -> Metrics {
        let mean = |pick: fn(&Metrics) -> f64| mean(all.iter().map(pick));
        Metrics {
            bending_distribution: mean(|m| m.bending_distribution),
            plastic_error: mean(|m| m.plastic_error),
            bending_error: mean(|m| m.bending_error),
            distance: mean(|m| m.distance),
            chamfer: mean(|m| m.chamfer),
            bending_energy: mean(|m| m.bending_energy),
            collision: mean(|m| m.collision),
            stretch_energy: mean(|m| m.stretch_energy),
            shear_energy: mean(|m| m.shear_energy),
            gravity_energy: mean(|m| m.gravity_energy),
            inertia_energy: mean(|m| m.inertia_energy),
        }
    }
}

/// Compares a prediction with the reference of the same motion. `creased` are the hinges of BED, those of
/// [`most_creased`].
pub(crate) fn compare(
    scene: &BodyScene,
    motion: &BodyMotion,
    predicted: &GarmentMotion,
    reference: &GarmentMotion,
    creased: &[usize],
    materials: Materials,
    compute: &Compute,
) -> Result<Metrics> {
    materials.check_step(motion)?;
    predicted.check("prediction", scene, motion)?;
    reference.check("reference", scene, motion)?;
    let hinges = scene.garment.topology.hinges.len();
    if let Some(hinge) = creased.iter().find(|h| **h >= hinges) {
        return bad_input(format!(
            "creased hinge {hinge} of a garment with {hinges}; give those of references of this garment"
        ));
    }
    let all = 0..hinges;
    let creased = creased.iter().copied();
    let own = energies(scene, motion, predicted, materials, compute)?;
    Ok(Metrics {
        bending_distribution: mean_gap(&predicted.strain, &reference.strain, creased, short_way),
        plastic_error: mean_gap(&predicted.plastic, &reference.plastic, all.clone(), |gap| {
            gap
        }),
        bending_error: mean_gap(&predicted.strain, &reference.strain, all, short_way),
        distance: mean_distance(&predicted.positions, &reference.positions),
        chamfer: chamfer(&predicted.positions, &reference.positions),
        bending_energy: materials.bending * mean_square_gap(&predicted.strain, &predicted.plastic),
        ..own
    })
}

/// The largest |ε_p − ε̂_p| over frames and hinges \[rad\], "Max RB Error" in Table 4 of paper 2's supplement.
pub(crate) fn largest_plastic_error(predicted: &GarmentMotion, reference: &GarmentMotion) -> f64 {
    let rows = predicted.plastic.iter().zip(&reference.plastic);
    largest(rows.flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| a - b)))
}

/// The largest size; unlike that of `f64::max` NaN where there is one: what is no longer finite is not small.
pub(super) fn largest(values: impl Iterator<Item = f64>) -> f64 {
    let sizes = values.map(f64::abs);
    sizes.fold(0.0, |most, x| if x > most || x.is_nan() { x } else { most })
}

/// The hinges with the largest |ε_p| over all frames of some references of one garment, largest first; equal ones in
/// their order. At most a tenth of all, and none without rest bending. One group for a whole evaluation: so all
/// methods and motions are asked about the same hinges.
pub(crate) fn most_creased(references: &[&GarmentMotion]) -> Vec<usize> {
    let rows = || references.iter().flat_map(|track| &track.plastic);
    let hinges = rows().next().map_or(0, Vec::len);
    let mut peaks = vec![0.0_f64; hinges];
    for row in rows() {
        for (peak, bent) in peaks.iter_mut().zip(row) {
            *peak = peak.max(bent.abs());
        }
    }
    let mut order: Vec<usize> = (0..hinges).filter(|h| peaks[*h] > 0.0).collect();
    order.sort_by(|a, b| peaks[*b].total_cmp(&peaks[*a]));
    order.truncate(((CREASED_SHARE * hinges as f64).round() as usize).max(1));
    order
}

/// The angle between −π and π that differs from `x` \[rad\] by whole turns.
pub(super) fn short_way(x: f64) -> f64 {
    x - TAU * (x / TAU).round()
}

/// Mean of some numbers; 0 for none.
pub(super) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

/// Mean |a − b| over frames and the chosen columns, the differences taken by `way`; 0 for no column.
fn mean_gap(
    a: &[Vec<f64>],
    b: &[Vec<f64>],
    chosen: impl Iterator<Item = usize> + Clone,
    way: fn(f64) -> f64,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for (a, b) in a.iter().zip(b) {
        for column in chosen.clone() {
            sum += way(a[column] - b[column]).abs();
            count += 1;
        }
    }
    sum / f64::from(count.max(1))
}

/// Mean (ε − ε_p)².
fn mean_square_gap(strain: &[Vec<f64>], plastic: &[Vec<f64>]) -> f64 {
    let pairs = || strain.iter().flatten().zip(plastic.iter().flatten());
    let sum: f64 = pairs().map(|(a, b)| short_way(a - b).powi(2)).sum();
    sum / pairs().count().max(1) as f64
}

/// Vertex `v` of a frame.
fn point(frame: &[f64], v: usize) -> [f64; 3] {
    let count = frame.len() / 3;
    [frame[v], frame[count + v], frame[2 * count + v]]
}

fn squared(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]) * (a[k] - b[k])).sum()
}

fn mean_distance(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let frame = |(a, b): (&Vec<f64>, &Vec<f64>)| -> f64 {
        let count = a.len() / 3;
        let distance = |v| squared(point(a, v), point(b, v)).sqrt();
        mean((0..count).map(distance))
    };
    mean(a.iter().zip(b).map(frame))
}

fn chamfer(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let frames: Vec<f64> = a
        .par_iter()
        .zip(b)
        .map(|(a, b)| one_way(a, b) + one_way(b, a))
        .collect();
    mean(frames.into_iter())
}

/// Mean squared distance from a vertex of `a` to the nearest of `b`.
fn one_way(a: &[f64], b: &[f64]) -> f64 {
    let others: Vec<[f64; 3]> = (0..b.len() / 3).map(|v| point(b, v)).collect();
    let count = a.len() / 3;
    let nearest = |v: usize| {
        let here = point(a, v);
        others
            .iter()
            .map(|&o| squared(here, o))
            .fold(f64::INFINITY, f64::min)
    };
    mean((0..count).map(nearest))
}

/// COL, STE, SHE, GE and IE of a track; the others are left at zero.
fn energies(
    scene: &BodyScene,
    motion: &BodyMotion,
    track: &GarmentMotion,
    materials: Materials,
    compute: &Compute,
) -> Result<Metrics> {
    let config = LossConfig {
        materials,
        ..LossConfig::default()
    };
    let loss = GarmentLoss::new(config)?;
    let mut sums = Metrics::default();
    let frames = track.frames();
    for first in (0..frames).step_by(BATCH) {
        let window = first..(first + BATCH).min(frames);
        let sheet = GarmentBatch::new(&scene.garment, window.len(), compute);
        let positions = track.stacked(window.clone(), compute);
        let given = track.given(scene, motion, window, compute)?;
        let distance = given.body.distance(&sheet.by_axis(&positions)).value;
        let depth: f64 = compute
            .values(distance)?
            .iter()
            .map(|d| (-d).max(0.0))
            .sum();
        sums.collision += depth / sheet.vertices as f64;
        let terms = loss.energies(&sheet, &positions, &given);
        let add = |sum: &mut f64, energy| -> Result<()> {
            *sum += compute.values(energy)?.iter().sum::<f64>();
            Ok(())
        };
        add(&mut sums.stretch_energy, terms.stretch)?;
        add(&mut sums.shear_energy, terms.shear)?;
        add(&mut sums.gravity_energy, terms.gravity)?;
        add(&mut sums.inertia_energy, terms.inertia)?;
    }
    let count = frames.max(1) as f64;
    Ok(Metrics {
        collision: sums.collision / count,
        stretch_energy: sums.stretch_energy / count,
        shear_energy: sums.shear_energy / count,
        gravity_energy: sums.gravity_energy / count,
        inertia_energy: sums.inertia_energy / count,
        ..sums
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_error_is_that_of_any_hinge_in_any_frame() {
        let track = |plastic: [[f64; 2]; 2]| GarmentMotion {
            plastic: plastic.iter().map(|row| row.to_vec()).collect(),
            ..GarmentMotion::default()
        };
        let (a, b) = (
            track([[0.5, 0.0], [0.0, 0.25]]),
            track([[0.5, 0.0], [0.0, -0.5]]),
        );
        assert_eq!(largest_plastic_error(&a, &b), 0.75);
        assert_eq!(largest_plastic_error(&a, &a), 0.0);
        let diverged = track([[0.5, f64::NAN], [0.0, 0.25]]);
        assert!(largest_plastic_error(&diverged, &a).is_nan());
    }
}
