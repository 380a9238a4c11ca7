//! The recovery of a whole fold under the hard law where there is no closed form: for populations of yarns, relaxation
//! branches and Dahl's friction.
//!
//! With κ = κ_a·sin φ the angle that a fold keeps is
//!
//! ```text
//! lost = 180°·(2/π)·∫ κ_res·2/(κ_a·√(1 + sin²φ)) dφ        from 0 to π/2
//! ```
//!
//! without a root at its ends. Hinges that meet the same events keep a curvature that is smooth in φ. The fold falls
//! into pieces of such hinges, and Gauss-Legendre nodes take the integral over each. The ends of a piece move with the
//! parameters by ∂φ/∂p = −(∂D/∂p)/(∂D/∂φ), with D the excess that vanishes there. The nodes move with the ends, so the
//! derivative contains the hinges that change from one piece to the next.
//!
//! Not smooth where a piece begins at the crest: the angle then moves like a square root.

mod device;

use std::{
    f64::consts::{FRAC_PI_2, PI},
    sync::LazyLock,
};

use num_dual::{DualNum, DualSVec64};

use super::{
    CREST_CURVATURE, CreasePoint,
    hinge::{Events, Fabric, Hinges, Real},
};
use crate::material::{LawForm, Source, population};

/// Hinges that look for events, evenly in φ.
const SCOUTS: usize = 24;
/// A change of the angle that does not matter \[degrees\].
const SAME_ANGLE: f64 = 1e-5;
/// Branches that a law may have.
const MOST_BRANCHES: usize = 8;
/// How closely the end of a piece is found, in φ.
const CLOSE: f64 = 1e-11;
/// Pieces of a fold; more come from rounding.
const MOST_PIECES: usize = 400;

const YARNS: usize = population::YARNS.len();

/// Derivatives that one pass takes, besides that by φ.
const WIDTH: usize = 11;
/// A number with its derivatives by parameters and, last, by φ.
type Number = DualSVec64<12>;

/// How finely a fold is taken.
pub(super) struct Fineness {
    /// Nodes and weights of a piece on \[0, 1\].
    nodes: Vec<(f64, f64)>,
    /// By how much every step of a branch's relaxation is longer than the one before.
    growth: f64,
}

impl Fineness {
    pub(super) fn new(nodes: usize, growth: f64) -> Fineness {
        Fineness {
            nodes: legendre(nodes),
            growth,
        }
    }
}

/// As finely as readings are taken.
pub(super) static USUAL: LazyLock<Fineness> = LazyLock::new(|| Fineness::new(8, 1.1));

/// Nodes and weights of Gauss-Legendre quadrature on \[0, 1\].
fn legendre(count: usize) -> Vec<(f64, f64)> {
    let node = |k: usize| {
        let mut x = (PI * (k as f64 + 0.75) / (count as f64 + 0.5)).cos();
        loop {
            let (mut last, mut value) = (1.0, x);
            for n in 2..=count {
                let n = n as f64;
                (last, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * last) / n);
            }
            let slope = count as f64 * (x * value - last) / (x * x - 1.0);
            let step = value / slope;
            x -= step;
            if step.abs() < 1e-15 {
                return (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope));
            }
        }
    };
    (0..count).map(node).collect()
}

/// What is integrated: the curvature that a hinge keeps.
trait Keeps<T: Real> {
    fn kept(&self, curvature: T, events: &mut Events<T>) -> Option<T>;
}

impl<T: Real, const Y: usize, const B: usize> Keeps<T> for Hinges<T, Y, B> {
    fn kept(&self, curvature: T, events: &mut Events<T>) -> Option<T> {
        Hinges::kept(self, curvature, events)
    }
}

/// Dahl's friction: rigidity, friction stiffness, threshold.
struct Dahl<T>([T; 3]);

