//! One hinge of a fold from the press to the reading under the hard law, for any number of yarns and relaxation
//! branches.
//!
//! The fold and the release take no time. Between them a hinge rests at its curvature, so all that happens has a
//! closed form. Without branches the creep after the release has one too, because every yarn's plastic strain follows
//! the yield surface, which shrinks as time goes on. With branches the strain falls while they relax:
//!
//! ```text
//! q̇_i = (ε − q_i)/τ_i        taken exactly for an ε that is a parabola within a step
//! 0   = K_b·Σ w·(ε − ε_p) + K_f·Σ_rest w·(ε − ε̄) − K_f·Σ_slide w·ε_0 + Σ K_i·(ε − q_i)
//! ```
//!
//! A resting yarn slips when ε̄ − ε passes its threshold. It then slides with ε̄ − ε = ε_0 for as long as the strain falls:
//! Algorithm 1 of paper 1 compares with the threshold before a step, and every slip resets the dwell. It rests again
//! when the strain rises. The time of a slip is found within its step, so that what a hinge keeps is smooth in
//! everything but the events that it meets.

use num_dual::DualNum;

use super::CreasePoint;
use crate::material::population;

/// A number, or a dual number with derivatives.
pub(super) trait Real: DualNum<Primitive = f64> + Copy {}
impl<T: DualNum<Primitive = f64> + Copy> Real for T {}

/// Bits of an event: one a yarn.
const MOST_YARNS: usize = population::YARNS.len();

/// First step after the release \[s\].
const FIRST_STEP: f64 = 0.01;

/// The parameters of a law with a population of yarns and relaxation branches.
#[derive(Clone)]
pub(super) struct Fabric<T> {
    /// The nine of the time-dependent law.
    pub base: [T; 9],
    /// Spreads of friction times, friction thresholds and flow times.
    pub spreads: Option<[T; 3]>,
    /// Stiffness and time.
    pub branches: Vec<[T; 2]>,
}

#[derive(Clone, Copy)]
struct Yarn<T> {
    weight: f64,
    initial: T,
    saturated: T,
    dwell: T,
    flow: T,
    /// Threshold at the release.
    threshold: T,
    /// K_h/K_b at the release.
    pressed: T,
}

#[derive(Clone, Copy)]
struct Branch<T> {
    stiffness: T,
    time: T,
    /// Share of the curvature that it has taken at the release.
    taken: T,
}

/// What a step does to a branch: q ← kept·q + start·ε(start) + slope·ε̇(start) + end·ε(end).
#[derive(Clone, Copy)]
struct Relaxation<T> {
    kept: T,
    start: T,
    slope: T,
    end: T,
}

/// A step after the release.
#[derive(Clone, Copy)]
struct Beat<T, const Y: usize, const B: usize> {
    end: T,
    branches: [Relaxation<T>; B],
    at_end: Aged<T, Y>,
}

/// What every yarn's own time has made of it.
#[derive(Clone, Copy)]
struct Aged<T, const Y: usize> {
    /// K_h/K_b.
    ratio: [T; Y],
    /// How fast K_h/K_b falls.
    fall: [T; Y],
    /// Threshold of a yarn that rests since the fold.
    threshold: [T; Y],
}

/// How far a resting yarn is beyond its threshold, and how fast that grows.
#[derive(Clone, Copy)]
struct Excess<T> {
    value: T,
    rate: T,
}

/// All hinges of a fold.
pub(super) struct Hinges<T, const Y: usize, const B: usize> {
    bending: T,
    friction: T,
    yields: T,
    hardening: T,
    drop: T,
    yarns: [Yarn<T>; Y],
    branches: Vec<Branch<T>>,
    beats: Vec<Beat<T, Y, B>>,
    press: f64,
    read: f64,
    growth: f64,
    at_reading: Aged<T, Y>,
}

/// What happens to a yarn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// It slides while the fold is made.
    Slides,
    /// It yields while the fold is made.
    Yields,
    /// It slips at the release.
    Slips,
    /// It flows after the release.
    Flows,
    /// It slips some time after the release.
    SlipsLater,
}

/// The events that a hinge has met, and how far it is from others.
pub(super) struct Events<T> {
    met: u64,
    /// Excess, not positive, of events that were not met.
    missed: Vec<(u64, T)>,
}

