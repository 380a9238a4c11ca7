//! The KES bending test as a [`Test`]: sheets with B and 2HB, and digitised loops.

use super::{
    Branch, KesTest,
    columns::{CURVATURE, HYSTERESIS, HYSTERESIS_SD, MOMENT, MOMENT_SD, RIGIDITY, RIGIDITY_SD},
    loops,
};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{
        Blueprint, Condition, Context, CurveKeys, DesignFigure, Figure, Grid, Label, Measured,
        Noise, PreparedTest, Setting, Survey, Sweep, Test, TestSettings, TestSetup,
        batch::HingeBlock,
        crease::seconds,
        sheet::{Assumptions, Concept, DWELL, DataSheet, accepted},
    },
};

/// Points of each branch of a drawn loop.
const CURVE_POINTS: usize = 120;
/// Where a planned loop is read: branch and share of the largest curvature.
const LOOP_READINGS: [(Branch, f64); 19] = [
    (Branch::Out, 0.2),
    (Branch::Out, 0.4),
    (Branch::Out, 0.6),
    (Branch::Out, 0.8),
    (Branch::Out, 1.0),
    (Branch::Down, 0.8),
    (Branch::Down, 0.6),
    (Branch::Down, 0.4),
    (Branch::Down, 0.2),
    (Branch::Down, 0.0),
    (Branch::Down, -0.2),
    (Branch::Down, -0.4),
    (Branch::Down, -0.6),
    (Branch::Down, -0.8),
    (Branch::Down, -1.0),
    (Branch::Back, -0.8),
    (Branch::Back, -0.6),
    (Branch::Back, -0.4),
    (Branch::Back, -0.2),
];
/// Dwells that a design tries where none are given \[s\].
const DWELLS: [f64; 5] = [0.0, 10.0, 60.0, 300.0, 1000.0];

/// A number read off a bending loop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BendingReading {
    /// B \[N·m\].
    Rigidity,
    /// 2HB \[N·m/m\].
    Hysteresis,
    /// Moment \[N·m/m\] at a curvature \[1/m\] of a branch.
    Moment(Branch, f64),
}

/// One reading of a bending cycle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BendingPoint {
    /// Largest curvature of the cycle \[1/m\].
    pub max_curvature: f64,
    /// Rest there \[s\].
    pub dwell: f64,
    /// What is read.
    pub read: BendingReading,
}

/// The KES bending test of fits and studies.
pub(crate) struct Bending;

impl BendingPoint {
    /// The reading of a condition of the bending test.
    pub fn of(condition: &Condition) -> Option<BendingPoint> {
        (condition.test.name() == Bending.name()).then(|| point(condition))
    }
}

impl From<BendingPoint> for Condition {
    fn from(point: BendingPoint) -> Condition {
        let (reading, curvature) = match point.read {
            BendingReading::Rigidity => (0, 0.0),
            BendingReading::Hysteresis => (1, 0.0),
            BendingReading::Moment(Branch::Out, curvature) => (2, curvature),
            BendingReading::Moment(Branch::Down, curvature) => (3, curvature),
            BendingReading::Moment(Branch::Back, curvature) => (4, curvature),
        };
        Condition {
            test: &Bending,
            reading,
            numbers: [point.max_curvature, point.dwell, curvature, 0.0],
        }
    }
}

/// The reading of a condition that is known to be of this test.
fn point(condition: &Condition) -> BendingPoint {
    let [max_curvature, dwell, curvature, _] = condition.numbers;
    BendingPoint {
        max_curvature,
        dwell,
        read: match condition.reading {
            0 => BendingReading::Rigidity,
            1 => BendingReading::Hysteresis,
            2 => BendingReading::Moment(Branch::Out, curvature),
            3 => BendingReading::Moment(Branch::Down, curvature),
            _ => BendingReading::Moment(Branch::Back, curvature),
        },
    }
}

