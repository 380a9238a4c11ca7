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
mod ends;

use std::{f64::consts::PI, sync::LazyLock};

use num_dual::DualSVec64;

use super::{
    CREST_CURVATURE, CreasePoint,
    hinge::{Events, Fabric, Hinges, Real},
};
use crate::material::{LawForm, Source, population};
use ends::{ends, moved, spans};

/// The last two Legendre coefficients of a part of a piece that is smooth to its nodes \[degrees\]. Coefficients fall
/// geometrically, and the nodes err by those of twice the order.
const TAIL: f64 = 1e-3;
/// Branches that a law may have.
const MOST_BRANCHES: usize = 8;
const YARNS: usize = population::YARNS.len();

/// Derivatives that one pass takes, besides that by φ.
const WIDTH: usize = 11;
/// A number with its derivatives by parameters and, last, by φ.
type Number = DualSVec64<12>;

/// How finely a fold is taken.
pub(super) struct Fineness {
    /// Of a piece on \[0, 1\].
    nodes: Vec<Node>,
    /// By how much every step of a branch's relaxation is longer than the one before.
    growth: f64,
    /// The last coefficients of a part that is not cut any more \[degrees\].
    tail: f64,
}

impl Fineness {
    pub(super) fn new(nodes: usize, growth: f64) -> Fineness {
        Fineness {
            nodes: legendre(nodes),
            growth,
            tail: TAIL,
        }
    }
}

/// As finely as readings are taken.
pub(super) static USUAL: LazyLock<Fineness> = LazyLock::new(|| Fineness::new(8, 1.6));

/// Finer, to tell how far the usual readings are off.
pub(super) static FINER: LazyLock<Fineness> = LazyLock::new(|| Fineness::new(12, 1.2));

/// A node of Gauss-Legendre quadrature.
struct Node {
    place: f64,
    weight: f64,
    /// Weights for the last two Legendre coefficients that the nodes can tell.
    tail: [f64; 2],
}

/// Gauss-Legendre quadrature on \[0, 1\].
fn legendre(count: usize) -> Vec<Node> {
    let number = count as f64;
    let node = |k: usize| {
        let mut x = (PI * (k as f64 + 0.75) / (number + 0.5)).cos();
        loop {
            let (mut before, mut last, mut value) = (0.0, 1.0, x);
            for n in 2..=count {
                let n = n as f64;
                let next = ((2.0 * n - 1.0) * x * value - (n - 1.0) * last) / n;
                (before, last, value) = (last, value, next);
            }
            let slope = number * (x * value - last) / (x * x - 1.0);
            let step = value / slope;
            x -= step;
            if step.abs() < 1e-15 {
                let weight = 1.0 / ((1.0 - x * x) * slope * slope);
                return Node {
                    place: 0.5 * (1.0 - x),
                    weight,
                    tail: [
                        (2.0 * number - 1.0) * last * weight,
                        (2.0 * number - 3.0) * before * weight,
                    ],
                };
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
/// `None` where rounding makes events without end, which was seen at branches far from any data.
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
        let (lost, cuts) = cuts(plain, crest, span, fineness)?;
        angle -= lost;
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
                (None, 1) => Box::new(Hinges::<T, 1, 1>::new(&fabric, point, growth)),
                (None, 2) => Box::new(Hinges::<T, 1, 2>::new(&fabric, point, growth)),
                (None, _) => Box::new(Hinges::<T, 1, MOST_BRANCHES>::new(&fabric, point, growth)),
                (_, 0) => Box::new(Hinges::<T, YARNS, 0>::new(&fabric, point, growth)),
                (_, 1) => Box::new(Hinges::<T, YARNS, 1>::new(&fabric, point, growth)),
                (_, 2) => Box::new(Hinges::<T, YARNS, 2>::new(&fabric, point, growth)),
                _ => Box::new(Hinges::<T, YARNS, MOST_BRANCHES>::new(
                    &fabric, point, growth,
                )),
            }
        }
        LawForm::Dahl => Box::new(Dahl([0, 1, 2].map(|p| number(Source::Parameter(p))))),
    }
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

/// What a node adds to the angle that a part of a piece keeps, before its weight.
fn density<T: Real>(
    keeper: &dyn Keeps<T>,
    crest: f64,
    (from, to): (T, T),
    [low, high]: [f64; 2],
    node: &Node,
    events: &mut Events<T>,
) -> Option<T> {
    let sine = (from + (to - from) * (low + (high - low) * node.place)).sin();
    let kept = keeper.kept(sine * crest, events)?;
    let share = (sine * sine + 1.0).sqrt().recip() * (720.0 / PI / crest);
    Some(share * kept * (high - low))
}

/// The angle that the hinges of a piece keep \[degrees\], which is taken in parts.
fn lost<T: Real>(
    keeper: &dyn Keeps<T>,
    crest: f64,
    ends: (T, T),
    cuts: &[[f64; 2]],
    fineness: &Fineness,
) -> Option<T> {
    let mut events = Events::unasked();
    let mut sum = T::from(0.0);
    for cut in cuts {
        for node in &fineness.nodes {
            sum += density(keeper, crest, ends, *cut, node, &mut events)? * node.weight;
        }
    }
    Some(sum * (ends.1 - ends.0))
}

/// The angle that the hinges of a piece keep \[degrees\], and the parts in which it is taken: halves, and halves of those,
/// until the integrand is smooth to the nodes. A hinge whose slip comes just before the reading has kept what the
/// branches have not yet taken up: that changes within a sliver of the fold.
fn cuts(
    keeper: &dyn Keeps<f64>,
    crest: f64,
    ends: (f64, f64),
    fineness: &Fineness,
) -> Option<(f64, Vec<[f64; 2]>)> {
    let mut events = Events::unasked();
    let mut open = vec![[0.0, 1.0]];
    let (mut lost, mut done) = (0.0, Vec::new());
    let span = ends.1 - ends.0;
    while let Some([low, high]) = open.pop() {
        let (mut sum, mut tail) = (0.0, [0.0; 2]);
        for node in &fineness.nodes {
            let density = span * density(keeper, crest, ends, [low, high], node, &mut events)?;
            sum += density * node.weight;
            tail[0] += density * node.tail[0];
            tail[1] += density * node.tail[1];
        }
        if tail[0].abs() + tail[1].abs() < fineness.tail || high - low < 1e-3 {
            lost += sum;
            done.push([low, high]);
        } else {
            let middle = 0.5 * (low + high);
            open.extend([[low, middle], [middle, high]]);
        }
    }
    Some((lost, done))
}

#[cfg(test)]
mod tests;
