//! Garments: a sleeve and a shirt, tubes that hang from a pinned ring.

use std::f64::consts::TAU;

use super::{Body, Imperfection};
use crate::{
    error::{Result, bad_input},
    mesh::{
        Mesh, Rest, Topology,
        generate::{Pattern, tube},
        vector::{cross, dot, length, minus},
    },
};

/// A spring between a vertex and its place on the body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spring {
    /// Which vertex.
    pub vertex: usize,
    /// \[N/m\]
    pub stiffness: f64,
}

/// A garment as sewn, around a body in its rest pose.
#[derive(Debug, Clone)]
pub struct Garment {
    /// For reports.
    pub name: String,
    /// Free of strain where it is.
    pub mesh: Mesh,
    /// Who is whose neighbour.
    pub topology: Topology,
    /// Areas, lengths and angles as sewn.
    pub rest: Rest,
    /// Blend weights, shape `[joints][vertices]`.
    pub weights: Vec<Vec<f64>>,
    /// Vertices that go with the body.
    pub pinned: Vec<usize>,
    /// Vertices that are drawn to their place on the body.
    pub springs: Vec<Spring>,
}

/// Radius of a sleeve \[m\].
const SLEEVE: f64 = 0.06;
/// Of all springs of a cuff \[N/m\].
const CUFF: f64 = 10.0;

impl Garment {
    /// Vertices around and along of the garments of docs/explanation/curriculum.md: 864, with 1680 triangles and 2496 hinges.
    pub const GRID: [usize; 2] = [24, 36];

    /// A sleeve for [`Body::arm`]: radius 6 cm, length 44 cm, pinned at the shoulder, a soft cuff.
    pub fn sleeve(body: &Body, imperfection: Imperfection, grid: [usize; 2]) -> Result<Garment> {
        let measures = [SLEEVE, 0.44];
        Garment::tube("sleeve", body, imperfection, measures, grid, downwards)
    }

    /// A shirt for [`Body::torso`]: half axes 17 and 12 cm, from 46 cm down to 2 cm, pinned at the top, a soft hem. The
    /// waves are those of a sleeve, larger as the shirt is: its cells could not show shorter ones.
    pub fn shirt(body: &Body, imperfection: Imperfection, grid: [usize; 2]) -> Result<Garment> {
        let (across, deep, top) = (0.17, 0.12, 0.46);
        let round = 0.5 * (across + deep);
        let place = |point: [f64; 3]| {
            let [x, y, z] = downwards(point);
            [x * across / round, y * deep / round, z + top]
        };
        let measures = [round, 0.44];
        let imperfection = imperfection.grown(round / SLEEVE);
        Garment::tube("shirt", body, imperfection, measures, grid, place)
    }

    /// A tube of `[radius, length]` \[m\] along x with waves, then placed by `place`; `[around, rings]` vertices.
    /// The first ring is pinned, the last has springs.
    pub fn tube(
        name: &str,
        body: &Body,
        imperfection: Imperfection,
        [radius, long]: [f64; 2],
        [around, rings]: [usize; 2],
        place: impl Fn([f64; 3]) -> [f64; 3],
    ) -> Result<Garment> {
        if rings < 2 {
            return bad_input(format!("garment {name}: {rings} rings; give at least 2"));
        }
        let mut mesh = tube(radius, long, around, rings - 1, Pattern::Alternating)?;
        let places: Vec<[f64; 2]> = (0..mesh.positions.len())
            .map(|v| {
                [
                    TAU * (v % around) as f64 / around as f64,
                    mesh.positions[v][0],
                ]
            })
            .collect();
        let deviations = imperfection.deviations(radius, &places);
        for (position, deviation) in mesh.positions.iter_mut().zip(deviations) {
            let [x, y, z] = *position;
            let larger = 1.0 + deviation / radius;
            *position = place([x, y * larger, z * larger]);
        }
        let axis = minus(place([1.0, 0.0, 0.0]), place([0.0; 3]));
        flatten(&mut mesh, axis);
        let last = around * (rings - 1);
        let springs = (last..mesh.positions.len()).map(|vertex| Spring {
            vertex,
            stiffness: CUFF / around as f64,
        });
        let springs = springs.collect();
        Garment::new(name, body, mesh, (0..around).collect(), springs)
    }

    /// A garment from a mesh around a body in its rest pose, with the body's blend weights.
    pub fn new(
        name: &str,
        body: &Body,
        mesh: Mesh,
        pinned: Vec<usize>,
        springs: Vec<Spring>,
    ) -> Result<Garment> {
        let weights = body.weights(&mesh.positions);
        Garment::with_weights(name, mesh, weights, pinned, springs)
    }

