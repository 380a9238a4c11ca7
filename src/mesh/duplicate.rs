//! Vertices in the same place: an open seam that was meant to be sewn.
//!
//! The rule: two vertices closer than [`SAME_PLACE`] times the diagonal of the bounding box are
//! duplicates when **both lie on the boundary**. Cloth is cut there, and the cut would open under
//! load; that is what programs write that give every material point its own vertex. An interior
//! vertex may touch another one (two layers of cloth): merging them would be non-manifold.

use std::collections::HashMap;

use super::{
    Mesh,
    check::{counted, fault},
    edge::Edge,
    vector::{length, minus},
};
use crate::error::Result;

/// Distance below which two vertices are in the same place, relative to the bounding box.
const SAME_PLACE: f64 = 1e-9;

/// Duplicates as (vertex, the earliest vertex in its place), by rising vertex.
pub(super) fn duplicates(mesh: &Mesh, edges: &[Edge]) -> Vec<(usize, usize)> {
    let tolerance = SAME_PLACE * mesh.diagonal();
    let mut on_boundary: Vec<usize> = edges
        .iter()
        .filter(|edge| edge.sides.len() == 1)
        .flat_map(|edge| edge.vertices)
        .collect();
    on_boundary.sort_unstable();
    on_boundary.dedup();

    // Cells of the tolerance's size: what is close is in the same cell or in one beside it.
    let mut cells: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for vertex in on_boundary {
        let place = mesh.positions[vertex];
        let cell = place.map(|x| (x / tolerance.max(f64::MIN_POSITIVE)).floor() as i64);
        let first = around(cell)
            .filter_map(|near| cells.get(&near))
            .flatten()
            .copied()
            .filter(|&other| length(minus(place, mesh.positions[other])) <= tolerance)
            .min();
        match first {
            Some(first) => found.push((vertex, first)),
            None => cells.entry(cell).or_default().push(vertex),
        }
    }
    found
}

/// A cell and the 26 around it.
fn around(cell: [i64; 3]) -> impl Iterator<Item = [i64; 3]> {
    (0..27_i64).map(move |n| {
        let step = [n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1];
        std::array::from_fn(|axis| cell[axis].saturating_add(step[axis]))
    })
}

/// Refuses duplicates.
pub(super) fn no_duplicates(mesh: &Mesh, edges: &[Edge]) -> Result<()> {
    let found = duplicates(mesh, edges);
    let Some((vertex, first)) = found.first() else {
        return Ok(());
    };
    let [x, y, z] = mesh.positions[*vertex];
    fault(format!(
        "{}: {first} and {vertex} are both on the boundary at ({x}, {y}, {z}), \
         so that the cloth is cut there; repair the mesh to sew them together, or move them apart",
        counted(found.len(), "duplicate vertex", "duplicate vertices")
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use crate::mesh::{
        Mesh,
        generate::{Pattern, cylinder, rectangle},
    };

    /// A cylinder, and the same with a vertex for each side of its seam: 8, 17 and 26 stand where 0, 9 and 18 do.
    pub(crate) fn sewn_and_cut() -> (Mesh, Mesh) {
        let sewn = cylinder(1.0, 1.0, 8, 2, Pattern::OneSided).unwrap();
        let places = (0..27).map(|point| sewn.positions[point / 9 * 8 + point % 9 % 8]);
        let cut = Mesh::seamless(
            places.collect(),
            sewn.material.clone(),
            sewn.material_triangles.clone(),
        );
        (sewn, cut)
    }

    #[test]
    fn a_seam_with_a_vertex_for_each_side_is_refused() {
        let (sewn, cut) = sewn_and_cut();
        let message = cut.check().unwrap_err().to_string();
        assert!(message.contains("3 duplicate vertices: 0 and 8 are both on the boundary"));
        assert!(sewn.check().is_ok());
    }

    /// Two layers whose inner vertices touch: the lower is `shared` with the upper at vertex 4.
    fn layers(gap: f64) -> Mesh {
        let lower = rectangle(1.0, 1.0, 2, 2, Pattern::OneSided).unwrap();
        let mut both = lower.clone();
        both.positions
            .extend(lower.positions.iter().map(|p| [p[0], p[1], gap]));
        both.positions[13] = lower.positions[4];
        both.material.extend(&lower.material);
        let upper = lower.triangles.iter().map(|t| t.map(|v| v + 9));
        both.triangles.extend(upper);
        both.material_triangles = both.triangles.clone();
        both
    }

    #[test]
    fn inner_vertices_of_two_layers_may_touch_but_boundaries_may_not() {
        assert!(layers(0.1).check().is_ok());
        let message = layers(0.0).check().unwrap_err().to_string();
        assert!(message.contains("8 duplicate vertices"), "{message}");
        // Just beyond the tolerance of 1e-9 of the diagonal.
        assert!(layers(2e-9).check().is_ok());
        assert!(layers(1e-9).check().is_err());
    }
}
