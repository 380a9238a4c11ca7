//! Gradients of one step against differences of it.

use rumple::step::StepGradient;

use crate::inside::common::cloth::{
    CELL, Dice, Input, Objective, Specimen, check, largest, solver,
};

/// The tolerance against central differences in f64.
pub const TOLERANCE: f64 = 1e-5;
/// The range of the Taylor slope about 2.
pub const SLOPE: f64 = 0.1;

/// The step's vector-Jacobian product of an objective.
pub fn pull_back(specimen: &Specimen, objective: &Objective) -> StepGradient {
    let after = specimen.advance();
    let mut solver = solver(&specimen.cloth);
    let states = (&specimen.state, &after);
    let (fabric, drive) = (&specimen.parameters, &specimen.drive);
    let adjoint = objective.adjoint(&after);
    specimen
        .cloth
        .pull_back(&mut solver, states, fabric, drive, &adjoint)
        .unwrap()
}

/// Checks the inputs of a step that `wanted` picks, along a random direction each; returns how many.
pub fn check_all(specimen: &Specimen, dice: &mut Dice, wanted: impl Fn(Input) -> bool) -> usize {
    let objective = Objective::new(specimen, dice);
    let all = pull_back(specimen, &objective);
    let (mut checked, mut failed) = (0, Vec::new());
    for (name, input) in specimen.inputs() {
        if !wanted(input) {
            continue;
        }
        let reach = match input {
            Input::Positions | Input::Anchors | Input::Center(_) => 0.1 * CELL,
            _ => largest(&specimen.values(&specimen.read(input))),
        };
        let verdict = check(specimen, &objective, &all, (input, reach), dice);
        let right = verdict.relative_error <= TOLERANCE
            && verdict.slope.is_some_and(|s| (s - 2.0).abs() <= SLOPE)
            && verdict.derivative != 0.0;
        let line = format!(
            "{name:36} {:12.4e}, error {:.1e}, slope {:.3?}",
            verdict.derivative, verdict.relative_error, verdict.slope
        );
        println!("{line}");
        if !right {
            failed.push(line);
        }
        checked += 1;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    checked
}
