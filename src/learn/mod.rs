//! The self-supervised elasto-plastic curriculum of paper 2 (EPNet): bodies, garments, loss, plastic rule,
//! reference simulation, metrics, the two networks and their training.
//!
//! - [`Skeleton`], [`Body`], [`BodyMotion`]: bodies, their poses and signed distances; synthetic motions.
//! - [`Skin`], [`ClosedSurface`], [`SurfaceTree`]: the surface of a real body, and distances from it.
//! - [`Garment`]: a mesh with blend weights, pins and cuff springs.
//! - [`Features`]: what a network is told about the body.
//! - [`Sheet`], [`Given`], [`GarmentMotion`]: batches of frames as tensors, and plain data.
//! - [`GarmentLoss`]: the energies that the networks are trained with, and their gradient.
//! - [`Plasticity`]: how rest bending follows from strain.
//! - [`mod@reference`]: the same energies minimised frame by frame, the yardstick of every metric.
//! - [`metrics`]: how far a prediction is from the reference.
//! - [`network`]: E-Net and P-Net; [`curriculum`]: how they are trained, on [`lesson`]s.
//! - [`run`]: training in a folder, stopped and gone on with.
//! - [`evaluate`]: unseen motions, every method against the reference.
//! - [`ablate`]: cases that differ in one thing.
//! - [`files`]: SMPL bodies and AMASS motions, `.npz` files.
//!
//! Symbols: θ is a hinge's angle \[rad\], θ̄ that of the garment as sewn, ε = θ − θ̄ the bending strain, ε_p the
//! rest bending (plastic strain). docs/explanation/curriculum.md has the equations and what was measured.

pub mod ablate;
mod aim;
mod body;
mod body_mesh;
mod case;
mod case_file;
mod closed_surface;
pub mod curriculum;
mod distance;
pub mod evaluate;
mod features;
pub mod files;

mod garment;
mod imperfection;
pub mod lesson;
mod loss;
pub mod metrics;

mod motion;
pub mod network;
mod phases;
mod plastic;
pub mod reference;
pub mod run;
mod scene;
mod sheet;
mod skeleton;
mod skin;
mod surface_distance;
mod track;

pub use body::{Body, Bone};
pub use body_mesh::BodyMesh;
pub use case::{LearnCase, RestBending, SceneName, Training};
pub use closed_surface::ClosedSurface;
pub use distance::{Distance, PosedBody};
pub use features::{DYNAMIC, Features, STATIC};
pub use garment::{Garment, Spring};
pub use imperfection::Imperfection;
pub use loss::{
    Forms, GarmentLoss, GravityForm, LinearizedLoss, LossConfig, Materials, Reduction, StretchForm,
    Term, Terms,
};
pub use motion::{Bend, BodyMotion, Split};
pub use phases::Phases;
pub use plastic::{Plasticity, Rule};
pub use scene::{BodyScene, Skinned};
pub use sheet::{Given, Sheet};
pub use skeleton::{Joint, Skeleton, Transform, rotation};
pub use skin::{ClosedSkin, Skin};
pub use surface_distance::{PlacedSurface, SurfaceTree};
pub use track::GarmentMotion;