impl<T: Real> Events<T> {
    /// None yet.
    pub(super) fn new() -> Events<T> {
        Events {
            met: 0,
            missed: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.met = 0;
        self.missed.clear();
    }

    pub(super) fn bit(event: Event, yarn: usize) -> u64 {
        1 << (event as usize * MOST_YARNS + yarn)
    }

    fn meet(&mut self, event: Event, yarn: usize) {
        self.met |= Self::bit(event, yarn);
    }

    fn miss(&mut self, event: Event, yarn: usize, excess: T) {
        self.missed.push((Self::bit(event, yarn), excess));
    }

    /// Whether an excess is positive, noted either way.
    fn decide(&mut self, event: Event, yarn: usize, excess: T) -> bool {
        let met = excess.re() > 0.0;
        match met {
            true => self.meet(event, yarn),
            false => self.miss(event, yarn, excess),
        }
        met
    }

    /// The events as one number: equal numbers, equal events.
    pub(super) fn met(&self) -> u64 {
        self.met
    }

    /// The excess nearest to zero of events that others met and this hinge did not.
    pub(super) fn nearest(&self, others: u64) -> Option<T> {
        let wanted = self.missed.iter().filter(|(bit, _)| others & bit != 0);
        let nearest = wanted.max_by(|a, b| a.1.re().total_cmp(&b.1.re()));
        nearest.map(|(_, excess)| *excess)
    }
}

/// How a yarn's friction stands.
#[derive(Clone, Copy)]
enum Grip<T> {
    /// At rest at this anchor since the fold, or since a time after the release.
    Rests(T, Option<T>),
    /// Sliding.
    Slides,
}

impl<T: Real> Grip<T> {
    fn anchor(&self) -> Option<T> {
        match *self {
            Grip::Rests(anchor, _) => Some(anchor),
            Grip::Slides => None,
        }
    }
}

/// A hinge between two steps.
#[derive(Clone, Copy)]
struct State<T, const Y: usize, const B: usize> {
    strain: T,
    grips: [Grip<T>; Y],
    plastic: [T; Y],
    branches: [T; B],
}

/// The part of the moment that a step determines: moment = slope·ε − pull, before yarns flow.
#[derive(Clone, Copy)]
struct Balance<T> {
    slope: T,
    pull: T,
}

fn none<T: Real>() -> T {
    T::from(0.0)
}

/// Threshold of a yarn that has rested for so long.
fn threshold<T: Real>(yarn: &Yarn<T>, rested: T) -> T {
    yarn.saturated - (yarn.saturated - yarn.initial) * (-(rested / yarn.dwell)).exp()
}

fn relaxation<T: Real>(time: T, span: T) -> Relaxation<T> {
    let x = span / time;
    let kept = (-x).exp();
    // ∫ (s/h)^k·exp(−(h − s)/τ) ds/τ for k = 1 and 2; the closed forms lose their digits for a short step.
    let (first, second) = match x.re() < 0.1 {
        true => {
            let series = |factors: [f64; 6]| {
                let each = factors.into_iter();
                each.fold(none::<T>(), |sum, n| (-sum + 1.0) * x / n)
            };
            (
                series([7.0, 6.0, 5.0, 4.0, 3.0, 2.0]),
                series([8.0, 7.0, 6.0, 5.0, 4.0, 3.0]),
            )
        }
        false => {
            let first = (kept - 1.0) / x + 1.0;
            (first, -first * 2.0 / x + 1.0)
        }
    };
    Relaxation {
        kept,
        start: -kept + 1.0 - second,
        slope: (first - second) * span,
        end: second,
    }
}

impl<T: Real, const Y: usize, const B: usize> Hinges<T, Y, B> {
    /// `growth` is by how much every step after the release is longer than the one before.
    pub(super) fn new(fabric: &Fabric<T>, point: &CreasePoint, growth: f64) -> Hinges<T, Y, B> {
        let [
            bending,
            friction,
            initial,
            saturated,
            dwell,
            yields,
            hardening,
            drop,
            flow,
        ] = fabric.base;
        let yarn = |place: f64, weight: f64| {
            let [times, thresholds, flows] = fabric.spreads.map_or([T::from(1.0); 3], |spreads| {
                spreads.map(|spread| (spread * place).exp())
            });
            Yarn {
                weight,
                initial: initial * thresholds,
                saturated: saturated * thresholds,
                dwell: dwell * times,
                flow: flow * flows,
                threshold: none(),
                pressed: none(),
            }
        };
        let yarns = std::array::from_fn(|y| match Y {
            1 => yarn(0.0, 1.0),
            _ => yarn(population::YARNS[y].0, population::YARNS[y].1),
        });
        let branch = |&[stiffness, time]: &[T; 2]| Branch {
            stiffness,
            time,
            taken: -(-(time.recip() * point.press)).exp() + 1.0,
        };
        let nothing = Aged {
            ratio: [none(); Y],
            fall: [none(); Y],
            threshold: [none(); Y],
        };
        let mut hinges = Hinges {
            bending,
            friction,
            yields,
            hardening,
            drop,
            yarns,
            branches: fabric.branches.iter().map(branch).collect(),
            beats: Vec::new(),
            press: point.press,
            read: point.read,
            growth,
            at_reading: nothing,
        };
        let release = hinges.aged(none());
        for (y, yarn) in hinges.yarns.iter_mut().enumerate() {
            (yarn.threshold, yarn.pressed) = (release.threshold[y], release.ratio[y]);
        }
        hinges.at_reading = hinges.aged(T::from(point.read));
        if !hinges.branches.is_empty() && point.read > 0.0 {
            let steps = hinges.steps(point.read);
            hinges.beats = (0..steps).map(|k| hinges.beat(none(), k, steps)).collect();
        }
        hinges
    }