    /// The same with blend weights of its own, shape `[joints][vertices]`.
    pub fn with_weights(
        name: &str,
        mesh: Mesh,
        weights: Vec<Vec<f64>>,
        pinned: Vec<usize>,
        springs: Vec<Spring>,
    ) -> Result<Garment> {
        let topology = mesh.check()?;
        let count = mesh.positions.len();
        let named = pinned.iter().chain(springs.iter().map(|s| &s.vertex));
        if let Some(vertex) = named.copied().find(|v| *v >= count) {
            return bad_input(format!(
                "garment {name}: a pin or spring names vertex {vertex}, but there are {count}"
            ));
        }
        if weights.iter().any(|row| row.len() != count) {
            return bad_input(format!(
                "garment {name}: blend weights do not have one number for each of {count} vertices"
            ));
        }
        Ok(Garment {
            name: name.into(),
            rest: Rest::new(&mesh, &topology),
            mesh,
            topology,
            weights,
            pinned,
            springs,
        })
    }
}

/// From along x to down along z; the front of a tube stays outside.
fn downwards([x, y, z]: [f64; 3]) -> [f64; 3] {
    [y, -z, -x]
}

/// Gives every triangle the material that it has in space, v along `axis` and u across, so that the mesh is free
/// of strain. A wavy tube cannot be unrolled, so each triangle is a piece of its own.
fn flatten(mesh: &mut Mesh, axis: [f64; 3]) {
    let mut material = Vec::with_capacity(3 * mesh.triangles.len());
    for triangle in 0..mesh.triangles.len() {
        let [a, b, c] = mesh.corners(triangle);
        let normal = cross(minus(b, a), minus(c, a));
        let normal = normal.map(|n| n / length(normal));
        let steep = dot(axis, normal);
        let along: [f64; 3] = std::array::from_fn(|k| axis[k] - steep * normal[k]);
        let v = along.map(|x| x / length(along));
        let u = cross(v, normal);
        material.extend([a, b, c].map(|p| [dot(minus(p, a), u), dot(minus(p, a), v)]));
    }
    // Laid out apart on a square: triangles whose edges meet in the material would count as one piece.
    let across = (mesh.triangles.len() as f64).sqrt().ceil() as usize;
    let apart = 2.0
        * material
            .iter()
            .flatten()
            .fold(0.0, |m: f64, x| m.max(x.abs()));
    for (corner, point) in material.iter_mut().enumerate() {
        let [column, row] = [corner / 3 % across, corner / 3 / across];
        *point = [
            point[0] + apart * column as f64,
            point[1] + apart * row as f64,
        ];
    }
    mesh.material_triangles = (0..mesh.triangles.len())
        .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
        .collect();
    mesh.material = material;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeve(seed: u64) -> Garment {
        Garment::sleeve(&Body::arm(), Imperfection::seeded(seed), Garment::GRID).unwrap()
    }

    #[test]
    fn a_sleeve_has_the_size_of_the_brief() {
        let sleeve = sleeve(1);
        assert_eq!(sleeve.mesh.positions.len(), 864);
        assert_eq!(sleeve.mesh.triangles.len(), 1680);
        assert_eq!(sleeve.topology.hinges.len(), 2496);
        assert_eq!((sleeve.pinned.len(), sleeve.springs.len()), (24, 24));
        assert!(
            sleeve
                .springs
                .iter()
                .all(|s| (sleeve.mesh.positions[s.vertex][2] + 0.44).abs() < 1e-12)
        );
    }

    #[test]
    fn a_garment_is_free_of_strain_as_sewn_and_looks_outwards() {
        let shirt = Garment::shirt(&Body::torso(), Imperfection::seeded(1), Garment::GRID).unwrap();
        for garment in [sleeve(3), shirt] {
            let mesh = &garment.mesh;
            for (t, rest) in garment.rest.triangles.iter().enumerate() {
                let corners = mesh.corners(t);
                let column = |b: [f64; 3]| -> [f64; 3] {
                    std::array::from_fn(|a| (0..3).map(|k| b[k] * corners[k][a]).sum())
                };
                let (u, v) = (column(rest.gradient_u), column(rest.gradient_v));
                // Rounding, over triangles a hundredth of the material's extent.
                assert!((dot(u, u) - 1.0).abs() < 1e-11 && (dot(v, v) - 1.0).abs() < 1e-11);
                assert!(dot(u, v).abs() < 1e-11);
            }
            let turn: f64 = garment.rest.hinges.iter().map(|h| h.angle).sum();
            assert!(turn < 0.0, "ridges seen from outside");
        }
    }

    #[test]
    fn the_imperfection_is_seeded_and_as_high_as_said() {
        let radius = |seed: u64| -> Vec<f64> {
            let radius = |p: &[f64; 3]| p[0].hypot(p[1]);
            sleeve(seed).mesh.positions.iter().map(radius).collect()
        };
        assert_eq!(radius(1), radius(1));
        assert_ne!(radius(1), radius(2));
        let largest = radius(1)
            .iter()
            .map(|r| (r - 0.06).abs())
            .fold(0.0, f64::max);
        assert!((largest - 0.004).abs() < 1e-12, "{largest}");
    }

    #[test]
    fn pins_of_vertices_that_are_not_there_are_refused() {
        let body = Body::arm();
        let mesh = tube(0.06, 0.4, 6, 4, Pattern::OneSided).unwrap();
        let text = Garment::new("g", &body, mesh, vec![99], vec![])
            .unwrap_err()
            .to_string();
        assert!(
            text.starts_with("garment g: a pin or spring names vertex 99"),
            "{text}"
        );
    }
}
