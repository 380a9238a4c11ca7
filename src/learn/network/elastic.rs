//! E-Net: from a motion and a rest bending to the garment.

use burn::{
    module::Module,
    nn::{
        Linear, LinearConfig,
        gru::{Gru, GruConfig},
    },
    tensor::{Device, Tensor},
};

use nalgebra::DMatrix;

use super::{Layers, Size};
use crate::{
    error::Result,
    learn::{DYNAMIC, Features, STATIC},
    numeric::Compute,
};

/// Share of the mean square that is added to the squares of the shares: far above rounding in single precision, and
/// shapes that hardly occur stay small. With 1e-4 frames that were not asked for were spoiled.
const RIDGE: f64 = 2e-3;
/// Factor of the encoded rest bending. It is small, because in the first cycle there is no rest bending, and the output
/// of an encoder for input that it has never seen is noise.
const FAINT: f64 = 0.1;
/// Offsets are of this size \[m\] where the last layer's output is of size one.
const OFFSET: f64 = 0.01;

/// A batch of motions as a network sees them.
#[derive(Debug, Clone)]
pub(crate) struct PoseBatch {
    /// `[motions, frames, joints·STATIC]`.
    pub still: Tensor<3>,
    /// `[motions·frames, joints, DYNAMIC]`.
    pub moving: Tensor<3>,
}

/// Accelerations are told in units of this \[m/s²\].
const ACCELERATION: f64 = 9.81;

impl PoseBatch {
    /// One motion of a body of `joints`.
    pub(crate) fn new(features: &Features, joints: usize, compute: &Compute) -> PoseBatch {
        let frames = features.standing.len() / (joints * STATIC);
        let scaled = features.moving.iter().enumerate();
        let moving: Vec<f64> = scaled
            .map(|(k, x)| {
                if k % DYNAMIC < STATIC {
                    *x
                } else {
                    x / ACCELERATION
                }
            })
            .collect();
        PoseBatch {
            still: compute.tensor(&features.standing, [1, frames, joints * STATIC]),
            moving: compute.tensor(&moving, [frames, joints, DYNAMIC]),
        }
    }
}

/// The elastic network: static and dynamic encoder, their sum beside the encoded rest bending, decoder, and a
/// linear layer to the offsets of all vertices. That layer is not for an optimiser: [`ElasticNet::complete`] finds it.
#[derive(Module, Debug)]
pub(crate) struct ElasticNet {
    still: Layers,
    joint: Layers,
    motion: Layers,
    memory: Gru,
    rest_bending: Linear,
    decoder: Layers,
    /// The pose-space shapes: offsets of all vertices.
    shapes: Linear,
}

impl ElasticNet {
    /// A network for a body of `joints` and a garment of `hinges` and `vertices`. Its parameters are burn's;
    /// see [`super::seeded`].
    pub(crate) fn new(
        size: Size,
        (joints, hinges, vertices): (usize, usize, usize),
        device: &Device,
    ) -> ElasticNet {
        let width = |layers: &[usize]| layers.last().copied().unwrap_or(1);
        let (motion, bent) = (width(size.motion()), size.rest_bending());
        let static_inputs = joints * STATIC;
        let mut still_widths = size.pose().to_vec();
        // The sum with the dynamic encoder.
        still_widths.push(motion);
        ElasticNet {
            still: Layers::bent(static_inputs, &still_widths, true, device),
            joint: Layers::bent(DYNAMIC, size.joint(), false, device),
            motion: Layers::bent(joints * width(size.joint()), size.motion(), false, device),
            memory: GruConfig::new(motion, motion, true).init(device),
            rest_bending: LinearConfig::new(hinges, bent)
                .with_bias(false)
                .init(device),
            decoder: Layers::bent(motion + bent, size.decoder(), true, device),
            shapes: LinearConfig::new(width(size.decoder()), 3 * vertices)
                .init(device)
                .no_grad(),
        }
    }

