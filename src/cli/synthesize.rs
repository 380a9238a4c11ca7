//! `rumple synthesize`

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::PossibleValuesParser};
use serde_json::{Value, json};

use super::{Common, MAX_SECONDS, check_list, say};
use crate::{
    error::{Result, bad_input, readable},
    files::{check_folder, read_text, write_whole},
    fit::case::Case,
    laboratory::{Blueprint, Condition, Grid, Noise, Specimen, TESTS, Test, TestSettings},
    material::ReadyMaterial,
    numeric::Random,
};

/// Make a synthetic table of a laboratory test with noise, and its truth beside it
#[derive(Debug, Args)]
pub(crate) struct SynthesizeArguments {
    /// The test [default: crease, or twist with --twist]
    #[arg(long, value_parser = PossibleValuesParser::new(TESTS.map(|test| test.command())))]
    test: Option<String>,
    /// The truth: a material file or the name of a preset, in curvature
    #[arg(
        long,
        value_name = "FILE|PRESET",
        required_unless_present = "log_linear"
    )]
    material: Option<String>,
    /// Instead of a material: 110° + 50°·log10(gap/mm) − 12°·log10(press/s), which the law cannot follow
    #[arg(long, conflicts_with_all = ["material", "test"])]
    log_linear: bool,
    /// Distances of the plates [default: 0.5,1,2,4]
    #[arg(long, value_delimiter = ',', value_name = "MM,…")]
    gap_mm: Vec<f64>,
    /// Pressing times [default: 1,3,10,30,100,300,1000,3000,10000,30000,100000]
    #[arg(long, value_delimiter = ',', value_name = "S,…")]
    press_s: Vec<f64>,
    /// Times from release to reading [default: 300]
    #[arg(long, value_delimiter = ',', value_name = "S,…")]
    read_s: Vec<f64>,
    /// Standard deviation of the noise of angles [default: 2]
    #[arg(long, value_name = "DEG")]
    noise_deg: Option<f64>,
    /// What is folded: hinges on their own, or a strip mesh of 32 cells
    #[arg(
        long,
        value_enum,
        default_value = "hinges",
        conflicts_with = "log_linear"
    )]
    specimen: SpecimenName,
    /// Rests at the largest curvature of a KES loop [default: 0]
    #[arg(long, value_delimiter = ',', value_name = "S,…")]
    dwell_s: Vec<f64>,
    /// Angles of a cantilever, from its edge to its tip [default: 20,41.5,60,75]
    #[arg(long, value_delimiter = ',', value_name = "DEG,…")]
    angle_deg: Vec<f64>,
    /// Mass per area of a cantilever's fabric
    #[arg(long, value_delimiter = ',', value_name = "G/M2,…")]
    areal_density_g_per_m2: Vec<f64>,
    /// Torques at the cylinder in the section "twist" of this case, whose data may still be missing
    #[arg(
        long = "twist",
        value_name = "CASE.json",
        requires = "material",
        conflicts_with_all = ["log_linear", "specimen", "gap_mm", "press_s", "read_s", "noise_deg"]
    )]
    case: Option<PathBuf>,
    /// Turns of a twist: read on the way out, and on the way back at all but the largest, and at 0
    /// [default: 9,18,27,36,45]
    #[arg(long, requires = "case", value_delimiter = ',', value_name = "DEG,…")]
    turn_deg: Vec<f64>,
    /// Times for which a twist is held at the largest turn [default: 0]
    #[arg(long, requires = "case", value_delimiter = ',', value_name = "S,…")]
    hold_s: Vec<f64>,
    /// Standard deviation of the noise of all tests but creases, as a share of the largest value [default: 2 for
    /// KES loops, 3 for cantilevers, 0.1 for torques]
    #[arg(long, value_name = "%")]
    noise_pct: Option<f64>,
    /// Name of the fabric in the table [default: the material's]
    #[arg(long)]
    fabric: Option<String>,
    /// The table; its truth goes to FILE.truth.json
    #[arg(long, value_name = "FILE.csv")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum SpecimenName {
    Hinges,
    #[value(name = "strip_mesh")]
    StripMesh,
}

pub(crate) fn run(common: &Common, arguments: &SynthesizeArguments) -> Result<()> {
    check_folder(&arguments.out)?;
    let test = arguments.test()?;
    let grid = arguments.grid(test)?;
    let settings = arguments.settings()?;
    let plan = test.blueprint(&settings, &grid)?;
    let (noise, noise_in_words) = arguments.noise(&plan)?;
    let (fabric, exact, mut truth) = match &arguments.material {
        Some(material) => {
            let prepared = ReadyMaterial::hard(material)?;
            let compute = common.compute()?;
            let exact = plan.exact(&compute, &prepared.law, &prepared.values, &settings)?;
            (
                prepared.material.name.clone(),
                exact,
                prepared.material.to_json(),
            )
        }
        None => log_linear(&plan),
    };
    if let Some(k) = exact.iter().position(|value| !value.is_finite()) {
        return bad_input(format!(
            "no {} was found for {}; the material is too extreme for this test",
            plan.quantity,
            test.label(&plan.rows[k].1).name
        ));
    }
    let made = format!(
        "synthetic: made by `rumple synthesize` with noise of {noise_in_words} and seed {}; not a measurement",
        common.seed()
    );
    let fabric = arguments.fabric.as_ref().unwrap_or(&fabric);
    let table = plan.table(&exact, noise, Random(common.seed()), fabric);
    write_whole(&arguments.out, format!("# {made}\n{table}").as_bytes())?;
    let mut notes = vec![
        format!("the truth behind {}", arguments.out.display()),
        made,
    ];
    if let Some(case) = &arguments.case {
        notes.push(format!("the cylinder is that of {}", case.display()));
    }
    truth["notes"] = json!(notes);
    let path = arguments.out.with_extension("truth.json");
    write_whole(&path, format!("{truth:#}\n").as_bytes())?;
    say(&format!(
        "synthetic table: {}; its truth: {}",
        arguments.out.display(),
        path.display()
    ));
    Ok(())
}

