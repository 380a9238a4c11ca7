//! Which vertices a handle takes, told by words, numbers or places in the initial shape.

use serde_json::{Value, json};

use super::node::{Node, short};
use crate::{
    error::{Result, readable},
    mesh::{
        Mesh, Topology,
        vector::{dot, length, minus},
    },
};

#[derive(Debug, Clone, PartialEq)]
pub enum Selection {
    All,
    /// Every vertex with an open edge.
    Boundary,
    /// Vertices of the boundary where the material turns by more than 45°.
    Corners,
    /// By number, counted from 0.
    Indices(Vec<usize>),
    /// All within a box \[m\].
    Box {
        low: [f64; 3],
        high: [f64; 3],
    },
    /// The extreme row along a direction.
    End {
        /// Unit vector; the farthest along it are taken.
        toward: [f64; 3],
        /// How far behind the farthest a vertex may be \[m\]; by default a quarter of a mean edge.
        within: Option<f64>,
    },
}

const WORDS: [&str; 3] = ["all", "boundary", "corners"];
/// Angle of the material at a vertex of the boundary below which it is a corner \[rad\].
const CORNER: f64 = 0.75 * std::f64::consts::PI;

impl Selection {
    pub(super) fn read(node: &Node) -> Result<Selection> {
        match node.value() {
            Value::String(word) => match word.as_str() {
                "all" => Ok(Selection::All),
                "boundary" => Ok(Selection::Boundary),
                "corners" => Ok(Selection::Corners),
                other => node.unknown("selection", other, &WORDS),
            },
            Value::Array(list) => {
                let whole: Option<Vec<usize>> =
                    list.iter().map(|v| v.as_u64().map(|v| v as usize)).collect();
                match whole {
                    Some(list) => Ok(Selection::Indices(list)),
                    None => node.refuse(format!(
                        "= {} must be a list of vertices, whole numbers from 0",
                        short(node.value())
                    )),
                }
            }
            Value::Object(_) => Selection::by_place(node),
            _ => node.refuse(
                "must be \"all\", \"boundary\", \"corners\", a list of vertices, {\"box_m\": …} or {\"end\": …}",
            ),
        }
    }

    fn by_place(node: &Node) -> Result<Selection> {
        let section = node.known(&["box_m", "end", "within_m"])?;
        let within = section.optional_number("within_m", (0.0, 1e3))?;
        match (section.has("box_m"), section.has("end")) {
            (true, false) => match &node.list("box_m")?[..] {
                [low, high] => Ok(Selection::Box {
                    low: low.triple()?,
                    high: high.triple()?,
                }),
                _ => node.refuse_key("box_m", "must be two corners: [[x, y, z], [x, y, z]]"),
            },
            (false, true) => Ok(Selection::End {
                toward: node.required_direction("end")?,
                within,
            }),
            _ => node.refuse("must have box_m or end, and not both"),
        }
    }

    /// The vertices, rising; `node_name` stands in messages.
    pub fn vertices(
        &self,
        mesh: &Mesh,
        topology: &Topology,
    ) -> std::result::Result<Vec<usize>, String> {
        let count = mesh.positions.len();
        let chosen: Vec<usize> = match self {
            Selection::All => (0..count).collect(),
            Selection::Boundary => boundary(topology),
            Selection::Corners => corners(mesh, topology),
            Selection::Indices(list) => {
                if let Some(stray) = list.iter().find(|v| **v >= count) {
                    return Err(format!(
                        "names vertex {stray}, and the mesh has {count}, counted from 0"
                    ));
                }
                let mut list = list.clone();
                list.sort_unstable();
                list.dedup();
                list
            }
            Selection::Box { low, high } => {
                let inside = |p: &[f64; 3]| (0..3).all(|i| low[i] <= p[i] && p[i] <= high[i]);
                (0..count).filter(|&v| inside(&mesh.positions[v])).collect()
            }
            Selection::End { toward, within } => end(mesh, *toward, *within),
        };
        if chosen.is_empty() {
            return Err(format!(
                "selects none of the {count} vertices, which lie from {} to {} m",
                corner(mesh, f64::min),
                corner(mesh, f64::max)
            ));
        }
        Ok(chosen)
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Selection::All => json!("all"),
            Selection::Boundary => json!("boundary"),
            Selection::Corners => json!("corners"),
            Selection::Indices(list) => json!(list),
            Selection::Box { low, high } => json!({"box_m": [low, high]}),
            Selection::End { toward, within } => match within {
                Some(within) => json!({"end": toward, "within_m": within}),
                None => json!({"end": toward}),
            },
        }
    }
}

