//! One hinge of a fold from the press to the reading under the hard law, for any number of yarns and relaxation
//! branches.
//!
//! The fold and the release take no time. Between them a hinge rests at its curvature, so all that happens has a
//! closed form. Without branches the creep after the release has one too, because every yarn's plastic strain follows
//! the yield surface, which shrinks as time goes on. With branches the strain changes while they relax:
//!
//! ```text
//! q̇_i = (ε − q_i)/τ_i
//! 0   = K_b·Σ w·(ε − ε_p) + K_f·Σ_rest w·(ε − ε̄) − K_f·Σ_slide w·ε_0 + Σ K_i·(ε − q_i)
//! ```
//!
//! A resting yarn slips when ε̄ − ε passes its threshold. It then slides with ε̄ − ε = ε_0 for as long as the strain falls:
//! Algorithm 1 of paper 1 compares with the threshold before a step, and every slip resets the dwell. It rests again
//! when the strain rises. A rise that is fast enough makes a yarn slip and slide the other way. Between two such events
//! the branches relax exactly where no yarn flows (`creep`).
//!
//! A yarn that yields against its last flow turns: that resets its flow timer, and its yield surface grows to that of
//! K_h0 at once. Once the strain is beyond this surface too, or the surface has shrunk to the strain, the yarn flows the
//! other way. All this is the limit of small steps of the strain.

mod course;
mod creep;
mod crossing;
mod events;
mod modes;
mod release;
mod search;
#[cfg(test)]
mod tests;

use num_dual::DualNum;

use super::CreasePoint;
use crate::material::population;
pub(super) use events::Events;

/// A number, or a dual number with derivatives.
pub(super) trait Real: DualNum<Primitive = f64> + Copy {}
impl<T: DualNum<Primitive = f64> + Copy> Real for T {}

/// Rates of two branches that are nearer to each other than this share are moved apart by it, because the modes of
/// equal branches have no derivatives. The angle changes by a similar share at most.
const APART: f64 = 1e-5;
/// The softest branch, as a share of the bending rigidity: a mode without stiffness is 0/0.
const SOFTEST: f64 = 1e-9;

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
    /// 1/τ.
    rate: T,
    /// Share of the curvature that it has taken at the release.
    taken: T,
}

/// What all hinges of a fold are made of.
struct Cloth<T, const Y: usize, const B: usize> {
    bending: T,
    friction: T,
    yields: T,
    hardening: T,
    drop: T,
    yarns: [Yarn<T>; Y],
    /// At most `B`, in the order of their rates.
    branches: Vec<Branch<T>>,
    press: f64,
}

/// All hinges of a fold.
pub(super) struct Hinges<T, const Y: usize, const B: usize> {
    cloth: Cloth<T, Y, B>,
    /// The same without derivatives.
    plain: Cloth<f64, Y, B>,
    read: f64,
    /// K_h/K_b of every yarn at the reading, unless it has turned.
    at_reading: [T; Y],
    /// Times after the release or a slip at which the creep is looked at; none where the reading is at the release.
    looks: Vec<f64>,
}

/// Where a strain goes.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Down,
    Up,
}

impl Way {
    fn sign(self) -> f64 {
        match self {
            Way::Down => -1.0,
            Way::Up => 1.0,
        }
    }

    fn back(self) -> Way {
        match self {
            Way::Down => Way::Up,
            Way::Up => Way::Down,
        }
    }
}

/// How a yarn's friction stands.
#[derive(Clone, Copy)]
enum Grip<T> {
    /// At rest at this anchor since the fold, or since a time after the release.
    Rests(T, Option<T>),
    /// Sliding with a strain that goes this way.
    Slides(Way),
}

