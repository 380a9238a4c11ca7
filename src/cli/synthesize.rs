//! `rumple synthesize`

use std::path::PathBuf;

use clap::{Args, ValueEnum, builder::PossibleValuesParser};
use serde_json::json;

use super::{Common, grid::GridArguments, say};
use crate::{
    error::{Result, bad_input},
    files::{check_folder, read_text, write_whole},
    fit::case::Case,
    laboratory::{Specimen, Synthesis, TESTS, TestSettings},
    material::ReadyMaterial,
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
    #[command(flatten)]
    grid: GridArguments<false>,
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
    /// Torques at the cylinder in the section "twist" of this case, whose data may still be missing
    #[arg(
        long = "twist",
        value_name = "CASE.json",
        requires = "material",
        conflicts_with_all = ["log_linear", "specimen", "noise_deg"]
    )]
    case: Option<PathBuf>,
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
    let synthesis = arguments.synthesis(common)?;
    let (table, mut truth) = match &arguments.material {
        Some(material) => {
            synthesis.of_material(&ReadyMaterial::hard(material)?, &common.compute()?)?
        }
        None => synthesis.log_linear()?,
    };
    write_whole(&arguments.out, table.as_bytes())?;
    let mut notes = vec![json!(format!(
        "the truth behind {}",
        arguments.out.display()
    ))];
    notes.extend(truth["notes"].as_array().cloned().unwrap_or_default());
    if let Some(case) = &arguments.case {
        notes.push(json!(format!("the cylinder is that of {}", case.display())));
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
    fn synthesis(&self, common: &Common) -> Result<Synthesis> {
        let chosen = self.grid.chosen()?;
        Ok(Synthesis {
            test: self.test()?,
            chosen: chosen.into_iter().map(|(k, v)| (k.into(), v)).collect(),
            settings: self.settings()?,
            noise_deg: self.noise_deg,
            noise_pct: self.noise_pct,
            seed: common.seed(),
            fabric: self.fabric.clone(),
        })
    }

    fn test(&self) -> Result<String> {
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
        Ok(name.into())
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
}