    /// What the decoder needs to know of motions that begin at rest, `[motions, frames, n]`. It depends on the
    /// body alone, so that a roll-out makes it once and decodes frame by frame.
    pub(crate) fn encode(&self, pose: &PoseBatch) -> Tensor<3> {
        let [motions, frames, _] = pose.still.dims();
        let joints = self.joint.forward(pose.moving.clone());
        let [_, count, width] = joints.dims();
        let joined = joints.reshape([motions, frames, count * width]);
        let motion = self.memory.forward(self.motion.forward(joined), None);
        self.still.forward(pose.still.clone()) + motion
    }

    /// Offsets from the garment as sewn \[m\], `[frames, 3·vertices]` (x of all vertices, then y and z), of frames
    /// encoded as `[frames, n]` with a rest bending (rad) `[frames, hinges]`.
    pub(crate) fn decode(&self, body: Tensor<2>, rest_bending: Tensor<2>) -> Tensor<2> {
        self.offsets(self.shares(body, rest_bending))
    }

    /// Offsets of [`ElasticNet::shares`].
    pub(crate) fn offsets(&self, shares: Tensor<2>) -> Tensor<2> {
        self.shapes.forward(shares) * OFFSET
    }

    /// How much of each pose-space shape there is, `[frames, n]`.
    pub(crate) fn shares(&self, body: Tensor<2>, rest_bending: Tensor<2>) -> Tensor<2> {
        let bent = self.rest_bending.forward(rest_bending) * FAINT;
        self.decoder.forward(Tensor::cat(vec![body, bent], 1))
    }

    /// The same with pose-space shapes that an optimiser moves too.
    pub(crate) fn with_shapes_taped(mut self) -> ElasticNet {
        self.shapes.weight = self.shapes.weight.set_require_grad(true);
        self.shapes.bias = self.shapes.bias.map(|b| b.set_require_grad(true));
        self
    }

    /// Half the squared error of the offsets, in units of the offset scale, as a quadratic form of the shares: its
    /// second derivative, `[n, n]`, and the negative of its gradient, `[frames, n]`. `missing` \[m\] are the target
    /// offsets less the present ones, `[frames, 3·vertices]`. `free` is 1 for vertices that move, `[1, vertices]`.
    pub(crate) fn pull(&self, missing: Tensor<2>, free: &Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let shapes = self.shapes.weight.val() * free.clone().repeat_dim(1, 3);
        let turned = shapes.clone().transpose();
        let pull = (missing * (1.0 / OFFSET)).matmul(turned.clone());
        (shapes.matmul(turned), pull)
    }

    /// Changes the pose-space shapes so that their `shares` give the offsets that are `missing` \[m\],
    /// `[frames, 3·vertices]`, as well as they can: regularised least squares, without a tape. `weights`,
    /// `[frames, 1]`, say how much frames count.
    pub(crate) fn complete(
        self,
        shares: Tensor<2>,
        missing: Tensor<2>,
        weights: Tensor<2>,
        compute: &Compute,
    ) -> Result<ElasticNet> {
        let [frames, width] = shares.dims();
        // The bias is the share that is always one.
        let shares = Tensor::cat(vec![shares * weights.clone(), weights.clone()], 1);
        let shares = DMatrix::from_row_slice(frames, width + 1, &compute.values(shares)?);
        let squares = shares.tr_mul(&shares);
        let ridge = RIDGE * squares.trace() / (width + 1) as f64;
        let shifted = squares + DMatrix::identity(width + 1, width + 1) * ridge;
        let Some(factor) = shifted.cholesky() else {
            // Shares that are not finite: the steps of the optimiser go on alone.
            return Ok(self);
        };
        // In double precision, column by column: shares of neighbouring frames are nearly the same.
        let inverse = factor.solve(&shares.transpose()).transpose();
        let inverse = compute.tensor(inverse.as_slice(), [width + 1, frames]);
        let change = inverse
            .matmul(missing * weights * (1.0 / OFFSET))
            .autodiff();
        let mut all = self.shapes;
        let (weight, bias) = (
            change.clone().narrow(0, 0, width),
            change.narrow(0, width, 1),
        );
        all.weight = all.weight.map(|w| (w + weight).detach());
        all.bias = all
            .bias
            .map(|b| b.map(|b| (b + bias.squeeze_dim::<1>(0)).detach()));
        Ok(ElasticNet {
            shapes: all,
            ..self
        })
    }
}
