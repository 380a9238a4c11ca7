//! A made-up fit with everything in it, for the tests of the reports. No number here was measured.

use std::path::PathBuf;

use crate::fit::result::{
    BootstrapLine, BootstrapResult, Correlations, Curves, DataResult, FitResult, FitStatistics,
    FittedCurve, GradientLine, HardLaw, HoldOut, JacobianCheck, Misfit, ParameterResult,
    PointResult, ProfileResult, RoundResult, RunResult, StartResult,
};
use crate::fit::spread::SpreadComparison;

/// Keeps a report for the eye, in the folder that the environment names.
pub(crate) fn written(name: &str, text: &str) {
    if let Some(folder) = std::env::var_os("RUMPLE_REPORT_SAMPLES") {
        let path = PathBuf::from(folder).join(name);
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}

/// Eight free parameters, one fixed; three gaps of eight times, one of them held out; two points of a
/// bending test.
pub(crate) fn sample() -> FitResult {
    FitResult {
        name: "cotton poplin, three gaps".into(),
        synthetic: true,
        law: "time_dependent".into(),
        relaxation_branches: 0,
        population: false,
        notes: vec![
            "bending_stiffness is fixed at the KES B of the same cloth; recovery alone determines \
             ratios of stiffness only"
                .into(),
            "poplin.csv gives no standard deviations; 2° was assumed for every angle".into(),
        ],
        convergence: "converged: no start lowered χ² by more than 1e-8 of itself in a round".into(),
        interrupted: false,
        parameters: parameters(),
        correlations: correlations(),
        statistics: FitStatistics {
            points: 18,
            free: 8,
            seen: 8,
            freedom: 10,
            chi2: 7.63,
            reduced_chi2: Some(0.763),
            aic: 23.63,
            bic: 30.753,
            r2: Some(0.99124),
            hard_chi2: 7.912,
            error_scale: 0.8735,
            misfit_scale: 1.0,
        },
        misfit: Misfit {
            declared: false,
            chi2_probability: Some(0.665),
            runs: 9,
            expected_runs: 9.4,
            runs_probability: Some(0.512),
            verdict: "the law follows the data within their errors".into(),
        },
        hold_out: Some(HoldOut {
            points: 8,
            rms_z: 1.13,
            inside_95: 8,
            verdict: "the gap of 1 mm is predicted within its errors".into(),
        }),
        hard_law: HardLaw {
            largest_deg: Some(0.1),
            largest_sd: 0.05,
            verdict: "angles are up to 0.1° from the hard law, because tests.hinges = 2048 asks for sums over hinges".into(),
        },
        gradient_check: JacobianCheck {
            parameters: FREE.iter().enumerate().map(gradient_line).collect(),
            largest_error: 3.1e-7,
            passed: true,
        },
        points: points(),
        curves: Curves(
            GAPS.iter()
                .map(|gap| curve(*gap))
                .chain([bending_loop()])
                .collect(),
        ),
        profiles: vec![ProfileResult {
            limit: 3.84,
            name: FREE[1].into(),
            values: vec![80.0, 88.6, 96.4, 104.9, 113.0],
            delta_chi2: vec![12.9, 3.84, 0.0, 3.84, 12.1],
        }],
        starts: (1..=12).map(start).collect(),
        rounds: vec![RoundResult {
            stage: 1,
            gate_width: 0.1,
            alive: 12,
            best_chi2: 9.1,
        }],
        spread: Some(SpreadComparison::sample()),
        bootstrap: Some(BootstrapResult {
            samples: 200,
            parameters: vec![BootstrapLine {
                name: FREE[1].into(),
                mean: 96.71,
                sd: 4.3,
                ci95: [88.7, 105.3],
            }],
        }),
        data: vec![
            DataResult {
                file: "poplin.csv".into(),
                points: 24,
                remarks: vec!["method: ISO 2313".into(), "source: synthetic".into()],
            },
            DataResult {
                file: "poplin_kes.csv".into(),
                points: 2,
                remarks: vec![],
            },
        ],
        run: RunResult {
            folder: "fit".into(),
            version: "0.1.0".into(),
            command: "rumple fit cases/poplin.json --out fits/poplin".into(),
            device: "CPU, f64, 2 threads".into(),
            optimizer: "Levenberg-Marquardt, 12 starts, 4 stages".into(),
            seed: 7,
            seconds: 83.4,
        },
        files: ["result.json", "material.json", "report.md", "report.html"]
            .map(String::from)
            .to_vec(),
    }
}

/// The free parameters in their order.
const FREE: [&str; 8] = [
    "friction_stiffness",
    "friction_threshold_initial",
    "friction_threshold_saturated",
    "dwell_time",
    "yield_strain",
    "hardening_stiffness",
    "hardening_drop",
    "flow_time",
];
/// Distances of the plates \[mm\]; the second is held out.
const GAPS: [f64; 3] = [0.6, 1.0, 1.6];
/// Pressing times \[s\].
const TIMES: [f64; 8] = [1.0, 5.0, 20.0, 60.0, 300.0, 1200.0, 3600.0, 14400.0];

/// An identified parameter; the tests' special cases change a copy.
fn identified(
    name: &str,
    symbol: &str,
    unit: &str,
    [value, error, low, high, start]: [f64; 5],
    bounds: [f64; 2],
) -> ParameterResult {
    ParameterResult {
        name: name.into(),
        symbol: symbol.into(),
        unit: unit.into(),
        value: Some(value),
        best: value,
        std_error: Some(error),
        ci95: [Some(low), Some(high)],
        verdict: "identified".into(),
        free: true,
        start: Some(start),
        bounds: Some(bounds),
        prior: None,
    }
}

fn parameters() -> Vec<ParameterResult> {
    let stiffness = [1e-12, 10.0];
    let strain = [1.0, 1e5];
    let time = [1e-3, 1e8];
    let numbers = [4.137e-6, 2.6e-7, 3.64e-6, 4.69e-6, 2e-6];
    let friction = identified(FREE[0], "K_friction", "N·m", numbers, stiffness);
    let numbers = [96.4, 4.1, 88.6, 104.9, 60.0];
    let initial = identified(FREE[1], "ε_0", "1/m", numbers, strain);
    let numbers = [412.7, 61.3, 310.0, 0.0, 300.0];
    let saturated = ParameterResult {
        ci95: [Some(310.0), None],
        ..identified(FREE[2], "ε_inf", "1/m", numbers, strain)
    };
    let numbers = [14.21, 3.9, 8.2, 25.3, 10.0];
    let dwell = ParameterResult {
        prior: Some([12.5, 5.0]),
        ..identified(FREE[3], "τ_f", "s", numbers, time)
    };
    let numbers = [611.0, 17.0, 578.0, 645.0, 500.0];
    let yielding = identified(FREE[4], "ε_Y0", "1/m", numbers, strain);
    let numbers = [1.832e-5, 2.9e-6, 1.35e-5, 2.51e-5, 1e-5];
    let hardening = ParameterResult {
        verdict: "identified only as hardening_stiffness/bending_stiffness = 2.95 ± 0.47; \
                  its own value rests on the fixed bending_stiffness"
            .into(),
        ..identified(FREE[5], "K_h0", "N·m", numbers, stiffness)
    };
    let numbers = [0.613, 0.021, 0.571, 0.655, 0.5];
    let drop = identified(FREE[6], "g", "1", numbers, [0.0, 1.0]);
    let flow = ParameterResult {
        value: None,
        std_error: None,
        ci95: [None, None],
        verdict: "not identified: no fold yields for longer than 5 s; press for 1 h or more at a \
                  gap below 0.6 mm"
            .into(),
        ..identified(FREE[7], "τ_p", "s", [12.35, 0.0, 0.0, 0.0, 100.0], time)
    };
    let bending = ParameterResult {
        std_error: None,
        ci95: [None, None],
        verdict: "fixed: KES B of the same cloth, poplin_kes.csv line 2".into(),
        free: false,
        start: None,
        bounds: None,
        ..identified("bending_stiffness", "K_b", "N·m", [6.21e-6; 5], stiffness)
    };
    vec![
        friction, initial, saturated, dwell, yielding, hardening, drop, flow, bending,
    ]
}

fn correlations() -> Correlations {
    let entry = |i: usize, j: usize| match (i.min(j), i.max(j)) {
        // The last has no standard error.
        (_, 7) => None,
        (i, j) if i == j => Some(1.0),
        (0, 1) => Some(-0.973),
        (5, 6) => Some(0.918),
        (i, j) => Some(0.1 * i as f64 - 0.05 * j as f64),
    };
    Correlations {
        names: FREE.map(String::from).to_vec(),
        matrix: (0..8)
            .map(|i| (0..8).map(|j| entry(i, j)).collect())
            .collect(),
    }
}

/// A curve that looks like recovery.
fn angle(gap: f64, time: f64) -> f64 {
    108.0 + 22.0 * gap - 6.2 * (1.0 + time / 3.0).ln()
}

fn points() -> Vec<PointResult> {
    let mut points = Vec::new();
    for (g, gap) in GAPS.into_iter().enumerate() {
        for (t, time) in TIMES.into_iter().enumerate() {
            let fitted = angle(gap, time);
            let noise = 2.0 * (7.3 * (8 * g + t) as f64 + 1.0).sin();
            points.push(PointResult {
                test: "crease".into(),
                group: "poplin warp".into(),
                place: format!("poplin.csv:{}", 2 + 8 * g + t),
                held_out: g == 1,
                settings: [
                    ("gap_mm".into(), gap),
                    ("press_s".into(), time),
                    ("read_s".into(), 300.0),
                ]
                .into(),
                measured_deg: Some((fitted + noise).round()),
                sd_deg: Some(2.0),
                fitted_deg: Some(fitted),
                hard_deg: Some(fitted + 0.1),
                prediction_sd: Some(2.3),
                ..PointResult::default()
            });
        }
    }
    for (line, quantity, curvature) in [(2, "2HB", None), (3, "moment", Some(125.0))] {
        points.push(PointResult {
            test: if curvature.is_some() {
                "kes_loop"
            } else {
                "kes"
            }
            .into(),
            group: "poplin warp".into(),
            place: format!("poplin_kes.csv:{line}"),
            settings: [("press_s".to_string(), 0.0)]
                .into_iter()
                .chain(curvature.map(|k| ("curvature_per_m".to_string(), k)))
                .collect(),
            quantity: Some(quantity.into()),
            unit: Some("N·m/m".into()),
            measured: Some(8.31e-4),
            sd: Some(4e-5),
            fitted: Some(8.146e-4),
            hard: Some(8.15e-4),
            prediction_sd: Some(4.4e-5),
            ..PointResult::default()
        });
    }
    points
}

fn curve(gap: f64) -> FittedCurve {
    let fitted: Vec<f64> = TIMES.iter().map(|t| angle(gap, *t)).collect();
    FittedCurve {
        group: "poplin warp".into(),
        test: "crease".into(),
        settings: [("gap_mm".into(), gap), ("read_s".into(), 300.0)].into(),
        x: TIMES.to_vec(),
        hard: fitted.iter().map(|a| a + 0.1).collect(),
        low: fitted.iter().map(|a| a - 4.5).collect(),
        high: fitted.iter().map(|a| a + 4.5).collect(),
        fitted,
    }
}

fn bending_loop() -> FittedCurve {
    FittedCurve {
        test: "bending".into(),
        group: "poplin warp".into(),
        settings: [("dwell_s".into(), 0.0)].into(),
        x: vec![0.0, 250.0, 0.0, -250.0, 0.0],
        fitted: vec![0.0, 2.1e-3, -4.2e-4, -2.1e-3, 4.2e-4],
        ..FittedCurve::default()
    }
}

fn gradient_line((i, name): (usize, &&str)) -> GradientLine {
    let reverse = 31.7 / (1.0 + i as f64);
    GradientLine {
        name: name.to_string(),
        reverse,
        differences: reverse * (1.0 + 2e-7),
    }
}

/// Eight of twelve end in the best minimum; the last one fails.
fn start(start: usize) -> StartResult {
    let (chi2, outcome) = match start {
        1..=8 => (Some(7.63), "converged"),
        9..=11 => (Some(19.4), "converged"),
        _ => (None, "the law gave no finite curve near the first guess"),
    };
    StartResult {
        start,
        first_chi2: Some(130.0 + 11.0 * start as f64),
        chi2,
        best: start <= 8,
        rounds: 14 + start,
        outcome: outcome.into(),
    }
}
