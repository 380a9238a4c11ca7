//! Tests on a made-up fit; the picture test writes its files where `RUMPLE_PICTURES` says, to look at.

use super::made_up::{fit, other_fit};
use super::*;
use crate::fit::result::Correlations;

/// Writes a picture where `RUMPLE_PICTURES` says.
fn look_at(stem: &str, picture: &Picture) {
    if let Some(folder) = std::env::var_os("RUMPLE_PICTURES") {
        let path = std::path::Path::new(&folder).join(format!("{stem}.png"));
        picture.save(&path).expect("png");
    }
}

fn stems(entries: &[(Topic, NamedPicture)]) -> Vec<&str> {
    entries.iter().map(|(_, entry)| entry.0.as_str()).collect()
}

/// Every picture of a fit can be drawn in both formats and says what it shows and of what.
#[test]
fn draws_all_pictures_of_a_fit() {
    let result = fit(&["cotton warp"]);
    let entries = pictures(&result);
    let expected = [
        ("recovery", "gap 1 mm, held out"),
        ("residuals", "±2 standard deviations"),
        ("residuals-other", "cotton warp, 2HB"),
        ("loop-cotton-warp", "moment per width [N·m/m]"),
        ("kes", "fitted 2HB, cotton warp"),
        ("starts", "in the best minimum: 8 of 16"),
        ("cost", "stage 3, gate width 0.01111"),
        ("profiles-yield-strain-weft", "95 % limit, 8.64"),
        (
            "profiles-friction-time",
            "95 % interval: 16.5 and more, open above",
        ),
        ("correlations", "yield_strain[weft]"),
    ];
    assert_eq!(stems(&entries), expected.map(|pair| pair.0));
    let folder = std::env::var_os("RUMPLE_PICTURES").map(std::path::PathBuf::from);
    let temporary = std::env::temp_dir().join(format!("rumple-pictures-{}", std::process::id()));
    let target = folder.as_ref().unwrap_or(&temporary);
    std::fs::create_dir_all(target).expect("a folder");
    let mut shown = entries.clone();
    for (_, (stem, _, picture)) in comparison(&result, &other_fit()) {
        shown.push((
            Topic::Curves,
            (format!("comparison-{stem}"), String::new(), picture),
        ));
    }
    for (_, (stem, _, picture)) in &shown {
        picture
            .save(&target.join(format!("{stem}.svg")))
            .expect("svg");
        let png = target.join(format!("{stem}.png"));
        picture.save(&png).expect("png");
        let bytes = std::io::Cursor::new(std::fs::read(&png).expect("the picture"));
        let mut reader = png::Decoder::new(bytes).read_info().expect("header");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut pixels).expect("image");
        let inked = pixels.iter().filter(|&&part| part < 128).count();
        assert!(inked > 5000, "{stem} is empty");
    }
    if folder.is_none() {
        std::fs::remove_dir_all(&temporary).expect("the temporary folder");
    }
    for ((_, (stem, caption, picture)), (_, text)) in entries.iter().zip(expected) {
        let svg = picture.svg().expect("svg");
        for text in [text, "synthetic data, fit made-up", "law time_dependent"] {
            assert!(svg.contains(text), "{stem} lacks '{text}'");
        }
        assert!(caption.ends_with("(synthetic data)."), "{caption}");
    }
}

/// Several groups and many reading times get pictures of their own; points that cannot stand on a log
/// axis are in the note; an empty fit has no pictures.
#[test]
fn splits_and_leaves_out() {
    let mut result = fit(&["cotton warp", "Cotton/Warp"]);
    let entries = pictures(&result);
    assert!(stems(&entries).contains(&"recovery-cotton-warp"));
    assert!(
        stems(&entries).contains(&"recovery-cotton-warp-2"),
        "equal stems"
    );
    let Picture::Chart(chart) = &entries[0].1.2 else {
        panic!("a chart");
    };
    let note = chart.note.as_deref().unwrap_or_default();
    assert!(note.contains("pressed 0 s"), "{note}");
    assert!(note.contains("thin dashed: hard law"), "{note}");
    for (_, (stem, _, picture)) in &entries {
        look_at(&format!("two-{stem}"), picture);
    }
    result.points.retain(|point| point.group == "cotton warp");
    result.curves.0.retain(|curve| curve.group == "cotton warp");
    for read in [60.0, 3600.0] {
        let mut later = result.curves.0[..3].to_vec();
        for curve in &mut later {
            curve.settings.insert("read_s".into(), read);
        }
        result.curves.0.extend(later);
    }
    let names = pictures(&result);
    assert_eq!(
        stems(&names)[..3],
        [
            "recovery-read-60s",
            "recovery-read-300s",
            "recovery-read-3600s"
        ]
    );
    let mut empty = fit(&[]);
    (empty.profiles, empty.starts, empty.rounds) = Default::default();
    (empty.correlations.names, empty.correlations.matrix) = Default::default();
    assert_eq!(stems(&pictures(&empty)), Vec::<&str>::new());
}

/// Two fits share axes; equal data are drawn once, and different fabrics are still compared.
#[test]
fn compares_two_fits() {
    let (a, b) = (fit(&["cotton warp"]), other_fit());
    let labels = |entries: &[(Topic, NamedPicture)]| -> Vec<(String, usize)> {
        let Picture::Chart(chart) = &entries[0].1.2 else {
            panic!("a chart");
        };
        let drawn = chart
            .series
            .iter()
            .filter(|series| series.mark == Mark::Hollow);
        drawn
            .map(|series| (series.label.clone(), series.points.len()))
            .collect()
    };
    let hollow = labels(&comparison(&a, &b));
    assert!(hollow == [("B, gap 0.4 mm".into(), 1)], "{hollow:?}");
    assert!(
        labels(&comparison(&a, &a)).is_empty(),
        "equal data are drawn twice"
    );
    let linen = fit(&["linen"]);
    let entries = comparison(&a, &linen);
    assert_eq!(stems(&entries), ["recovery", "loop"]);
    assert!(
        entries[0].1.1.contains("cotton warp and linen"),
        "{}",
        entries[0].1.1
    );
}

/// Twenty long names are cut to their place and can still be told apart.
#[test]
fn draws_a_large_correlation_matrix() {
    let mut result = fit(&[]);
    let names: Vec<String> = (0..20)
        .map(|i| format!("friction_threshold_final_{i}[cotton weft]"))
        .collect();
    let cell = |i: usize, j: usize| Some(((i * 7 + j * 7) as f64).cos());
    let row = |i: usize| (0..20).map(|j| cell(i, j)).collect();
    result.correlations = Correlations {
        names,
        matrix: (0..20).map(row).collect(),
    };
    let entries = pictures(&result);
    let (_, (_, _, picture)) = entries.last().expect("correlations");
    let svg = picture.svg().expect("svg");
    for branch in 0..20 {
        // Abbreviated twice, as a row and as a column, and never the number.
        let number = format!("_{branch}[");
        let names = svg
            .lines()
            .filter(|line| line.contains(&number) && line.contains('.'));
        assert_eq!(names.count(), 2, "names with {number}");
    }
    look_at("correlations-20", picture);
}
