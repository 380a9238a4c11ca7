//! P-Net: from two frames of a garment to the next rest bending (paper 2, section B.2).

use burn::{
    module::Module,
    nn::Linear,
    tensor::{Int, Tensor},
};
use serde::{Deserialize, Serialize};

use super::{
    Garment, HingeGraph, MOST_NEIGHBOURS, Materials,
    network::{Seeds, through},
};
use crate::{
    error::{Result, bad_input},
    numeric::{Compute, Field, Random},
};

/// Numbers of each hinge that the network is told: ε_p and ε of the frame before and of this one, and the yield
/// strain.
const NODE: usize = 5;
/// Numbers of each pair of neighbours: from midpoint to midpoint now and as sewn with its length, the time step and
/// three stiffnesses.
const EDGE: usize = 12;

/// Width and depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlasticSize {
    /// Of every layer; 128 in the paper.
    pub width: usize,
    /// Message-passing steps; 3 in the paper.
    pub steps: usize,
}

impl PlasticSize {
    /// As in the paper.
    pub fn paper() -> PlasticSize {
        PlasticSize {
            width: 128,
            steps: 3,
        }
    }

    /// For two cores.
    pub fn small() -> PlasticSize {
        PlasticSize {
            width: 24,
            steps: 3,
        }
    }
}

/// What does not change from frame to frame.
#[derive(Debug, Clone)]
pub struct PlasticFrame {
    hinges: usize,
    vertices: usize,
    /// Ends of the hinges' edges.
    ends: [Tensor<1, Int>; 2],
    neighbours: Tensor<1, Int>,
    own: Tensor<1, Int>,
    /// `[hinges·4, 1]`.
    shares: Field,
    /// Relative midpoints as sewn with their length, step and stiffnesses, `[hinges·4, 8]`.
    sewn: Field,
    /// ε_y, `[hinges, 1]`.
    yields: Field,
    /// 1 over the length by which midpoints are measured \[1/m\].
    per_length: f64,
}

/// One round of messages: edges from their ends, then nodes from the mean of their edges.
#[derive(Module, Debug)]
struct Messages {
    edge: Vec<Linear>,
    node: Vec<Linear>,
}

/// The network. Inputs are differences, so it does not matter where the garment is.
#[derive(Module, Debug)]
pub struct PlasticNet {
    node: Vec<Linear>,
    edge: Vec<Linear>,
    messages: Vec<Messages>,
    decoder: Vec<Linear>,
    increment: Linear,
}

impl PlasticFrame {
    /// The constants of a garment.
    pub fn new(
        garment: &Garment,
        materials: &Materials,
        yields: f64,
        compute: &Compute,
    ) -> PlasticFrame {
        let graph = HingeGraph::new(&garment.topology);
        let hinges = &garment.topology.hinges;
        let end =
            |k: usize| compute.indices(&hinges.iter().map(|h| h.vertices[k]).collect::<Vec<_>>());
        let flat: Vec<usize> = graph.neighbours.iter().flatten().copied().collect();
        let own: Vec<usize> = (0..flat.len()).map(|slot| slot / MOST_NEIGHBOURS).collect();
        let rest = &garment.rest.hinges;
        let length = rest.iter().map(|h| h.length).sum::<f64>() / rest.len().max(1) as f64;
        let positions = &garment.mesh.positions;
        let middle = |h: usize| -> [f64; 3] {
            let [i, j, ..] = hinges[h].vertices;
            std::array::from_fn(|a| 0.5 * (positions[i][a] + positions[j][a]) / length)
        };
        // Stiffnesses over their defaults, so that all inputs are of order one.
        let usual = Materials::default();
        let scale = [
            materials.seconds / usual.seconds,
            materials.bending / usual.bending,
            materials.stretch / usual.stretch,
            materials.shear / usual.shear,
        ];
        let sewn: Vec<f64> = flat
            .iter()
            .zip(&own)
            .flat_map(|(there, here)| {
                let (a, b) = (middle(*here), middle(*there));
                let gap = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
                let distance = gap.iter().map(|x| x * x).sum::<f64>().sqrt();
                gap.into_iter().chain([distance]).chain(scale)
            })
            .collect();
        PlasticFrame {
            hinges: hinges.len(),
            vertices: positions.len(),
            ends: [end(0), end(1)],
            neighbours: compute.indices(&flat),
            own: compute.indices(&own),
            shares: compute.tensor(&graph.shares(), [flat.len(), 1]),
            sewn: compute.tensor(&sewn, [flat.len(), EDGE - 4]),
            yields: compute.zeros([hinges.len(), 1]) + yields,
            per_length: 1.0 / length,
        }
    }

