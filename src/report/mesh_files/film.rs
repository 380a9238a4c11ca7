//! A run as an animated glTF 2.0 file (`.glb`), which browsers (three.js) and Blender play.
//!
//! The first frame is the mesh; every other frame is a morph target of it, as differences of
//! positions and normals. At the time of a frame its target has weight 1 and all others 0; weights
//! run linearly between, so that positions do too. Films keep at most [`MOST_FRAMES`] frames,
//! evenly thinned, first and last included: weights grow with the square of the frames.
//!
//! An obstacle has size zero in all directions while it is absent, at once and without a shrinking in between: the
//! way to hide a mesh for a time that the specification names ("glTF 2.0 Specification", section 3.5.3).
//!
//! Sparse accessors are not used: they save bytes only where most vertices rest, and not all
//! viewers read them in morph targets.
//!
//! [`MOST_FRAMES`]: super::MOST_FRAMES

use std::path::Path;

use serde_json::{Value, json};

use super::{
    film_frames::{check, kept, times},
    glb::{Buffer, Use},
};
#[cfg(doc)]
use crate::error::Error;
use crate::{
    error::{Result, bad_input},
    files::{check_extension, write_whole},
    mesh::surface::{Surface, Triple, cross, dot, minus, unit},
};

/// Normal of a vertex without area around it; glTF wants unit vectors.
const NO_NORMAL: Triple = [0.0, 0.0, 1.0];
/// Numbers of the materials, and their colours in linear light: the renderer's.
const CLOTH: usize = 0;
const GREY: usize = 1;
const CLOTH_COLOR: [f64; 4] = [0.216, 0.314, 0.479, 1.0];
const GREY_COLOR: [f64; 4] = [0.342, 0.342, 0.342, 1.0];

/// One moment of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frame<'a> {
    /// When it is shown \[s\]; rises from frame to frame. A film starts with its first frame.
    pub time: f64,
    /// Positions of the cloth \[m\], shape \[vertices, 3\].
    pub positions: &'a [[f64; 3]],
}

/// A plain grey mesh that rests or is moved, always or for a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilmObstacle<'a> {
    /// The mesh where its offset is zero.
    pub surface: Surface<'a>,
    /// By how much it is moved \[m\], one a frame; empty where it rests.
    pub offsets: &'a [[f64; 3]],
    /// Whether it is there, one a frame; empty where it always is.
    pub present: &'a [bool],
}

impl FilmObstacle<'_> {
    /// Its size in a frame, as a share.
    fn scale(&self, frame: usize) -> Triple {
        let present = self.present.get(frame).copied().unwrap_or(true);
        [f64::from(u8::from(present)); 3]
    }
}

/// A plain grey mesh that changes its shape, such as a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moving<'a> {
    /// In all frames, shape \[triangles, 3\].
    pub triangles: &'a [[usize; 3]],
    /// Positions \[m\], shape \[frames\]\[vertices, 3\].
    pub frames: &'a [Vec<[f64; 3]>],
}

/// A run to be played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Film<'a> {
    /// Triangles of the cloth, in all frames, shape \[triangles, 3\].
    pub triangles: &'a [[usize; 3]],
    /// At least one.
    pub frames: &'a [Frame<'a>],
    /// May be empty.
    pub obstacles: &'a [FilmObstacle<'a>],
    /// What the cloth is worn by.
    pub body: Option<Moving<'a>>,
    /// What is upwards; viewers show it so.
    pub up: [f64; 3],
}

impl Film<'_> {
    /// Writes the film as `.glb`.
    ///
    /// # Errors
    /// [`Error::BadInput`] for another extension or frames that do not fit together;
    /// [`Error::Io`] when the file cannot be written.
    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        check_extension(path, "film", "glb")?;
        write_whole(path, &self.bytes()?)
    }

    /// The bytes of a `.glb` file.
    ///
    /// # Errors
    /// [`Error::BadInput`] for frames that do not fit together.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        check(self)?;
        let of_body = self.body.map_or(0, |body| body.frames[0].len());
        let kept = kept(self.frames.len(), self.frames[0].positions.len() + of_body);
        let times = times(self.frames, &kept)?;
        let turn = turn_upwards(self.up)?;
        let mut buffer = Buffer::default();
        let cloth = |frame: usize| Surface {
            positions: self.frames[frame].positions,
            triangles: self.triangles,
        };
        let named = ("cloth", CLOTH);
        let mut meshes = vec![morphing(&mut buffer, named, &cloth, &kept, &times)];
        let mut nodes = vec![
            json!({ "name": "world", "rotation": turn }),
            json!({ "name": "cloth", "mesh": 0 }),
        ];
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            let name = format!("obstacle {index}");
            let first = obstacle.offsets.first().copied().unwrap_or_default();
            nodes.push(json!({
                "name": name,
                "mesh": meshes.len(),
                "translation": first,
                "scale": obstacle.scale(0),
            }));
            let primitive = primitive(&mut buffer, &obstacle.surface, GREY);
            meshes.push(json!({ "name": name, "primitives": [primitive] }));
        }
        if let Some(body) = self.body {
            nodes.push(json!({ "name": "body", "mesh": meshes.len() }));
            let shape = |frame: usize| Surface {
                positions: &body.frames[frame],
                triangles: body.triangles,
            };
            let named = ("body", GREY);
            meshes.push(morphing(&mut buffer, named, &shape, &kept, &times));
        }
        nodes[0]["children"] = json!((1..nodes.len()).collect::<Vec<_>>());
        let mut document = json!({
            // Every film is of a simulation or of networks, none is a measurement.
            "asset": { "version": "2.0", "generator": "rumple", "extras": { "synthetic": true } },
            "scene": 0,
            "scenes": [{ "nodes": [0] }],
            "nodes": nodes,
            "meshes": meshes,
            "materials": materials(!self.obstacles.is_empty() || self.body.is_some()),
        });
        if kept.len() > 1 {
            document["animations"] = json!([self.animation(&mut buffer, &kept, &times)]);
        }
        buffer.file(document)
    }

    /// Weights of the targets of cloth and body, the ways of the obstacles that move, and the sizes of those that come or go.
    fn animation(&self, buffer: &mut Buffer, kept: &[usize], times: &[f32]) -> Value {
        let input = buffer.scalars(times);
        let targets = kept.len() - 1;
        let mut weights = vec![0.0; kept.len() * targets];
        for moment in 1..kept.len() {
            weights[moment * targets + moment - 1] = 1.0;
        }
        let weights = buffer.scalars(&weights);
        let mut outputs = vec![(1, "weights", "LINEAR", weights)];
        if self.body.is_some() {
            outputs.push((self.obstacles.len() + 2, "weights", "LINEAR", weights));
        }
        for (index, obstacle) in self.obstacles.iter().enumerate() {
            let mut animate = |path, interpolation, values: &dyn Fn(usize) -> Triple| {
                let values: Vec<Triple> = kept.iter().map(|&frame| values(frame)).collect();
                let output = buffer.vectors(&single(&values), Use::Animation);
                outputs.push((index + 2, path, interpolation, output));
            };
            if !obstacle.offsets.is_empty() {
                animate("translation", "LINEAR", &|frame| obstacle.offsets[frame]);
            }
            if obstacle.present.contains(&false) {
                animate("scale", "STEP", &|frame| obstacle.scale(frame));
            }
        }
        let (mut channels, mut samplers) = (Vec::new(), Vec::new());
        for (node, path, interpolation, output) in outputs {
            let target = json!({ "node": node, "path": path });
            channels.push(json!({ "sampler": samplers.len(), "target": target }));
            let sampler =
                json!({ "input": input, "interpolation": interpolation, "output": output });
            samplers.push(sampler);
        }
        json!({ "name": "run", "channels": channels, "samplers": samplers })
    }
}

