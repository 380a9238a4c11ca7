//! Learning curves of the two networks, over the steps of all cycles.

use crate::report::plot::{Chart, Mark, Picture, Scale, Series};
use crate::{
    error::{Result, bad_input},
    learn::curriculum::{ElasticStep, PlasticStep},
};

/// Terms below this share of the largest are cut off: contact comes and goes over many decades.
const SMALLEST_SHARE: f64 = 1e-6;

/// Points of a curve over the whole run: single batches differ too much to be read.
const POINTS: usize = 60;

/// The terms of E-Net's loss, and the loss itself from its lowest mean: gravity makes it negative.
pub(crate) fn elastic(steps: &[ElasticStep], what: &str) -> Result<Picture> {
    let cycles: Vec<usize> = steps.iter().map(|s| s.cycle).collect();
    let blocks = blocks(&cycles, "E-Net")?;
    let mut series = Vec::new();
    let losses: Vec<f64> = steps.iter().map(|s| s.loss).collect();
    series.push(Series {
        label: "loss, from its lowest".into(),
        ..curve(&from_lowest(&means(&losses, &blocks)), 0)
    });
    let names = steps[0].terms.named().map(|(name, _)| name);
    for (k, name) in names.into_iter().enumerate() {
        let values: Vec<f64> = steps.iter().map(|s| *s.terms.named()[k].1).collect();
        let mut points = means(&values, &blocks);
        let mut label = name.replace('_', " ");
        if name == "gravity" {
            points = from_lowest(&points);
            label.push_str(", from its lowest");
        }
        // Terms that are switched off have nothing to show.
        if points.iter().any(|(_, y)| *y > 0.0) {
            series.push(Series {
                label,
                ..curve(&points, k + 1)
            });
        }
    }
    let sizes = || series.iter().flat_map(|s| &s.points).map(|p| p.1);
    let largest = sizes().fold(0.0, f64::max);
    let smallest = sizes().filter(|y| *y > 0.0).fold(largest, f64::min);
    let low = smallest.max(SMALLEST_SHARE * largest);
    let y_range = (low < largest && largest.is_finite()).then_some((0.8 * low, 1.25 * largest));
    let what = format!("{what}; bends grow in the first cycle, and the loss with them");
    let chart = chart(
        "E-Net: terms of the loss",
        "weighted terms of the loss [J]",
        (&what, &blocks, &cycles),
        series,
    );
    Ok(Picture::from(Chart { y_range, ..chart }))
}

/// How far E-Net is from where the minimiser leads, before and after it learns in a round.
pub(crate) fn distance(steps: &[ElasticStep], what: &str) -> Result<Picture> {
    let cycles: Vec<usize> = steps.iter().map(|s| s.cycle).collect();
    let blocks = blocks(&cycles, "E-Net")?;
    let series = |label: &str, pick: fn(&ElasticStep) -> f64, color| {
        let values: Vec<f64> = steps.iter().map(|s| 1e3 * pick(s)).collect();
        Series {
            label: label.into(),
            ..curve(&means(&values, &blocks), color)
        }
    };
    let both = vec![
        series("before the round", |s| s.away, 0),
        series("after it", |s| s.left, 4),
    ];
    Ok(Picture::from(chart(
        "E-Net: distance from where the minimiser leads",
        "mean distance of the vertices [mm]",
        (what, &blocks, &cycles),
        both,
    )))
}

/// P-Net's loss.
pub(crate) fn plastic(steps: &[PlasticStep], what: &str) -> Result<Picture> {
    let cycles: Vec<usize> = steps.iter().map(|s| s.cycle).collect();
    let blocks = blocks(&cycles, "P-Net")?;
    let losses: Vec<f64> = steps.iter().map(|s| s.loss).collect();
    let series = vec![curve(&means(&losses, &blocks), 4)];
    Ok(Picture::from(chart(
        "P-Net: error of the increments of rest bending",
        "mean error, small ones squared [rad]",
        (what, &blocks, &cycles),
        series,
    )))
}

type CycleRange = std::ops::Range<usize>;

/// Equal shares of the steps; none reaches from one cycle into the next.
fn blocks(cycles: &[usize], name: &str) -> Result<Vec<CycleRange>> {
    if cycles.is_empty() {
        return bad_input(format!(
            "the log has no step of {name}, so there is no learning curve; train for at least one step"
        ));
    }
    let long = cycles.len().div_ceil(POINTS);
    let mut blocks: Vec<CycleRange> = Vec::new();
    for (step, cycle) in cycles.iter().enumerate() {
        match blocks.last_mut() {
            Some(last) if last.len() < long && cycles[last.start] == *cycle => last.end = step + 1,
            _ => blocks.push(step..step + 1),
        }
    }
    Ok(blocks)
}

