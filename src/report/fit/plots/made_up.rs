//! A made-up fit that tests of pictures and reports draw.

use crate::fit::result::*;

const TIMES: [f64; 9] = [0.0, 1.0, 5.0, 30.0, 120.0, 600.0, 3600.0, 2e4, 86400.0];

/// A recovery that falls with the pressing time and rises with the gap.
fn angle(gap: f64, press: f64) -> f64 {
    165.0 - 14.0 * (1.0 + press).log10() * (1.0 + 0.5 / gap) + 6.0 * gap
}

fn crease_points(group: &str, gap: f64) -> Vec<PointResult> {
    let point = |(i, &press): (usize, &f64)| PointResult {
        test: "crease".into(),
        group: group.into(),
        place: format!("crease.csv line {}", i + 2),
        held_out: gap == 1.0 || press == 600.0 && gap == 2.0,
        settings: [
            ("gap_mm".into(), gap),
            ("press_s".into(), press),
            ("read_s".into(), 300.0),
        ]
        .into(),
        measured_deg: Some(angle(gap, press) + 4.0 * (3.0 * i as f64 + gap).sin()),
        sd_deg: Some(2.0 + gap),
        fitted_deg: Some(angle(gap, press)),
        hard_deg: Some(angle(gap, press) - 0.2),
        prediction_sd: Some(4.0),
        ..PointResult::default()
    };
    TIMES.iter().enumerate().map(point).collect()
}

fn curve(group: &str, gap: f64) -> FittedCurve {
    let press: Vec<f64> = (0..=60).map(|i| 10f64.powf(0.085 * f64::from(i))).collect();
    let fitted: Vec<f64> = press.iter().map(|&t| angle(gap, t)).collect();
    let moved = |by: f64| fitted.iter().map(|angle| angle + by).collect();
    FittedCurve {
        group: group.into(),
        test: "crease".into(),
        settings: [("gap_mm".into(), gap), ("read_s".into(), 300.0)].into(),
        hard: moved(if gap == 2.0 { -3.0 } else { -0.2 }),
        low: moved(-7.0),
        high: moved(7.0),
        x: press,
        fitted,
    }
}

fn bending_points(group: &str) -> Vec<PointResult> {
    let reading = |quantity: &str, unit: &str, measured: f64, fitted: f64| PointResult {
        test: "kes".into(),
        group: group.into(),
        quantity: Some(quantity.into()),
        unit: Some(unit.into()),
        measured: Some(measured),
        sd: Some(0.05 * measured),
        fitted: Some(fitted),
        ..PointResult::default()
    };
    let moment = |i: i32| {
        let (curvature, moment) = cycle(0.1 * f64::from(i));
        PointResult {
            test: "kes_loop".into(),
            settings: [
                ("curvature_per_m".into(), curvature),
                ("press_s".into(), 0.0),
            ]
            .into(),
            ..reading(
                "moment",
                "N·m/m",
                moment + 2e-5 * f64::from(i).sin(),
                moment,
            )
        }
    };
    let mut points = vec![
        reading("B", "N·m", 1.1e-5, 1.15e-5),
        reading("2HB", "N·m/m", 8e-4, 7.5e-4),
    ];
    points.extend((0..40).map(moment).map(|point| PointResult {
        sd: Some(1e-4),
        ..point
    }));
    points
}

/// A loop, by the time on it from 0 to 4.
fn cycle(time: f64) -> (f64, f64) {
    let (curvature, friction): (f64, f64) = match time {
        t if t < 1.0 => (250.0 * t, 1.0 - (-12.0 * t).exp()),
        t if t < 3.0 => (250.0 * (2.0 - t), 2.0 * (-12.0 * (t - 1.0)).exp() - 1.0),
        t => (250.0 * (t - 4.0), 1.0 - 2.0 * (-12.0 * (t - 3.0)).exp()),
    };
    (curvature, 1.1e-5 * curvature + 4e-4 * friction)
}

fn parameter(name: &str) -> ParameterResult {
    ParameterResult {
        name: name.into(),
        symbol: "ε_0".into(),
        unit: "1/m".into(),
        value: Some(20.0),
        best: 20.0,
        std_error: Some(2.0),
        ci95: [Some(16.5), None],
        verdict: "identified".into(),
        free: true,
        start: Some(30.0),
        bounds: Some([1.0, 1e3]),
        prior: None,
    }
}

fn profile(name: &str, width: f64) -> ProfileResult {
    let steps = || (-8..=8).map(|i| f64::from(i) / 3.0);
    ProfileResult {
        limit: 8.64,
        name: name.into(),
        values: steps().map(|step| 20.0 * (width * step).exp()).collect(),
        delta_chi2: steps()
            .map(|step| step * step * (1.0 + 0.2 * step))
            .collect(),
    }
}

