//! Nested dissection: an order of elimination with little fill.
//!
//! A set of vertices is cut in two along a direction in the rest shape; the vertices of one side that
//! share a matrix entry with the other side are the separator and are eliminated last. As the graph
//! is the matrix's own (hinges join opposite vertices), a separator is two rows wide where needed.
//! The parts are cut again until they are small (George, SIAM J. Numer. Anal. 10, 1973).

use super::graph::Graph;

/// Parts of at most this many vertices are eliminated as one dense block.
pub(crate) const LEAF_VERTICES: usize = 12;

/// The cut leaves at least this share of the vertices below it.
const SMALLEST_SHARE: f64 = 0.35;

/// Vertices eliminated together, after those of the children.
#[derive(Debug)]
pub(crate) struct Separator {
    /// Vertices, in the order of elimination.
    pub(crate) vertices: Vec<u32>,
    /// Indices of parts that are eliminated before and touch this one.
    pub(crate) children: Vec<usize>,
}

/// A forest of parts; children come before their parent.
#[derive(Debug)]
pub(crate) struct Dissection {
    /// All parts, in the order of elimination.
    pub(crate) parts: Vec<Separator>,
    /// The last part of each connected mesh.
    pub(crate) roots: Vec<usize>,
}

/// The dissection of `graph` with vertices at `positions` (m), shape `[vertices][3]`.
pub(crate) fn dissect(graph: &Graph, positions: &[[f64; 3]]) -> Dissection {
    let vertices = graph.vertices();
    let mut work = Scratch {
        graph,
        positions,
        label: vec![0; vertices],
        labels: 0,
        place: vec![0; vertices],
        eliminated: vec![u32::MAX; vertices],
        count: 0,
        parts: Vec::new(),
    };
    let roots = work.dissect((0..vertices as u32).collect());
    Dissection {
        parts: work.parts,
        roots,
    }
}

struct Scratch<'a> {
    graph: &'a Graph,
    positions: &'a [[f64; 3]],
    /// The set that a vertex is in now.
    label: Vec<u32>,
    labels: u32,
    /// Scratch: place in the sorted set.
    place: Vec<u32>,
    /// Place in the order of elimination, where known.
    eliminated: Vec<u32>,
    count: u32,
    parts: Vec<Separator>,
}

struct Cut {
    low: Vec<u32>,
    separator: Vec<u32>,
    high: Vec<u32>,
}

