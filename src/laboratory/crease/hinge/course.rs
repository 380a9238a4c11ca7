//! The strain of a hinge between two events.
//!
//! Where no yarn flows, S and P of the moment S·ε = P + Σ K_i·q_i are constants and the modes of the branches relax
//! exactly. A yarn that flows has ε_p = (ε ∓ (ε_Y0 + b·r))/(1 + r), with b what had accumulated before it turned. That adds
//! −K_b·w/(1 + r) to S and ∓K_b·w·(ε_Y0 + b·r)/(1 + r) to P. Both change slowly. There a course takes one step with S and P as they are in the middle. What is left,
//! g = (P(t) − P) − (S(t) − S)·ε(t), is zero in the middle and taken as a parabola. The step is of fourth order, and
//! exact where the yarns have stopped to change.

use super::{
    Balance, Cloth, Real, State, Way,
    modes::{self, Mode},
    none,
};

/// From an event, or from a step's start, to the next.
pub(super) struct Course<T, const Y: usize, const B: usize> {
    pub state: State<T, Y, B>,
    pub since: T,
    /// Without the yarns that flow.
    base: Balance<T>,
    /// With them, in the middle of the step.
    middle: Balance<T>,
    modes: [Mode<T, B>; B],
    held: [T; B],
    /// P + g as a polynomial of the share of the step; none where no yarn flows.
    flow: Option<Step<T>>,
}

#[derive(Clone, Copy)]
struct Step<T> {
    span: T,
    powers: [T; 3],
}

/// A hinge at some time of a course.
#[derive(Clone, Copy)]
pub(super) struct Place<T, const B: usize> {
    pub time: T,
    pub strain: T,
    /// What the modes hold.
    pub held: [T; B],
    slope: T,
}

impl<T: Real, const Y: usize, const B: usize> Course<T, Y, B> {
    /// From a state at a time. Where yarns flow the course ends at `until`.
    pub(super) fn new(
        cloth: &Cloth<T, Y, B>,
        state: State<T, Y, B>,
        since: T,
        until: T,
    ) -> Course<T, Y, B> {
        let base = cloth.balance(&state);
        let flows = state.flows.contains(&true);
        let middle = match flows {
            true => cloth.flowing(base, &state, (since + until) * 0.5),
            false => base,
        };
        let modes = modes::modes(&cloth.branches, middle.slope);
        let held = modes::held(&cloth.branches, &modes, &state.branches);
        let mut course = Course {
            state,
            since,
            base,
            middle,
            modes,
            held,
            flow: None,
        };
        if flows {
            course.flow = Some(course.step(cloth, until));
        }
        course
    }

    fn step(&self, cloth: &Cloth<T, Y, B>, until: T) -> Step<T> {
        let span = until - self.since;
        let [start, end] =
            [self.since, until].map(|time| cloth.flowing(self.base, &self.state, time));
        let middle = self.middle;
        let first = start.pull - middle.pull - (start.slope - middle.slope) * self.state.strain;
        // What the modes hold at the end is linear in g there, and so is the strain.
        let (mut fixed, mut share) = (none::<T>(), none::<T>());
        for (mode, held) in self.modes.iter().zip(&self.held).take(cloth.branches.len()) {
            let (kept, [m0, m1, m2]) = modes::moments(mode.rate * span);
            let gain = mode.gain * span;
            fixed += *held * kept + gain * (middle.pull * m0 + first * (m0 - m1 * 3.0 + m2 * 2.0));
            share += gain * (m2 * 2.0 - m1);
        }
        let (pull, slope) = (end.pull - middle.pull, end.slope - middle.slope);
        let strain = (end.pull + fixed + share * pull) / (end.slope + share * slope);
        let last = pull - slope * strain;
        Step {
            span,
            powers: [
                middle.pull + first,
                -(first * 3.0 + last),
                (first + last) * 2.0,
            ],
        }
    }

