//! Whole folds under the hard law as roll-outs in tensors, on any device.
//!
//! The ends of the pieces of a fold are found in f64 on the CPU. The nodes of every piece are hinges of an ordinary
//! roll-out, each a point of its own, and the roll-out's own derivatives are those at fixed nodes. The ends move too:
//!
//! ```text
//! lost      = Σ weight·κ_res(node)                                   weight·: 720°/π·Δφ·w/(κ_a·√(1 + sin²φ))
//! ∂lost/∂p  = Σ weight·∂κ_res/∂p + Σ over ends (integrand before − integrand after)·∂φ/∂p
//! ```
//!
//! No node is at an end, so rounding decides no event, in f32 neither. Sums are taken in f64 on the CPU, in the order of
//! the nodes: a fold does not depend on what else is read.
//!
//! The number of steps from the release to the reading follows from a tolerance:
//!
//! - Without branches the state at the reading does not depend on the way there. One step takes the time, and steps of no
//!   duration follow: each brings the flow nearer to its end by a known factor.
//! - With branches a roll-out errs by the length of its steps. The error is extrapolated away from two numbers of steps,
//!   and both are doubled until that changes the angle no more.
//!
//! A hinge whose yarns slip later, slip the other way or turn has times of its own for that, which steps shared by all
//! hinges miss. Such pieces are integrated in f64 on the CPU, and so is a fold that would need too many steps.

mod plan;
mod stride;

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;

use plan::{Plan, plan};
use stride::{Stride, stride};

use crate::{
    error::{Result, bad_input},
    laboratory::{
        Readings,
        crease::{CreasePoint, CreaseTest, check_angles},
    },
    material::{Law, LawForm, ReadyMaterial},
    numeric::{Compute, Gate},
    rollout::{Rollout, RolloutPath},
};

/// With branches: the fewest steps to a reading.
const FEWEST_STEPS: usize = 32;
/// With branches: the most steps to a reading.
const MOST_STEPS: usize = 4096;
/// By how much an angle may change when the steps are doubled \[degrees\]. It then errs by about a third of that.
const SAME: f64 = 0.01;
impl CreaseTest {
    /// Recovery angle of each point \[degrees\] as a whole fold under the hard law, and where asked for its exact derivatives
    /// with the hinges that change from rest to slip, on any device. In f64 angles are within 0.01° of
    /// [`CreaseTest::exact`]. A fold that [`CreaseTest::exact`] cannot integrate is cut into hinges, as `self` and the gate of
    /// `material` say; its derivatives are then as good as the gate makes them (none under [`Gate::Hard`] for what moves
    /// thresholds).
    ///
    /// Not smooth where a threshold is at the crest: the angle then moves like a square root.
    pub fn simulate_whole(
        &self,
        material: &ReadyMaterial,
        points: &[CreasePoint],
        compute: &Compute,
        with_slopes: bool,
    ) -> Result<Readings> {
        let (law, values) = (material.law.clone(), &material.values);
        self.whole(compute, law, material.gate, points, values, with_slopes)
    }

    /// Recovery angle \[degrees\] of whole folds under the hard law and, where asked for, the exact Jacobian with the hinges
    /// that change from rest to slip, as roll-outs on the device of `compute`. In f64 angles are
    /// within 0.01° of [`CreaseTest::exact`].
    ///
    /// `parameters` are those of the law for all points, or a row per point, row-major `[points, parameters]`. A fold that
    /// [`CreaseTest::exact`] cannot integrate is cut into hinges, as `self` and `gate` say; its Jacobian is then as good as
    /// the gate makes it (none under [`Gate::Hard`] for what moves thresholds).
    ///
    /// Not smooth where a threshold is at the crest: the angle then moves like a square root.
    pub(crate) fn whole(
        &self,
        compute: &Compute,
        law: Arc<dyn Law>,
        gate: Gate,
        points: &[CreasePoint],
        parameters: &[f64],
        with_jacobian: bool,
    ) -> Result<Readings> {
        self.check(points)?;
        let width = law.parameters().len();
        let all = points.len() * width;
        if parameters.len() != width && parameters.len() != all {
            return bad_input(format!(
                "{} parameters were given for {} points of a law with {width}; give {width} or {all}",
                parameters.len(),
                points.len()
            ));
        }
        let rows = |i: usize| match parameters.len() == width {
            true => parameters,
            false => &parameters[i * width..][..width],
        };
        let folds = Folds {
            compute,
            law: &law,
            path: None,
        };
        let mut angles = vec![0.0; points.len()];
        let mut jacobian = vec![0.0; if with_jacobian { all } else { 0 }];
        let found = folds.read(points, &rows, with_jacobian)?;
        let mut open = Vec::new();
        for (i, found) in found.into_iter().enumerate() {
            match found {
                Some(Reading { angle, slopes }) => {
                    angles[i] = angle;
                    if with_jacobian {
                        jacobian[i * width..][..width].copy_from_slice(&slopes);
                    }
                }
                None => open.push(i),
            }
        }
        if !open.is_empty() {
            let points: Vec<CreasePoint> = open.iter().map(|&i| points[i]).collect();
            let values: Vec<f64> = open.iter().flat_map(|&i| rows(i)).copied().collect();
            let rollout = self.rollout(law, gate, &points)?;
            let values = compute.tensor(&values, [points.len(), width]);
            let curves = self.run(compute, &rollout, &points, values, with_jacobian)?;
            for (k, &i) in open.iter().enumerate() {
                angles[i] = curves.values[k];
                if with_jacobian {
                    let slopes = &curves.slopes[k * width..][..width];
                    jacobian[i * width..][..width].copy_from_slice(slopes);
                }
            }
        }
        check_angles(&angles, points, compute.precision())?;
        Ok(Readings {
            values: angles,
            slopes: jacobian,
        })
    }
}