    /// What a time after the release has made of the yarns.
    fn aged(&self, time: T) -> Aged<T, Y> {
        let mut aged = Aged {
            ratio: [none(); Y],
            fall: [none(); Y],
            threshold: [none(); Y],
        };
        let ever = time + self.press;
        for (y, yarn) in self.yarns.iter().enumerate() {
            let faded = (-(ever / yarn.flow)).exp();
            aged.ratio[y] = self.hardening / self.bending * (-(self.drop * (-faded + 1.0)) + 1.0);
            aged.fall[y] = self.hardening / self.bending * self.drop * faded / yarn.flow;
            aged.threshold[y] = threshold(yarn, ever);
        }
        aged
    }

    /// How many steps a time is taken in.
    fn steps(&self, time: f64) -> usize {
        if time <= 0.0 {
            return 0;
        }
        let count = (1.0 + (self.growth - 1.0) * time / FIRST_STEP).ln() / self.growth.ln();
        count.ceil().max(2.0) as usize
    }

    /// One of the steps from a time to the reading, each longer than the one before.
    fn beat(&self, since: T, step: usize, steps: usize) -> Beat<T, Y, B> {
        let share = |k: usize| {
            let grown = |k: usize| self.growth.powi(k as i32) - 1.0;
            grown(k) / grown(steps)
        };
        let time = -since + self.read;
        let end = since + time * share(step + 1);
        let span = time * (share(step + 1) - share(step));
        let nothing = relaxation(T::from(1.0), none());
        Beat {
            end,
            branches: self.each(|branch| relaxation(branch.time, span), nothing),
            at_end: self.aged(end),
        }
    }

    /// The curvature that a hinge has kept at the reading. `None` where a yarn would yield against its fold.
    pub(super) fn kept(&self, curvature: T, events: &mut Events<T>) -> Option<T> {
        events.clear();
        let mut state = self.released(curvature, events)?;
        if self.beats.is_empty() {
            let balance = self.balance(&state, |branch, _| (branch.stiffness, none()));
            let balance = Balance {
                pull: balance.pull + self.held_by_branches(&state.branches),
                ..balance
            };
            let before = state.plastic;
            state.strain = self.flowed(balance, &self.at_reading, &mut state.plastic);
            self.note_flow(&before, &state, &self.at_reading, events);
            return self
                .forwards(&state, &self.at_reading)
                .then_some(state.strain);
        }
        self.crept(state, events)
    }

    /// A number for every branch, and a filler beyond.
    fn each<N>(&self, number: impl Fn(&Branch<T>) -> N, filler: N) -> [N; B]
    where
        N: Copy,
    {
        std::array::from_fn(|i| self.branches.get(i).map_or(filler, &number))
    }

    fn held_by_branches(&self, branches: &[T]) -> T {
        let each = self.branches.iter().zip(branches);
        each.fold(none(), |sum, (branch, held)| sum + branch.stiffness * *held)
    }

