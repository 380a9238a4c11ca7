//! Bodies, skinning, metrics, the reference simulation and single rounds of paper 2's curriculum.

#[path = "../common/mod.rs"]
mod common;

mod bodies;
mod metrics;
mod reference;
mod rounds;

use rumple::learn::{Body, Garment, Imperfection, Motion, Scene};

/// A sleeve of a few vertices, and a still motion for it.
fn tiny() -> (Scene, Motion) {
    let body = Body::arm();
    let waves = Imperfection::seeded(1);
    let place = |[x, y, z]: [f64; 3]| [y, -z, -x];
    let garment = Garment::tube("tiny", &body, waves, [0.06, 0.1], [6, 3], place).unwrap();
    let motion = Motion::still(&body, 4);
    (Scene { body, garment }, motion)
}
