//! The cantilever test (ASTM D1388, Shirley): a strip is pushed over an edge until the line from the edge to its tip
//! falls by a set angle, usually 41.5°, and the overhang is read.
//!
//! The strip is an elastica under its own weight: with s from the edge, θ the angle below the horizontal and w the
//! weight per area, the moment is M(s) = ∫ w·(L − u)·cos θ(u) du from s to L, and M = σ(κ) with κ = dθ/ds and σ the
//! law. The strip bends while it moves, so yarns have no time to lock and nothing flows: the law is taken from 0 to κ in
//! no time. The standard reports the bending length c = L/2 and the flexural rigidity G = w·c³.

use nalgebra::{DMatrix, DVector};

use super::{
    Blueprint, Condition, Context, CurveKeys, DesignFigure, Figure, Grid, Label, Measured, Noise,
    Prepared, Readings, Request, Setting, Setup, Survey, Sweep, Test, TestSettings,
    crease::ANGLE,
    sheet::{Assumptions, Cells, Concept, Sheet, accepted, column},
};
use crate::{
    error::{Result, bad_input, readable},
    material::ParameterRole,
    rollout::{HingeReading, Rollout, Schedule, Step},
};

/// Angle of the standard \[degrees\].
pub(crate) const STANDARD_ANGLE: f64 = 41.5;
/// Angles of a made-up table, and those that a design tries \[degrees\].
const ANGLES: [f64; 4] = [20.0, STANDARD_ANGLE, 60.0, 75.0];
/// \[m/s²\]
const GRAVITY: f64 = 9.806_65;
/// Cells along the overhang: the overhang is within 1e-4 of its value for many.
const CELLS: usize = 64;
/// Steps from no curvature to the final one. The hard law needs one, Dahl's friction as many as a KES loop.
const STEPS: usize = 50;
/// Most evaluations of Newton's method.
const MOST_ROUNDS: usize = 100;
/// Residual at which the shape is found: of the moments in units of w·L², and of the angle \[rad\].
const TOLERANCE: f64 = 1e-12;
/// Curvature at the edge times the overhang, for the elastica at 41.5°: what a strip of unknown law is taken to have.
const EDGE_CURVATURE: f64 = 3.3;
/// Spread of a length without one, as a share of it.
const SPREAD: f64 = 0.03;

static OVERHANG: Concept = Concept {
    beginnings: &[&["overhang"], &["cantilever"]],
    ..Concept::number(
        "overhang",
        (1e-3, 1.0),
        &[
            column(
                "overhang_mm",
                "mm",
                1e-3,
                "overhang of a strip whose tip is angle_deg below its edge (41.5 where absent)",
            ),
            column("overhang_cm", "cm", 1e-2, "the same"),
        ],
    )
};
static OVERHANG_SD: Concept = Concept::spread(
    "overhang sd",
    "overhang",
    &[
        column(
            "overhang_sd_mm",
            "mm",
            1e-3,
            "standard deviation of the overhang",
        ),
        column("overhang_sd_cm", "cm", 1e-2, "the same"),
    ],
);
static BENDING_LENGTH: Concept = Concept {
    beginnings: &[&["bending", "length"]],
    ..Concept::number(
        "bending length",
        (5e-4, 0.5),
        &[
            column(
                "bending_length_mm",
                "mm",
                1e-3,
                "bending length of a cantilever test: half the overhang at 41.5 degrees",
            ),
            column("bending_length_cm", "cm", 1e-2, "the same"),
        ],
    )
};
static BENDING_LENGTH_SD: Concept = Concept::spread(
    "bending length sd",
    "bending length",
    &[
        column(
            "bending_length_sd_mm",
            "mm",
            1e-3,
            "standard deviation of the bending length",
        ),
        column("bending_length_sd_cm", "cm", 1e-2, "the same"),
    ],
);
static AREAL_DENSITY: Concept = Concept {
    cells: Cells::SettingOf(&["overhang", "bending length"]),
    beginnings: &[
        &["areal", "density"],
        &["area", "density"],
        &["mass", "per"],
    ],
    ..Concept::number(
        "areal density",
        (1e-3, 10.0),
        &[
            column(
                "areal_density_g_per_m2",
                "g/m²",
                1e-3,
                "mass per area of the fabric, which a cantilever test needs",
            ),
            column("areal_density_kg_per_m2", "kg/m²", 1.0, "the same"),
        ],
    )
};

