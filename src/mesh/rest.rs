//! Measures of the undeformed material: what the energies are written in.
//!
//! Of a triangle with material corners m₀, m₁, m₂ and D = \[m₁ − m₀, m₂ − m₀\] (columns):
//!
//! - area A = |det D| / 2;
//! - shape gradients: rows of D⁻¹ are the gradients of the shape functions of corners 1 and 2,
//!   that of corner 0 is minus their sum. With B_u, B_v their u and v parts,
//!   F_u = ∂x/∂u = Σₖ B_u\[k\] xₖ and F_v = ∂x/∂v = Σₖ B_v\[k\] xₖ.
//!
//! Of a hinge: length l of its edge (the mean of both sides at a seam), area a of both triangles,
//! height H̄ = a / l, which turns an angle into a curvature, and the share of the bending that is
//! along the warp.

use super::{
    Hinge, Mesh, Topology,
    check::signed_doubled_area,
    vector::{cross, dot, length, minus},
};

/// A triangle of the undeformed material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestTriangle {
    /// Area A \[m²\], positive in a mirrored piece as well.
    pub area: f64,
    /// B_u \[1/m\]: F_u = Σₖ B_u\[k\] xₖ; sums to 0.
    pub gradient_u: [f64; 3],
    /// B_v \[1/m\]: F_v = Σₖ B_v\[k\] xₖ; sums to 0.
    pub gradient_v: [f64; 3],
}

/// A hinge of the undeformed material.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RestHinge {
    /// Length l of the edge \[m\]; at a seam the mean of both sides.
    pub length: f64,
    /// Areas of both triangles together, a \[m²\].
    pub area: f64,
    /// Mean height H̄ = a / l \[m\].
    pub height: f64,
    /// n_u², n being the unit vector in the material across the edge, the direction that is bent;
    /// at a seam the mean of both sides. 1 bends the warp, 0 the weft.
    pub warp_share: f64,
    /// Angle of the mesh as given, from its positions \[rad\], see [`hinge_angle`].
    pub angle: f64,
}

/// All rest measures of a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// In the order of the mesh, shape `[triangles]`.
    pub triangles: Vec<RestTriangle>,
    /// In the order of the topology, shape `[hinges]`.
    pub hinges: Vec<RestHinge>,
    /// A third of the area of each triangle at the vertex \[m²\], shape `[vertices]`.
    pub vertex_area: Vec<f64>,
}

impl Rest {
    /// Measures a mesh; `topology` is what [`Mesh::check`] returned for it.
    pub fn new(mesh: &Mesh, topology: &Topology) -> Rest {
        let triangles: Vec<RestTriangle> = (0..mesh.triangles.len())
            .map(|triangle| rest_triangle(mesh.material_corners(triangle)))
            .collect();
        let hinges = topology
            .hinges
            .iter()
            .map(|hinge| rest_hinge(mesh, hinge, &triangles))
            .collect();
        let mut vertex_area = vec![0.0; mesh.positions.len()];
        for (vertices, triangle) in mesh.triangles.iter().zip(&triangles) {
            for &vertex in vertices {
                vertex_area[vertex] += triangle.area / 3.0;
            }
        }
        Rest {
            triangles,
            hinges,
            vertex_area,
        }
    }

    /// Area of the whole material \[m²\].
    pub fn area(&self) -> f64 {
        self.triangles.iter().map(|triangle| triangle.area).sum()
    }
}

fn rest_triangle(corners: [[f64; 2]; 3]) -> RestTriangle {
    let determinant = signed_doubled_area(corners);
    // Shape function k falls from 1 at corner k to 0 on the opposite edge; its gradient is that
    // edge turned by a quarter, over the determinant. A mirrored triangle's sign cancels.
    let opposite = |k: usize| minus(corners[(k + 2) % 3], corners[(k + 1) % 3]);
    RestTriangle {
        area: 0.5 * determinant.abs(),
        gradient_u: std::array::from_fn(|k| -opposite(k)[1] / determinant),
        gradient_v: std::array::from_fn(|k| opposite(k)[0] / determinant),
    }
}

fn rest_hinge(mesh: &Mesh, hinge: &Hinge, triangles: &[RestTriangle]) -> RestHinge {
    let [_, _, k, l] = hinge.vertices;
    let [first, second] = hinge.triangles;
    let sides = [
        edge_in_material(mesh, first, k),
        edge_in_material(mesh, second, l),
    ];
    let mean = |measure: fn([f64; 2]) -> f64| 0.5 * (measure(sides[0]) + measure(sides[1]));
    let edge_length = mean(length);
    let area = triangles[first].area + triangles[second].area;
    RestHinge {
        length: edge_length,
        area,
        height: area / edge_length,
        // Across the edge e is (−e_v, e_u)/|e|.
        warp_share: mean(|edge| edge[1] * edge[1] / dot(edge, edge)),
        angle: hinge_angle(hinge.vertices.map(|vertex| mesh.positions[vertex])),
    }
}

