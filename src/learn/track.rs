//! A motion of a garment as plain data, and batches of its frames as tensors.

use std::{ops::Range, path::Path};

use super::{
    BodyMotion, BodyScene, Given,
    files::{Array, Npz, Pieces},
};
use crate::{
    error::{Result, bad_input},
    numeric::{Compute, Field},
};

/// A motion of a garment: what a simulation or a network says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct GarmentMotion {
    /// x \[m\], shape `[frames][3·vertices]`: all x, then y, then z.
    pub positions: Vec<Vec<f64>>,
    /// ε \[rad\], shape `[frames][hinges]`.
    pub strain: Vec<Vec<f64>>,
    /// Rest bending that the frame was bent against, ε_p \[rad\], shape `[frames][hinges]`.
    pub plastic: Vec<Vec<f64>>,
}

impl GarmentMotion {
    /// Number of frames.
    pub(crate) fn frames(&self) -> usize {
        self.positions.len()
    }

    /// Refuses a track that is not one of this scene and motion; `name` stands in the message.
    pub(crate) fn check(&self, name: &str, scene: &BodyScene, motion: &BodyMotion) -> Result<()> {
        let frames = motion.frames();
        let (vertices, hinges) = (
            scene.garment.mesh.positions.len(),
            scene.garment.topology.hinges.len(),
        );
        let lists = [
            ("positions", &self.positions, 3 * vertices),
            ("strains", &self.strain, hinges),
            ("rest bendings", &self.plastic, hinges),
        ];
        for (what, list, length) in lists {
            if list.len() != frames {
                return bad_input(format!(
                    "{name}: {} frames of {what} for the {frames} frames of motion {}",
                    list.len(),
                    motion.name
                ));
            }
            if let Some(frame) = list.iter().position(|row| row.len() != length) {
                return bad_input(format!(
                    "{name}: frame {frame} has {} numbers of {what}, but garment {} needs {length}",
                    list[frame].len(),
                    scene.garment.name
                ));
            }
            let bad = |row: &Vec<f64>| row.iter().any(|x| !x.is_finite());
            if let Some(frame) = list.iter().position(bad) {
                return bad_input(format!(
                    "{name}: frame {frame} has {what} that are not finite; the run before it diverged"
                ));
            }
        }
        Ok(())
    }

    /// Positions of a frame, vertex by vertex \[m\].
    pub(crate) fn points(&self, frame: usize) -> Vec<[f64; 3]> {
        let row = &self.positions[frame];
        let count = row.len() / 3;
        (0..count)
            .map(|v| [row[v], row[count + v], row[2 * count + v]])
            .collect()
    }

    /// Writes an `.npz` file: `positions` \[m\] `[frames, 3, vertices]`, `strain` and `rest_bending` \[rad\]
    /// `[frames, hinges]`, and what else there is to say in numbers. Refuses more than can be read again.
    pub(crate) fn save(&self, path: &Path, further: &[(&str, Array)]) -> Result<()> {
        let frames = self.frames();
        let width = |rows: &[Vec<f64>]| rows.first().map_or(0, Vec::len);
        let hinges = width(&self.strain);
        let positions = [frames, 3, width(&self.positions) / 3];
        let mut arrays = vec![
            ("positions", pieces(&self.positions, &positions)),
            ("strain", pieces(&self.strain, &[frames, hinges])),
            ("rest_bending", pieces(&self.plastic, &[frames, hinges])),
        ];
        arrays.extend(further.iter().map(|(key, array)| (*key, array.pieces())));
        Npz::write_pieces(path, &arrays)
    }

    /// Reads what [`GarmentMotion::save`] wrote.
    pub(crate) fn read(npz: &Npz) -> Result<GarmentMotion> {
        let rows = |array: Array| -> Vec<Vec<f64>> {
            let width = array.values.len() / array.shape[0].max(1);
            let rows = array.values.chunks(width.max(1));
            rows.map(<[f64]>::to_vec).collect()
        };
        let any = [None, None];
        Ok(GarmentMotion {
            positions: rows(npz.shaped("positions", &[None, Some(3), None])?),
            strain: rows(npz.shaped("strain", &any)?),
            plastic: rows(npz.shaped("rest_bending", &any)?),
        })
    }

    /// Positions of some frames side by side, `[3, frames·vertices]`.
    pub(crate) fn stacked(
        &self,
        frames: impl Iterator<Item = usize> + Clone,
        compute: &Compute,
    ) -> Field {
        let mut rows = Vec::new();
        for axis in 0..3 {
            for frame in frames.clone() {
                let row = &self.positions[frame];
                let count = row.len() / 3;
                rows.extend_from_slice(&row[axis * count..(axis + 1) * count]);
            }
        }
        let columns = rows.len() / 3;
        compute.tensor(&rows, [3, columns])
    }

    /// What the frames of a window are judged against when the track itself is their past.
    pub(crate) fn given(
        &self,
        scene: &BodyScene,
        motion: &BodyMotion,
        window: Range<usize>,
        compute: &Compute,
    ) -> Result<Given> {
        let poses = scene.poses(motion, window.clone())?;
        let earlier = |by: usize| window.clone().map(move |frame| frame.saturating_sub(by));
        let moving: Vec<f64> = window
            .clone()
            .map(|frame| if frame < 2 { 0.0 } else { 1.0 })
            .collect();
        let plastic: Vec<f64> = self.plastic[window.clone()].concat();
        let hinges = plastic.len() / window.len().max(1);
        Ok(Given {
            previous: self.stacked(earlier(1), compute),
            before: self.stacked(earlier(2), compute),
            moving: compute.tensor(&moving, [window.len(), 1]),
            plastic: compute.tensor(&plastic, [window.len(), hinges]),
            anchors: scene.skinned(&poses, compute).plain(),
            body: scene.posed(&poses, compute),
        })
    }
}

/// Frames as one array, without a copy of them: that of a long reference takes half a gigabyte.
fn pieces<'a>(rows: &'a [Vec<f64>], shape: &[usize]) -> Pieces<'a> {
    Pieces {
        shape: shape.to_vec(),
        values: rows.iter().map(Vec::as_slice).collect(),
    }
}
