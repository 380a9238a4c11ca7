//! The networks of paper 2 (appendix B) with burn's modules, in single precision.
//!
//! [`ElasticNet`] turns a motion and a rest bending into offsets from the skinned garment; [`PlasticNet`]
//! turns what hinges went through into the next increment of their rest bending.

mod edges;
mod elastic;
mod hinge_graph;
mod layers;
mod plastic;
mod seed;
#[cfg(test)]
mod tests;

pub(crate) use edges::{EdgeFeatures, nodes};
pub(crate) use elastic::{ElasticNet, PoseBatch};
pub(crate) use hinge_graph::HingeGraph;
pub(crate) use layers::Layers;
pub(crate) use plastic::{EDGE_INPUTS, Memory, PlasticKind, PlasticNet};
pub(crate) use seed::seeded;

#[cfg(test)]
pub(crate) use plastic::NODE_INPUTS;
use serde::{Deserialize, Serialize};

/// Widths of the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Size {
    /// As in paper 2: for a GPU and days.
    Paper,
    /// For two cores and minutes.
    Small,
}

impl Size {
    /// Layers of E-Net's static encoder before the one that has the width of the dynamic encoder.
    fn pose(self) -> &'static [usize] {
        match self {
            Size::Paper => &[64, 128, 256],
            Size::Small => &[32, 64, 64],
        }
    }

    /// Layers of E-Net's dynamic encoder before the joints are joined.
    fn joint(self) -> &'static [usize] {
        match self {
            Size::Paper => &[32, 32],
            Size::Small => &[16],
        }
    }

    /// Layers after that; the GRU and the sum with the static encoder have the last one's width.
    fn motion(self) -> &'static [usize] {
        match self {
            Size::Paper => &[512, 512],
            Size::Small => &[64],
        }
    }

    /// Numbers that stand for the rest bending of all hinges.
    fn rest_bending(self) -> usize {
        match self {
            Size::Paper => 512,
            Size::Small => 64,
        }
    }

    /// Layers of E-Net's decoder.
    fn decoder(self) -> &'static [usize] {
        match self {
            Size::Paper => &[512, 512, 512, 512],
            Size::Small => &[128, 512],
        }
    }

    /// Width of P-Net.
    fn plastic(self) -> usize {
        match self {
            Size::Paper => 128,
            Size::Small => 24,
        }
    }
}