    /// The same for use on a tape; nothing of it is differentiated.
    pub fn autodiff(&self) -> PlasticFrame {
        let on = |f: &Field| f.clone().autodiff();
        PlasticFrame {
            shares: on(&self.shares),
            sewn: on(&self.sewn),
            yields: on(&self.yields),
            ends: self.ends.clone().map(Tensor::autodiff),
            neighbours: self.neighbours.clone().autodiff(),
            own: self.own.clone().autodiff(),
            ..*self
        }
    }

    /// Relative midpoints now and all that is constant, `[hinges·4, 12]`, of positions `[3, vertices]`.
    fn edges(&self, positions: &Field) -> Field {
        let [first, second] = self
            .ends
            .clone()
            .map(|end| positions.clone().select(1, end));
        let middles = (first + second) * (0.5 * self.per_length);
        let gap = middles.clone().select(1, self.neighbours.clone())
            - middles.select(1, self.own.clone());
        let distance = (gap.clone() * gap.clone()).sum_dim(0).sqrt();
        let now = Tensor::cat(vec![gap, distance], 0).transpose();
        Tensor::cat(vec![now, self.sewn.clone()], 1)
    }
}

impl PlasticNet {
    /// A network with seeded weights.
    pub fn new(size: PlasticSize, seed: u64, compute: &Compute) -> Result<PlasticNet> {
        let PlasticSize { width, steps } = size;
        if width == 0 || steps == 0 {
            return bad_input(format!(
                "plastic network: width {width} and {steps} steps; give positive numbers"
            ));
        }
        let mut seeds = Seeds {
            compute,
            random: Random::stream(seed, 2),
        };
        Ok(PlasticNet {
            node: seeds.stack(NODE, &[width; 2], true),
            edge: seeds.stack(EDGE, &[width; 2], true),
            messages: (0..steps)
                .map(|_| Messages {
                    edge: seeds.stack(3 * width, &[width; 2], true),
                    node: seeds.stack(2 * width, &[width; 2], true),
                })
                .collect(),
            decoder: seeds.stack(width, &[width; 2], true),
            increment: seeds.layer(width, 1, true, FIRST_INCREMENT),
        })
    }

    /// The increment of rest bending after this frame \[rad\], `[1, hinges]`. `plastic` and `strain` are those of the
    /// frame before and of this one, `[1, hinges]` each; `positions` are this frame's, `[3, vertices]`.
    pub fn forward(
        &self,
        frame: &PlasticFrame,
        plastic: [&Field; 2],
        strain: [&Field; 2],
        positions: &Field,
    ) -> Field {
        debug_assert_eq!(positions.dims(), [3, frame.vertices]);
        let column = |f: &Field| f.clone().reshape([frame.hinges, 1]);
        let inputs = vec![
            column(plastic[0]),
            column(plastic[1]),
            column(strain[0]),
            column(strain[1]),
            frame.yields.clone(),
        ];
        let mut nodes = through(&self.node, Tensor::cat(inputs, 1));
        let mut edges = through(&self.edge, frame.edges(positions));
        for messages in &self.messages {
            let here = nodes.clone().select(0, frame.own.clone());
            let there = nodes.clone().select(0, frame.neighbours.clone());
            let joined = Tensor::cat(vec![edges.clone(), here, there], 1);
            edges = edges + through(&messages.edge, joined);
            let [_, width] = edges.dims();
            let heard: Tensor<3> = (edges.clone() * frame.shares.clone()).reshape([
                frame.hinges,
                MOST_NEIGHBOURS,
                width,
            ]);
            let heard: Tensor<2> = heard.sum_dim(1).reshape([frame.hinges, width]);
            nodes = nodes.clone() + through(&messages.node, Tensor::cat(vec![nodes, heard], 1));
        }
        let increment = self.increment.forward(through(&self.decoder, nodes));
        increment.reshape([1, frame.hinges])
    }
}

/// Size of the first increments relative to what the decoder says \[rad\].
const FIRST_INCREMENT: f64 = 1e-2;