/// The cantilever test of fits and studies.
pub(crate) struct Cantilever;

/// What is read of a strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CantileverReading {
    /// The overhang \[m\].
    Overhang,
    /// The bending length \[m\]: the overhang times `bending_length_share`.
    BendingLength,
}

/// One reading of a cantilever test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CantileverPoint {
    /// Angle from the horizontal to the line from edge to tip \[rad\], within (0, π/2).
    pub angle: f64,
    /// Mass per area \[kg/m²\].
    pub density: f64,
    /// What is read.
    pub read: CantileverReading,
}

/// Bending length over overhang. Peirce's factor (cos(φ/2)/(8·tan φ))^(1/3), scaled so that it is a half at 41.5°, as
/// the standard has it.
pub(crate) fn bending_length_share(angle: f64) -> f64 {
    let peirce = |angle: f64| ((0.5 * angle).cos() / (8.0 * angle.tan())).cbrt();
    0.5 * peirce(angle) / peirce(STANDARD_ANGLE.to_radians())
}

impl CantileverPoint {
    /// The reading of a condition of the cantilever test.
    pub fn of(condition: &Condition) -> Option<CantileverPoint> {
        (condition.test.name() == Cantilever.name()).then(|| point(condition))
    }

    /// Weight per area \[N/m²\].
    fn weight(&self) -> f64 {
        GRAVITY * self.density
    }

    /// The reading over the overhang.
    fn share(&self) -> f64 {
        match self.read {
            CantileverReading::Overhang => 1.0,
            CantileverReading::BendingLength => bending_length_share(self.angle),
        }
    }

    /// Bending length c \[m\] of an overhang \[m\].
    pub fn bending_length(&self, overhang: f64) -> f64 {
        bending_length_share(self.angle) * overhang
    }

    /// Flexural rigidity G = w·c³ \[N·m\] of an overhang \[m\].
    pub fn flexural_rigidity(&self, overhang: f64) -> f64 {
        self.weight() * self.bending_length(overhang).powi(3)
    }
}

impl From<CantileverPoint> for Condition {
    fn from(point: CantileverPoint) -> Condition {
        Condition {
            test: &Cantilever,
            reading: point.read as usize,
            numbers: [point.angle, point.density, 0.0, 0.0],
        }
    }
}

/// The reading of a condition that is known to be of this test.
fn point(condition: &Condition) -> CantileverPoint {
    let [angle, density, ..] = condition.numbers;
    CantileverPoint {
        angle,
        density,
        read: match condition.reading {
            0 => CantileverReading::Overhang,
            _ => CantileverReading::BendingLength,
        },
    }
}

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
        const {
            &[Setting::number(
                "areal_density_g_per_m2",
                (1.0, 1e4),
                "mass per area of the fabric where a file gives none [g/m²], for cantilever tests",
                |s| s.areal_density,
                |s, v| s.areal_density = Some(v),
            )]
        }
    }

    fn measured(&self, sheet: &Sheet, _: &mut Assumptions) -> Result<Vec<Vec<Measured>>> {
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
                    read,
                };
                rows[row].push(Measured {
                    condition: point.into(),
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
        Ok(point.into())
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
        EDGE_CURVATURE * point(condition).share() / value
    }

    fn held(&self, _: &Condition) -> f64 {
        0.0
    }

    fn survey(&self, condition: &Condition, value: f64, survey: &mut Survey) {
        let point = point(condition);
        let overhang = value / point.share();
        survey.see_curvature(EDGE_CURVATURE / overhang);
        survey.see_curvature(0.2 * EDGE_CURVATURE / overhang);
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
        Some(match point(condition).read {
            CantileverReading::Overhang => ("overhang", "m"),
            CantileverReading::BendingLength => ("bending length", "m"),
        })
    }

    fn kind(&self, condition: &Condition) -> &'static str {
        match point(condition).read {
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
        let what = match point.read {
            CantileverReading::Overhang => "overhang",
            CantileverReading::BendingLength => "bending length",
        };
        Label {
            name: format!("{what} at {}°, {density} g/m²", readable(angle)),
            unit: "m",
            place: Some((format!("{what}, {density} g/m²"), angle, "angle [°]")),
        }
    }

    fn prepare(&self, setup: &Setup) -> Result<Vec<Box<dyn Prepared>>> {
        let mut strips = Strips {
            bending: setup
                .law
                .parameters()
                .iter()
                .position(|p| p.role == ParameterRole::BendingStiffness),
            ramp: ramp(setup)?,
            conditions: Vec::new(),
            points: Vec::new(),
        };
        for (i, (group, condition)) in setup.conditions.iter().enumerate() {
            if let Some(point) = CantileverPoint::of(condition) {
                strips.conditions.push((i, *group));
                strips.points.push(point);
            }
        }
        match strips.points.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(vec![Box::new(strips)]),
        }
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
                    read: CantileverReading::Overhang,
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

    fn chosen(&self) -> &'static [&'static str] {
        &["angle", "density"]
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
    let point = |density: f64, angle: f64| CantileverPoint {
        angle,
        density,
        read: CantileverReading::Overhang,
    };
    let of_density = |d: &f64| angles.iter().map(|a| point(*d, *a)).collect::<Vec<_>>();
    densities.iter().flat_map(of_density).collect()
}

