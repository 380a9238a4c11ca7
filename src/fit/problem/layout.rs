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
pub(crate) struct Unknown {
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
    pub(crate) fn is_logarithm(&self) -> bool {
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
    Ok((unknowns, origins))
}

/// Refuses data that are too few to fit anything to.
pub(super) fn check_points(case: &Case, data: &Dataset, unknowns: &[Unknown]) -> Result<()> {
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
    Ok(())
}

/// Groups that share unknowns, and these unknowns. Groups of different parts share none.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayoutPart {
    /// Numbers of its groups, increasing.
    pub groups: Vec<usize>,
    /// Numbers of its unknowns, increasing.
    pub unknowns: Vec<usize>,
}

impl LayoutPart {
    fn join(&mut self, other: LayoutPart) {
        self.groups.extend(other.groups);
        self.unknowns.extend(other.unknowns);
        for list in [&mut self.groups, &mut self.unknowns] {
            list.sort_unstable();
            list.dedup();
        }
    }
}

/// The parts of a layout. A group without unknowns, or without data (`has_data`), belongs to the first part.
pub(super) fn parts(origins: &[Vec<Origin>], has_data: &[bool]) -> Vec<LayoutPart> {
    let mut parts: Vec<LayoutPart> = Vec::new();
    for (group, origins) in origins.iter().enumerate() {
        let unknowns = origins.iter().filter_map(|origin| match origin {
            Origin::Unknown(k) => Some(*k),
            // A multiple is of a parameter of the same group, which is in the list too.
            Origin::Value(_) | Origin::Multiple { .. } => None,
        });
        let mut part = LayoutPart {
            groups: vec![group],
            unknowns: unknowns.collect(),
        };
        let shares = |p: &LayoutPart| p.unknowns.iter().any(|k| part.unknowns.contains(k));
        let (together, apart): (Vec<_>, Vec<_>) = parts.into_iter().partition(shares);
        together.into_iter().for_each(|other| part.join(other));
        parts = apart;
        parts.push(part);
    }
    parts.sort_by_key(|part| part.groups[0]);
    let whole = |p: &LayoutPart| !p.unknowns.is_empty() && p.groups.iter().any(|g| has_data[*g]);
    let (mut parts, rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(whole);
    for other in rest {
        match parts.first_mut() {
            Some(first) => first.join(other),
            None => parts.push(other),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_that_share_an_unknown_are_one_part() {
        use Origin::{Multiple, Unknown, Value};
        let of = |groups: [usize; 2], unknowns: [usize; 2]| LayoutPart {
            groups: groups.to_vec(),
            unknowns: unknowns.to_vec(),
        };
        let tied = Multiple { of: 0, ratio: 2.0 };
        let origins = |last: usize| {
            vec![
                vec![Unknown(0), Value(1.0), tied],
                vec![Unknown(1), Value(1.0), tied],
                vec![Unknown(2), Unknown(last), tied],
                vec![Unknown(3), Value(1.0), tied],
            ]
        };
        let parts_of = |last, data: [bool; 4]| parts(&origins(last), &data);
        let four = parts_of(4, [true; 4]);
        assert_eq!(four.len(), 4);
        assert_eq!(four[2].unknowns, [2, 4]);
        // The third group shares the unknown of the first.
        let three = parts_of(0, [true; 4]);
        assert_eq!(three.len(), 3);
        assert_eq!(three[0], of([0, 2], [0, 2]));
        // A group without data goes with the first part.
        let data = [true, true, true, false];
        assert_eq!(parts_of(4, data)[0], of([0, 3], [0, 3]));
        assert_eq!(parts_of(4, [false; 4]).len(), 1);
    }
}
