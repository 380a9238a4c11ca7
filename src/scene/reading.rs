//! Readings of a scene: what is read off the cloth in each row of its table.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Grip, node::Node, selection::Selection};
use crate::{
    error::{Result, bad_input},
    files::json::present,
    mesh::{Mesh, Topology, read_obj},
    reading::Reading,
};

/// A reading by name, before the mesh is there.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadingChoice {
    /// Head of its column, with the unit.
    pub name: String,
    kind: ReadingKind,
}

#[derive(Debug, Clone, PartialEq)]
enum ReadingKind {
    /// One that needs nothing else.
    Plain(&'static str),
    RecoveryAngle([Selection; 2], [Selection; 2]),
    RmsHeight([f64; 3]),
    RmsRadius([f64; 3], [f64; 3]),
    MeanHeight([f64; 3]),
    CurvatureWave(bool, usize),
    Drape([f64; 3], f64),
    Distance(PathBuf),
    HandleForce(String, [f64; 3]),
    HandleTorque(String, [f64; 3], [f64; 3]),
}

/// Names, their units as endings of columns, and the keys that each needs or takes.
pub(super) const KINDS: [(&str, &str, &[&str]); 14] = [
    ("total_angle", "_rad", &[]),
    ("bending_energy", "_J", &[]),
    ("plastic_energy", "_J", &[]),
    ("stretch_energy", "_J", &[]),
    ("kinetic_energy", "_J", &[]),
    ("recovery_angle", "_deg", &["roots", "tips"]),
    ("rms_height", "_m", &["axis"]),
    ("rms_radius", "_m", &["axis", "about_m"]),
    ("mean_height", "_m", &["axis"]),
    ("curvature_wave", "_per_m", &["along", "waves"]),
    ("drape", "", &["axis", "support_area_m2"]),
    ("distance", "_m", &["file"]),
    ("handle_force", "_N", &["handle", "axis"]),
    ("handle_torque", "_Nm", &["handle", "axis", "about_m"]),
];
/// How many of [`KINDS`] need nothing else.
const PLAIN: usize = 5;

impl ReadingChoice {
    pub(super) fn read_all(top: &Node, folder: &Path) -> Result<Vec<ReadingChoice>> {
        let mut list: Vec<ReadingChoice> = Vec::new();
        for node in top.list("readings")? {
            let choice = ReadingChoice::read(&node, folder)?;
            if list.iter().any(|r| r.name == choice.name) {
                return node.refuse(format!(
                    "would be a second column '{}'; give it a \"name\" of its own",
                    choice.name
                ));
            }
            list.push(choice);
        }
        Ok(list)
    }

    /// Unit in words.
    pub(crate) fn unit(&self) -> &'static str {
        match &self.kind {
            ReadingKind::Plain("total_angle") => "rad",
            ReadingKind::Plain(_) => "J",
            ReadingKind::RecoveryAngle(..) => "°",
            ReadingKind::RmsHeight(_) | ReadingKind::RmsRadius(..) | ReadingKind::MeanHeight(_) => {
                "m"
            }
            ReadingKind::Distance(_) => "m",
            ReadingKind::CurvatureWave(..) => "1/m",
            ReadingKind::Drape(..) => "1",
            ReadingKind::HandleForce(..) => "N",
            ReadingKind::HandleTorque(..) => "N·m",
        }
    }

    fn read(node: &Node, folder: &Path) -> Result<ReadingChoice> {
        let names = KINDS.map(|(name, _, _)| name);
        let kind = match node.value() {
            Value::String(word) => match names.iter().find(|n| *n == word) {
                Some(name) => *name,
                None => return node.unknown("reading", word, &names),
            },
            _ => node.section()?.choice("kind", &names)?,
        };
        let index = names.iter().position(|n| *n == kind).unwrap_or(0);
        let (_, unit, keys) = KINDS[index];
        if node.value().is_string() {
            return match index < PLAIN {
                true => Ok(ReadingChoice {
                    name: format!("{kind}{unit}"),
                    kind: ReadingKind::Plain(kind),
                }),
                false => node.refuse(format!(
                    "needs more: write {{\"kind\": \"{kind}\", …}} with {}",
                    keys.join(", ")
                )),
            };
        }
        let section = node.known(&[&["kind", "name"], keys].concat())?;
        let name = section
            .optional_text("name")?
            .unwrap_or(format!("{kind}{unit}"));
        if name.is_empty() || name.contains([',', '"']) {
            return node.refuse_key(
                "name",
                "is the head of a column: give it letters, and no comma or quote",
            );
        }
        Ok(ReadingChoice {
            name,
            kind: read_kind(node, kind, folder)?,
        })
    }