impl<T: Real> Keeps<T> for Dahl<T> {
    /// Where K_b·ε + K_f·(−ε_0 + (f + ε_0)·exp(−(κ − ε)/ε_0)) = 0 with f = ε_0·(1 − exp(−κ/ε_0)). The left side is
    /// convex and rises with ε, so that Newton's method comes down to the root from one side. The exponential is at
    /// most 1/(f/ε_0 + 1) at the root, and the rest at most K_f/K_b·ε_0; it begins at the lower of both.
    fn kept(&self, curvature: T, _: &mut Events<T>) -> Option<T> {
        let [bending, friction, threshold] = self.0;
        let ratio = friction / bending;
        let span = -(-(curvature / threshold)).exp() + 2.0;
        let most = (curvature - threshold * span.ln()).re();
        let mut rest = T::from(most.min((ratio * threshold).re()));
        // Two rounds more than the value needs: the derivatives follow one round behind.
        let mut more = 2;
        for _ in 0..100 {
            let left = ratio * threshold * span * ((rest - curvature) / threshold).exp();
            let step = (rest - ratio * threshold + left) / (left / threshold + 1.0);
            rest -= step;
            if step.re().abs() <= 1e-9 * curvature.re() + 1e-14 * (ratio * threshold).re() {
                more -= 1;
            }
            if more == 0 {
                return Some(rest);
            }
        }
        None
    }
}

/// Recovery angle \[degrees\] and its derivatives by the parameters that are sought \[degrees per unit\], none where none are.
/// `None` for folds in which a yarn would yield against its fold.
pub(super) fn recovery(
    form: &LawForm,
    values: &[f64],
    sought: &[usize],
    point: &CreasePoint,
    fineness: &Fineness,
) -> Option<(f64, Vec<f64>)> {
    let crest = CREST_CURVATURE / point.gap;
    let plain = keeper(form, point, fineness, &|source| source.value(values));
    let plain = plain.as_ref();
    let ends = ends(plain, crest, &grades(form, values, crest))?;
    let mut angle = 180.0;
    let mut cut = Vec::with_capacity(ends.len() + 1);
    for span in spans(&ends, &vec![0.0; ends.len()]) {
        let cuts = match has_branches(form) {
            true => cuts(plain, crest, span, fineness)?,
            false => vec![[0.0, 1.0]],
        };
        angle -= lost(plain, crest, span, &cuts, fineness)?;
        cut.push(cuts);
    }
    let mut slopes = vec![0.0; sought.len()];
    for (part, slopes) in sought.chunks(WIDTH).zip(slopes.chunks_mut(WIDTH)) {
        let keeper = keeper(form, point, fineness, &|source| dual(source, values, part));
        let keeper = keeper.as_ref();
        let moves = ends.iter().map(|end| moved(keeper, crest, end));
        let moves: Vec<Number> = moves.collect::<Option<_>>()?;
        let mut sum = Number::from(0.0);
        for (span, cuts) in spans(&ends, &moves).into_iter().zip(&cut) {
            sum += lost(keeper, crest, span, cuts, fineness)?;
        }
        let gradient = sum.eps.unwrap_generic(nalgebra::Const::<12>, nalgebra::U1);
        for (slope, d) in slopes.iter_mut().zip(gradient.iter()) {
            *slope = -d;
        }
    }
    Some((angle, slopes))
}

/// A parameter, with its derivative where it is sought.
fn dual(source: Source, values: &[f64], sought: &[usize]) -> Number {
    match source {
        Source::Parameter(p) => match sought.iter().position(|k| *k == p) {
            Some(k) => Number::from(values[p]).derivative(k),
            None => Number::from(values[p]),
        },
        Source::Constant(value) => Number::from(value),
    }
}

fn keeper<T: Real>(
    form: &LawForm,
    point: &CreasePoint,
    fineness: &Fineness,
    number: &dyn Fn(Source) -> T,
) -> Box<dyn Keeps<T>> {
    match form {
        LawForm::TimeDependent {
            base,
            spreads,
            branches,
        } => {
            let growth = fineness.growth;
            let fabric = Fabric {
                base: base.map(number),
                spreads: spreads.map(|s| s.map(number)),
                branches: branches.iter().map(|b| b.map(number)).collect(),
            };
            match (spreads, branches.len()) {
                (None, 0) => Box::new(Hinges::<T, 1, 0>::new(&fabric, point, growth)),
                (None, 1..=2) => Box::new(Hinges::<T, 1, 2>::new(&fabric, point, growth)),
                (None, _) => Box::new(Hinges::<T, 1, MOST_BRANCHES>::new(&fabric, point, growth)),
                (_, 0) => Box::new(Hinges::<T, YARNS, 0>::new(&fabric, point, growth)),
                _ => Box::new(Hinges::<T, YARNS, MOST_BRANCHES>::new(
                    &fabric, point, growth,
                )),
            }
        }
        LawForm::Dahl => Box::new(Dahl([0, 1, 2].map(|p| number(Source::Parameter(p))))),
    }
}