    /// Fold, hold and release.
    fn released(&self, curvature: T, events: &mut Events<T>) -> Option<State<T, Y, B>> {
        let mut anchors = [none(); Y];
        let mut plastic = [none(); Y];
        let yields = events.decide(Event::Yields, 0, curvature - self.yields);
        for (y, yarn) in self.yarns.iter().enumerate() {
            let excess = curvature - yarn.initial;
            if events.decide(Event::Slides, y, excess) {
                anchors[y] = excess;
            }
            if yields {
                plastic[y] = (curvature - self.yields) / (yarn.pressed + 1.0);
            }
        }
        let branches = self.each(|b| b.taken * curvature, none());
        let mut state = State {
            strain: curvature,
            grips: anchors.map(|anchor| Grip::Rests(anchor, None)),
            plastic,
            branches,
        };
        let thresholds: [T; Y] =
            std::array::from_fn(|y| self.yarns.get(y).map_or(none(), |yarn| yarn.threshold));
        let next = self.unload(&mut state, &thresholds, |y| events.meet(Event::Slips, y));
        if let Some((y, excess)) = next {
            events.miss(Event::Slips, y, excess);
        }
        if self.beats.is_empty() {
            self.rest(&mut state, none());
        }
        self.forwards(&state, &self.at_release()).then_some(state)
    }

    fn at_release(&self) -> Aged<T, Y> {
        let mut aged = self.at_reading;
        for (y, yarn) in self.yarns.iter().enumerate() {
            aged.ratio[y] = yarn.pressed;
        }
        aged
    }

    /// Brings sliding yarns to rest, and says whether there were any.
    fn rest(&self, state: &mut State<T, Y, B>, now: T) -> bool {
        let mut any = false;
        for (grip, yarn) in state.grips.iter_mut().zip(&self.yarns) {
            if let Grip::Slides = grip {
                *grip = Grip::Rests(state.strain + yarn.initial, Some(now));
                any = true;
            }
        }
        any
    }

    /// Goes down to the first strain without a moment. On the way the yarn that slips next lowers the moment that
    /// holds the strain, and it may take others with it. Returns the yarn that would slip next and its excess.
    fn unload(
        &self,
        state: &mut State<T, Y, B>,
        thresholds: &[T; Y],
        mut slips: impl FnMut(usize),
    ) -> Option<(usize, T)> {
        let held = self.held_by_branches(&state.branches);
        loop {
            let balance = self.balance(state, |branch, _| (branch.stiffness, none()));
            state.strain = (balance.pull + held) / balance.slope;
            let resting = (0..self.yarns.len())
                .filter_map(|y| Some((y, state.grips[y].anchor()? - thresholds[y])));
            let (y, slips_at) = resting.max_by(|a, b| a.1.re().total_cmp(&b.1.re()))?;
            let excess = slips_at - state.strain;
            if excess.re() <= 0.0 {
                return Some((y, excess));
            }
            slips(y);
            state.grips[y] = Grip::Slides;
        }
    }

    /// Slope and pull of bending and friction with the plastic strains as they are; `of_branch` adds those of a branch.
    fn balance(
        &self,
        state: &State<T, Y, B>,
        of_branch: impl Fn(&Branch<T>, usize) -> (T, T),
    ) -> Balance<T> {
        let mut balance = Balance {
            slope: self.bending,
            pull: none(),
        };
        for (i, branch) in self.branches.iter().enumerate() {
            let (slope, pull) = of_branch(branch, i);
            balance.slope += slope;
            balance.pull += pull;
        }
        for (y, yarn) in self.yarns.iter().enumerate() {
            let share = self.friction * yarn.weight;
            balance.pull += self.bending * yarn.weight * state.plastic[y];
            match state.grips[y].anchor() {
                Some(anchor) => {
                    balance.slope += share;
                    balance.pull += share * anchor;
                }
                None => balance.pull += share * yarn.initial,
            }
        }
        balance
    }

    /// The strain without a moment when every yarn has followed its yield surface; plastic strains become those.
    fn flowed(&self, balance: Balance<T>, aged: &Aged<T, Y>, plastic: &mut [T; Y]) -> T {
        let Balance {
            mut slope,
            mut pull,
        } = balance;
        let mut flows = [false; Y];
        loop {
            let strain = pull / slope;
            let mut more = false;
            for (y, yarn) in self.yarns.iter().enumerate() {
                let surface = self.yields + plastic[y] * aged.ratio[y];
                if !flows[y] && (strain - plastic[y] - surface).re() > 0.0 {
                    (flows[y], more) = (true, true);
                    // ε_p = (ε − ε_Y0)/(1 + r) in place of the plastic strain so far.
                    let share = self.bending * yarn.weight;
                    let given = (aged.ratio[y] + 1.0).recip();
                    slope -= share * given;
                    pull -= share * (plastic[y] + self.yields * given);
                }
            }
            if !more {
                for y in (0..self.yarns.len()).filter(|y| flows[*y]) {
                    plastic[y] = (strain - self.yields) / (aged.ratio[y] + 1.0);
                }
                return strain;
            }
        }
    }

