//! Curves and loops for plots.

use crate::{
    error::Result,
    fit::{
        case::Specimen,
        result::{CurveResult, LoopResult, TwistResult},
        run::{Fit, Optimum},
        simulate::{BendingReading, Condition},
        verdict::Evidence,
    },
    laboratory::{Branch, CreasePoint, Twist, Way},
    rollout::log_times,
};

/// Points of a plotted curve.
const CURVE_POINTS: usize = 120;
/// The same where every point is a mesh.
const MESH_CURVE_POINTS: usize = 24;

pub(super) fn curves(
    fit: &Fit,
    optimum: &Optimum,
    evidence: &Evidence,
) -> Result<Vec<CurveResult>> {
    // Group, gap, read; the shortest and longest pressing time; the spread of a reading.
    let mut curves: Vec<(usize, CreasePoint, (f64, f64), f64)> = Vec::new();
    for row in &fit.data.rows {
        let Condition::Recovery(point) = row.condition else {
            continue;
        };
        let same = |c: &&mut (usize, CreasePoint, (f64, f64), f64)| {
            c.0 == row.group && c.1.gap == point.gap && c.1.read == point.read
        };
        match curves.iter_mut().find(same) {
            Some(curve) => {
                let (low, high) = curve.2;
                curve.2 = (low.min(point.press), high.max(point.press));
                curve.3 = curve.3.max(row.sd);
            }
            None => curves.push((row.group, point, (point.press, point.press), row.sd)),
        }
    }
    let scale = fit.error_scale(optimum);
    let count = match fit.case.tests.specimen {
        Specimen::Hinges => CURVE_POINTS,
        Specimen::StripMesh => MESH_CURVE_POINTS,
    };
    let mut list = Vec::new();
    for (group, point, (shortest, longest), sd) in curves {
        let first = if shortest > 0.0 {
            0.5 * shortest
        } else {
            1e-3 * longest.max(1.0)
        };
        // A single pressing time gets a decade on either side.
        let (first, last) = match longest > 2.0 * shortest.max(first) {
            true => (first, 2.0 * longest),
            false => (0.1 * first, 20.0 * first),
        };
        let press_s: Vec<f64> = log_times(first, last, count);
        let conditions: Vec<(usize, Condition)> = press_s
            .iter()
            .map(|&press| (group, Condition::Recovery(CreasePoint { press, ..point })))
            .collect();
        let (fitted, spread) = fit.predictions(optimum, evidence.uncertainty, &conditions)?;
        let half = |i: usize| 1.96 * spread[i].hypot(scale * sd);
        list.push(CurveResult {
            group: fit.data.groups[group].clone(),
            gap_mm: (1e12 * point.gap).round() / 1e9,
            read_s: point.read,
            low_deg: (0..fitted.len()).map(|i| fitted[i] - half(i)).collect(),
            high_deg: (0..fitted.len()).map(|i| fitted[i] + half(i)).collect(),
            // A mesh is under the hard law already.
            hard_deg: match fit.case.tests.specimen {
                Specimen::Hinges => fit.problem.hard(&optimum.point, &conditions)?,
                Specimen::StripMesh => fitted.clone(),
            },
            fitted_deg: fitted,
            press_s,
        });
    }
    Ok(list)
}

pub(super) fn loops(fit: &Fit, optimum: &Optimum) -> Result<Vec<LoopResult>> {
    let mut cycles: Vec<(usize, f64, f64)> = Vec::new();
    for row in &fit.data.rows {
        if let Condition::Bending {
            max_curvature,
            dwell,
            ..
        } = row.condition
        {
            let cycle = (row.group, max_curvature, dwell);
            if !cycles.contains(&cycle) {
                cycles.push(cycle);
            }
        }
    }
    let mut list = Vec::new();
    for (group, max_curvature, dwell) in cycles {
        let share = |k: usize| k as f64 / CURVE_POINTS as f64;
        let ways = [
            (Branch::Out, 0.0, 1.0),
            (Branch::Down, 1.0, -1.0),
            (Branch::Back, -1.0, 0.0),
        ];
        let mut conditions = Vec::new();
        let mut curvature_per_m = Vec::new();
        for (branch, from, to) in ways {
            for k in 0..=CURVE_POINTS {
                let curvature = max_curvature * (from + (to - from) * share(k));
                curvature_per_m.push(curvature);
                let read = BendingReading::Moment(branch, curvature);
                conditions.push((
                    group,
                    Condition::Bending {
                        max_curvature,
                        dwell,
                        read,
                    },
                ));
            }
        }
        list.push(LoopResult {
            group: fit.data.groups[group].clone(),
            dwell_s: dwell,
            curvature_per_m,
            moment_nm_per_m: fit.problem.predict(&optimum.point, &conditions)?.0,
        });
    }
    Ok(list)
}

pub(super) fn twists(fit: &Fit, optimum: &Optimum) -> Result<Vec<TwistResult>> {
    let mut done: Vec<(usize, Twist)> = Vec::new();
    let mut list = Vec::new();
    for row in &fit.data.rows {
        let Condition::Torque { twist, cell, .. } = row.condition else {
            continue;
        };
        if done.contains(&(row.group, twist)) {
            continue;
        }
        done.push((row.group, twist));
        let steps = fit.case.twist.map_or(1, |t| t.steps);
        let turn = |k: usize| twist.turn * k as f64 / steps as f64;
        let out = (0..=steps).map(|k| (Way::Out, turn(k)));
        let places: Vec<(Way, f64)> = out
            .chain((0..steps).rev().map(|k| (Way::Back, turn(k))))
            .collect();
        let condition = |&(way, turn): &(Way, f64)| {
            let torque = Condition::Torque {
                twist,
                way,
                turn,
                cell,
            };
            (row.group, torque)
        };
        let conditions: Vec<(usize, Condition)> = places.iter().map(condition).collect();
        list.push(TwistResult {
            group: fit.data.groups[row.group].clone(),
            dwell_s: twist.hold,
            turn_deg: places.iter().map(|(_, turn)| turn.to_degrees()).collect(),
            torque_nm: fit.problem.hard(&optimum.point, &conditions)?,
        });
    }
    Ok(list)
}