/// The edge opposite to a vertex of a triangle, in the material \[m\].
fn edge_in_material(mesh: &Mesh, triangle: usize, vertex: usize) -> [f64; 2] {
    let [a, b, c] = mesh.material_corners(triangle);
    match mesh.triangles[triangle] {
        [first, _, _] if first == vertex => minus(c, b),
        [_, second, _] if second == vertex => minus(a, c),
        _ => minus(b, a),
    }
}

/// Signed angle between the two triangles of a hinge \[rad\], from the positions \[m\] of its
/// vertices i, j, k, l:
///
/// θ = atan2(−ê · (n₁ × n₂), n₁ · n₂), n₁ = (xⱼ − xᵢ) × (xₖ − xᵢ), n₂ = (xₗ − xᵢ) × (xⱼ − xᵢ).
///
/// 0 is flat; negative where the triangles fall away from their front (a ridge), positive where
/// they rise towards it (a valley). Jumps from π to −π where a fold is closed completely; not
/// defined for triangles without an area.
pub(crate) fn hinge_angle([i, j, k, l]: [[f64; 3]; 4]) -> f64 {
    let edge = minus(j, i);
    let first = cross(edge, minus(k, i));
    let second = cross(minus(l, i), edge);
    // Multiplied by |edge| instead of divided: atan2 only needs the ratio.
    dot(edge, cross(second, first)).atan2(length(edge) * dot(first, second))
}

