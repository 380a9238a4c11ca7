//! The twist of a cylinder as a [`Test`]: torques on the way out and back.

use std::f64::consts::PI;

use super::{
    Twist, Way, block,
    section::{self, CHOSEN},
    ways,
};
use crate::{
    error::{Result, bad_input, readable},
    laboratory::{
        Blueprint, CaseSection, ChosenSetting, Condition, Context, CurveKeys, Figure, Grid, Label,
        MeasuredValue, Noise, PreparedTest, Survey, Sweep, Test, TestSettings, TestSetup,
        bending::assumed_moment_sd,
        sheet::{Assumptions, Concept, DWELL, DataSheet, accepted, column},
    },
};

/// Turn of the top \[rad\]; half a turn wrings any cylinder.
pub(super) static TURN: Concept = Concept {
    beginnings: &[&["turn"]],
    ..Concept::number(
        "turn",
        (0.0, PI),
        &[
            column(
                "turn_deg",
                "degrees",
                PI / 180.0,
                "turn of a twisted cylinder's top, rows in the order of the test",
            ),
            column("turn_rad", "radians", 1.0, "the same"),
        ],
    )
};
/// A torque of 100 N·m breaks any cylinder of cloth.
pub(super) static TORQUE: Concept = Concept {
    beginnings: &[&["torque"]],
    ..Concept::number(
        "torque",
        (-100.0, 100.0),
        &[
            column("torque_Nmm", "N·mm", 1e-3, "torque at that turn"),
            column("torque_Nm", "N·m", 1.0, "the same"),
        ],
    )
};
static TORQUE_SD: Concept = Concept::spread(
    "torque sd",
    "torque",
    &[
        column("sd_Nmm", "N·mm", 1e-3, "standard deviation of the torque"),
        column("sd_Nm", "N·m", 1.0, "the same"),
    ],
);

/// One torque of a twist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TorquePoint {
    /// The twist.
    pub twist: Twist,
    /// Out or back.
    pub way: Way,
    /// Turn at which it is read \[rad\].
    pub turn: f64,
    /// Length of a cell of the mesh \[m\]: no wrinkle is much sharper than its inverse.
    pub cell: f64,
}

/// The twist of fits and studies.
pub(crate) struct Torque;

impl TorquePoint {
    /// The torque of a condition of the twist.
    pub fn of(condition: &Condition) -> Option<TorquePoint> {
        (condition.test.name() == Torque.name()).then(|| point(condition))
    }
}

impl From<TorquePoint> for Condition {
    fn from(point: TorquePoint) -> Condition {
        Condition {
            test: &Torque,
            reading: match point.way {
                Way::Out => 0,
                Way::Back => 1,
            },
            numbers: [point.twist.turn, point.twist.hold, point.turn, point.cell],
        }
    }
}

/// The torque of a condition that is known to be of this test.
fn point(condition: &Condition) -> TorquePoint {
    let [largest, hold, turn, cell] = condition.numbers;
    TorquePoint {
        twist: Twist {
            turn: largest,
            hold,
        },
        way: if condition.reading == 0 {
            Way::Out
        } else {
            Way::Back
        },
        turn,
        cell,
    }
}

/// An angle in degrees as it was given.
fn degrees(angle: f64) -> f64 {
    (1e9 * angle.to_degrees()).round() / 1e9
}

