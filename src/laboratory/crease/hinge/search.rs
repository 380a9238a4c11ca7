//! The search of a course for the event that ends it, without derivatives.
//!
//! Where no yarn flows every mode of the branches goes one way, which bounds the excesses between two looks. Only
//! where the bounds leave it open are there more looks in between.

use super::{
    Cloth, Grip, Way,
    course::{Course, Place},
    crossing::{Excess, rise},
};

/// What ends a course.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Turn {
    /// A resting yarn slips, with a strain that goes this way.
    Slips(usize, Way),
    /// A yarn flows on.
    Flows(usize),
    /// A yarn yields against its last flow.
    Turns(usize),
    /// A yarn ceases to flow.
    Stills(usize),
    /// The strain turns, and sliding yarns rest.
    Rests,
}

/// Excesses of a yarn whose peaks are wanted.
pub(super) const PEAKS: usize = 4;

/// The turn of a yarn of which a peak is.
pub(super) fn peaking(kind: usize, y: usize) -> Turn {
    match kind {
        0 => Turn::Slips(y, Way::Down),
        1 => Turn::Flows(y),
        2 => Turn::Turns(y),
        _ => Turn::Slips(y, Way::Up),
    }
}

/// The way of a strain at which a yarn flows or turns that flowed this way.
pub(super) fn yielding(turn: Turn, flowed: Way) -> Way {
    match turn {
        Turn::Turns(_) => flowed.back(),
        _ => flowed,
    }
}

/// The highest excess that was not positive, and when.
pub(super) type Peak = Option<(f64, f64)>;

/// A look at a hinge.
#[derive(Clone, Copy)]
struct Look<const Y: usize, const B: usize> {
    place: Place<f64, B>,
    rate: f64,
    /// Thresholds of resting yarns.
    thresholds: [f64; Y],
    /// K_h/K_b and how fast it falls.
    ratios: [(f64, f64); Y],
}

impl<const Y: usize, const B: usize> Cloth<f64, Y, B> {
    fn look(&self, course: &Course<f64, Y, B>, time: f64) -> Look<Y, B> {
        let place = course.at(self, time);
        Look {
            rate: course.rate(self, &place),
            place,
            thresholds: std::array::from_fn(|y| match course.state.grips[y] {
                Grip::Rests(_, since) => self.threshold(y, since, time),
                Grip::Slides(_) => f64::INFINITY,
            }),
            ratios: std::array::from_fn(|y| self.ratio(y, &course.state.surfaces[y], time)),
        }
    }

    /// The excess of a turn, and how fast it grows.
    fn excess(
        &self,
        course: &Course<f64, Y, B>,
        turn: Turn,
        strain: f64,
        rate: f64,
        threshold: f64,
        (ratio, fall): (f64, f64),
    ) -> Excess {
        let state = &course.state;
        match turn {
            Turn::Slips(y, way) => match state.grips[y] {
                Grip::Rests(anchor, _) => {
                    let yarn = &self.yarns[y];
                    let grows = (yarn.saturated - threshold) / yarn.dwell;
                    let sign = way.sign();
                    (sign * (strain - anchor) - threshold, sign * rate - grows)
                }
                Grip::Slides(_) => (f64::NEG_INFINITY, 0.0),
            },
            Turn::Flows(y) | Turn::Turns(y) => {
                let way = yielding(turn, state.surfaces[y].way);
                let accumulated = state.surfaces[y].accumulated(state.plastic[y]);
                let excess = strain - self.yields_at(y, state, way, ratio);
                (way.sign() * excess, way.sign() * rate + accumulated * fall)
            }
            Turn::Stills(y) => {
                let surface = &state.surfaces[y];
                let accumulated = surface.accumulated(self.on_surface_at(y, state, strain, ratio));
                (-(surface.way.sign() * rate + accumulated * fall), f64::NAN)
            }
            Turn::Rests => match state.slides() {
                Some(way) => (-way.sign() * rate, f64::NAN),
                None => (f64::NEG_INFINITY, f64::NAN),
            },
        }
    }

