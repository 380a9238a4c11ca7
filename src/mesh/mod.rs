//! Triangle meshes of cloth: where the vertices are, and where they lie in the flat material.
//!
//! - [`Mesh`]: positions and material points with one list of triangles for each.
//! - [`Mesh::check`]: refuses what the physics cannot use and returns the `Topology`.
//! - [`repair`]: mends what can be mended, and says what it did.
//! - `Rest`: areas, shape gradients and hinge measures of the undeformed material.
//! - `generate`: rectangles, strips, cylinders and tubes.
//! - [`read_obj`], `write_obj`: Wavefront OBJ; `save_ply`: PLY with numbers at the vertices.
//!
//! Vertices, triangles and material points are counted from 0, also in messages.

mod check;
mod duplicate;
mod edge;
pub(crate) mod generate;
mod island;
mod obj;
mod obj_text;
mod ply;
mod repair;
mod rest;
pub(crate) mod surface;
mod topology;
pub(crate) mod vector;
mod winding;

pub(crate) use obj::{read_obj, write_obj};
pub(crate) use ply::{Property, save_ply};
pub(crate) use repair::repair;
pub(crate) use rest::{Rest, RestHinge, RestTriangle, hinge_angles};
pub(crate) use topology::{Hinge, Topology};

/// A surface of triangles in space, and the same triangles in the flat, unstrained material.
///
/// A vertex on a seam between two pieces of material (UV islands) has one material point for each
/// piece. Without seams the two lists of triangles are equal. The fields are plain data: nothing is
/// known to hold until [`Mesh::check`] has passed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mesh {
    /// Where the vertices are \[m\], shape `[vertices, 3]`.
    pub positions: Vec<[f64; 3]>,
    /// Vertices of every triangle, shape `[triangles, 3]`; counter-clockwise seen from its front.
    pub triangles: Vec<[usize; 3]>,
    /// Material points \[m\], shape `[points, 2]`: u along the warp, v along the weft.
    pub material: Vec<[f64; 2]>,
    /// Material points of every triangle in the order of its vertices, shape `[triangles, 3]`.
    pub material_triangles: Vec<[usize; 3]>,
}

impl Mesh {
    /// A mesh of one piece: material point n belongs to vertex n.
    pub fn seamless(
        positions: Vec<[f64; 3]>,
        material: Vec<[f64; 2]>,
        triangles: Vec<[usize; 3]>,
    ) -> Mesh {
        Mesh {
            positions,
            material_triangles: triangles.clone(),
            triangles,
            material,
        }
    }

    /// Corners of a triangle in space \[m\].
    pub fn corners(&self, triangle: usize) -> [[f64; 3]; 3] {
        self.triangles[triangle].map(|vertex| self.positions[vertex])
    }

    /// Corners of a triangle in the material \[m\].
    pub fn material_corners(&self, triangle: usize) -> [[f64; 2]; 3] {
        self.material_triangles[triangle].map(|point| self.material[point])
    }

    /// Diagonal of the box around all positions \[m\].
    pub fn diagonal(&self) -> f64 {
        diagonal(&self.positions)
    }
}

/// Diagonal of the box around some points; 0 for none.
fn diagonal<const N: usize>(points: &[[f64; N]]) -> f64 {
    let square: f64 = (0..N)
        .map(|axis| {
            let along = || points.iter().map(|point| point[axis]);
            let low = along().fold(f64::INFINITY, f64::min);
            let high = along().fold(f64::NEG_INFINITY, f64::max);
            (high - low).max(0.0).powi(2)
        })
        .sum();
    square.sqrt()
}
