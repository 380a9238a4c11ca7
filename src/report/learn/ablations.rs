//! Plastic error of variants of a training case, side by side.

use crate::report::plot::{Bar, BarSeries, Bars, Picture};

/// One variant, over the seeds it was trained with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VariantErrors {
    /// Its name.
    pub name: String,
    /// PE of each seed \[rad\].
    pub errors: Vec<f64>,
    /// PE of predicting no rest bending, of each seed \[rad\].
    pub zero: Vec<f64>,
}

/// A bar for each variant and one for its zero baseline: means, and from the least to the most of the seeds.
pub(crate) fn picture(variants: &[VariantErrors]) -> Picture {
    let series = |label: &str, pick: fn(&VariantErrors) -> &Vec<f64>| BarSeries {
        label: label.into(),
        bars: variants.iter().map(|v| bar(pick(v))).collect(),
    };
    let seeds = variants.iter().map(|v| v.errors.len()).max().unwrap_or(0);
    let spread = match seeds {
        0 | 1 => "one seed".to_string(),
        _ => format!("mean and least to most of {seeds} seeds"),
    };
    Picture::from(Bars {
        title: "Plastic error of the ablations".into(),
        note: Some(format!(
            "synthetic; mean of the unseen motions, against the reference of the same yield strain; {spread}"
        )),
        x_label: "PE: mean error of the rest bending [rad]".into(),
        names: variants.iter().map(|v| v.name.clone()).collect(),
        series: vec![
            series("trained", |v| &v.errors),
            series("predicting no rest bending", |v| &v.zero),
        ],
        ..Bars::default()
    })
}

fn bar(values: &[f64]) -> Option<Bar> {
    let count = values.len();
    let ends = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(*v), high.max(*v))
        });
    (count > 0).then(|| Bar {
        value: values.iter().sum::<f64>() / count as f64,
        spread: (count > 1).then_some(ends),
        limit: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_means_and_reach_from_the_least_to_the_most_seed() {
        let variant = VariantErrors {
            name: "lstm".into(),
            errors: vec![0.01, 0.04, 0.01],
            zero: vec![0.05],
        };
        let Picture::Bars(bars) = picture(&[variant]) else {
            panic!("bars");
        };
        let bar = |s: usize| bars.series[s].bars[0].unwrap();
        assert!((bar(0).value - 0.02).abs() < 1e-15);
        assert_eq!((bar(0).spread, bar(1).spread), (Some((0.01, 0.04)), None));
        assert!(bars.note.as_deref().unwrap().starts_with("synthetic"));
        assert!(Picture::from(bars).svg().unwrap().contains("lstm"));
        assert!(picture(&[]).svg().is_err(), "nothing to draw");
    }
}
