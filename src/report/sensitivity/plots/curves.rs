//! Indices along curves: which parameter moves which part.

use super::{Drawn, Topic, log_if_wide, note, slug};
use crate::{
    report::plot::{Chart, Mark, Scale, Series},
    sensitivity::result::Sensitivity,
};

/// More curves than this are in the tables only.
const MOST: usize = 8;

/// Lines that can be told apart; with more parameters only the largest are drawn.
const LINES: usize = 10;

/// The largest of many lines in their order, and what is said of the rest.
fn largest(mut series: Vec<Series>) -> (Vec<Series>, String) {
    if series.len() <= LINES {
        return (series, String::new());
    }
    let top = |s: &Series| {
        let sizes = s.points.iter().map(|p| p.1.abs());
        sizes.filter(|v| v.is_finite()).fold(0.0, f64::max)
    };
    let mut sizes: Vec<f64> = series.iter().map(top).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let least = sizes[LINES - 1];
    let all = series.len();
    series.retain(|s| top(s) >= least);
    // Colours anew: those of the rest are free.
    for (color, one) in series.iter_mut().enumerate() {
        one.color = Some(color);
    }
    let left = all - series.len();
    let text = format!(
        "; {left} parameters that stay below {} are left out",
        super::short(least)
    );
    (series, text)
}

/// A curve: its name, what is along it, and the outputs on it with their places.
struct Curve {
    name: String,
    axis: String,
    points: Vec<(usize, f64)>,
}

fn curves(result: &Sensitivity) -> Vec<Curve> {
    let mut list: Vec<Curve> = Vec::new();
    for (i, output) in result.outputs.iter().enumerate() {
        let Some(place) = &output.place else { continue };
        match list.iter_mut().find(|c| c.name == place.curve) {
            Some(curve) => curve.points.push((i, place.x)),
            None => list.push(Curve {
                name: place.curve.clone(),
                axis: place.axis.clone(),
                points: vec![(i, place.x)],
            }),
        }
    }
    for curve in &mut list {
        curve.points.sort_by(|a, b| a.1.total_cmp(&b.1));
    }
    list.retain(|c| c.points.len() > 1);
    list.truncate(MOST);
    list
}

fn scale(points: &[(usize, f64)]) -> Scale {
    log_if_wide(points.iter().map(|point| point.1), 20.0)
}

/// A picture a curve and kind of index.
pub(super) fn pictures(result: &Sensitivity) -> Vec<Drawn> {
    let mut list = Vec::new();
    for Curve { name, axis, points } in curves(result) {
        list.extend(totals(result, &name, &axis, &points));
        if result.sobol.is_none() {
            list.extend(effects(result, &name, &axis, &points));
        }
        list.extend(elasticities(result, &name, &axis, &points));
    }
    list
}

fn totals(result: &Sensitivity, curve: &str, axis: &str, points: &[(usize, f64)]) -> Option<Drawn> {
    let sobol = result.sobol.as_ref()?;
    let series = result.labels().into_iter().enumerate().map(|(k, label)| {
        let total = |output: usize| Some(sobol.outputs[output].as_ref()?.groups[k].total_jansen);
        let all: Vec<_> = points.iter().map(|(i, x)| (*x, total(*i))).collect();
        let or_nan = |v: Option<f64>| v.unwrap_or(f64::NAN);
        Series::new(
            label,
            Mark::Line,
            all.iter().map(|(x, t)| (*x, or_nan(t.map(|t| t.value)))),
        )
        .color(k)
        .spread(
            all.iter()
                .map(|(_, t)| (or_nan(t.map(|t| t.low)), or_nan(t.map(|t| t.high)))),
        )
    });
    let (series, left) = largest(series.collect());
    Some(Drawn {
        stem: format!("along-{}", slug(curve)),
        caption: format!("Total Sobol' indices along the curve {curve}, with 95 % bands"),
        topic: Topic::Curves,
        picture: Chart {
            title: format!("Which parameter moves which part: {curve}"),
            note: note(
                result,
                &format!("total Sobol' indices (Jansen), 95 % bands{left}"),
            ),
            x_label: axis.into(),
            y_label: "total index".into(),
            x_scale: scale(points),
            series,
            ..Chart::default()
        }
        .into(),
    })
}

fn effects(
    result: &Sensitivity,
    curve: &str,
    axis: &str,
    points: &[(usize, f64)],
) -> Option<Drawn> {
    let morris = result.morris.as_ref()?;
    let unit = &result.outputs[points[0].0].unit;
    let series = result.labels().into_iter().enumerate().map(|(k, label)| {
        let effect = |output: usize| Some(morris.outputs[output][k].as_ref()?.mu_star);
        let all: Vec<_> = points
            .iter()
            .filter_map(|(i, x)| Some((*x, effect(*i)?)))
            .collect();
        Series::new(label, Mark::Line, all.iter().map(|(x, e)| (*x, e.value)))
            .color(k)
            .spread(all.iter().map(|(_, e)| (e.low, e.high)))
    });
    let (series, left) = largest(series.collect());
    Some(Drawn {
        stem: format!("along-{}", slug(curve)),
        caption: format!("Mean size of elementary effects along {curve}, with 95 % bands"),
        topic: Topic::Curves,
        picture: Chart {
            title: format!("Which parameter moves which part: {curve}"),
            note: note(
                result,
                &format!("elementary effects of the whole ranges, μ*, 95 % bands{left}"),
            ),
            x_label: axis.into(),
            y_label: format!("μ* [{unit}]"),
            x_scale: scale(points),
            series,
            ..Chart::default()
        }
        .into(),
    })
}

fn elasticities(
    result: &Sensitivity,
    curve: &str,
    axis: &str,
    points: &[(usize, f64)],
) -> Option<Drawn> {
    let local = result.local.as_ref()?;
    let series = result.factors.iter().enumerate().map(|(k, factor)| {
        let elasticity = |i: usize| local.elasticities[i][k].unwrap_or(f64::NAN);
        let points = points.iter().map(|(i, x)| (*x, elasticity(*i)));
        Series::new(&factor.symbol, Mark::Line, points).color(k)
    });
    let (series, left) = largest(series.collect());
    Some(Drawn {
        stem: format!("elasticities-{}", slug(curve)),
        caption: format!(
            "Elasticities along the curve {curve} at the nominal parameters: percent that the reading changes for a percent of the parameter"
        ),
        topic: Topic::Local,
        picture: Chart {
            title: format!("Elasticities at the nominal parameters: {curve}"),
            note: note(result, &format!("exact derivatives{left}")),
            x_label: axis.into(),
            y_label: "elasticity (p/y)·∂y/∂p".into(),
            x_scale: scale(points),
            series,
            ..Chart::default()
        }
        .into(),
    })
}
