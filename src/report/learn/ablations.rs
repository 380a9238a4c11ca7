//! Variants of a training case side by side: tables, and a picture of their plastic errors.

mod tables;

use self::tables::{blocks, by_variant};
use super::below::moments;
use crate::{
    error::Result,
    learn::{
        Ablations,
        ablate::{AblationRow, REMEDY},
    },
    report::plot::{Bar, BarSeries, Bars, Picture},
    study::Folder,
};

/// Writes tables and picture into the folder of the ablations.
pub(crate) fn draw(found: &Ablations) -> Result<()> {
    let tables = blocks(&found.rows).map(|b| b.markdown()).concat();
    let mut text = format!("# Ablations on synthetic data\n\n{tables}");
    for why in &found.failed {
        text += &format!("Failed: {why}\n");
    }
    let folder = Folder::new(found.folder());
    let written = folder.write("ablations.md", text.as_bytes());
    written
        .and_then(|()| picture(&found.rows).save(&folder.file("ablations.svg")))
        .map_err(|e| e.with_remedy(REMEDY))
}

/// All tables for a terminal.
pub(crate) fn text(found: &Ablations) -> String {
    blocks(&found.rows).map(|b| b.text()).concat()
}

/// A bar for each variant and one for its zero baseline, PE \[rad\]: means, and from the least to the most of the seeds.
fn picture(rows: &[AblationRow]) -> Picture {
    let variants = by_variant(rows);
    let series = |label: &str, pick: fn(&AblationRow) -> f64| BarSeries {
        label: label.into(),
        bars: variants
            .iter()
            .map(|(_, group)| bar(&group.iter().map(|r| pick(r)).collect::<Vec<_>>()))
            .collect(),
    };
    let seeds = variants
        .iter()
        .map(|(_, group)| group.len())
        .max()
        .unwrap_or(0);
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
        names: variants.iter().map(|(name, _)| name.to_string()).collect(),
        series: vec![
            series("trained", |r| r.mean.plastic_error),
            series("predicting no rest bending", |r| {
                r.mean_elastic.plastic_error
            }),
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
        value: moments(values).0,
        spread: (count > 1).then_some(ends),
        limit: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::metrics::Metrics;

    #[test]
    fn bars_are_means_and_reach_from_the_least_to_the_most_seed() {
        let with = |plastic_error| Metrics {
            plastic_error,
            ..Metrics::default()
        };
        let row = |name: &str, error: f64| AblationRow {
            name: name.into(),
            mean: with(error),
            mean_elastic: with(0.05),
            ..AblationRow::default()
        };
        // One seed of `rnn`, in the middle of those of `lstm`.
        let rows = [
            ("lstm", 0.01),
            ("rnn", 0.03),
            ("lstm", 0.04),
            ("lstm", 0.01),
        ];
        let Picture::Bars(bars) = picture(&rows.map(|(name, error)| row(name, error))) else {
            panic!("bars");
        };
        let bar = |s: usize, v: usize| bars.series[s].bars[v].unwrap();
        assert!((bar(0, 0).value - 0.02).abs() < 1e-15);
        assert_eq!(bar(0, 0).spread, Some((0.01, 0.04)));
        assert_eq!((bar(0, 1).value, bar(0, 1).spread), (0.03, None));
        assert_eq!((bar(1, 1).value, bar(1, 1).spread), (0.05, None));
        assert!(bars.note.as_deref().unwrap().starts_with("synthetic"));
        assert!(Picture::from(bars).svg().unwrap().contains("lstm"));
        assert!(picture(&[]).svg().is_err(), "nothing to draw");
    }
}