/// The mesh of the first frame with a morph target for each other; `(name, material)` are its own.
fn morphing<'a>(
    buffer: &mut Buffer,
    (name, material): (&str, usize),
    surface: &dyn Fn(usize) -> Surface<'a>,
    kept: &[usize],
    times: &[f32],
) -> Value {
    let base = surface(kept[0]);
    let base_normals = base.normals(NO_NORMAL);
    let mut primitive = primitive(buffer, &base, material);
    let mut mesh = json!({ "name": name });
    if kept.len() > 1 {
        let mut targets = Vec::new();
        for &index in &kept[1..] {
            let moved = surface(index);
            let positions = differences(moved.positions, base.positions);
            let normals = differences(&moved.normals(NO_NORMAL), &base_normals);
            targets.push(json!({
                "POSITION": buffer.vectors(&positions, Use::Vertices),
                "NORMAL": buffer.vectors(&normals, Use::Vertices),
            }));
        }
        primitive["targets"] = Value::Array(targets);
        mesh["weights"] = json!(vec![0.0; kept.len() - 1]);
        // Blender and three.js show these names.
        let names: Vec<String> = times[1..].iter().map(|time| format!("{time} s")).collect();
        mesh["extras"] = json!({ "targetNames": names });
    }
    mesh["primitives"] = json!([primitive]);
    mesh
}

/// Positions, normals and triangles of a mesh.
fn primitive(buffer: &mut Buffer, surface: &Surface, material: usize) -> Value {
    let positions = buffer.vectors(&single(surface.positions), Use::Vertices);
    let normals = buffer.vectors(&single(&surface.normals(NO_NORMAL)), Use::Vertices);
    json!({
        "attributes": { "POSITION": positions, "NORMAL": normals },
        "indices": buffer.indices(surface.triangles),
        "material": material,
    })
}

fn materials(obstacles: bool) -> Value {
    let material = |name: &str, color: [f64; 4]| {
        json!({
            "name": name,
            "doubleSided": true,
            "pbrMetallicRoughness": {
                "baseColorFactor": color,
                "metallicFactor": 0.0,
                "roughnessFactor": 0.8,
            },
        })
    };
    let mut all = vec![material("cloth", CLOTH_COLOR)];
    if obstacles {
        all.push(material("obstacle", GREY_COLOR));
    }
    Value::Array(all)
}

fn single(points: &[Triple]) -> Vec<[f32; 3]> {
    points.iter().map(|point| point.map(|x| x as f32)).collect()
}

fn differences(points: &[Triple], base: &[Triple]) -> Vec<[f32; 3]> {
    let pairs = points.iter().zip(base);
    pairs
        .map(|(&point, &base)| minus(point, base).map(|x| x as f32))
        .collect()
}

/// The shortest turn, as a quaternion (x, y, z, w), that brings `up` to y, glTF's upwards.
fn turn_upwards(up: Triple) -> Result<[f64; 4]> {
    let Some(up) = unit(up) else {
        return bad_input("a film's up has no length; give a direction such as [0, 0, 1]");
    };
    let y = [0.0, 1.0, 0.0];
    let cosine = dot(up, y);
    // From straight down the axis is open: x is one.
    let axis = unit(cross(up, y)).unwrap_or([1.0, 0.0, 0.0]);
    let half = 0.5 * cosine.clamp(-1.0, 1.0).acos();
    let [i, j, k] = axis.map(|x| x * half.sin());
    Ok([i, j, k, half.cos()])
}
