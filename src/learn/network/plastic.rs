//! P-Net: from what a hinge and its neighbours went through to the next increment of its rest bending.

use burn::{
    module::Module,
    nn::{Lstm, LstmConfig, LstmState, Rnn, RnnConfig, RnnState},
    tensor::{Device, Tensor},
};
use serde::{Deserialize, Serialize};

use super::{HingeGraph, Layers, Size};

/// Numbers a hinge: rest bending and angle, before and now (rad, both relative to the rest shape).
pub(crate) const NODE_INPUTS: usize = 4;
/// Numbers an edge: the way to the neighbour's midpoint and its length, now and at rest; step, yield angle.
pub(crate) const EDGE_INPUTS: usize = 10;

/// Increments are of this size \[rad\] where the decoder's output is of size one.
const INCREMENT: f64 = 0.1;

/// Outputs below this count little.
const QUIET: f64 = 0.05;

/// Increments below this \[rad\] are none: a hinge that does not yield keeps its rest bending to the last bit. With 1e-4 one of
/// three trainings left 0.01 rad in a garment that was never moved; a hinge that yields in a bend turns by some 1e-2 a frame.
const SMALLEST: f64 = 3e-4;

/// A hinge turns by at most π in a frame. Without this limit an untrained network would get its own increments back
/// through E-Net and double them until they overflow.
const LARGEST: f64 = std::f64::consts::PI / INCREMENT;

/// How P-Net is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlasticKind {
    /// Message passing on the hinge graph, with this many steps.
    Graph(usize),
    /// A recurrent network, hinge by hinge.
    Rnn,
    /// The same with long short-term memory.
    Lstm,
}

impl Default for PlasticKind {
    fn default() -> Self {
        PlasticKind::Graph(3)
    }
}

/// One step of message passing.
#[derive(Module, Debug)]
struct Passing {
    edge: Layers,
    node: Layers,
}

/// The plastic network.
#[derive(Module, Debug)]
pub(crate) struct PlasticNet {
    node: Layers,
    edge: Option<Layers>,
    passing: Vec<Passing>,
    rnn: Option<Rnn>,
    lstm: Option<Lstm>,
    decoder: Layers,
}

/// What a recurrent network remembers of each hinge; nothing at first, and for a graph ever.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    /// `[hinges, width]`.
    hidden: Option<Tensor<2>>,
    /// Of long short-term memory, `[hinges, width]`.
    cell: Option<Tensor<2>>,
}

/// Increments \[rad\] of the decoder's output r: r itself where it is large, r³ where it is small, none where it is
/// tiny. Most hinges do not yield in most frames, and what little a network says there would add up over a roll-out.
fn increment(output: Tensor<2>) -> Tensor<2> {
    let output = output.clamp(-LARGEST, LARGEST);
    let square = output.clone().powi_scalar(2);
    let share = square.clone() / (square + QUIET * QUIET);
    let increment = output * share * INCREMENT;
    let none = increment.clone().abs().lower_elem(SMALLEST);
    increment.mask_fill(none, 0.0)
}

impl PlasticNet {
    /// A network of a kind. Its parameters are burn's; see [`super::seeded`].
    pub(crate) fn new(size: Size, kind: PlasticKind, device: &Device) -> PlasticNet {
        let width = size.plastic();
        let two = |inputs: usize| Layers::bent(inputs, &[width, width], true, device);
        let steps = match kind {
            PlasticKind::Graph(steps) => steps,
            _ => 0,
        };
        let passing = || Passing {
            edge: two(3 * width),
            node: two(2 * width),
        };
        PlasticNet {
            node: two(NODE_INPUTS),
            edge: (steps > 0).then(|| two(EDGE_INPUTS)),
            passing: (0..steps).map(|_| passing()).collect(),
            rnn: (kind == PlasticKind::Rnn)
                .then(|| RnnConfig::new(width, width, true).init(device)),
            lstm: (kind == PlasticKind::Lstm)
                .then(|| LstmConfig::new(width, width, true).init(device)),
            decoder: Layers::straight(width, &[width, width, 1], true, device),
        }
    }

    /// Whether what it says depends on earlier frames.
    pub(crate) fn remembers(&self) -> bool {
        self.rnn.is_some() || self.lstm.is_some()
    }

    /// The increment of the rest bending of every hinge \[rad\], `[hinges, 1]`.
    ///
    /// `nodes` is `[hinges, NODE_INPUTS]`, `edges` `[hinges·4, EDGE_INPUTS]` in the places of the graph.
    pub(crate) fn step(
        &self,
        graph: &HingeGraph,
        nodes: Tensor<2>,
        edges: &Tensor<2>,
        memory: Memory,
    ) -> (Tensor<2>, Memory) {
        let mut nodes = self.node.forward(nodes);
        if let Some(encoder) = &self.edge {
            let mut edges = encoder.forward(edges.clone());
            for passing in &self.passing {
                let (own, other) = graph.ends(&nodes);
                let all = Tensor::cat(vec![edges.clone(), own, other], 1);
                edges = edges + passing.edge.forward(all);
                let both = Tensor::cat(vec![nodes.clone(), graph.mean(edges.clone())], 1);
                nodes = nodes + passing.node.forward(both);
            }
        }
        let (nodes, memory) = self.remember(nodes, memory);
        (increment(self.decoder.forward(nodes)), memory)
    }

    fn remember(&self, nodes: Tensor<2>, memory: Memory) -> (Tensor<2>, Memory) {
        let one_frame = |nodes: Tensor<2>| nodes.unsqueeze_dim::<3>(1);
        let Memory { hidden, cell } = memory;
        let (hidden, cell) = if let Some(rnn) = &self.rnn {
            let (_, state) = rnn.forward(one_frame(nodes), hidden.map(RnnState::new));
            (state.hidden, None)
        } else if let Some(lstm) = &self.lstm {
            let before = cell.zip(hidden).map(|(c, h)| LstmState::new(c, h));
            let (_, state) = lstm.forward(one_frame(nodes), before);
            (state.hidden, Some(state.cell))
        } else {
            return (nodes, Memory::default());
        };
        let memory = Memory {
            hidden: Some(hidden.clone()),
            cell,
        };
        (hidden, memory)
    }
}
