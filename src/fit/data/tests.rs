mod loops;

use std::f64::consts::PI;

use super::*;
use crate::laboratory::{BendingPoint, BendingReading, CreasePoint};

/// A recovery; what is not given is open.
fn recovery(gap: Option<f64>, press: Option<f64>, read: Option<f64>) -> Condition {
    let [gap, press, read] = [gap, press, read].map(|x| x.unwrap_or(f64::NAN));
    CreasePoint { gap, press, read }.into()
}

/// A bending reading whose largest curvature is open.
fn bending(read: BendingReading, dwell: f64) -> Condition {
    let max_curvature = f64::NAN;
    BendingPoint {
        max_curvature,
        dwell,
        read,
    }
    .into()
}

fn parse(text: &str) -> DataFile {
    DataFile::parse(text, "t").unwrap_or_else(|e| panic!("{text:?}: {e}"))
}

/// All values and standard deviations of a file.
fn values(text: &str) -> Vec<(f64, Option<f64>)> {
    parse(text).points.iter().map(|p| (p.value, p.sd)).collect()
}

/// Whether `a` is `b` up to the rounding of one multiplication.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 4.0 * f64::EPSILON * b.abs()
}

#[test]
fn every_unit_is_converted() {
    for (columns, cells, value, sd) in [
        ("angle_deg,sd_deg", "120,2", 120.0, 2.0),
        ("angle_deg,sd_deg,n", "120,2,16", 120.0, 0.5),
        ("angle_rad,sd_rad", "2,0.1", 360.0 / PI, 18.0 / PI),
        ("recovery_pct,sd_pct", "50,1", 90.0, 1.8),
        ("recovery_pct,sd_deg", "50,1", 90.0, 1.0),
        ("B_Nm,B_sd_Nm", "1e-5,1e-6", 1e-5, 1e-6),
        ("B_uNm,B_sd_uNm", "10,1", 1e-5, 1e-6),
        (
            "B_gf_cm2_per_cm,B_sd_gf_cm2_per_cm",
            "1,2",
            9.80665e-5,
            2.0 * 9.80665e-5,
        ),
        ("2HB_Nm_per_m,2HB_sd_Nm_per_m", "1e-3,1e-4", 1e-3, 1e-4),
        (
            "2HB_gf_cm_per_cm,2HB_sd_gf_cm_per_cm,n",
            "1,2,4",
            9.80665e-3,
            9.80665e-3,
        ),
        (
            "curvature_per_m,moment_Nm_per_m,sd_Nm_per_m,branch",
            "100,1e-3,1e-4,out",
            1e-3,
            1e-4,
        ),
        (
            "curvature_per_cm,moment_gf_cm_per_cm,sd_gf_cm_per_cm,branch",
            "1,1,2,Out",
            9.80665e-3,
            2.0 * 9.80665e-3,
        ),
    ] {
        let found = values(&format!("{columns}\n{cells}\n"));
        let [(v, Some(s))] = found[..] else {
            panic!("{columns}: {found:?}");
        };
        assert!(close(v, value) && close(s, sd), "{columns}: {v} {s}");
    }
    for (columns, cells, gap, press, read) in [
        (
            "gap_mm,press_time_s,recovery_time_s",
            "1.5,90,60",
            Some(1.5e-3),
            Some(90.0),
            Some(60.0),
        ),
        (
            "gap_cm,press_time_min,recovery_time_min",
            "0.1,5,0",
            Some(1e-3),
            Some(300.0),
            Some(0.0),
        ),
        (
            "gap_m,press_time_h,recovery_time_h",
            "0.001,2,24",
            Some(1e-3),
            Some(7200.0),
            Some(86400.0),
        ),
        (
            "gap_mm,press_time_s,recovery_time_s",
            ",,",
            None,
            None,
            None,
        ),
        ("thickness_mm", "0.5", Some(1e-3), None, None),
        ("gap_mm,thickness_mm", "2,0.5", Some(2e-3), None, None),
    ] {
        let point = &parse(&format!("angle_deg,{columns}\n90,{cells}\n")).points[0];
        assert_eq!(point.condition, recovery(gap, press, read), "{columns}");
    }
    // π with a few digits is flat, not an error.
    assert_eq!(values("angle_rad\n3.1416\n")[0].0, 180.0);
}

