//! Fold, hold and release of a hinge, and the creep without branches. All of it has a closed form.

use super::{Cloth, Events, Grip, Hinges, Real, State, Way, events::Event, none, search::Turn};

/// What yarns are at a time when the strain goes somewhere at once.
pub(super) struct Moment<T, const Y: usize> {
    pub time: T,
    /// Friction thresholds of resting yarns.
    pub thresholds: [T; Y],
    /// K_h/K_b.
    pub ratios: [T; Y],
}

impl<T: Real, const Y: usize, const B: usize> Hinges<T, Y, B> {
    /// Fold, hold and release.
    pub(super) fn released(&self, curvature: T, events: &mut Events<T>) -> State<T, Y, B> {
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
            surfaces: [cloth.unturned(); Y],
            flows: [false; Y],
            branches: std::array::from_fn(taken),
        };
        let moment = Moment {
            time: none(),
            thresholds: std::array::from_fn(|y| cloth.yarns[y].threshold),
            ratios: std::array::from_fn(|y| cloth.yarns[y].pressed),
        };
        cloth.settle(&mut state, Way::Down, &moment, |turn| match turn {
            Turn::Slips(y, _) => events.meet(Event::Slips, y),
            Turn::Flows(y) => events.meet(Event::FlowsBack, y),
            Turn::Turns(y) => events.meet(Event::Turns, y),
            Turn::Stills(_) | Turn::Rests => {}
        });
        for (y, grip) in state.grips.iter().enumerate() {
            if let Some(anchor) = grip.anchor() {
                events.miss(
                    Event::Slips,
                    y,
                    anchor - moment.thresholds[y] - state.strain,
                );
            }
        }
        if yields {
            for y in 0..Y {
                if state.surfaces[y].turns == 0 {
                    let at = cloth.yields_at(y, &state, Way::Down, moment.ratios[y]);
                    events.miss(Event::Turns, y, at - state.strain);
                }
                if !state.flows[y] {
                    let at = cloth.yields_at(y, &state, Way::Down, cloth.fresh());
                    events.miss(Event::FlowsBack, y, at - state.strain);
                }
            }
        }
        state
    }

    /// The strain at the reading of a hinge without branches whose yarns neither slip forwards nor yield against their
    /// fold. `None` where that may happen.
    pub(super) fn crept_at_once(
        &self,
        state: &State<T, Y, B>,
        events: &mut Events<T>,
    ) -> Option<T> {
        if state.surfaces.iter().any(|surface| surface.turns > 0) {
            return None;
        }
        let cloth = &self.cloth;
        let mut crept = *state;
        cloth.rest(&mut crept, none());
        self.flow(&mut crept);
        for (y, yarn) in cloth.yarns.iter().enumerate() {
            // Of the lowest strain and the lowest surface, and of the highest strain and the lowest threshold.
            let turns = cloth.yields_at(y, state, Way::Down, self.at_reading[y]) - state.strain;
            let anchor = crept.grips[y].anchor()?;
            if turns.re() > 0.0 || (crept.strain - anchor - yarn.initial).re() > 0.0 {
                return None;
            }
            if state.plastic[y].re() > 0.0 {
                events.miss(Event::TurnsLater, y, turns);
            }
        }
        for (y, before) in state.plastic.iter().enumerate() {
            if crept.plastic[y].re() > before.re() {
                events.meet(Event::Flows, y);
            } else {
                let surface = cloth.yields + crept.plastic[y] * self.at_reading[y];
                events.miss(Event::Flows, y, crept.strain - crept.plastic[y] - surface);
            }
        }
        Some(crept.strain)
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
    /// Brings sliding yarns to rest.
    pub(super) fn rest(&self, state: &mut State<T, Y, B>, now: T) {
        for (grip, yarn) in state.grips.iter_mut().zip(&self.yarns) {
            if let Grip::Slides(way) = grip {
                let anchor = state.strain - yarn.initial * way.sign();
                *grip = Grip::Rests(anchor, Some(now));
            }
        }
    }

    /// K_h/K_b of a yarn that has just turned.
    pub(super) fn fresh(&self) -> T {
        self.hardening / self.bending
    }

    /// The strain at which a yarn yields when the strain goes this way, at this K_h/K_b.
    pub(super) fn yields_at(&self, y: usize, state: &State<T, Y, B>, way: Way, ratio: T) -> T {
        let plastic = state.plastic[y];
        let accumulated = state.surfaces[y].accumulated(plastic);
        plastic + (self.yields + accumulated * ratio) * way.sign()
    }

    /// Whether a yarn has ever yielded. One that has not in the fold will not later.
    pub(super) fn has_yielded(&self, y: usize, state: &State<T, Y, B>) -> bool {
        state.surfaces[y].accumulated(state.plastic[y]).re() > 0.0
    }

    /// Goes one way to the first strain without a moment. On the way the yarn that slips next lowers the moment that
    /// holds the strain, and it may take others with it. A yarn that flows does so too.
    pub(super) fn settle(
        &self,
        state: &mut State<T, Y, B>,
        way: Way,
        moment: &Moment<T, Y>,
        mut meets: impl FnMut(Turn),
    ) {
        let held = self.held_by_branches(&state.branches);
        let further = way.sign();
        for (flows, surface) in state.flows.iter_mut().zip(&state.surfaces) {
            *flows &= surface.way == way;
        }
        loop {
            let balance = self.flowing(self.balance(state), state, moment.time);
            state.strain = (balance.pull + held) / balance.slope;
            let each = (0..Y).flat_map(|y| {
                let anchor = state.grips[y].anchor();
                let slips = anchor.map(|anchor| anchor + moment.thresholds[y] * further);
                let still = !state.flows[y] && self.has_yielded(y, state);
                let flows = still.then(|| {
                    let ratio = match state.surfaces[y].way == way {
                        true => moment.ratios[y],
                        false => self.fresh(),
                    };
                    self.yields_at(y, state, way, ratio)
                });
                [(Turn::Slips(y, way), slips), (Turn::Flows(y), flows)]
            });
            let excess =
                each.filter_map(|(turn, at)| Some((turn, (state.strain - at?).re() * further)));
            match excess.max_by(|a, b| a.1.total_cmp(&b.1)) {
                Some((turn, excess)) if excess > 0.0 => {
                    match turn {
                        Turn::Slips(y, _) => state.grips[y] = Grip::Slides(way),
                        Turn::Flows(y) | Turn::Turns(y) | Turn::Stills(y) => {
                            if state.surfaces[y].way != way {
                                self.turn(state, y, moment.time);
                                meets(Turn::Turns(y));
                            }
                            state.flows[y] = true;
                        }
                        Turn::Rests => {}
                    }
                    meets(turn);
                }
                _ => break,
            }
        }
        for y in 0..Y {
            let at = self.yields_at(y, state, way, moment.ratios[y]);
            let beyond = (state.strain - at).re() * further > 0.0;
            if state.surfaces[y].way != way && beyond && self.has_yielded(y, state) {
                self.turn(state, y, moment.time);
                meets(Turn::Turns(y));
            }
        }
        for y in (0..Y).filter(|y| state.flows[*y]) {
            state.plastic[y] = self.on_surface(y, state, moment.time);
        }
    }

    /// A yarn yields against its last flow.
    pub(super) fn turn(&self, state: &mut State<T, Y, B>, y: usize, now: T) {
        let (plastic, surface) = (state.plastic[y], &mut state.surfaces[y]);
        surface.before += plastic * (2.0 * surface.way.sign());
        surface.way = surface.way.back();
        surface.since = now;
        surface.turns += 1;
        state.flows[y] = false;
    }
}
