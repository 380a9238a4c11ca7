//! What a case leaves open, chosen to suit the data.

use super::{
    case::{Case, Free, Role, TransformName},
    dataset::Dataset,
};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::Survey,
    material::{Dimension, Material, Parameter, ParameterRole, StrainMeasure, Transform},
};

/// Smallest spread over the yarns that is looked for: below, yarns are alike for any data.
const LEAST_SPREAD: f64 = 0.02;

/// What the data tell about the parameters.
struct Known {
    /// Mildest and sharpest curvature \[1/m\].
    curvature: (f64, f64),
    /// Shortest and longest dwell \[s\].
    times: (f64, f64),
    /// Rigidity as measured \[N·m\], where it was.
    rigidity: Option<f64>,
    /// Whether the data tell the size of stiffnesses.
    tells_rigidity: bool,
    /// Whether no reading depends on how long yarns rest.
    cycles_only: bool,
}

impl Known {
    fn of(data: &Dataset) -> Known {
        let mut survey = Survey {
            curvature: (f64::INFINITY, 0.0),
            times: (f64::INFINITY, 0.0),
            rigidities: Vec::new(),
            tells_rigidity: false,
        };
        for row in data.fitted() {
            let condition = &row.condition;
            condition.test.survey(condition, row.value, &mut survey);
            let held = condition.held();
            if held > 0.0 {
                survey.times = (survey.times.0.min(held), survey.times.1.max(held));
            }
        }
        if survey.times.1 == 0.0 {
            survey.times = (1.0, 1e4);
        }
        // Where no test has a mild end of its own, the sharp end is all that is known.
        let (mild, sharp) = survey.curvature;
        survey.curvature = (mild.min(sharp), sharp);
        let rigidities = &survey.rigidities;
        let mean = rigidities.iter().sum::<f64>() / rigidities.len().max(1) as f64;
        Known {
            curvature: survey.curvature,
            times: survey.times,
            rigidity: (!rigidities.is_empty()).then_some(mean),
            tells_rigidity: !rigidities.is_empty() || survey.tells_rigidity,
            cycles_only: data
                .fitted()
                .all(|r| !r.condition.test.shows_time(&r.condition)),
        }
    }
}

/// A value that plays no part in a bending cycle without a dwell, for a parameter that it cannot show:
/// yarns do not lock and nothing yields.
fn beyond_a_cycle(role: ParameterRole, known: &Known) -> Option<f64> {
    match role {
        ParameterRole::SaturatedThreshold => Some(2.0 * known.curvature.1),
        ParameterRole::DwellTime => Some(1e6),
        ParameterRole::YieldStrain => Some(20.0 * known.curvature.1),
        ParameterRole::HardeningStiffness => Some(known.rigidity.unwrap_or(1e-5)),
        ParameterRole::HardeningDrop => Some(0.5),
        ParameterRole::FlowTime => Some(1e3),
        _ => None,
    }
}

/// Rigidity to assume where nothing tells it: that of the preset of the fabric's name, else cotton's; and a sentence
/// that says so.
fn assumed_rigidity(data: &Dataset) -> Result<(f64, String)> {
    let named = data.groups.iter().find_map(|g| Material::preset(g).ok());
    let preset = match named.filter(|m| m.strain == StrainMeasure::Curvature) {
        Some(preset) => preset,
        None => Material::preset("cotton broad")?,
    };
    let name = &preset.name;
    let Some(value) = preset.value_of(ParameterRole::BendingStiffness) else {
        return bad_input(format!(
            "preset '{name}' has no bending_stiffness to assume; give the case a fixed bending_stiffness"
        ));
    };
    Ok((
        value,
        format!(
            "assumed: KES B of {name}; recovery angles determine only ratios of stiffnesses, so all stiffnesses scale with it"
        ),
    ))
}

/// Gives every parameter of the law a role, and every free one bounds and a scale.
pub(crate) fn complete(case: &Case, data: &Dataset) -> Result<Case> {
    let mut case = case.clone();
    let known = Known::of(data);
    let law = case.build_law();
    let mut roles = Vec::new();
    for parameter in law.parameters() {
        let role = match (case.role(&parameter.name), parameter.role) {
            (Some(role), _) => role.clone(),
            (None, ParameterRole::BendingStiffness) if !known.tells_rigidity => {
                let (value, why) = assumed_rigidity(data)?;
                Role::Fixed { value, why }
            }
            (None, role) if role.is_spread() => Role::Fixed {
                value: 0.0,
                why: "assumed: yarns are alike in this".into(),
            },
            _ if known.cycles_only => match beyond_a_cycle(parameter.role, &known) {
                Some(value) => Role::Fixed {
                    value,
                    why: "assumed: a bending cycle without a dwell cannot tell".into(),
                },
                None => Role::Free(Free::default()),
            },
            _ => Role::Free(Free::default()),
        };
        roles.push((parameter.name.clone(), role));
    }
    case.parameters = roles;
    let rigidity = match case.done_with(ParameterRole::BendingStiffness) {
        Some(Role::Fixed { value, .. }) => *value,
        _ => known.rigidity.unwrap_or(1e-5),
    };
    let parameters = law.parameters();
    let mut i = 0;
    while i < case.parameters.len() {
        let parameter = &parameters[i];
        if let Role::Free(mut free) = case.parameters[i].1.clone() {
            let bounds = free
                .bounds
                .unwrap_or_else(|| bounds(parameter, &known, rigidity));
            let bounds = match (free.bounds, fixed_above(&case, &parameters, parameter)) {
                (None, Some(value)) => (bounds.0.min(0.01 * value), bounds.1.min(value)),
                _ => bounds,
            };
            free.bounds = Some(bounds);
            free.local = Some(free.local.unwrap_or(data.groups.len() > 1));
            free.transform = Some(match free.transform {
                Some(transform) => transform,
                None => transform(&case, parameter, bounds, free.local),
            });
            check(parameter, &free, bounds)?;
            case.parameters[i].1 = Role::Free(free);
        }
        i += 1;
    }
    for parameter in &parameters {
        if let Transform::Above(lower) = parameter.transform {
            check_order(&case, lower, &parameter.name)?;
        }
    }
    Ok(case)
}

