//! The nodes of a fold, and what the CPU takes of it.

use std::f64::consts::PI;

use super::{
    super::{
        Keeps, Number, USUAL, WIDTH, cuts, dual,
        ends::{End, ends, moved, scout, spans},
        grades, keeper, lost,
    },
    Reading,
    stride::settles,
};
use crate::{
    laboratory::crease::{CREST_CURVATURE, CreasePoint, hinge::Events},
    material::LawForm,
};

/// A hinge of a roll-out.
pub(super) struct Node {
    pub(super) curvature: f64,
    /// ∂lost/∂κ_res.
    pub(super) weight: f64,
}

/// A fold before its roll-out.
pub(super) struct Plan<'a> {
    pub(super) point: CreasePoint,
    pub(super) parameters: &'a [f64],
    pub(super) nodes: Vec<Node>,
    /// The angle without what the nodes keep, with the derivatives of that and of the ends.
    pub(super) rest: Reading,
}

/// The nodes of a fold, and what the CPU finds of it: the whole fold, unless some of it is to be rolled out. `None` where
/// rounding makes events without end.
pub(super) fn plan<'a>(
    form: &LawForm,
    parameters: &'a [f64],
    point: CreasePoint,
    with_slopes: bool,
    rolls_out: bool,
) -> Option<Plan<'a>> {
    let fineness = &*USUAL;
    let crest = CREST_CURVATURE / point.gap;
    let plain = keeper(form, &point, fineness, &|source| source.value(parameters));
    let plain = plain.as_ref();
    let ends = ends(plain, crest, &grades(form, parameters, crest))?;
    let rolls_out = rolls_out && settles(form, parameters, crest).is_some();
    let mut nodes = Vec::new();
    let mut later = Vec::new();
    let mut angle = 180.0;
    for span in spans(&ends, &vec![0.0; ends.len()]) {
        let (lost, cuts) = cuts(plain, crest, span, fineness)?;
        let (from, width) = (span.0, span.1 - span.0);
        let middle = scout(plain, crest, from + 0.5 * width)?;
        if !rolls_out || middle.events.takes_its_time() {
            angle -= lost;
            later.push((span, cuts));
            continue;
        }
        for [low, high] in cuts {
            nodes.extend(fineness.nodes.iter().map(|node| {
                let place = from + width * (low + (high - low) * node.place);
                Node {
                    curvature: crest * place.sin(),
                    weight: (high - low) * width * node.weight * share(place, crest),
                }
            }));
        }
    }
    let count = if with_slopes { parameters.len() } else { 0 };
    let mut slopes = vec![0.0; count];
    for (first, slopes) in (0..).step_by(WIDTH).zip(slopes.chunks_mut(WIDTH)) {
        let sought: Vec<usize> = (first..first + slopes.len()).collect();
        let keeper = keeper(form, &point, fineness, &|source| {
            dual(source, parameters, &sought)
        });
        let keeper = keeper.as_ref();
        let mut lost_by = Number::from(0.0);
        for (span, cuts) in &later {
            let fixed = (Number::from(span.0), Number::from(span.1));
            lost_by += lost(keeper, crest, fixed, cuts, fineness)?;
        }
        for end in &ends {
            lost_by += moved(keeper, crest, end)? * drop_at(plain, crest, end)?;
        }
        let gradient = lost_by
            .eps
            .unwrap_generic(nalgebra::Const::<12>, nalgebra::U1);
        for (slope, d) in slopes.iter_mut().zip(gradient.iter()) {
            // With a threshold exactly at the crest the angle has a slope on one side only: none.
            *slope = if d.is_finite() { -d } else { 0.0 };
        }
    }
    Some(Plan {
        point,
        parameters,
        nodes,
        rest: Reading { angle, slopes },
    })
}

/// The integrand per curvature that is kept, at a place \[degrees·m\].
fn share(place: f64, crest: f64) -> f64 {
    let sine = place.sin();
    720.0 / PI / crest / (1.0 + sine * sine).sqrt()
}

/// The integrand before an end less that after it.
fn drop_at(keeper: &dyn Keeps<f64>, crest: f64, end: &End) -> Option<f64> {
    let mut events = Events::new();
    let [before, after] = end.between.map(|place| {
        let kept = keeper.kept(crest * place.sin(), &mut events)?;
        Some(share(place, crest) * kept)
    });
    Some(before? - after?)
}