/// A hinge that is bent to a curvature of one in no time; its stress is read at the end.
fn ramp(setup: &Setup) -> Result<Rollout> {
    let steps = (1..=STEPS).map(|k| Step::prescribe(k as f64 / STEPS as f64, 0.0));
    let ramp = Rollout {
        law: setup.law.clone(),
        gate: setup.resolution.gate(),
        schedule: Schedule {
            steps: steps.collect(),
            readings: vec![STEPS - 1],
            reading: HingeReading::Stress,
        },
        points: 1,
        hinges: 1,
        amplitude: vec![1.0],
        duration: vec![0.0],
    };
    ramp.check()?;
    Ok(ramp)
}

/// The cantilever conditions of a list.
struct Strips {
    /// Place of the elastic rigidity among the parameters.
    bending: Option<usize>,
    ramp: Rollout,
    /// Which conditions they are, each with its group.
    conditions: Vec<(usize, usize)>,
    points: Vec<CantileverPoint>,
}

/// A strip on the way to its shape. The unknowns are the curvatures of the cells \[1/m\], from the edge to the tip, and
/// the overhang \[m\].
struct Shape {
    point: CantileverPoint,
    /// The best unknowns so far.
    best: DVector<f64>,
    /// The step from there, and its share that is tried.
    step: DVector<f64>,
    share: f64,
    residual: f64,
    /// At the best unknowns: the Jacobian of the balance, and ∂moment/∂parameter of every cell.
    jacobian: DMatrix<f64>,
    slopes: DMatrix<f64>,
}

/// A law's moments in all cells \[N·m/m\], their slopes by the curvature \[N·m\], and by the parameters.
struct Moments {
    values: Vec<f64>,
    by_curvature: Vec<f64>,
    by_parameter: DMatrix<f64>,
}

impl Shape {
    /// Begins with Peirce's overhang for a rigidity \[N·m\] and a curvature that falls to the tip as that of a beam.
    fn new(point: CantileverPoint, rigidity: f64) -> Shape {
        let overhang = (rigidity / point.weight()).cbrt() / bending_length_share(point.angle);
        let edge = 2.0 * point.angle / overhang;
        let curvature = |k: usize| edge * (1.0 - (k as f64 + 0.5) / CELLS as f64).powi(2);
        let first = (0..CELLS).map(curvature).chain([overhang]);
        Shape {
            point,
            best: DVector::from_iterator(CELLS + 1, first),
            step: DVector::zeros(CELLS + 1),
            share: 1.0,
            residual: f64::INFINITY,
            jacobian: DMatrix::zeros(0, 0),
            slopes: DMatrix::zeros(0, 0),
        }
    }

    fn trial(&self) -> DVector<f64> {
        &self.best + &self.step * self.share
    }

    fn is_found(&self) -> bool {
        self.residual < TOLERANCE
    }

    /// Whether steps have become too short to lead anywhere.
    fn is_lost(&self) -> bool {
        self.share < 1e-6
    }

