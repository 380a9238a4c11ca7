//! Constants and stresses that readings need.

use super::{Cloth, Parameters};
use crate::{
    element::{Bend, Columns},
    numeric::Field,
};

impl Cloth {
    /// Stress of hinges at some angles with a history held, `[1, hinges]`.
    pub(crate) fn bending_stress(
        &self,
        angle: &Field,
        history: &[Field],
        parameters: &Parameters,
    ) -> Field {
        let strain = self.hinge_strain(angle);
        self.setup.law.stress(&parameters.bending, history, &strain)
    }

    /// Forces of all elements on the vertices with their history held \[N\], `[3, vertices]`. Assembles, so on a
    /// tape it costs a gather: for readings only.
    pub(crate) fn held_forces(
        &self,
        bend: &Bend,
        columns: &Columns,
        (bending, tensile): (&[Field], &[Field]),
        parameters: &Parameters,
    ) -> Field {
        let bending = self.bending_stress(&bend.angle, bending, parameters);
        let moment = bending * self.moment_scale(parameters);
        let stress = self.membrane_stress(&columns.strain(), tensile, parameters);
        self.element_forces((bend, &moment), (columns, &stress))
    }

    /// Energy over stress times strain of each hinge \[m²\], `[1, hinges]`.
    pub(crate) fn energy_scale(&self, parameters: &Parameters) -> Field {
        self.moment_scale(parameters) / self.strain_per_angle.clone()
    }

    /// Weights of the hinges' angles in the cosine and sine of a wave of curvature \[1/m\] along the material:
    /// 2/A·Σ (θ/H̄)·a·cos(2π·waves·u/L), a the area of a hinge's two triangles.
    pub(crate) fn wave_weights(&self, along_weft: bool, waves: usize) -> (Vec<f64>, Vec<f64>) {
        let axis = usize::from(along_weft);
        let place = |h: &crate::mesh::Hinge| {
            let corners = self.mesh.material_corners(h.triangles[0]);
            corners.iter().map(|c| c[axis]).sum::<f64>() / 3.0
        };
        let along = self.mesh.material.iter().map(|m| m[axis]);
        let low = along.clone().fold(f64::INFINITY, f64::min);
        let high = along.fold(f64::NEG_INFINITY, f64::max);
        let turn = 2.0 * std::f64::consts::PI * waves as f64 / (high - low);
        let hinges = self.topology.hinges.iter().zip(&self.rest.hinges);
        hinges
            .map(|(hinge, rest)| {
                let size = 2.0 * rest.area / rest.height / self.rest.area();
                let phase = turn * (place(hinge) - low);
                (size * phase.cos(), size * phase.sin())
            })
            .unzip()
    }
}
