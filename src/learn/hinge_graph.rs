//! The graph of hinges: two are neighbours where they are edges of one triangle.

use crate::mesh::Topology;

/// Most neighbours of a hinge: two in each of its two triangles.
pub const MOST_NEIGHBOURS: usize = 4;

/// Neighbours of every hinge, padded to four with the hinge itself.
#[derive(Debug, Clone, PartialEq)]
pub struct HingeGraph {
    /// Shape `[hinges][4]`.
    pub neighbours: Vec<[usize; MOST_NEIGHBOURS]>,
    /// How many of them are real.
    pub counts: Vec<usize>,
}

impl HingeGraph {
    /// The graph of a mesh.
    pub fn new(topology: &Topology) -> HingeGraph {
        let triangles = topology.islands.len();
        let mut of_triangle: Vec<Vec<usize>> = vec![Vec::new(); triangles];
        for (number, hinge) in topology.hinges.iter().enumerate() {
            for triangle in hinge.triangles {
                of_triangle[triangle].push(number);
            }
        }
        let mut graph = HingeGraph {
            neighbours: Vec::new(),
            counts: Vec::new(),
        };
        for (number, hinge) in topology.hinges.iter().enumerate() {
            let mut row = [number; MOST_NEIGHBOURS];
            let others = hinge.triangles.iter().flat_map(|t| &of_triangle[*t]);
            let mut count = 0;
            for other in others.filter(|other| **other != number) {
                row[count] = *other;
                count += 1;
            }
            graph.neighbours.push(row);
            graph.counts.push(count);
        }
        graph
    }

    /// 1 over the number of real neighbours for each of them, 0 for padding, flat `[hinges·4]`.
    pub fn shares(&self) -> Vec<f64> {
        let share = |&count: &usize| {
            (0..MOST_NEIGHBOURS).map(move |k| if k < count { 1.0 / count as f64 } else { 0.0 })
        };
        self.counts.iter().flat_map(share).collect()
    }
}
