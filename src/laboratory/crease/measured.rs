//! The crease recovery test as a [`Test`]: what its angles tell, and what to measure next.

use std::sync::Arc;

use super::{
    CREST_CURVATURE, CreasePoint, CreaseTest,
    columns::{self, ANGLE, ANGLE_SD, GAP, PRESS, READ, THICKNESS},
    curves,
    grid::{GAPS, around, one_three_ten},
    point::point,
    settings::{CHOSEN, SETTINGS},
    shares::Folds,
    whole::{WholeFolds, hinge_block},
};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{
        AngleFigure, Blueprint, ChosenSetting, Condition, Context, CurveKeys, DesignFigure, Figure,
        Grid, Label, MeasuredValue, Noise, PreparedTest, Setting, ShareTest, Specimen, Survey,
        Sweep, Test, TestSettings, TestSetup,
        sheet::{Assumptions, Concept, DataSheet, accepted},
        strip::StripBlock,
    },
    material::Law,
    numeric::statistics::quantile,
};

/// Pressing times of a made-up table \[s\].
const PRESSES: [f64; 11] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1e3, 3e3, 1e4, 3e4, 1e5];

/// The crease recovery test of fits and studies.
pub(crate) struct Recovery;

impl Test for Recovery {
    fn name(&self) -> &'static str {
        "crease"
    }

    fn concepts(&self) -> &'static [&'static Concept] {
        const { &[&ANGLE, &ANGLE_SD, &GAP, &PRESS, &READ, &THICKNESS] }
    }

    fn quantities(&self) -> &'static [&'static Concept] {
        const { &[&ANGLE] }
    }

    fn needs(&self) -> String {
        format!("a recovery test needs {}", accepted(&[&ANGLE]))
    }

    fn check_columns(&self, sheet: &DataSheet) -> Result<()> {
        // Beside an angle, percent could also mean a share of that angle.
        if sheet.name(&ANGLE_SD) == "sd_pct" && sheet.name(&ANGLE) != "recovery_pct" {
            return bad_input(format!(
                "{}: 'sd_pct' belongs to recovery_pct; beside '{}' give sd_deg or sd_rad",
                sheet.header(),
                sheet.name(&ANGLE)
            ));
        }
        Ok(())
    }

    fn measured(
        &self,
        sheet: &DataSheet,
        assumed: &mut Assumptions,
    ) -> Result<Vec<Vec<MeasuredValue>>> {
        columns::measured(sheet, assumed)
    }

    fn complete(&self, condition: Condition, context: &mut Context) -> Result<Condition> {
        let mut point = point(&condition);
        let settings = context.settings;
        if point.gap.is_nan() {
            let Some(gap) = settings.gap_mm else {
                return bad_input(format!(
                    "{}: no gap is known; add a column gap_mm or thickness_mm, or give --gap-mm (tests.gap_mm of a case)",
                    context.place
                ));
            };
            point.gap = 1e-3 * gap;
        }
        if point.press.is_nan() {
            point.press = settings.press_s;
            context.notes.push(format!(
                "Pressing times that are not given are taken as {} s.",
                readable(settings.press_s)
            ));
        }
        if point.read.is_nan() {
            point.read = settings.read_s;
            context.notes.push(format!(
                "Reading times that are not given are taken as {} s.",
                readable(settings.read_s)
            ));
        }
        Ok(point.into())
    }

    fn assumed_sd(&self, _: &Condition, _: f64, context: &mut Context) -> f64 {
        let sd = context.settings.sd_deg;
        context.notes.push(format!(
            "Angles without a spread are taken to have one of {}°.",
            readable(sd)
        ));
        sd
    }

    fn hold_out_setting(&self, condition: &Condition, name: &str) -> Option<f64> {
        let point = point(condition);
        match name {
            "gap_mm" => Some(1e3 * point.gap),
            "press_s" => Some(point.press),
            _ => None,
        }
    }

    fn curvature(&self, condition: &Condition, _: f64) -> f64 {
        CREST_CURVATURE / point(condition).gap
    }

    fn held(&self, condition: &Condition) -> f64 {
        point(condition).press
    }

    fn survey(&self, condition: &Condition, angle: f64, survey: &mut Survey) {
        survey.see_curvature(self.curvature(condition, angle));
    }

    fn shows_time(&self, _: &Condition) -> bool {
        true
    }

    fn tells_rigidity(&self) -> bool {
        false
    }

    fn sharpest(&self, condition: &Condition) -> (String, &'static str) {
        (
            format!("a gap of {:.3} mm", 1e3 * point(condition).gap),
            "a smaller gap would make one yield",
        )
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["crease"]
    }

    fn plural(&self) -> &'static str {
        "recovery angles"
    }

    fn tells_curves_apart(&self) -> &'static [&'static str] {
        &["gap_mm", "read_s"]
    }

    fn orders_curve(&self) -> Option<&'static str> {
        Some("press_s")
    }

    fn quantity(&self, _: &Condition) -> Option<(&'static str, &'static str)> {
        None
    }

    fn settings(&self, condition: &Condition) -> Vec<(&'static str, f64)> {
        let point = point(condition);
        vec![
            ("gap_mm", point.gap_mm()),
            ("press_s", point.press),
            ("read_s", point.read),
        ]
    }

    fn label(&self, condition: &Condition) -> Label {
        let point = point(condition);
        let gap = readable((1e9 * point.gap).round() / 1e6);
        let read = readable(point.read);
        Label {
            name: format!(
                "angle, gap {gap} mm, pressed {} s, read after {read} s",
                readable(point.press)
            ),
            unit: "°",
            place: Some((
                format!("gap {gap} mm, read after {read} s"),
                point.press,
                "pressing time [s]",
            )),
        }
    }

    /// A full turn either way is beyond any release.
    fn possible(&self) -> (std::ops::RangeInclusive<f64>, &'static str) {
        (-180.0..=360.0, "is beyond a full turn")
    }

    fn curve_summary(&self) -> Option<[&'static str; 2]> {
        Some(["mean angle", "loss from shortest to longest pressing"])
    }

    fn needs_meshes(&self, settings: &TestSettings) -> bool {
        settings.specimen == Specimen::StripMesh
    }

    fn declared(&self) -> &'static [Setting] {
        &SETTINGS
    }

    fn note(&self, settings: &TestSettings) -> Option<String> {
        (settings.specimen == Specimen::StripMesh).then(|| {
            format!(
                "Angles are those of strip meshes of {} cells along the fold under the hard law, read right after the release; they jump as hinge after hinge slips, so their derivatives are the hinge ensemble's.",
                settings.strip_cells
            )
        })
    }

    /// A mesh is expensive, and its early stages simulate independent hinges.
    fn starts(&self, settings: &TestSettings) -> usize {
        match settings.specimen {
            Specimen::Hinges => 16,
            Specimen::StripMesh => 6,
        }
    }

    /// The cost of strips jumps as hinges slip: to look for less than a jump only costs rounds.
    fn search_limits(&self, settings: &TestSettings) -> Option<(f64, f64)> {
        (settings.specimen == Specimen::StripMesh).then_some((1e-3, 1e3))
    }

    fn prepare(&self, setup: &TestSetup) -> Result<Vec<Box<dyn PreparedTest>>> {
        let mut prepared: Vec<Box<dyn PreparedTest>> = Vec::new();
        if let Some(hinges) = hinge_block(setup)? {
            if setup.resolution.whole_folds {
                let points = setup.conditions.iter();
                let points = points.filter_map(|(_, c)| CreasePoint::of(c)).collect();
                prepared.push(Box::new(WholeFolds { points, hinges }));
            } else {
                prepared.push(Box::new(hinges));
            }
        }
        if let Some(cells) = setup.resolution.strip_cells()
            && let Some(block) = StripBlock::new(cells, setup)?
        {
            prepared.push(Box::new(block));
        }
        Ok(prepared)
    }

    fn shares(
        &self,
        law: &Arc<dyn Law>,
        conditions: &[(usize, Condition)],
    ) -> Result<Option<Box<dyn ShareTest>>> {
        let folds = Folds::new(law, conditions)?;
        Ok(folds.map(|folds| Box::new(folds) as Box<dyn ShareTest>))
    }

    fn curve_keys(&self) -> CurveKeys {
        CurveKeys {
            list: "curves",
            x: "press_s",
            fitted: "fitted_deg",
            band: Some(["hard_deg", "low_deg", "high_deg"]),
            hard: false,
        }
    }

    fn sweeps(&self, conditions: &[Condition], settings: &TestSettings) -> Vec<Sweep> {
        curves::sweeps(conditions, settings)
    }

    fn figure(&self) -> Figure {
        Figure {
            stem: "recovery",
            title: "Crease recovery of",
            shows: "measured points, fitted curves and their 95 % prediction bands",
            x_label: "pressing time [s]",
            y_label: "recovery angle [°]",
            kind: "crease",
            x: "press_s",
            series: ("gap_mm", "gap_mm", "gap {} mm"),
            angles: Some(AngleFigure {
                caption: "Recovery angle of {} against pressing time",
                x: "pressing time",
                at_zero: "pressed 0 s",
                panel: "read_s",
                label: "read {} s",
                sentence: "read {} s after release",
            }),
        }
    }

    fn varied(&self) -> &'static [&'static str] {
        &["gap", "press"]
    }

    fn next(
        &self,
        known: &[Condition],
        settings: &TestSettings,
        grid: &Grid,
    ) -> Vec<Vec<Condition>> {
        let points: Vec<CreasePoint> = known.iter().map(point).collect();
        let read = points.first().map_or(settings.read_s, |p| p.read);
        let gaps = match grid.values("gap") {
            Some(gaps) => gaps.to_vec(),
            None => around(points.iter().map(|p| p.gap).collect()),
        };
        let presses = match grid.values("press") {
            Some(presses) => presses.to_vec(),
            None => one_three_ten(points.iter().map(|p| p.press)),
        };
        CreaseTest::grid(&gaps, &presses, &[read])
            .into_iter()
            .map(|point| vec![point.into()])
            .collect()
    }

    fn measurement(&self, condition: &Condition) -> String {
        let point = point(condition);
        format!(
            "gap {} mm, pressed {} s",
            point.gap_mm(),
            seconds(point.press)
        )
    }

    fn design_figure(&self) -> Option<DesignFigure> {
        Some(DesignFigure {
            series: Some("gap_mm"),
            words: "gap {} mm",
            x: "press_s",
            x_name: "pressing time of a crease",
            x_unit: "s",
            is_line: true,
        })
    }

    fn planned(&self) -> &'static str {
        "A recovery angle counts with the median spread of the data."
    }

    fn chosen(&self) -> &'static [ChosenSetting] {
        &CHOSEN
    }

    fn blueprint(&self, _: &TestSettings, grid: &Grid) -> Result<Blueprint> {
        let values = |name, usual| grid.values(name).unwrap_or(usual);
        let reads = values("read", &[300.0]);
        let points = CreaseTest::grid(values("gap", &GAPS), values("press", &PRESSES), reads);
        let row = |point: CreasePoint| {
            let settings = format!("{},{},{}", point.gap_mm(), point.press, point.read);
            (settings, point.into())
        };
        Ok(Blueprint {
            columns: "gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg",
            rows: points.into_iter().map(row).collect(),
            quantity: "angle",
            per_unit: 1.0,
            range: ANGLE.range,
            noise: Noise::Degrees(2.0),
        })
    }

    fn planned_sd(&self, known: &[f64], _: &[f64], settings: &TestSettings) -> f64 {
        if known.is_empty() {
            settings.sd_deg
        } else {
            quantile(known, 0.5)
        }
    }
}

/// A time without the rounding of a power of ten.
pub(in crate::laboratory) fn seconds(time: f64) -> String {
    readable((1e6 * time).round() / 1e6)
}
