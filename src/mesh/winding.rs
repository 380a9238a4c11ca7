//! Makes the triangles of each connected part wind alike.

use super::{
    Mesh,
    check::{counted, fault, listed},
    edge::{Edge, edges},
    topology::manifold_edges,
};
use crate::error::Result;

/// Turns triangles so that neighbours agree; in each connected part the smaller number is turned.
pub(super) fn wind_alike(mesh: &mut Mesh, done: &mut Vec<String>) -> Result<()> {
    let edges = edges(&mesh.triangles);
    manifold_edges(&edges)?;
    let turned: Vec<usize> = parts(mesh.triangles.len(), &edges)?
        .into_iter()
        .flat_map(|[as_first, against_first]| {
            if against_first.len() <= as_first.len() {
                against_first
            } else {
                as_first
            }
        })
        .collect();
    for &triangle in &turned {
        mesh.triangles[triangle].swap(1, 2);
        mesh.material_triangles[triangle].swap(1, 2);
    }
    if !turned.is_empty() {
        done.push(format!(
            "turned {} to wind like the neighbours ({})",
            counted(turned.len(), "triangle", "triangles"),
            listed(&turned)
        ));
    }
    Ok(())
}

/// Connected parts, each as the triangles that wind like its first and those that wind against it.
fn parts(triangle_count: usize, edges: &[Edge]) -> Result<Vec<[Vec<usize>; 2]>> {
    let mut across = vec![Vec::with_capacity(3); triangle_count];
    for edge in edges {
        if let [a, b] = edge.sides[..] {
            let alike = a.forward != b.forward;
            across[a.triangle].push((b.triangle, alike));
            across[b.triangle].push((a.triangle, alike));
        }
    }
    let mut like_first: Vec<Option<bool>> = vec![None; triangle_count];
    let mut parts = Vec::new();
    for start in 0..triangle_count {
        if like_first[start].is_some() {
            continue;
        }
        like_first[start] = Some(true);
        let mut part = [Vec::new(), Vec::new()];
        let mut waiting = vec![(start, true)];
        while let Some((triangle, like)) = waiting.pop() {
            part[usize::from(!like)].push(triangle);
            for &(next, alike) in &across[triangle] {
                let next_like = like == alike;
                match like_first[next] {
                    None => {
                        like_first[next] = Some(next_like);
                        waiting.push((next, next_like));
                    }
                    Some(known) if known != next_like => return one_sided(triangle, next),
                    Some(_) => {}
                }
            }
        }
        part.iter_mut().for_each(|side| side.sort_unstable());
        parts.push(part);
    }
    Ok(parts)
}

fn one_sided<T>(a: usize, b: usize) -> Result<T> {
    fault(format!(
        "one-sided surface (a Möbius band): triangles {a} and {b} cannot be wound alike; \
         cut the surface between them"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{
        check::signed_doubled_area,
        generate::{Pattern, rectangle},
        repair,
    };

    #[test]
    fn winding_follows_the_larger_number_in_each_part() {
        let mut mesh = rectangle(1.0, 1.0, 3, 3, Pattern::Alternating).unwrap();
        for triangle in [0, 7, 12] {
            mesh.triangles[triangle].swap(0, 1);
            mesh.material_triangles[triangle].swap(0, 1);
        }
        assert!(mesh.check().is_err());
        let (mended, done) = repair(&mesh).unwrap();
        assert_eq!(
            done,
            ["turned 3 triangles to wind like the neighbours (0, 7, 12)"]
        );
        let area = |mesh: &Mesh, t| signed_doubled_area(mesh.material_corners(t));
        assert!((0..18).all(|triangle| area(&mended, triangle) > 0.0));
    }

    #[test]
    fn a_moebius_band_is_refused() {
        // Five vertices, each three in turn a triangle: the smallest one-sided band.
        let places = (0..5).map(|n| {
            let (sin, cos) = (1.3 * f64::from(n)).sin_cos();
            [cos, sin, 0.1 * f64::from(n * n)]
        });
        let positions: Vec<[f64; 3]> = places.collect();
        let material = positions.iter().map(|p| [p[0], p[1]]).collect();
        let triangles = (0..5).map(|n| [n, (n + 1) % 5, (n + 2) % 5]).collect();
        let message = repair(&Mesh::seamless(positions, material, triangles)).unwrap_err();
        assert!(
            message.to_string().contains("one-sided surface"),
            "{message}"
        );
    }
}