fn has_branches(form: &LawForm) -> bool {
    matches!(form, LawForm::TimeDependent { branches, .. } if !branches.is_empty())
}

/// Ends of pieces that no event marks: Dahl's friction saturates within some thresholds from the legs.
fn grades(form: &LawForm, values: &[f64], crest: f64) -> Vec<f64> {
    match form {
        LawForm::TimeDependent { .. } => Vec::new(),
        LawForm::Dahl => [1.0, 2.0, 3.5, 6.0, 10.0, 16.0, 25.0, 40.0]
            .map(|times| times * values[2] / crest)
            .into_iter()
            .filter(|u| *u < 1.0)
            .map(f64::asin)
            .collect(),
    }
}

/// A hinge that was looked at.
struct Scout {
    place: f64,
    events: Events<f64>,
}

fn scout(keeper: &dyn Keeps<f64>, crest: f64, place: f64) -> Option<Scout> {
    let mut events = Events::new();
    keeper.kept(crest * place.sin(), &mut events)?;
    Some(Scout { place, events })
}

/// The end of a piece.
struct End {
    /// The last hinge of the piece and the first of the next.
    between: [f64; 2],
    /// The hinge whose excess vanishes here, and the events of the other; none for ends that do not move.
    moves: Option<(f64, u64)>,
}

/// The ends of all pieces between the legs and the crest.
fn ends(keeper: &dyn Keeps<f64>, crest: f64, grades: &[f64]) -> Option<Vec<End>> {
    let mut ends = Vec::new();
    // The leg itself has no curvature, and nothing happens there.
    let mut here = scout(keeper, crest, 1e-9)?;
    for k in 1..=SCOUTS {
        let next = scout(keeper, crest, FRAC_PI_2 * k as f64 / SCOUTS as f64)?;
        while here.events.met() != next.events.met() && ends.len() < MOST_PIECES {
            let (before, after) = meet(keeper, crest, here, &next)?;
            let after = match after {
                Some(after) => after,
                None => scout(keeper, crest, next.place)?,
            };
            let misses = |one: &Scout, other: &Scout| {
                let others = other.events.met() & !one.events.met();
                one.events.nearest(others).map(|_| (one.place, others))
            };
            ends.push(End {
                between: [before.place, after.place],
                moves: misses(&before, &after).or_else(|| misses(&after, &before)),
            });
            here = after;
        }
        here = next;
    }
    ends.extend(grades.iter().map(|&place| End {
        between: [place; 2],
        moves: None,
    }));
    ends.sort_by(|a, b| a.between[0].total_cmp(&b.between[0]));
    Some(ends)
}

/// The last hinge from one on that meets the same events, and the first that meets others; none if that is `far` itself.
fn meet(
    keeper: &dyn Keeps<f64>,
    crest: f64,
    mut near: Scout,
    far: &Scout,
) -> Option<(Scout, Option<Scout>)> {
    let met = near.events.met();
    let mut beyond: Option<Scout> = None;
    // The place and the excess of the last hinges on the side that misses the event, for the secant.
    let mut seen: [Option<(f64, f64)>; 2] = [None, None];
    for round in 0.. {
        let end = beyond.as_ref().unwrap_or(far);
        if end.place - near.place <= CLOSE {
            break;
        }
        let others = end.events.met();
        let missed = match near.events.nearest(others & !met) {
            Some(excess) => Some((near.place, excess)),
            None => end
                .events
                .nearest(met & !others)
                .map(|excess| (end.place, excess)),
        };
        if let Some(missed) = missed
            && seen[1].is_none_or(|s| s.0 != missed.0)
        {
            seen = [seen[1], Some(missed)];
        }
        let span = end.place - near.place;
        let place = match seen {
            [Some(a), Some(b)] if round % 3 != 2 && a.1 != b.1 => {
                // A little beyond the zero, so that the bracket closes from both sides in turn.
                let zero = b.0 - b.1 * (b.0 - a.0) / (b.1 - a.1);
                let past = (zero - b.0).signum() * (0.3 * CLOSE + 1e-3 * (zero - b.0).abs());
                let aim = if round % 2 == 0 {
                    zero + past
                } else {
                    zero - past
                };
                let inside = (near.place + 0.2 * CLOSE, end.place - 0.2 * CLOSE);
                if aim > inside.0 && aim < inside.1 {
                    aim
                } else {
                    near.place + 0.5 * span
                }
            }
            _ => near.place + 0.5 * span,
        };
        let middle = scout(keeper, crest, place)?;
        if middle.events.met() == met {
            near = middle;
        } else {
            beyond = Some(middle);
        }
    }
    Some((near, beyond))
}