/// Mean of every block at its middle.
fn means(values: &[f64], blocks: &[CycleRange]) -> Vec<(f64, f64)> {
    let point = |block: &CycleRange| {
        let sum: f64 = values[block.clone()].iter().sum();
        let middle = 0.5 * (block.start + block.end) as f64;
        (middle, sum / block.len() as f64)
    };
    blocks.iter().map(point).collect()
}

fn from_lowest(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let lowest = points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    points.iter().map(|(x, y)| (*x, y - lowest)).collect()
}

fn curve(points: &[(f64, f64)], color: usize) -> Series {
    Series::new("", Mark::Line, points.to_vec()).color(color)
}

fn chart(
    title: &str,
    y_label: &str,
    (what, blocks, cycles): (&str, &[CycleRange], &[usize]),
    mut series: Vec<Series>,
) -> Chart {
    let starts = (1..cycles.len()).filter(|&step| cycles[step] != cycles[step - 1]);
    let starts: Vec<(f64, f64)> = starts.map(|step| (step as f64, 0.0)).collect();
    if !starts.is_empty() {
        series.push(Series::new("next cycle", Mark::Upright, starts).color(0));
    }
    let mean = match blocks.iter().map(CycleRange::len).max() {
        Some(long) if long > 1 => format!("; each point is the mean of up to {long} steps"),
        _ => String::new(),
    };
    Chart {
        title: title.into(),
        note: Some(format!("synthetic: {what}{mean}")),
        x_label: "step, over all cycles".into(),
        y_label: y_label.into(),
        x_scale: Scale::Count,
        y_scale: Scale::Log,
        series,
        ..Chart::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Terms;

    fn step(cycle: usize, step: usize, loss: f64) -> ElasticStep {
        let terms = Terms {
            bending: 0.5 * loss,
            gravity: -1.0,
            ..Terms::default()
        };
        ElasticStep {
            cycle,
            step,
            loss,
            terms,
            away: 2e-4,
            left: 1e-4,
        }
    }

    fn shown(picture: Picture) -> Chart {
        match picture {
            Picture::Chart(chart) => chart,
            _ => panic!("a chart"),
        }
    }

    #[test]
    fn cycles_follow_each_other_and_blocks_stay_within_them() {
        let steps: Vec<ElasticStep> = (0..500)
            .map(|n| step(n / 250, n % 250, if n < 250 { 4.0 } else { 2.0 }))
            .collect();
        let chart = shown(elastic(&steps, "small sleeve").unwrap());
        let labels: Vec<&str> = chart.series.iter().map(|s| s.label.as_str()).collect();
        // Gravity does not change here, and other terms are off.
        assert_eq!(labels, ["loss, from its lowest", "bending", "next cycle"]);
        assert_eq!(chart.series[2].points, [(250.0, 0.0)]);
        let bending = &chart.series[1].points;
        let (first, second): (Vec<_>, Vec<_>) = bending.iter().partition(|(x, _)| *x < 250.0);
        assert!(first.iter().all(|(_, y)| *y == 2.0), "no mixed mean");
        assert!(second.iter().all(|(_, y)| *y == 1.0) && second.len() == first.len());
        assert!(
            chart
                .note
                .as_deref()
                .unwrap()
                .starts_with("synthetic: small sleeve; bends grow")
        );
        let chart = shown(distance(&steps, "small sleeve").unwrap());
        let at = |k: usize| chart.series[k].points[0].1;
        assert!((at(0) - 0.2).abs() < 1e-12 && (at(1) - 0.1).abs() < 1e-12);
        assert!(Picture::from(chart).svg().unwrap().contains("next cycle"));
    }

    #[test]
    fn points_are_means_of_equally_many_steps() {
        let step = |n: usize| PlasticStep {
            cycle: 0,
            step: n,
            loss: [1e-6, 3e-6][n % 2],
        };
        let steps: Vec<PlasticStep> = (0..6 * POINTS).map(step).collect();
        let chart = shown(plastic(&steps, "small sleeve").unwrap());
        assert_eq!(
            (chart.series[0].points.len(), chart.series.len()),
            (POINTS, 1)
        );
        let (x, y) = chart.series[0].points[7];
        assert!(x == 45.0 && (y - 2e-6).abs() < 1e-18, "{x} {y}");
    }

    /// One batch without contact must not push everything else into a corner.
    #[test]
    fn terms_that_all_but_vanish_are_cut_off() {
        let steps: Vec<ElasticStep> = (0..40)
            .map(|n| step(0, n, if n == 20 { 1e-12 } else { 1.0 }))
            .collect();
        let (low, high) = shown(elastic(&steps, "x").unwrap()).y_range.unwrap();
        assert!(low > 1e-7 && high > 1.0, "{low} {high}");
    }

    #[test]
    fn an_empty_log_is_refused() {
        let text = elastic(&[], "x").unwrap_err().to_string();
        assert!(
            text.contains("no step of E-Net") && text.contains("train for"),
            "{text}"
        );
        assert!(plastic(&[], "x").unwrap_err().to_string().contains("P-Net"));
    }
}
