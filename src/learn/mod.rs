//! The self-supervised elasto-plastic curriculum of paper 2 (EPNet): bodies, garments, loss, plastic rule,
//! reference simulation, metrics, the two networks and their training.
//!
//! - `Skeleton`, `Body`, `BodyMotion`: bodies, their poses and signed distances; synthetic motions.
//! - `Skin`, `ClosedSurface`, `SurfaceTree`: the surface of a real body, and distances from it.
//! - `Garment`: a mesh with blend weights, pins and cuff springs.
//! - `Features`: what a network is told about the body.
//! - `GarmentBatch`, `Given`, `GarmentMotion`: batches of frames as tensors, and plain data.
//! - `GarmentLoss`: the energies that the networks are trained with, and their gradient.
//! - `Plasticity`: how rest bending follows from strain.
//! - `mod@reference`: the same energies minimised frame by frame, the yardstick of every metric.
//! - `metrics`: how far a prediction is from the reference.
//! - `network`: E-Net and P-Net; `curriculum`: how they are trained, on `lesson`s.
//! - `run`: training in a folder, stopped and gone on with.
//! - `evaluate`: unseen motions, every method against the reference.
//! - [`Prediction`]: a garment along a motion that was not trained.
//! - `ablate`: cases that differ in one thing.
//! - `files`: SMPL bodies ([`Smpl`]) and AMASS motions, `.npz` files.
//!
//! Symbols: θ is a hinge's angle \[rad\], θ̄ that of the garment as sewn, ε = θ − θ̄ the bending strain, ε_p the
//! rest bending (plastic strain). docs/reference/epnet.md has the equations, docs/explanation/curriculum.md the
//! results.

pub(crate) mod ablate;
mod aim;
mod body;
mod body_mesh;
mod case;
mod case_file;
mod closed_surface;
pub(crate) mod curriculum;
mod distance;
pub(crate) mod evaluate;
mod features;
pub(crate) mod files;

mod garment;
mod imperfection;
pub(crate) mod lesson;
mod loss;
pub(crate) mod metrics;

mod motion;
pub(crate) mod network;
mod phases;
mod plastic;
mod predict;
pub(crate) mod reference;
pub(crate) mod run;
mod scene;
mod sheet;
mod skeleton;
mod skin;
mod surface_distance;
mod track;

pub(crate) use ablate::{AblationOptions, Ablations, Watchers, ablate};
pub(crate) use body::{Body, Bone};
pub(crate) use body_mesh::BodyMesh;
pub use case::LearnCase;
pub(crate) use case::{RestBending, SceneName, Training};
pub use evaluate::Evaluated;
pub(crate) use evaluate::EvaluationOptions;
pub use files::Smpl;

pub(crate) use distance::{Distance, PosedBody};
pub(crate) use features::{DYNAMIC, Features, STATIC};
pub(crate) use garment::Garment;
pub(crate) use imperfection::Imperfection;
pub(crate) use loss::{GarmentLoss, LinearizedLoss, LossConfig, Materials, Terms};
pub(crate) use motion::{BodyMotion, JointBend, Split};
pub(crate) use phases::Phases;
pub(crate) use plastic::{Plasticity, Rule};
pub use predict::Prediction;
pub(crate) use scene::{BodyScene, Skinned};
pub(crate) use sheet::{GarmentBatch, Given};
pub(crate) use skeleton::{Joint, JointTransform, Skeleton};
pub(crate) use skin::Skin;

#[cfg(test)]
pub(crate) use closed_surface::ClosedSurface;
#[cfg(test)]
pub(crate) use garment::Spring;
#[cfg(test)]
pub(crate) use loss::{Forms, GravityForm, Reduction, StretchForm, Term};
pub(crate) use track::GarmentMotion;
