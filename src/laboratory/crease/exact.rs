//! The recovery of a whole fold under the hard law, in closed form.
//!
//! A fold has a hinge for every share u = κ/κ_a of the crest curvature. Between two thresholds every hinge meets the
//! same events, and the curvature that it keeps is then linear in κ. So the fold falls into pieces with
//! κ_res = A + B·κ, and the turning angle α = asin u² from the legs gives
//!
//! ```text
//! lost = 180°·(2/π)·∫ κ_res/κ dα = 180°·(2/π)·Σ [B·Δ asin u² + 2A/κ_a·Δ arcsl u],   arcsl u = ∫ du/√(1 − u⁴)
//! ```
//!
//! summed over the pieces. The ends of the pieces move with the parameters. They are dual numbers too, so the
//! derivative contains the hinges that change from resting to slipping.
//!
//! Events of a hinge of curvature κ, with r(t) = K_h(t)/K_b and a = K_f/(K_b + K_f):
//!
//! ```text
//! fold      ε̄ = max(κ − ε_0, 0);  ε_p = max(κ − ε_Y0, 0)/(1 + r)
//! hold      r falls to r(T), and ε_p grows with it
//! release   rest at (K_b·ε_p + K_f·ε̄)/(K_b + K_f) if K_b·|ε_p − ε̄|/(K_b + K_f) ≤ thres(T); else a slip, which moves
//!           the anchor to ε̄ = ε_p ± ε_0·(1 + K_f/K_b)
//! creep     the elastic strain a·(ε̄ − ε_p) follows the yield surface ε_Y0 + ε_p·r(T + t):
//!           ε_p grows by (a·(ε̄ − ε_p) − ε_Y0 − ε_p·r)/(a + r) where that is positive
//! ```
//!
//! A yarn that yields against its fold would need a friction threshold far above the yield strain. Such a fold has no
//! closed form here. Not smooth where a threshold reaches the crest: the angle then moves like a square root.

use std::f64::consts::PI;

use num_dual::DualSVec64;

use super::{CREST_CURVATURE, CreasePoint, hinge::Real};
use crate::material::{LawForm, Source};

/// A number with its derivatives by the parameters of the time-dependent law.
type Number = DualSVec64<9>;

/// A number of which functions are known by their value and slope alone.
trait Chain: Real {
    /// A function of this number: its value, and its slope here.
    fn chain(self, value: f64, slope: f64) -> Self;
}

impl Chain for f64 {
    fn chain(self, value: f64, _: f64) -> f64 {
        value
    }
}

impl Chain for Number {
    fn chain(self, value: f64, slope: f64) -> Number {
        Number::new(value, self.eps * slope)
    }
}

/// level + slope·κ.
#[derive(Clone, Copy)]
struct Affine<T> {
    level: T,
    slope: T,
}

impl<T: Real> Affine<T> {
    /// κ − `level`.
    fn above(level: T) -> Affine<T> {
        Affine {
            level: -level,
            slope: T::from(1.0),
        }
    }

    fn constant(level: T) -> Affine<T> {
        Affine {
            level,
            slope: T::from(0.0),
        }
    }

    fn value(&self, curvature: f64) -> f64 {
        self.level.re() + self.slope.re() * curvature
    }

    fn times(&self, factor: T) -> Affine<T> {
        Affine {
            level: self.level * factor,
            slope: self.slope * factor,
        }
    }

    fn plus(&self, other: &Affine<T>) -> Affine<T> {
        Affine {
            level: self.level + other.level,
            slope: self.slope + other.slope,
        }
    }

    fn minus(&self, other: &Affine<T>) -> Affine<T> {
        Affine {
            level: self.level - other.level,
            slope: self.slope - other.slope,
        }
    }
}

/// Curvatures from and to which hinges meet the same events so far.
#[derive(Clone, Copy)]
struct Span<T> {
    from: T,
    to: T,
}

impl<T: Real> Span<T> {
    fn middle(&self) -> f64 {
        0.5 * (self.from.re() + self.to.re())
    }

    /// The one or two parts of it, cut where a line is zero.
    fn cut(self, line: &Affine<T>) -> impl Iterator<Item = Span<T>> + use<T> {
        let zero = -line.level / line.slope;
        let Span { from, to } = self;
        let parts = match from.re() < zero.re() && zero.re() < to.re() {
            true => [Some(Span { from, to: zero }), Some(Span { from: zero, to })],
            false => [Some(self), None],
        };
        parts.into_iter().flatten()
    }

    /// Whether a line is positive somewhere in the span.
    fn reaches(&self, line: &Affine<T>) -> bool {
        line.value(self.from.re()) > 0.0 || line.value(self.to.re()) > 0.0
    }
}

