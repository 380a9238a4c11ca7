//! Layers with seeded weights, in the precision of the run.

use burn::{
    module::{Module, Param},
    nn::Linear,
    tensor::{
        Tensor,
        activation::{relu, sigmoid, tanh},
    },
};

use crate::numeric::{Compute, Random};

/// Where weights come from.
pub(super) struct Seeds<'a> {
    pub compute: &'a Compute,
    pub random: Random,
}

impl Seeds<'_> {
    fn weights<const D: usize>(&mut self, shape: [usize; D], bound: f64) -> Param<Tensor<D>> {
        let count = shape.iter().product();
        let values: Vec<f64> = (0..count)
            .map(|_| bound * (2.0 * self.random.uniform() - 1.0))
            .collect();
        Param::from_tensor(self.compute.tensor(&values, shape).autodiff())
    }

    /// A layer whose weights are even in ±√(6/inputs), which keeps the size of what goes through a ReLU (He et al.
    /// 2015), times `gain`; biases start at 0.
    pub fn layer(&mut self, inputs: usize, outputs: usize, bias: bool, gain: f64) -> Linear {
        Linear {
            weight: self.weights([inputs, outputs], gain * (6.0 / inputs as f64).sqrt()),
            bias: bias.then(|| self.weights([outputs], 0.0)),
        }
    }

    /// Layers of the given widths, one after the other.
    pub fn stack(&mut self, inputs: usize, widths: &[usize], bias: bool) -> Vec<Linear> {
        let before = [inputs].into_iter().chain(widths.iter().copied());
        before
            .zip(widths)
            .map(|(inputs, outputs)| self.layer(inputs, *outputs, bias, 1.0))
            .collect()
    }
}

/// Layers with a ReLU after each.
pub(super) fn through<const D: usize>(layers: &[Linear], input: Tensor<D>) -> Tensor<D> {
    layers.iter().fold(input, |x, layer| relu(layer.forward(x)))
}

/// A gated recurrent unit without biases: what never moves has a state of zero.
///
/// ```text
/// u = σ(W_u·[x, h]),  r = σ(W_r·[x, h]),  n = tanh(W_n·x + r·(V_n·h)),  h ← (1 − u)·n + u·h
/// ```
///
/// burn's own computes in the device's default precision only.
#[derive(Module, Debug)]
pub(super) struct Recurrent {
    gates: Linear,
    input: Linear,
    hidden: Linear,
    width: usize,
}

impl Recurrent {
    pub fn new(inputs: usize, width: usize, seeds: &mut Seeds) -> Recurrent {
        // Sigmoid and tanh keep sizes by themselves: weights in ±√(3/inputs).
        let gain = 0.5_f64.sqrt();
        Recurrent {
            gates: seeds.layer(inputs + width, 2 * width, false, gain),
            input: seeds.layer(inputs, width, false, gain),
            hidden: seeds.layer(width, width, false, gain),
            width,
        }
    }

    /// States after every frame, `[motions, frames, width]`, of inputs `[motions, frames, inputs]`, from a state of
    /// zero.
    pub fn forward(&self, inputs: Tensor<3>) -> Tensor<3> {
        let [motions, frames, size] = inputs.dims();
        let mut state: Tensor<2> = inputs
            .clone()
            .narrow(1, 0, 1)
            .reshape([motions, size])
            .matmul(self.input.weight.val())
            .zeros_like();
        let mut states = Vec::with_capacity(frames);
        for frame in 0..frames {
            let x: Tensor<2> = inputs.clone().narrow(1, frame, 1).reshape([motions, size]);
            let both = Tensor::cat(vec![x.clone(), state.clone()], 1);
            let gates = sigmoid(self.gates.forward(both));
            let update = gates.clone().narrow(1, 0, self.width);
            let reset = gates.narrow(1, self.width, self.width);
            let new = tanh(self.input.forward(x) + reset * self.hidden.forward(state.clone()));
            state = new.clone() + update * (state - new);
            states.push(state.clone().reshape([motions, 1, self.width]));
        }
        Tensor::cat(states, 1)
    }
}
