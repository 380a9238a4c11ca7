//! What the hinges of a fold do under the hard law: which slip when released, which have yielded.

use std::{ops::ControlFlow, sync::Arc};

use crate::{
    error::Result,
    fit::problem::Calibration,
    laboratory::{Condition, CreasePoint, CreaseTest},
    material::Law,
    numeric::{Compute, Gate},
    rollout::{Rollout, StepKind, sweep},
    sensitivity::regime::Shares,
};

/// Hinges along the fold: shares to a thirty-second are enough to tell regimes apart.
const HINGES: usize = 32;
/// Movements below this share of a fold's curvature are rounding.
const ROUNDING: f64 = 1e-9;

/// The folds of all recovery conditions.
pub(super) struct ShareTest {
    rollout: Rollout,
    /// Group of each fold.
    groups: Vec<usize>,
    /// Where the law's history has friction's anchor and the plastic strain.
    anchor: Option<usize>,
    plastic: Option<usize>,
    /// First step of the release.
    release: usize,
}

impl ShareTest {
    /// None without a recovery test, or for a law that neither slips nor yields.
    pub(crate) fn new(
        calibration: &Calibration,
        conditions: &[(usize, Condition)],
    ) -> Result<Option<ShareTest>> {
        let law: Arc<dyn Law> = calibration.law().clone();
        let folds = conditions
            .iter()
            .filter_map(|(group, condition)| Some((*group, CreasePoint::of(condition)?)));
        let (groups, points): (Vec<usize>, Vec<CreasePoint>) = folds.unzip();
        let names = law.history();
        let place = |name: &str| names.iter().position(|n| n == name);
        let (anchor, plastic) = (place("anchor"), place("plastic"));
        if points.is_empty() || (anchor.is_none() && plastic.is_none()) {
            return Ok(None);
        }
        let test = CreaseTest {
            hinges: HINGES,
            fold_steps: 1,
            hold_steps: 1,
            snap_steps: 1,
            read_steps: 1,
        };
        let rollout = test.rollout(law, Gate::Hard, &points)?;
        let is_release = |s: &crate::rollout::Step| matches!(s.motion, StepKind::Release);
        let release = rollout.schedule.steps.iter().position(is_release);
        Ok(Some(ShareTest {
            release: release.unwrap_or(0),
            rollout,
            groups,
            anchor,
            plastic,
        }))
    }

    /// Shares at every fold for many sets of parameters; `sets[s][group]` are those of a group.
    pub(crate) fn run(
        &self,
        compute: &Compute,
        sets: &[Vec<Vec<f64>>],
    ) -> Result<Vec<Vec<Shares>>> {
        let batch = self.rollout.repeated(sets.len());
        let rows: Vec<f64> = sets
            .iter()
            .flat_map(|set| self.groups.iter().flat_map(|g| set[*g].iter().copied()))
            .collect();
        let width = rows.len() / batch.points;
        let parameters = compute.tensor(&rows, [batch.points, width]);
        let (mut held, mut end) = (None, None);
        sweep::trace(&batch, compute, parameters, |k, _, state| {
            let variable = |place: Option<usize>| place.map(|i| state.history[i].clone());
            if k + 1 == self.release {
                held = Some((variable(self.anchor), variable(self.plastic)));
            }
            if k + 1 == batch.schedule.steps.len() {
                end = variable(self.anchor);
            }
            ControlFlow::Continue(())
        });
        let (anchor, plastic) = held.unwrap_or((None, None));
        let zeros = || vec![0.0; batch.amplitude.len()];
        let values = |field: Option<crate::numeric::Field>| match field {
            Some(field) => compute.values(field),
            None => Ok(zeros()),
        };
        let (before, after, plastic) = (values(anchor)?, values(end)?, values(plastic)?);
        let share = |first: usize, moved: &dyn Fn(usize) -> f64| {
            let hinges = first..first + batch.hinges;
            let count = hinges
                .filter(|&i| moved(i).abs() > ROUNDING * batch.amplitude[i])
                .count();
            count as f64 / batch.hinges as f64
        };
        let shares = |point: usize| Shares {
            slips: share(point * batch.hinges, &|i| after[i] - before[i]),
            yields: share(point * batch.hinges, &|i| plastic[i]),
        };
        let all: Vec<Shares> = (0..batch.points).map(shares).collect();
        Ok(all
            .chunks_exact(self.groups.len())
            .map(<[Shares]>::to_vec)
            .collect())
    }
}
