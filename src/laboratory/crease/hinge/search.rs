//! The search of a course for the event that ends it, without derivatives.
//!
//! Where no yarn flows every mode of the branches goes one way, which bounds the excesses between two looks. Only
//! where the bounds leave it open are there more looks in between.

use super::{
    Cloth, Grip,
    course::{Course, Place},
    crossing::{Excess, rise},
};

/// What ends a course.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Turn {
    /// A resting yarn slips.
    Slips(usize),
    /// A yarn begins to flow.
    Flows(usize),
    /// A yarn ceases to flow.
    Stills(usize),
    /// The strain rises, and sliding yarns rest.
    Rests,
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
                Grip::Slides => f64::INFINITY,
            }),
            ratios: std::array::from_fn(|y| self.ratio(y, time)),
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
        match turn {
            Turn::Slips(y) => match course.state.grips[y] {
                Grip::Rests(anchor, _) => {
                    let yarn = &self.yarns[y];
                    let grows = (yarn.saturated - threshold) / yarn.dwell;
                    (anchor - strain - threshold, -rate - grows)
                }
                Grip::Slides => (f64::NEG_INFINITY, 0.0),
            },
            Turn::Flows(y) => {
                let plastic = course.state.plastic[y];
                let surface = plastic * (1.0 + ratio) + self.yields;
                (strain - surface, rate + plastic * fall)
            }
            Turn::Stills(_) => {
                let plastic = (strain - self.yields) / (1.0 + ratio);
                (-(rate + plastic * fall), f64::NAN)
            }
            Turn::Rests => (rate, f64::NAN),
        }
    }

    /// The same at a time.
    pub(super) fn seen(&self, course: &Course<f64, Y, B>, turn: Turn, time: f64) -> Excess {
        let place = course.at(self, time);
        let rate = course.rate(self, &place);
        let (mut threshold, mut ratio) = (0.0, (0.0, 0.0));
        match turn {
            Turn::Slips(y) => {
                if let Grip::Rests(_, since) = course.state.grips[y] {
                    threshold = self.threshold(y, since, time);
                }
            }
            Turn::Flows(y) | Turn::Stills(y) => ratio = self.ratio(y, time),
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
    /// Whether peaks are wanted that stay below zero.
    pub asked: bool,
    /// Of every yarn's slip and flow.
    pub peaks: [[Peak; Y]; 2],
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
        let [least, most] = self.course.strains(&from.place, &to.place);
        let state = &self.course.state;
        let mut open = state.slides() && !self.course.falls(&from.place, &to.place, self.slow);
        for y in 0..Y {
            if let Grip::Rests(anchor, _) = state.grips[y] {
                let bound = anchor - least - from.thresholds[y];
                open |= self.raises(0, y, bound, from, to);
            }
            if state.flows[y] {
                open = true;
            } else {
                let bound = most - state.plastic[y] * (1.0 + to.ratios[y].0) - self.cloth.yields;
                open |= self.raises(1, y, bound, from, to);
            }
        }
        open
    }

    fn of(&self, turn: Turn, look: &Look<Y, B>) -> (f64, Excess) {
        let y = match turn {
            Turn::Slips(y) | Turn::Flows(y) | Turn::Stills(y) => y,
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
        let turn = [Turn::Slips(y), Turn::Flows(y)][kind];
        for look in [from, to] {
            let (time, excess) = self.of(turn, look);
            self.peak(kind, y, (time, excess.0));
        }
        self.peaks[kind][y].is_none_or(|(_, known)| bound > known + self.tiny)
    }

    fn peak(&mut self, kind: usize, y: usize, peak: (f64, f64)) {
        let known = &mut self.peaks[kind][y];
        if known.is_none_or(|known| peak.1 > known.1) {
            *known = Some(peak);
        }
    }

    /// The first event between two neighbouring looks.
    fn within(&mut self, from: &Look<Y, B>, to: &Look<Y, B>) -> Option<(Turn, f64)> {
        let state = self.course.state;
        let mut first: Option<(Turn, f64)> = None;
        let (mut slips, mut flows) = ([None; Y], [None; Y]);
        let mut check = |search: &Self, turn: Turn| {
            let slow = match turn {
                Turn::Slips(_) | Turn::Flows(_) => 0.0,
                Turn::Stills(_) | Turn::Rests => search.slow,
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
        for (y, (slip, flow)) in slips.iter_mut().zip(&mut flows).enumerate() {
            if let Grip::Rests(..) = state.grips[y] {
                *slip = check(self, Turn::Slips(y));
            }
            match state.flows[y] {
                true => drop(check(self, Turn::Stills(y))),
                false => *flow = check(self, Turn::Flows(y)),
            }
        }
        if state.slides() {
            check(self, Turn::Rests);
        }
        for (kind, each) in [slips, flows].into_iter().enumerate() {
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
