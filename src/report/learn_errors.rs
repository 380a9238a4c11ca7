//! Errors over the frames of a roll-out (paper 2, Fig. 8b).

use super::plot::{Chart, Mark, Picture, Scale, Series};
use crate::{
    error::{Result, bad_input},
    learn::{
        Motion, Phases, Track,
        evaluate::{FrameRow, frame_rows},
    },
};

/// Methods with their tracks of a motion, one a colour: PE solid, that of the worst fifth thin, and BE dashed, with the phases
/// of the bend. The first method, the one that is judged, has all five fifths, as the paper shows them.
pub fn picture(methods: &[(&str, &Track)], reference: &Track, motion: &Motion) -> Result<Picture> {
    let frames = motion.frames();
    let mut series = Vec::new();
    for (number, (name, track)) in methods.iter().enumerate() {
        if track.frames() != frames || reference.frames() != frames {
            return bad_input(format!(
                "{name} has {} frames and its reference {}, but motion {} has {frames}; give tracks of that motion",
                track.frames(),
                reference.frames(),
                motion.name
            ));
        }
        let rows = frame_rows(&motion.name, name, track, reference);
        let color = COLORS[number % COLORS.len()];
        let mut add = |what: &str, (mark, color): (Mark, usize), pick: fn(&FrameRow) -> f64| {
            series.push(Series {
                label: format!("{name}: {what}"),
                points: rows.iter().map(|r| (r.frame as f64, pick(r))).collect(),
                mark,
                color: Some(color),
                ..Series::default()
            });
        };
        add("rest bending (PE)", (Mark::Line, color), |r| {
            r.plastic_error
        });
        add("the same, worst fifth", (Mark::Thin, color), |r| {
            r.plastic_error_top_fifth
        });
        if number == 0 {
            for (what, look, pick) in LOWER_FIFTHS {
                add(what, look, pick);
            }
        }
        add("strain (BE)", (Mark::Dashed, color), |r| r.bending_error);
    }
    series.extend(phases(motion));
    Ok(Picture::from(Chart {
        title: "Error against the reference over the frames".into(),
        note: Some(format!(
            "synthetic; motion {}, not trained; hinges are ranked by their error in every frame",
            motion.name
        )),
        x_label: "frame".into(),
        y_label: "mean error of all hinges, or of a fifth [rad]".into(),
        x_scale: Scale::Count,
        series,
        ..Chart::default()
    }))
}

/// Blue for the first method, vermilion for the second, then others that differ from both.
const COLORS: [usize; 5] = [4, 5, 3, 1, 6];

/// How a lower fifth is called and drawn, and where it stands in a row.
type Fifth = (&'static str, (Mark, usize), fn(&FrameRow) -> f64);

/// In the light blue that belongs to the first method's (look 2, and 9 for the same in dashes and dots).
const LOWER_FIFTHS: [Fifth; 4] = [
    ("second fifth", (Mark::Line, 2), |r| {
        r.plastic_error_second_fifth
    }),
    ("third fifth", (Mark::Dashed, 2), |r| {
        r.plastic_error_third_fifth
    }),
    ("fourth fifth", (Mark::Line, 9), |r| {
        r.plastic_error_fourth_fifth
    }),
    ("lowest fifth", (Mark::Thin, 2), |r| {
        r.plastic_error_lowest_fifth
    }),
];

/// Upright lines where the bend begins, is held, and is over.
fn phases(motion: &Motion) -> Option<Series> {
    let Phases { begin, peak, end } = motion.phases()?;
    let frames = [begin, peak.start, peak.end - 1].into_iter().chain(end);
    Some(Series {
        label: "the bend begins, is held (two lines), is over".into(),
        points: frames.map(|frame| (frame as f64, 0.0)).collect(),
        mark: Mark::Upright,
        color: Some(0),
        ..Series::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Body;

    #[test]
    fn every_frame_has_its_mean_error_all_fifths_and_the_phases() {
        // Ten hinges, whose errors are 0.02 to 0.2 rad.
        let track = |strain: f64, plastic: f64| Track {
            positions: vec![vec![0.0; 3]; 95],
            strain: vec![vec![strain; 10]; 95],
            plastic: vec![(1..=10).map(|k| 0.1 * f64::from(k) * plastic).collect(); 95],
        };
        let motion = Motion::canonical(&Body::arm());
        let (ours, reference) = (track(0.4, 0.1), track(0.1, -0.1));
        let methods = [("both", &ours), ("other", &ours)];
        let Picture::Chart(chart) = picture(&methods, &reference, &motion).unwrap() else {
            panic!("a chart");
        };
        let first = [0.11, 0.19, 0.15, 0.11, 0.07, 0.03, 0.3];
        // Of the second method only the mean, the worst fifth and the strain.
        let errors = [&first[..], &[0.11, 0.19, 0.3]].concat();
        assert_eq!(chart.series.len(), errors.len() + 1);
        for (series, error) in chart.series.iter().zip(errors) {
            assert_eq!(series.points.len(), 95);
            let near = |(_, y): &(f64, f64)| (y - error).abs() < 1e-14;
            assert!(series.points.iter().all(near), "{}", series.label);
        }
        // One hue and its lighter kin; no two series look the same.
        let looks: Vec<_> = chart.series.iter().map(|s| (s.mark, s.color)).collect();
        assert!(looks[..7].iter().all(|(_, c)| matches!(c, Some(4 | 2 | 9))));
        for (k, look) in looks.iter().enumerate() {
            assert!(!looks[..k].contains(look), "{look:?}");
        }
        let marks: Vec<f64> = chart.series[10].points.iter().map(|p| p.0).collect();
        assert_eq!(marks, [8.0, 33.0, 43.0, 68.0]);
        assert!(chart.note.as_deref().unwrap().contains("synthetic"));
        assert!(
            Picture::from(chart)
                .svg()
                .unwrap()
                .contains("both: lowest fifth")
        );
        let other = Motion::still(&Body::arm(), 7);
        let refused = picture(&[("both", &ours)], &reference, &other);
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("both has 95 frames") && text.contains("still has 7"),
            "{text}"
        );
    }
}
