//! The fabric of a scene: a material and what the scene changes about it.

use std::path::Path;

use serde_json::{Value, json};

use super::{node::Node, tensile::Tensile};
use crate::{
    error::{Error, Result},
    files::json::present,
    material::{LawName, Material, Timer},
    numeric::Compute,
    step::Parameters,
};

/// A material with all that a mesh needs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fabric {
    /// With the scene's changes put in.
    pub material: Material,
    /// When the flow timer runs.
    pub timer: Timer,
    /// Bending stiffness along the weft over that along the warp.
    pub weft_ratio: f64,
    /// Friction and plasticity of stretching.
    pub tensile: Option<Tensile>,
}

pub(super) const FABRIC: [&str; 9] = [
    "material",
    "law",
    "timer",
    "membrane",
    "density_kg_per_m2",
    "weft_ratio",
    "friction",
    "plasticity",
    "tensile",
];
pub(super) const TIMERS: [&str; 2] = ["authors", "printed"];
/// Range of the ratio of weft to warp.
pub(super) const RATIO: (f64, f64) = (1e-3, 1e3);
/// A strain that nothing reaches, the largest that a material file may name.
pub(super) const UNREACHABLE: f64 = 1e5;

impl Fabric {
    pub(super) fn read(node: &Node, folder: &Path) -> Result<Fabric> {
        let section = node.known(&FABRIC)?;
        let friction = node.flag("friction")?.unwrap_or(true);
        let plasticity = node.flag("plasticity")?.unwrap_or(true);
        let tensile = node
            .child("tensile")
            .map(|n| Tensile::read(&n))
            .transpose()?;
        let fabric = Fabric {
            material: changed(node, &material(node, folder)?, friction, plasticity)?,
            timer: match section.optional_choice("timer", &TIMERS)? {
                Some("printed") => Timer::Printed,
                _ => Timer::Authors,
            },
            weft_ratio: section.optional_number("weft_ratio", RATIO)?.unwrap_or(1.0),
            tensile: tensile.map(|t| t.with(friction, plasticity)),
        };
        fabric.complete(node)?;
        Ok(fabric)
    }

    /// A mesh needs a membrane and a density, which a material file may lack.
    fn complete(&self, node: &Node) -> Result<()> {
        let name = &self.material.name;
        if self.material.membrane.is_none() {
            return node.refuse_key(
                "membrane",
                format!(
                    "is missing, and material '{name}' has no membrane stiffness (bending tests do not measure it); add \
                     {{\"warp_N_per_m\": 50, \"weft_N_per_m\": 50, \"coupling_N_per_m\": 0.2, \"shear_N_per_m\": 30}}, \
                     which is paper 1's cotton, or \"membrane\": \"cotton\" for short"
                ),
            );
        }
        if self.material.density.is_none() {
            return node.refuse_key(
                "density_kg_per_m2",
                format!("is missing, and material '{name}' has none; add it (0.12 is a shirt)"),
            );
        }
        Ok(())
    }

    /// The fields of a run.
    pub(crate) fn parameters(&self, compute: &Compute) -> Result<Parameters> {
        let mut parameters = Parameters::from_material(&self.material, compute)?;
        parameters.weft_ratio = compute.tensor(&[self.weft_ratio], [1, 1]);
        if let Some(tensile) = &self.tensile {
            parameters.tensile = tensile.fields(compute);
        }
        Ok(parameters)
    }

    pub(super) fn to_json(&self) -> Value {
        let timer = if self.timer == Timer::Printed {
            TIMERS[1]
        } else {
            TIMERS[0]
        };
        present([json!({
            "material": self.material.to_json(),
            "timer": timer,
            "weft_ratio": self.weft_ratio,
            "tensile": self.tensile.as_ref().map(Tensile::to_json),
        })])
    }
}

/// The material as it stands in a preset, a file or the scene itself.
fn material(node: &Node, folder: &Path) -> Result<Material> {
    let Some(child) = node.child("material") else {
        return node.refuse_key(
            "material",
            "is missing; give a preset (`rumple materials` lists them), a file or an object",
        );
    };
    match child.value() {
        Value::String(name) => named_material(&child, name, folder),
        Value::Object(_) => {
            let place = format!("{}: fabric.material", child.place());
            Material::parse(&child.value().to_string(), &place)
        }
        _ => child.refuse(
            "must be the name of a preset, a file such as \"material.json\", or an object {…}",
        ),
    }
}

fn named_material(node: &Node, name: &str, folder: &Path) -> Result<Material> {
    let path = folder.join(name);
    if path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"))
        || path.is_file()
    {
        return Material::load(&path);
    }
    Material::preset(name).map_err(|e| node.error(format!("names no file, and {e}")))
}

/// The material with the scene's changes, read again so that its own checks hold.
fn changed(node: &Node, material: &Material, friction: bool, plasticity: bool) -> Result<Material> {
    let section = node.section()?;
    let mut value = material.to_json();
    if let Some(law) = section.optional_choice("law", &LawName::NAMES)? {
        value["law"] = json!(law);
    }
    if let Some(membrane) = node.child("membrane") {
        value["membrane"] = match membrane.value() {
            Value::String(name) => match Material::preset(name)?.to_json().get("membrane") {
                Some(stiffness) => stiffness.clone(),
                None => {
                    return membrane.refuse(format!(
                        "= \"{name}\" has no membrane stiffness; name a preset of paper 1, such as \"cotton\""
                    ));
                }
            },
            other => other.clone(),
        };
    }
    if let Some(density) = node.child("density_kg_per_m2") {
        value["density_kg_per_m2"] = density.value().clone();
    }
    if let (false, Some(Value::Object(fields))) = (friction, value.get_mut("friction")) {
        fields.insert("stiffness_Nm".into(), json!(0.0));
    }
    if let (false, Some(Value::Object(fields))) = (plasticity, value.get_mut("plasticity")) {
        let yields: Vec<String> = fields
            .keys()
            .filter(|k| k.starts_with("yield"))
            .cloned()
            .collect();
        for key in yields {
            fields.insert(key, json!(UNREACHABLE));
        }
    }
    Material::parse(&value.to_string(), &format!("{}: fabric", node.place())).map_err(|e| match e {
        Error::BadInput(text) => Error::BadInput(text.replacen("fabric: ", "fabric.", 1)),
        other => other,
    })
}
