//! Which triangles meet where: hinges, boundary and fans, and the refusal of what is no surface.

use super::{
    Mesh, check,
    check::{fault, listed},
    duplicate,
    edge::{Edge, edges, neighbours},
    island,
};
use crate::error::Result;

/// Two triangles that share an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hinge {
    /// `[i, j, k, l]`: the edge i-j, k opposite to it in the first triangle, in whose winding it
    /// runs from i to j, and l opposite to it in the second, where it runs from j to i.
    pub vertices: [usize; 4],
    /// The first and the second triangle.
    pub triangles: [usize; 2],
}

/// How the triangles of a sound mesh hang together.
#[derive(Debug, Clone, PartialEq)]
pub struct Topology {
    /// Inner edges, by first appearance over the triangles.
    pub hinges: Vec<Hinge>,
    /// Edges with one triangle, as it runs along them, by first appearance.
    pub boundary: Vec<[usize; 2]>,
    /// Triangles at every vertex, rising.
    pub vertex_triangles: Vec<Vec<usize>>,
    /// The piece of material (UV island) of every triangle, numbered by first appearance.
    pub islands: Vec<usize>,
    /// What is allowed but worth a word to the user, one sentence each.
    pub notes: Vec<String>,
}

impl Topology {
    /// Vertices − edges + triangles: 1 for a disc, 0 for an open cylinder, 2 for a sphere.
    pub fn euler_characteristic(&self) -> i64 {
        let edge_count = self.hinges.len() + self.boundary.len();
        self.vertex_triangles.len() as i64 - edge_count as i64 + self.islands.len() as i64
    }
}

impl Mesh {
    /// Refuses a mesh that is not a sound surface, and otherwise says how it hangs together.
    ///
    /// Sound is: finite numbers and indices in range; triangles with an area in space and in the
    /// material; every vertex used; at most two triangles at an edge, wound alike; one fan of
    /// triangles at a vertex; no vertex twice along a cut (see the rule in `duplicate.rs`); no
    /// triangle of a piece of material mirrored against the others of that piece.
    pub fn check(&self) -> Result<Topology> {
        check::structure(self)?;
        check::sound_triangles(self)?;
        check::all_used(self)?;
        let edges = edges(&self.triangles);
        manifold_edges(&edges)?;
        distinct_triangles(self, &edges)?;
        alike_winding(&edges)?;
        let vertex_triangles = vertex_triangles(self);
        single_fans(self, &edges, &vertex_triangles)?;
        duplicate::no_duplicates(self, &edges)?;
        let islands = island::islands(self, &edges);
        let notes = island::orientation(self, &islands)?;
        Ok(Topology {
            hinges: hinges(self, &edges),
            boundary: boundary(&edges),
            vertex_triangles,
            islands,
            notes,
        })
    }
}

/// Refuses edges with three triangles or more.
pub(super) fn manifold_edges(edges: &[Edge]) -> Result<()> {
    match edges.iter().find(|edge| edge.sides.len() > 2) {
        Some(edge) => fault(format!(
            "non-manifold edge {}-{}: {} triangles share it ({}); at most two may, \
             so delete the others or give them vertices of their own",
            edge.vertices[0],
            edge.vertices[1],
            edge.sides.len(),
            listed(&edge.triangles())
        )),
        None => Ok(()),
    }
}

/// Pairs of triangles at a common edge that have the same three vertices.
fn twins(mesh: &Mesh, edge: &Edge) -> Option<[usize; 2]> {
    let [a, b] = edge.sides[..] else { return None };
    let opposite = |side: super::edge::EdgeSide| mesh.triangles[side.triangle][side.opposite()];
    (opposite(a) == opposite(b)).then_some([a.triangle, b.triangle])
}

/// Refuses a triangle that is there twice, in either winding.
fn distinct_triangles(mesh: &Mesh, edges: &[Edge]) -> Result<()> {
    match edges.iter().find_map(|edge| twins(mesh, edge)) {
        Some([a, b]) => fault(format!(
            "repeated triangle: {a} and {b} have the same vertices {}; \
             delete one or repair the mesh",
            listed(&mesh.triangles[a])
        )),
        None => Ok(()),
    }
}

/// Refuses neighbours that run along their edge in the same direction.
fn alike_winding(edges: &[Edge]) -> Result<()> {
    let same_way = |edge: &&Edge| edge.sides.iter().filter(|side| side.forward).count() > 1;
    match edges.iter().find(same_way) {
        Some(edge) => fault(format!(
            "inconsistent winding: triangles {} both run from vertex {} to {}; \
             swap two corners of one of them or repair the mesh",
            listed(&edge.triangles()),
            edge.vertices[0],
            edge.vertices[1]
        )),
        None => Ok(()),
    }
}

fn vertex_triangles(mesh: &Mesh) -> Vec<Vec<usize>> {
    let mut at_vertex = vec![Vec::with_capacity(6); mesh.positions.len()];
    for (triangle, vertices) in mesh.triangles.iter().enumerate() {
        for &vertex in vertices {
            at_vertex[vertex].push(triangle);
        }
    }
    at_vertex
}

