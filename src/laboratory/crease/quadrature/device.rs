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
//! With branches a yarn can also slip the other way, when its strain rises faster than its threshold. The roll-out takes
//! such a slip. The quadrature does not know its place in the fold, so derivatives lack the movement of that place.
//!
//! A fold for which such steps would be too many is integrated in f64 on the CPU.
//!
//! A hinge that slips some time after the release has a time of its own for it. Steps that all hinges share take its slip
//! at their end, so that the derivatives of the roll-out lack the movement of that time. Such pieces (laws with branches
//! only) are integrated in f64 on the CPU.

use std::{collections::BTreeMap, f64::consts::PI, sync::Arc};

use rayon::prelude::*;

use super::{
    End, Keeps, Number, USUAL, WIDTH, YARNS, cuts, dual, ends, grades, has_branches, keeper, lost,
    moved, scout, spans,
};
use crate::{
    error::{Result, bad_input},
    laboratory::crease::{
        CREST_CURVATURE, CreaseCurves, CreasePoint, CreaseTest, OVERSHOOT, check_angles,
        hinge::{Event, Events},
    },
    material::{Law, LawForm, Source},
    numeric::{Compute, Gate, Precision},
    rollout::{HingeReading, Rollout, RolloutPath, Schedule, Step, log_times},
};

/// Share of a flow that its last steps may leave undone; 1e-6 of a fold is 0.0002°.
const UNFLOWED: f64 = 1e-6;
/// Most steps of no duration that let a flow end.
const MOST_SETTLES: f64 = 1024.0;
/// With branches: the fewest steps to a reading.
const FEWEST_STEPS: usize = 32;
/// With branches: the most steps to a reading.
const MOST_STEPS: usize = 4096;
/// By how much an angle may change when the steps are doubled \[degrees\]. It then errs by about a third of that.
const SAME: f64 = 0.01;
/// The first step is that share of the time of the fastest branch, or of the reading time.
const FIRST: f64 = 1e-3;

impl CreaseTest {
    /// Recovery angle \[degrees\] of whole folds under the hard law and, where asked for, the exact Jacobian with the hinges
    /// that change from rest to slip, as roll-outs on the device of `compute`. In f64 angles are
    /// within 0.01° of [`CreaseTest::exact`], unless a yarn slips forwards while branches relax (docs/MODEL.md).
    ///
    /// `parameters` are those of the law for all points, or a row per point, row-major `[points, parameters]`. A fold in
    /// which a yarn would yield against its fold is cut into hinges, as `self` and `gate` say; its Jacobian is then as good
    /// as the gate makes it (none under [`Gate::Hard`] for what moves thresholds).
    ///
    /// Not smooth where a threshold is at the crest: the angle then moves like a square root.
    pub fn whole(
        &self,
        compute: &Compute,
        law: Arc<dyn Law>,
        gate: Gate,
        points: &[CreasePoint],
        parameters: &[f64],
        with_jacobian: bool,
    ) -> Result<CreaseCurves> {
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
                angles[i] = curves.angles[k];
                if let Some(slopes) = &curves.jacobian {
                    jacobian[i * width..][..width].copy_from_slice(&slopes[k * width..][..width]);
                }
            }
        }
        check_angles(&angles, points, compute.precision())?;
        Ok(CreaseCurves {
            angles,
            jacobian: with_jacobian.then_some(jacobian),
        })
    }
}

/// A recovery angle \[degrees\] and its derivatives.
#[derive(Debug, Clone, Default, PartialEq)]
struct Reading {
    angle: f64,
    slopes: Vec<f64>,
}

/// A hinge of a roll-out.
struct Node {
    curvature: f64,
    /// ∂lost/∂κ_res.
    weight: f64,
}

/// A fold before its roll-out.
struct Plan<'a> {
    point: CreasePoint,
    parameters: &'a [f64],
    nodes: Vec<Node>,
    /// The angle without what the nodes keep, with the derivatives of that and of the ends.
    rest: Reading,
}

/// How a fold is stepped from the release to its reading. Ordered, so that equal ones are rolled out together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stride {
    /// Reading time and start of the even steps in log time \[s\], as bits: floats do not order.
    read: u64,
    first: u64,
    steps: usize,
    /// Steps of no duration at the end.
    settles: usize,
}

/// Whole folds of a law on a device.
struct Folds<'a> {
    compute: &'a Compute,
    law: &'a Arc<dyn Law>,
    /// The way of the roll-outs; none for the usual one.
    path: Option<RolloutPath>,
}

