//! The space of the parameters: its active direction, its regimes, and where runs fail.

use super::{Drawn, Topic, note};
use crate::{
    report::plot::{Bar, BarSeries, Bars, Chart, HeatMap, Mark, Series},
    sensitivity::result::Sensitivity,
};

/// Components below this are left out of the words.
const SMALL: f64 = 0.15;

/// Points of a cloud: more hide each other.
const SHOWN: usize = 400;

/// The direction in words: "0.8·τ_f − 0.5·ε_0".
pub(crate) fn direction(result: &Sensitivity, weights: &[f64]) -> String {
    let mut parts: Vec<(f64, &str)> = weights
        .iter()
        .zip(&result.factors)
        .filter(|(w, _)| w.abs() >= SMALL)
        .map(|(w, f)| (*w, f.symbol.as_str()))
        .collect();
    parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let mut text = String::new();
    for (i, (weight, symbol)) in parts.iter().enumerate() {
        let sign = match (i, *weight < 0.0) {
            (0, false) => "",
            (0, true) => "−",
            (_, false) => " + ",
            (_, true) => " − ",
        };
        text += &format!("{sign}{:.2}·{symbol}", weight.abs());
    }
    text
}

/// The main output against the first active direction.
pub(super) fn projection(result: &Sensitivity) -> Option<Drawn> {
    let derivative = result.derivative.as_ref()?;
    let subspace = derivative.subspace.as_ref()?;
    let output = &result.outputs[result.main];
    let total: f64 = subspace.eigenvalues.iter().map(|e| e.value).sum();
    let share = 100.0 * subspace.eigenvalues[0].value / total;
    let words = direction(result, &subspace.directions[0]);
    // The first of the sequence fill the space as evenly as all do.
    let points = derivative.projection.iter().take(SHOWN);
    Some(Drawn {
        stem: "active-direction".into(),
        caption: format!(
            "The {} against the first active direction: the narrower the cloud, the more one combination of parameters decides",
            output.name
        ),
        topic: Topic::Derivative,
        picture: Chart {
            title: format!("The {} along its active direction", output.name),
            note: note(
                result,
                &format!(
                    "{share:.0} % of the mean squared gradient is along {words}, parameters in units of their ranges"
                ),
            ),
            x_label: "position along the first active direction".into(),
            y_label: format!("{} [{}]", output.name, output.unit),
            series: vec![Series::new("", Mark::Hollow, points.copied()).color(0)],
            ..Chart::default()
        }
        .into(),
    })
}

/// Shares of the squared gradient in every regime.
pub(super) fn regimes(result: &Sensitivity) -> Option<Drawn> {
    let regimes = &result.derivative.as_ref()?.regimes;
    if regimes.is_empty() {
        return None;
    }
    let map = HeatMap {
        title: "What moves the recovery angle in each regime".into(),
        note: note(
            result,
            "shares of the mean squared gradient, parameters in units of their ranges",
        ),
        rows: regimes
            .iter()
            .map(|r| format!("{} ({:.0} %)", r.name, 100.0 * r.share))
            .collect(),
        columns: result.factors.iter().map(|f| f.symbol.clone()).collect(),
        cells: regimes
            .iter()
            .map(|r| r.measures.iter().map(|m| Some(m.share.value)).collect())
            .collect(),
    };
    Some(Drawn {
        stem: "regimes".into(),
        caption: "Shares of the mean squared gradient of the recovery angle where hinges stick, slip or have yielded; in brackets how often that is".into(),
        topic: Topic::Derivative,
        picture: map.into(),
    })
}

/// How far each parameter separates failed runs from others.
pub(super) fn failures(result: &Sensitivity) -> Option<Drawn> {
    let region = &result.failures.region;
    if region.is_empty() {
        return None;
    }
    let bars = Bars {
        title: "Where runs fail".into(),
        note: note(
            result,
            "0: nothing to do with it; 1: a threshold separates them",
        ),
        x_label: "distance between the distributions of failed and other runs".into(),
        names: region.iter().map(|r| r.name.clone()).collect(),
        series: vec![BarSeries {
            label: String::new(),
            bars: region
                .iter()
                .map(|r| {
                    Some(Bar {
                        value: r.distance,
                        spread: None,
                        limit: None,
                    })
                })
                .collect(),
        }],
        ..Bars::default()
    };
    Some(Drawn {
        stem: "failures".into(),
        caption: "How far each parameter separates failed runs from the others".into(),
        topic: Topic::Failures,
        picture: bars.into(),
    })
}
