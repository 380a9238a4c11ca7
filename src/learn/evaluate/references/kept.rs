//! Simulations as files, whole ones and the first parts of long ones.

use std::path::{Path, PathBuf};

use super::Reference;
use crate::{
    error::{Result, bad_input},
    learn::{
        BodyMotion, BodyScene, GarmentMotion,
        files::{Array, Npz},
        reference::{PART, ReferenceRun},
    },
};

/// A whole simulation, checked.
pub(super) fn read(path: &Path, scene: &BodyScene, motion: &BodyMotion) -> Result<Reference> {
    let (outcome, seconds) = load(path)?;
    let place = path.display().to_string();
    outcome.track.check(&place, scene, motion)?;
    Ok(Reference {
        track: outcome.track,
        seconds,
        unfinished: outcome.unfinished,
        made_now: false,
    })
}

/// Writes a simulation, or the first parts of one, and the seconds that it took.
pub(super) fn save(path: &Path, outcome: &ReferenceRun, seconds: f64) -> Result<()> {
    let list = |values: Vec<f64>| Array {
        shape: vec![values.len()],
        values,
    };
    let steps = outcome.iterations.iter().map(|n| *n as f64).collect();
    let further = [
        ("seconds", list(vec![seconds])),
        ("unfinished_frames", list(vec![outcome.unfinished as f64])),
        ("newton_steps", list(steps)),
    ];
    outcome.track.save(path, &further)
}

/// Where the first parts of a simulation are kept.
pub(super) fn part_of(path: &Path) -> PathBuf {
    path.with_extension("part.npz")
}

/// The first parts of a simulation, checked, and the seconds that they took.
pub(super) fn read_part(
    path: &Path,
    scene: &BodyScene,
    motion: &BodyMotion,
) -> Result<(ReferenceRun, f64)> {
    let (outcome, seconds) = load(path)?;
    let frames = outcome.track.frames();
    let place = path.display().to_string();
    if !frames.is_multiple_of(PART) || frames >= motion.frames() {
        return bad_input(format!(
            "{place}: {frames} frames are no part of motion {}",
            motion.name
        ));
    }
    let begun = BodyMotion {
        turns: motion.turns[..frames].to_vec(),
        root: motion.root[..frames].to_vec(),
        ..motion.clone()
    };
    outcome.track.check(&place, scene, &begun)?;
    Ok((outcome, seconds))
}

/// What [`save`] wrote.
pub(super) fn load(path: &Path) -> Result<(ReferenceRun, f64)> {
    let npz = Npz::open(path)?;
    let steps = npz.shaped("newton_steps", &[None])?.values;
    let outcome = ReferenceRun {
        track: GarmentMotion::read(&npz)?,
        iterations: steps.into_iter().map(|n| n as usize).collect(),
        unfinished: npz.shaped("unfinished_frames", &[Some(1)])?.values[0] as usize,
    };
    Ok((outcome, npz.shaped("seconds", &[Some(1)])?.values[0]))
}
