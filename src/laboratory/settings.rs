//! What data files leave out, and how tests are simulated.

use super::TwistTest;

/// What is folded in a simulated recovery test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Specimen {
    /// Independent hinges: [`super::CreaseTest`].
    Hinges,
    /// A strip mesh with inertia and membrane: [`super::StripTest`].
    StripMesh,
}

impl Specimen {
    /// All of them.
    pub const ALL: [Specimen; 2] = [Specimen::Hinges, Specimen::StripMesh];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Specimen::Hinges => "hinges",
            Specimen::StripMesh => "strip_mesh",
        }
    }

    /// Starts of a search where a case gives none: a mesh is dear, and its early stages are the hinges'.
    pub fn starts(self) -> usize {
        match self {
            Specimen::Hinges => 16,
            Specimen::StripMesh => 6,
        }
    }
}

/// What data files leave out, and how tests are simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestSettings {
    /// What is folded in a recovery test.
    pub specimen: Specimen,
    /// Cells along the fold of a strip mesh.
    pub strip_cells: usize,
    /// Hinges along a fold; chosen to suit the law where none are given.
    pub hinges: Option<usize>,
    /// Gap where a file gives none \[mm\].
    pub gap_mm: Option<f64>,
    /// Pressing time where a file gives none \[s\].
    pub press_s: f64,
    /// Reading time where a file gives none \[s\].
    pub read_s: f64,
    /// Standard deviation of an angle where a file gives none \[degrees\].
    pub sd_deg: f64,
    /// Standard deviation of B and 2HB where a file gives none, as a share of the value.
    pub bending_sd_share: f64,
    /// Standard deviation of a loop's moments where a file gives none, as a share of the largest.
    pub moment_sd_share: f64,
    /// Largest curvature of a bending cycle that gives B and 2HB \[1/m\].
    pub max_curvature_per_m: f64,
    /// Speed of a bending cycle \[1/(m·s)\].
    pub rate_per_m_s: f64,
    /// The cylinder whose torque was measured.
    pub twist: Option<TwistTest>,
}

impl Default for TestSettings {
    fn default() -> Self {
        TestSettings {
            specimen: Specimen::Hinges,
            // Hinge after hinge slips: an angle jumps by about 4° a pair of them.
            strip_cells: 32,
            hinges: None,
            gap_mm: None,
            // ISO 2313 presses and waits for five minutes.
            press_s: 300.0,
            read_s: 300.0,
            // A good test spreads by 2 to 3°.
            sd_deg: 2.5,
            bending_sd_share: 0.05,
            moment_sd_share: 0.02,
            max_curvature_per_m: 250.0,
            rate_per_m_s: 50.0,
            twist: None,
        }
    }
}
