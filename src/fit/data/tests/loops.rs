//! Which branch of its cycle every point of a digitised loop lies on.

use crate::{
    error::Result,
    fit::data::{DataFile, Measured},
    laboratory::{BendingPoint, BendingReading, Branch, Condition},
};

/// The branches of a loop with these curvatures \[1/cm\], as letters.
fn letters(curvatures: &[f64]) -> Result<String> {
    let rows: String = curvatures.iter().map(|k| format!("{k},0.1\n")).collect();
    let text = format!("curvature_per_cm,moment_gf_cm_per_cm\n{rows}");
    let letter = |p: &Measured| match BendingPoint::of(&p.condition).map(|p| p.read) {
        Some(BendingReading::Moment(branch, _)) => format!("{branch:?}")[..1].to_string(),
        _ => "?".into(),
    };
    Ok(DataFile::parse(&text, "t")?
        .points
        .iter()
        .map(letter)
        .collect())
}

#[test]
fn branches_turn_where_the_curvature_does() {
    for (curvatures, expected) in [
        (&[0.0, 1.0, 2.5, 1.0, -1.0, -2.5, -1.0, 0.0][..], "OOODDDBB"),
        // Starts on the way, or at the top; ends early.
        (&[1.0, 2.5, 0.0, -2.5, -0.1], "OODDB"),
        (&[2.5, 1.0, -2.5, 0.0], "ODDB"),
        (&[0.0, 1.0, 2.5], "OOO"),
        (&[0.0, 2.5, 1.0, 0.0], "OODD"),
        // Jitter below 2 % of 2.5 = 0.05, on the way and at the turns.
        (
            &[
                -0.02, 0.0, 1.0, 0.97, 2.0, 2.5, 2.48, 2.49, 1.0, 1.04, -2.5, -2.47, -2.49, -1.0,
                -1.03, 0.02,
            ],
            "OOOOOODDDDDBBBBB",
        ),
        // Held at the top: the first point there ends the way out.
        (&[0.0, 2.5, 2.5, 2.5, 0.0, -2.5, 0.0], "OODDDDB"),
    ] {
        assert_eq!(letters(curvatures).unwrap(), expected, "{curvatures:?}");
    }
    for (curvatures, message) in [
        (
            &[0.0, -1.0, -2.5, 1.0, 2.5, 0.0][..],
            "t line 3: the loop goes to the negative side first; mirror it",
        ),
        (
            &[0.2, -1.0, -2.5, 1.0, 2.5, 0.0],
            "t line 3: the loop goes to the negative side first",
        ),
        (
            &[-2.5, 0.0, 2.5, 0.0],
            "t line 2: the loop goes to the negative side first",
        ),
        (
            &[0.0, 2.5, -2.5, 0.0, 2.5, 0.0],
            "t line 6: a second cycle begins",
        ),
        (&[0.0, 2.5, 1.0, 2.5], "t line 4: a second cycle begins"),
        (&[0.0, 2.5], "does not show its branches"),
        (
            &[250.0, 0.0, -250.0],
            "curvature_per_cm = 250 is outside -100 to 100 1/cm",
        ),
    ] {
        let error = letters(curvatures).unwrap_err().to_string();
        assert!(error.contains(message), "{curvatures:?}: {error}");
    }
}

#[test]
fn loops_are_told_apart_and_may_name_their_branches() {
    // Two interleaved loops; the second is longer held and not symmetric.
    let file = DataFile::parse(
        "curvature_per_m,moment_Nm_per_m,dwell_s,direction\n0,0,0,warp\n0,0,60,warp\n250,1,0,Warp\n\
         250,1,60,warp\n-250,-1,0,warp\n-200,-1,60,warp\n0,-0.1,0,warp\n0,-0.1,60,warp\n",
        "t",
    )
    .unwrap();
    let found: Vec<Condition> = file.points.iter().map(|p| p.condition).collect();
    let point = |curvature, branch, dwell| -> Condition {
        let (max_curvature, read) = (f64::NAN, BendingReading::Moment(branch, curvature));
        BendingPoint {
            max_curvature,
            dwell,
            read,
        }
        .into()
    };
    assert_eq!(found[5], point(-200.0, Branch::Down, 60.0));
    assert_eq!(found[6], point(0.0, Branch::Back, 0.0));
    assert_eq!(file.assumptions.len(), 1);
    assert!(file.assumptions[0].contains("t line 3: the loop turns at 250 and -200 1/m"));
    for (text, message) in [
        ("100,1,out\n-100,1,back\n50,1,down", ""),
        ("100,1,up", "t line 2: branch = 'up' is not known"),
        ("100,1,out\n50,1,", "t line 3: branch is empty"),
        (
            "-100,1,out",
            "t line 2: branch = out at a negative curvature",
        ),
        (
            "100,1,back",
            "t line 2: branch = back at a positive curvature",
        ),
        ("100,,out", "t line 2: moment_Nm_per_m is empty"),
        (
            "2.5,1,out",
            "these look like 1/cm: name the column curvature_per_cm",
        ),
    ] {
        let outcome = DataFile::parse(
            &format!("curvature_per_m,moment_Nm_per_m,branch\n{text}"),
            "t",
        );
        let error = outcome.err().map_or(String::new(), |e| e.to_string());
        assert!(
            error.contains(message) && error.is_empty() == message.is_empty(),
            "{text:?}: {error}"
        );
    }
}
