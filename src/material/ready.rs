//! A material made ready to run.

use std::{path::Path, sync::Arc};

use super::{Law, Material, StrainMeasure, Timer};
use crate::{
    error::{Error, Result, bad_input, readable},
    numeric::Gate,
};

/// A material with its law, the law's parameters and a gate.
#[derive(Debug, Clone)]
pub struct ReadyMaterial {
    /// As it was read; in curvature where angles were converted.
    pub material: Material,
    /// The law that it names.
    pub(crate) law: Arc<dyn Law>,
    /// Values of the law's parameters, in the order of [`ReadyMaterial::parameter_names`].
    pub values: Vec<f64>,
    /// How yield and slip are switched on.
    pub gate: Gate,
}

impl ReadyMaterial {
    /// Of a material in its own measure of strain. `gate` is the text of the option `--gate`, such as `hard` or
    /// `sigmoid:3`; widths and gains refer to the material's own scale of strain.
    pub fn new(material: Material, timer: Timer, gate: &str) -> Result<ReadyMaterial> {
        let law = material.build_law(timer);
        let values = material.values_for(law.as_ref())?;
        let gate = Gate::parse(gate, material.strain_scale())?;
        Ok(ReadyMaterial {
            material,
            law,
            values,
            gate,
        })
    }

    /// Names of the law's parameters. Derivatives of readings have their order.
    pub fn parameter_names(&self) -> Vec<String> {
        self.law.parameters().into_iter().map(|p| p.name).collect()
    }

    /// Of a material in curvature, by its file or preset, with the hard gate and the timer of the authors' program.
    pub fn hard(name: &str) -> Result<ReadyMaterial> {
        let material = Material::find(name)?.in_curvature(None)?;
        ReadyMaterial::new(material, Timer::Authors, "hard")
    }
}

impl Material {
    /// A material file, or else the preset of this name.
    pub fn find(name: &str) -> Result<Material> {
        let path = Path::new(name);
        let json = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("json"));
        // A folder may have the name of a preset.
        if json || path.is_file() || (path.exists() && !path.is_dir()) {
            Material::load(path)
        } else {
            Material::preset(name)
                .map_err(|e| Error::BadInput(format!("--material: no file of that name, and {e}")))
        }
    }

    /// The same material in curvature, for a test that needs it. One in angles is converted by the mean triangle height H̄
    /// of its mesh, κ = θ/H̄ \[mm\]; one in curvature takes none.
    pub fn in_curvature(self, hinge_height_mm: Option<f64>) -> Result<Material> {
        match (self.strain, hinge_height_mm) {
            (StrainMeasure::Curvature, None) => Ok(self),
            (StrainMeasure::Curvature, Some(mm)) => bad_input(format!(
                "--hinge-height-mm {mm} is for materials in angles; '{}' is in curvature already, so leave it out",
                self.name
            )),
            (StrainMeasure::Angle, Some(mm)) if (1e-3..=1e4).contains(&mm) => {
                Ok(self.to_curvature(1e-3 * mm))
            }
            (StrainMeasure::Angle, Some(mm)) => bad_input(format!(
                "--hinge-height-mm {} is not a height; give 0.001 to 10000 millimetres",
                readable(mm)
            )),
            (StrainMeasure::Angle, None) => bad_input(format!(
                "material '{}' has thresholds in radians of a mesh, and this test needs curvature; \
                 give the mean triangle height of that mesh with --hinge-height-mm (5 for example), \
                 or use a material in curvature such as 'cotton broad'",
                self.name
            )),
        }
    }
}
