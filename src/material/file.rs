//! Material files: reading, checking, writing.
//!
//! A file is read by hand rather than derived: its keys, ranges and required fields come from the parameters of the
//! laws. Every message names the field, its value, its range and, for a typing error, the nearest known key.

use std::{path::Path, sync::Arc};

use serde_json::{Map, Value, json};

use super::{
    Law, LawName, Parameter, ParameterRole, StrainMeasure, Timer,
    format::{MAX_BRANCHES, MEMBRANE, PLACES, TOP},
    parameter,
};
use crate::{
    error::{Error, Result, bad_input},
    files::{
        json::{JsonObject, join, kind_of, parse, present},
        read_text,
    },
};

/// A fabric: a law with its parameters, and what is known about where they come from.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// What it is called.
    pub name: String,
    /// How its thresholds are measured.
    pub strain: StrainMeasure,
    /// Its law.
    pub law: LawName,
    /// Parameters by name, in the order of the file format.
    pub parameters: Vec<(String, f64)>,
    /// Relaxation branches: (stiffness \[N·m\], time \[s\]).
    pub relaxation: Vec<(f64, f64)>,
    /// Warp, weft, coupling, shear stiffness \[N/m\].
    pub membrane: Option<[f64; 4]>,
    /// Mass per area \[kg/m²\].
    pub density: Option<f64>,
    /// What is measured and what is assumed.
    pub notes: Vec<String>,
    /// Where the numbers come from.
    pub sources: Vec<String>,
}

impl Material {
    /// Reads and checks a file.
    pub fn load(path: &Path) -> Result<Material> {
        Material::parse(&read_text(path)?, &path.display().to_string())
    }

    /// Reads and checks JSON text; `place` is named in messages.
    pub fn parse(text: &str, place: &str) -> Result<Material> {
        let remedy = "`rumple materials NAME` prints a file to start from";
        let value = parse(text, place, remedy)?;
        let top = JsonObject::new(place, "", &value)?;
        top.known(&TOP)?;
        let strain = match top.choice("strain", &["curvature", "angle"])? {
            "angle" => StrainMeasure::Angle,
            _ => StrainMeasure::Curvature,
        };
        let law = LawName::named(top.choice("law", &LawName::NAMES)?);
        let law = law.unwrap_or(LawName::TimeDependent);
        let relaxation = relaxation(place, &value, strain)?;
        let mut material = Material {
            name: top.text("name")?,
            strain,
            law,
            parameters: Vec::new(),
            relaxation,
            membrane: membrane(place, &value)?,
            density: top.optional_number("density_kg_per_m2", (1e-4, 100.0))?,
            notes: top.texts("notes")?,
            sources: top.texts("sources")?,
        };
        for section in ["", "friction", "plasticity"] {
            material.read_parameters(place, &value, section)?;
        }
        material.check(place)?;
        Ok(material)
    }

    fn read_parameters(&mut self, place: &str, value: &Value, name: &'static str) -> Result<()> {
        let section = match name {
            "" => JsonObject::new(place, "", value)?,
            _ if value.get(name).is_none() => return Ok(()),
            _ => JsonObject::new(place, name, &value[name])?,
        };
        let places = PLACES.iter().filter(|p| p.section == name);
        if !name.is_empty() {
            let keys: Vec<String> = places.clone().map(|p| p.full_key(self.strain)).collect();
            section.known(&keys.iter().map(String::as_str).collect::<Vec<_>>())?;
        }
        for entry in places {
            let key = entry.full_key(self.strain);
            let parameter = (entry.parameter)();
            if let Some(number) = section.number(&key)? {
                parameter.check(place, &section.field(&key), number, self.strain)?;
                self.parameters.push((parameter.name, number));
            }
        }
        Ok(())
    }

