//! What the hinges of a fold do under the hard law: which slip when released, which have yielded.

use std::{ops::ControlFlow, sync::Arc};

use super::{CreasePoint, CreaseTest};
use crate::{
    error::Result,
    laboratory::{Condition, ShareTest, Shares},
    material::Law,
    numeric::{Compute, Gate},
    rollout::{Rollout, StepKind, sweep},
};

/// Hinges along the fold: shares to a thirty-second are enough to tell regimes apart.
const HINGES: usize = 32;
/// Movements below this share of a fold's curvature are rounding.
const ROUNDING: f64 = 1e-9;

/// The folds of all recovery conditions.
pub(super) struct Folds {
    rollout: Rollout,
    conditions: Vec<usize>,
    /// Group of each fold.
    groups: Vec<usize>,
    /// First step of the release.
    release: usize,
}

impl Folds {
    /// None without a recovery test, or for a law that neither slips nor yields.
    pub(super) fn new(law: &Arc<dyn Law>, all: &[(usize, Condition)]) -> Result<Option<Folds>> {
        let (mut conditions, mut groups, mut points) = (Vec::new(), Vec::new(), Vec::new());
        for (i, (group, condition)) in all.iter().enumerate() {
            if let Some(point) = CreasePoint::of(condition) {
                conditions.push(i);
                groups.push(*group);
                points.push(point);
            }
        }
        let names = law.history();
        let slips_or_yields = |n: &String| ["anchor", "plastic"].iter().any(|end| n.ends_with(end));
        if points.is_empty() || !names.iter().any(slips_or_yields) {
            return Ok(None);
        }
        let test = CreaseTest {
            hinges: HINGES,
            fold_steps: 1,
            hold_steps: 1,
            snap_steps: 1,
            read_steps: 1,
        };
        let rollout = test.rollout(law.clone(), Gate::Hard, &points)?;
        let is_release = |s: &crate::rollout::Step| matches!(s.motion, StepKind::Release);
        let release = rollout.schedule.steps.iter().position(is_release);
        Ok(Some(Folds {
            conditions,
            release: release.unwrap_or(0),
            rollout,
            groups,
        }))
    }
}

impl ShareTest for Folds {
    fn conditions(&self) -> &[usize] {
        &self.conditions
    }

    fn run(&self, compute: &Compute, sets: &[Vec<Vec<f64>>]) -> Result<Vec<Vec<Shares>>> {
        let batch = self.rollout.repeated(sets.len());
        let rows: Vec<f64> = sets
            .iter()
            .flat_map(|set| self.groups.iter().flat_map(|g| set[*g].iter().copied()))
            .collect();
        let width = rows.len() / batch.points;
        let parameters = compute.tensor(&rows, [batch.points, width]);
        let (mut held, mut end) = (None, None);
        sweep::trace(&batch, compute, parameters, |k, _, state| {
            let variable = |name: &str| batch.law.variable(&state.history, name);
            if k + 1 == self.release {
                held = Some((variable("anchor"), variable("plastic")));
            }
            if k + 1 == batch.schedule.steps.len() {
                end = variable("anchor");
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