/// The yield surface of a yarn: ε_Y0 + a·K_h/K_b, with a the plastic strain that has accumulated.
#[derive(Clone, Copy)]
struct Surface<T> {
    /// Where the plastic strain went last: up in the fold, down once the yarn has turned.
    way: Way,
    /// When the yarn turned, which resets its flow timer; before the release where the timer began with the fold.
    since: T,
    /// a less the plastic strain that counts for the way: it only changes when the yarn turns.
    before: T,
    /// How often the yarn has turned.
    turns: usize,
}

impl<T: Real> Grip<T> {
    fn anchor(&self) -> Option<T> {
        match *self {
            Grip::Rests(anchor, _) => Some(anchor),
            Grip::Slides(_) => None,
        }
    }

    fn plain(&self) -> Grip<f64> {
        match self {
            Grip::Rests(anchor, since) => Grip::Rests(anchor.re(), since.map(|since| since.re())),
            Grip::Slides(way) => Grip::Slides(*way),
        }
    }
}

/// A hinge at a time.
#[derive(Clone, Copy)]
struct State<T, const Y: usize, const B: usize> {
    strain: T,
    grips: [Grip<T>; Y],
    plastic: [T; Y],
    surfaces: [Surface<T>; Y],
    /// Yarns whose plastic strain follows the yield surface.
    flows: [bool; Y],
    /// Strains of the branches.
    branches: [T; B],
}

/// The moment of a hinge: slope·ε − pull, less what the branches hold.
#[derive(Clone, Copy)]
struct Balance<T> {
    slope: T,
    pull: T,
}

fn none<T: Real>() -> T {
    T::from(0.0)
}

impl<T: Real> Surface<T> {
    /// The plastic strain that has accumulated.
    fn accumulated(&self, plastic: T) -> T {
        plastic * self.way.sign() + self.before
    }

    fn plain(&self) -> Surface<f64> {
        Surface {
            way: self.way,
            since: self.since.re(),
            before: self.before.re(),
            turns: self.turns,
        }
    }
}

impl<T: Real> Yarn<T> {
    /// Threshold after so long a rest.
    fn threshold(&self, rested: T) -> T {
        self.saturated - (self.saturated - self.initial) * (-(rested / self.dwell)).exp()
    }

    fn plain(&self) -> Yarn<f64> {
        Yarn {
            weight: self.weight,
            initial: self.initial.re(),
            saturated: self.saturated.re(),
            dwell: self.dwell.re(),
            flow: self.flow.re(),
            threshold: self.threshold.re(),
            pressed: self.pressed.re(),
        }
    }
}

/// The branches of a fabric in the order of their rates.
fn branches<T: Real>(fabric: &Fabric<T>, press: f64) -> Vec<Branch<T>> {
    let softest = fabric.base[0] * SOFTEST;
    let branch = |&[stiffness, time]: &[T; 2]| Branch {
        stiffness: match stiffness.re() < softest.re() {
            true => softest,
            false => stiffness,
        },
        rate: time.recip(),
        taken: -(-(time.recip() * press)).exp() + 1.0,
    };
    let mut branches: Vec<Branch<T>> = fabric.branches.iter().map(branch).collect();
    branches.sort_by(|a, b| a.rate.re().total_cmp(&b.rate.re()));
    for i in 1..branches.len() {
        let least = branches[i - 1].rate.re() * (1.0 + APART);
        let short = least - branches[i].rate.re();
        if short > 0.0 {
            branches[i].rate += short;
        }
    }
    branches
}

impl<T: Real, const Y: usize, const B: usize> Cloth<T, Y, B> {
    fn new(fabric: &Fabric<T>, press: f64) -> Cloth<T, Y, B> {
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
        let mut cloth = Cloth {
            bending,
            friction,
            yields,
            hardening,
            drop,
            yarns,
            branches: branches(fabric, press),
            press,
        };
        for y in 0..Y {
            let (pressed, _) = cloth.ratio(y, &cloth.unturned(), none());
            let yarn = &mut cloth.yarns[y];
            (yarn.threshold, yarn.pressed) = (yarn.threshold(T::from(press)), pressed);
        }
        cloth
    }