    /// Judges the trial by the law's moments there, and takes it or shortens the step.
    fn judge(&mut self, moments: Moments) {
        let trial = self.trial();
        let (balance, jacobian) = balance(&self.point, &trial, &moments);
        let size = balance.amax();
        // NaN is no progress either.
        let better = size < self.residual;
        if !better || trial.iter().any(|x| *x <= 0.0) {
            self.share *= 0.5;
            return;
        }
        let Some(step) = jacobian.clone().lu().solve(&balance) else {
            self.share = 0.0;
            return;
        };
        self.best = trial;
        self.residual = size;
        self.jacobian = jacobian;
        self.slopes = moments.by_parameter;
        self.step = -step;
        // Curvatures and the overhang stay positive.
        let longest = self.step.iter().zip(&self.best);
        let longest = longest.map(|(d, x)| -d / x).fold(0.0, f64::max);
        self.share = if longest > 0.9 { 0.9 / longest } else { 1.0 };
    }

    /// The overhang \[m\] and its derivatives by the parameters.
    fn overhang(&self) -> (f64, Option<Vec<f64>>) {
        let mut wanted = DVector::zeros(CELLS + 1);
        wanted[CELLS] = -1.0;
        let weights = self.jacobian.transpose().lu().solve(&wanted);
        let unit = self.unit();
        let slopes = weights.map(|weights| {
            let of_cells = weights.rows(0, CELLS) / unit;
            self.slopes.tr_mul(&of_cells).iter().copied().collect()
        });
        (self.best[CELLS], slopes)
    }

    /// Unit of the moments' balance \[N·m/m\].
    fn unit(&self) -> f64 {
        self.point.weight() * self.best[CELLS].powi(2)
    }
}

/// What is out of balance, and its Jacobian: for every cell the law's moment less that of the weight, in units of
/// w·L², and the angle of the tip less the wanted one.
fn balance(
    point: &CantileverPoint,
    unknowns: &DVector<f64>,
    moments: &Moments,
) -> (DVector<f64>, DMatrix<f64>) {
    let n = CELLS;
    let (length, cell) = (unknowns[n], unknowns[n] / n as f64);
    let unit = point.weight() * length * length;
    // Angles at the middle of the cells.
    let mut angles = vec![0.0; n];
    let mut before = 0.0;
    for j in 0..n {
        angles[j] = cell * (before + 0.5 * unknowns[j]);
        before += unknowns[j];
    }
    // Share of the strip beyond the middle of a cell; of its own second half only half is beyond.
    let beyond = |j: usize| 1.0 - (j as f64 + 0.5) / n as f64;
    let own = |i: usize| 0.5 * (beyond(i) - 0.25 / n as f64);
    // Sums over the cells after each: of the lever, and of its slope.
    let (mut levers, mut slopes, mut turns) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    for j in (0..n - 1).rev() {
        let next = j + 1;
        let slope = beyond(next) * angles[next].sin();
        levers[j] = levers[next] + beyond(next) * angles[next].cos();
        slopes[j] = slopes[next] + slope;
        turns[j] = turns[next] + slope * angles[next];
    }
    let share = 1.0 / n as f64;
    let mut out = DVector::zeros(n + 1);
    let mut jacobian = DMatrix::zeros(n + 1, n + 1);
    for i in 0..n {
        let (sine, cosine) = angles[i].sin_cos();
        let own_slope = own(i) * sine;
        out[i] = moments.values[i] / unit - share * (levers[i] + own(i) * cosine);
        for k in 0..n {
            let turned = match k.cmp(&i) {
                std::cmp::Ordering::Less => slopes[i] + own_slope,
                std::cmp::Ordering::Equal => slopes[i] + 0.5 * own_slope,
                std::cmp::Ordering::Greater => slopes[k] + 0.5 * beyond(k) * angles[k].sin(),
            };
            jacobian[(i, k)] = share * cell * turned;
        }
        jacobian[(i, i)] += moments.by_curvature[i] / unit;
        let turned = share * (turns[i] + own_slope * angles[i]);
        jacobian[(i, n)] = (turned - 2.0 * moments.values[i] / unit) / length;
    }
    let (x, y) = angles.iter().fold((0.0, 0.0), |(x, y), angle| {
        (x + angle.cos(), y + angle.sin())
    });
    out[n] = y.atan2(x) - point.angle;
    let mut after = 0.0;
    for j in (0..n).rev() {
        let slope = (x * angles[j].cos() + y * angles[j].sin()) / (x * x + y * y);
        jacobian[(n, j)] = cell * (after + 0.5 * slope);
        jacobian[(n, n)] += slope * angles[j] / length;
        after += slope;
    }
    (out, jacobian)
}

