//! Laboratory tests as roll-outs: what is done to the specimen, and what is read off.

mod bending;
mod crease;
mod strip;
mod twist;

pub use bending::{Branch, KesLoop, KesReading, KesTest};
pub use crease::{CREST_CURVATURE, CreaseCurves, CreasePoint, CreaseTest, fold_curvatures};
pub use strip::{StripCurves, StripTest, Strips};
pub use twist::{Twist, TwistTest, Way};
