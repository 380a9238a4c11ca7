//! The recovery conditions of a list under the hard law: whole folds in closed form, hinges where there is none.

use std::slice;

use rayon::prelude::*;

use super::{CreasePoint, exact};
use crate::{
    error::Result,
    laboratory::{PreparedTest, Readings, Request, batch::HingeBlock},
};

/// Folds under the hard law. A reading is a function of its own condition alone.
pub(super) struct WholeFolds {
    /// The points, in the order of the block of hinges.
    pub points: Vec<CreasePoint>,
    /// The same folds as hinges, for parameter sets of which a fold has no closed form.
    pub hinges: HingeBlock,
}

impl PreparedTest for WholeFolds {
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let width = request.strains.len();
        let law = request.law.as_ref();
        let each = request.sets.par_iter().zip(results.par_iter_mut());
        let is_whole: Vec<bool> = each
            .map(|(set, result)| {
                let conditions = self.hinges.conditions.iter().zip(&self.points);
                for (&(condition, group), point) in conditions {
                    let Some((angle, slopes)) = exact::recovery(law, &set[group], point) else {
                        return false;
                    };
                    result.values[condition] = angle;
                    if request.sought.is_some() {
                        result.slopes[condition * width..][..width].copy_from_slice(&slopes);
                    }
                }
                true
            })
            .collect();
        for (s, _) in is_whole.iter().enumerate().filter(|(_, whole)| !**whole) {
            let alone = Request {
                sets: slice::from_ref(&request.sets[s]),
                ..*request
            };
            self.hinges.read(&alone, slice::from_mut(&mut results[s]))?;
        }
        Ok(())
    }
}