    pub(super) fn at(&self, cloth: &Cloth<T, Y, B>, time: T) -> Place<T, B> {
        let since = time - self.since;
        let mut held = self.held;
        for (mode, held) in self.modes.iter().zip(&mut held).take(cloth.branches.len()) {
            let gain = mode.gain * since;
            *held = match &self.flow {
                None => {
                    let (kept, zeroth) = modes::moment(mode.rate * since);
                    *held * kept + gain * zeroth * self.middle.pull
                }
                Some(Step { span, powers }) => {
                    let (kept, [m0, m1, m2]) = modes::moments(mode.rate * since);
                    let share = since / *span;
                    let pull = powers[0] * m0 + share * (powers[1] * m1 + share * powers[2] * m2);
                    *held * kept + gain * pull
                }
            };
        }
        let balance = match self.flow {
            None => self.base,
            Some(_) => cloth.flowing(self.base, &self.state, time),
        };
        let sum = held.iter().fold(none::<T>(), |sum, held| sum + *held);
        Place {
            time,
            strain: (balance.pull + sum) / balance.slope,
            held,
            slope: balance.slope,
        }
    }

    /// The state at a time, with the branches' own strains.
    pub(super) fn state_at(&self, cloth: &Cloth<T, Y, B>, time: T) -> State<T, Y, B> {
        let place = self.at(cloth, time);
        let mut state = self.state;
        state.strain = place.strain;
        state.branches =
            modes::strains(&cloth.branches, &self.modes, self.middle.slope, &place.held);
        for y in (0..Y).filter(|y| state.flows[*y]) {
            state.plastic[y] = cloth.on_surface(y, &state, time);
        }
        state
    }

    /// Without derivatives.
    pub(super) fn plain(&self) -> Course<f64, Y, B> {
        let plain = |balance: &Balance<T>| Balance {
            slope: balance.slope.re(),
            pull: balance.pull.re(),
        };
        Course {
            state: self.state.plain(),
            since: self.since.re(),
            base: plain(&self.base),
            middle: plain(&self.middle),
            modes: std::array::from_fn(|k| self.modes[k].plain()),
            held: self.held.map(|held| held.re()),
            flow: self.flow.map(|step| Step {
                span: step.span.re(),
                powers: step.powers.map(|power| power.re()),
            }),
        }
    }
}

impl<T: Real, const Y: usize, const B: usize> Course<T, Y, B> {
    /// How fast the modes change.
    fn rates(&self, place: &Place<T, B>) -> [T; B] {
        // P + g at this time.
        let sum = place.held.iter().fold(none::<T>(), |sum, held| sum + *held);
        let pull = self.middle.slope * place.strain - sum;
        std::array::from_fn(|k| {
            let mode = &self.modes[k];
            mode.gain * pull - mode.rate * place.held[k]
        })
    }

    /// How fast the strain changes.
    pub(super) fn rate(&self, cloth: &Cloth<T, Y, B>, place: &Place<T, B>) -> T {
        let rates = self.rates(place).into_iter();
        let mut push = rates.fold(none::<T>(), |sum, rate| sum + rate);
        for y in (0..Y).filter(|y| self.state.flows[*y]) {
            let surface = &self.state.surfaces[y];
            let (ratio, fall) = cloth.ratio(y, surface, place.time);
            let follows = (ratio + 1.0).recip();
            let share = cloth.bending * cloth.yarns[y].weight * follows * follows;
            let apart = (cloth.yields - surface.before) * surface.way.sign();
            push += share * fall * (place.strain - apart);
        }
        push / place.slope
    }
}

impl<const Y: usize, const B: usize> Course<f64, Y, B> {
    /// Which way all yarns flow, if that is known and nothing else moves the strain.
    fn flows_only(&self, cloth: &Cloth<f64, Y, B>) -> Option<Way> {
        if !cloth.branches.is_empty() {
            return None;
        }
        let mut ways = (0..Y)
            .filter(|y| self.state.flows[*y])
            .map(|y| self.state.surfaces[y].way);
        let first = ways.next()?;
        ways.all(|way| way == first).then_some(first)
    }

