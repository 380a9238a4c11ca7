//! The cantilever test as a [`Test`]: what its lengths tell, and what to measure next.

use super::{
    CantileverPoint, CantileverReading, STANDARD_ANGLE,
    columns::{AREAL_DENSITY, BENDING_LENGTH, BENDING_LENGTH_SD, OVERHANG, OVERHANG_SD},
    elastica::CantileverStrips,
    point,
    settings::{ANGLES, CHOSEN, SETTINGS},
    share,
};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{
        Blueprint, ChosenSetting, Condition, Context, CurveKeys, DesignFigure, Figure, Grid, Label,
        MeasuredValue, Noise, PreparedTest, Setting, Survey, Sweep, Test, TestSettings, TestSetup,
        crease::ANGLE,
        sheet::{Assumptions, Concept, DataSheet, accepted},
    },
};

/// Curvature at the edge times the overhang, for the elastica at 41.5°: what a strip of unknown law is taken to have.
const EDGE_CURVATURE: f64 = 3.3;
/// Spread of a length without one, as a share of it.
const SPREAD: f64 = 0.03;

/// The cantilever test of fits and studies.
pub(crate) struct Cantilever;

/// An angle in degrees as it was given.
fn degrees(angle: f64) -> f64 {
    (1e9 * angle.to_degrees()).round() / 1e9
}