/// [`hinge_angle`] of every hinge \[rad\], shape `[hinges]`.
pub(crate) fn hinge_angles(positions: &[[f64; 3]], hinges: &[Hinge]) -> Vec<f64> {
    hinges
        .iter()
        .map(|hinge| hinge_angle(hinge.vertices.map(|vertex| positions[vertex])))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{Pattern, cylinder, rectangle};

    /// Rounding of a few operations on numbers of order 1.
    const ROUNDING: f64 = 1e-12;

    fn measured(mesh: &Mesh) -> Rest {
        Rest::new(mesh, &mesh.check().unwrap())
    }

    /// F_u and F_v of a triangle.
    fn deformation(mesh: &Mesh, rest: &Rest, triangle: usize) -> [[f64; 3]; 2] {
        let corners = mesh.corners(triangle);
        let RestTriangle {
            gradient_u,
            gradient_v,
            ..
        } = rest.triangles[triangle];
        [gradient_u, gradient_v]
            .map(|b| std::array::from_fn(|axis| (0..3).map(|k| b[k] * corners[k][axis]).sum()))
    }

    fn worst_strain(mesh: &Mesh) -> f64 {
        let rest = measured(mesh);
        let strain = |triangle| {
            let [u, v] = deformation(mesh, &rest, triangle);
            [dot(u, u) - 1.0, dot(v, v) - 1.0, dot(u, v)].map(f64::abs)
        };
        (0..mesh.triangles.len())
            .flat_map(strain)
            .fold(0.0, f64::max)
    }

    #[test]
    fn an_undeformed_mesh_has_no_strain() {
        for pattern in [
            Pattern::Alternating,
            Pattern::OneSided,
            Pattern::Irregular { seed: 5 },
        ] {
            let flat = rectangle(0.3, 0.2, 9, 7, pattern).unwrap();
            assert!(worst_strain(&flat) < ROUNDING);
        }
        let regular = cylinder(0.04, 0.11, 16, 9, Pattern::Alternating).unwrap();
        assert!(worst_strain(&regular) < ROUNDING);
        // Irregular: 10/around² of stretch is about twice as much in F² − 1, shear likewise.
        let irregular = cylinder(0.04, 0.11, 64, 27, Pattern::Irregular { seed: 5 }).unwrap();
        let strain = worst_strain(&irregular);
        assert!(strain > 1e-5 && strain < 20.0 / (64.0 * 64.0), "{strain}");
    }

    #[test]
    fn a_known_stretch_and_shear_comes_back() {
        let mut mesh = rectangle(0.3, 0.2, 4, 3, Pattern::Irregular { seed: 2 }).unwrap();
        let material = mesh.material.clone();
        mesh.positions = material
            .iter()
            .map(|[u, v]| [1.5 * u + 0.2 * v, 0.8 * v, 0.1 * u])
            .collect();
        let rest = measured(&mesh);
        for triangle in 0..mesh.triangles.len() {
            let [u, v] = deformation(&mesh, &rest, triangle);
            assert!(length(minus(u, [1.5, 0.0, 0.1])) < ROUNDING);
            assert!(length(minus(v, [0.2, 0.8, 0.0])) < ROUNDING);
            let sum: f64 = rest.triangles[triangle].gradient_u.iter().sum();
            assert!(sum.abs() < 1e-10);
        }
    }

    #[test]
    fn areas_sum_to_the_material_also_where_it_is_mirrored() {
        let mut mesh = rectangle(0.3, 0.2, 4, 3, Pattern::Irregular { seed: 2 }).unwrap();
        for mirror in [1.0, -1.0] {
            mesh.material
                .iter_mut()
                .for_each(|point| point[0] *= mirror);
            let rest = measured(&mesh);
            assert!((rest.area() - 0.06).abs() < ROUNDING);
            assert!((rest.vertex_area.iter().sum::<f64>() - 0.06).abs() < ROUNDING);
            assert!(rest.vertex_area.iter().all(|&area| area > 0.0));
        }
        assert!(
            worst_strain(&mesh) < ROUNDING,
            "F only turns sign in a mirrored piece"
        );
    }

    #[test]
    fn hinges_measure_length_area_height_and_direction() {
        let mesh = rectangle(0.4, 0.1, 2, 1, Pattern::OneSided).unwrap();
        let topology = mesh.check().unwrap();
        let rest = Rest::new(&mesh, &topology);
        // The diagonals of both cells (0.2 by 0.1) and the upright edge between them.
        let upright = topology
            .hinges
            .iter()
            .position(|h| h.vertices[..2] == [1, 4]);
        let hinge = rest.hinges[upright.unwrap()];
        assert!((hinge.length - 0.1).abs() < ROUNDING && (hinge.area - 0.02).abs() < ROUNDING);
        assert!((hinge.height - 0.2).abs() < ROUNDING && (hinge.warp_share - 1.0).abs() < ROUNDING);
        let diagonal = topology
            .hinges
            .iter()
            .position(|h| h.vertices[..2] == [4, 0]);
        let diagonal = rest.hinges[diagonal.unwrap()];
        assert!((diagonal.length - 0.05_f64.sqrt()).abs() < ROUNDING);
        // Across (0.2, 0.1) is (-0.1, 0.2)/√0.05: the share of u is 0.01/0.05.
        assert!((diagonal.warp_share - 0.2).abs() < ROUNDING);
        assert_eq!(diagonal.angle, 0.0);
    }

    #[test]
    fn a_seam_takes_the_mean_of_its_sides() {
        let mut mesh = rectangle(0.2, 0.1, 2, 1, Pattern::OneSided).unwrap();
        // The right cell gets material of its own, twice as large, turned by a quarter.
        let turned: Vec<[f64; 2]> = mesh
            .material
            .iter()
            .map(|[u, v]| [9.0 - 2.0 * v, 2.0 * u])
            .collect();
        mesh.material.extend(turned);
        for triangle in 2..4 {
            mesh.material_triangles[triangle] = mesh.triangles[triangle].map(|v| v + 6);
        }
        let topology = mesh.check().unwrap();
        let seam = topology
            .hinges
            .iter()
            .position(|h| h.vertices[..2] == [1, 4]);
        let hinge = Rest::new(&mesh, &topology).hinges[seam.unwrap()];
        assert!((hinge.length - 0.15).abs() < ROUNDING);
        assert!((hinge.area - (0.005 + 0.02)).abs() < ROUNDING);
        assert!((hinge.warp_share - 0.5).abs() < ROUNDING);
    }

    #[test]
    fn angles_are_positive_in_a_valley_and_reach_over_the_whole_circle() {
        let [i, j, k] = [[0.0; 3], [2.0, 0.0, 0.0], [0.5, 1.0, 0.0]];
        for angle in [-3.1, -1.0, -1e-9, 0.0, 0.3, 1.57, 3.1_f64] {
            // The second flap turned about the edge, up for a positive angle.
            let l = [0.7, -angle.cos(), angle.sin()];
            assert!(
                (hinge_angle([i, j, k, l]) - angle).abs() < ROUNDING,
                "{angle}"
            );
        }
        let mesh = cylinder(1.0, 1.0, 10, 1, Pattern::OneSided).unwrap();
        let topology = mesh.check().unwrap();
        let angles = hinge_angles(&mesh.positions, &topology.hinges);
        let sum: f64 = angles.iter().sum();
        assert!((sum + std::f64::consts::TAU).abs() < ROUNDING, "{sum}");
    }
}
