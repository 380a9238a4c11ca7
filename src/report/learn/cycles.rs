//! Rest bending over the cycles of Algorithm 1 (paper 2, Figs. 6 and 8a): does it settle?

use crate::report::plot::{Chart, Mark, Picture, Scale, Series};
use crate::{
    error::{Result, bad_input},
    learn::run::Cycle,
};

/// Mean rest bending of target and roll-out, and the change, cycle by cycle.
pub(crate) fn picture(cycles: &[Cycle], what: &str) -> Result<Picture> {
    if cycles.is_empty() {
        return bad_input(
            "the run has no finished cycle, so there is no rest bending to draw; train on",
        );
    }
    let series = |label: &str, mark, pick: fn(&Cycle) -> f64, color| {
        let points = cycles.iter().map(|c| ((c.cycle + 1) as f64, pick(c)));
        Series::new(label, mark, points).color(color)
    };
    let line = Mark::LinePoints;
    let largest = cycles
        .iter()
        .map(|c| c.target.max(c.roll_out).max(c.change));
    let largest = largest.fold(1e-9, f64::max);
    Ok(Picture::from(Chart {
        title: "Rest bending over the cycles".into(),
        note: Some(format!(
            "synthetic: {what}; means over the training motions"
        )),
        x_label: "cycle".into(),
        y_label: "mean |rest bending| [rad]".into(),
        x_scale: Scale::Count,
        // From zero, where the change should go.
        y_range: Some((0.0, 1.08 * largest)),
        series: vec![
            series(
                "P-Net's target: the plastic rule on E-Net's prediction",
                line,
                |c| c.target,
                0,
            ),
            series("roll-out of both networks", line, |c| c.roll_out, 4),
            series(
                "change of the roll-out against the cycle before, at first against none",
                Mark::LinePoints,
                |c| c.change,
                5,
            ),
        ],
        ..Chart::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cycle_has_its_three_points() {
        let cycle = |n: f64| Cycle {
            cycle: n as usize - 1,
            target: 0.02,
            roll_out: 0.01 * n,
            error: 0.0,
            change: 0.01 / n,
            validation_error: 0.0,
            validation_away: 0.0,
            seconds: 1.0,
        };
        let Picture::Chart(chart) = picture(&[cycle(1.0), cycle(2.0)], "sleeve").unwrap() else {
            panic!("a chart");
        };
        let points: Vec<_> = chart.series.iter().map(|s| s.points.clone()).collect();
        assert_eq!(points[0], [(1.0, 0.02), (2.0, 0.02)]);
        assert_eq!(points[1], [(1.0, 0.01), (2.0, 0.02)]);
        assert_eq!(points[2], [(1.0, 0.01), (2.0, 0.005)]);
        assert!(chart.note.unwrap().starts_with("synthetic: sleeve"));
        let text = picture(&[], "sleeve").unwrap_err().to_string();
        assert!(text.contains("no finished cycle"), "{text}");
    }
}