/// The angle that the hinges of some shares of a piece keep \[degrees\].
fn lost<T: Real>(
    keeper: &dyn Keeps<T>,
    crest: f64,
    (from, to): (T, T),
    cuts: &[[f64; 2]],
    fineness: &Fineness,
) -> Option<T> {
    let mut events = Events::new();
    let mut sum = T::from(0.0);
    let span = to - from;
    for [low, high] in cuts {
        for (node, weight) in &fineness.nodes {
            let sine = (from + span * (low + (high - low) * node)).sin();
            let kept = keeper.kept(sine * crest, &mut events)?;
            let share = (sine * sine + 1.0).sqrt().recip() * (720.0 / PI / crest);
            sum += share * kept * ((high - low) * weight);
        }
    }
    Some(sum * span)
}

/// Halves of a piece, and of those, until halving changes no angle. A hinge whose slip comes just before the reading has
/// kept what the branches have not yet taken up: that changes within a sliver of the fold.
fn cuts(
    keeper: &dyn Keeps<f64>,
    crest: f64,
    ends: (f64, f64),
    fineness: &Fineness,
) -> Option<Vec<[f64; 2]>> {
    let angle = |cut: [f64; 2]| lost(keeper, crest, ends, &[cut], fineness);
    let mut open = vec![([0.0, 1.0], angle([0.0, 1.0])?)];
    let mut done = Vec::new();
    while let Some(([low, high], whole)) = open.pop() {
        let middle = 0.5 * (low + high);
        let halves = [[low, middle], [middle, high]];
        let each = [angle(halves[0])?, angle(halves[1])?];
        if (each[0] + each[1] - whole).abs() < SAME_ANGLE || high - low < 1e-3 {
            done.push([low, high]);
        } else {
            open.extend(halves.into_iter().zip(each));
        }
    }
    Some(done)
}

/// From and to where the pieces reach; what is added to every end carries its derivatives.
fn spans<T: Real>(ends: &[End], moves: &[T]) -> Vec<(T, T)> {
    let mut spans = Vec::with_capacity(ends.len() + 1);
    let mut from = T::from(0.0);
    for (end, moved) in ends.iter().zip(moves) {
        let [to, next] = end.between.map(|place| *moved + place);
        spans.push((from, to));
        from = next;
    }
    spans.push((from, T::from(FRAC_PI_2)));
    spans
}

/// The derivatives of the place of an end; the value is zero.
fn moved(keeper: &dyn Keeps<Number>, crest: f64, end: &End) -> Option<Number> {
    let Some((place, others)) = end.moves else {
        return Some(Number::from(0.0));
    };
    let mut events = Events::new();
    // A little aside: at the end itself rounding can meet the event here that was missed before.
    let aside = if place == end.between[0] { -10.0 } else { 10.0 } * CLOSE;
    let phi = Number::from(place + aside).derivative(WIDTH);
    keeper.kept(phi.sin() * crest, &mut events)?;
    let Some(excess) = events.nearest(others) else {
        return Some(Number::from(0.0));
    };
    let mut gradient = excess
        .eps
        .unwrap_generic(nalgebra::Const::<12>, nalgebra::U1);
    let by_place = gradient[WIDTH];
    gradient[WIDTH] = 0.0;
    let moves = match by_place == 0.0 {
        true => gradient * 0.0,
        false => gradient / -by_place,
    };
    Some(Number::new(0.0, num_dual::Derivative::some(moves)))
}

#[cfg(test)]
mod tests;
