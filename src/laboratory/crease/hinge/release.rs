//! Fold, hold and release of a hinge, and the creep without branches. All of it has a closed form.

use super::{Cloth, Events, Grip, Hinges, Real, State, events::Event, none};

impl<T: Real, const Y: usize, const B: usize> Hinges<T, Y, B> {
    /// Fold, hold and release.
    pub(super) fn released(&self, curvature: T, events: &mut Events<T>) -> Option<State<T, Y, B>> {
        let cloth = &self.cloth;
        let mut anchors = [none(); Y];
        let mut plastic = [none(); Y];
        let yields = events.decide(Event::Yields, 0, curvature - cloth.yields);
        for (y, yarn) in cloth.yarns.iter().enumerate() {
            let excess = curvature - yarn.initial;
            if events.decide(Event::Slides, y, excess) {
                anchors[y] = excess;
            }
            if yields {
                plastic[y] = (curvature - cloth.yields) / (yarn.pressed + 1.0);
            }
        }
        let taken = |i: usize| {
            cloth
                .branches
                .get(i)
                .map_or(none(), |b| b.taken * curvature)
        };
        let mut state = State {
            strain: curvature,
            grips: anchors.map(|anchor| Grip::Rests(anchor, None)),
            plastic,
            flows: [false; Y],
            branches: std::array::from_fn(taken),
        };
        let thresholds = std::array::from_fn(|y| cloth.yarns[y].threshold);
        let next = cloth.unload(&mut state, &thresholds, |y| events.meet(Event::Slips, y));
        if let Some((y, excess)) = next {
            events.miss(Event::Slips, y, excess);
        }
        if self.looks.is_empty() {
            cloth.rest(&mut state, none());
        }
        let pressed = std::array::from_fn(|y| self.plain.yarns[y].pressed);
        cloth.forwards(&state, &pressed).then_some(state)
    }

    /// The creep of a hinge without branches, or until the moment of the release.
    pub(super) fn crept_at_once(
        &self,
        mut state: State<T, Y, B>,
        events: &mut Events<T>,
    ) -> Option<T> {
        let before = state.plastic;
        self.flow(&mut state);
        for (y, before) in before.iter().enumerate() {
            if state.plastic[y].re() > before.re() {
                events.meet(Event::Flows, y);
            } else {
                let surface = self.cloth.yields + state.plastic[y] * self.at_reading[y];
                events.miss(Event::Flows, y, state.strain - state.plastic[y] - surface);
            }
        }
        let ratios = self.at_reading.map(|ratio| ratio.re());
        self.cloth.forwards(&state, &ratios).then_some(state.strain)
    }

    /// Brings every yarn that is beyond its yield surface at the reading back to it.
    fn flow(&self, state: &mut State<T, Y, B>) {
        let cloth = &self.cloth;
        let balance = cloth.balance(state);
        let mut slope = balance.slope;
        let mut pull = balance.pull + cloth.held_by_branches(&state.branches);
        let ratios = &self.at_reading;
        let mut flows = [false; Y];
        loop {
            state.strain = pull / slope;
            let mut more = false;
            for (y, yarn) in cloth.yarns.iter().enumerate() {
                let surface = cloth.yields + state.plastic[y] * ratios[y];
                if !flows[y] && (state.strain - state.plastic[y] - surface).re() > 0.0 {
                    (flows[y], more) = (true, true);
                    // ε_p = (ε − ε_Y0)/(1 + r) in place of the plastic strain so far.
                    let share = cloth.bending * yarn.weight;
                    let given = (ratios[y] + 1.0).recip();
                    slope -= share * given;
                    pull -= share * (state.plastic[y] + cloth.yields * given);
                }
            }
            if !more {
                break;
            }
        }
        for y in (0..Y).filter(|y| flows[*y]) {
            state.plastic[y] = (state.strain - cloth.yields) / (ratios[y] + 1.0);
        }
    }
}

impl<T: Real, const Y: usize, const B: usize> Cloth<T, Y, B> {
    /// Brings sliding yarns to rest, and says whether there were any.
    pub(super) fn rest(&self, state: &mut State<T, Y, B>, now: T) -> bool {
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
    pub(super) fn unload(
        &self,
        state: &mut State<T, Y, B>,
        thresholds: &[T; Y],
        mut slips: impl FnMut(usize),
    ) -> Option<(usize, T)> {
        let held = self.held_by_branches(&state.branches);
        loop {
            let balance = self.balance(state);
            state.strain = (balance.pull + held) / balance.slope;
            let resting =
                (0..Y).filter_map(|y| Some((y, state.grips[y].anchor()? - thresholds[y])));
            let (y, slips_at) = resting.max_by(|a, b| a.1.re().total_cmp(&b.1.re()))?;
            let excess = slips_at - state.strain;
            if excess.re() <= 0.0 {
                return Some((y, excess));
            }
            slips(y);
            state.grips[y] = Grip::Slides;
        }
    }

    /// Whether no yarn yields against its fold at these K_h/K_b.
    pub(super) fn forwards(&self, state: &State<T, Y, B>, ratios: &[f64; Y]) -> bool {
        (0..Y).all(|y| {
            let surface = self.yields.re() + state.plastic[y].re() * ratios[y];
            state.plastic[y].re() - state.strain.re() <= surface
        })
    }
}
