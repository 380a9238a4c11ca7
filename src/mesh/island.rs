//! Pieces of material (UV islands), and which way up they lie.

use super::{
    Mesh,
    check::{fault, listed, signed_doubled_area},
    diagonal,
    edge::Edge,
    vector::{length, minus},
};
use crate::error::Result;

/// Distance below which two material points are the same, relative to the material's box: some
/// programs write a point for every corner of every triangle.
const SAME_POINT: f64 = 1e-9;

/// The piece of every triangle, numbered by first appearance. Two triangles belong together where
/// their common edge has the same ends in the material.
pub(super) fn islands(mesh: &Mesh, edges: &[Edge]) -> Vec<usize> {
    let tolerance = SAME_POINT * diagonal(&mesh.material);
    let mut leader: Vec<usize> = (0..mesh.triangles.len()).collect();
    for edge in edges {
        let [first, second] = edge.sides[..] else {
            continue;
        };
        let ends = [first.material_ends(mesh), second.material_ends(mesh)];
        if (0..2).all(|end| length(minus(ends[0][end], ends[1][end])) <= tolerance) {
            let (a, b) = (
                find(&mut leader, first.triangle),
                find(&mut leader, second.triangle),
            );
            // The earlier triangle leads, so that the numbers follow the list.
            leader[a.max(b)] = a.min(b);
        }
    }
    let mut number = vec![0; leader.len()];
    let mut count = 0;
    for triangle in 0..leader.len() {
        let first = find(&mut leader, triangle);
        if first == triangle {
            number[triangle] = count;
            count += 1;
        } else {
            number[triangle] = number[first];
        }
    }
    number
}

/// The leader of a triangle's group; halves the way there for the next time.
fn find(leader: &mut [usize], mut triangle: usize) -> usize {
    while leader[triangle] != triangle {
        leader[triangle] = leader[leader[triangle]];
        triangle = leader[triangle];
    }
    triangle
}

/// Refuses a piece of which only a part is mirrored; returns a sentence for whole mirrored pieces,
/// which are sound: areas are taken without their sign, and nothing else depends on it.
pub(super) fn orientation(mesh: &Mesh, islands: &[usize]) -> Result<Vec<String>> {
    let count = islands.iter().max().map_or(0, |last| last + 1);
    let mut mirrored = vec![Vec::new(); count];
    let mut upright = vec![0_usize; count];
    for (triangle, &island) in islands.iter().enumerate() {
        if signed_doubled_area(mesh.material_corners(triangle)) < 0.0 {
            mirrored[island].push(triangle);
        } else {
            upright[island] += 1;
        }
    }
    for island in 0..count {
        if !mirrored[island].is_empty() && upright[island] > 0 {
            return partly_mirrored(islands, island, &mirrored[island]);
        }
    }
    let whole: Vec<usize> = (0..count).filter(|&n| !mirrored[n].is_empty()).collect();
    if whole.is_empty() {
        return Ok(Vec::new());
    }
    Ok(vec![format!(
        "mirrored against their winding in space: {} of {count} pieces of material ({}); \
         areas are taken without sign",
        whole.len(),
        listed(&whole)
    )])
}

/// The error names the smaller part: those are the triangles that went wrong.
fn partly_mirrored<T>(islands: &[usize], island: usize, mirrored: &[usize]) -> Result<T> {
    let all: Vec<usize> = (0..islands.len())
        .filter(|&triangle| islands[triangle] == island)
        .collect();
    let mut odd = mirrored.to_vec();
    if 2 * mirrored.len() > all.len() {
        odd = all
            .iter()
            .copied()
            .filter(|t| mirrored.binary_search(t).is_err())
            .collect();
    }
    fault(format!(
        "flipped in the material: of the {} triangles of piece {island} these lie the other way \
         round: {}; the material would fold over itself, so unfold its texture coordinates",
        all.len(),
        listed(&odd)
    ))
}

#[cfg(test)]
mod tests {
    use crate::mesh::{
        Mesh,
        generate::{Pattern, cylinder, rectangle},
    };

    /// A square of 2 by 1 cells whose right half has material points of its own, shifted in u.
    fn two_pieces() -> Mesh {
        let mut mesh = rectangle(2.0, 1.0, 2, 1, Pattern::OneSided).unwrap();
        let shifted: Vec<[f64; 2]> = mesh.material.iter().map(|&[u, v]| [u + 5.0, v]).collect();
        mesh.material.extend(shifted);
        for triangle in 2..4 {
            mesh.material_triangles[triangle] = mesh.triangles[triangle].map(|v| v + 6);
        }
        mesh
    }

    #[test]
    fn pieces_are_told_apart_by_where_their_edges_lie() {
        assert_eq!(two_pieces().check().unwrap().islands, [0, 0, 1, 1]);
        let tube = cylinder(1.0, 1.0, 6, 2, Pattern::Alternating).unwrap();
        assert!(
            tube.check()
                .unwrap()
                .islands
                .iter()
                .all(|&island| island == 0)
        );
        // A material point for every corner, all in place: still one piece.
        let mut scattered = rectangle(2.0, 1.0, 2, 1, Pattern::OneSided).unwrap();
        let corners = scattered.triangles.iter().flatten();
        scattered.material = corners.map(|&vertex| scattered.material[vertex]).collect();
        scattered.material_triangles = (0..4).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
        assert_eq!(scattered.check().unwrap().islands, [0; 4]);
    }

    #[test]
    fn a_mirrored_piece_is_allowed_with_a_word() {
        let mut mesh = two_pieces();
        assert!(mesh.check().unwrap().notes.is_empty());
        mesh.material[6..]
            .iter_mut()
            .for_each(|point| point[0] *= -1.0);
        let notes = mesh.check().unwrap().notes;
        assert!(
            notes[0].contains("1 of 2 pieces of material (1)"),
            "{notes:?}"
        );
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn a_triangle_flipped_within_its_piece_is_refused_by_name() {
        let mut mesh = rectangle(3.0, 1.0, 3, 1, Pattern::OneSided).unwrap();
        // The corner that only the first upper triangle has goes across its diagonal.
        mesh.material[4] = [0.9, 0.1];
        let message = mesh.check().unwrap_err().to_string();
        assert!(
            message.contains("of the 6 triangles of piece 0 these lie the other way round: 1;"),
            "{message}"
        );
        // With all others mirrored, that one is still the odd one.
        mesh.material.iter_mut().for_each(|point| point[1] *= -1.0);
        let message = mesh.check().unwrap_err().to_string();
        assert!(message.contains("the other way round: 1;"), "{message}");
    }
}