impl Folds<'_> {
    /// None for folds in which a yarn would yield against its fold.
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
        let mut kept = match has_branches(&form) {
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
        let path = self.path.unwrap_or_else(|| rollout.path(compute));
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

impl Stride {
    /// Fold, hold, release and creep to the reading.
    fn schedule(&self, precision: Precision) -> Schedule {
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
fn stride(form: &LawForm, plan: &Plan, steps: usize) -> Stride {
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
fn settles(form: &LawForm, parameters: &[f64], crest: f64) -> Option<usize> {
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

/// The nodes of a fold, and what the CPU finds of it: the whole fold, unless some of it is to be rolled out. `None` where a
/// yarn would yield against its fold.
fn plan<'a>(
    form: &LawForm,
    parameters: &'a [f64],
    point: CreasePoint,
    with_slopes: bool,
    rolls_out: bool,
) -> Option<Plan<'a>> {
    let fineness = &*USUAL;
    let crest = CREST_CURVATURE / point.gap;
    let plain = keeper(form, &point, fineness, &|source| source.value(parameters));
    let plain = plain.as_ref();
    let ends = ends(plain, crest, &grades(form, parameters, crest))?;
    let rolls_out = rolls_out && settles(form, parameters, crest).is_some();
    let mut nodes = Vec::new();
    let mut later = Vec::new();
    let mut angle = 180.0;
    for span in spans(&ends, &vec![0.0; ends.len()]) {
        let cuts = match has_branches(form) {
            true => cuts(plain, crest, span, fineness)?,
            false => vec![[0.0, 1.0]],
        };
        let (from, width) = (span.0, span.1 - span.0);
        let middle = scout(plain, crest, from + 0.5 * width)?;
        if !rolls_out || slips_later(&middle.events) {
            angle -= lost(plain, crest, span, &cuts, fineness)?;
            later.push((span, cuts));
            continue;
        }
        for [low, high] in cuts {
            nodes.extend(fineness.nodes.iter().map(|(node, weight)| {
                let place = from + width * (low + (high - low) * node);
                Node {
                    curvature: crest * place.sin(),
                    weight: (high - low) * width * weight * share(place, crest),
                }
            }));
        }
    }
    let count = if with_slopes { parameters.len() } else { 0 };
    let mut slopes = vec![0.0; count];
    for (first, slopes) in (0..).step_by(WIDTH).zip(slopes.chunks_mut(WIDTH)) {
        let sought: Vec<usize> = (first..first + slopes.len()).collect();
        let keeper = keeper(form, &point, fineness, &|source| {
            dual(source, parameters, &sought)
        });
        let keeper = keeper.as_ref();
        let mut lost_by = Number::from(0.0);
        for (span, cuts) in &later {
            let fixed = (Number::from(span.0), Number::from(span.1));
            lost_by += lost(keeper, crest, fixed, cuts, fineness)?;
        }
        for end in &ends {
            lost_by += moved(keeper, crest, end)? * drop_at(plain, crest, end)?;
        }
        let gradient = lost_by
            .eps
            .unwrap_generic(nalgebra::Const::<12>, nalgebra::U1);
        for (slope, d) in slopes.iter_mut().zip(gradient.iter()) {
            // With a threshold exactly at the crest the angle has a slope on one side only: none.
            *slope = if d.is_finite() { -d } else { 0.0 };
        }
    }
    Some(Plan {
        point,
        parameters,
        nodes,
        rest: Reading { angle, slopes },
    })
}

/// The integrand per curvature that is kept, at a place \[degrees·m\].
fn share(place: f64, crest: f64) -> f64 {
    let sine = place.sin();
    720.0 / PI / crest / (1.0 + sine * sine).sqrt()
}

/// The integrand before an end less that after it.
fn drop_at(keeper: &dyn Keeps<f64>, crest: f64, end: &End) -> Option<f64> {
    let mut events = Events::new();
    let [before, after] = end.between.map(|place| {
        let kept = keeper.kept(crest * place.sin(), &mut events)?;
        Some(share(place, crest) * kept)
    });
    Some(before? - after?)
}

/// Whether a yarn of a hinge slips some time after the release.
fn slips_later(events: &Events<f64>) -> bool {
    (0..YARNS).any(|yarn| events.met() & Events::<f64>::bit(Event::SlipsLater, yarn) != 0)
}

#[cfg(test)]
mod tests;
