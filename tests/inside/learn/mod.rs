//! Paper 2's curriculum: bodies, files, loss, reference, metrics, rounds and whole runs.

mod bodies;
mod claims;
mod curriculum;
mod files;
mod from_files;
mod loss;
mod metrics;
mod reference;
mod rounds;
mod run;

use rumple::learn::{Body, BodyMotion, BodyScene, Garment, Imperfection};

/// A sleeve of a few vertices, and a still motion for it.
fn tiny() -> (BodyScene, BodyMotion) {
    let body = Body::arm();
    let waves = Imperfection::seeded(1);
    let place = |[x, y, z]: [f64; 3]| [y, -z, -x];
    let garment = Garment::tube("tiny", &body, waves, [0.06, 0.1], [6, 3], place).unwrap();
    let motion = BodyMotion::still(&body, 4);
    (BodyScene { body, garment }, motion)
}