fn start(number: usize) -> StartResult {
    let worse = [21.3, 21.3, 21.31, 48.0, 21.3, 260.0, 21.3, 9000.0][number % 8];
    StartResult {
        start: number,
        first_chi2: Some(4e5),
        chi2: (number != 11).then_some(worse),
        best: worse < 21.305 && number != 11,
        rounds: 30,
        outcome: "the step is small".into(),
    }
}

fn round(number: i32) -> RoundResult {
    let (stage, within) = (number / 12, number % 12);
    RoundResult {
        stage: stage as usize + 1,
        gate_width: 0.1 / 3f64.powi(stage),
        alive: 16,
        best_chi2: 20.0
            + f64::from(stage)
            + 3e4 / 40f64.powi(stage) * (-0.8 * f64::from(within)).exp(),
    }
}

/// A plausible fit of several groups.
pub(crate) fn fit(groups: &[&str]) -> FitResult {
    let names: Vec<String> = [
        "bending_stiffness",
        "friction_stiffness",
        "friction_threshold_initial",
        "friction_threshold_final",
        "friction_time",
        "yield_strain[weft]",
        "plastic_modulus",
        "plastic_time",
    ]
    .map(String::from)
    .into();
    let correlation = |i: usize, j: usize| match (i, j) {
        (7, 3) | (3, 7) => None,
        _ if i == j => Some(1.0),
        _ => Some((1.7 * (i * j + i + j) as f64).sin() * 0.98),
    };
    let rows = |i: usize| (0..8).map(|j| correlation(i, j)).collect();
    let mut result = FitResult {
        name: "made-up".into(),
        synthetic: true,
        law: "time_dependent".into(),
        relaxation_branches: 2,
        population: false,
        notes: Vec::new(),
        convergence: "6 of 16 starts ended in the best minimum".into(),
        interrupted: false,
        parameters: names.iter().map(|name| parameter(name)).collect(),
        correlations: Correlations {
            names: names.clone(),
            matrix: (0..8).map(rows).collect(),
        },
        statistics: FitStatistics {
            points: 17,
            free: 8,
            seen: 8,
            freedom: 9,
            chi2: 21.3,
            reduced_chi2: Some(2.4),
            aic: 37.3,
            bic: 44.0,
            r2: Some(0.97),
            hard_chi2: 21.4,
            error_scale: 1.5,
            misfit_scale: 1.0,
        },
        misfit: Misfit {
            declared: false,
            chi2_probability: Some(0.2),
            runs: 9,
            expected_runs: 9.5,
            runs_probability: Some(0.4),
            verdict: "the law follows the data".into(),
        },
        hold_out: None,
        hard_law: HardLaw {
            largest_deg: Some(0.2),
            largest_sd: 0.2,
            verdict: "angles are up to 0.2° from the hard law, because tests.hinges = 2048 asks for sums over hinges".into(),
        },
        gradient_check: JacobianCheck {
            parameters: Vec::new(),
            largest_error: 1e-8,
            passed: true,
        },
        points: Vec::new(),
        curves: Curves::default(),
        profiles: vec![
            profile("yield_strain[weft]", 0.08),
            profile("friction_time", 1.1),
        ],
        starts: (1..=16).map(start).collect(),
        rounds: (0..36).map(round).collect(),
        bootstrap: None,
        spread: None,
        data: Vec::new(),
        run: RunResult {
            folder: "fit".into(),
            version: "0".into(),
            command: "rumple fit".into(),
            device: "cpu".into(),
            optimizer: "levenberg".into(),
            seed: 1,
            seconds: 3.0,
        },
        files: Vec::new(),
    };
    for group in groups {
        for gap in [0.4, 1.0, 2.0] {
            result.points.extend(crease_points(group, gap));
            result.curves.0.push(curve(group, gap));
        }
        result.points.extend(bending_points(group));
        let path: Vec<(f64, f64)> = (0..=400).map(|i| cycle(0.01 * f64::from(i))).collect();
        let (x, fitted) = path.into_iter().unzip();
        result.curves.0.push(FittedCurve {
            test: "bending".into(),
            group: group.to_string(),
            settings: [("dwell_s".into(), 0.0)].into(),
            x,
            fitted,
            ..FittedCurve::default()
        });
    }
    result
}

/// The other fit: another law, a curve lower by 8°, and one reading more.
pub(crate) fn other_fit() -> FitResult {
    let mut other = fit(&["cotton warp"]);
    other.name = "second".into();
    other.law = "hardening_plastic".into();
    for angle in other
        .curves
        .0
        .iter_mut()
        .filter(|curve| curve.test == "crease")
        .flat_map(|curve| &mut curve.fitted)
    {
        *angle -= 8.0;
    }
    let mut more = other.points[3].clone();
    more.measured_deg = Some(100.0);
    other.points.push(more);
    other
}