impl Test for Bending {
    fn name(&self) -> &'static str {
        "bending"
    }

    fn concepts(&self) -> &'static [&'static Concept] {
        const {
            &[
                &RIGIDITY,
                &RIGIDITY_SD,
                &HYSTERESIS,
                &HYSTERESIS_SD,
                &CURVATURE,
                &MOMENT,
                &MOMENT_SD,
            ]
        }
    }

    fn quantities(&self) -> &'static [&'static Concept] {
        const { &[&RIGIDITY, &HYSTERESIS, &MOMENT] }
    }

    fn needs(&self) -> String {
        format!(
            "a KES sheet needs {}; a bending loop needs {} with {}",
            accepted(&[&RIGIDITY, &HYSTERESIS]),
            accepted(&[&CURVATURE]),
            accepted(&[&MOMENT])
        )
    }

    fn has_dwell(&self) -> bool {
        true
    }

    fn declared(&self) -> &'static [Setting] {
        const {
            &[
                Setting::number(
                    "bending_sd_share",
                    (1e-6, 1.0),
                    "spread of B and 2HB where a file gives none, as a share",
                    |s| Some(s.bending_sd_share),
                    |s, v| s.bending_sd_share = v,
                ),
                Setting::number(
                    "moment_sd_share",
                    (1e-6, 1.0),
                    "spread of a loop's moments where a file gives none, as a share of the largest",
                    |s| Some(s.moment_sd_share),
                    |s, v| s.moment_sd_share = v,
                ),
                Setting::number(
                    "max_curvature_per_m",
                    (1.0, 1e5),
                    "largest curvature of the cycle that gives B and 2HB [1/m]",
                    |s| Some(s.max_curvature_per_m),
                    |s, v| s.max_curvature_per_m = v,
                ),
                Setting::number(
                    "rate_per_m_s",
                    (1e-6, 1e6),
                    "speed of a bending cycle [1/(m·s)]",
                    |s| Some(s.rate_per_m_s),
                    |s, v| s.rate_per_m_s = v,
                ),
            ]
        }
    }

    fn check_columns(&self, sheet: &DataSheet) -> Result<()> {
        if sheet.has(&CURVATURE) == sheet.has(&MOMENT) {
            return Ok(());
        }
        let missing = if sheet.has(&MOMENT) {
            &CURVATURE
        } else {
            &MOMENT
        };
        bad_input(format!(
            "{}: a loop needs curvature and moment; add {}",
            sheet.header(),
            accepted(&[missing])
        ))
    }

    fn measured(&self, sheet: &DataSheet, assumed: &mut Assumptions) -> Result<Vec<Vec<Measured>>> {
        let (branches, sentences) = loops::branches(sheet)?;
        assumed.sentences.extend(sentences);
        let mut rows = vec![Vec::new(); sheet.rows().len()];
        for (row, branch) in sheet.rows().zip(branches) {
            let number = |concept| sheet.number(row, concept);
            let dwell = number(&DWELL)?.unwrap_or(0.0);
            let condition = |read| {
                let max_curvature = f64::NAN;
                BendingPoint {
                    max_curvature,
                    dwell,
                    read,
                }
                .into()
            };
            let moment = match (number(&CURVATURE)?, branch) {
                (Some(curvature), Some(branch)) => Some(BendingReading::Moment(branch, curvature)),
                _ => None,
            };
            for (concept, spread, read) in [
                (&RIGIDITY, &RIGIDITY_SD, Some(BendingReading::Rigidity)),
                (
                    &HYSTERESIS,
                    &HYSTERESIS_SD,
                    Some(BendingReading::Hysteresis),
                ),
                (&MOMENT, &MOMENT_SD, moment),
            ] {
                if let (Some(value), Some(read)) = (number(concept)?, read) {
                    rows[row].push(Measured {
                        condition: condition(read),
                        concept,
                        value,
                        sd: number(spread)?,
                    });
                }
            }
        }
        Ok(rows)
    }

    fn on_loop(&self, condition: &Condition) -> Option<(f64, f64)> {
        let point = point(condition);
        match point.read {
            BendingReading::Moment(_, curvature) => Some((curvature.abs(), point.dwell)),
            _ => None,
        }
    }

    fn complete(&self, condition: Condition, context: &mut Context) -> Result<Condition> {
        let point = point(&condition);
        let max_curvature = match point.read {
            BendingReading::Moment(..) => context.largest.0,
            _ => context.settings.max_curvature_per_m,
        };
        Ok(BendingPoint {
            max_curvature,
            ..point
        }
        .into())
    }

    fn assumed_sd(&self, condition: &Condition, value: f64, context: &mut Context) -> f64 {
        let (share, size, note) = match point(condition).read {
            BendingReading::Moment(..) => return assumed_moment_sd(context),
            _ => (
                context.settings.bending_sd_share,
                value.abs(),
                "B and 2HB without a spread are taken to have one of",
            ),
        };
        context
            .notes
            .push(format!("{note} {} %.", readable(100.0 * share)));
        share * size
    }

    fn curvature(&self, condition: &Condition, _: f64) -> f64 {
        point(condition).max_curvature
    }

    fn held(&self, condition: &Condition) -> f64 {
        point(condition).dwell
    }

    fn survey(&self, condition: &Condition, value: f64, survey: &mut Survey) {
        let BendingPoint {
            max_curvature,
            read,
            ..
        } = point(condition);
        survey.see_curvature(max_curvature);
        match read {
            BendingReading::Moment(_, at) => {
                if at.abs() > 0.8 * max_curvature {
                    survey.rigidities.push((value / at).abs());
                }
            }
            _ => {
                // B is read from 0.2 of the cycle on, where yarns are taken to slip already.
                survey.see_curvature(0.2 * max_curvature);
                if read == BendingReading::Rigidity {
                    survey.rigidities.push(value);
                }
            }
        }
    }

    fn sharpest(&self, _: &Condition) -> (String, &'static str) {
        (
            "a bending cycle".into(),
            "a recovery test with a small gap would make one yield",
        )
    }

    fn kind(&self, condition: &Condition) -> &'static str {
        match point(condition).read {
            BendingReading::Moment(..) => "kes_loop",
            _ => "kes",
        }
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["kes", "kes_loop"]
    }

    fn plural(&self) -> &'static str {
        "bending tests"
    }

    fn tells_curves_apart(&self) -> &'static [&'static str] {
        &["press_s"]
    }

    fn quantity(&self, condition: &Condition) -> Option<(&'static str, &'static str)> {
        Some(match point(condition).read {
            BendingReading::Rigidity => ("B", "N·m"),
            BendingReading::Hysteresis => ("2HB", "N·m/m"),
            BendingReading::Moment(..) => ("moment", "N·m/m"),
        })
    }

    fn settings(&self, condition: &Condition) -> Vec<(&'static str, f64)> {
        let point = point(condition);
        let mut settings = vec![("press_s", point.dwell)];
        if let BendingReading::Moment(_, curvature) = point.read {
            settings.push(("curvature_per_m", curvature));
        }
        settings
    }

    fn label(&self, condition: &Condition) -> Label {
        let point = point(condition);
        let dwelt = format!("dwell {} s", readable(point.dwell));
        let (name, unit, place) = match point.read {
            BendingReading::Rigidity => (format!("B, {dwelt}"), "N·m", None),
            BendingReading::Hysteresis => (format!("2HB, {dwelt}"), "N·m/m", None),
            BendingReading::Moment(branch, curvature) => {
                let branch = match branch {
                    Branch::Out => "way out",
                    Branch::Down => "way down",
                    Branch::Back => "way back",
                };
                let name = format!("moment at {} 1/m, {branch}, {dwelt}", readable(curvature));
                let curve = format!("moment, {branch}, {dwelt}");
                (name, "N·m/m", Some((curve, curvature, "curvature [1/m]")))
            }
        };
        Label { name, unit, place }
    }

    fn prepare(&self, setup: &TestSetup) -> Result<Vec<Box<dyn PreparedTest>>> {
        let mut cycles: Vec<f64> = Vec::new();
        for (_, condition) in setup.conditions {
            if let Some(point) = BendingPoint::of(condition)
                && !cycles.contains(&point.max_curvature)
            {
                cycles.push(point.max_curvature);
            }
        }
        let block = |cycle| Ok(Box::new(hinge_block(setup, cycle)?) as Box<dyn PreparedTest>);
        cycles.into_iter().map(block).collect()
    }

    fn curve_keys(&self) -> CurveKeys {
        CurveKeys {
            list: "loops",
            x: "curvature_per_m",
            fitted: "moment_nm_per_m",
            band: None,
            hard: false,
        }
    }

    /// A loop for every largest curvature and dwell.
    fn sweeps(&self, conditions: &[Condition], _: &TestSettings) -> Vec<Sweep> {
        let mut cycles: Vec<(f64, f64)> = Vec::new();
        for point in conditions.iter().map(point) {
            let cycle = (point.max_curvature, point.dwell);
            if !cycles.contains(&cycle) {
                cycles.push(cycle);
            }
        }
        let sweep = |(max_curvature, dwell): (f64, f64)| {
            let mut sweep = Sweep {
                settings: vec![("dwell_s", dwell)],
                x: Vec::new(),
                conditions: Vec::new(),
            };
            for (branch, from, to) in [
                (Branch::Out, 0.0, 1.0),
                (Branch::Down, 1.0, -1.0),
                (Branch::Back, -1.0, 0.0),
            ] {
                for k in 0..=CURVE_POINTS {
                    let share = k as f64 / CURVE_POINTS as f64;
                    let curvature = max_curvature * (from + (to - from) * share);
                    sweep.x.push(curvature);
                    let point = BendingPoint {
                        max_curvature,
                        dwell,
                        read: BendingReading::Moment(branch, curvature),
                    };
                    sweep.conditions.push(point.into());
                }
            }
            sweep
        };
        cycles.into_iter().map(sweep).collect()
    }

    fn figure(&self) -> Figure {
        Figure {
            stem: "loop",
            title: "Bending loop of",
            shows: "measured moments and the fitted cycle",
            x_label: "curvature [1/m]",
            y_label: "moment per width [N·m/m]",
            kind: "kes_loop",
            x: "curvature_per_m",
            series: ("press_s", "dwell_s", "dwell {} s"),
            angles: None,
        }
    }

    fn without_curve(&self) -> Option<(&'static str, &'static str)> {
        Some(("kes", "Bending rigidity B and hysteresis 2HB"))
    }

    fn varied(&self) -> &'static [&'static str] {
        &["dwell"]
    }

    /// Loops that are read at 19 curvatures.
    fn next(&self, _: &[Condition], settings: &TestSettings, grid: &Grid) -> Vec<Vec<Condition>> {
        let dwells = grid.values("dwell").unwrap_or(&DWELLS);
        let cycles = dwells.iter().map(|dwell| planned_loop(*dwell, settings));
        cycles
            .map(|cycle| cycle.into_iter().map(Condition::from).collect())
            .collect()
    }

    fn design_figure(&self) -> Option<DesignFigure> {
        Some(DesignFigure {
            series: None,
            words: "KES loop, dwell",
            x: "press_s",
            x_name: "dwell of a KES loop",
            x_unit: "s",
            is_line: false,
        })
    }

    fn planned(&self) -> &'static str {
        "A KES loop counts as 19 moments with tests.moment_sd_share of the largest."
    }

    fn command(&self) -> &'static str {
        "kes"
    }

    fn chosen(&self) -> &'static [&'static str] {
        self.varied()
    }

    fn blueprint(&self, settings: &TestSettings, grid: &Grid) -> Result<Blueprint> {
        let dwells = grid.values("dwell").unwrap_or(&[0.0]);
        let points = dwells.iter().flat_map(|d| planned_loop(*d, settings));
        let row = |point: BendingPoint| {
            let BendingReading::Moment(branch, curvature) = point.read else {
                return None;
            };
            let curvature = readable((1e9 * curvature).round() / 1e9);
            let settings = format!("{},{},{curvature}", point.dwell, branch.name());
            Some((settings, point.into()))
        };
        Ok(Blueprint {
            columns: "dwell_s,branch,curvature_per_m,moment_Nm_per_m,sd_Nm_per_m",
            rows: points.filter_map(row).collect(),
            quantity: "moment",
            per_unit: 1.0,
            range: MOMENT.range,
            noise: Noise::PercentOfLargest(100.0 * settings.moment_sd_share),
        })
    }

    fn measurement(&self, condition: &Condition) -> String {
        format!("KES loop, dwell {} s", seconds(point(condition).dwell))
    }

    fn planned_sd(&self, _: &[f64], expected: &[f64], settings: &TestSettings) -> f64 {
        let largest = expected.iter().fold(0.0f64, |a, m| a.max(m.abs()));
        settings.moment_sd_share * largest.max(f64::MIN_POSITIVE)
    }

    fn scales_with_stiffness(&self) -> bool {
        true
    }
}

