//! The mesh of a scene: made to measure or read from a file, and put into its place.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{motion::turn, node::Node};
use crate::{
    error::{Error, Result, readable},
    files::{json::present, words},
    mesh::{
        Mesh,
        generate::{self, Pattern},
        read_obj, repair,
    },
};

/// Where a mesh comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MeshSource {
    /// Made to measure.
    Generated {
        shape: Form,
        /// Its two sizes \[m\], in the order of [`Form::keys`].
        sizes: [f64; 2],
        /// Its two counts of cells.
        cells: [usize; 2],
        /// How the cells are cut.
        pattern: Pattern,
    },
    Obj {
        path: PathBuf,
        /// \[m\] per unit of the texture coordinates.
        texture_scale: f64,
        /// Whether faults are mended.
        repair: bool,
    },
}

/// Forms that are made to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Long and narrow, in the plane z = 0.
    Strip,
    /// In the plane z = 0.
    Rectangle,
    /// Upright, around the y axis.
    Cylinder,
    /// Lying, around the x axis.
    Tube,
}

words!(Form {
    Strip = "strip",
    Rectangle = "rectangle",
    Cylinder = "cylinder",
    Tube = "tube"
});

impl Form {
    /// Keys of the sizes and of the counts.
    pub(crate) fn keys(self) -> [&'static str; 4] {
        match self {
            Form::Strip => ["length_m", "width_m", "nx", "ny"],
            Form::Rectangle => ["width_m", "height_m", "nx", "ny"],
            Form::Cylinder => ["radius_m", "height_m", "around", "along"],
            Form::Tube => ["radius_m", "length_m", "around", "along"],
        }
    }
}

/// The mesh of a scene before it is made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MeshChoice {
    pub source: MeshSource,
    /// Turned first: unit axis through the origin, angle \[rad\].
    pub rotate: Option<([f64; 3], f64)>,
    /// Then shifted \[m\].
    pub translate: [f64; 3],
    /// Whether the shape in space is free of bending moment, else the flat material.
    pub rest_is_curved: bool,
}

/// Forms by name, with that of a file.
pub(super) const SHAPES: [&str; 5] = ["strip", "rectangle", "cylinder", "tube", "obj"];
pub(super) const PATTERNS: [&str; 3] = ["regular", "one_sided", "irregular"];
const SIZE: (f64, f64) = (1e-6, 1e3);
const CELLS: (f64, f64) = (1.0, 1e7);

impl MeshChoice {
    pub(super) fn read(node: &Node, folder: &Path) -> Result<MeshChoice> {
        let shape = node.section()?.choice("shape", &SHAPES)?;
        let known = Form::named(shape);
        let common = ["shape", "rest", "rotate", "translate_m"];
        let own: Vec<&str> = match known {
            Some(shape) => [&shape.keys()[..], &["vertices", "pattern", "seed"]].concat(),
            None => vec!["file", "texture_scale", "repair"],
        };
        let section = node.known(&[&common[..], &own].concat())?;
        Ok(MeshChoice {
            source: match known {
                Some(shape) => generated(node, shape)?,
                None => MeshSource::Obj {
                    path: folder.join(section.text("file")?),
                    texture_scale: section
                        .optional_number("texture_scale", (1e-9, 1e9))?
                        .unwrap_or(1.0),
                    repair: node.flag("repair")?.unwrap_or(false),
                },
            },
            rotate: node.child("rotate").map(|n| rotation(&n)).transpose()?,
            translate: node.vector("translate_m")?.unwrap_or_default(),
            rest_is_curved: section.optional_choice("rest", &["flat", "shape"])? == Some("shape"),
        })
    }

    /// How many vertices a generated mesh will have.
    pub(crate) fn vertices(&self) -> Option<usize> {
        match &self.source {
            MeshSource::Generated { shape, cells, .. } => {
                let [across, along] = *cells;
                let columns = match shape {
                    Form::Strip | Form::Rectangle => across + 1,
                    Form::Cylinder | Form::Tube => across,
                };
                Some(columns.saturating_mul(along + 1))
            }
            MeshSource::Obj { .. } => None,
        }
    }

    /// The mesh, with a sentence for everything worth a word. It is not checked.
    pub(crate) fn make(&self) -> Result<(Mesh, Vec<String>)> {
        let (mut mesh, words) = match &self.source {
            MeshSource::Generated {
                shape,
                sizes: [a, b],
                cells: [n, m],
                pattern,
            } => {
                let make = match shape {
                    Form::Strip => generate::strip,
                    Form::Rectangle => generate::rectangle,
                    Form::Cylinder => generate::cylinder,
                    Form::Tube => generate::tube,
                };
                (make(*a, *b, *n, *m, *pattern)?, Vec::new())
            }
            MeshSource::Obj {
                path,
                texture_scale,
                repair,
            } => from_file(path, *texture_scale, *repair)?,
        };
        if let Some((axis, angle)) = self.rotate {
            turn(&mut mesh.positions, axis, [0.0; 3], angle);
        }
        for position in &mut mesh.positions {
            *position = std::array::from_fn(|i| position[i] + self.translate[i]);
        }
        Ok((mesh, words))
    }

