//! What a mesh must be before anything is computed on it: whole lists, finite numbers, triangles
//! with an area.

use super::{
    Mesh,
    vector::{cross, cross_flat, length, minus},
};
use crate::error::{Result, bad_input};

/// Twice a triangle's area over its longest edge squared, at or below which it is degenerate. This
/// is height over edge: real meshes stay above 1e-2, and a flat triangle written with nine digits
/// comes back at about 1e-9.
const DEGENERATE: f64 = 1e-6;

/// Numbers that a message lists before it only counts.
const LISTED: usize = 6;

/// A fault of a mesh as an error.
pub(super) fn fault<T>(message: impl AsRef<str>) -> Result<T> {
    bad_input(format!("mesh: {} (numbers count from 0)", message.as_ref()))
}

/// "3, 4, 8 and 12 more".
pub(super) fn listed(numbers: &[usize]) -> String {
    let shown: Vec<String> = numbers.iter().take(LISTED).map(usize::to_string).collect();
    match numbers.len().saturating_sub(LISTED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// "1 triangle", "3 triangles".
pub(super) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Refuses lists that do not fit together and numbers that are not finite.
pub(super) fn structure(mesh: &Mesh) -> Result<()> {
    let [count, material_count] = [mesh.triangles.len(), mesh.material_triangles.len()];
    if count == 0 {
        return fault("no triangles; give at least one face");
    }
    if count != material_count {
        return fault(format!(
            "{count} triangles in space but {material_count} in the material; \
             give each triangle its three material points"
        ));
    }
    finite("vertex", &mesh.positions)?;
    finite("material point", &mesh.material)?;
    in_range("vertex", &mesh.triangles, mesh.positions.len())?;
    in_range(
        "material point",
        &mesh.material_triangles,
        mesh.material.len(),
    )
}

fn finite<const N: usize>(kind: &str, points: &[[f64; N]]) -> Result<()> {
    let bad = |point: &[f64; N]| point.iter().any(|x| !x.is_finite());
    match points.iter().position(bad) {
        Some(n) => fault(format!(
            "{kind} {n} has a coordinate that is not finite: {:?}; give finite metres",
            points[n]
        )),
        None => Ok(()),
    }
}

fn in_range(kind: &str, triangles: &[[usize; 3]], count: usize) -> Result<()> {
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(index) = corners.iter().find(|&&index| index >= count) {
            return fault(format!(
                "triangle {triangle} names {kind} {index}, but there are only {count}; \
                 correct the index or give the missing {kind}"
            ));
        }
    }
    Ok(())
}

/// Why a triangle has no area in space or in the material; `None` for a sound one.
pub(super) fn degeneracy(mesh: &Mesh, triangle: usize) -> Option<String> {
    let [a, b, c] = mesh.triangles[triangle];
    if a == b || b == c || c == a {
        return Some(format!("repeats a vertex ({a}, {b}, {c})"));
    }
    let [p, q, r] = mesh.corners(triangle);
    let doubled = length(cross(minus(q, p), minus(r, p)));
    if flat(doubled, [p, q, r]) {
        return Some(format!(
            "has no area in space (vertices {a}, {b}, {c}: {:.3e} m²)",
            0.5 * doubled
        ));
    }
    let corners = mesh.material_corners(triangle);
    let doubled = signed_doubled_area(corners).abs();
    if flat(doubled, corners) {
        let [a, b, c] = mesh.material_triangles[triangle];
        return Some(format!(
            "has no area in the material (points {a}, {b}, {c}: {:.3e} m²)",
            0.5 * doubled
        ));
    }
    None
}

fn flat<const N: usize>(doubled_area: f64, corners: [[f64; N]; 3]) -> bool {
    let longest = (0..3)
        .map(|c| length(minus(corners[(c + 1) % 3], corners[c])))
        .fold(0.0, f64::max);
    // An overflow to infinity or NaN is not sound either.
    let sound = doubled_area > DEGENERATE * longest * longest;
    !sound
}

/// Twice the area of a material triangle \[m²\], negative where it is mirrored.
pub(super) fn signed_doubled_area([a, b, c]: [[f64; 2]; 3]) -> f64 {
    cross_flat(minus(b, a), minus(c, a))
}

/// Refuses triangles without an area.
pub(super) fn sound_triangles(mesh: &Mesh) -> Result<()> {
    for triangle in 0..mesh.triangles.len() {
        if let Some(reason) = degeneracy(mesh, triangle) {
            return fault(format!(
                "degenerate triangle {triangle}: it {reason}; delete it or repair the mesh"
            ));
        }
    }
    Ok(())
}

/// Vertices that no triangle names.
pub(super) fn unused_vertices(mesh: &Mesh) -> Vec<usize> {
    let mut used = vec![false; mesh.positions.len()];
    for &vertex in mesh.triangles.iter().flatten() {
        used[vertex] = true;
    }
    (0..used.len()).filter(|&vertex| !used[vertex]).collect()
}

/// Refuses vertices that no triangle names: they have no mass, and the solver would divide by it.
pub(super) fn all_used(mesh: &Mesh) -> Result<()> {
    let unused = unused_vertices(mesh);
    if unused.is_empty() {
        return Ok(());
    }
    fault(format!(
        "unused vertices: no triangle names {}; delete them or repair the mesh",
        listed(&unused)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{Pattern, rectangle};

    fn square() -> Mesh {
        rectangle(1.0, 1.0, 2, 2, Pattern::OneSided).unwrap()
    }

    fn refused(change: impl Fn(&mut Mesh), expected: &str) {
        let mut mesh = square();
        assert!(mesh.check().is_ok());
        change(&mut mesh);
        let message = mesh.check().unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }

    #[test]
    fn lists_that_do_not_fit_together_are_refused() {
        refused(|m| m.triangles.clear(), "no triangles");
        refused(
            |m| m.material_triangles.truncate(3),
            "8 triangles in space but 3 in the material",
        );
        refused(|m| m.triangles[1][2] = 9, "triangle 1 names vertex 9");
        refused(
            |m| m.material_triangles[2][0] = 99,
            "triangle 2 names material point 99, but there are only 9",
        );
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        refused(
            |m| m.positions[4][1] = f64::NAN,
            "vertex 4 has a coordinate",
        );
        refused(
            |m| m.material[3][0] = f64::INFINITY,
            "material point 3 has a coordinate that is not finite: [inf, 0.5]",
        );
    }

    #[test]
    fn degenerate_triangles_are_refused_in_space_and_in_the_material() {
        refused(
            |m| m.triangles[0] = [0, 1, 1],
            "degenerate triangle 0: it repeats a vertex (0, 1, 1)",
        );
        refused(
            |m| m.positions[4] = [0.25, 0.0, 0.0],
            "degenerate triangle 0: it has no area in space (vertices 0, 1, 4",
        );
        refused(
            |m| m.material[4] = [0.25, 1e-8],
            "degenerate triangle 0: it has no area in the material (points 0, 1, 4",
        );
        // Small is not degenerate: the measure is relative.
        let mut small = square();
        small
            .positions
            .iter_mut()
            .flatten()
            .for_each(|x| *x *= 1e-9);
        small.material.iter_mut().flatten().for_each(|x| *x *= 1e-9);
        assert!(small.check().is_ok());
    }

    #[test]
    fn unused_vertices_are_refused() {
        refused(
            |m| m.positions.extend([[5.0; 3]; 8]),
            "unused vertices: no triangle names 9, 10, 11, 12, 13, 14 and 2 more",
        );
    }
}
