//! The constant part of the system: which 3×3 blocks exist and which elements add to each.

use super::dissection::dissect;
use super::fronts::Fronts;
use super::graph::Graph;
use super::matrix::BlockMatrix;
use crate::error::{Result, bad_input};

/// Block sparsity, assembly lists, order of elimination and structure of the factor.
///
/// Blocks are stored by columns, the diagonal first, then the later rows in order.
#[derive(Clone, Debug)]
pub(crate) struct BlockPattern {
    pub(crate) hinges: usize,
    pub(crate) triangles: usize,
    /// Vertex at each place of the order of elimination.
    pub(crate) order: Vec<u32>,
    /// First block of each column, and the end.
    pub(crate) starts: Vec<u32>,
    /// Row of each block.
    pub(crate) rows: Vec<u32>,
    pub(crate) from_hinges: Contributions,
    pub(crate) from_triangles: Contributions,
    pub(crate) fronts: Fronts,
}

/// For each block, which corner pairs of which elements add to it, in the elements' order.
#[derive(Clone, Debug)]
pub(crate) struct Contributions {
    starts: Vec<u32>,
    codes: Vec<u32>,
}

/// An element and the corners that stand for the block's row and column.
#[derive(Clone, Copy)]
pub(crate) struct Contribution {
    pub(crate) element: usize,
    pub(crate) row: usize,
    pub(crate) column: usize,
}

impl Contributions {
    pub(crate) fn of_block(&self, block: usize) -> impl Iterator<Item = Contribution> {
        self.codes[self.starts[block] as usize..self.starts[block + 1] as usize]
            .iter()
            .map(|&code| Contribution {
                element: (code >> 4) as usize,
                row: (code >> 2 & 3) as usize,
                column: (code & 3) as usize,
            })
    }
}

/// Elements are numbered in 28 bits beside the two corners.
const MOST_ELEMENTS: usize = 1 << 28;

impl BlockPattern {
    /// The pattern of a mesh of `vertices` vertices with the given hinges (edge, then the two
    /// opposite corners, or any four) and triangles. `rest` (m), shape `[vertices][3]`, only guides
    /// the order of elimination; meshes without common vertices may overlap in space.
    ///
    /// # Errors
    /// A corner that is out of range or occurs twice in an element, positions that are not finite
    /// or not one a vertex, more than 2²⁸ elements.
    pub(crate) fn new(
        vertices: usize,
        hinges: &[[usize; 4]],
        triangles: &[[usize; 3]],
        rest: &[[f64; 3]],
    ) -> Result<Self> {
        check(vertices, hinges, triangles, rest)?;
        let graph = Graph::of_elements(vertices, hinges, triangles);
        let dissection = dissect(&graph, rest);
        let order: Vec<u32> = dissection
            .parts
            .iter()
            .flat_map(|part| part.vertices.iter().copied())
            .collect();
        let mut rank = vec![0; vertices];
        for (place, &vertex) in order.iter().enumerate() {
            rank[vertex as usize] = place as u32;
        }
        let (starts, rows) = blocks(&graph, &order, &rank);
        let fronts = Fronts::new(&dissection, |column| {
            &rows[starts[column] as usize..starts[column + 1] as usize]
        });
        let find = |row: u32, column: u32| {
            let (from, to) = (starts[column as usize], starts[column as usize + 1]);
            let rows = &rows[from as usize..to as usize];
            from as usize + rows.partition_point(|&known| known < row)
        };
        let blocks = rows.len();
        Ok(Self {
            hinges: hinges.len(),
            triangles: triangles.len(),
            from_hinges: contributions(hinges, &rank, blocks, find),
            from_triangles: contributions(triangles, &rank, blocks, find),
            order,
            starts,
            rows,
            fronts,
        })
    }

    /// Number of vertices.
    pub(crate) fn vertices(&self) -> usize {
        self.order.len()
    }

    /// Stored 3×3 blocks: the lower half and the diagonal.
    pub(crate) fn blocks(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn matrix<'a>(&'a self, values: &'a [[f64; 9]]) -> BlockMatrix<'a> {
        BlockMatrix {
            starts: &self.starts,
            rows: &self.rows,
            values,
        }
    }
}

fn check(
    vertices: usize,
    hinges: &[[usize; 4]],
    triangles: &[[usize; 3]],
    rest: &[[f64; 3]],
) -> Result<()> {
    if rest.len() != vertices {
        return bad_input(format!(
            "{} rest positions for {vertices} vertices; give one position a vertex",
            rest.len()
        ));
    }
    if let Some(vertex) = rest.iter().position(|p| p.iter().any(|c| !c.is_finite())) {
        return bad_input(format!(
            "rest position of vertex {vertex} is {:?}; give finite numbers in metres",
            rest[vertex]
        ));
    }
    if hinges.len().max(triangles.len()).max(vertices) > MOST_ELEMENTS {
        return bad_input(format!(
            "{} hinges, {} triangles and {vertices} vertices; at most {MOST_ELEMENTS} of each fit one system, split the mesh",
            hinges.len(),
            triangles.len()
        ));
    }
    check_corners("hinge", vertices, hinges)?;
    check_corners("triangle", vertices, triangles)
}

fn check_corners<const N: usize>(
    kind: &str,
    vertices: usize,
    elements: &[[usize; N]],
) -> Result<()> {
    for (index, corners) in elements.iter().enumerate() {
        if let Some(corner) = corners.iter().find(|&&corner| corner >= vertices) {
            return bad_input(format!(
                "{kind} {index} has corner {corner}, but there are {vertices} vertices; number them from 0"
            ));
        }
        if (1..N).any(|k| corners[..k].contains(&corners[k])) {
            return bad_input(format!(
                "{kind} {index} has a corner twice: {corners:?}; remove the degenerate {kind}"
            ));
        }
    }
    Ok(())
}

fn blocks(graph: &Graph, order: &[u32], rank: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = Vec::with_capacity(order.len() + 1);
    let mut rows: Vec<u32> = Vec::new();
    for (column, &vertex) in order.iter().enumerate() {
        let first = rows.len();
        starts.push(first as u32);
        rows.push(column as u32);
        let later = graph.near(vertex).iter().map(|&near| rank[near as usize]);
        rows.extend(later.filter(|&row| row > column as u32));
        rows[first..].sort_unstable();
    }
    starts.push(rows.len() as u32);
    (starts, rows)
}

fn contributions<const N: usize>(
    elements: &[[usize; N]],
    rank: &[u32],
    blocks: usize,
    find: impl Fn(u32, u32) -> usize,
) -> Contributions {
    let mut found: Vec<(u32, u32)> = Vec::with_capacity(elements.len() * N * (N + 1) / 2);
    for (element, corners) in elements.iter().enumerate() {
        for (k, &row) in corners.iter().enumerate() {
            for (l, &column) in corners.iter().enumerate() {
                let (row, column) = (rank[row], rank[column]);
                if row >= column {
                    let code = (element << 4 | k << 2 | l) as u32;
                    found.push((find(row, column) as u32, code));
                }
            }
        }
    }
    let mut starts = vec![0u32; blocks + 1];
    for &(block, _) in &found {
        starts[block as usize + 1] += 1;
    }
    for block in 0..blocks {
        starts[block + 1] += starts[block];
    }
    let mut next = starts.clone();
    let mut codes = vec![0; found.len()];
    for (block, code) in found {
        let place = &mut next[block as usize];
        codes[*place as usize] = code;
        *place += 1;
    }
    Contributions { starts, codes }
}
