//! `rumple schema`

use clap::Args;

use super::{Common, print, print_json};
use crate::{
    error::{Result, unknown},
    fit::FitJob,
    learn::LearnCase,
    material::Material,
    scene::Scene,
};

/// Print the JSON schema of a kind of file, the columns of data files, or the default case of `learn`
#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// material, case, scene, data (the columns of measurement files) or learn (the default case, to edit)
    name: String,
}

pub(crate) fn run(_: &Common, arguments: &SchemaArguments) -> Result<()> {
    match arguments.name.as_str() {
        "material" => print_json(&Material::schema()),
        "case" => print_json(&FitJob::schema()),
        "scene" => print_json(&Scene::schema()),
        "data" => print(&FitJob::columns()),
        "learn" => print_json(&LearnCase::default().to_json()?),
        other => Err(unknown(
            "schema",
            other,
            &["material", "case", "scene", "data", "learn"],
        )),
    }
}