impl SynthesizeArguments {
    fn test(&self) -> Result<&'static dyn Test> {
        let usual = if self.case.is_some() {
            "twist"
        } else {
            "crease"
        };
        let name = self.test.as_deref().unwrap_or(usual);
        if self.specimen == SpecimenName::StripMesh && name != "crease" {
            return bad_input(format!(
                "--specimen strip_mesh is for --test crease; leave it out with --test {name}"
            ));
        }
        if (name == "twist") != self.case.is_some() {
            return bad_input(format!(
                "--test {name}: --twist CASE.json names the cylinder of a twist; give it with --test twist only"
            ));
        }
        let found = TESTS.into_iter().find(|test| test.command() == name);
        found.map_or_else(|| bad_input(format!("--test {name} is not known")), Ok)
    }

    /// The options that are lists, by the names of the tests' settings.
    fn grid(&self, test: &dyn Test) -> Result<Grid> {
        let degree = std::f64::consts::PI / 180.0;
        let seconds = (0.0, MAX_SECONDS);
        let mut grid = Vec::new();
        for (option, name, values, (low, high), unit) in [
            ("--gap-mm", "gap", &self.gap_mm, (1e-3, 1e3), 1e-3),
            ("--press-s", "press", &self.press_s, seconds, 1.0),
            ("--read-s", "read", &self.read_s, seconds, 1.0),
            ("--dwell-s", "dwell", &self.dwell_s, seconds, 1.0),
            ("--angle-deg", "angle", &self.angle_deg, (1.0, 89.0), degree),
            (
                "--areal-density-g-per-m2",
                "density",
                &self.areal_density_g_per_m2,
                (1.0, 1e4),
                1e-3,
            ),
            ("--turn-deg", "turn", &self.turn_deg, (0.01, 360.0), degree),
            ("--hold-s", "hold", &self.hold_s, seconds, 1.0),
        ] {
            check_list(option, values, low, high)?;
            if !values.is_empty() && !test.chosen().contains(&name) {
                return bad_input(format!(
                    "{option} is no setting of --test {}; leave it out",
                    test.command()
                ));
            }
            grid.push((name, values.iter().map(|v| unit * v).collect()));
        }
        Ok(Grid(grid))
    }

    fn settings(&self) -> Result<TestSettings> {
        let mut settings = TestSettings::default();
        if self.specimen == SpecimenName::StripMesh {
            settings.specimen = Specimen::StripMesh;
        }
        if let Some(case) = &self.case {
            let place = case.display().to_string();
            settings.twist = Case::parse(&read_text(case)?, &place)?.tests.twist;
            if settings.twist.is_none() {
                return bad_input(format!(
                    "{place}: no section \"twist\"; add one with radius_mm, height_mm, membrane_N_per_m and density_kg_per_m2"
                ));
            }
        }
        Ok(settings)
    }

    /// Size of the noise, and the same in words.
    fn noise(&self, plan: &Blueprint) -> Result<(f64, String)> {
        match plan.noise {
            Noise::Degrees(_) if self.noise_pct.is_some() => {
                bad_input("--noise-pct is not for angles; give --noise-deg")
            }
            Noise::PercentOfLargest(_) if self.noise_deg.is_some() => bad_input(format!(
                "--noise-deg is for recovery angles; give --noise-pct, a share of the largest {}",
                plan.quantity
            )),
            Noise::Degrees(usual) => {
                let degrees = self.noise_deg.unwrap_or(usual);
                if !(0.0..=90.0).contains(&degrees) {
                    return bad_input(format!(
                        "--noise-deg {} is not a spread; give 0 to 90 degrees",
                        readable(degrees)
                    ));
                }
                Ok((degrees, format!("{degrees}°")))
            }
            Noise::PercentOfLargest(usual) => {
                let percent = self.noise_pct.unwrap_or(usual);
                let largest = format!("% of the largest {}", plan.quantity);
                if !(0.0..=100.0).contains(&percent) {
                    return bad_input(format!(
                        "--noise-pct {} is not a spread; give 0 to 100 {largest}",
                        readable(percent)
                    ));
                }
                Ok((percent, format!("{percent} {largest}")))
            }
        }
    }
}

/// Name, angles and truth of a table that the law cannot follow.
fn log_linear(plan: &Blueprint) -> (String, Vec<f64>, Value) {
    let formula = "110 + 50*log10(gap_mm) - 12*log10(press_s) degrees";
    let angle = |(_, condition): &(String, Condition)| {
        let setting = |name| condition.setting(name).unwrap_or(f64::NAN);
        let decades = setting("press_s").max(1e-3).log10();
        (110.0 + 50.0 * setting("gap_mm").log10() - 12.0 * decades).clamp(0.0, 180.0)
    };
    let truth = json!({ "synthetic": true, "formula": formula });
    let angles = plan.rows.iter().map(angle).collect();
    ("log-linear".into(), angles, truth)
}