    /// Between which strains a course stays from one place to another; any where nobody knows.
    pub(super) fn strains(
        &self,
        cloth: &Cloth<f64, Y, B>,
        from: &Place<f64, B>,
        to: &Place<f64, B>,
    ) -> [f64; 2] {
        if self.flow.is_some() {
            return match self.flows_only(cloth) {
                Some(Way::Down) => [to.strain, from.strain],
                Some(Way::Up) => [from.strain, to.strain],
                None => [f64::NEG_INFINITY, f64::INFINITY],
            };
        }
        // Every mode goes one way.
        let bound = |choose: fn(f64, f64) -> f64| {
            let each = from.held.iter().zip(&to.held);
            let sum: f64 = each.map(|(a, b)| choose(*a, *b)).sum();
            (self.base.pull + sum) / self.base.slope
        };
        [bound(f64::min), bound(f64::max)]
    }

    /// Whether the strain goes nowhere back faster than `rests` from one place to another.
    pub(super) fn goes(
        &self,
        cloth: &Cloth<f64, Y, B>,
        way: Way,
        from: &Place<f64, B>,
        to: &Place<f64, B>,
        rests: f64,
    ) -> bool {
        if self.flow.is_some() {
            let end = self.rate(cloth, to) * way.sign();
            return self.flows_only(cloth) == Some(way) && end > -rests;
        }
        let back = -way.sign();
        let each = self.rates(from).into_iter().zip(self.rates(to));
        let fastest: f64 = each.map(|(a, b)| (a * back).max(b * back)).sum();
        fastest < rests * self.base.slope
    }

    /// Whether a yarn that flows goes on from one place to another.
    pub(super) fn flows_on(&self, cloth: &Cloth<f64, Y, B>) -> bool {
        self.flows_only(cloth).is_some()
    }
}

impl<T: Real, const Y: usize, const B: usize> State<T, Y, B> {
    fn plain(&self) -> State<f64, Y, B> {
        State {
            strain: self.strain.re(),
            grips: std::array::from_fn(|y| self.grips[y].plain()),
            plastic: self.plastic.map(|plastic| plastic.re()),
            surfaces: std::array::from_fn(|y| self.surfaces[y].plain()),
            flows: self.flows,
            branches: self.branches.map(|strain| strain.re()),
        }
    }
}

impl<T: Real, const Y: usize, const B: usize> Cloth<T, Y, B> {
    /// The balance with the yarns that flow, at a time.
    pub(super) fn flowing(
        &self,
        mut balance: Balance<T>,
        state: &State<T, Y, B>,
        time: T,
    ) -> Balance<T> {
        for y in (0..Y).filter(|y| state.flows[*y]) {
            let (offset, follows) = self.follows(y, state, time);
            let share = self.bending * self.yarns[y].weight * follows;
            balance.slope -= share;
            balance.pull += share * offset;
        }
        balance
    }

    /// The offset a and the factor f of ε_p = (ε + a)·f of a yarn that flows, at a time.
    fn follows(&self, y: usize, state: &State<T, Y, B>, time: T) -> (T, T) {
        let (ratio, _) = self.ratio(y, &state.surfaces[y], time);
        self.follows_at(y, state, ratio)
    }

    /// The same at K_h/K_b.
    fn follows_at(&self, y: usize, state: &State<T, Y, B>, ratio: T) -> (T, T) {
        let surface = &state.surfaces[y];
        let offset = (self.yields + surface.before * ratio) * -surface.way.sign();
        (offset, (ratio + 1.0).recip())
    }

    /// The plastic strain of a yarn that flows, at the strain of a state.
    pub(super) fn on_surface(&self, y: usize, state: &State<T, Y, B>, time: T) -> T {
        let (offset, follows) = self.follows(y, state, time);
        (state.strain + offset) * follows
    }
    /// The plastic strain of a yarn that flows, at a strain and K_h/K_b.
    pub(super) fn on_surface_at(&self, y: usize, state: &State<T, Y, B>, strain: T, ratio: T) -> T {
        let (offset, follows) = self.follows_at(y, state, ratio);
        (strain + offset) * follows
    }
}
