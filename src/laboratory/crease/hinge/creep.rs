//! The creep of a hinge with branches, from the release to the reading, as courses between events.
//!
//! The events of a course are looked for without derivatives. What bounds the excesses between two looks is known
//! where no yarn flows, because every mode of the branches goes one way: most hinges need two looks. The time of an
//! event then takes one step of Newton's method with derivatives.

use super::{
    Cloth, Grip, Hinges, Real, State,
    course::Course,
    events::{Event, Events},
    none,
    search::{Search, Turn},
};

/// The first look after the release or a slip, as a share of the shortest time of branches and yarns.
const FIRST_LOOK: f64 = 0.25;
/// Most events of a hinge; more come from rounding.
const MOST_TURNS: usize = 400;
/// An excess of this share of the folded curvature below zero is rounding after an event.
const TINY: f64 = 1e-13;
/// A strain that changes by less than this share of the folded curvature until the reading stands still. Its direction
/// is rounding.
const STILL: f64 = 1e-9;

/// Times after the release or a slip at which the creep is looked at, up to the reading; none where nothing creeps.
pub(super) fn looks<const Y: usize, const B: usize>(
    cloth: &Cloth<f64, Y, B>,
    read: f64,
    growth: f64,
) -> Vec<f64> {
    if cloth.branches.is_empty() || read <= 0.0 {
        return Vec::new();
    }
    let branches = cloth.branches.iter().map(|branch| 1.0 / branch.rate);
    let yarns = cloth.yarns.iter().flat_map(|yarn| [yarn.dwell, yarn.flow]);
    let shortest = branches.chain(yarns).fold(f64::INFINITY, f64::min);
    // A power of two, because looks have no derivatives.
    let mut step = (FIRST_LOOK * shortest)
        .max(1e-6 * read)
        .log2()
        .floor()
        .exp2();
    let mut looks = vec![step];
    while looks[looks.len() - 1] < read {
        looks.push(looks[looks.len() - 1] + step * growth);
        step *= growth;
    }
    looks
}

impl<T: Real, const Y: usize, const B: usize> Hinges<T, Y, B> {
    pub(super) fn crept(&self, mut state: State<T, Y, B>, events: &mut Events<T>) -> Option<T> {
        let (cloth, plain) = (&self.cloth, &self.plain);
        let tiny = TINY
            * state
                .strain
                .re()
                .abs()
                .max(plain.yields.min(plain.yarns[0].initial));
        let slow = STILL * state.strain.re() / self.read;
        let mut highest: [[Option<T>; Y]; 2] = [[None; Y]; 2];
        let (mut now, mut disturbed) = (none::<T>(), none::<T>());
        for _ in 0..MOST_TURNS {
            let look = self.next_look(now.re(), disturbed.re());
            let time = |look: usize| {
                let time = disturbed + self.looks[look];
                if time.re() < self.read {
                    time
                } else {
                    T::from(self.read)
                }
            };
            let mut course = Course::new(cloth, state, now, time(look));
            let mut along = course.plain();
            if state.slides() && along.rate(plain, &along.at(plain, along.since)) > slow {
                cloth.rest(&mut state, now);
                course = Course::new(cloth, state, now, time(look));
                along = course.plain();
            }
            let mut search = Search {
                cloth: plain,
                course: &along,
                looks: &self.looks,
                disturbed: disturbed.re(),
                read: self.read,
                tiny,
                slow,
                asked: events.asked,
                peaks: highest.map(|each| each.map(|known| Some((0.0, known?.re())))),
            };
            let last = match state.flows.contains(&true) {
                true => look,
                false => self.next_look(self.read, disturbed.re()),
            };
            let turn = search.first(look, last);
            if events.asked {
                for (kind, each) in highest.iter_mut().enumerate() {
                    for (y, known) in each.iter_mut().enumerate() {
                        let Some((at, value)) = search.peaks[kind][y] else {
                            continue;
                        };
                        if known.is_none_or(|known| value > known.re()) {
                            let turn = [Turn::Slips(y), Turn::Flows(y)][kind];
                            *known = Some(self.excess(&course, turn, self.moment(&course, at)));
                        }
                    }
                }
            }
            now = match turn {
                Some((turn, at)) => self.moment_of(&course, &along, turn, at),
                None => time(last),
            };
            state = course.state_at(cloth, now);
            if !self.goes_forwards(&state, now.re()) {
                return None;
            }
            match turn {
                None if now.re() >= self.read => {
                    self.note(&highest, events);
                    return Some(state.strain);
                }
                None => {}
                Some((Turn::Slips(y), _)) => {
                    self.slip(&mut state, y, now, events, &mut highest[0]);
                    disturbed = now;
                }
                Some((Turn::Flows(y), _)) => {
                    state.flows[y] = true;
                    events.meet(Event::Flows, y);
                }
                Some((Turn::Stills(y), _)) => state.flows[y] = false,
                Some((Turn::Rests, _)) => {
                    cloth.rest(&mut state, now);
                }
            }
        }
        None
    }

