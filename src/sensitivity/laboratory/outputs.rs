//! Names and readings of a case's tests: every point of its curves, then numbers that sum curves up.

use crate::{
    error::readable,
    fit::{
        dataset::Dataset,
        simulate::{BendingReading, Condition},
    },
    laboratory::{Branch, Way},
    sensitivity::model::{Output, Place},
};

/// An output as a weighted sum of conditions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recipe(Vec<(usize, f64)>);

impl Recipe {
    /// The sum for given values of the conditions.
    pub fn of(&self, value: impl Fn(usize) -> f64) -> f64 {
        // One condition keeps its bits.
        match &self.0[..] {
            [(condition, 1.0)] => value(*condition),
            parts => parts.iter().map(|(c, weight)| weight * value(*c)).sum(),
        }
    }
}

/// The outputs of conditions, one each in their order, then the readings of whole curves.
pub(super) fn outputs(
    conditions: &[(usize, Condition)],
    data: &Dataset,
) -> (Vec<Output>, Vec<Recipe>) {
    let mut outputs: Vec<Output> = Vec::new();
    let mut recipes = Vec::new();
    for (i, (group, condition)) in conditions.iter().enumerate() {
        // One fabric needs no name.
        let fabric = match data.groups.len() {
            1 => String::new(),
            _ => format!("{}: ", data.groups[*group]),
        };
        outputs.push(output(&fabric, condition));
        recipes.push(Recipe(vec![(i, 1.0)]));
    }
    let curves = recovery_curves(conditions, &outputs);
    for (name, points) in &curves {
        if curves.len() > 1 {
            outputs.push(reading(format!("mean angle, {name}")));
            recipes.push(mean(points));
        }
    }
    let all: Vec<usize> = curves
        .iter()
        .flat_map(|(_, points)| points.clone())
        .collect();
    if all.len() > 1 {
        outputs.push(reading("mean angle".into()));
        recipes.push(mean(&all));
    }
    let long: Vec<_> = curves
        .iter()
        .filter(|(_, points)| points.len() > 1)
        .collect();
    if !long.is_empty() {
        let share = 1.0 / long.len() as f64;
        let ends = long
            .iter()
            .flat_map(|(_, points)| [(points[0], share), (points[points.len() - 1], -share)]);
        outputs.push(reading("loss from shortest to longest pressing".into()));
        recipes.push(Recipe(ends.collect()));
    }
    (outputs, recipes)
}

fn reading(name: String) -> Output {
    Output {
        name,
        unit: "°".into(),
        place: None,
    }
}

fn mean(points: &[usize]) -> Recipe {
    let share = 1.0 / points.len() as f64;
    Recipe(points.iter().map(|p| (*p, share)).collect())
}

/// Recovery conditions by their curve, each in the order of the pressing time.
fn recovery_curves(
    conditions: &[(usize, Condition)],
    outputs: &[Output],
) -> Vec<(String, Vec<usize>)> {
    let mut curves: Vec<(String, Vec<usize>)> = Vec::new();
    for (i, (_, condition)) in conditions.iter().enumerate() {
        let (Condition::Recovery(_), Some(place)) = (condition, &outputs[i].place) else {
            continue;
        };
        match curves.iter_mut().find(|(name, _)| *name == place.curve) {
            Some((_, points)) => points.push(i),
            None => curves.push((place.curve.clone(), vec![i])),
        }
    }
    let x = |i: &usize| outputs[*i].place.as_ref().map_or(0.0, |p| p.x);
    for (_, points) in &mut curves {
        points.sort_by(|a, b| x(a).total_cmp(&x(b)));
    }
    curves
}

fn output(fabric: &str, condition: &Condition) -> Output {
    match condition {
        Condition::Recovery(point) => {
            // Undoes the conversion to metres without its rounding.
            let gap = readable((1e9 * point.gap).round() / 1e6);
            let read = readable(point.read);
            Output {
                name: format!(
                    "{fabric}angle, gap {gap} mm, pressed {} s, read after {read} s",
                    readable(point.press)
                ),
                unit: "°".into(),
                place: Some(Place {
                    curve: format!("{fabric}gap {gap} mm, read after {read} s"),
                    x: point.press,
                    axis: "pressing time [s]".into(),
                }),
            }
        }
        Condition::Bending { dwell, read, .. } => bending(fabric, *dwell, read),
        Condition::Torque {
            twist, way, turn, ..
        } => {
            let way = match way {
                Way::Out => "out",
                Way::Back => "back",
            };
            let held = readable(twist.hold);
            let turn = turn.to_degrees();
            Output {
                name: format!("{fabric}torque, {way}, turned {turn:.4}°, held {held} s"),
                unit: "N·m".into(),
                place: Some(Place {
                    curve: format!("{fabric}torque, {way}, held {held} s"),
                    x: turn,
                    axis: "turn [°]".into(),
                }),
            }
        }
    }
}

fn bending(fabric: &str, dwell: f64, read: &BendingReading) -> Output {
    let dwelt = format!("dwell {} s", readable(dwell));
    match read {
        BendingReading::Rigidity => Output {
            name: format!("{fabric}B, {dwelt}"),
            unit: "N·m".into(),
            place: None,
        },
        BendingReading::Hysteresis => Output {
            name: format!("{fabric}2HB, {dwelt}"),
            unit: "N·m/m".into(),
            place: None,
        },
        BendingReading::Moment(branch, curvature) => {
            let branch = match branch {
                Branch::Out => "way out",
                Branch::Down => "way down",
                Branch::Back => "way back",
            };
            Output {
                name: format!(
                    "{fabric}moment at {} 1/m, {branch}, {dwelt}",
                    readable(*curvature)
                ),
                unit: "N·m/m".into(),
                place: Some(Place {
                    curve: format!("{fabric}moment, {branch}, {dwelt}"),
                    x: *curvature,
                    axis: "curvature [1/m]".into(),
                }),
            }
        }
    }
}
