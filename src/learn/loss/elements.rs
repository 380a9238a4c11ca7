//! Terms of hinges and triangles.

use super::{GarmentLoss, LossPart, StretchForm, Term};
use crate::{
    element::Columns,
    learn::GarmentBatch,
    numeric::{Field, abs, indicator, nearest_turn},
};

/// Keeps lengths of collapsed columns off zero.
const TINY: f64 = 1e-24;

/// Sum or mean over elements, `[frames, elements]` to `[frames, 1]`; and what a slope is multiplied with.
pub(super) fn reduced(values: Field, term: &Term) -> (Field, f64) {
    let share = term.share(values.dims()[1]);
    (values.sum_dim(1) * share, share)
}

impl GarmentLoss {
    /// k_b·l²/(8a)·(ε − ε_p)². Slope by the angle, `[frames, hinges]`. The difference is taken between −π and π:
    /// so the energy is continuous also where a fold closes and the angle jumps from π to −π. Not smooth where
    /// the difference is π, and where a triangle has no area.
    pub(super) fn bending(
        &self,
        sheet: &GarmentBatch,
        strain: &Field,
        plastic: &Field,
    ) -> LossPart<Field> {
        let elastic = nearest_turn(&(strain.clone() - plastic.clone()));
        let moment = elastic.clone() * sheet.bend_shape.clone() * self.config.materials.bending;
        let (energy, share) = reduced(moment.clone() * elastic, &self.config.bending);
        LossPart {
            energy,
            slope: moment * (2.0 * share),
        }
    }

    /// (ε − ε_p)² of all hinges, or of those with rest bending; zero where it is off, which is the default and saves time.
    pub(super) fn regression(
        &self,
        strain: &Field,
        plastic: &Field,
        creased: bool,
    ) -> LossPart<Field> {
        let term = match creased {
            true => &self.config.crease_regression,
            false => &self.config.regression,
        };
        if term.weight == 0.0 {
            return LossPart {
                energy: strain.clone().narrow(1, 0, 1).zeros_like(),
                slope: strain.zeros_like(),
            };
        }
        let mut gap = nearest_turn(&(strain.clone() - plastic.clone()));
        if creased {
            gap = gap * indicator(&abs(plastic));
        }
        let (energy, share) = reduced(gap.clone() * gap.clone(), term);
        LossPart {
            energy,
            slope: gap * (2.0 * share),
        }
    }

    /// k_s·A·[(|w_u| − 1)² + (|w_v| − 1)²], or as printed. Slope by the columns. Not smooth where a column has
    /// no length.
    pub(super) fn stretch(&self, sheet: &GarmentBatch, columns: &Columns) -> LossPart<Columns> {
        let square = |c: &crate::element::Vector| sheet.by_frame(&c.dot(c));
        let (u, v) = (square(&columns.u), square(&columns.v));
        let stiffness = sheet.area.clone() * self.config.materials.stretch;
        let along = |squared: Field| {
            let length = (squared + TINY).sqrt();
            let beyond = length.clone() - 1.0;
            let energy = beyond.clone() * beyond.clone() * stiffness.clone();
            let slope = beyond / length * stiffness.clone();
            (energy, slope)
        };
        let (energy, slope_u, slope_v) = match self.config.forms.stretch {
            StretchForm::Columns => {
                let ((energy_u, u), (energy_v, v)) = (along(u), along(v));
                (energy_u + energy_v, u, v)
            }
            StretchForm::Printed => {
                let (energy, slope) = along(u + v);
                (energy, slope.clone(), slope)
            }
        };
        let (energy, share) = reduced(energy, &self.config.stretch);
        let flat = |slope: Field| sheet.side_by_side(&(slope * (2.0 * share)));
        LossPart {
            energy,
            slope: Columns {
                u: columns.u.times(&flat(slope_u)),
                v: columns.v.times(&flat(slope_v)),
            },
        }
    }

    /// k_sh·A·(w_u·w_v)². Slope by the columns. Smooth.
    pub(super) fn shear(&self, sheet: &GarmentBatch, columns: &Columns) -> LossPart<Columns> {
        let product = sheet.by_frame(&columns.u.dot(&columns.v));
        let stress = product.clone() * sheet.area.clone() * self.config.materials.shear;
        let (energy, share) = reduced(stress.clone() * product, &self.config.shear);
        let stress = sheet.side_by_side(&(stress * (2.0 * share)));
        LossPart {
            energy,
            slope: Columns {
                u: columns.v.times(&stress),
                v: columns.u.times(&stress),
            },
        }
    }
}