#[test]
fn a_sheet_gives_what_its_cells_hold() {
    let file = parse(
        "# one fabric\nfabric,direction,angle_deg,B_Nm,2HB_Nm_per_m,dwell_s\n\
         broad, WARP ,71,1e-5,1e-3,5\n\n# weft is next\nbroad,Filling,,2e-5,,\n,bias,80,,,\n",
    );
    let found: Vec<_> = file
        .points
        .iter()
        .map(|p| {
            (
                p.line,
                p.fabric.as_deref(),
                p.direction.as_deref(),
                p.condition,
            )
        })
        .collect();
    let recovery = recovery(None, None, None);
    assert_eq!(
        found,
        [
            (3, Some("broad"), Some("warp"), recovery),
            (
                3,
                Some("broad"),
                Some("warp"),
                bending(BendingReading::Rigidity, 5.0)
            ),
            (
                3,
                Some("broad"),
                Some("warp"),
                bending(BendingReading::Hysteresis, 5.0)
            ),
            (
                6,
                Some("broad"),
                Some("weft"),
                bending(BendingReading::Rigidity, 0.0)
            ),
            (7, None, Some("bias"), recovery),
        ]
    );
    assert_eq!(file.points[3].place, "t line 6");
    assert_eq!(file.remarks, ["one fabric"]);
    assert_eq!(
        file.assumptions,
        ["t line 6 (1 row): no dwell_s is given; taken as 0, a cycle without a stop"]
    );
}

#[test]
fn remarks_assumptions_and_the_synthetic_mark_are_carried() {
    let rows: String = (0..9)
        .map(|i| format!("9{i},1,0.5,ISO 2313,op{i},5\n"))
        .collect();
    let file = parse(&format!(
        "# a\n#\n# b,,,,\nangle_deg,sd_deg,thickness_mm,method,operator,dwell_s\n# c\n{rows}"
    ));
    assert_eq!(
        file.remarks,
        [
            "a",
            "b",
            "thickness_mm: 0.5",
            "method: ISO 2313",
            "operator: op0, op1, op2, op3, op4, op5, …",
            "dwell_s (not used): 5"
        ]
    );
    assert_eq!(file.assumptions.len(), 2);
    assert!(file.assumptions[0].starts_with("t line 6 (9 rows from there): no gap"));
    assert!(file.assumptions[1].contains("no n is given"));
    assert!(!file.synthetic);
    let comments = "# x\n".repeat(30);
    assert_eq!(parse(&format!("{comments}angle_deg\n90")).remarks.len(), 10);
    for text in [
        "angle_deg,evidence\n90,M\n91,Synthetic (rumple)",
        "angle_deg,source\n90,synthetic",
        "angle_deg,method\n90,synthetic",
        "# SYNTHETIC\nangle_deg\n90",
        "angle_deg\n90\n# synthetic from here\n91",
    ] {
        assert!(parse(text).synthetic, "{text}");
    }
    // A fibre may be synthetic where the data are not.
    assert!(!parse("angle_deg,composition\n90,synthetic fibre").synthetic);
    let odd = parse("B_Nm,2HB_Nm_per_m,dwell_s\n0.067,0.124,0").remarks;
    assert!(
        odd[0].contains("B_Nm is 0.067 N·m, far") && odd[1].contains("2HB"),
        "{odd:?}"
    );
}

