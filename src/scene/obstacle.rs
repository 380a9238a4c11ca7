//! Obstacles of a scene: shape, contact, and where they are at a moment.

use serde_json::{Value, json};

use super::{
    clock::{CLOSE, Clock},
    motion::HandleMotion,
    node::Node,
};
use crate::{
    contact::{Contact, Obstacle},
    error::{Result, readable},
    files::json::present,
};

/// An obstacle of a scene.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlacedObstacle {
    /// What messages call it.
    pub name: String,
    pub contact: Contact,
    /// Where its centre is before any motion \[m\].
    pub center: [f64; 3],
    /// Applied in this order.
    pub motions: Vec<HandleMotion>,
    /// It is there from here \[s\].
    pub from: f64,
    /// To here \[s\].
    pub to: Option<f64>,
}

pub(super) const SHAPES: [&str; 6] = [
    "plane",
    "sphere",
    "capsule",
    "cylinder",
    "container",
    "block",
];
/// Keys that every obstacle may have.
pub(super) const COMMON: [&str; 9] = [
    "name",
    "shape",
    "center_m",
    "thickness_m",
    "stiffness_N_per_m",
    "friction",
    "motions",
    "present_from_s",
    "present_to_s",
];
pub(super) const SIZE: (f64, f64) = (1e-6, 1e3);
/// \[m\] About the thickness of a shirt's cloth and the air in it.
const THICKNESS: f64 = 1e-3;
/// \[N/m\] at each vertex: the weight of a vertex of ten milligrams sinks in by a tenth of a micrometre.
const STIFFNESS: f64 = 1e3;
/// Coulomb's coefficient of cotton on most things.
const FRICTION: f64 = 0.3;

/// Keys of a shape's own measures.
pub(super) fn own_keys(shape: &str) -> &'static [&'static str] {
    match shape {
        "plane" => &["normal"],
        "sphere" => &["radius_m"],
        "capsule" => &["half_axis_m", "radius_m"],
        "cylinder" | "container" => &["axis", "radius_m"],
        _ => &["half_m"],
    }
}

impl PlacedObstacle {
    pub(super) fn read_all(top: &Node, clock: &Clock) -> Result<Vec<PlacedObstacle>> {
        let list = top.list("obstacles")?;
        let read = |(i, node)| PlacedObstacle::read(node, i, clock);
        list.iter().enumerate().map(read).collect()
    }

    fn read(node: &Node, index: usize, clock: &Clock) -> Result<PlacedObstacle> {
        let shape = node.section()?.choice("shape", &SHAPES)?;
        let section = node.known(&[&COMMON[..], own_keys(shape)].concat())?;
        let from = section.optional_number("present_from_s", (0.0, clock.duration()))?;
        let from = from.unwrap_or(0.0);
        let to = section.optional_number("present_to_s", (0.0, 1e12))?;
        if to.is_some_and(|to| to <= from) {
            return node.refuse_key(
                "present_to_s",
                format!(
                    "= {} is not after present_from_s = {}",
                    readable(to.unwrap_or(0.0)),
                    readable(from)
                ),
            );
        }
        let contact = Contact {
            obstacle: read_shape(node, shape)?,
            thickness: section
                .optional_number("thickness_m", (1e-7, 1.0))?
                .unwrap_or(THICKNESS),
            stiffness: section
                .optional_number("stiffness_N_per_m", (1e-6, 1e9))?
                .unwrap_or(STIFFNESS),
            friction: section
                .optional_number("friction", (0.0, 10.0))?
                .unwrap_or(FRICTION),
        };
        Ok(PlacedObstacle {
            name: section
                .optional_text("name")?
                .unwrap_or_else(|| format!("{shape} {index}")),
            contact,
            center: node.vector("center_m")?.unwrap_or_default(),
            motions: HandleMotion::read_all(node, false)?,
            from,
            to,
        })
    }

    /// Whether it is there in a step.
    pub(crate) fn present(&self, clock: &Clock, step: usize) -> bool {
        self.present_at(clock, clock.end(step))
    }

    /// Whether it is there at the end of a step, given by its time \[s\].
    pub(crate) fn present_at(&self, clock: &Clock, seconds: f64) -> bool {
        let close = CLOSE * clock.step;
        seconds > self.from - close && self.to.is_none_or(|to| seconds <= to + close)
    }

    /// Its centre at a moment \[m\].
    pub(crate) fn center_at(&self, seconds: f64) -> [f64; 3] {
        let mut center = [self.center];
        for motion in &self.motions {
            motion.apply(&mut center, seconds);
        }
        center[0]
    }

    pub(super) fn to_json(&self) -> Value {
        let shape = match self.contact.obstacle {
            Obstacle::Plane { normal } => json!({ "shape": "plane", "normal": normal }),
            Obstacle::Sphere { radius } => json!({ "shape": "sphere", "radius_m": radius }),
            Obstacle::Capsule { half_axis, radius } => {
                json!({ "shape": "capsule", "half_axis_m": half_axis, "radius_m": radius })
            }
            Obstacle::Cylinder {
                axis,
                radius,
                inside,
            } => {
                let shape = if inside { "container" } else { "cylinder" };
                json!({ "shape": shape, "axis": axis, "radius_m": radius })
            }
            Obstacle::Block { half } => json!({ "shape": "block", "half_m": half }),
        };
        let motions: Vec<Value> = self.motions.iter().map(HandleMotion::to_json).collect();
        let placed = json!({
            "center_m": self.center,
            "thickness_m": self.contact.thickness,
            "stiffness_N_per_m": self.contact.stiffness,
            "friction": self.contact.friction,
            "motions": motions,
            "present_from_s": self.from,
            "present_to_s": self.to,
        });
        present([json!({ "name": self.name }), shape, placed])
    }
}

fn read_shape(node: &Node, shape: &str) -> Result<Obstacle> {
    let section = node.section()?;
    let radius = || section.required_number("radius_m", SIZE);
    Ok(match shape {
        "plane" => Obstacle::Plane {
            normal: node.required_direction("normal")?,
        },
        "sphere" => Obstacle::Sphere { radius: radius()? },
        "capsule" => {
            let half_axis = node.required_vector("half_axis_m")?;
            let length = half_axis.iter().map(|a| a * a).sum::<f64>().sqrt();
            if length < SIZE.0 {
                return node.refuse_key(
                    "half_axis_m",
                    format!(
                        "is {} m long; a capsule needs a length, else take a sphere",
                        readable(length)
                    ),
                );
            }
            Obstacle::Capsule {
                half_axis,
                radius: radius()?,
            }
        }
        "cylinder" | "container" => Obstacle::Cylinder {
            axis: node.required_direction("axis")?,
            radius: radius()?,
            inside: shape == "container",
        },
        _ => {
            let half = node.required_vector("half_m")?;
            if let Some(side) = half.iter().find(|h| **h < SIZE.0) {
                return node.refuse_key(
                    "half_m",
                    format!(
                        "holds {}; each half side is at least {} m",
                        readable(*side),
                        readable(SIZE.0)
                    ),
                );
            }
            Obstacle::Block { half }
        }
    })
}
