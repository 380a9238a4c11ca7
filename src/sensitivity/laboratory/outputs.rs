//! Names and readings of a case's tests: every point of its curves, then numbers that sum curves up.

use crate::{
    fit::dataset::Dataset,
    laboratory::{Condition, TESTS, Test},
    sensitivity::model::{Output, Place},
};

/// An output as a weighted sum of conditions.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Recipe(Vec<(usize, f64)>);

impl Recipe {
    /// The sum for given values of the conditions.
    pub(crate) fn of(&self, value: impl Fn(usize) -> f64) -> f64 {
        // One condition keeps its bits.
        match &self.0[..] {
            [(condition, 1.0)] => value(*condition),
            parts => parts.iter().map(|(c, weight)| weight * value(*c)).sum(),
        }
    }
}

/// The outputs of conditions, one each in their order, then the readings of whole curves; and which of them is the mean
/// of all curves.
pub(super) fn outputs(
    conditions: &[(usize, Condition)],
    data: &Dataset,
) -> (Vec<Output>, Vec<Recipe>, Option<usize>) {
    let mut outputs: Vec<Output> = Vec::new();
    let (mut recipes, mut main) = (Vec::new(), None);
    for (i, (group, condition)) in conditions.iter().enumerate() {
        // One fabric needs no name.
        let fabric = match data.groups.len() {
            1 => String::new(),
            _ => format!("{}: ", data.groups[*group]),
        };
        outputs.push(output(&fabric, condition));
        recipes.push(Recipe(vec![(i, 1.0)]));
    }
    for test in TESTS {
        if let Some(names) = test.curve_summary() {
            let curves = curves(conditions, &outputs, test);
            main = main.or(sum_up(names, &curves, &mut outputs, &mut recipes));
        }
    }
    (outputs, recipes, main)
}

/// Adds the mean of every curve and of all, and the mean fall from the first to the last point of a curve. Says where
/// the mean of all is.
fn sum_up(
    [mean_name, fall_name]: [&str; 2],
    curves: &[(String, Vec<usize>)],
    outputs: &mut Vec<Output>,
    recipes: &mut Vec<Recipe>,
) -> Option<usize> {
    let mut main = None;
    let unit = curves
        .first()
        .and_then(|(_, points)| Some(outputs[*points.first()?].unit.clone()));
    let unit = unit.unwrap_or_default();
    let reading = |name: String| Output {
        name,
        unit: unit.clone(),
        place: None,
    };
    for (name, points) in curves {
        if curves.len() > 1 {
            outputs.push(reading(format!("{mean_name}, {name}")));
            recipes.push(mean(points));
        }
    }
    let all: Vec<usize> = curves
        .iter()
        .flat_map(|(_, points)| points.clone())
        .collect();
    if all.len() > 1 {
        main = Some(outputs.len());
        outputs.push(reading(mean_name.into()));
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
        outputs.push(reading(fall_name.into()));
        recipes.push(Recipe(ends.collect()));
    }
    main
}

fn mean(points: &[usize]) -> Recipe {
    let share = 1.0 / points.len() as f64;
    Recipe(points.iter().map(|p| (*p, share)).collect())
}

/// Conditions of a test by their curve, each in the order of x.
fn curves(
    conditions: &[(usize, Condition)],
    outputs: &[Output],
    test: &dyn Test,
) -> Vec<(String, Vec<usize>)> {
    let mut curves: Vec<(String, Vec<usize>)> = Vec::new();
    for (i, (_, condition)) in conditions.iter().enumerate() {
        let Some(place) = &outputs[i].place else {
            continue;
        };
        if condition.test.name() != test.name() {
            continue;
        }
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
    let label = condition.test.label(condition);
    Output {
        name: format!("{fabric}{}", label.name),
        unit: label.unit.into(),
        place: label.place.map(|(curve, x, axis)| Place {
            curve: format!("{fabric}{curve}"),
            x,
            axis: axis.into(),
        }),
    }
}
