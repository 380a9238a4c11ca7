//! Mends a mesh on request, and says what it did.

use super::{
    Mesh, check,
    check::{counted, degeneracy, fault, listed},
    duplicate::duplicates,
    edge::edges,
    winding::wind_alike,
};
use crate::error::Result;

/// Merges duplicate vertices along cuts, drops repeated and degenerate triangles and what nothing
/// uses, and makes the winding of each connected part alike. Returns the mended mesh, which has
/// passed [`Mesh::check`], and one sentence for each thing done.
///
/// What cannot be mended is an error: non-manifold edges and vertices, one-sided surfaces (Möbius
/// bands), a material that folds over itself, numbers that are not finite, indices out of range.
pub(crate) fn repair(mesh: &Mesh) -> Result<(Mesh, Vec<String>)> {
    check::structure(mesh)?;
    let mut mesh = mesh.clone();
    let mut done = Vec::new();
    // A triangle that goes may bring two vertices in one place to the boundary, and merging them
    // may flatten another triangle. Each round removes something, so that this ends.
    loop {
        let before = done.len();
        drop_degenerate(&mut mesh, &mut done);
        drop_repeated(&mut mesh, &mut done);
        merge_duplicates(&mut mesh, &mut done);
        if done.len() == before {
            break;
        }
    }
    if mesh.triangles.is_empty() {
        return fault("repair left no triangles: all were degenerate; give a mesh with an area");
    }
    wind_alike(&mut mesh, &mut done)?;
    drop_unused(&mut mesh, &mut done);
    mesh.check()?;
    Ok((mesh, done))
}

/// Keeps the triangles for which `keep` holds, in both lists.
fn keep_triangles(mesh: &mut Mesh, keep: impl Fn(usize) -> bool) {
    let kept: Vec<usize> = (0..mesh.triangles.len()).filter(|&t| keep(t)).collect();
    mesh.triangles = kept.iter().map(|&t| mesh.triangles[t]).collect();
    mesh.material_triangles = kept.iter().map(|&t| mesh.material_triangles[t]).collect();
}

fn drop_degenerate(mesh: &mut Mesh, done: &mut Vec<String>) {
    let reasons: Vec<Option<String>> = (0..mesh.triangles.len())
        .map(|triangle| degeneracy(mesh, triangle))
        .collect();
    let dropped = reasons.iter().flatten().count();
    let first = (0..reasons.len()).find_map(|t| reasons[t].as_ref().map(|reason| (t, reason)));
    if let Some((triangle, reason)) = first {
        done.push(format!(
            "dropped {}; the first, {triangle}, {reason}",
            counted(dropped, "degenerate triangle", "degenerate triangles")
        ));
        keep_triangles(mesh, |triangle| reasons[triangle].is_none());
    }
}

/// Drops triangles whose three vertices an earlier one has.
fn drop_repeated(mesh: &mut Mesh, done: &mut Vec<String>) {
    let mut seen = std::collections::HashSet::new();
    let repeated: Vec<bool> = mesh
        .triangles
        .iter()
        .map(|vertices| {
            let mut sorted = *vertices;
            sorted.sort_unstable();
            !seen.insert(sorted)
        })
        .collect();
    let numbers: Vec<usize> = (0..repeated.len()).filter(|&t| repeated[t]).collect();
    if !numbers.is_empty() {
        done.push(format!(
            "dropped {} with the vertices of an earlier one ({})",
            counted(numbers.len(), "triangle", "triangles"),
            listed(&numbers)
        ));
        keep_triangles(mesh, |triangle| !repeated[triangle]);
    }
}

fn merge_duplicates(mesh: &mut Mesh, done: &mut Vec<String>) {
    let found = duplicates(mesh, &edges(&mesh.triangles));
    if found.is_empty() {
        return;
    }
    let mut target: Vec<usize> = (0..mesh.positions.len()).collect();
    for &(vertex, first) in &found {
        target[vertex] = first;
    }
    for vertex in mesh.triangles.iter_mut().flatten() {
        *vertex = target[*vertex];
    }
    let numbers: Vec<usize> = found.iter().map(|&(vertex, _)| vertex).collect();
    done.push(format!(
        "merged {} with earlier ones in the same place ({})",
        counted(numbers.len(), "vertex", "vertices"),
        listed(&numbers)
    ));
}

fn drop_unused(mesh: &mut Mesh, done: &mut Vec<String>) {
    let vertices = compact(&mut mesh.positions, &mut mesh.triangles);
    let points = compact(&mut mesh.material, &mut mesh.material_triangles);
    for (count, one, many) in [
        (vertices, "vertex", "vertices"),
        (points, "material point", "material points"),
    ] {
        if count > 0 {
            let what = counted(count, one, many);
            done.push(format!("dropped {what} that no triangle used"));
        }
    }
}

