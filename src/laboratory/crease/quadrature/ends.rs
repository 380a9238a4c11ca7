//! Where the pieces of a fold end: between two hinges that meet different events.

use std::f64::consts::FRAC_PI_2;

use num_dual::DualNum;

use super::{Events, Keeps, Number, Real, WIDTH};

/// Hinges that look for events, evenly in φ.
const SCOUTS: usize = 24;
/// How closely the end of a piece is found, in φ.
const CLOSE: f64 = 1e-11;
/// Pieces of a fold; more come from rounding.
const MOST_PIECES: usize = 400;

/// A hinge that was looked at.
pub(super) struct Scout {
    place: f64,
    pub(super) events: Events<f64>,
}

pub(super) fn scout(keeper: &dyn Keeps<f64>, crest: f64, place: f64) -> Option<Scout> {
    let mut events = Events::new();
    keeper.kept(crest * place.sin(), &mut events)?;
    Some(Scout { place, events })
}

/// The end of a piece.
pub(super) struct End {
    /// The last hinge of the piece and the first of the next.
    pub(super) between: [f64; 2],
    /// The hinge whose excess vanishes here, and the events of the other; none for ends that do not move.
    moves: Option<(f64, u128)>,
}

/// The ends of all pieces between the legs and the crest.
pub(super) fn ends(keeper: &dyn Keeps<f64>, crest: f64, grades: &[f64]) -> Option<Vec<End>> {
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
    // How far short of the zero a hinge is that should still miss the event.
    let mut back = 1.0;
    let mut widths = [f64::INFINITY; 8];
    loop {
        let end = beyond.as_ref().unwrap_or(far);
        let span = end.place - near.place;
        if span <= CLOSE {
            break;
        }
        let others = end.events.met();
        let (missed, towards) = match near.events.nearest(others & !met) {
            Some(excess) => (Some((near.place, excess)), 1.0),
            None => {
                let excess = end.events.nearest(met & !others);
                (excess.map(|excess| (end.place, excess)), -1.0)
            }
        };
        if let Some(missed) = missed {
            if seen[1].is_none_or(|s| s.0 != missed.0) {
                seen = [seen[1], Some(missed)];
                back = 1.0;
            } else {
                back *= 8.0;
            }
        }
        widths.rotate_left(1);
        widths[7] = span;
        let slow = span > 0.3 * widths[0];
        let place = match seen {
            [Some(a), Some(b)] if !slow && a.1 != b.1 => {
                let step = -b.1 * (b.0 - a.0) / (b.1 - a.1);
                let zero = b.0 + step;
                // The secant errs by about the product of both distances.
                let short = back * step.abs() * (zero - a.0).abs();
                match short < 0.1 * CLOSE && step.abs() < 0.6 * CLOSE {
                    true => zero + towards * 0.3 * CLOSE,
                    false => zero - towards * (short + 0.3 * CLOSE),
                }
            }
            _ => near.place + 0.5 * span,
        };
        let inside = place > near.place + 0.1 * CLOSE && place < end.place - 0.1 * CLOSE;
        let place = if inside {
            place
        } else {
            near.place + 0.5 * span
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

/// From and to where the pieces reach; what is added to every end carries its derivatives.
pub(super) fn spans<T: Real>(ends: &[End], moves: &[T]) -> Vec<(T, T)> {
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
pub(super) fn moved(keeper: &dyn Keeps<Number>, crest: f64, end: &End) -> Option<Number> {
    let Some((place, others)) = end.moves else {
        return Some(Number::from(0.0));
    };
    let side = if place == end.between[0] {
        -CLOSE
    } else {
        CLOSE
    };
    // Rounding with derivatives is other than without, and the hinge may meet the event after all. Its neighbours do not.
    for away in [0.0, 10.0, 1e3, 1e5] {
        let mut events = Events::new();
        let phi = Number::from(place + side * away).derivative(WIDTH);
        keeper.kept(phi.sin() * crest, &mut events)?;
        let Some(excess) = events.nearest(others) else {
            continue;
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
        return Some(Number::new(0.0, num_dual::Derivative::some(moves)));
    }
    Some(Number::from(0.0))
}