impl Scratch<'_> {
    /// Dissects every connected piece of `set`; the indices of their last parts.
    fn dissect(&mut self, set: Vec<u32>) -> Vec<usize> {
        self.components(&set)
            .into_iter()
            .map(|piece| self.dissect_connected(piece))
            .collect()
    }

    fn dissect_connected(&mut self, set: Vec<u32>) -> usize {
        if set.len() <= LEAF_VERTICES {
            return self.close(set, Vec::new());
        }
        let cut = self.best_cut(&set);
        if cut.low.is_empty() || cut.high.is_empty() {
            return self.close(set, Vec::new());
        }
        let mut children = self.dissect(cut.low);
        children.extend(self.dissect(cut.high));
        self.close(cut.separator, children)
    }

    /// Numbers the vertices of a part. They are sorted by their first eliminated neighbour, so that
    /// what a child touches is contiguous and its update is added in long runs.
    fn close(&mut self, mut vertices: Vec<u32>, children: Vec<usize>) -> usize {
        vertices.sort_by_key(|&vertex| {
            let near = self.graph.near(vertex).iter();
            (near.map(|&n| self.eliminated[n as usize]).min(), vertex)
        });
        for &vertex in &vertices {
            self.eliminated[vertex as usize] = self.count;
            self.count += 1;
        }
        self.parts.push(Separator { vertices, children });
        self.parts.len() - 1
    }

    fn new_label(&mut self, set: &[u32]) -> u32 {
        self.labels += 1;
        for &vertex in set {
            self.label[vertex as usize] = self.labels;
        }
        self.labels
    }

    fn components(&mut self, set: &[u32]) -> Vec<Vec<u32>> {
        let unseen = self.new_label(set);
        self.labels += 1;
        let seen = self.labels;
        let mut pieces = Vec::new();
        for &seed in set {
            if self.label[seed as usize] != unseen {
                continue;
            }
            self.label[seed as usize] = seen;
            let mut piece = vec![seed];
            let mut next = 0;
            while next < piece.len() {
                for &near in self.graph.near(piece[next]) {
                    if self.label[near as usize] == unseen {
                        self.label[near as usize] = seen;
                        piece.push(near);
                    }
                }
                next += 1;
            }
            pieces.push(piece);
        }
        pieces
    }

    /// The cut with the smallest separator over a few directions and all places near the middle.
    fn best_cut(&mut self, set: &[u32]) -> Cut {
        let label = self.new_label(set);
        let mut best: Option<(f64, CutPlace, Vec<u32>)> = None;
        for direction in directions(set, self.positions) {
            let sorted = self.sorted_along(set, direction);
            if let Some((score, choice)) = self.best_place(&sorted, label)
                && best.as_ref().is_none_or(|(known, _, _)| score < *known)
            {
                best = Some((score, choice, sorted));
            }
        }
        match best {
            Some((_, choice, sorted)) => self.apply(choice, &sorted, label),
            None => Cut {
                low: Vec::new(),
                separator: set.to_vec(),
                high: Vec::new(),
            },
        }
    }

    fn sorted_along(&self, set: &[u32], direction: [f64; 3]) -> Vec<u32> {
        let along = |vertex: u32| {
            let p = self.positions[vertex as usize];
            p[0] * direction[0] + p[1] * direction[1] + p[2] * direction[2]
        };
        let mut keyed: Vec<(f64, u32)> = set.iter().map(|&v| (along(v), v)).collect();
        keyed.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        keyed.into_iter().map(|(_, vertex)| vertex).collect()
    }

    /// Lowest and highest place among a vertex's neighbours (and itself) in its set.
    fn reach(&self, vertex: u32, label: u32) -> (usize, usize) {
        let own = self.place[vertex as usize];
        let (mut lowest, mut highest) = (own, own);
        for &near in self.graph.near(vertex) {
            if self.label[near as usize] == label {
                lowest = lowest.min(self.place[near as usize]);
                highest = highest.max(self.place[near as usize]);
            }
        }
        (lowest as usize, highest as usize)
    }

    /// Counts, for every place of the cut at once, the vertices that reach across it.
    fn best_place(&mut self, sorted: &[u32], label: u32) -> Option<(f64, CutPlace)> {
        let count = sorted.len();
        for (place, &vertex) in sorted.iter().enumerate() {
            self.place[vertex as usize] = place as u32;
        }
        // A cut at `place` has the vertices before it below.
        let mut below = vec![0i32; count + 2];
        let mut above = vec![0i32; count + 2];
        for (place, &vertex) in sorted.iter().enumerate() {
            let (lowest, highest) = self.reach(vertex, label);
            below[place + 1] += 1;
            below[highest + 1] -= 1;
            above[lowest + 1] += 1;
            above[place + 1] -= 1;
        }
        let first = ((count as f64 * SMALLEST_SHARE) as usize).max(1);
        let mut best: Option<(f64, CutPlace)> = None;
        let (mut from_below, mut from_above) = (0, 0);
        for place in 0..=count - first {
            from_below += below[place];
            from_above += above[place];
            if place < first {
                continue;
            }
            for (size, take_low) in [(from_below, true), (from_above, false)] {
                let middle = place as f64 + if take_low { -0.5 } else { 0.5 } * f64::from(size);
                let score = score(size as usize, middle / count as f64);
                if best.as_ref().is_none_or(|(known, _)| score < *known) {
                    best = Some((score, CutPlace { place, take_low }));
                }
            }
        }
        best
    }

    fn apply(&mut self, choice: CutPlace, sorted: &[u32], label: u32) -> Cut {
        for (place, &vertex) in sorted.iter().enumerate() {
            self.place[vertex as usize] = place as u32;
        }
        let mut cut = Cut {
            low: Vec::new(),
            separator: Vec::new(),
            high: Vec::new(),
        };
        for (place, &vertex) in sorted.iter().enumerate() {
            let (lowest, highest) = self.reach(vertex, label);
            let is_low = place < choice.place;
            let crosses = if is_low {
                choice.take_low && highest >= choice.place
            } else {
                !choice.take_low && lowest < choice.place
            };
            match (crosses, is_low) {
                (true, _) => cut.separator.push(vertex),
                (false, true) => cut.low.push(vertex),
                (false, false) => cut.high.push(vertex),
            }
        }
        cut
    }
}

/// Where to cut the sorted set, and which side gives up the vertices of the separator.
struct CutPlace {
    place: usize,
    take_low: bool,
}

/// Separators cost the cube of their size; parts that differ in size cost later.
fn score(separator: usize, middle: f64) -> f64 {
    let imbalance = 2.0 * middle - 1.0;
    separator as f64 * (1.0 + imbalance * imbalance)
}

/// The axes and the diagonals between them, without those along which the set is thin.
fn directions(set: &[u32], positions: &[[f64; 3]]) -> Vec<[f64; 3]> {
    const DIAGONAL: f64 = std::f64::consts::FRAC_1_SQRT_2;
    /// A set thinner than this share of its length is not cut along its thin direction.
    const THIN: f64 = 0.4;
    let candidates = [
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.0, 0.0, 1.0],
        [DIAGONAL, DIAGONAL, 0.0],
        [DIAGONAL, -DIAGONAL, 0.0],
        [DIAGONAL, 0.0, DIAGONAL],
        [DIAGONAL, 0.0, -DIAGONAL],
        [0.0, DIAGONAL, DIAGONAL],
        [0.0, DIAGONAL, -DIAGONAL],
    ];
    let extent = |d: &[f64; 3]| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &vertex in set {
            let p = positions[vertex as usize];
            let along = p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
            low = low.min(along);
            high = high.max(along);
        }
        high - low
    };
    let extents = candidates.map(|d| extent(&d));
    let longest = extents.iter().copied().fold(0.0, f64::max);
    candidates
        .into_iter()
        .zip(extents)
        .filter(|(_, extent)| *extent >= THIN * longest)
        .map(|(direction, _)| direction)
        .collect()
}