impl Test for Torque {
    fn name(&self) -> &'static str {
        "twist"
    }

    fn concepts(&self) -> &'static [&'static Concept] {
        const { &[&TURN, &TORQUE, &TORQUE_SD] }
    }

    fn quantities(&self) -> &'static [&'static Concept] {
        const { &[&TORQUE] }
    }

    fn needs(&self) -> String {
        format!(
            "a twist needs {} with {}",
            accepted(&[&TURN]),
            accepted(&[&TORQUE])
        )
    }

    fn has_dwell(&self) -> bool {
        true
    }

    fn check_columns(&self, sheet: &DataSheet) -> Result<()> {
        if sheet.has(&TURN) == sheet.has(&TORQUE) {
            return Ok(());
        }
        let missing = if sheet.has(&TORQUE) { &TURN } else { &TORQUE };
        bad_input(format!(
            "{}: a twist needs turn and torque; add {}",
            sheet.header(),
            accepted(&[missing])
        ))
    }

    fn measured(&self, sheet: &DataSheet, _: &mut Assumptions) -> Result<Vec<Vec<MeasuredValue>>> {
        let mut rows = vec![Vec::new(); sheet.rows().len()];
        for (row, way) in sheet.rows().zip(ways::ways(sheet)?) {
            let number = |concept| sheet.number(row, concept);
            if let (Some(turn), Some(value), Some(way)) = (number(&TURN)?, number(&TORQUE)?, way) {
                let twist = Twist {
                    turn: f64::NAN,
                    hold: number(&DWELL)?.unwrap_or(0.0),
                };
                let cell = f64::NAN;
                let point = TorquePoint {
                    twist,
                    way,
                    turn,
                    cell,
                };
                rows[row].push(MeasuredValue {
                    condition: point.into(),
                    concept: &TORQUE,
                    value,
                    sd: number(&TORQUE_SD)?,
                });
            }
        }
        Ok(rows)
    }

    fn on_loop(&self, condition: &Condition) -> Option<(f64, f64)> {
        let point = point(condition);
        Some((point.turn, point.twist.hold))
    }

    fn complete(&self, condition: Condition, context: &mut Context) -> Result<Condition> {
        let Some(cylinder) = &context.settings.twist else {
            return bad_input(format!(
                "{}: a torque needs the cylinder that was twisted; give the case a section \"twist\" with radius_mm, height_mm, membrane_N_per_m and density_kg_per_m2",
                context.place
            ));
        };
        let mut point = point(&condition);
        point.twist.turn = context.largest.0;
        point.cell = cylinder.cell();
        Ok(point.into())
    }

    fn assumed_sd(&self, _: &Condition, _: f64, context: &mut Context) -> f64 {
        assumed_moment_sd(context)
    }

    fn curvature(&self, condition: &Condition, _: f64) -> f64 {
        1.0 / point(condition).cell
    }

    fn held(&self, condition: &Condition) -> f64 {
        point(condition).twist.hold
    }

    /// Wrinkles are some cells wide.
    fn survey(&self, condition: &Condition, _: f64, survey: &mut Survey) {
        let cell = point(condition).cell;
        survey.see_curvature(0.1 / cell);
        survey.see_curvature(1.0 / cell);
        survey.tells_rigidity = true;
    }

    fn sharpest(&self, _: &Condition) -> (String, &'static str) {
        (
            "a bending cycle".into(),
            "a recovery test with a small gap would make one yield",
        )
    }

    fn kinds(&self) -> &'static [&'static str] {
        &["twist"]
    }

    fn plural(&self) -> &'static str {
        "torques"
    }

    fn tells_curves_apart(&self) -> &'static [&'static str] {
        &["press_s"]
    }

    fn slopes_are_differences(&self) -> bool {
        true
    }

    fn quantity(&self, _: &Condition) -> Option<(&'static str, &'static str)> {
        Some(("torque", "N·m"))
    }

    fn settings(&self, condition: &Condition) -> Vec<(&'static str, f64)> {
        let point = point(condition);
        vec![
            ("press_s", point.twist.hold),
            ("turn_deg", degrees(point.turn)),
        ]
    }

    fn label(&self, condition: &Condition) -> Label {
        let point = point(condition);
        let way = point.way.name();
        let held = readable(point.twist.hold);
        let turn = point.turn.to_degrees();
        Label {
            name: format!("torque, {way}, turned {turn:.4}°, held {held} s"),
            unit: "N·m",
            place: Some((format!("torque, {way}, held {held} s"), turn, "turn [°]")),
        }
    }

    fn needs_meshes(&self, settings: &TestSettings) -> bool {
        settings.twist.is_some()
    }

    /// Every round is a simulation of the whole cylinder, for which the hinges of the early stages cannot stand in.
    fn starts(&self, settings: &TestSettings) -> usize {
        if settings.twist.is_some() { 3 } else { 16 }
    }

    /// A twist is smoother than a strip, but every round is dear.
    fn search_limits(&self, settings: &TestSettings) -> Option<(f64, f64)> {
        settings.twist.is_some().then_some((1e-5, 1e6))
    }

    fn prepare(&self, setup: &TestSetup) -> Result<Vec<Box<dyn PreparedTest>>> {
        let Some(test) = &setup.resolution.twist() else {
            return Ok(Vec::new());
        };
        let blocks = block::blocks(test, setup)?.into_iter();
        Ok(blocks
            .map(|b| Box::new(b) as Box<dyn PreparedTest>)
            .collect())
    }

    fn is_left_out(&self, setup: &TestSetup) -> bool {
        setup.resolution.twist().is_none()
    }

    fn curve_keys(&self) -> CurveKeys {
        CurveKeys {
            list: "twists",
            x: "turn_deg",
            fitted: "torque_nm",
            band: None,
            hard: true,
        }
    }

    /// The way out and back of every twist.
    fn sweeps(&self, conditions: &[Condition], settings: &TestSettings) -> Vec<Sweep> {
        let mut twists: Vec<TorquePoint> = Vec::new();
        for point in conditions.iter().map(point) {
            if twists.iter().all(|known| known.twist != point.twist) {
                twists.push(point);
            }
        }
        let steps = settings.twist.map_or(1, |t| t.steps);
        let sweep = |first: TorquePoint| {
            let turn = |k: usize| first.twist.turn * k as f64 / steps as f64;
            let out = (0..=steps).map(|k| (Way::Out, turn(k)));
            let back = (0..steps).rev().map(|k| (Way::Back, turn(k)));
            let places: Vec<(Way, f64)> = out.chain(back).collect();
            let condition = |&(way, turn): &(Way, f64)| TorquePoint { way, turn, ..first }.into();
            Sweep {
                settings: vec![("dwell_s", first.twist.hold)],
                x: places.iter().map(|(_, turn)| turn.to_degrees()).collect(),
                conditions: places.iter().map(condition).collect(),
            }
        };
        twists.into_iter().map(sweep).collect()
    }

    fn figure(&self) -> Figure {
        Figure {
            stem: "twist",
            title: "Twist of",
            shows: "measured torques and the fitted way out and back",
            x_label: "turn of the top [degrees]",
            y_label: "torque [N·m]",
            kind: "twist",
            x: "turn_deg",
            series: ("press_s", "dwell_s", "held {} s"),
            angles: None,
        }
    }

    fn chosen(&self) -> &'static [ChosenSetting] {
        &CHOSEN
    }

    fn section(&self) -> Option<CaseSection> {
        Some(section::declared())
    }

    /// Every twist is read on the way out, and on the way back at all but the largest turn, and at 0.
    fn blueprint(&self, settings: &TestSettings, grid: &Grid) -> Result<Blueprint> {
        let Some(cylinder) = &settings.twist else {
            return bad_input(
                "a torque needs the cylinder that is twisted; give a case with a section \"twist\"",
            );
        };
        let usual = [9.0f64, 18.0, 27.0, 36.0, 45.0].map(f64::to_radians);
        let mut turns = grid.values("turn").unwrap_or(&usual).to_vec();
        turns.sort_by(f64::total_cmp);
        turns.dedup();
        let largest = turns[turns.len() - 1];
        let out = turns.iter().map(|turn| (Way::Out, *turn));
        let back = turns.iter().rev().skip(1).chain(&[0.0]);
        let readings: Vec<(Way, f64)> = out.chain(back.map(|turn| (Way::Back, *turn))).collect();
        let mut rows = Vec::new();
        for &hold in grid.values("hold").unwrap_or(&[0.0]) {
            let twist = Twist {
                turn: largest,
                hold,
            };
            for &(way, turn) in &readings {
                let cell = cylinder.cell();
                let point = TorquePoint {
                    twist,
                    way,
                    turn,
                    cell,
                };
                let settings = format!("{hold},{},{}", way.name(), degrees(turn));
                rows.push((settings, point.into()));
            }
        }
        Ok(Blueprint {
            columns: "dwell_s,branch,turn_deg,torque_Nmm,sd_Nmm",
            rows,
            quantity: "torque",
            per_unit: 1e3,
            range: (1e3 * TORQUE.range.0, 1e3 * TORQUE.range.1),
            noise: Noise::PercentOfLargest(0.1),
        })
    }

    fn planned_sd(&self, known: &[f64], _: &[f64], _: &TestSettings) -> f64 {
        known.first().copied().unwrap_or(f64::MIN_POSITIVE)
    }
}