/// A corner of the box around the mesh, for a message.
fn corner(mesh: &Mesh, pick: fn(f64, f64) -> f64) -> String {
    let axis = |i: usize| {
        let all = mesh.positions.iter().map(|p| p[i]);
        readable(all.reduce(pick).map_or(0.0, |v| (v * 1e6).round() / 1e6))
    };
    format!("({}, {}, {})", axis(0), axis(1), axis(2))
}

fn boundary(topology: &Topology) -> Vec<usize> {
    let mut list: Vec<usize> = topology.boundary.iter().flatten().copied().collect();
    list.sort_unstable();
    list.dedup();
    list
}

fn corners(mesh: &Mesh, topology: &Topology) -> Vec<usize> {
    let mut angle = vec![0.0; mesh.positions.len()];
    for (triangle, vertices) in mesh.triangles.iter().enumerate() {
        let material = mesh.material_corners(triangle);
        for i in 0..3 {
            let arms = [1, 2].map(|k| minus(material[(i + k) % 3], material[i]));
            let cosine = dot(arms[0], arms[1]) / (length(arms[0]) * length(arms[1]));
            angle[vertices[i]] += cosine.clamp(-1.0, 1.0).acos();
        }
    }
    let mut list = boundary(topology);
    list.retain(|&v| angle[v] < CORNER);
    list
}

fn end(mesh: &Mesh, toward: [f64; 3], within: Option<f64>) -> Vec<usize> {
    let along: Vec<f64> = mesh.positions.iter().map(|p| dot(*p, toward)).collect();
    let farthest = along.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let within = within.unwrap_or_else(|| 0.25 * mean_edge(mesh));
    (0..along.len())
        .filter(|&v| farthest - along[v] <= within)
        .collect()
}

fn mean_edge(mesh: &Mesh) -> f64 {
    let side = |triangle: usize| {
        let corners = mesh.corners(triangle);
        (0..3)
            .map(|i| length(minus(corners[(i + 1) % 3], corners[i])))
            .sum::<f64>()
    };
    let count = mesh.triangles.len();
    (0..count).map(side).sum::<f64>() / (3 * count.max(1)) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::{Pattern, cylinder, rectangle};

    /// Words and places find what they say on a rectangle and on a cylinder.
    #[test]
    fn selections_find_their_vertices() {
        let mesh = rectangle(0.2, 0.1, 4, 3, Pattern::Irregular { seed: 3 }).expect("a mesh");
        let topology = mesh.check().expect("a sound mesh");
        let find = |selection: Selection| selection.vertices(&mesh, &topology);
        assert_eq!(find(Selection::Corners).unwrap(), [0, 4, 15, 19]);
        assert_eq!(find(Selection::Boundary).unwrap().len(), 14);
        let end = |toward| Selection::End {
            toward,
            within: None,
        };
        assert_eq!(find(end([-1.0, 0.0, 0.0])).unwrap(), [0, 5, 10, 15]);
        let low = [0.0, 0.0, 0.5];
        let nothing = Selection::Box {
            low,
            high: [1.0; 3],
        };
        assert!(
            find(nothing)
                .unwrap_err()
                .contains("none of the 20 vertices")
        );
        assert!(
            find(Selection::Indices(vec![3, 20]))
                .unwrap_err()
                .contains("vertex 20")
        );
        let mesh = cylinder(0.04, 0.11, 12, 5, Pattern::Alternating).expect("a mesh");
        let topology = mesh.check().expect("a sound mesh");
        let ring = end([0.0, 1.0, 0.0]).vertices(&mesh, &topology).unwrap();
        assert_eq!(ring, (60..72).collect::<Vec<_>>());
        assert!(Selection::Corners.vertices(&mesh, &topology).is_err());
    }
}