    /// The same at a time.
    pub(super) fn seen(&self, course: &Course<f64, Y, B>, turn: Turn, time: f64) -> Excess {
        let place = course.at(self, time);
        let rate = course.rate(self, &place);
        let (mut threshold, mut ratio) = (0.0, (0.0, 0.0));
        match turn {
            Turn::Slips(y, _) => {
                if let Grip::Rests(_, since) = course.state.grips[y] {
                    threshold = self.threshold(y, since, time);
                }
            }
            Turn::Flows(y) | Turn::Turns(y) | Turn::Stills(y) => {
                ratio = self.ratio(y, &course.state.surfaces[y], time);
            }
            Turn::Rests => {}
        }
        self.excess(course, turn, place.strain, rate, threshold, ratio)
    }
}

/// The search of a course for the event that ends it.
pub(super) struct Search<'a, const Y: usize, const B: usize> {
    pub cloth: &'a Cloth<f64, Y, B>,
    pub course: &'a Course<f64, Y, B>,
    pub looks: &'a [f64],
    pub disturbed: f64,
    pub read: f64,
    pub tiny: f64,
    pub slow: f64,
    /// Sliding yarns rest when the strain goes back faster than this.
    pub rests: f64,
    /// Whether peaks are wanted that stay below zero.
    pub asked: bool,
    /// Of every yarn's turns, in the order of [`peaking`].
    pub peaks: [[Peak; Y]; PEAKS],
}