#[test]
fn bad_files_are_refused_by_line_and_column() {
    for (text, parts) in [
        (
            "angle_deg\nNaN",
            "t line 2: angle_deg = 'NaN' is not a finite number",
        ),
        ("angle_deg,gap_mm\n90,1\n91,inf", "t line 3: gap_mm = 'inf'"),
        (
            "angle_deg,press_time_s\n90,5 min",
            "t line 2: press_time_s = '5 min'",
        ),
        (
            "B_Nm,press_time_s,dwell_s\n1e-5,x,0",
            "t line 2: press_time_s = 'x'",
        ),
        (
            "angle_deg,sd_deg\n90,-1",
            "t line 2: sd_deg = -1 must be above 0",
        ),
        ("angle_deg,sd_deg\n90,0", "t line 2: sd_deg = 0 must"),
        ("B_Nm,B_sd_Nm\n1e-5,0", "t line 2: B_sd_Nm = 0 must"),
        (
            "angle_deg,n\n90,0",
            "t line 2: n = 0 must be a whole number",
        ),
        (
            "angle_deg,n\n90,2.5",
            "t line 2: n = 2.5 must be a whole number",
        ),
        (
            "angle_deg\n185",
            "angle_deg = 185 is outside 0 to 180 degrees|angle_rad|two rows",
        ),
        ("angle_deg\n-1", "angle_deg = -1 is outside"),
        (
            "angle_rad\n71",
            "angle_rad = 71 is outside 0 to 3.1416 radians|angle_deg",
        ),
        (
            "recovery_pct\n101",
            "recovery_pct = 101 is outside 0 to 100 %",
        ),
        (
            "angle_deg\n1.2\n2.2\n3.1",
            "t line 2: no angle_deg of the file is above 3.1; these look like radians: name the column angle_rad",
        ),
        (
            "recovery_pct\n0.2\n0.3\n0.9",
            "above 0.9; these look like shares",
        ),
        (
            "angle_deg,gap_mm\n90,0.001",
            "gap_mm = 0.001 is outside 0.01 to 100 mm|gap_mm, gap_cm or gap_m",
        ),
        (
            "angle_deg,gap_m\n90,1.5",
            "gap_m = 1.5 is outside 1e-5 to 0.1 m",
        ),
        (
            "angle_deg,thickness_mm\n90,500",
            "thickness_mm = 500 is outside",
        ),
        (
            "angle_deg,press_time_s\n90,-1",
            "press_time_s = -1 is outside 0 to",
        ),
        (
            "angle_deg,recovery_time_h\n90,1e9",
            "recovery_time_h = 1e9 is outside",
        ),
        (
            "B_Nm\n0.118",
            "B_Nm = 0.118 is outside 1e-9 to 0.1 N·m|B_gf_cm2_per_cm",
        ),
        ("B_gf_cm2_per_cm\n1e-6", "B_gf_cm2_per_cm = 1e-6 is outside"),
        ("2HB_Nm_per_m\n-1", "2HB_Nm_per_m = -1 is outside"),
        (
            "angle_deg,gap_mm,gap_cm\n90,1,0.1",
            "t line 1: 'gap_mm' and 'gap_cm' give the same quantity",
        ),
        (
            "angle_deg,recovery_pct\n90,50",
            "'angle_deg' and 'recovery_pct'",
        ),
        (
            "# c\nangle\n90",
            "t line 2: the column 'angle' is not known|angle_deg",
        ),
        (
            "angle_deg,sd_pct\n90,2",
            "'sd_pct' belongs to recovery_pct|'angle_deg'",
        ),
        ("B_Nm,sd_deg\n1e-5,2", "'sd_deg' has no quantity|angle_deg"),
        (
            "fabric,lab\na,b",
            "t line 1: no measured quantity|angle_deg|B_Nm|curvature_per_m|moment_Nm_per_m",
        ),
        (
            "curvature_per_m\n5",
            "t line 1: a loop needs curvature and moment; add moment_Nm_per_m",
        ),
        (
            "angle_deg,B_Nm,fabric\n90,1e-5,a\n,,b",
            "t line 3: nothing measured",
        ),
        ("angle_deg,gap_mm\n90,1\n91", "t line 3: 1 columns where"),
    ] {
        let error = DataFile::parse(text, "t").unwrap_err().to_string();
        for part in parts.split('|') {
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}

#[test]
fn shipped_measurements_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    let five_minutes = recovery(None, Some(300.0), Some(300.0));
    let recovery = DataFile::read(&folder.join("recovery_measured.csv")).unwrap();
    let found: Vec<_> = recovery
        .points
        .iter()
        .map(|p| (p.fabric.as_deref().unwrap(), p.value, p.condition))
        .collect();
    assert_eq!(
        found,
        [
            ("cotton kanakin", 71.0, five_minutes),
            ("polyester muslin", 148.0, five_minutes)
        ]
    );
    let kes = DataFile::read(&folder.join("kes_measured.csv")).unwrap();
    assert_eq!(kes.points.len(), 8);
    // As tabulated in N·m and N·m/m, to the digits printed there.
    let expected = [
        1.157e-5, 1.216e-3, 6.57e-6, 3.24e-4, 7.55e-6, 2.84e-4, 1.86e-6, 6.9e-5,
    ];
    for (point, value) in kes.points.iter().zip(expected) {
        assert!((point.value / value - 1.0).abs() < 6e-3, "{point:?}");
    }
    assert!(!recovery.synthetic && !kes.synthetic);
}

/// A made-up table of every test is read back as synthetic, with the conditions and values that it was made of.
#[test]
fn every_test_can_be_synthesized_and_read_back() {
    use crate::{
        fit::{
            case::{Case, DataSource},
            dataset::Dataset,
        },
        laboratory::Grid,
        numeric::{Compute, Precision, Random},
    };
    let text = r#"{"name": "any", "data": ["t"], "twist": {"radius_mm": 40, "height_mm": 110,
        "membrane_N_per_m": [200, 200, 20, 50], "density_kg_per_m2": 0.13, "cells_around": 8, "cells_along": 3,
        "steps": 6}}"#;
    let case = Case::parse(text, "case").unwrap();
    let values = [8e-6, 6e-6, 20.0, 500.0, 1e6, 5e3, 8e-6, 0.5, 1e3];
    let grid = Grid(vec![
        ("press", vec![1.0, 60.0]),
        ("dwell", vec![0.0, 60.0]),
        ("density", vec![0.12]),
        ("turn", vec![0.1, 0.2]),
    ]);
    let compute = Compute::cpu(Precision::F64);
    for test in TESTS {
        let name = test.name();
        let plan = test.blueprint(&case.tests, &grid).unwrap();
        let exact = plan.exact(&compute, &case.build_law(), &values, &case.tests);
        let exact = exact.unwrap();
        let table = plan.table(&exact, 0.0, Random(1), "cloth");
        let file = parse(&table);
        assert!(file.synthetic, "{name}: {table}");
        assert_eq!(file.points.len(), plan.rows.len(), "{name}");
        let data = Dataset::gather(&case, &[(&DataSource::default(), file)]).unwrap();
        for ((row, (_, condition)), value) in data.rows.iter().zip(&plan.rows).zip(&exact) {
            let (read, made) = (&row.condition, condition);
            assert_eq!((read.test.name(), read.reading), (name, made.reading));
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1e-9);
            let pairs = read.numbers.iter().zip(made.numbers);
            assert!(pairs.clone().all(|(a, b)| near(*a, b)), "{read:?} {made:?}");
            assert!(value.abs() > 0.0 || row.value == 0.0, "{name}");
            assert!(near(plan.per_unit * row.value, *value), "{name}: {table}");
        }
        assert!(exact.iter().any(|v| v.abs() > 1e-6), "{name}: {exact:?}");
        // Noise changes the values and is written as their spread.
        let noisy = parse(&plan.table(&exact, 1.0, Random(1), "cloth"));
        let changed = |(a, b): (&super::Measured, f64)| plan.per_unit * a.value != b;
        assert!(noisy.points.iter().zip(exact).all(changed), "{name}");
        assert!(noisy.points.iter().all(|p| p.sd.is_some()), "{name}");
    }
}
