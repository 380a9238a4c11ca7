//! The KES bending test as a [`Test`]: sheets with B and 2HB, and digitised loops.

use super::{
    Branch, KesTest,
    columns::{
        self, CURVATURE, HYSTERESIS, HYSTERESIS_SD, MOMENT, MOMENT_SD, RIGIDITY, RIGIDITY_SD,
    },
    curves,
    planned::{DWELLS, planned_loop},
    point::{BendingPoint, BendingReading, point},
    settings::{CHOSEN, SETTINGS},
};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{
        Blueprint, ChosenSetting, Condition, Context, CurveKeys, DesignFigure, Figure, Grid, Label,
        MeasuredValue, Noise, PreparedTest, Setting, Survey, Sweep, Test, TestSettings, TestSetup,
        batch::HingeBlock,
        crease::seconds,
        sheet::{Assumptions, Concept, DataSheet, accepted},
    },
};

/// The KES bending test of fits and studies.
pub(crate) struct Bending;

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
        &SETTINGS
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

    fn measured(
        &self,
        sheet: &DataSheet,
        assumed: &mut Assumptions,
    ) -> Result<Vec<Vec<MeasuredValue>>> {
        columns::measured(sheet, assumed)
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

    fn sweeps(&self, conditions: &[Condition], _: &TestSettings) -> Vec<Sweep> {
        curves::sweeps(conditions)
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

    fn chosen(&self) -> &'static [ChosenSetting] {
        &CHOSEN
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
