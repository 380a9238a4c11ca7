//! How folds are stepped from the release to their readings.

use super::plan::Plan;
use crate::{
    laboratory::crease::{CREST_CURVATURE, CreasePoint, OVERSHOOT},
    material::{LawForm, Source},
    numeric::Precision,
    rollout::{HingeReading, Schedule, Step, log_times},
};

/// Share of a flow that its last steps may leave undone; 1e-6 of a fold is 0.0002°.
const UNFLOWED: f64 = 1e-6;
/// Most steps of no duration that let a flow end.
const MOST_SETTLES: f64 = 1024.0;
/// The first step is that share of the time of the fastest branch, or of the reading time.
const FIRST: f64 = 1e-3;

/// How a fold is stepped from the release to its reading. Ordered, so that equal ones are rolled out together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stride {
    /// Reading time and start of the even steps in log time \[s\], as bits: floats do not order.
    read: u64,
    first: u64,
    steps: usize,
    /// Steps of no duration at the end.
    settles: usize,
}

impl Stride {
    /// Fold, hold, release and creep to the reading.
    pub(super) fn schedule(&self, precision: Precision) -> Schedule {
        // Far above rounding, and too little to move a threshold past a node: see `OVERSHOOT`.
        let beyond = match precision {
            Precision::F64 => 1.0 + 1e-10,
            Precision::F32 => OVERSHOOT,
        };
        let mut steps = vec![
            Step::prescribe(beyond, 0.0),
            Step::dwell(1.0, 1.0),
            Step::prescribe(1.0, 0.0),
            Step::release(0.0),
        ];
        let [read, first] = [self.read, self.first].map(f64::from_bits);
        let mut now = 0.0;
        for time in log_times(first, read, self.steps) {
            steps.push(Step::release(time - now));
            now = time;
        }
        steps.extend(vec![Step::release(0.0); self.settles]);
        Schedule {
            readings: vec![steps.len() - 1],
            steps,
            reading: HingeReading::Strain,
        }
    }
}

/// How a fold is stepped after its release.
pub(super) fn stride(form: &LawForm, plan: &Plan, steps: usize) -> Stride {
    let CreasePoint { gap, read, .. } = plan.point;
    let branches: &[[Source; 2]] = match form {
        LawForm::TimeDependent { branches, .. } => branches,
        LawForm::Dahl => &[],
    };
    let settles = settles(form, plan.parameters, CREST_CURVATURE / gap).unwrap_or_default();
    if settles == 0 {
        // Nothing happens after the release.
        let (read, first) = (0, 0);
        return Stride {
            read,
            first,
            steps: 0,
            settles,
        };
    }
    let fastest = branches.iter().map(|[_, time]| time.value(plan.parameters));
    Stride {
        read: read.to_bits(),
        first: (FIRST * fastest.fold(read, f64::min)).to_bits(),
        steps,
        // Few different numbers, so that folds of different laws go together.
        settles: settles.next_power_of_two(),
    }
}

/// How many steps of no duration let a flow end; 0 where nothing flows after the release and no branch relaxes. None where
/// there would be too many.
pub(super) fn settles(form: &LawForm, parameters: &[f64], crest: f64) -> Option<usize> {
    let LawForm::TimeDependent {
        base,
        spreads,
        branches,
    } = form
    else {
        return Some(0);
    };
    let of = |source: Source| source.value(parameters);
    let [bending, friction, .., yields, hardening, drop, _] = base.map(of);
    let stiffness: f64 = branches.iter().map(|[stiffness, _]| of(*stiffness)).sum();
    // A yarn of its own is strained elastically by K_f/(K_b + K_f)·(ε̄ − ε_p) after the release.
    let alone = spreads.is_none() && branches.is_empty();
    if alone && friction / (bending + friction) * crest <= yields {
        return Some(0);
    }
    // With K_h/K_b fallen as low as it can, a step leaves this share of the excess over the yield surface.
    let held = bending / (bending + friction + stiffness);
    let left = held / (1.0 + hardening / bending * (1.0 - drop).max(0.0));
    let count = (UNFLOWED.ln() / left.ln()).ceil();
    // A quotient that is negative, infinite or no number belongs to a share that is not below one.
    (0.0..=MOST_SETTLES)
        .contains(&count)
        .then_some(count.max(1.0) as usize)
}
