//! Laboratory tests: how the specimen is deformed, what is read, and which parameters the readings determine.
//! One test a file, all behind `Test`.

mod batch;
mod bending;
mod cantilever;
mod crease;
mod drive;
mod settings;
pub(crate) mod sheet;
mod strip;
mod synthesis;
mod test;
mod twist;

pub(crate) use batch::Resolution;
pub(crate) use batch::{PreparedTest, Request, TestSetup};
pub use batch::{Readings, Tests};
pub use bending::{KesLoop, KesTest};
pub use cantilever::CantileverPoint;
pub(crate) use crease::{CREST_CURVATURE, quadrature_error};
pub use crease::{CreasePoint, CreaseTest};
pub use drive::{DriveRow, StrainStep};
pub(crate) use settings::Specimen;
pub use settings::TestSettings;
pub(crate) use settings::{Setting, SettingKind};
pub use synthesis::Synthesis;
pub(crate) use synthesis::{Blueprint, Noise};

#[cfg(test)]
pub(crate) use bending::{BendingPoint, BendingReading, Branch};
#[cfg(test)]
pub(crate) use crease::fold_curvatures;
#[cfg(test)]
pub(crate) use strip::StripTest;
pub use test::Condition;
pub(crate) use test::{
    AngleFigure, CaseSection, ChosenSetting, Context, CurveKeys, DesignFigure, Figure, Label,
    MeasuredValue, ShareTest, Survey, Sweep, Test,
};
pub(crate) use test::{Grid, MAX_SECONDS, Shares};
pub(crate) use twist::TwistTest;
#[cfg(test)]
pub(crate) use twist::{TorquePoint, Twist, Way};

/// Every test. A line here adds one to fits, designs, studies, reports and the command line.
pub(crate) static TESTS: [&'static dyn Test; 4] = [
    &crease::Recovery,
    &bending::Bending,
    &twist::Torque,
    &cantilever::Cantilever,
];

/// The test of a kind of readings in results.
pub(crate) fn of_kind(kind: &str) -> Option<&'static dyn Test> {
    TESTS.into_iter().find(|test| test.kinds().contains(&kind))
}
