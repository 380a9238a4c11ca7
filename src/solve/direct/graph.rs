//! Which vertices share an entry of the matrix.

/// Neighbours of each vertex (not itself), sorted: `near(v)`.
pub(crate) struct Graph {
    start: Vec<u32>,
    neighbour: Vec<u32>,
}

impl Graph {
    /// The graph in which the corners of every element are joined with one another.
    pub(crate) fn of_elements(
        vertices: usize,
        hinges: &[[usize; 4]],
        triangles: &[[usize; 3]],
    ) -> Self {
        let mut pairs = Vec::with_capacity(12 * hinges.len() + 6 * triangles.len());
        for corners in hinges {
            join_all(corners, &mut pairs);
        }
        for corners in triangles {
            join_all(corners, &mut pairs);
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut start = vec![0u32; vertices + 1];
        for &(from, _) in &pairs {
            start[from as usize + 1] += 1;
        }
        for vertex in 0..vertices {
            start[vertex + 1] += start[vertex];
        }
        let neighbour = pairs.into_iter().map(|(_, to)| to).collect();
        Self { start, neighbour }
    }

    /// Number of vertices.
    pub(crate) fn vertices(&self) -> usize {
        self.start.len() - 1
    }

    /// The vertices that share an entry with `vertex`.
    pub(crate) fn near(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        &self.neighbour[self.start[vertex] as usize..self.start[vertex + 1] as usize]
    }
}

fn join_all(corners: &[usize], pairs: &mut Vec<(u32, u32)>) {
    for &from in corners {
        for &to in corners {
            if from != to {
                pairs.push((from as u32, to as u32));
            }
        }
    }
}