/// The fixed value that a parameter must not exceed, where there is one.
fn fixed_above(case: &Case, known: &[Parameter], parameter: &Parameter) -> Option<f64> {
    let above = |p: &&Parameter| matches!(p.transform, Transform::Above(n) if n == parameter.name);
    match case.role(&known.iter().find(above)?.name) {
        Some(Role::Fixed { value, .. }) => Some(*value),
        _ => None,
    }
}

/// Smallest and largest value that a parameter of a completed case can take.
fn range(case: &Case, name: &str) -> (f64, f64) {
    match case.role(name) {
        Some(Role::Fixed { value, .. }) => (*value, *value),
        Some(Role::Free(free)) => free.bounds.unwrap_or((0.0, f64::INFINITY)),
        Some(Role::Tied { to, ratio }) => {
            let (low, high) = range(case, to);
            (ratio * low, ratio * high)
        }
        None => (0.0, f64::INFINITY),
    }
}

/// Refuses a pair that cannot keep its order, without which no material file is valid.
fn check_order(case: &Case, lower: &str, upper: &str) -> Result<()> {
    let (below, above) = (range(case, lower), range(case, upper));
    let kept = match (case.role(lower), case.role(upper)) {
        (Some(Role::Tied { to, ratio }), _) if to == upper => *ratio <= 1.0,
        (_, Some(Role::Tied { to, ratio })) if to == lower => *ratio >= 1.0,
        // A distance above the other needs some room.
        (_, Some(Role::Free(free))) if free.transform == Some(TransformName::Above) => {
            0.999 * above.1 > below.0
        }
        (Some(Role::Fixed { .. }), _) | (_, Some(Role::Fixed { .. })) => above.0 >= below.1,
        _ => above.1 > below.0,
    };
    if kept {
        return Ok(());
    }
    bad_input(format!(
        "parameters.{upper} in [{}, {}] must stay above parameters.{lower} in [{}, {}]; change the bounds, value or ratio of one of them",
        readable(above.0),
        readable(above.1),
        readable(below.0),
        readable(below.1)
    ))
}

/// Two decades or more around what the data can tell.
fn bounds(parameter: &Parameter, known: &Known, rigidity: f64) -> (f64, f64) {
    let (low, high) = match (parameter.dimension, parameter.role) {
        (_, ParameterRole::BendingStiffness) => (rigidity / 20.0, rigidity * 20.0),
        (Dimension::Stiffness, _) => (rigidity / 30.0, rigidity * 30.0),
        // Above the mildest test, friction that never slips would be elasticity by another name.
        (_, ParameterRole::InitialThreshold) => (0.01 * known.curvature.0, known.curvature.0),
        (Dimension::Strain, _) => (0.05 * known.curvature.0, 1.5 * known.curvature.1),
        (Dimension::Time, _) => (known.times.0 / 10.0, known.times.1 * 10.0),
        (_, ParameterRole::ThresholdSpread) => (LEAST_SPREAD, 2.0),
        (_, role) if role.is_spread() => (LEAST_SPREAD, parameter.high),
        (Dimension::Ratio, _) => (0.0, 1.0),
    };
    (low.max(parameter.low), high.min(parameter.high))
}

/// A pair that could cross is kept in order by its transform.
fn transform(
    case: &Case,
    parameter: &Parameter,
    (low, _): (f64, f64),
    local: Option<bool>,
) -> TransformName {
    match parameter.transform {
        Transform::Above(other) => match case.role(other) {
            Some(Role::Free(other)) => {
                let overlap = other.bounds.is_none_or(|(_, high)| high > low);
                let same_scope = other.local == local;
                if overlap && same_scope {
                    TransformName::Above
                } else {
                    TransformName::Log
                }
            }
            Some(Role::Fixed { value, .. }) if *value > low => TransformName::Above,
            _ => TransformName::Log,
        },
        _ if low <= 0.0 => TransformName::Linear,
        Transform::Log => TransformName::Log,
        _ if parameter.dimension == Dimension::Ratio => TransformName::Linear,
        _ => TransformName::Log,
    }
}

fn check(parameter: &Parameter, free: &Free, (low, high): (f64, f64)) -> Result<()> {
    let name = &parameter.name;
    if low <= 0.0 && free.transform == Some(TransformName::Log) {
        return bad_input(format!(
            "parameters.{name}: a lower bound of {} has no logarithm; give a positive one or \"transform\": \"linear\"",
            readable(low)
        ));
    }
    if let Some(start) = free.start
        && !(low..=high).contains(&start)
    {
        return bad_input(format!(
            "parameters.{name}.start = {} is outside its bounds [{}, {}]; give bounds around it",
            readable(start),
            readable(low),
            readable(high)
        ));
    }
    Ok(())
}
