//! E-Net: from the motion of a body and the rest bending to the shape of the garment (paper 2, section B.1).

use burn::{module::Module, nn::Linear, tensor::Tensor};
use serde::{Deserialize, Serialize};

use super::{
    DYNAMIC, Features, STATIC, Scene,
    network::{Recurrent, Seeds, through},
};
use crate::{
    element::Vector,
    error::{Result, bad_input},
    numeric::{Compute, Random},
};

/// Widths of the layers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElasticSize {
    /// Of the static encoder; the last is that of the dynamic encoder and of its memory too.
    pub encoder: Vec<usize>,
    /// Of the two layers that look at one joint's motion.
    pub joint: usize,
    /// Of the encoder of rest bending.
    pub rest: Vec<usize>,
    /// Of the decoder; the last is the number of pose-space shapes.
    pub decoder: Vec<usize>,
}

impl ElasticSize {
    /// As in the paper; the paper does not say how rest bending is encoded.
    pub fn paper() -> ElasticSize {
        ElasticSize {
            encoder: vec![64, 128, 256, 512],
            joint: 32,
            rest: vec![512, 128],
            decoder: vec![512; 4],
        }
    }

    /// For two cores.
    pub fn small() -> ElasticSize {
        ElasticSize {
            encoder: vec![32, 64],
            joint: 16,
            rest: vec![64],
            decoder: vec![128, 128],
        }
    }

    fn check(&self) -> Result<()> {
        let lists = [
            ("encoder", &self.encoder),
            ("rest", &self.rest),
            ("decoder", &self.decoder),
        ];
        for (name, widths) in lists {
            if widths.is_empty() || widths.contains(&0) {
                return bad_input(format!(
                    "elastic network: {name} is {widths:?}; give at least one positive width"
                ));
            }
        }
        if self.joint == 0 {
            return bad_input("elastic network: joint is 0; give a positive width");
        }
        Ok(())
    }
}

/// The network. Its offsets start small: an untrained garment is nearly as skinned.
#[derive(Module, Debug)]
pub struct ElasticNet {
    standing: Vec<Linear>,
    joint: Vec<Linear>,
    moving: Vec<Linear>,
    memory: Recurrent,
    rest: Vec<Linear>,
    decoder: Vec<Linear>,
    shapes: Linear,
}

/// What the network is told about some motions of equal length.
#[derive(Debug, Clone)]
pub struct ElasticInput {
    /// `[motions, frames, joints·9]`.
    pub standing: Tensor<3>,
    /// `[motions, frames·joints, 12]`.
    pub moving: Tensor<3>,
    /// ε_p \[rad\], `[motions, frames, hinges]`.
    pub plastic: Tensor<3>,
}

impl ElasticInput {
    /// The input of one motion with a rest bending `[frames, hinges]`.
    pub fn new(
        features: &Features,
        joints: usize,
        plastic: Tensor<2>,
        compute: &Compute,
    ) -> ElasticInput {
        let [frames, hinges] = plastic.dims();
        ElasticInput {
            standing: compute.tensor(&features.standing, [1, frames, joints * STATIC]),
            moving: compute.tensor(&features.moving, [1, frames * joints, DYNAMIC]),
            plastic: plastic.reshape([1, frames, hinges]),
        }
    }
}

/// Size of the first offsets relative to what the decoder says \[m\].
const FIRST_OFFSET: f64 = 1e-3;

impl ElasticNet {
    /// A network for a scene, with seeded weights.
    pub fn new(
        scene: &Scene,
        size: &ElasticSize,
        seed: u64,
        compute: &Compute,
    ) -> Result<ElasticNet> {
        size.check()?;
        let joints = scene.body.skeleton.joints().len();
        let vertices = scene.garment.mesh.positions.len();
        let hinges = scene.garment.topology.hinges.len();
        let mut seeds = Seeds {
            compute,
            random: Random::stream(seed, 1),
        };
        let last = |widths: &[usize]| widths.last().copied().unwrap_or(1);
        let latent = last(&size.encoder);
        let fused = latent + last(&size.rest);
        Ok(ElasticNet {
            standing: seeds.stack(joints * STATIC, &size.encoder, true),
            joint: seeds.stack(DYNAMIC, &[size.joint; 2], false),
            moving: seeds.stack(joints * size.joint, &[latent; 2], false),
            memory: Recurrent::new(latent, latent, &mut seeds),
            rest: seeds.stack(hinges, &size.rest, true),
            decoder: seeds.stack(fused, &size.decoder, true),
            shapes: seeds.layer(last(&size.decoder), 3 * vertices, false, FIRST_OFFSET),
        })
    }

    /// Offsets from the sewn shape before skinning \[m\], components `[motions·frames, vertices]`: what
    /// [`super::Skinned::offset`] takes.
    pub fn forward(&self, input: &ElasticInput) -> Vector {
        let [motions, frames, _] = input.standing.dims();
        let standing = through(&self.standing, input.standing.clone());
        let moving = through(&self.joint, input.moving.clone());
        let [_, rows, width] = moving.dims();
        let moving = moving.reshape([motions, frames, rows / frames * width]);
        let moving = self.memory.forward(through(&self.moving, moving));
        let rest = through(&self.rest, input.plastic.clone());
        let fused = Tensor::cat(vec![standing + moving, rest], 2);
        let offsets = self.shapes.forward(through(&self.decoder, fused));
        let [_, _, all] = offsets.dims();
        let offsets: Tensor<2> = offsets.reshape([motions * frames, all]);
        let part = |axis: usize| offsets.clone().narrow(1, axis * all / 3, all / 3);
        Vector {
            x: part(0),
            y: part(1),
            z: part(2),
        }
    }
}
