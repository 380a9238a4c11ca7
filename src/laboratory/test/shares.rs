//! What share of the hinges slips and yields.

use serde::{Deserialize, Serialize};

use crate::{error::Result, numeric::Compute};

/// What the hinges of a test did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// Share that slips when released; the rest sticks.
    pub slips: f64,
    /// Share that has yielded.
    pub yields: f64,
}

impl Shares {
    /// What most of them do, in words.
    pub fn describe(self) -> String {
        // One hinge in twenty is what a coarse fold cannot tell from none.
        let word = |share: f64, words: [&'static str; 3]| match share {
            s if s < 0.05 => words[0],
            s if s > 0.95 => words[2],
            _ => words[1],
        };
        format!(
            "{}, {}",
            word(self.slips, ["stick", "stick/slip", "slip"]),
            word(self.yields, ["no yield", "some yield", "all yield"])
        )
    }
}

/// What the hinges of some conditions do under the hard law, for many sets of parameters.
pub(crate) trait ShareTest: Send + Sync {
    /// Which conditions they are.
    fn conditions(&self) -> &[usize];

    /// Shares at every condition; `sets[s][group]` are the parameters of a group in set s.
    fn run(&self, compute: &Compute, sets: &[Vec<Vec<f64>>]) -> Result<Vec<Vec<Shares>>>;
}