    /// The reading on a mesh.
    pub(super) fn resolve(
        &self,
        place: &str,
        grips: &[Grip],
        mesh: &Mesh,
        topology: &Topology,
    ) -> Result<Reading> {
        let select = |selection: &Selection| match selection.vertices(mesh, topology) {
            Ok(vertices) => Ok(vertices),
            Err(why) => bad_input(format!("{place}: reading '{}': {why}", self.name)),
        };
        let held = |name: &str| held(place, grips, name);
        Ok(match &self.kind {
            ReadingKind::Plain("total_angle") => Reading::TotalAngle,
            ReadingKind::Plain("bending_energy") => Reading::BendingEnergy,
            ReadingKind::Plain("plastic_energy") => Reading::PlasticEnergy,
            ReadingKind::Plain("stretch_energy") => Reading::StretchEnergy,
            ReadingKind::Plain(_) => Reading::KineticEnergy,
            ReadingKind::RecoveryAngle(roots, tips) => Reading::RecoveryAngle {
                roots: [select(&roots[0])?, select(&roots[1])?],
                tips: [select(&tips[0])?, select(&tips[1])?],
            },
            ReadingKind::RmsHeight(axis) => Reading::RmsHeight { axis: *axis },
            ReadingKind::RmsRadius(axis, about) => Reading::RmsRadius {
                axis: *axis,
                about: *about,
            },
            ReadingKind::MeanHeight(axis) => Reading::MeanHeight { axis: *axis },
            ReadingKind::CurvatureWave(along_weft, waves) => Reading::CurvatureWave {
                along_weft: *along_weft,
                waves: *waves,
            },
            ReadingKind::Drape(axis, support_area) => Reading::Drape {
                axis: *axis,
                support_area: *support_area,
            },
            ReadingKind::Distance(path) => Reading::Distance {
                targets: targets(path, mesh.positions.len())?,
            },
            ReadingKind::HandleForce(handle, direction) => Reading::HandleForce {
                vertices: held(handle)?,
                direction: *direction,
            },
            ReadingKind::HandleTorque(handle, axis, about) => Reading::HandleTorque {
                vertices: held(handle)?,
                axis: *axis,
                about: *about,
            },
        })
    }

    pub(super) fn to_json(&self) -> Value {
        let pair = |s: &[Selection; 2]| json!([s[0].to_json(), s[1].to_json()]);
        let kind = match &self.kind {
            ReadingKind::Plain(kind) => json!({ "kind": kind }),
            ReadingKind::RecoveryAngle(roots, tips) => {
                json!({ "kind": "recovery_angle", "roots": pair(roots), "tips": pair(tips) })
            }
            ReadingKind::RmsHeight(axis) => json!({ "kind": "rms_height", "axis": axis }),
            ReadingKind::RmsRadius(axis, about) => {
                json!({ "kind": "rms_radius", "axis": axis, "about_m": about })
            }
            ReadingKind::MeanHeight(axis) => json!({ "kind": "mean_height", "axis": axis }),
            ReadingKind::CurvatureWave(along_weft, waves) => json!({
                "kind": "curvature_wave",
                "along": if *along_weft { "weft" } else { "warp" },
                "waves": waves,
            }),
            ReadingKind::Drape(axis, area) => {
                json!({ "kind": "drape", "axis": axis, "support_area_m2": area })
            }
            ReadingKind::Distance(path) => {
                let path = std::path::absolute(path).unwrap_or(path.clone());
                json!({ "kind": "distance", "file": path.display().to_string() })
            }
            ReadingKind::HandleForce(handle, axis) => {
                json!({ "kind": "handle_force", "handle": handle, "axis": axis })
            }
            ReadingKind::HandleTorque(handle, axis, about) => {
                json!({ "kind": "handle_torque", "handle": handle, "axis": axis, "about_m": about })
            }
        };
        present([kind, json!({ "name": self.name })])
    }
}

fn read_kind(node: &Node, kind: &'static str, folder: &Path) -> Result<ReadingKind> {
    let section = node.section()?;
    let axis = || node.required_direction("axis");
    let about = || Ok::<_, crate::error::Error>(node.vector("about_m")?.unwrap_or_default());
    Ok(match kind {
        "recovery_angle" => ReadingKind::RecoveryAngle(two(node, "roots")?, two(node, "tips")?),
        "rms_height" => ReadingKind::RmsHeight(axis()?),
        "rms_radius" => ReadingKind::RmsRadius(axis()?, about()?),
        "mean_height" => ReadingKind::MeanHeight(axis()?),
        "curvature_wave" => ReadingKind::CurvatureWave(
            section.optional_choice("along", &["warp", "weft"])? == Some("weft"),
            match section.whole("waves", (1.0, 1e4))? {
                Some(waves) => waves,
                None => {
                    return node.refuse_key("waves", "is missing; how many waves over the cloth?");
                }
            },
        ),
        "drape" => ReadingKind::Drape(
            axis()?,
            section.required_number("support_area_m2", (0.0, 1e3))?,
        ),
        "distance" => ReadingKind::Distance(folder.join(section.text("file")?)),
        "handle_force" => ReadingKind::HandleForce(section.text("handle")?, axis()?),
        "handle_torque" => ReadingKind::HandleTorque(section.text("handle")?, axis()?, about()?),
        plain => ReadingKind::Plain(plain),
    })
}

fn two(node: &Node, key: &str) -> Result<[Selection; 2]> {
    match &node.list(key)?[..] {
        [a, b] => Ok([Selection::read(a)?, Selection::read(b)?]),
        _ => node.refuse_key(key, "must be two selections of vertices, one for each leg"),
    }
}

/// Vertices of a handle.
fn held(place: &str, grips: &[Grip], name: &str) -> Result<Vec<usize>> {
    match grips.iter().find(|g| g.handle.name == name) {
        Some(grip) => Ok(grip.vertices.clone()),
        None => {
            let names: Vec<&str> = grips.iter().map(|g| g.handle.name.as_str()).collect();
            bad_input(format!(
                "{place}: {}",
                crate::error::unknown("handle", name, &names)
            ))
        }
    }
}

fn targets(path: &Path, vertices: usize) -> Result<Vec<[f64; 3]>> {
    let (mesh, _) = read_obj(path, 1.0)?;
    if mesh.positions.len() != vertices {
        return bad_input(format!(
            "{}: has {} vertices where the scene's mesh has {vertices}; the target of a distance is the same mesh",
            path.display(),
            mesh.positions.len()
        ));
    }
    Ok(mesh.positions)
}
