//! Motions as E-Net, or both networks, predict them.

use burn::module::Module;

use super::{Curriculum, Students, plastic::angle};
use crate::{
    error::Result,
    learn::{
        BodyMotion, GarmentMotion, LearnCase, RestBending, Split,
        lesson::{Lesson, dressed},
        network::{ElasticNet, Memory},
    },
    numeric::{Compute, Field},
};

/// Motions of the validation that are looked at, from two of its three cells of peaks.
const VALIDATED: u64 = 2;

/// A motion as predicted.
#[derive(Debug, Clone)]
pub(crate) struct Predicted {
    /// \[m\], `[3, vertices]` a frame.
    pub positions: Vec<Field>,
    /// ε \[rad\], `[frames, hinges]`.
    pub strain: Field,
    /// What each frame is bent against \[rad\], `[frames, hinges]`.
    pub rest_bending: Field,
}

impl Predicted {
    /// As numbers.
    pub(crate) fn track(&self, compute: &Compute) -> Result<GarmentMotion> {
        let rows = |field: &Field| -> Result<Vec<Vec<f64>>> {
            let width = field.dims()[1];
            let values = compute.values(field.clone())?;
            Ok(values.chunks_exact(width).map(<[f64]>::to_vec).collect())
        };
        let positions = self.positions.iter();
        Ok(GarmentMotion {
            positions: positions
                .map(|p| compute.values(p.clone()))
                .collect::<Result<_>>()?,
            strain: rows(&self.strain)?,
            plastic: rows(&self.rest_bending)?,
        })
    }
}

impl Curriculum {
    /// What E-Net makes of a motion with the rest bending of the lesson.
    pub(crate) fn see(&self, elastic: &ElasticNet, lesson: &Lesson) -> Predicted {
        let bending = lesson.rest_bending.clone();
        self.roll_out(elastic, lesson, |frame, _, _| {
            bending.clone().narrow(0, frame, 1)
        })
    }

    /// What both networks make of a motion, frame by frame: nothing is known but the body.
    pub(crate) fn predict(&self, students: &Students, lesson: &Lesson) -> Result<Predicted> {
        let none = self.compute.zeros([1, self.sheet.hinges]);
        if self.case.rest_bending == RestBending::None {
            return Ok(self.roll_out(&students.elastic, lesson, |_, _, _| none.clone()));
        }
        let plastic = students.plastic.valid();
        let mut failed = None;
        let mut memory = Memory::default();
        let (mut bent, mut last) = ([none.clone(), none.clone()], None);
        let predicted = self.roll_out(&students.elastic, lesson, |_, strain, positions| {
            let (Some(strain), Some(positions)) = (strain, positions) else {
                return none.clone();
            };
            // Before the first frame there is only the first frame, as in training.
            let before = last.replace(strain.clone());
            let strains = [before.unwrap_or_else(|| strain.clone()), strain.clone()];
            match self.increment(
                &plastic,
                &bent,
                &strains,
                positions,
                std::mem::take(&mut memory),
            ) {
                Ok((increment, next)) => {
                    memory = next;
                    bent = [bent[1].clone(), angle(bent[1].clone() + increment)];
                }
                Err(error) => failed = Some(error),
            }
            bent[1].clone()
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(predicted),
        }
    }

    /// How good the networks are on motions of the validation, as far as is known without a simulation: mean distance of the
    /// rest bending that they roll out from what the plastic rule makes of the same strain \[rad\], and that of E-Net from where
    /// the minimiser leads \[m\].
    pub(crate) fn validate(&self, students: &Students) -> Result<[f64; 2]> {
        let LearnCase { seed, frames, .. } = self.case;
        let mut sums = [0.0; 2];
        for number in 0..VALIDATED {
            let body = &self.scene.body;
            let motion = BodyMotion::draw(body, Split::Validation, seed, number, frames);
            let mut lesson = Lesson::new(&self.scene, motion, &self.compute)?;
            let predicted = self.predict(students, &lesson)?;
            let gap = match self.case.rest_bending {
                RestBending::Learned => {
                    self.target(&predicted.strain) - predicted.rest_bending.clone()
                }
                RestBending::None => predicted.rest_bending.zeros_like(),
            };
            lesson.rest_bending = predicted.rest_bending;
            let gap = gap.abs().mean().unsqueeze::<1>();
            sums[0] += self.compute.values(gap)?[0];
            sums[1] += self.away(&students.elastic, &[&lesson])?;
        }
        Ok(sums.map(|sum| sum / VALIDATED as f64))
    }

    /// E-Net frame by frame. `bending` is asked for the rest bending of a frame, given strain and positions of the
    /// frame before.
    fn roll_out(
        &self,
        elastic: &ElasticNet,
        lesson: &Lesson,
        mut bending: impl FnMut(usize, Option<&Field>, Option<&Field>) -> Field,
    ) -> Predicted {
        let elastic = elastic.valid();
        let codes = elastic.encode(&lesson.pose);
        let [_, frames, width] = codes.dims();
        let codes = codes.reshape([frames, width]);
        let (mut all_positions, mut strains, mut bendings) = (Vec::new(), Vec::new(), Vec::new());
        for frame in 0..frames {
            let bent = bending(frame, strains.last(), all_positions.last());
            let offsets = elastic.decode(codes.clone().narrow(0, frame, 1), bent.clone());
            let skinned = lesson.skinned.frame(frame);
            let positions = dressed(&skinned, &self.sheet.free, &offsets);
            strains.push(self.sheet.strain(&positions));
            all_positions.push(positions);
            bendings.push(bent);
        }
        Predicted {
            positions: all_positions,
            strain: Field::cat(strains, 0),
            rest_bending: Field::cat(bendings, 0),
        }
    }
}
