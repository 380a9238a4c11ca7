//! Fitted parameters in the forms that other programs read.

use serde_json::{Value, json};

use super::result::FitResult;
use crate::{
    error::{Error, Result, bad_input},
    material::{LawName, Material, ParameterRole, StrainMeasure, Timer},
};

/// The groups of a result, in the order of its points.
fn groups(result: &FitResult) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for point in &result.points {
        if !groups.contains(&point.group) {
            groups.push(point.group.clone());
        }
    }
    groups
}

/// Value of a parameter for a group: its own, else the one that all share.
fn value(result: &FitResult, name: &str, group: &str) -> Option<f64> {
    let local = format!("{name}[{group}]");
    let find = |wanted: &str| result.parameters.iter().find(|p| p.name == wanted);
    find(&local).or_else(|| find(name)).map(|p| p.best)
}

/// A material a group, with its file name.
pub(crate) fn materials(result: &FitResult) -> Result<Vec<(String, Material)>> {
    let law = LawName::find("law", &result.law)?;
    let groups = groups(result);
    let material = |group: &String| {
        let number = |name: &str| value(result, name, group);
        let places = crate::material::parameter_names();
        let parameters = places
            .into_iter()
            .filter_map(|name| Some((name.clone(), number(&name)?)));
        let parameters_of_law = law
            .law_of(
                Timer::Authors,
                result.relaxation_branches,
                result.population,
            )
            .parameters();
        let branches = |role| {
            let of_role = parameters_of_law.iter().filter(move |p| p.role == role);
            of_role.map(|p| number(&p.name))
        };
        let stiffnesses = branches(ParameterRole::BranchStiffness);
        let relaxation = stiffnesses.zip(branches(ParameterRole::BranchTime));
        let word = file_word(group);
        let alike = groups.iter().filter(|g| file_word(g) == word);
        let file = match (groups.len(), alike.count()) {
            (1, _) => "material.json".to_string(),
            (_, 1) => format!("material-{word}.json"),
            // Such as names in another script: their place in the data tells them apart.
            _ => {
                let place = groups.iter().position(|g| g == group).unwrap_or(0);
                format!("material-{word}-{}.json", place + 1)
            }
        };
        let material = Material {
            name: format!("{} ({group})", result.name),
            strain: StrainMeasure::Curvature,
            law,
            parameters: parameters.collect(),
            relaxation: relaxation.filter_map(|(k, t)| Some((k?, t?))).collect(),
            membrane: None,
            density: None,
            notes: notes(result, group),
            sources: result
                .data
                .iter()
                .map(|d| format!("fitted to {}", d.file))
                .collect(),
        };
        (file, material)
    };
    Ok(groups.iter().map(material).collect())
}

fn notes(result: &FitResult, group: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if result.synthetic {
        notes.push("fitted to synthetic data".to_string());
    }
    if result.misfit.verdict.starts_with("misfit") {
        notes.push(result.misfit.verdict.clone());
    }
    let own = |name: &str| {
        name.split_once('[')
            .is_none_or(|(_, of)| of.trim_end_matches(']') == group)
    };
    for p in result.parameters.iter().filter(|p| own(&p.name)) {
        notes.push(match (p.free, p.value, p.std_error) {
            (true, Some(_), Some(error)) => {
                format!("{} ± {error:.3e} {}: {}", p.name, p.unit, p.verdict)
            }
            _ => format!("{}: {}", p.name, p.verdict),
        });
    }
    notes
}

/// A group's name as part of a file name.
fn file_word(text: &str) -> String {
    let word = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    text.chars().map(word).collect()
}

/// Mean triangle height of the mesh that paper 1's angles are given for \[m\]: κ = θ/H̄.
const HINGE_HEIGHT: f64 = 5e-3;

/// Files of the export folder: name and contents.
pub(crate) fn exports(result: &FitResult) -> Result<Vec<(String, String)>> {
    let mut files = vec![("parameters.csv".to_string(), csv(result))];
    for (name, material) in materials(result)? {
        if material.law == LawName::TimeDependent {
            let stem = name.trim_end_matches(".json").replace("material", "paper1");
            files.push((
                format!("{stem}.json"),
                format!("{:#}\n", paper_1(&material)?),
            ));
        }
    }
    Ok(files)
}

/// The cloth of paper 1's reference program, whose stiffnesses are rigidities: thresholds as angles. Refuses a
/// material that lacks one of the law's parameters.
fn paper_1(material: &Material) -> Result<Value> {
    let number = |name: &str| match material.value(name) {
        Some(value) => Ok(value),
        None => bad_input(format!(
            "material '{}' has no {name}, which paper 1's program needs; give every parameter of the law a value",
            material.name
        )),
    };
    let angle = |name: &str| Ok::<f64, Error>(number(name)? * HINGE_HEIGHT);
    Ok(json!({
        "_comment": format!(
            "made by rumple from '{}'; angles in radians for hinges whose triangles are {} mm high (theta = kappa*H): scale thres_0, thres_inf and yield_ori by H/{} mm for another mesh; density and stretching are not fitted{}",
            material.name,
            1e3 * HINGE_HEIGHT,
            1e3 * HINGE_HEIGHT,
            match material.has_population() {
                true => "; the spreads over the yarns are left out, because that program has one yarn: times and thresholds are those of the middle yarn, and its curves are not those of the fit",
                false => "",
            }
        ),
        "Clothes": {
            "Bending": number("bending_stiffness")?,
            "Is_Bending_Plastic": true,
            "Is_Bending_Friction": true,
            "Bend_Plastic": {
                "k_hardening": number("hardening_stiffness")?,
                "k_hardening_0": number("hardening_drop")?,
                "tao": number("flow_time")?,
                "yield_ori": angle("yield_strain")?,
            },
            "Bend_Friction": {
                "k": number("friction_stiffness")?,
                "thres_0": angle("friction_threshold_initial")?,
                "thres_inf": angle("friction_threshold_saturated")?,
                "tao": number("dwell_time")?,
            },
        },
    }))
}

fn csv(result: &FitResult) -> String {
    let mut text = String::new();
    if result.synthetic {
        text += "# fitted to synthetic data\n";
    }
    text += "name,symbol,unit,value,std_error,ci95_low,ci95_high,best,verdict\n";
    let cell = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:e}"));
    for p in &result.parameters {
        let verdict = p.verdict.replace('"', "'");
        text += &format!(
            "{},{},{},{},{},{},{},{:e},\"{verdict}\"\n",
            p.name,
            p.symbol,
            p.unit,
            cell(p.value),
            cell(p.std_error),
            cell(p.ci95[0]),
            cell(p.ci95[1]),
            p.best
        );
    }
    text
}