    /// Notes which yarns have flowed since the release.
    fn note_flow(
        &self,
        before: &[T; Y],
        state: &State<T, Y, B>,
        aged: &Aged<T, Y>,
        events: &mut Events<T>,
    ) {
        for y in 0..self.yarns.len() {
            if state.plastic[y].re() > before[y].re() {
                events.meet(Event::Flows, y);
            } else {
                let surface = self.yields + state.plastic[y] * aged.ratio[y];
                events.miss(Event::Flows, y, state.strain - state.plastic[y] - surface);
            }
        }
    }

    /// Whether no yarn yields against its fold.
    fn forwards(&self, state: &State<T, Y, B>, aged: &Aged<T, Y>) -> bool {
        (0..self.yarns.len()).all(|y| {
            let surface = self.yields.re() + state.plastic[y].re() * aged.ratio[y].re();
            state.plastic[y].re() - state.strain.re() <= surface
        })
    }

    /// The creep of a hinge with branches, step by step. A slip disturbs the branches, so the steps begin anew.
    fn crept(&self, mut state: State<T, Y, B>, events: &mut Events<T>) -> Option<T> {
        let before = state.plastic;
        let mut nearest: [Option<T>; Y] = [None; Y];
        let mut near = |y: usize, excess: T| {
            if nearest[y].is_none_or(|known| known.re() < excess.re()) {
                nearest[y] = Some(excess);
            }
        };
        let mut now = none::<T>();
        let mut aged = self.aged(now);
        let mut rate = self.rate(&state, &aged);
        let mut steps = self.beats.len();
        let mut step = 0;
        let mut since = None;
        while step < steps {
            let beat = match since {
                None => self.beats[step],
                Some(since) => self.beat(since, step, steps),
            };
            let relax = |i: usize| beat.branches[i];
            let mut end = self.stepped(&state, rate, relax, &beat.at_end);
            if end.strain.re() > state.strain.re() && self.rest(&mut state, now) {
                rate = self.rate(&state, &aged);
                end = self.stepped(&state, rate, relax, &beat.at_end);
            }
            let rate_after = self.rate(&end, &beat.at_end);
            let excess = self.excesses(&state, rate, &aged, now);
            let after = self.excesses(&end, rate_after, &beat.at_end, beat.end);
            let span = beat.end - now;
            let slip = slip(&excess, &after, span);
            if let Some((share, yarn)) = slip.first {
                let part = span * share;
                now += part;
                aged = self.aged(now);
                let relax = |i: usize| relaxation(self.branches[i].time, part);
                state = self.stepped(&state, rate, relax, &aged);
                events.meet(Event::SlipsLater, yarn);
                state.grips[yarn] = Grip::Slides;
                let thresholds = self.thresholds(&state, &aged, now);
                let met = |y| events.meet(Event::SlipsLater, y);
                if let Some((y, excess)) = self.unload(&mut state, &thresholds, met) {
                    near(y, excess);
                }
                rate = self.rate(&state, &aged);
                since = Some(now);
                (step, steps) = (0, self.steps(self.read - now.re()));
            } else {
                for (y, excess) in slip.highest.into_iter().enumerate() {
                    excess.map(|excess| near(y, excess));
                }
                (state, rate, aged, now) = (end, rate_after, beat.at_end, beat.end);
                step += 1;
            }
            if !self.forwards(&state, &aged) {
                return None;
            }
        }
        self.note_flow(&before, &state, &self.at_reading, events);
        for (y, near) in nearest.iter().enumerate() {
            if let Some(near) = near
                && events.met & Events::<T>::bit(Event::SlipsLater, y) == 0
            {
                events.miss(Event::SlipsLater, y, *near);
            }
        }
        Some(state.strain)
    }

    /// How fast the strain changes.
    fn rate(&self, state: &State<T, Y, B>, aged: &Aged<T, Y>) -> T {
        let mut slope = self
            .balance(state, |branch, _| (branch.stiffness, none()))
            .slope;
        let mut push = none::<T>();
        for (branch, held) in self.branches.iter().zip(&state.branches) {
            push += branch.stiffness * (state.strain - *held) / branch.time;
        }
        for (y, yarn) in self.yarns.iter().enumerate() {
            let beyond = state.strain - self.yields;
            let follows = (aged.ratio[y] + 1.0).recip();
            // A yarn that flows sits on its yield surface.
            if (beyond * follows - state.plastic[y]).re() > -1e-9 * state.strain.re().abs() {
                let share = self.bending * yarn.weight * follows;
                slope -= share;
                push += share * follows * beyond * aged.fall[y];
            }
        }
        push / slope
    }