/// Refuses a vertex whose triangles do not all hang together by edges (a bowtie).
fn single_fans(mesh: &Mesh, edges: &[Edge], vertex_triangles: &[Vec<usize>]) -> Result<()> {
    let across = neighbours(mesh.triangles.len(), edges);
    for (vertex, triangles) in vertex_triangles.iter().enumerate() {
        let mut fan = vec![triangles[0]];
        let mut visited = 0;
        while visited < fan.len() {
            let triangle = fan[visited];
            visited += 1;
            for next in across[triangle].into_iter().flatten() {
                if mesh.triangles[next].contains(&vertex) && !fan.contains(&next) {
                    fan.push(next);
                }
            }
        }
        if fan.len() < triangles.len() {
            let mut rest = triangles.clone();
            rest.retain(|triangle| !fan.contains(triangle));
            return fault(format!(
                "non-manifold vertex {vertex} (bowtie): triangles {} and {} share no edge there; \
                 give one of the two fans a vertex of its own",
                listed(&fan),
                listed(&rest)
            ));
        }
    }
    Ok(())
}

fn hinges(mesh: &Mesh, edges: &[Edge]) -> Vec<Hinge> {
    let hinge = |edge: &Edge| {
        let [first, second] = edge.sides[..] else {
            return None;
        };
        let [i, j] = edge.vertices;
        let k = mesh.triangles[first.triangle][first.opposite()];
        let l = mesh.triangles[second.triangle][second.opposite()];
        Some(Hinge {
            vertices: [i, j, k, l],
            triangles: [first.triangle, second.triangle],
        })
    };
    edges.iter().filter_map(hinge).collect()
}

fn boundary(edges: &[Edge]) -> Vec<[usize; 2]> {
    edges
        .iter()
        .filter(|edge| edge.sides.len() == 1)
        .map(|edge| edge.vertices)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{Pattern, rectangle};

    fn refusal(positions: &[[f64; 3]], triangles: &[[usize; 3]]) -> String {
        let material = positions
            .iter()
            .map(|p| [p[0] + 0.3 * p[2], p[1] + 0.4 * p[2]]);
        let mesh = Mesh::seamless(positions.to_vec(), material.collect(), triangles.to_vec());
        mesh.check().unwrap_err().to_string()
    }

    const SQUARE: [[f64; 3]; 4] = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
    ];

    #[test]
    fn a_hinge_runs_as_its_first_triangle_does() {
        let mesh = rectangle(1.0, 1.0, 1, 1, Pattern::OneSided).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 3], [0, 3, 2]]);
        let topology = mesh.check().unwrap();
        let expected = Hinge {
            vertices: [3, 0, 1, 2],
            triangles: [0, 1],
        };
        assert_eq!(topology.hinges, [expected]);
        assert_eq!(topology.boundary, [[0, 1], [1, 3], [3, 2], [2, 0]]);
        assert_eq!(
            topology.vertex_triangles,
            [vec![0, 1], vec![0], vec![1], vec![0, 1]]
        );
        assert_eq!(topology.euler_characteristic(), 1);
    }

    #[test]
    fn every_hinge_has_its_edge_forward_in_one_triangle_and_backward_in_the_other() {
        let mesh = rectangle(1.0, 2.0, 7, 5, Pattern::Irregular { seed: 1 }).unwrap();
        let topology = mesh.check().unwrap();
        assert_eq!(topology, mesh.check().unwrap());
        assert_eq!(topology.hinges.len(), 3 * 35 + 12 - 24);
        let runs = |triangle: usize, a: usize, b: usize, c: usize| {
            let t = mesh.triangles[triangle];
            [[a, b, c], [c, a, b], [b, c, a]].contains(&t)
        };
        for Hinge {
            vertices: [i, j, k, l],
            triangles: [first, second],
        } in topology.hinges
        {
            assert!(first < second && runs(first, i, j, k) && runs(second, j, i, l));
        }
    }

    #[test]
    fn three_triangles_at_an_edge_are_refused_by_name() {
        let mut positions = SQUARE.to_vec();
        positions.push([0.0, 0.5, 1.0]);
        let message = refusal(&positions, &[[0, 1, 2], [0, 2, 3], [2, 0, 4]]);
        assert!(
            message.contains("non-manifold edge 2-0: 3 triangles share it (0, 1, 2)"),
            "{message}"
        );
    }

    #[test]
    fn a_triangle_that_is_there_twice_is_refused() {
        let message = refusal(&SQUARE[..3], &[[0, 1, 2], [2, 1, 0]]);
        assert!(message.contains("repeated triangle: 0 and 1"), "{message}");
    }

    #[test]
    fn neighbours_wound_against_each_other_are_refused() {
        let message = refusal(&SQUARE, &[[0, 1, 2], [0, 3, 2]]);
        assert!(
            message.contains("inconsistent winding: triangles 0, 1 both run from vertex 2 to 0"),
            "{message}"
        );
    }

    #[test]
    fn two_fans_at_one_vertex_are_refused() {
        let mut positions = SQUARE.to_vec();
        positions.push([-1.0, 0.0, 0.0]);
        positions.push([0.0, -1.0, 0.0]);
        let message = refusal(&positions, &[[0, 1, 2], [0, 2, 3], [0, 4, 5]]);
        assert!(
            message.contains("non-manifold vertex 0 (bowtie): triangles 0, 1 and 2 share no edge"),
            "{message}"
        );
    }
}