impl Prepared for Strips {
    fn read(&self, request: &Request, results: &mut [Readings]) -> Result<()> {
        let width = request.strains.len();
        let mut shapes = Vec::new();
        for set in request.sets {
            for ((_, group), point) in self.conditions.iter().zip(&self.points) {
                let rigidity = self.bending.map_or(1e-5, |p| set[*group][p]);
                shapes.push(Shape::new(*point, rigidity));
            }
        }
        for _ in 0..MOST_ROUNDS {
            let open = |s: &&mut Shape| !s.is_found() && !s.is_lost();
            let count = self.conditions.len();
            let groups = self.conditions.iter().cycle().map(|(_, group)| *group);
            let values = |i: usize, group: usize| request.sets[i / count][group].as_slice();
            let mut moving: Vec<(&[f64], &mut Shape)> = shapes
                .iter_mut()
                .zip(groups)
                .enumerate()
                .filter_map(|(i, (shape, group))| {
                    open(&&mut *shape).then(|| (values(i, group), shape))
                })
                .collect();
            if moving.is_empty() {
                break;
            }
            self.advance(request, &mut moving)?;
        }
        for (i, shape) in shapes.iter().enumerate().filter(|(_, s)| s.is_found()) {
            let (set, k) = (i / self.conditions.len(), i % self.conditions.len());
            let (condition, share) = (self.conditions[k].0, self.points[k].share());
            let (overhang, slopes) = shape.overhang();
            results[set].values[condition] = share * overhang;
            if let (Some(_), Some(slopes)) = (request.sought, slopes) {
                for (p, slope) in slopes.into_iter().enumerate() {
                    results[set].slopes[condition * width + p] = share * slope;
                }
            }
        }
        Ok(())
    }
}

impl Strips {
    /// One round of all strips that move: the law's moments at their trials in one batch.
    fn advance(&self, request: &Request, moving: &mut [(&[f64], &mut Shape)]) -> Result<()> {
        let width = request.strains.len();
        let trials: Vec<DVector<f64>> = moving.iter().map(|(_, shape)| shape.trial()).collect();
        let mut rows = Vec::with_capacity(moving.len() * CELLS * width);
        for ((values, _), trial) in moving.iter().zip(&trials) {
            for k in 0..CELLS {
                rows.extend(request.scaled(values, trial[k]));
            }
        }
        let batch = self.ramp.repeated(moving.len() * CELLS);
        let compute = request.compute;
        let parameters = compute.tensor(&rows, [batch.points, width]);
        let seed = compute.tensor(&vec![1.0; batch.points], [batch.points, 1, 1]);
        let (stress, gradient) = batch.linearized(compute, parameters, seed);
        let (stress, gradient) = (compute.values(stress)?, compute.values(gradient)?);
        for (s, ((_, shape), trial)) in moving.iter_mut().zip(&trials).enumerate() {
            let mut moments = Moments {
                values: vec![0.0; CELLS],
                by_curvature: vec![0.0; CELLS],
                by_parameter: DMatrix::zeros(CELLS, width),
            };
            for k in 0..CELLS {
                // Strains are in units of the cell's own curvature, so the moment is that times the stress, and
                // it grows in proportion to the curvature and all strains of the law together.
                let row = (s * CELLS + k) * width;
                let curvature = trial[k];
                moments.values[k] = curvature * stress[s * CELLS + k];
                moments.by_curvature[k] = stress[s * CELLS + k];
                for p in 0..width {
                    let slope = gradient[row + p];
                    if request.strains[p] {
                        moments.by_curvature[k] -= rows[row + p] * slope;
                        moments.by_parameter[(k, p)] = slope;
                    } else {
                        moments.by_parameter[(k, p)] = curvature * slope;
                    }
                }
            }
            shape.judge(moments);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
