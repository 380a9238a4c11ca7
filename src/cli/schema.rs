//! `rumple schema`

use clap::Args;

use super::{Common, print, print_json};
use crate::{
    error::{Result, unknown},
    fit::case_schema,
    laboratory::sheet::column_help,
    learn::LearnCase,
    material::material_schema,
    scene::scene_schema,
};

/// Print the JSON schema of a kind of file, the columns of data files, or the default case of `learn`
#[derive(Debug, Args)]
pub(crate) struct SchemaArguments {
    /// material, case, scene, data (the columns of measurement files) or learn (the default case, to edit)
    name: String,
}

pub(crate) fn run(_: &Common, arguments: &SchemaArguments) -> Result<()> {
    match arguments.name.as_str() {
        "material" => print_json(&material_schema()),
        "case" => print_json(&case_schema()),
        "scene" => print_json(&scene_schema()),
        "data" => print(&column_help()),
        "learn" => print_json(&LearnCase::default().to_json()?),
        other => Err(unknown(
            "schema",
            other,
            &["material", "case", "scene", "data", "learn"],
        )),
    }
}
