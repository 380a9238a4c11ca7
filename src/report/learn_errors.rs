//! Errors over the frames of a roll-out (paper 2, Fig. 8b).

use super::plot::{Chart, Mark, Picture, Scale, Series};
use crate::{
    error::{Result, bad_input},
    learn::{Motion, Track},
};

/// Mean errors of every frame against the reference \[rad\].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FrameErrors {
    /// PE: of the rest bending.
    pub plastic: Vec<f64>,
    /// BE: of the strain.
    pub bending: Vec<f64>,
}

impl FrameErrors {
    /// Of a prediction; tracks that were checked.
    pub fn of(predicted: &Track, reference: &Track) -> FrameErrors {
        FrameErrors {
            plastic: gaps(&predicted.plastic, &reference.plastic),
            bending: gaps(&predicted.strain, &reference.strain),
        }
    }
}

/// Mean |a − b| of every frame.
fn gaps(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<f64> {
    let frame = |(a, b): (&Vec<f64>, &Vec<f64>)| {
        let sum: f64 = a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum();
        sum / a.len().max(1) as f64
    };
    a.iter().zip(b).map(frame).collect()
}

/// One method a colour, PE solid and BE dashed, with the phases of the bend.
pub fn picture(methods: &[(&str, FrameErrors)], motion: &Motion) -> Result<Picture> {
    let frames = motion.frames();
    for (name, errors) in methods {
        let counts = [errors.plastic.len(), errors.bending.len()];
        if let Some(count) = counts.into_iter().find(|count| *count != frames) {
            return bad_input(format!(
                "{name}: errors of {count} frames for the {frames} frames of motion {}; give one a frame",
                motion.name
            ));
        }
    }
    let mut series = Vec::new();
    for (number, (name, errors)) in methods.iter().enumerate() {
        let mut add = |what: &str, mark, values: &[f64]| {
            let points = values.iter().enumerate();
            series.push(Series {
                label: format!("{name}: {what}"),
                points: points.map(|(frame, y)| (frame as f64, *y)).collect(),
                mark,
                color: Some(COLORS[number % COLORS.len()]),
                ..Series::default()
            });
        };
        add("rest bending (PE)", Mark::Line, &errors.plastic);
        add("strain (BE)", Mark::Dashed, &errors.bending);
    }
    series.extend(phases(motion));
    Ok(Picture::from(Chart {
        title: "Error against the reference over the frames".into(),
        note: Some(format!("synthetic; motion {}, not trained", motion.name)),
        x_label: "frame".into(),
        y_label: "mean error of all hinges [rad]".into(),
        x_scale: Scale::Count,
        series,
        ..Chart::default()
    }))
}

/// Blue for the first method, vermilion for the second, then others that differ from both.
const COLORS: [usize; 5] = [4, 5, 3, 1, 6];

/// Upright lines where the bend begins, is held, and is over.
fn phases(motion: &Motion) -> Option<Series> {
    let phases = motion.phases()?;
    let frames = [
        phases.begin,
        phases.peak.start,
        phases.peak.end - 1,
        phases.end,
    ];
    Some(Series {
        label: "bend begins, held from, held to, over".into(),
        points: frames.map(|frame| (frame as f64, 0.0)).to_vec(),
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
    fn every_frame_has_its_mean_error_and_the_phases_are_marked() {
        let track = |strain: f64, plastic: f64| Track {
            positions: vec![vec![0.0; 3]; 95],
            strain: vec![vec![strain, -strain]; 95],
            plastic: vec![vec![plastic, 0.0]; 95],
        };
        let errors = FrameErrors::of(&track(0.3, 0.1), &track(0.1, -0.1));
        assert!(errors.bending.iter().all(|e| (e - 0.2).abs() < 1e-15));
        assert!(errors.plastic.iter().all(|e| (e - 0.1).abs() < 1e-15));
        let motion = Motion::canonical(&Body::arm());
        let Picture::Chart(chart) = picture(&[("both", errors)], &motion).unwrap() else {
            panic!("a chart");
        };
        assert_eq!(chart.series[0].points.len(), 95);
        let marks: Vec<f64> = chart.series[2].points.iter().map(|p| p.0).collect();
        assert_eq!(marks, [8.0, 33.0, 43.0, 68.0]);
        assert!(chart.note.as_deref().unwrap().contains("synthetic"));
    }

    #[test]
    fn errors_of_another_motion_are_refused() {
        let motion = Motion::canonical(&Body::arm());
        let short = FrameErrors {
            plastic: vec![0.0; 95],
            bending: vec![0.0; 7],
        };
        let text = picture(&[("both", short)], &motion)
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("both: errors of 7 frames for the 95"),
            "{text}"
        );
    }
}