/// Recovery angle \[degrees\] and its derivatives by the parameters that are sought \[degrees per unit\], none where none are.
/// `None` for laws that are no special case of the time-dependent one with a single yarn and no branches, and for folds in
/// which a yarn would yield against its fold.
pub(super) fn recovery(
    form: &LawForm,
    values: &[f64],
    sought: &[usize],
    point: &CreasePoint,
) -> Option<(f64, Vec<f64>)> {
    let LawForm::TimeDependent {
        base: sources,
        spreads: None,
        branches,
    } = form
    else {
        return None;
    };
    if !branches.is_empty() {
        return None;
    }
    if sought.is_empty() {
        let lost = lost_angle(&sources.map(|source| source.value(values)), point)?;
        return Some((180.0 - lost, Vec::new()));
    }
    let parameters: [Number; 9] = std::array::from_fn(|k| match sources[k] {
        Source::Parameter(i) => Number::from(values[i]).derivative(k),
        Source::Constant(value) => Number::from(value),
    });
    let lost = lost_angle(&parameters, point)?;
    let gradient = lost.eps.unwrap_generic(nalgebra::Const::<9>, nalgebra::U1);
    let slope = |parameter: &usize| {
        let places = sources.iter().zip(gradient.iter());
        let own = places.filter(|(source, _)| **source == Source::Parameter(*parameter));
        own.map(|(_, d)| -d).sum()
    };
    Some((180.0 - lost.re, sought.iter().map(slope).collect()))
}

/// The angle that a fold keeps \[degrees\].
fn lost_angle<T: Chain>(p: &[T; 9], point: &CreasePoint) -> Option<T> {
    let &[
        bending,
        friction,
        initial,
        saturated,
        dwell,
        yields,
        hardening,
        drop,
        flow,
    ] = p;
    let crest = CREST_CURVATURE / point.gap;
    let ratio = |time: f64| {
        let faded = (-(flow.recip() * time)).exp();
        hardening / bending * (-(drop * (-faded + 1.0)) + 1.0)
    };
    let (pressed, read) = (ratio(point.press), ratio(point.press + point.read));
    let threshold = saturated - (saturated - initial) * (-(dwell.recip() * point.press)).exp();
    let share = friction / (bending + friction);
    let whole = Span {
        from: T::from(0.0),
        to: T::from(crest),
    };
    let (slides, flows) = (Affine::above(initial), Affine::above(yields));
    let spans = whole.cut(&slides).flat_map(|s| s.cut(&flows));
    let mut lost = T::from(0.0);
    for span in spans {
        let nothing = Affine::constant(T::from(0.0));
        let beyond = |line: &Affine<T>| match line.value(span.middle()) > 0.0 {
            true => *line,
            false => nothing,
        };
        let anchor = beyond(&slides);
        let plastic = beyond(&flows).times((pressed + 1.0).recip());
        let offset = plastic.minus(&anchor).times(-share + 1.0);
        let limits = [1.0, -1.0].map(|side| offset.plus(&Affine::constant(threshold * -side)));
        for part in span.cut(&limits[0]).flat_map(|s| s.cut(&limits[1])) {
            let reach = offset.value(part.middle());
            let anchor = match reach.abs() > threshold.re() {
                true => {
                    let moved = initial * (friction / bending + 1.0) * -reach.signum();
                    plastic.plus(&Affine::constant(moved))
                }
                false => anchor,
            };
            let elastic = anchor.minus(&plastic).times(share);
            let surface = plastic.times(read).plus(&Affine::constant(yields));
            let backwards = nothing.minus(&elastic).minus(&surface);
            if part.reaches(&backwards) {
                return None;
            }
            let excess = elastic.minus(&surface);
            for piece in part.cut(&excess) {
                let crept = match excess.value(piece.middle()) > 0.0 {
                    true => excess.times((share + read).recip()),
                    false => nothing,
                };
                let plastic = plastic.plus(&crept);
                let rest = plastic.plus(&anchor.minus(&plastic).times(share));
                lost += kept(&rest, &piece, crest);
            }
        }
    }
    Some(lost * (360.0 / PI))
}

/// ∫ rest/κ dα over a piece.
fn kept<T: Chain>(rest: &Affine<T>, piece: &Span<T>, crest: f64) -> T {
    let [from, to] = [piece.from, piece.to].map(|curvature| curvature / crest);
    rest.slope * (turned(to) - turned(from))
        + rest.level * (2.0 / crest) * (arcsl(to) - arcsl(from))
}

/// asin u² with its derivative. At the crest u is exactly 1 and moves with no parameter.
fn turned<T: Chain>(u: T) -> T {
    let square = u.re() * u.re();
    let slope = 2.0 * u.re() / (1.0 - square * square).sqrt();
    u.chain(square.min(1.0).asin(), slope)
}

/// The arc length of the lemniscate, ∫ du/√(1 − u⁴) from 0 to u, with its derivative.
fn arcsl<T: Chain>(u: T) -> T {
    let square = u.re() * u.re();
    let length = u.re() * carlson((1.0 - square).max(0.0), 1.0 + square, 1.0);
    u.chain(length, (1.0 - square * square).sqrt().recip())
}

/// Carlson's symmetric elliptic integral R_F by duplication (Carlson 1995): every round brings the arguments four
/// times nearer to each other, and the series that is left errs by the sixth power of their spread.
fn carlson(x: f64, y: f64, z: f64) -> f64 {
    let (mut x, mut y, mut z) = (x, y, z);
    loop {
        let mean = (x + y + z) / 3.0;
        let (dx, dy, dz) = (1.0 - x / mean, 1.0 - y / mean, 1.0 - z / mean);
        if dx.abs().max(dy.abs()).max(dz.abs()) < 2e-3 {
            let (e2, e3) = (dx * dy - dz * dz, dx * dy * dz);
            let series = 1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0;
            return series / mean.sqrt();
        }
        let step = (x * y).sqrt() + (y * z).sqrt() + (z * x).sqrt();
        (x, y, z) = (0.25 * (x + step), 0.25 * (y + step), 0.25 * (z + step));
    }
}

#[cfg(test)]
mod tests;
