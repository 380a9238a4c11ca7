//! Errors over the frames of a roll-out (paper 2, Fig. 8b).

use crate::report::plot::{Chart, Mark, Picture, Scale, Series};
use crate::{
    error::{Result, bad_input},
    learn::{
        BodyMotion, GarmentMotion, Phases,
        evaluate::{FrameRow, frame_rows},
    },
};

/// Methods with their tracks of a motion, one a colour: PE solid, that of the worst fifth, which the paper shows, thin,
/// and BE dashed, with the phases of the bend.
pub(crate) fn picture(
    methods: &[(&str, &GarmentMotion)],
    reference: &GarmentMotion,
    motion: &BodyMotion,
) -> Result<Picture> {
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
        let mut add = |what: &str, mark, pick: fn(&FrameRow) -> f64| {
            let points = rows.iter().map(|r| (r.frame as f64, pick(r)));
            let color = COLORS[number % COLORS.len()];
            series.push(Series::new(format!("{name}: {what}"), mark, points).color(color));
        };
        add("rest bending (PE)", Mark::Line, |r| r.plastic_error);
        add("the same, worst fifth", Mark::Thin, |r| {
            r.plastic_error_top_fifth
        });
        add("strain (BE)", Mark::Dashed, |r| r.bending_error);
    }
    series.extend(phases(motion));
    Ok(Picture::from(Chart {
        title: "Error against the reference over the frames".into(),
        note: Some(format!("synthetic; motion {}, not trained", motion.name)),
        x_label: "frame".into(),
        y_label: "mean error of all hinges, or of the worst fifth [rad]".into(),
        x_scale: Scale::Count,
        series,
        ..Chart::default()
    }))
}

/// Blue for the first method, vermilion for the second, then others that differ from both.
const COLORS: [usize; 5] = [4, 5, 3, 1, 6];

/// Upright lines where the bend begins, is held, and is over.
fn phases(motion: &BodyMotion) -> Option<Series> {
    let Phases { begin, peak, end } = motion.phases()?;
    let frames = [begin, peak.start, peak.end - 1].into_iter().chain(end);
    let points = frames.map(|frame| (frame as f64, 0.0));
    let label = "the bend begins, is held (two lines), is over";
    Some(Series::new(label, Mark::Upright, points).color(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Body;

    #[test]
    fn every_frame_has_its_mean_error_and_the_phases_are_marked() {
        let track = |strain: f64, plastic: f64| GarmentMotion {
            positions: vec![vec![0.0; 3]; 95],
            strain: vec![vec![strain, -strain]; 95],
            plastic: vec![vec![plastic, 0.0]; 95],
        };
        let motion = BodyMotion::canonical(&Body::arm());
        let (ours, reference) = (track(0.4, 0.1), track(0.1, -0.1));
        let Picture::Chart(chart) = picture(&[("both", &ours)], &reference, &motion).unwrap()
        else {
            panic!("a chart");
        };
        for (series, error) in chart.series.iter().zip([0.1, 0.2, 0.3]) {
            assert_eq!(series.points.len(), 95);
            assert!(series.points.iter().all(|(_, y)| (y - error).abs() < 1e-15));
        }
        let marks: Vec<f64> = chart.series[3].points.iter().map(|p| p.0).collect();
        assert_eq!(marks, [8.0, 33.0, 43.0, 68.0]);
        assert!(chart.note.as_deref().unwrap().contains("synthetic"));
        let other = BodyMotion::still(&Body::arm(), 7);
        let refused = picture(&[("both", &ours)], &reference, &other);
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("both has 95 frames") && text.contains("still has 7"),
            "{text}"
        );
    }
}