/// The readings of a loop that is not measured yet.
fn planned_loop(dwell: f64, settings: &TestSettings) -> [BendingPoint; 19] {
    let max_curvature = settings.max_curvature_per_m;
    LOOP_READINGS.map(|(branch, share)| BendingPoint {
        max_curvature,
        dwell,
        read: BendingReading::Moment(branch, share * max_curvature),
    })
}

/// Standard deviation of a moment or torque whose file gives none: a share of the largest of its loop.
pub(in crate::laboratory) fn assumed_moment_sd(context: &mut Context) -> f64 {
    let share = context.settings.moment_sd_share;
    context.notes.push(format!(
        "Moments and torques without a spread are taken to have one of {} % of the largest.",
        readable(100.0 * share)
    ));
    share * context.largest.1
}

/// The readings of all cycles up to one curvature as hinges.
fn hinge_block(setup: &TestSetup, cycle: f64) -> Result<HingeBlock> {
    let test = KesTest {
        max_curvature: 1.0,
        rate: setup.resolution.settings.rate_per_m_s / cycle,
        ..KesTest::default()
    };
    let (rigidity, hysteresis) = test.reading_weights();
    let (mut indices, mut dwells, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (group, condition)) in setup.conditions.iter().enumerate() {
        let Some(point) = BendingPoint::of(condition).filter(|p| p.max_curvature == cycle) else {
            continue;
        };
        indices.push((i, *group));
        dwells.push(point.dwell);
        // A slope keeps its size when curvature and moment shrink alike; a moment does not.
        let (row, size) = match point.read {
            BendingReading::Rigidity => (rigidity.clone(), 1.0),
            BendingReading::Hysteresis => (hysteresis.clone(), cycle),
            BendingReading::Moment(branch, curvature) => {
                (test.moment_weights(branch, curvature / cycle), cycle)
            }
        };
        // The first is the origin, which no step reads.
        weights.extend(row[1..].iter().map(|w| w * size));
    }
    Ok(HingeBlock {
        rollout: test.rollout(setup.law.clone(), setup.resolution.gate(), &dwells)?,
        weights,
        offset: 0.0,
        scales: vec![cycle; indices.len()],
        conditions: indices,
    })
}
