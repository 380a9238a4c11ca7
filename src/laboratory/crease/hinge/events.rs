//! The events that a hinge meets on its way from the press to the reading.

use super::Real;
use crate::material::population;

/// Bits of an event: one a yarn.
const MOST_YARNS: usize = population::YARNS.len();

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
    /// It has come to rest after that and slips once more.
    SlipsAgain,
    /// It slips the other way, because the strain rises.
    SlipsUp,
    /// It yields against its fold at the release.
    Turns,
    /// It yields against its fold some time after the release.
    TurnsLater,
    /// It flows against its fold at the release.
    FlowsBack,
    /// It flows against its fold some time after the release.
    FlowsBackLater,
    /// It has turned and yields the other way once more.
    TurnsAgain,
    /// It flows after that.
    FlowsAgain,
}

/// The events that a hinge has met, and how far it is from others.
pub(in crate::laboratory::crease) struct Events<T> {
    met: u128,
    /// Excess, not positive, of events that were not met.
    missed: Vec<(u128, T)>,
    /// Whether anyone asks for what was missed after the release, which costs a search for the highest excess.
    pub(super) asked: bool,
}

impl<T: Real> Events<T> {
    /// None yet.
    pub(in crate::laboratory::crease) fn new() -> Events<T> {
        Events {
            met: 0,
            missed: Vec::new(),
            asked: true,
        }
    }

    /// For hinges whose events are known: nothing is noted of events that are missed after the release.
    pub(in crate::laboratory::crease) fn unasked() -> Events<T> {
        Events {
            asked: false,
            ..Events::new()
        }
    }

    pub(super) fn clear(&mut self) {
        self.met = 0;
        self.missed.clear();
    }

    fn bit(event: Event, yarn: usize) -> u128 {
        1 << (event as usize * MOST_YARNS + yarn)
    }

    pub(super) fn meet(&mut self, event: Event, yarn: usize) {
        self.met |= Self::bit(event, yarn);
    }

    pub(super) fn has_met(&self, event: Event, yarn: usize) -> bool {
        self.met & Self::bit(event, yarn) != 0
    }

    pub(super) fn miss(&mut self, event: Event, yarn: usize, excess: T) {
        self.missed.push((Self::bit(event, yarn), excess));
    }

    /// Whether an excess is positive, noted either way.
    pub(super) fn decide(&mut self, event: Event, yarn: usize, excess: T) -> bool {
        let met = excess.re() > 0.0;
        match met {
            true => self.meet(event, yarn),
            false => self.miss(event, yarn, excess),
        }
        met
    }

    /// Whether something happens to a yarn that needs its own time, or that a release in one step takes otherwise.
    pub(in crate::laboratory::crease) fn takes_its_time(&self) -> bool {
        use Event::{SlipsLater, SlipsUp, Turns, TurnsLater};
        let any = [SlipsLater, SlipsUp, Turns, TurnsLater];
        (0..MOST_YARNS).any(|yarn| any.iter().any(|event| self.has_met(*event, yarn)))
    }

    /// The events as one number: equal numbers, equal events.
    pub(in crate::laboratory::crease) fn met(&self) -> u128 {
        self.met
    }

    /// The excess nearest to zero of events that others met and this hinge did not.
    pub(in crate::laboratory::crease) fn nearest(&self, others: u128) -> Option<T> {
        let wanted = self.missed.iter().filter(|(bit, _)| others & bit != 0);
        let nearest = wanted.max_by(|a, b| a.1.re().total_cmp(&b.1.re()));
        nearest.map(|(_, excess)| *excess)
    }
}