impl<const Y: usize, const B: usize> Search<'_, Y, B> {
    /// The first event from the beginning of the course to a look.
    pub(super) fn first(&mut self, next: usize, last: usize) -> Option<(Turn, f64)> {
        let start = self.cloth.look(self.course, self.course.since);
        let end = self.cloth.look(self.course, self.time(last));
        self.between((next, &start), (last + 1, &end))
    }

    fn time(&self, look: usize) -> f64 {
        (self.disturbed + self.looks[look]).min(self.read)
    }

    /// The first event between two looks. `next` is the look after the first, `end` the one after the last.
    fn between(
        &mut self,
        (next, from): (usize, &Look<Y, B>),
        (end, to): (usize, &Look<Y, B>),
    ) -> Option<(Turn, f64)> {
        if !self.open(from, to) {
            return None;
        }
        if end - next <= 1 {
            return self.within(from, to);
        }
        let middle = next + (end - next) / 2 - 1;
        let look = self.cloth.look(self.course, self.time(middle));
        let first = self.between((next, from), (middle + 1, &look));
        first.or_else(|| self.between((middle + 1, &look), (end, to)))
    }

    /// Whether an event can be between two looks, or a peak that is higher than those known.
    fn open(&mut self, from: &Look<Y, B>, to: &Look<Y, B>) -> bool {
        let [least, most] = self.course.strains(self.cloth, &from.place, &to.place);
        let state = &self.course.state;
        let mut open = match state.slides() {
            Some(way) => {
                let (from, to) = (&from.place, &to.place);
                !self.course.goes(self.cloth, way, from, to, self.rests)
            }
            None => false,
        };
        for y in 0..Y {
            if let Grip::Rests(anchor, _) = state.grips[y] {
                let bound = anchor - least - from.thresholds[y];
                open |= self.raises(0, y, bound, from, to);
                let bound = most - anchor - from.thresholds[y];
                open |= self.raises(3, y, bound, from, to);
            }
            if state.flows[y] {
                open |= !self.course.flows_on(self.cloth);
                continue;
            }
            if !self.cloth.has_yielded(y, state) {
                continue;
            }
            for kind in [1, 2] {
                let way = yielding(peaking(kind, y), state.surfaces[y].way);
                let at = self.cloth.yields_at(y, state, way, to.ratios[y].0);
                let bound = match way {
                    Way::Down => at - least,
                    Way::Up => most - at,
                };
                open |= self.raises(kind, y, bound, from, to);
            }
        }
        open
    }

    fn of(&self, turn: Turn, look: &Look<Y, B>) -> (f64, Excess) {
        let y = match turn {
            Turn::Slips(y, _) | Turn::Flows(y) | Turn::Turns(y) | Turn::Stills(y) => y,
            Turn::Rests => 0,
        };
        let (threshold, ratio) = (look.thresholds[y], look.ratios[y]);
        let (strain, rate) = (look.place.strain, look.rate);
        let excess = self
            .cloth
            .excess(self.course, turn, strain, rate, threshold, ratio);
        (look.place.time, excess)
    }

    /// Whether an excess below a bound may be positive, or higher than the highest of those known.
    fn raises(
        &mut self,
        kind: usize,
        y: usize,
        bound: f64,
        from: &Look<Y, B>,
        to: &Look<Y, B>,
    ) -> bool {
        if !self.asked || bound >= -self.tiny {
            return bound >= -self.tiny;
        }
        let turn = peaking(kind, y);
        for look in [from, to] {
            let (time, excess) = self.of(turn, look);
            self.peak(kind, y, (time, excess.0));
        }
        self.peaks[kind][y].is_none_or(|(_, known)| bound > known + self.tiny)
    }

    /// A yarn that has just come to rest is on its threshold. That is no peak.
    fn peak(&mut self, kind: usize, y: usize, peak: (f64, f64)) {
        if let (Turn::Slips(_, Way::Down), Grip::Rests(_, Some(since))) =
            (peaking(kind, y), self.course.state.grips[y])
            && peak.0 <= since
        {
            return;
        }
        let known = &mut self.peaks[kind][y];
        if known.is_none_or(|known| peak.1 > known.1) {
            *known = Some(peak);
        }
    }

    /// The first event between two neighbouring looks.
    fn within(&mut self, from: &Look<Y, B>, to: &Look<Y, B>) -> Option<(Turn, f64)> {
        let state = self.course.state;
        let mut first: Option<(Turn, f64)> = None;
        let mut peaks = [[None; Y]; PEAKS];
        let mut check = |search: &Self, turn: Turn| {
            let slow = match turn {
                Turn::Slips(..) | Turn::Flows(_) | Turn::Turns(_) => 0.0,
                Turn::Stills(_) => search.slow,
                Turn::Rests => search.rests,
            };
            let less = |(value, rate): Excess| (value - slow, rate);
            let excess = |time: f64| less(search.cloth.seen(search.course, turn, time));
            let ends = [from, to].map(|look| {
                let (time, excess) = search.of(turn, look);
                (time, less(excess))
            });
            let rise = rise(excess, ends[0], ends[1], search.tiny, search.asked);
            if let Some(at) = rise.at
                && first.is_none_or(|(_, known)| at < known)
            {
                first = Some((turn, at));
            }
            rise.at.is_none().then_some(rise.peak)
        };
        // A yarn is a place in four arrays.
        #[allow(clippy::needless_range_loop)]
        for y in 0..Y {
            if let Grip::Rests(..) = state.grips[y] {
                for (kind, way) in [(0, Way::Down), (3, Way::Up)] {
                    peaks[kind][y] = check(self, Turn::Slips(y, way));
                }
            }
            if state.flows[y] {
                check(self, Turn::Stills(y));
                continue;
            }
            if self.cloth.has_yielded(y, &state) {
                peaks[1][y] = check(self, Turn::Flows(y));
                peaks[2][y] = check(self, Turn::Turns(y));
            }
        }
        if state.slides().is_some() {
            check(self, Turn::Rests);
        }
        for (kind, each) in peaks.into_iter().enumerate() {
            for (y, peak) in each.into_iter().enumerate() {
                if let Some(peak) = peak
                    && first.is_none_or(|(_, at)| peak.0 <= at)
                {
                    self.peak(kind, y, peak);
                }
            }
        }
        first
    }
}
