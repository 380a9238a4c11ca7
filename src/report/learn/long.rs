//! Rest bending over a long roll-out of bends: does it drift?

use crate::report::plot::{Chart, Mark, Picture, Scale, Series};
use crate::{
    error::{Result, bad_input},
    learn::evaluate::{DRIFT, LongRow, is_cut_off},
};

/// Rest bending after every bend and its change since the first, of `frames` frames that were asked for; beside the reference,
/// the error and that of predicting none where there is one of so many frames.
pub(crate) fn picture(rows: &[LongRow], frames: usize, what: &str) -> Result<Picture> {
    let Some(last) = rows.last() else {
        return bad_input(
            "the long roll-out has no finite frame, so there is nothing to draw; train further",
        );
    };
    let of = |label: &str, pick: fn(&LongRow) -> Option<f64>, color| {
        let point = |row: &LongRow| Some((row.frame as f64, pick(row)?));
        Series::new(label, Mark::Line, rows.iter().filter_map(point)).color(color)
    };
    let mut series = vec![
        of("mean of all hinges", |r| Some(r.rest_bending), 0),
        of("largest fifth", |r| Some(r.rest_bending_top_fifth), 4),
        of(
            "largest fifth of the change since the first bend",
            |r| r.change_top_fifth,
            5,
        ),
    ];
    if rows.iter().any(|r| r.reference.is_some()) {
        series.push(of("mean of all hinges, reference", |r| r.reference, 1));
        series.push(of("largest fifth of the error", |r| r.error_top_fifth, 2));
        series.push(Series {
            mark: Mark::Dashed,
            ..of(
                "the same of predicting none: largest fifth of the reference",
                |r| r.none_top_fifth,
                3,
            )
        });
    }
    let sizes = series.iter().flat_map(|s| &s.points).map(|p| p.1);
    let largest = sizes.fold(DRIFT, f64::max);
    let label = "paper 2 drifts where its error of the worst fifth leaves this";
    series.push(Series::new(label, Mark::Level, [(last.frame as f64, DRIFT)]).color(0));
    let end = match is_cut_off(rows, frames) {
        true => format!(
            "; it ends after frame {} of {frames}, as something was no longer finite",
            last.frame
        ),
        false => String::new(),
    };
    Ok(Picture::from(Chart {
        title: "Rest bending over a long roll-out of 90° bends".into(),
        note: Some(format!(
            "synthetic: {what}; the body is straight in every frame that is shown{end}"
        )),
        x_label: "frame".into(),
        y_label: "|rest bending| [rad]".into(),
        x_scale: Scale::Count,
        // From zero, where the change should stay.
        y_range: Some((0.0, 1.08 * largest)),
        series,
        ..Chart::default()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bend_has_its_points_and_an_early_end_is_said() {
        let row = |bends: usize| {
            let change = (bends > 0).then_some(0.025);
            LongRow::made_up(bends, 0.05 * bends as f64, change)
        };
        let rows = [row(0), row(1), row(2), row(3)];
        let Picture::Chart(chart) = picture(&rows, 220, "sleeve").unwrap() else {
            panic!("a chart");
        };
        let points: Vec<_> = chart.series.iter().map(|s| s.points.clone()).collect();
        assert_eq!((points[0].len(), points[0][2]), (4, (144.0, 0.02)));
        assert_eq!((points[1].len(), points[1][2]), (4, (144.0, 0.1)));
        // Before the first bend there is no change.
        assert_eq!((points[2].len(), points[2][0]), (3, (76.0, 0.025)));
        assert_eq!(points[3], [(212.0, 0.1)]);
        let note = chart.note.clone().unwrap();
        assert!(
            note.starts_with("synthetic: sleeve") && !note.contains("finite"),
            "{note}"
        );
        assert!(chart.y_range.unwrap().1 > 0.15);
        let simulated = rows.clone().map(|row| LongRow {
            reference: Some(0.01),
            error: Some(0.004),
            error_top_fifth: Some(0.02),
            none_top_fifth: Some(0.04),
            ..row
        });
        let Picture::Chart(beside) = picture(&simulated, 220, "sleeve").unwrap() else {
            panic!("a chart");
        };
        assert_eq!(beside.series[4].points[3], (212.0, 0.02));
        assert_eq!(beside.series[5].points[3], (212.0, 0.04));
        assert!(beside.series[5].label.contains("predicting none"));
        assert!(Picture::from(chart).svg().unwrap().contains("paper 2"));
        let Picture::Chart(cut) = picture(&rows, 3000, "sleeve").unwrap() else {
            panic!("a chart");
        };
        let note = cut.note.unwrap();
        assert!(note.contains("after frame 212 of 3000"), "{note}");
        let text = picture(&[], 3000, "sleeve").unwrap_err().to_string();
        assert!(text.contains("no finite frame"), "{text}");
    }
}
