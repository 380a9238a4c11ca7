//! Plots of a study of error bars.

use crate::{
    report::{
        document::number::{counted, probability, short},
        plot::{Bar, BarSeries, Bars, Histogram, Histograms, Picture},
    },
    verify::coverage::{Coverage, NoiseCoverage, ParameterCoverage},
};

/// Share of the intervals that should hold the truth.
const WANTED: f64 = 0.95;

/// All pictures for which there are data, by the stems of their files.
pub(super) fn pictures(found: &Coverage) -> Vec<(String, Picture)> {
    let held = |p: &ParameterCoverage| {
        Some(Bar {
            value: p.share?,
            spread: p.share_ci95.map(|[low, high]| (low, high)),
            limit: Some(WANTED),
        })
    };
    let called = |p: &ParameterCoverage| {
        (p.fitted > 0).then(|| Bar {
            value: p.identified as f64 / p.fitted as f64,
            spread: None,
            limit: None,
        })
    };
    let mut list = vec![
        (
            "coverage".to_string(),
            bars(
                found,
                "How often a 95 % interval holds the truth",
                "share of the intervals called identified, with its 95 % interval",
                held,
            ),
        ),
        (
            "identified".to_string(),
            bars(
                found,
                "How often a parameter is called identified",
                "share of the tables",
                called,
            ),
        ),
    ];
    for noise in &found.noises {
        let stem = format!("ranks-{}-deg", short(noise.noise_deg));
        list.push((stem, ranks(found, noise).into()));
    }
    list.retain(|(_, picture)| picture.is_drawable());
    list
}

fn bars(
    found: &Coverage,
    title: &str,
    x_label: &str,
    bar: impl Fn(&ParameterCoverage) -> Option<Bar>,
) -> Picture {
    let mut names: Vec<String> = Vec::new();
    for p in found.noises.iter().flat_map(|noise| &noise.parameters) {
        if !names.contains(&p.name) {
            names.push(p.name.clone());
        }
    }
    let series = |noise: &NoiseCoverage| BarSeries {
        label: format!("noise of {}°", short(noise.noise_deg)),
        bars: names
            .iter()
            .map(|name| bar(noise.parameters.iter().find(|p| p.name == *name)?))
            .collect(),
    };
    Picture::from(Bars {
        title: title.into(),
        note: Some(format!("synthetic data, {}", laws(found))),
        x_label: x_label.into(),
        series: found.noises.iter().map(series).collect(),
        limit_label: "95 %".into(),
        names,
    })
}

fn laws(found: &Coverage) -> String {
    match found.plan.material {
        Some(_) => format!("{} of one law", counted(found.plan.laws, "table")),
        None => format!("{} drawn at random", counted(found.plan.laws, "law")),
    }
}

/// A panel for each parameter that is ever identified.
fn ranks(found: &Coverage, noise: &NoiseCoverage) -> Histograms {
    let panel = |p: &ParameterCoverage| {
        let ranks = p.ranks.as_ref()?;
        let even = ranks.probability.map(|p| format!(", p {}", probability(p)));
        Some(Histogram {
            name: p.name.clone(),
            note: format!(
                "{}{}",
                counted(ranks.sets, "table"),
                even.unwrap_or_default()
            ),
            bins: ranks.bins.clone(),
            band: (ranks.band[0], ranks.band[1]),
        })
    };
    Histograms {
        title: format!(
            "Rank of the truth within {}, noise of {}°",
            counted(found.plan.refits.unwrap_or(0), "refit"),
            short(noise.noise_deg)
        ),
        note: Some(format!(
            "synthetic data, {}; tables in each tenth of the ranks where the parameter is identified; band: 95 % of even ranks; p by χ²",
            laws(found)
        )),
        x_label: "share of the refits below the truth".into(),
        panels: noise.parameters.iter().filter_map(panel).collect(),
    }
}
