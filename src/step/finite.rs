//! A run that diverges stops at once and says where.

use super::{Cloth, State};
use crate::error::{Result, bad_input};

impl Cloth {
    /// Refuses a state that is not finite, naming the step and the element that was strained most before it.
    pub fn check_finite(&self, before: &State, after: &State, step: usize) -> Result<()> {
        let sum = (after.positions.clone() + after.velocities.clone()).sum();
        if self.compute.values(sum)?[0].is_finite() {
            return Ok(());
        }
        bad_input(format!(
            "step {step} is not finite; {}; take shorter steps, or softer handles and contacts",
            self.worst(before)?
        ))
    }

    /// The most strained element of a state, in words.
    pub fn worst(&self, state: &State) -> Result<String> {
        let strain = self.incidence.columns(&state.positions).strain();
        let values = self.compute.values(strain)?;
        let count = self.mesh.triangles.len();
        let largest = values
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let Some((slot, strain)) = largest else {
            return Ok("the mesh has no triangle".into());
        };
        let triangle = slot % count;
        Ok(format!(
            "the triangle strained most before it is {triangle} (vertices {:?}), by {:.3}",
            self.mesh.triangles[triangle], strain
        ))
    }
}
