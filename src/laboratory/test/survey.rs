//! What data tell about the ranges of parameters.

/// What data tell about the ranges of a law's parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Survey {
    /// Mildest and sharpest curvature at which something was read \[1/m\].
    pub curvature: (f64, f64),
    /// Shortest and longest dwell \[s\].
    pub times: (f64, f64),
    /// Rigidities as measured \[N·m\].
    pub rigidities: Vec<f64>,
    /// Whether readings depend on the rigidity in a way that only a simulation tells.
    pub tells_rigidity: bool,
}

impl Survey {
    /// Widens the range at its sharp end only: a strip that bends as its fabric lets it tells nothing about how mild a
    /// bend may be.
    pub(crate) fn see_sharp_curvature(&mut self, curvature: f64) {
        self.curvature.1 = self.curvature.1.max(curvature);
    }

    /// Widens the range of curvatures to hold this one \[1/m\].
    pub(crate) fn see_curvature(&mut self, curvature: f64) {
        let (low, high) = self.curvature;
        self.curvature = (low.min(curvature), high.max(curvature));
    }
}
