//! The unknowns of a case, and where every group's parameters get their values from.

use crate::{
    error::{Result, bad_input, readable},
    fit::{
        case::{Case, Role, TransformName},
        dataset::Dataset,
    },
    material::{Parameter, Transform},
};

/// An unknown of the search.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// Parameter's name; with its group where it is local.
    pub name: String,
    /// Place of the parameter in the law.
    pub parameter: usize,
    /// Its group; none where all share it.
    pub group: Option<usize>,
    /// Between value and unknown.
    pub transform: Transform,
    /// Ends of the value.
    pub bounds: (f64, f64),
    /// Value of the first start, where the case gives one.
    pub start: Option<f64>,
    /// Mean and standard deviation known beforehand.
    pub prior: Option<(f64, f64)>,
}

impl Unknown {
    /// Whether it is searched on the scale of its logarithm.
    pub fn is_logarithm(&self) -> bool {
        matches!(self.transform, Transform::Log | Transform::Above(_))
    }
}

/// Where a parameter of a group gets its value from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Origin {
    Value(f64),
    Unknown(usize),
    Multiple { of: usize, ratio: f64 },
}

/// The unknowns, and the origins of every group and parameter.
pub(super) fn layout(
    case: &Case,
    data: &Dataset,
    parameters: &[Parameter],
) -> Result<(Vec<Unknown>, Vec<Vec<Origin>>)> {
    let groups = data.groups.len();
    let mut unknowns = Vec::new();
    let mut origins = vec![vec![Origin::Value(f64::NAN); parameters.len()]; groups];
    for (p, parameter) in parameters.iter().enumerate() {
        match case.role(&parameter.name) {
            Some(Role::Fixed { value, .. }) => {
                origins
                    .iter_mut()
                    .for_each(|o| o[p] = Origin::Value(*value));
            }
            Some(Role::Tied { to, ratio }) => {
                let of = parameters.iter().position(|other| other.name == *to);
                let origin = Origin::Multiple {
                    of: of.unwrap_or(p),
                    ratio: *ratio,
                };
                origins.iter_mut().for_each(|o| o[p] = origin);
            }
            Some(Role::Free(free)) => {
                let local = free.local == Some(true) && groups > 1;
                let (low, high) = free.bounds.unwrap_or((parameter.low, parameter.high));
                let transform = match free.transform {
                    Some(TransformName::Linear) => Transform::Linear { low, high },
                    Some(TransformName::Logit) => Transform::Logit { low, high },
                    Some(TransformName::Above) => parameter.transform,
                    _ => Transform::Log,
                };
                for (group, origins) in origins.iter_mut().enumerate() {
                    if local || group == 0 {
                        let name = match local {
                            true => format!("{}[{}]", parameter.name, data.groups[group]),
                            false => parameter.name.clone(),
                        };
                        unknowns.push(Unknown {
                            name,
                            parameter: p,
                            group: local.then_some(group),
                            transform,
                            bounds: (low, high),
                            start: free.start,
                            prior: free.prior,
                        });
                    }
                    origins[p] = Origin::Unknown(unknowns.len() - 1);
                }
            }
            None => {
                return bad_input(format!(
                    "parameters.{} has no role; complete the case",
                    parameter.name
                ));
            }
        }
    }
    if unknowns.is_empty() {
        return bad_input(format!(
            "case '{}': every parameter is fixed or tied, so there is nothing to fit; free one",
            case.name
        ));
    }
    let points = data.fitted().count();
    if points < 2 && unknowns.iter().all(|u| u.prior.is_none()) {
        return bad_input(format!(
            "case '{}': {points} point cannot determine {} parameters; give more points, fix parameters or give priors (the value is {})",
            case.name,
            unknowns.len(),
            data.fitted()
                .next()
                .map_or(String::new(), |r| readable(r.value)),
        ));
    }
    Ok((unknowns, origins))
}