    /// What no single field can say: everything the law needs is there, and the pair is ordered.
    fn check(&self, place: &str) -> Result<()> {
        if self.law != LawName::TimeDependent && self.has_population() {
            let spread = parameter::spreads()
                .into_iter()
                .find(|spread| self.given(&spread.name).is_some_and(|s| s > 0.0));
            return bad_input(format!(
                "{place}: {} needs \"law\": \"time_dependent\", not \"{}\"; remove one of the two",
                spread.map_or_else(String::new, |s| self.field_of(&s.name)),
                self.law.name()
            ));
        }
        if self.law != LawName::TimeDependent && !self.relaxation.is_empty() {
            return bad_input(format!(
                "{place}: relaxation branches need \"law\": \"time_dependent\", not \"{}\"; remove one of the two",
                self.law.name()
            ));
        }
        for parameter in self.build_law(Timer::Authors).parameters() {
            let value = self.value(&parameter.name).ok_or_else(|| {
                let field = self.field_of(&parameter.name);
                Error::BadInput(format!(
                    "{place}: {field} is missing; the law {} needs {} ({}), {}",
                    self.law.name(),
                    parameter.name,
                    parameter.dimension.unit(self.strain),
                    parameter.meaning
                ))
            })?;
            parameter.check(place, &self.field_of(&parameter.name), value, self.strain)?;
        }
        let (initial, saturated) = (
            self.value("friction_threshold_initial"),
            self.value("friction_threshold_saturated"),
        );
        if let (Some(initial), Some(saturated)) = (initial, saturated)
            && initial > saturated
        {
            return bad_input(format!(
                "{place}: {} = {saturated} is below {} = {initial}; resting yarns only lock, so make it at least as large",
                self.field_of("friction_threshold_saturated"),
                self.field_of("friction_threshold_initial"),
            ));
        }
        Ok(())
    }

    /// The law of this material with the given timer.
    pub(crate) fn build_law(&self, timer: Timer) -> Arc<dyn Law> {
        let (branches, population) = (self.relaxation.len(), self.has_population());
        self.law.law_of(timer, branches, population)
    }

    /// Whether its yarns differ: a spread is given and not zero.
    pub(crate) fn has_population(&self) -> bool {
        parameter::spreads()
            .iter()
            .any(|spread| self.given(&spread.name).is_some_and(|s| s > 0.0))
    }

    /// A parameter's value by its role; of the first branch, where it is one of a branch.
    pub(crate) fn value_of(&self, role: ParameterRole) -> Option<f64> {
        let parameters = self.build_law(Timer::Authors).parameters();
        self.value(&parameters.iter().find(|p| p.role == role)?.name)
    }

    /// A parameter's value by its name, where the file gives it.
    fn given(&self, name: &str) -> Option<f64> {
        let mut given = self.parameters.iter();
        given.find(|(n, _)| n == name).map(|(_, value)| *value)
    }

    /// A parameter's value by its name. A spread of a population that the file does not give is zero.
    pub fn value(&self, name: &str) -> Option<f64> {
        if let Some(value) = self.given(name) {
            return Some(value);
        }
        if parameter::spreads()
            .iter()
            .any(|spread| spread.name == name)
        {
            return self.has_population().then_some(0.0);
        }
        self.relaxation
            .iter()
            .enumerate()
            .find_map(|(i, (stiffness, time))| match name {
                _ if name == parameter::branch_stiffness(i + 1).name => Some(*stiffness),
                _ if name == parameter::branch_time(i + 1).name => Some(*time),
                _ => None,
            })
    }

    /// The values of a law's parameters, in its order.
    pub(crate) fn values_for(&self, law: &dyn Law) -> Result<Vec<f64>> {
        law.parameters()
            .iter()
            .map(|p| {
                self.value(&p.name).ok_or_else(|| {
                    Error::BadInput(format!(
                        "material '{}' has no {}, which the law {} needs; add {} to its file",
                        self.name,
                        p.name,
                        law.name(),
                        self.field_of(&p.name)
                    ))
                })
            })
            .collect()
    }

    /// The same material in curvature, κ = θ/H̄, H̄ the mean height \[m\] of a hinge's two triangles on the mesh
    /// that the angles belong to. A row of hinges with the energy ½·(3K_b)·(l/H̄)·θ² is a sheet of rigidity
    /// 3·K_b, so the stiffnesses triple (paper 1's Eq. 22 has the 3 in the strain instead; see docs/MODEL.md).
    pub fn to_curvature(&self, mean_height: f64) -> Material {
        let mut material = self.clone();
        if self.strain == StrainMeasure::Angle {
            material.strain = StrainMeasure::Curvature;
            for place in &PLACES {
                let parameter = (place.parameter)();
                let factor = match parameter.dimension {
                    parameter::Dimension::Strain => 1.0 / mean_height,
                    parameter::Dimension::Stiffness => 3.0,
                    _ => continue,
                };
                let mut values = material.parameters.iter_mut();
                if let Some((_, v)) = values.find(|(n, _)| *n == parameter.name) {
                    *v *= factor;
                }
            }
            for (stiffness, _) in &mut material.relaxation {
                *stiffness *= 3.0;
            }
        }
        material
    }

