//! A block's memory: one array a variable, so that a loop over lanes reads and writes them in order.

use super::{
    lane::{Coefficients, LaneState, Saved},
    real::Real,
};

/// Hinges a block. 16 to 64 measured alike; 32 was best for both precisions on Zen 3.
pub(crate) const LANES: usize = 32;
/// Parameters of the law.
pub(crate) const PARAMETERS: usize = 9;

/// One number for each lane of a block.
pub(crate) type Lanes<R> = [R; LANES];

/// State of a block, one array a variable, in the order of [`LaneState`].
#[derive(Clone, Copy)]
pub(crate) struct LaneRow<R> {
    /// In the order of [`LaneState`].
    pub state: [Lanes<R>; 8],
    /// In the order of [`Saved`].
    pub saved: [Lanes<R>; 4],
}

impl<R: Real> LaneRow<R> {
    /// All zero.
    pub(crate) fn zeros() -> Self {
        LaneRow {
            state: [[R::default(); LANES]; 8],
            saved: [[R::default(); LANES]; 4],
        }
    }

    /// One lane of the state.
    #[inline(always)]
    pub(crate) fn hinge(&self, i: usize) -> LaneState<R> {
        let s = &self.state;
        LaneState {
            strain: s[0][i],
            anchor: s[1][i],
            stick_time: s[2][i],
            plastic: s[3][i],
            accumulated: s[4][i],
            flow_time: s[5][i],
            flow_direction: s[6][i],
            yield_strain: s[7][i],
        }
    }

    /// The inverse of [`LaneRow::hinge`].
    #[inline(always)]
    pub(crate) fn set(&mut self, i: usize, hinge: LaneState<R>) {
        let s = &mut self.state;
        s[0][i] = hinge.strain;
        s[1][i] = hinge.anchor;
        s[2][i] = hinge.stick_time;
        s[3][i] = hinge.plastic;
        s[4][i] = hinge.accumulated;
        s[5][i] = hinge.flow_time;
        s[6][i] = hinge.flow_direction;
        s[7][i] = hinge.yield_strain;
    }

    /// One lane of what an update saved.
    #[inline(always)]
    pub(crate) fn saved(&self, i: usize) -> Saved<R> {
        Saved {
            fresh: self.saved[0][i],
            slip: self.saved[1][i],
            yielding: self.saved[2][i],
            fading: self.saved[3][i],
        }
    }
}

/// One lane of coefficients, or of their adjoint.
#[inline(always)]
pub(crate) fn load<R: Real>(c: &[Lanes<R>; 10], i: usize) -> Coefficients<R> {
    Coefficients {
        bending: c[0][i],
        friction: c[1][i],
        threshold_initial: c[2][i],
        threshold_saturated: c[3][i],
        inverse_dwell: c[4][i],
        yield_initial: c[5][i],
        hardening: c[6][i],
        drop: c[7][i],
        inverse_flow: c[8][i],
        inverse_bending: c[9][i],
    }
}

/// The inverse of [`load`].
#[inline(always)]
pub(crate) fn store<R: Real>(c: &mut [Lanes<R>; 10], i: usize, lane: &Coefficients<R>) {
    c[0][i] = lane.bending;
    c[1][i] = lane.friction;
    c[2][i] = lane.threshold_initial;
    c[3][i] = lane.threshold_saturated;
    c[4][i] = lane.inverse_dwell;
    c[5][i] = lane.yield_initial;
    c[6][i] = lane.hardening;
    c[7][i] = lane.drop;
    c[8][i] = lane.inverse_flow;
    c[9][i] = lane.inverse_bending;
}