    fn plain(&self) -> Cloth<f64, Y, B> {
        let branch = |branch: &Branch<T>| Branch {
            stiffness: branch.stiffness.re(),
            rate: branch.rate.re(),
            taken: branch.taken.re(),
        };
        Cloth {
            bending: self.bending.re(),
            friction: self.friction.re(),
            yields: self.yields.re(),
            hardening: self.hardening.re(),
            drop: self.drop.re(),
            yarns: std::array::from_fn(|y| self.yarns[y].plain()),
            branches: self.branches.iter().map(branch).collect(),
            press: self.press,
        }
    }

    /// The surface of a yarn that has yielded in the fold at most.
    fn unturned(&self) -> Surface<T> {
        Surface {
            way: Way::Up,
            since: T::from(-self.press),
            before: none(),
            turns: 0,
        }
    }

    /// K_h/K_b of a yarn at a time after the release, and how fast it falls.
    fn ratio(&self, y: usize, surface: &Surface<T>, time: T) -> (T, T) {
        let flow = self.yarns[y].flow.recip();
        let timer = time - surface.since;
        let faded = (-timer * flow).exp();
        let whole = self.hardening / self.bending;
        let dropped = whole * self.drop;
        (whole - dropped * (-faded + 1.0), dropped * faded * flow)
    }

    /// Threshold of a resting yarn at a time after the release.
    fn threshold(&self, y: usize, since: Option<T>, time: T) -> T {
        match since {
            None => self.yarns[y].threshold(time + self.press),
            Some(since) => self.yarns[y].threshold(time - since),
        }
    }

    /// Slope and pull of bending, friction and branches at a state's plastic strains, without the yarns that flow.
    fn balance(&self, state: &State<T, Y, B>) -> Balance<T> {
        let mut balance = Balance {
            slope: self.bending,
            pull: none(),
        };
        for branch in &self.branches {
            balance.slope += branch.stiffness;
        }
        for (y, yarn) in self.yarns.iter().enumerate() {
            let share = self.friction * yarn.weight;
            if !state.flows[y] {
                balance.pull += self.bending * yarn.weight * state.plastic[y];
            }
            match state.grips[y] {
                Grip::Rests(anchor, _) => {
                    balance.slope += share;
                    balance.pull += share * anchor;
                }
                Grip::Slides(way) => balance.pull -= share * yarn.initial * way.sign(),
            }
        }
        balance
    }

    fn held_by_branches(&self, strains: &[T; B]) -> T {
        let each = self.branches.iter().zip(strains);
        each.fold(none(), |sum, (branch, strain)| {
            sum + branch.stiffness * *strain
        })
    }
}

impl<T: Real, const Y: usize, const B: usize> Hinges<T, Y, B> {
    /// `growth` is by how much every step after the release is longer than the one before.
    pub(super) fn new(fabric: &Fabric<T>, point: &CreasePoint, growth: f64) -> Hinges<T, Y, B> {
        let cloth = Cloth::new(fabric, point.press);
        let plain: Cloth<f64, Y, B> = cloth.plain();
        Hinges {
            looks: creep::looks(&plain, point.read, growth),
            plain,
            read: point.read,
            at_reading: std::array::from_fn(|y| {
                cloth.ratio(y, &cloth.unturned(), T::from(point.read)).0
            }),
            cloth,
        }
    }

    /// The curvature that a hinge has kept at the reading. `None` where rounding makes events without end.
    pub(super) fn kept(&self, curvature: T, events: &mut Events<T>) -> Option<T> {
        events.clear();
        let state = self.released(curvature, events);
        if self.looks.is_empty() {
            return Some(state.strain);
        }
        let at_once = match self.cloth.branches.is_empty() {
            true => self.crept_at_once(&state, events),
            false => None,
        };
        at_once.or_else(|| self.crept(state, events))
    }
}