    /// A strain that is typical of this material's branches: the largest threshold it has, else 1.
    pub fn strain_scale(&self) -> f64 {
        [
            "friction_threshold_saturated",
            "yield_strain",
            "friction_threshold_initial",
        ]
        .iter()
        .find_map(|name| self.value(name).filter(|v| *v > 0.0))
        .unwrap_or(1.0)
    }

    /// The field of a parameter as a file writes it.
    fn field_of(&self, name: &str) -> String {
        let place = PLACES.iter().find(|p| (p.parameter)().name == name);
        place.map_or(name.to_string(), |p| {
            join(p.section, &p.full_key(self.strain))
        })
    }

    /// The file's contents, in the order in which people read it.
    pub fn to_json(&self) -> Value {
        let mut top = Map::new();
        top.insert("name".into(), json!(self.name));
        top.insert("strain".into(), json!(self.strain.name()));
        top.insert("law".into(), json!(self.law.name()));
        for place in &PLACES {
            let Some(value) = self.given(&(place.parameter)().name) else {
                continue;
            };
            let key = place.full_key(self.strain);
            if place.section.is_empty() {
                top.insert(key, json!(value));
            } else if let Value::Object(section) =
                top.entry(place.section).or_insert_with(|| json!({}))
            {
                section.insert(key, json!(value));
            }
        }
        let branch =
            |(stiffness, time): &(f64, f64)| json!({"stiffness_Nm": stiffness, "time_s": time});
        let branches: Vec<Value> = self.relaxation.iter().map(branch).collect();
        let membrane = |values| Value::from_iter(MEMBRANE.into_iter().zip::<[f64; 4]>(values));
        let more = json!({
            "relaxation": (!branches.is_empty()).then_some(branches),
            "membrane": self.membrane.map(membrane),
            "density_kg_per_m2": self.density,
            "notes": (!self.notes.is_empty()).then_some(&self.notes),
            "sources": (!self.sources.is_empty()).then_some(&self.sources),
        });
        present([Value::Object(top), more])
    }
}

fn relaxation(place: &str, value: &Value, strain: StrainMeasure) -> Result<Vec<(f64, f64)>> {
    let branches = match value.get("relaxation") {
        None => return Ok(Vec::new()),
        Some(Value::Array(branches)) if branches.len() <= MAX_BRANCHES => branches,
        Some(Value::Array(branches)) => {
            return bad_input(format!(
                "{place}: relaxation has {} branches; at most {MAX_BRANCHES} are supported",
                branches.len()
            ));
        }
        Some(other) => {
            return bad_input(format!(
                "{place}: relaxation must be a list of {{\"stiffness_Nm\": …, \"time_s\": …}}, not {}",
                kind_of(other)
            ));
        }
    };
    branches
        .iter()
        .enumerate()
        .map(|(i, branch)| {
            let name = format!("relaxation[{i}]");
            let section = JsonObject::new(place, &name, branch)?;
            section.known(&["stiffness_Nm", "time_s"])?;
            let read = |key: &str, parameter: Parameter| {
                let number = section.required_number(key, (f64::NEG_INFINITY, f64::INFINITY))?;
                parameter.check(place, &section.field(key), number, strain)?;
                Ok::<f64, Error>(number)
            };
            Ok((
                read("stiffness_Nm", parameter::branch_stiffness(i + 1))?,
                read("time_s", parameter::branch_time(i + 1))?,
            ))
        })
        .collect()
}

fn membrane(place: &str, value: &Value) -> Result<Option<[f64; 4]>> {
    let Some(value) = value.get("membrane") else {
        return Ok(None);
    };
    let section = JsonObject::new(place, "membrane", value)?;
    section.known(&MEMBRANE)?;
    let mut stiffness = [0.0; 4];
    for (slot, key) in stiffness.iter_mut().zip(MEMBRANE) {
        *slot = section.required_number(key, (0.0, 1e7))?;
    }
    Ok(Some(stiffness))
}
