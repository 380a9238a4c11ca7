//! Handles: vertices that are pinned or drawn along a scripted path.

use serde_json::{Value, json};

use super::{
    clock::{CLOSE, Clock},
    motion::HandleMotion,
    node::Node,
    selection::Selection,
};
use crate::{
    error::{Result, bad_input, readable},
    files::json::present,
    mesh::{Mesh, Topology},
};

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Hold {
    /// Exactly.
    Pin,
    /// By a spring at each vertex \[N/m\] (paper 1, Eq. 29).
    Penalty(f64),
}

/// A handle of a scene.
#[derive(Debug, Clone, PartialEq)]
pub struct Handle {
    /// What messages and readings call it.
    pub name: String,
    pub selection: Selection,
    pub hold: Hold,
    /// Applied to the initial positions, in this order.
    pub motions: Vec<HandleMotion>,
    /// Holds from here \[s\]; where the vertices are drawn to does not depend on where they are then.
    pub from: f64,
    /// Lets go \[s\].
    pub release: Option<f64>,
}

pub(super) const HANDLE: [&str; 7] = [
    "name",
    "vertices",
    "kind",
    "stiffness_N_per_m",
    "motions",
    "hold_from_s",
    "release_at_s",
];
/// Of paper 1 \[N/m\].
const STIFFNESS: f64 = 1e5;
pub(super) const STIFFNESS_RANGE: (f64, f64) = (1e-6, 1e12);

impl Handle {
    pub(super) fn read_all(top: &Node, clock: &Clock) -> Result<Vec<Handle>> {
        let mut handles: Vec<Handle> = Vec::new();
        for (i, node) in top.list("handles")?.iter().enumerate() {
            let handle = Handle::read(node, i, clock)?;
            if handles.iter().any(|h| h.name == handle.name) {
                return node.refuse_key(
                    "name",
                    format!(
                        "= \"{}\" stands twice; give each handle a name of its own",
                        handle.name
                    ),
                );
            }
            handles.push(handle);
        }
        Ok(handles)
    }

    fn read(node: &Node, index: usize, clock: &Clock) -> Result<Handle> {
        let section = node.known(&HANDLE)?;
        let Some(vertices) = node.child("vertices") else {
            return node.refuse_key(
                "vertices",
                "is missing; add for example {\"end\": \"y\"}, \"corners\" or a list of vertices",
            );
        };
        let stiffness = section.optional_number("stiffness_N_per_m", STIFFNESS_RANGE)?;
        let hold = match (
            section.optional_choice("kind", &["penalty", "pin"])?,
            stiffness,
        ) {
            (Some("pin"), Some(_)) => {
                return node.refuse_key(
                    "stiffness_N_per_m",
                    "is for penalty handles; a pin is exact, so remove it or choose \"kind\": \"penalty\"",
                );
            }
            (Some("pin"), None) => Hold::Pin,
            (_, stiffness) => Hold::Penalty(stiffness.unwrap_or(STIFFNESS)),
        };
        let from = section.optional_number("hold_from_s", (0.0, clock.duration()))?;
        let from = from.unwrap_or(0.0);
        let release = section.number("release_at_s")?;
        if release.is_some_and(|r| !(r > from && r.is_finite())) {
            return node.refuse_key(
                "release_at_s",
                format!(
                    "= {} is not after the handle starts to hold at {} s; make it later",
                    readable(release.unwrap_or(0.0)),
                    readable(from)
                ),
            );
        }
        Ok(Handle {
            name: section
                .optional_text("name")?
                .unwrap_or_else(|| format!("handle {index}")),
            selection: Selection::read(&vertices)?,
            hold,
            motions: HandleMotion::read_all(node, true)?,
            from,
            release,
        })
    }

    /// Whether it holds in a step: at the step's end.
    pub fn holds(&self, clock: &Clock, step: usize) -> bool {
        let (end, close) = (clock.end(step), CLOSE * clock.step);
        end > self.from + close && self.release.is_none_or(|r| end <= r + close)
    }

    /// Whether two handles ever hold at the same time.
    fn meets(&self, other: &Handle) -> bool {
        let ends = |h: &Handle| h.release.unwrap_or(f64::INFINITY);
        self.from < ends(other) && other.from < ends(self)
    }

    pub(super) fn to_json(&self) -> Value {
        let (kind, stiffness) = match self.hold {
            Hold::Pin => ("pin", None),
            Hold::Penalty(stiffness) => ("penalty", Some(stiffness)),
        };
        let motions: Vec<Value> = self.motions.iter().map(HandleMotion::to_json).collect();
        present([json!({
            "name": self.name,
            "vertices": self.selection.to_json(),
            "kind": kind,
            "stiffness_N_per_m": stiffness,
            "motions": motions,
            "hold_from_s": self.from,
            "release_at_s": self.release,
        })])
    }
}

/// A handle with the vertices it found.
#[derive(Debug, Clone)]
pub struct Grip {
    pub handle: Handle,
    /// Rising.
    pub vertices: Vec<usize>,
    /// Initial positions of those \[m\].
    start: Vec<[f64; 3]>,
}

impl Grip {
    /// Where the vertices are drawn to at a moment \[m\].
    pub fn anchors(&self, seconds: f64) -> Vec<[f64; 3]> {
        let mut points = self.start.clone();
        for motion in &self.handle.motions {
            motion.apply(&mut points, seconds);
        }
        points
    }

    /// All handles of a scene on its mesh; refuses a vertex that two hold at the same time.
    pub(super) fn find_all(
        place: &str,
        handles: &[Handle],
        mesh: &Mesh,
        topology: &Topology,
    ) -> Result<Vec<Grip>> {
        let mut grips: Vec<Grip> = Vec::new();
        for handle in handles {
            let vertices = match handle.selection.vertices(mesh, topology) {
                Ok(vertices) => vertices,
                Err(why) => {
                    return bad_input(format!("{place}: handle '{}' {why}", handle.name));
                }
            };
            let grip = Grip {
                start: vertices.iter().map(|&v| mesh.positions[v]).collect(),
                handle: handle.clone(),
                vertices,
            };
            for other in grips.iter().filter(|g| g.handle.meets(handle)) {
                let shared = grip.vertices.iter().find(|v| other.vertices.contains(v));
                if let Some(vertex) = shared {
                    return bad_input(format!(
                        "{place}: vertex {vertex} is held by '{}' ({}) and '{}' ({}) at the same time; \
                         choose other vertices, or let one go (release_at_s) before the other holds (hold_from_s)",
                        other.handle.name,
                        other.handle.hold.name(),
                        handle.name,
                        handle.hold.name()
                    ));
                }
            }
            grips.push(grip);
        }
        Ok(grips)
    }
}

impl Hold {
    fn name(self) -> &'static str {
        match self {
            Hold::Pin => "pin",
            Hold::Penalty(_) => "penalty",
        }
    }
}
