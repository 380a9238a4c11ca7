//! Everything about the fabric that a gradient can be taken of.

use std::sync::Arc;

use super::{cloth::TENSILE_LAW, sums};
use crate::{
    element::Stiffness,
    error::{Result, bad_input},
    material::{Law, Material, Timer},
    numeric::{Compute, Field},
};

/// Parameters of a cloth as fields. One value for the whole cloth has shape `[1, 1]`; one for every
/// element `[1, elements]` (tensile ones `[3, 1]` or `[3, triangles]`).
#[derive(Debug, Clone)]
pub struct Parameters {
    /// Of the bending law, in its order.
    pub bending: Vec<Field>,
    /// Bending stiffness along the weft over that along the warp.
    pub weft_ratio: Field,
    /// Of the membrane \[N/m\].
    pub membrane: Stiffness,
    /// Of the tensile law without its first, which is the membrane's own stiffness; empty for a purely
    /// elastic membrane. Rows uu, vv, uv.
    pub tensile: Vec<Field>,
    /// Mass per area \[kg/m²\], `[1, 1]` or `[1, vertices]`.
    pub density: Field,
}

impl Parameters {
    /// One value for the whole cloth, from a material. A KES sheet has no membrane stiffness and may lack a
    /// density: the scene must then give them.
    pub fn from_material(material: &Material, compute: &Compute) -> Result<Parameters> {
        let missing = |what: &str, key: &str| {
            bad_input(format!(
                "material '{}' has no {what}; add \"{key}\" to its file",
                material.name
            ))
        };
        let Some(membrane) = material.membrane else {
            return missing("membrane stiffness", "membrane");
        };
        let Some(density) = material.density else {
            return missing("density", "density_kg_per_m2");
        };
        let one = |value: f64| compute.tensor(&[value], [1, 1]);
        let law = material.build_law(Timer::Authors);
        Ok(Parameters {
            bending: material
                .values_for(law.as_ref())?
                .into_iter()
                .map(one)
                .collect(),
            weft_ratio: one(1.0),
            membrane: Stiffness {
                warp: one(membrane[0]),
                weft: one(membrane[1]),
                coupling: one(membrane[2]),
                shear: one(membrane[3]),
            },
            tensile: Vec::new(),
            density: one(density),
        })
    }

    /// Parameters of the tensile law in its order: the membrane's stiffness first.
    pub(super) fn tensile_law(&self) -> Vec<Field> {
        let mut list = vec![self.membrane.diagonal()];
        list.extend(self.tensile.iter().cloned());
        list
    }

    /// All fields, in the order of [`Parameters::names`].
    pub fn list(&self) -> Vec<&Field> {
        let m = &self.membrane;
        let fixed = [
            &self.weft_ratio,
            &m.warp,
            &m.coupling,
            &m.weft,
            &m.shear,
            &self.density,
        ];
        self.bending
            .iter()
            .chain(fixed)
            .chain(&self.tensile)
            .collect()
    }

    /// The names of [`Parameters::list`].
    pub(crate) fn names(&self, law: &Arc<dyn Law>) -> Vec<String> {
        let fixed = [
            "weft_ratio",
            "membrane_warp",
            "membrane_coupling",
            "membrane_weft",
            "membrane_shear",
            "density",
        ];
        let bending = law.parameters().into_iter().map(|p| p.name);
        let tensile = TENSILE_LAW.parameters();
        let tensile = tensile
            .into_iter()
            .skip(1)
            .map(|p| format!("tensile_{}", p.name));
        bending
            .chain(fixed.map(String::from))
            .chain(tensile.take(self.tensile.len()))
            .collect()
    }

    /// The sum, field by field.
    ///
    /// # Panics
    /// When the two are of different laws, so that their lists differ in length.
    pub(crate) fn plus(&self, other: &Parameters) -> Parameters {
        let (a, b) = (&self.membrane, &other.membrane);
        let add = |a: &Field, b: &Field| a.clone() + b.clone();
        Parameters {
            bending: sums(&self.bending, &other.bending),
            weft_ratio: add(&self.weft_ratio, &other.weft_ratio),
            membrane: Stiffness {
                warp: add(&a.warp, &b.warp),
                coupling: add(&a.coupling, &b.coupling),
                weft: add(&a.weft, &b.weft),
                shear: add(&a.shear, &b.shear),
            },
            tensile: sums(&self.tensile, &other.tensile),
            density: add(&self.density, &other.density),
        }
    }

    /// The same with every field replaced.
    pub fn map(&self, mut f: impl FnMut(&Field) -> Field) -> Parameters {
        let bending = self.bending.iter().map(&mut f).collect();
        let weft_ratio = f(&self.weft_ratio);
        let membrane = Stiffness {
            warp: f(&self.membrane.warp),
            coupling: f(&self.membrane.coupling),
            weft: f(&self.membrane.weft),
            shear: f(&self.membrane.shear),
        };
        let density = f(&self.density);
        let tensile = self.tensile.iter().map(&mut f).collect();
        Parameters {
            bending,
            weft_ratio,
            membrane,
            tensile,
            density,
        }
    }
}