/// A density in g/m² as it was given.
fn grams(density: f64) -> f64 {
    (1e9 * density).round() / 1e6
}
impl Test for Cantilever {
    fn name(&self) -> &'static str {
        "cantilever"
    }

    fn concepts(&self) -> &'static [&'static Concept] {
        const {
            &[
                &OVERHANG,
                &OVERHANG_SD,
                &BENDING_LENGTH,
                &BENDING_LENGTH_SD,
                &AREAL_DENSITY,
            ]
        }
    }

    fn quantities(&self) -> &'static [&'static Concept] {
        const { &[&OVERHANG, &BENDING_LENGTH] }
    }

    fn needs(&self) -> String {
        format!(
            "a cantilever test needs {} with {}",
            accepted(self.quantities()),
            accepted(&[&AREAL_DENSITY])
        )
    }

    fn borrows(&self, concept: &Concept) -> bool {
        *concept == ANGLE
    }

    fn declared(&self) -> &'static [Setting] {
        &SETTINGS
    }

    fn measured(&self, sheet: &DataSheet, _: &mut Assumptions) -> Result<Vec<Vec<MeasuredValue>>> {
        let mut rows = vec![Vec::new(); sheet.rows().len()];
        for row in sheet.rows() {
            let number = |concept| sheet.number(row, concept);
            for (concept, spread, read) in [
                (&OVERHANG, &OVERHANG_SD, CantileverReading::Overhang),
                (
                    &BENDING_LENGTH,
                    &BENDING_LENGTH_SD,
                    CantileverReading::BendingLength,
                ),
            ] {
                let Some(value) = number(concept)? else {
                    continue;
                };
                let angle = number(&ANGLE)?.unwrap_or(f64::NAN);
                if angle <= 0.0 || angle >= 90.0 {
                    return bad_input(format!(
                        "{}: {} = {} of a cantilever test must be between 0 and 90 degrees",
                        sheet.place(row),
                        sheet.name(&ANGLE),
                        readable(angle)
                    ));
                }
                let point = CantileverPoint {
                    angle: angle.to_radians(),
                    density: number(&AREAL_DENSITY)?.unwrap_or(f64::NAN),
                };
                rows[row].push(MeasuredValue {
                    condition: point.condition(read),
                    concept,
                    value,
                    sd: number(spread)?,
                });
            }
        }
        Ok(rows)
    }

    fn complete(&self, condition: Condition, context: &mut Context) -> Result<Condition> {
        let mut point = point(&condition);
        if point.density.is_nan() {
            let Some(grams) = context.settings.areal_density else {
                return bad_input(format!(
                    "{}: a cantilever test needs the fabric's mass per area; add a column areal_density_g_per_m2, or give tests.areal_density_g_per_m2 of a case",
                    context.place
                ));
            };
            point.density = 1e-3 * grams;
        }
        if point.angle.is_nan() {
            point.angle = STANDARD_ANGLE.to_radians();
            context.notes.push(format!(
                "Angles of cantilever tests that are not given are taken as {STANDARD_ANGLE}°."
            ));
        }
        Ok(point.condition(CantileverReading::of(&condition)))
    }

    fn assumed_sd(&self, _: &Condition, value: f64, context: &mut Context) -> f64 {
        context.notes.push(format!(
            "Lengths of cantilever tests without a spread are taken to have one of {} %.",
            readable(100.0 * SPREAD)
        ));
        SPREAD * value
    }

    /// That of an elastic strip of this overhang, at its edge.
    fn curvature(&self, condition: &Condition, value: f64) -> f64 {
        EDGE_CURVATURE * share(condition) / value
    }

    fn held(&self, _: &Condition) -> f64 {
        0.0
    }

    fn survey(&self, condition: &Condition, value: f64, survey: &mut Survey) {
        let point = point(condition);
        let overhang = value / share(condition);
        survey.see_sharp_curvature(EDGE_CURVATURE / overhang);
        survey.rigidities.push(point.flexural_rigidity(overhang));
    }

    fn sharpest(&self, _: &Condition) -> (String, &'static str) {
        (
            "the edge of a cantilever, if it were elastic".into(),
            "a recovery test with a small gap would make one yield",
        )
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["cantilever", "bending_length"]
    }

    fn plural(&self) -> &'static str {
        "cantilever tests"
    }

    fn tells_curves_apart(&self) -> &'static [&'static str] {
        &["areal_density_g_per_m2"]
    }

    fn quantity(&self, condition: &Condition) -> Option<(&'static str, &'static str)> {
        Some(match CantileverReading::of(condition) {
            CantileverReading::Overhang => ("overhang", "m"),
            CantileverReading::BendingLength => ("bending length", "m"),
        })
    }

    fn kind(&self, condition: &Condition) -> &'static str {
        match CantileverReading::of(condition) {
            CantileverReading::Overhang => "cantilever",
            CantileverReading::BendingLength => "bending_length",
        }
    }

    fn settings(&self, condition: &Condition) -> Vec<(&'static str, f64)> {
        let point = point(condition);
        vec![
            ("angle_deg", degrees(point.angle)),
            ("areal_density_g_per_m2", grams(point.density)),
        ]
    }

    fn label(&self, condition: &Condition) -> Label {
        let point = point(condition);
        let (angle, density) = (degrees(point.angle), readable(grams(point.density)));
        let what = match CantileverReading::of(condition) {
            CantileverReading::Overhang => "overhang",
            CantileverReading::BendingLength => "bending length",
        };
        Label {
            name: format!("{what} at {}°, {density} g/m²", readable(angle)),
            unit: "m",
            place: Some((format!("{what}, {density} g/m²"), angle, "angle [°]")),
        }
    }

    fn prepare(&self, setup: &TestSetup) -> Result<Vec<Box<dyn PreparedTest>>> {
        Ok(match CantileverStrips::new(setup)? {
            Some(strips) => vec![Box::new(strips)],
            None => Vec::new(),
        })
    }

    fn curve_keys(&self) -> CurveKeys {
        CurveKeys {
            list: "cantilevers",
            x: "angle_deg",
            fitted: "overhang_m",
            band: None,
            hard: false,
        }
    }

    /// The overhang against the angle, for every mass per area.
    fn sweeps(&self, conditions: &[Condition], _: &TestSettings) -> Vec<Sweep> {
        let mut densities: Vec<f64> = Vec::new();
        for point in conditions.iter().map(point) {
            if !densities.contains(&point.density) {
                densities.push(point.density);
            }
        }
        let sweep = |density: f64| {
            let x: Vec<f64> = (2..=30).map(|k| 2.5 * k as f64).collect();
            let condition = |angle: &f64| {
                let point = CantileverPoint {
                    angle: angle.to_radians(),
                    density,
                };
                point.into()
            };
            Sweep {
                settings: vec![("areal_density_g_per_m2", grams(density))],
                conditions: x.iter().map(condition).collect(),
                x,
            }
        };
        densities.into_iter().map(sweep).collect()
    }

    fn figure(&self) -> Figure {
        Figure {
            stem: "cantilever",
            title: "Cantilever of",
            shows: "measured overhangs and the fitted overhang against the angle",
            x_label: "angle from edge to tip [degrees]",
            y_label: "overhang [m]",
            kind: "cantilever",
            x: "angle_deg",
            series: (
                "areal_density_g_per_m2",
                "areal_density_g_per_m2",
                "{} g/m²",
            ),
            angles: None,
        }
    }

    fn without_curve(&self) -> Option<(&'static str, &'static str)> {
        Some(("bending_length", "Bending lengths of cantilevers"))
    }

    fn varied(&self) -> &'static [&'static str] {
        &["angle"]
    }

    /// Overhangs at some angles, at the mass per area of the data, of the case or of the grid.
    fn next(
        &self,
        known: &[Condition],
        settings: &TestSettings,
        grid: &Grid,
    ) -> Vec<Vec<Condition>> {
        let mut densities: Vec<f64> = known.iter().map(|c| point(c).density).collect();
        densities.extend(settings.areal_density.map(|grams| 1e-3 * grams));
        densities.extend(grid.values("density").unwrap_or_default());
        densities.sort_by(f64::total_cmp);
        densities.dedup();
        let overhangs = overhangs(&densities, grid).into_iter();
        overhangs.map(|point| vec![point.into()]).collect()
    }

    fn design_figure(&self) -> Option<DesignFigure> {
        Some(DesignFigure {
            series: Some("areal_density_g_per_m2"),
            words: "cantilever, {} g/m²",
            x: "angle_deg",
            x_name: "angle of a cantilever",
            x_unit: "degrees",
            is_line: true,
        })
    }

    fn planned(&self) -> &'static str {
        "An overhang counts with the smallest spread of the data, or 3 % where they have none."
    }

    /// A measurement is one overhang.
    fn scales_with_stiffness(&self) -> bool {
        true
    }

    fn chosen(&self) -> &'static [ChosenSetting] {
        &CHOSEN
    }

    fn blueprint(&self, settings: &TestSettings, grid: &Grid) -> Result<Blueprint> {
        let usual = settings.areal_density.map(|grams| vec![1e-3 * grams]);
        let densities = grid.values("density").map(<[f64]>::to_vec).or(usual);
        let Some(densities) = densities else {
            return bad_input(
                "a cantilever test needs the fabric's mass per area; give --areal-density-g-per-m2",
            );
        };
        let points = overhangs(&densities, grid);
        let row = |point: CantileverPoint| {
            let settings = format!("{},{}", degrees(point.angle), grams(point.density));
            (settings, point.into())
        };
        Ok(Blueprint {
            columns: "angle_deg,areal_density_g_per_m2,overhang_mm,overhang_sd_mm",
            rows: points.into_iter().map(row).collect(),
            quantity: "overhang",
            per_unit: 1e3,
            range: (1e3 * OVERHANG.range.0, 1e3 * OVERHANG.range.1),
            noise: Noise::PercentOfLargest(100.0 * SPREAD),
        })
    }

    fn planned_sd(&self, known: &[f64], expected: &[f64], _: &TestSettings) -> f64 {
        let usual = SPREAD * expected.first().copied().unwrap_or(1.0);
        known.first().copied().unwrap_or(usual)
    }
}

/// Overhangs at every density, and at the angles of a grid or the usual ones.
fn overhangs(densities: &[f64], grid: &Grid) -> Vec<CantileverPoint> {
    let usual = ANGLES.map(f64::to_radians);
    let angles = grid.values("angle").unwrap_or(&usual);
    let point = |density: f64, angle: f64| CantileverPoint { angle, density };
    let of_density = |d: &f64| angles.iter().map(|a| point(*d, *a)).collect::<Vec<_>>();
    densities.iter().flat_map(of_density).collect()
}
