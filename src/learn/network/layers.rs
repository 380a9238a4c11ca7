//! Linear layers with ReLU between them.

use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    tensor::{Device, Tensor, activation::relu},
};

/// A stack of linear layers.
#[derive(Module, Debug)]
pub(crate) struct Layers {
    layers: Vec<Linear>,
    /// Whether ReLU follows the last layer too.
    ends_bent: bool,
}

impl Layers {
    /// A stack from `inputs` through `widths`, with ReLU after every layer.
    pub(crate) fn bent(inputs: usize, widths: &[usize], bias: bool, device: &Device) -> Layers {
        Layers {
            ends_bent: true,
            ..Layers::straight(inputs, widths, bias, device)
        }
    }

    /// The same without ReLU after the last layer.
    pub(crate) fn straight(inputs: usize, widths: &[usize], bias: bool, device: &Device) -> Layers {
        let mut from = inputs;
        let layers = widths.iter().map(|&to| {
            let layer = LinearConfig::new(from, to).with_bias(bias).init(device);
            from = to;
            layer
        });
        Layers {
            layers: layers.collect(),
            ends_bent: false,
        }
    }

    /// Of rows.
    pub(crate) fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let last = self.layers.len().saturating_sub(1);
        let step = |x: Tensor<D>, (k, layer): (usize, &Linear)| {
            let y = layer.forward(x);
            if k < last || self.ends_bent {
                relu(y)
            } else {
                y
            }
        };
        self.layers.iter().enumerate().fold(input, step)
    }
}