    pub(super) fn to_json(&self) -> Value {
        let source = match &self.source {
            MeshSource::Generated {
                shape,
                sizes,
                cells,
                pattern,
            } => {
                let keys = shape.keys();
                let (pattern, seed) = match pattern {
                    Pattern::Alternating => (PATTERNS[0], None),
                    Pattern::OneSided => (PATTERNS[1], None),
                    Pattern::Irregular { seed } => (PATTERNS[2], Some(*seed)),
                };
                json!({
                    "shape": shape.name(),
                    keys[0]: sizes[0],
                    keys[2]: cells[0],
                    keys[1]: sizes[1],
                    keys[3]: cells[1],
                    "pattern": pattern,
                    "seed": seed,
                })
            }
            MeshSource::Obj {
                path,
                texture_scale,
                repair,
            } => {
                let path = std::path::absolute(path).unwrap_or(path.clone());
                json!({
                    "shape": "obj",
                    "file": path.display().to_string(),
                    "texture_scale": texture_scale,
                    "repair": repair,
                })
            }
        };
        let turned =
            |(axis, angle): (_, f64)| json!({"axis": axis, "angle_deg": angle.to_degrees()});
        let placed = json!({
            "rotate": self.rotate.map(turned),
            "translate_m": self.translate,
            "rest": if self.rest_is_curved { "shape" } else { "flat" },
        });
        present([source, placed])
    }
}

fn generated(node: &Node, shape: Form) -> Result<MeshSource> {
    let section = node.section()?;
    let [first, second, across, along] = shape.keys();
    let sizes = [
        section.required_number(first, SIZE)?,
        section.required_number(second, SIZE)?,
    ];
    let vertices = section.whole("vertices", (4.0, CELLS.1))?;
    let cells = match vertices {
        Some(_) if section.has(across) || section.has(along) => {
            return node.refuse_key(
                "vertices",
                format!("chooses {across} and {along} itself; leave out one or the other"),
            );
        }
        Some(vertices) => {
            let cells = match shape {
                Form::Strip | Form::Rectangle => generate::rectangle_cells,
                Form::Cylinder | Form::Tube => generate::cylinder_cells,
            };
            cells(sizes[0], sizes[1], vertices)?.into()
        }
        None => {
            let count = |key: &str| match section.whole(key, CELLS)? {
                Some(count) => Ok(count),
                None => node.refuse_key(
                    key,
                    "is missing; add it, or \"vertices\" for about that many in all",
                ),
            };
            [count(across)?, count(along)?]
        }
    };
    let seed = section.whole("seed", (0.0, 2f64.powi(53)))?;
    let pattern = match section.optional_choice("pattern", &PATTERNS)? {
        Some("irregular") => Pattern::Irregular {
            seed: seed.unwrap_or(1) as u64,
        },
        _ if seed.is_some() => {
            return node.refuse_key("seed", "is for \"pattern\": \"irregular\" only; remove one");
        }
        Some("one_sided") => Pattern::OneSided,
        _ => Pattern::Alternating,
    };
    Ok(MeshSource::Generated {
        shape,
        sizes,
        cells,
        pattern,
    })
}

fn rotation(node: &Node) -> Result<([f64; 3], f64)> {
    let section = node.known(&["axis", "angle_deg"])?;
    let angle = section.required_number("angle_deg", (-360.0, 360.0))?;
    Ok((node.required_direction("axis")?, angle.to_radians()))
}

fn from_file(path: &Path, texture_scale: f64, mend: bool) -> Result<(Mesh, Vec<String>)> {
    let named = |e: Error| match e {
        Error::BadInput(text) if !text.contains(&*path.to_string_lossy()) => {
            let remedy = if mend {
                ""
            } else {
                " (or add \"repair\": true to the scene's mesh)"
            };
            Error::BadInput(format!("{}: {text}{remedy}", path.display()))
        }
        other => other,
    };
    let (mut mesh, mut words) = read_obj(path, texture_scale)?;
    if texture_scale != 1.0 {
        words.push(format!(
            "texture coordinates times {} m",
            readable(texture_scale)
        ));
    }
    if mend {
        let (mended, done) = repair(&mesh).map_err(named)?;
        mesh = mended;
        words.extend(done);
    } else {
        mesh.check().map_err(named)?;
    }
    Ok((mesh, words))
}
