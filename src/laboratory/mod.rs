//! What a textile laboratory does: what is done to the specimen, what is read off, and what the readings can tell.
//! One test a file, all behind [`Test`].

mod batch;
mod bending;
mod cantilever;
mod crease;
mod settings;
pub mod sheet;
mod strip;
mod test;
mod twist;

pub use batch::{Prepared, Readings, Request, Resolution, Setup, Tests};
pub use bending::{BendingPoint, BendingReading, Branch, KesLoop, KesReading, KesTest};
pub use cantilever::{CantileverPoint, CantileverReading};
pub use crease::{CREST_CURVATURE, CreaseCurves, CreasePoint, CreaseTest, fold_curvatures};
pub use settings::{Specimen, TestSettings};
pub use strip::{StripCurves, StripTest, Strips};
pub use test::{Condition, Context, CurveKeys, Figure, Grid, Label, Measured, Survey, Sweep, Test};
pub use twist::{TorquePoint, Twist, TwistTest, Way};

/// Every test. A line here adds one to fits, designs, studies, reports and the command line.
pub static TESTS: [&'static dyn Test; 4] = [
    &crease::Recovery,
    &bending::Bending,
    &twist::Torque,
    &cantilever::Cantilever,
];