/// Drops points that no triangle names; returns how many.
fn compact<const N: usize>(points: &mut Vec<[f64; N]>, triangles: &mut [[usize; 3]]) -> usize {
    let mut used = vec![false; points.len()];
    for &point in triangles.iter().flatten() {
        used[point] = true;
    }
    let mut number = vec![0; points.len()];
    let mut kept = Vec::with_capacity(points.len());
    for (point, place) in points.iter().enumerate() {
        number[point] = kept.len();
        if used[point] {
            kept.push(*place);
        }
    }
    for point in triangles.iter_mut().flatten() {
        *point = number[*point];
    }
    let dropped = points.len() - kept.len();
    *points = kept;
    dropped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{
        duplicate::tests::sewn_and_cut,
        generate::{Pattern, rectangle},
    };

    fn square() -> Mesh {
        rectangle(1.0, 1.0, 3, 3, Pattern::Alternating).unwrap()
    }

    #[test]
    fn a_sound_mesh_stays_as_it_is() {
        let (mended, done) = repair(&square()).unwrap();
        assert_eq!(mended, square());
        assert!(done.is_empty());
    }

    #[test]
    fn a_cut_cylinder_is_sewn_and_keeps_its_seam_in_the_material() {
        let (sewn, cut) = sewn_and_cut();
        let (mended, done) = repair(&cut).unwrap();
        assert_eq!(mended, sewn);
        assert_eq!(
            done,
            [
                "merged 3 vertices with earlier ones in the same place (8, 17, 26)",
                "dropped 3 vertices that no triangle used"
            ]
        );
    }

    #[test]
    fn degenerate_repeated_and_unused_parts_are_dropped() {
        let mut mesh = square();
        for extra in [[0, 1, 1], [0, 1, 2], [1, 5, 0]] {
            mesh.triangles.push(extra);
            mesh.material_triangles.push(extra);
        }
        mesh.positions.push([9.0; 3]);
        mesh.material.push([9.0; 2]);
        assert_eq!(mesh.triangles[0], [0, 1, 5]);
        let (mended, done) = repair(&mesh).unwrap();
        assert_eq!(mended, square());
        assert_eq!(done.len(), 4, "{done:?}");
        assert!(done[0].starts_with("dropped 2 degenerate triangles; the first, 18, repeats"));
        assert!(done[1].starts_with("dropped 1 triangle with the vertices of an earlier one (18)"));
        assert!(done[2].starts_with("dropped 1 vertex") && done[3].contains("1 material point "));
    }

    #[test]
    fn a_collapsed_edge_inside_is_closed_in_two_rounds() {
        // Vertex 5 falls on vertex 6: two triangles lose their area, and their slit is sewn.
        let mut mesh = square();
        mesh.positions[5] = mesh.positions[6];
        mesh.material[5] = mesh.material[6];
        let (mended, done) = repair(&mesh).unwrap();
        assert_eq!(mended.check().unwrap().euler_characteristic(), 1);
        assert_eq!(
            (mended.positions.len(), mended.triangles.len()),
            (15, 16),
            "{done:?}"
        );
    }

    #[test]
    fn what_cannot_be_mended_is_an_error() {
        let mut mesh = square();
        mesh.positions.push([0.5, 0.5, 1.0]);
        mesh.material.push([2.0, 0.7]);
        mesh.triangles.push([5, 6, 16]);
        mesh.material_triangles.push([5, 6, 16]);
        let message = repair(&mesh).unwrap_err().to_string();
        assert!(message.contains("non-manifold edge"), "{message}");

        let mut line = square();
        line.positions.iter_mut().for_each(|p| p[1] = 0.0);
        let message = repair(&line).unwrap_err().to_string();
        assert!(message.contains("repair left no triangles"), "{message}");
    }

    #[test]
    fn random_rubbish_is_mended_or_refused_and_never_panics() {
        let mut random = crate::numeric::Random(7);
        let mut mended = 0;
        for _ in 0..300 {
            let mut below = |n: usize| (n as f64 * random.uniform()) as usize;
            // Few places, so that vertices fall together.
            let positions: Vec<[f64; 3]> = (0..8)
                .map(|_| [0; 3].map(|_: i32| below(3) as f64))
                .collect();
            let material = positions
                .iter()
                .map(|p| [p[0] + 0.3 * p[2], p[1]])
                .collect();
            let triangles = (0..1 + below(4)).map(|_| [0; 3].map(|_: i32| below(8)));
            let mesh = Mesh::seamless(positions, material, triangles.collect());
            assert!(mesh.check().is_err() || repair(&mesh).is_ok());
            if let Ok((mesh, done)) = repair(&mesh) {
                assert!(mesh.check().is_ok() && !done.is_empty());
                mended += 1;
            }
        }
        assert!((30..270).contains(&mended), "{mended}");
    }
}
