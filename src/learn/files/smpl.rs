//! SMPL bodies.

use std::path::Path;

use super::Npz;
use crate::{
    error::{Result, bad_input},
    learn::{Body, Joint, Skeleton, Skin},
};

/// A body model: `v_template` `[V, 3]`, `f` `[F, 3]`, `weights` `[V, J]`, `J_regressor` `[J, V]`, `kintree_table`
/// `[2, J]`, `shapedirs` `[V, 3, S]`. Pose correctives are not used: they move flesh by millimetres.
#[derive(Debug, Clone, PartialEq)]
pub struct Smpl {
    /// Vertices of the mean body in the rest pose \[m\].
    pub template: Vec<[f64; 3]>,
    /// Vertices of every triangle.
    pub triangles: Vec<[usize; 3]>,
    /// Blend weights, shape `[joints][vertices]`.
    pub weights: Vec<Vec<f64>>,
    /// Parent of every joint.
    parents: Vec<Option<usize>>,
    /// Shape `[joints][vertices]`.
    regressor: Vec<Vec<f64>>,
    /// Shape `[vertices][3][shapes]`, flat.
    shapes: Vec<f64>,
    shape_count: usize,
}

/// Largest difference from 1 of the sum of a vertex' weights: single precision with room.
const WEIGHT_SLACK: f64 = 1e-3;

impl Smpl {
    /// Reads a body model.
    pub fn read(path: &Path) -> Result<Smpl> {
        let npz = Npz::open(path)?;
        let template = npz.shaped("v_template", &[None, Some(3)])?;
        let vertices = template.shape[0];
        let tree = npz.shaped("kintree_table", &[Some(2), None])?;
        let joints = tree.shape[1];
        let weights = npz.shaped("weights", &[Some(vertices), Some(joints)])?;
        let regressor = npz.shaped("J_regressor", &[Some(joints), Some(vertices)])?;
        let shapes = npz.shaped("shapedirs", &[Some(vertices), Some(3), None])?;
        let faces = npz.shaped("f", &[None, Some(3)])?;
        let smpl = Smpl {
            template: template
                .values
                .chunks_exact(3)
                .map(|c| [c[0], c[1], c[2]])
                .collect(),
            triangles: triangles(&faces.values, vertices, npz.place())?,
            weights: (0..joints)
                .map(|j| {
                    weights
                        .values
                        .iter()
                        .skip(j)
                        .step_by(joints)
                        .copied()
                        .collect()
                })
                .collect(),
            parents: parents(&tree.values, joints, npz.place())?,
            regressor: regressor
                .values
                .chunks(vertices.max(1))
                .map(<[f64]>::to_vec)
                .collect(),
            shape_count: shapes.shape[2],
            shapes: shapes.values,
        };
        smpl.check_weights(npz.place())?;
        Ok(smpl)
    }

    fn check_weights(&self, place: &str) -> Result<()> {
        let sum = |v: usize| self.weights.iter().map(|row| row[v]).sum::<f64>();
        let off = |v: &usize| (sum(*v) - 1.0).abs() > WEIGHT_SLACK;
        match (0..self.template.len()).find(off) {
            Some(v) => bad_input(format!(
                "{place}, 'weights': those of vertex {v} sum to {}, not to 1; check that the file is an SMPL model",
                sum(v)
            )),
            None => Ok(()),
        }
    }

    /// Surface and joints of a body of some shape; fewer betas than the model has leave the others 0.
    pub fn shaped(&self, betas: &[f64]) -> Result<(Skin, Skeleton)> {
        let used = &betas[..betas.len().min(self.shape_count)];
        let moved = |(v, place): (usize, &[f64; 3])| -> [f64; 3] {
            std::array::from_fn(|axis| {
                let first = (3 * v + axis) * self.shape_count;
                let parts = self.shapes[first..].iter().zip(used);
                place[axis] + parts.map(|(s, b)| s * b).sum::<f64>()
            })
        };
        let vertices: Vec<[f64; 3]> = self.template.iter().enumerate().map(moved).collect();
        let place = |row: &Vec<f64>| -> [f64; 3] {
            std::array::from_fn(|axis| row.iter().zip(&vertices).map(|(r, v)| r * v[axis]).sum())
        };
        let joints = self.regressor.iter().zip(&self.parents).enumerate();
        let joints = joints.map(|(number, (row, parent))| Joint {
            name: format!("SMPL joint {number}"),
            parent: *parent,
            place: place(row),
        });
        let skeleton = Skeleton::new(joints.collect())?;
        let skin = Skin {
            triangles: self.triangles.clone(),
            weights: self.weights.clone(),
            rest: vertices,
        };
        Ok((skin, skeleton))
    }

    /// A body of some shape that cloth can be simulated on; its first joint is the root. `name` stands in reports and
    /// messages.
    pub fn body(&self, name: &str, betas: &[f64]) -> Result<Body> {
        let (skin, skeleton) = self.shaped(betas)?;
        Body::with_skin(name, skeleton, skin)
    }
}

fn triangles(values: &[f64], vertices: usize, place: &str) -> Result<Vec<[usize; 3]>> {
    let sound = |x: &f64| *x >= 0.0 && x.fract() == 0.0 && (*x as usize) < vertices;
    match values.iter().position(|x| !sound(x)) {
        Some(at) => bad_input(format!(
            "{place}, 'f': triangle {} names vertex {}, but they are numbered from 0 to {}",
            at / 3,
            values[at],
            vertices.saturating_sub(1)
        )),
        None => Ok(values
            .chunks_exact(3)
            .map(|c| [c[0], c[1], c[2]].map(|x| x as usize))
            .collect()),
    }
}

/// The first row of `kintree_table` are parents; that of the root is −1, or 2³² − 1 where it had no sign.
fn parents(tree: &[f64], joints: usize, place: &str) -> Result<Vec<Option<usize>>> {
    let parent = |(joint, &parent): (usize, &f64)| {
        let is_root = joint == 0 && (parent < 0.0 || parent >= f64::from(u32::MAX));
        match parent {
            _ if is_root => Ok(None),
            p if p >= 0.0 && p.fract() == 0.0 && p < joint as f64 => Ok(Some(p as usize)),
            p => bad_input(format!(
                "{place}, 'kintree_table': joint {joint} has parent {p}; parents come before their children, \
                 and only joint 0 has none"
            )),
        }
    };
    tree[..joints].iter().enumerate().map(parent).collect()
}
