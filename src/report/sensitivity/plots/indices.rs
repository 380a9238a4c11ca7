//! Shares of the variance and elementary effects of readings.

use super::{Drawn, Topic, note, slug};
use crate::{
    report::plot::{Bar, BarSeries, Bars, Chart, Mark, Scale, Series},
    sensitivity::{interval::Estimate, result::Sensitivity},
};

/// Most pictures of single readings that a report draws.
const MOST: usize = 3;

/// Outputs that are pictured on their own: the main one, then other readings, the last first: they sum up more.
fn readings(result: &Sensitivity) -> Vec<usize> {
    let others = (0..result.outputs.len())
        .rev()
        .filter(|i| *i != result.main && result.outputs[*i].place.is_none());
    [result.main].into_iter().chain(others).take(MOST).collect()
}

fn bar(estimate: Estimate, limit: Option<f64>) -> Option<Bar> {
    Some(Bar {
        value: estimate.value,
        spread: Some((estimate.low, estimate.high)),
        limit,
    })
}

/// First-order and total indices of readings, with the bound of the total.
pub(super) fn sobol(result: &Sensitivity) -> Vec<Drawn> {
    let Some(sobol) = &result.sobol else {
        return Vec::new();
    };
    let drawn = |output: usize| {
        let of = sobol.outputs[output].as_ref()?;
        let derivative = result.derivative.as_ref();
        let bounds = derivative.and_then(|d| d.outputs[output].as_ref()?.bounds.as_ref());
        let limit = |k: usize| bounds.and_then(|b| Some(b.get(k)?.value));
        let mut names = result.labels();
        names.push("dummy".into());
        let groups = of.groups.iter().enumerate();
        let name = &result.outputs[output].name;
        let bars = Bars {
            title: format!("What the variance of the {name} comes from"),
            note: note(
                result,
                &format!(
                    "standard deviation {} {}; {} base samples, estimators of Saltelli (first) and Jansen (total), 95\u{a0}% intervals",
                    super::short(of.variance.sqrt()),
                    result.outputs[output].unit,
                    of.samples
                ),
            ),
            x_label: "share of the variance".into(),
            names,
            series: vec![
                BarSeries {
                    label: "first order: alone".into(),
                    bars: groups
                        .clone()
                        .map(|(_, g)| bar(g.first_saltelli, None))
                        .collect(),
                },
                BarSeries {
                    label: "total: with interactions".into(),
                    bars: groups.map(|(k, g)| bar(g.total_jansen, limit(k))).collect(),
                },
            ],
            limit_label: "upper bound of the total from derivatives, where it is on the scale"
                .into(),
        };
        Some(Drawn {
            stem: format!("sobol-{}", slug(name)),
            caption: format!(
                "Shares of the variance of the {name} with 95 % intervals: each parameter alone (first order) and with its interactions (total)"
            ),
            topic: Topic::Sobol,
            picture: bars.into(),
        })
    };
    readings(result).into_iter().filter_map(drawn).collect()
}

/// Totals of the main output against the number of samples.
pub(super) fn convergence(result: &Sensitivity) -> Option<Drawn> {
    let steps = &result.sobol.as_ref()?.convergence;
    let mut labels = result.labels();
    labels.push("dummy".into());
    let series = labels.into_iter().enumerate().map(|(k, label)| {
        let totals = steps.iter().map(|s| s.groups[k].total_jansen);
        let samples = steps.iter().map(|s| s.samples as f64);
        Series::new(
            label,
            Mark::LinePoints,
            samples.zip(totals.clone().map(|t| t.value)),
        )
        .color(k)
        .spread(totals.map(|t| (t.low, t.high)))
    });
    let name = &result.outputs[result.main].name;
    let stopped = &result.sobol.as_ref()?.stopped;
    Some(Drawn {
        stem: "convergence".into(),
        caption: format!(
            "Total indices of the {name} against the number of base samples: intervals shrink as samples grow"
        ),
        topic: Topic::Sobol,
        picture: Chart {
            title: format!("Convergence of the total indices of the {name}"),
            note: note(result, stopped),
            x_label: "base samples".into(),
            y_label: "total index".into(),
            x_scale: Scale::Log,
            series: series.collect(),
            ..Chart::default()
        }
        .into(),
    })
}

/// σ against μ* of readings.
pub(super) fn morris(result: &Sensitivity) -> Vec<Drawn> {
    let Some(morris) = &result.morris else {
        return Vec::new();
    };
    let drawn = |output: usize| {
        let of = &result.outputs[output];
        let labels = result.labels();
        let points = morris.outputs[output].iter().zip(&labels).enumerate();
        let mut series: Vec<Series> = points
            .filter_map(|(k, (effects, label))| {
                let effects = effects.as_ref()?;
                let sigma = effects.sigma?;
                let point = [(effects.mu_star.value, sigma.value)];
                let series = Series::new(label, Mark::Points, point).color(k);
                Some(series.spread([(sigma.low, sigma.high)]))
            })
            .collect();
        let far = series.iter().map(|s| s.points[0].0).fold(0.0, f64::max);
        if far <= 0.0 {
            return None;
        }
        let label = "σ = μ*: interactions as large as the effect";
        series.push(Series::new(label, Mark::Thin, [(0.0, 0.0), (far, far)]).color(0));
        Some(Drawn {
            stem: format!("morris-{}", slug(&of.name)),
            caption: format!(
                "Elementary effects on the {}: how much each parameter matters (right) and how much that depends on the others (up)",
                of.name
            ),
            topic: Topic::Morris,
            picture: Chart {
                title: format!("Elementary effects on the {}", of.name),
                note: note(
                    result,
                    &format!("{} trajectories; 95 % intervals of σ", morris.trajectories),
                ),
                x_label: format!(
                    "mean size of the effect of the whole range, μ* [{}]",
                    of.unit
                ),
                y_label: format!("spread of the effect, σ [{}]", of.unit),
                series,
                ..Chart::default()
            }
            .into(),
        })
    };
    readings(result)
        .into_iter()
        .take(2)
        .filter_map(drawn)
        .collect()
}