/// A recovery angle \[degrees\] and its derivatives.
#[derive(Debug, Clone, Default, PartialEq)]
struct Reading {
    angle: f64,
    slopes: Vec<f64>,
}

/// Whole folds of a law on a device.
struct Folds<'a> {
    compute: &'a Compute,
    law: &'a Arc<dyn Law>,
    /// The way of the roll-outs; none for the usual one.
    path: Option<RolloutPath>,
}

impl Folds<'_> {
    /// None for folds that cannot be integrated.
    fn read<'a>(
        &self,
        points: &[CreasePoint],
        rows: &(dyn Fn(usize) -> &'a [f64] + Sync),
        with_slopes: bool,
    ) -> Result<Vec<Option<Reading>>> {
        let form = self.law.form();
        let each = points.par_iter().enumerate();
        let plans: Vec<Option<Plan>> = each
            .map(|(i, point)| plan(&form, rows(i), *point, with_slopes, true))
            .collect();
        let known: Vec<&Plan> = plans.iter().flatten().collect();
        let mut kept = match form.has_branches() {
            true => self.extrapolated(&form, &known, with_slopes)?,
            false => {
                let each = known.iter();
                let jobs: Vec<(&Plan, Stride)> =
                    each.map(|plan| (*plan, stride(&form, plan, 1))).collect();
                let kept = self.kept(&jobs, with_slopes)?;
                kept.into_iter().map(Some).collect()
            }
        }
        .into_iter();
        let mut readings = Vec::with_capacity(points.len());
        for known in &plans {
            readings.push(match known {
                None => None,
                Some(known) => match kept.next().flatten() {
                    Some(kept) => Some(known.rest.plus(-1.0, &kept)),
                    None => {
                        let Plan {
                            parameters, point, ..
                        } = *known;
                        let whole = plan(&form, parameters, point, with_slopes, false);
                        whole.map(|whole| whole.rest)
                    }
                },
            });
        }
        Ok(readings)
    }

    /// What the nodes of folds with relaxation branches keep, extrapolated to infinitely many steps. None where the most
    /// steps are too few.
    fn extrapolated(
        &self,
        form: &LawForm,
        plans: &[&Plan],
        with_slopes: bool,
    ) -> Result<Vec<Option<Reading>>> {
        let kept = |folds: &[usize], steps: &dyn Fn(usize) -> usize, with_slopes: bool| {
            let each = folds.iter().enumerate();
            let jobs: Vec<(&Plan, Stride)> = each
                .map(|(i, &k)| (plans[k], stride(form, plans[k], steps(i))))
                .collect();
            self.kept(&jobs, with_slopes)
        };
        let limit = |fine: &Reading, coarse: &Reading| fine.plus(1.0, &fine.plus(-1.0, coarse));
        let mut steps = FEWEST_STEPS;
        let mut open: Vec<usize> = (0..plans.len()).collect();
        let mut coarse = kept(&open, &|_| steps, false)?;
        let mut before: Vec<Option<f64>> = vec![None; open.len()];
        let mut done: Vec<Option<(usize, Reading)>> = vec![None; plans.len()];
        while !open.is_empty() && steps < MOST_STEPS {
            steps *= 2;
            let fine = kept(&open, &|_| steps, false)?;
            let mut next = (Vec::new(), Vec::new(), Vec::new());
            for (i, fine) in fine.into_iter().enumerate() {
                let limit = limit(&fine, &coarse[i]);
                if before[i].is_some_and(|before| (limit.angle - before).abs() < SAME) {
                    done[open[i]] = Some((steps, limit));
                } else {
                    next.0.push(open[i]);
                    next.1.push(fine);
                    next.2.push(Some(limit.angle));
                }
            }
            (open, coarse, before) = next;
        }
        if with_slopes {
            let each = done.iter().enumerate();
            let (folds, steps): (Vec<usize>, Vec<usize>) = each
                .filter_map(|(k, done)| Some((k, done.as_ref()?.0)))
                .unzip();
            let fine = kept(&folds, &|i| steps[i], true)?;
            let coarse = kept(&folds, &|i| steps[i] / 2, true)?;
            for (i, &k) in folds.iter().enumerate() {
                done[k] = Some((steps[i], limit(&fine[i], &coarse[i])));
            }
        }
        let reading = |done: Option<(usize, Reading)>| done.map(|(_, reading)| reading);
        Ok(done.into_iter().map(reading).collect())
    }

    /// What the nodes of every fold keep \[degrees\], and its derivatives at fixed nodes.
    fn kept(&self, jobs: &[(&Plan, Stride)], with_slopes: bool) -> Result<Vec<Reading>> {
        let mut groups: BTreeMap<Stride, Vec<usize>> = BTreeMap::new();
        for (k, (plan, stride)) in jobs.iter().enumerate() {
            if !plan.nodes.is_empty() {
                groups.entry(*stride).or_default().push(k);
            }
        }
        let width = self.law.parameters().len();
        let nothing = Reading {
            angle: 0.0,
            slopes: vec![0.0; if with_slopes { width } else { 0 }],
        };
        let mut found = vec![nothing; jobs.len()];
        for (stride, members) in groups {
            let plans: Vec<&Plan> = members.iter().map(|&k| jobs[k].0).collect();
            let (strains, slopes) = self.strains(&plans, &stride, with_slopes)?;
            let mut hinge = 0;
            for (&k, plan) in members.iter().zip(&plans) {
                for node in &plan.nodes {
                    found[k].angle += node.weight * strains[hinge];
                    let slopes = slopes.iter().skip(hinge * width);
                    for (sum, slope) in found[k].slopes.iter_mut().zip(slopes) {
                        *sum += node.weight * slope;
                    }
                    hinge += 1;
                }
            }
        }
        Ok(found)
    }

    /// The curvature that every node keeps \[1/m\], and where asked for its derivatives, row-major `[nodes, parameters]`.
    fn strains(
        &self,
        plans: &[&Plan],
        stride: &Stride,
        with_slopes: bool,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let compute = self.compute;
        let (mut amplitude, mut duration, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for plan in plans {
            for node in &plan.nodes {
                amplitude.push(node.curvature);
                duration.push(plan.point.press);
                rows.extend_from_slice(plan.parameters);
            }
        }
        let nodes = amplitude.len();
        // Every node has a row of parameters of its own, so that its derivatives come apart from those of others.
        let rollout = Rollout {
            law: self.law.clone(),
            gate: Gate::Hard,
            schedule: stride.schedule(compute.precision()),
            points: nodes,
            hinges: 1,
            amplitude,
            duration,
        };
        rollout.check()?;
        let path = self.path.unwrap_or_else(|| rollout.path());
        let rows = compute.tensor(&rows, [nodes, rows.len() / nodes]);
        if !with_slopes {
            let strains = rollout.forward_by(path, compute, rows);
            return Ok((compute.values(strains)?, Vec::new()));
        }
        let each = compute.tensor(&vec![1.0; nodes], [nodes, 1, 1]);
        let (strains, slopes) = rollout.linearized_by(path, compute, rows, each);
        Ok((compute.values(strains)?, compute.values(slopes)?))
    }
}

impl Reading {
    /// This one and a multiple of another.
    fn plus(&self, factor: f64, other: &Reading) -> Reading {
        let slopes = self.slopes.iter().zip(&other.slopes);
        Reading {
            angle: self.angle + factor * other.angle,
            slopes: slopes.map(|(a, b)| a + factor * b).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
