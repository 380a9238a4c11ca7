//! The creep of a hinge with branches, from the release to the reading, as courses between events.
//!
//! The events of a course are looked for without derivatives. What bounds the excesses between two looks is known
//! where no yarn flows, because every mode of the branches goes one way: most hinges need two looks. The time of an
//! event then takes one step of Newton's method with derivatives.

use super::{
    Cloth, Grip, Hinges, Real, State, Surface, Way, Yarn,
    course::Course,
    events::{Event, Events},
    none,
    release::Moment,
    search::{PEAKS, Search, Turn, peaking, yielding},
};

/// The first look after the release or a slip, as a share of the shortest time of branches and yarns.
const FIRST_LOOK: f64 = 0.25;
/// Most events of a hinge; more come from rounding.
const MOST_TURNS: usize = 400;
/// An excess of this share of the folded curvature below zero is rounding after an event.
const TINY: f64 = 1e-13;
/// A strain that changes by less than this share of it until the reading stands still. Its direction is rounding.
const STILL: f64 = 1e-9;

/// Times after the release or a slip at which the creep is looked at, up to the reading.
pub(super) fn looks<const Y: usize, const B: usize>(
    cloth: &Cloth<f64, Y, B>,
    read: f64,
    growth: f64,
) -> Vec<f64> {
    if read <= 0.0 {
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
        // A yarn whose threshold rises as it rests is at rest when the strain hardly changes.
        let gains = |yarn: &Yarn<f64>| (yarn.saturated - yarn.initial) / yarn.dwell;
        let rests = match plain.yarns.iter().all(|yarn| gains(yarn) > 2.0 * slow) {
            true => -slow,
            false => slow,
        };
        let mut highest: [[Option<T>; Y]; PEAKS] = [[None; Y]; PEAKS];
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
            if let Some(way) = state.slides() {
                let rate = along.rate(plain, &along.at(plain, along.since));
                // Without branches and flow nothing moves, and what slid rests.
                if rate == 0.0 || -way.sign() * rate > rests {
                    cloth.rest(&mut state, now);
                    course = Course::new(cloth, state, now, time(look));
                    along = course.plain();
                }
            }
            let mut search = Search {
                cloth: plain,
                course: &along,
                looks: &self.looks,
                disturbed: disturbed.re(),
                read: self.read,
                tiny,
                slow,
                rests,
                asked: events.asked,
                peaks: highest.map(|each| each.map(|known| Some((0.0, known?.re())))),
            };
            let stepped = state.flows.contains(&true) && !plain.branches.is_empty();
            let last = match stepped {
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
                            let time = self.moment(&course, at);
                            *known = Some(self.excess(&course, peaking(kind, y), time));
                        }
                    }
                }
            }
            now = match turn {
                Some((turn, at)) => self.moment_of(&course, &along, turn, at),
                None => time(last),
            };
            state = course.state_at(cloth, now);
            match turn {
                None if now.re() >= self.read => {
                    self.note(&state, &highest, events);
                    return Some(state.strain);
                }
                None => {}
                Some((Turn::Slips(y, way), _)) => {
                    self.slip(&mut state, (y, way), now, events, &mut highest);
                    disturbed = now;
                }
                Some((Turn::Flows(y), _)) => {
                    state.flows[y] = true;
                    events.meet(flowing(&state.surfaces[y]), y);
                    if state.surfaces[y].turns > 0 {
                        disturbed = now;
                    }
                }
                Some((Turn::Turns(y), _)) => {
                    events.meet(turning(&state.surfaces[y]), y);
                    cloth.turn(&mut state, y, now);
                    disturbed = now;
                    highest[1][y] = None;
                    highest[2][y] = None;
                }
                Some((Turn::Stills(y), _)) => state.flows[y] = false,
                Some((Turn::Rests, _)) => cloth.rest(&mut state, now),
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

    /// A yarn slips, and the others with it that the change of the strain takes along.
    fn slip(
        &self,
        state: &mut State<T, Y, B>,
        (y, way): (usize, Way),
        now: T,
        events: &mut Events<T>,
        highest: &mut [[Option<T>; Y]; PEAKS],
    ) {
        let moment = Moment {
            time: now,
            thresholds: std::array::from_fn(|y| match state.grips[y] {
                Grip::Rests(_, since) => self.cloth.threshold(y, since, now),
                Grip::Slides(_) => none(),
            }),
            ratios: std::array::from_fn(|y| self.cloth.ratio(y, &state.surfaces[y], now).0),
        };
        let mut surfaces = state.surfaces;
        let mut meets = |turn: Turn| match turn {
            Turn::Slips(y, Way::Down) => {
                let event = match events.has_met(Event::SlipsLater, y) {
                    true => Event::SlipsAgain,
                    false => Event::SlipsLater,
                };
                events.meet(event, y);
                highest[0][y] = None;
            }
            Turn::Slips(y, Way::Up) => {
                events.meet(Event::SlipsUp, y);
                highest[3][y] = None;
            }
            Turn::Turns(y) => {
                events.meet(turning(&surfaces[y]), y);
                surfaces[y].turns += 1;
                highest[1][y] = None;
                highest[2][y] = None;
            }
            Turn::Flows(y) => events.meet(flowing(&surfaces[y]), y),
            Turn::Stills(_) | Turn::Rests => {}
        };
        meets(Turn::Slips(y, way));
        state.grips[y] = Grip::Slides(way);
        self.cloth.settle(state, way, &moment, meets);
    }

    /// Notes how near yarns came to events that they did not meet.
    fn note(
        &self,
        state: &State<T, Y, B>,
        highest: &[[Option<T>; Y]; PEAKS],
        events: &mut Events<T>,
    ) {
        for y in 0..Y {
            let [slips, flows, turns, slips_up] = highest.map(|each| each[y]);
            let slip = match events.has_met(Event::SlipsLater, y) {
                true => Event::SlipsAgain,
                false => Event::SlipsLater,
            };
            let wanted = [
                (slip, slips),
                (flowing(&state.surfaces[y]), flows),
                (turning(&state.surfaces[y]), turns),
                (Event::SlipsUp, slips_up),
            ];
            for (event, excess) in wanted {
                if let Some(excess) = excess
                    && !events.has_met(event, y)
                {
                    events.miss(event, y, excess);
                }
            }
        }
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
            Turn::Slips(..) | Turn::Flows(_) | Turn::Turns(_) => self.plain.seen(along, turn, at).1,
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
        let state = &course.state;
        match turn {
            Turn::Slips(y, way) => match state.grips[y] {
                Grip::Rests(anchor, since) => {
                    (place.strain - anchor) * way.sign() - cloth.threshold(y, since, time)
                }
                Grip::Slides(_) => none(),
            },
            Turn::Flows(y) | Turn::Turns(y) => {
                let way = yielding(turn, state.surfaces[y].way);
                let (ratio, _) = cloth.ratio(y, &state.surfaces[y], time);
                (place.strain - cloth.yields_at(y, state, way, ratio)) * way.sign()
            }
            Turn::Stills(y) => {
                let surface = &state.surfaces[y];
                let (ratio, fall) = cloth.ratio(y, surface, time);
                let plastic = cloth.on_surface_at(y, state, place.strain, ratio);
                let rate = course.rate(cloth, &place) * surface.way.sign();
                -(rate + surface.accumulated(plastic) * fall)
            }
            Turn::Rests => match state.slides() {
                Some(way) => course.rate(cloth, &place) * -way.sign(),
                None => none(),
            },
        }
    }
}

/// The event of a yarn that begins to flow some time after the release.
fn flowing<T>(surface: &Surface<T>) -> Event {
    match surface.turns {
        0 => Event::Flows,
        1 => Event::FlowsBackLater,
        _ => Event::FlowsAgain,
    }
}

/// The event of a yarn that turns some time after the release.
fn turning<T>(surface: &Surface<T>) -> Event {
    match surface.turns {
        0 => Event::TurnsLater,
        _ => Event::TurnsAgain,
    }
}

impl<T: Real, const Y: usize, const B: usize> State<T, Y, B> {
    /// Which way yarns slide; none where all rest.
    pub(super) fn slides(&self) -> Option<Way> {
        self.grips.iter().find_map(|grip| match grip {
            Grip::Slides(way) => Some(*way),
            Grip::Rests(..) => None,
        })
    }
}