    /// A hinge at the end of a step in which nothing slips, from its strain's rate of change at the start.
    fn stepped(
        &self,
        state: &State<T, Y, B>,
        rate: T,
        relax: impl Fn(usize) -> Relaxation<T>,
        aged: &Aged<T, Y>,
    ) -> State<T, Y, B> {
        let mut end = *state;
        for (i, held) in end
            .branches
            .iter_mut()
            .enumerate()
            .take(self.branches.len())
        {
            let step = relax(i);
            *held = step.kept * *held + step.start * state.strain + step.slope * rate;
        }
        let balance = self.balance(state, |branch, i| {
            let free = -relax(i).end + 1.0;
            (branch.stiffness * free, branch.stiffness * end.branches[i])
        });
        end.strain = self.flowed(balance, aged, &mut end.plastic);
        for (i, held) in end
            .branches
            .iter_mut()
            .enumerate()
            .take(self.branches.len())
        {
            *held += relax(i).end * end.strain;
        }
        end
    }

    /// Threshold of every resting yarn.
    fn thresholds(&self, state: &State<T, Y, B>, aged: &Aged<T, Y>, now: T) -> [T; Y] {
        std::array::from_fn(|y| match state.grips[y] {
            Grip::Rests(_, None) => aged.threshold[y],
            Grip::Rests(_, Some(since)) => threshold(&self.yarns[y], now - since),
            Grip::Slides => none(),
        })
    }

    /// How far every resting yarn is beyond its threshold.
    fn excesses(
        &self,
        state: &State<T, Y, B>,
        rate: T,
        aged: &Aged<T, Y>,
        now: T,
    ) -> [Option<Excess<T>>; Y] {
        let thresholds = self.thresholds(state, aged, now);
        std::array::from_fn(|y| {
            let anchor = state.grips[y].anchor()?;
            let yarn = &self.yarns[y];
            Some(Excess {
                value: anchor - state.strain - thresholds[y],
                rate: -rate - (yarn.saturated - thresholds[y]) / yarn.dwell,
            })
        })
    }
}

/// What the excesses of a step do.
struct Slip<T, const Y: usize> {
    /// The first slip: at which share of the step, and of which yarn.
    first: Option<(T, usize)>,
    /// The highest excess of every yarn that does not slip.
    highest: [Option<T>; Y],
}

/// Looks for slips within a step. Between its ends an excess is a parabola.
fn slip<T: Real, const Y: usize>(
    before: &[Option<Excess<T>>; Y],
    after: &[Option<Excess<T>>; Y],
    span: T,
) -> Slip<T, Y> {
    let mut slip = Slip {
        first: None,
        highest: [None; Y],
    };
    for y in 0..Y {
        let (Some(before), Some(after)) = (before[y], after[y]) else {
            continue;
        };
        let mut highest = after.value;
        let mut share = T::from(1.0);
        if before.rate.re() > 0.0 && after.rate.re() < 0.0 {
            let peak = before.rate / (before.rate - after.rate);
            let value = before.value + before.rate * peak * span * 0.5;
            if value.re() > highest.re() {
                (highest, share) = (value, peak);
            }
        }
        if highest.re() <= 0.0 {
            slip.highest[y] = Some(highest);
            continue;
        }
        // An excess that is positive already is rounding after an event.
        let share = match before.value.re() < 0.0 {
            true => share * rise(before.value / highest, before.rate * span * share / highest),
            false => none(),
        };
        if slip.first.is_none_or(|(known, _)| share.re() < known.re()) {
            slip.first = Some((share, y));
        }
    }
    slip
}

/// Where a parabola from `start` < 0 with a slope to 1 at 1 is zero, on [0, 1].
fn rise<T: Real>(start: T, slope: T) -> T {
    // start + slope·x + (1 − start − slope)·x²
    let square = -start - slope + 1.0;
    let root = slope * slope - start * square * 4.0;
    match root.re() > 0.0 && (slope + root.sqrt()).re() > 0.0 {
        true => -start * 2.0 / (slope + root.sqrt()),
        false => -start / (-start + 1.0),
    }
}