    /// The first look after a time.
    fn next_look(&self, now: f64, disturbed: f64) -> usize {
        let after = |look: &f64| disturbed + look <= now * (1.0 + 1e-9);
        let look = self.looks.partition_point(after);
        look.min(
            self.looks
                .partition_point(|look| disturbed + look < self.read),
        )
    }

    /// A yarn slips, and the others with it that the fall of the strain takes along.
    fn slip(
        &self,
        state: &mut State<T, Y, B>,
        y: usize,
        now: T,
        events: &mut Events<T>,
        highest: &mut [Option<T>; Y],
    ) {
        let thresholds: [T; Y] = std::array::from_fn(|y| match state.grips[y] {
            Grip::Rests(_, since) => self.cloth.threshold(y, since, now),
            Grip::Slides => none(),
        });
        let mut slips = |y: usize| {
            let event = match events.has_met(Event::SlipsLater, y) {
                true => Event::SlipsAgain,
                false => Event::SlipsLater,
            };
            events.meet(event, y);
            highest[y] = None;
        };
        slips(y);
        state.grips[y] = Grip::Slides;
        state.flows = [false; Y];
        self.cloth.unload(state, &thresholds, slips);
    }

    /// Notes how near yarns came to events that they did not meet.
    fn note(&self, highest: &[[Option<T>; Y]; 2], events: &mut Events<T>) {
        let [slips, flows] = highest;
        for (y, (slip, flow)) in slips.iter().zip(flows).enumerate() {
            if let Some(excess) = *slip {
                if !events.has_met(Event::SlipsLater, y) {
                    events.miss(Event::SlipsLater, y, excess);
                } else if !events.has_met(Event::SlipsAgain, y) {
                    events.miss(Event::SlipsAgain, y, excess);
                }
            }
            if let Some(excess) = *flow
                && !events.has_met(Event::Flows, y)
            {
                events.miss(Event::Flows, y, excess);
            }
        }
    }

    fn goes_forwards(&self, state: &State<T, Y, B>, now: f64) -> bool {
        let ratios = std::array::from_fn(|y| match now < self.read {
            true => self.plain.ratio(y, now).0,
            false => self.at_reading[y].re(),
        });
        self.cloth.forwards(state, &ratios)
    }

    /// A time of a course, which may begin with an event.
    fn moment(&self, course: &Course<T, Y, B>, at: f64) -> T {
        match at == course.since.re() {
            true => course.since,
            false => T::from(at),
        }
    }

    /// When a course ends, with derivatives.
    fn moment_of(
        &self,
        course: &Course<T, Y, B>,
        along: &Course<f64, Y, B>,
        turn: Turn,
        at: f64,
    ) -> T {
        if at == course.since.re() {
            return course.since;
        }
        let excess = self.excess(course, turn, T::from(at));
        let rate = match turn {
            Turn::Slips(_) | Turn::Flows(_) => self.plain.seen(along, turn, at).1,
            // How these excesses change is known from a difference.
            Turn::Stills(_) | Turn::Rests => {
                let h = 1e-4 * (at - along.since);
                let seen = |time: f64| self.plain.seen(along, turn, time).0;
                (seen(at + h) - seen(at - h)) / (2.0 * h)
            }
        };
        // The value stays: beyond a zero by rounding, and not short of it.
        match rate != 0.0 {
            true => (excess - excess.re()) / -rate + at,
            false => T::from(at),
        }
    }

    /// The excess of a turn with its derivatives.
    fn excess(&self, course: &Course<T, Y, B>, turn: Turn, time: T) -> T {
        let cloth = &self.cloth;
        let place = course.at(cloth, time);
        match turn {
            Turn::Slips(y) => match course.state.grips[y] {
                Grip::Rests(anchor, since) => {
                    anchor - place.strain - cloth.threshold(y, since, time)
                }
                Grip::Slides => none(),
            },
            Turn::Flows(y) => {
                let (ratio, _) = cloth.ratio(y, time);
                place.strain - course.state.plastic[y] * (ratio + 1.0) - cloth.yields
            }
            Turn::Stills(y) => {
                let (ratio, fall) = cloth.ratio(y, time);
                let plastic = (place.strain - cloth.yields) / (ratio + 1.0);
                -(course.rate(cloth, &place) + plastic * fall)
            }
            Turn::Rests => course.rate(cloth, &place),
        }
    }
}

impl<T: Real, const Y: usize, const B: usize> State<T, Y, B> {
    pub(super) fn slides(&self) -> bool {
        self.grips.iter().any(|grip| matches!(grip, Grip::Slides))
    }
}
