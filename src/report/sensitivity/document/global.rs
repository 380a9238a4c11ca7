//! What the estimators over whole ranges say: Sobol' indices, elementary effects, averages of derivatives.

use super::{estimate, measured};
use crate::{
    report::{
        document::number::NONE,
        fit::{document::Piece, rows::ReportTable},
    },
    sensitivity::{interval::Estimate, result::Sensitivity},
};

/// Indices of the main output by every estimator.
fn sobol_table(result: &Sensitivity) -> Option<ReportTable> {
    let of = result.sobol.as_ref()?.outputs[result.main].as_ref()?;
    let derivative = result.derivative.as_ref();
    let bounds = derivative.and_then(|d| d.outputs[result.main].as_ref()?.bounds.as_ref());
    let rows = result.sobol_names().into_iter().zip(&of.groups).enumerate();
    Some(ReportTable::new(
        "@parameter; #first, Jansen; #first, Martinez; #first, Saltelli; #total, Jansen; #total, Martinez; #bound of the total",
        rows.map(|(k, (name, g))| {
            let bound = bounds.and_then(|b| b.get(k));
            let mut row = vec![name.to_string()];
            row.extend(g.list().map(|(_, _, e)| estimate(e)));
            row.push(bound.map_or(NONE.into(), |b| format!("{:.3}", b.value)));
            row
        }),
    ))
}

pub(super) fn sobol(result: &Sensitivity) -> Option<Vec<Piece>> {
    let sobol = result.sobol.as_ref()?;
    let main = &result.outputs[result.main].name;
    let mut blocks = Vec::new();
    match sobol_table(result) {
        None => blocks.push(Piece::Text(format!(
            "The {main} does not vary in these ranges, so its variance has no shares."
        ))),
        Some(table) => blocks.extend([
            Piece::Text(format!(
                "Of the {main}; indices.csv has every output. In brackets 95 % intervals from {} resamples of the base samples. The dummy is a parameter that nothing depends on: what its first-order index by Jansen or Martinez differs from 0 is the error of these estimators, which Saltelli's has only for parameters that matter.",
                crate::sensitivity::interval::RESAMPLES
            )),
            Piece::Table(table),
        ]),
    }
    let still: Vec<String> = result
        .outputs
        .iter()
        .zip(&sobol.outputs)
        .filter(|(_, of)| of.is_none())
        .map(|(o, _)| o.name.clone())
        .collect();
    if !still.is_empty() {
        blocks.push(Piece::Text(format!(
            "Without indices, because they do not vary: {}.",
            still.join("; ")
        )));
    }
    if !sobol.above_bound.is_empty() {
        blocks.push(Piece::Text("Totals above their bound:".into()));
        blocks.push(Piece::List(sobol.above_bound.clone()));
    }
    Some(blocks)
}

pub(super) fn morris(result: &Sensitivity) -> Option<Vec<Piece>> {
    let morris = result.morris.as_ref()?;
    let output = &result.outputs[result.main];
    let rows = result.groups.iter().zip(&morris.outputs[result.main]);
    let text = |e: Option<Estimate>| e.map_or(NONE.into(), measured);
    Some(vec![
        Piece::Text(format!(
            "Of the {} [{}], for a step through the whole range of each parameter; {} trajectories.",
            output.name, output.unit, morris.trajectories
        )),
        Piece::Table(ReportTable::new(
            "@parameter; #μ*; #μ; #σ",
            rows.map(|(name, e)| {
                vec![
                    name.clone(),
                    text(e.as_ref().map(|e| e.mu_star)),
                    text(e.as_ref().and_then(|e| e.mu)),
                    text(e.as_ref().and_then(|e| e.sigma)),
                ]
            }),
        )),
    ])
}

pub(super) fn derivative(result: &Sensitivity) -> Option<Vec<Piece>> {
    let derivative = result.derivative.as_ref()?;
    let mut blocks = Vec::new();
    let main = &result.outputs[result.main].name;
    if let Some(of) = &derivative.outputs[result.main] {
        let activity = derivative.subspace.as_ref().map(|s| &s.activity);
        let rows = result.factors.iter().zip(&of.measures).enumerate();
        blocks.push(Piece::Text(format!(
            "Of the {main}, from exact derivatives at {} points. The share is that of the mean squared gradient, parameters in units of their ranges.",
            derivative.points
        )));
        blocks.push(Piece::Table(ReportTable::new(
            "@parameter; #ν; #share; #activity",
            rows.map(|(k, (f, m))| {
                vec![
                    f.name.clone(),
                    measured(m.nu),
                    estimate(m.share),
                    activity.map_or(NONE.into(), |a| format!("{:.3}", a[k])),
                ]
            }),
        )));
    }
    if let Some(subspace) = &derivative.subspace {
        let values: Vec<String> = subspace.eigenvalues.iter().map(|e| measured(*e)).collect();
        blocks.push(Piece::Text(format!(
            "Active subspace of the {main}: eigenvalues {}. The first direction is {}.",
            values.join(", "),
            crate::report::sensitivity::plots::direction(result, &subspace.directions[0])
        )));
    }
    if !derivative.regimes.is_empty() {
        blocks.push(Piece::Text(
            "By regime: pairs of a run and a point of a recovery curve, by what the hinges do under the hard law; shares of the mean squared gradient of that point's angle.".into(),
        ));
        blocks.push(Piece::Table(regimes(result)));
    }
    Some(blocks)
}

fn regimes(result: &Sensitivity) -> ReportTable {
    let regimes = result.derivative.iter().flat_map(|d| &d.regimes);
    let top = |r: &crate::sensitivity::regime::Regime| {
        let mut list: Vec<(f64, &str)> = r
            .measures
            .iter()
            .zip(&result.factors)
            .map(|(m, f)| (m.share.value, f.symbol.as_str()))
            .collect();
        list.sort_by(|a, b| b.0.total_cmp(&a.0));
        let first = list.into_iter().filter(|(s, _)| *s >= 0.05).take(4);
        let words: Vec<String> = first
            .map(|(s, n)| format!("{n} {:.0} %", 100.0 * s))
            .collect();
        words.join(", ")
    };
    ReportTable::new(
        "regime; #of all pairs; #hinges that slip; #hinges that have yielded; what matters there",
        regimes.map(|r| {
            let percent = |v: f64| format!("{:.0} %", 100.0 * v);
            vec![
                r.name.clone(),
                percent(r.share),
                percent(r.slips),
                percent(r.yields),
                top(r),
            ]
        }),
    )
}
