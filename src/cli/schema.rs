//! `rumple schema`

use clap::Args;

use super::{Common, print_json};
use crate::{
    calibrate::case_schema,
    error::{Result, unknown},
    material::material_schema,
};

/// Print the JSON schema of a kind of file
#[derive(Debug, Args)]
pub struct Arguments {
    /// material or case
    name: String,
}

pub fn run(_: &Common, arguments: &Arguments) -> Result<()> {
    match arguments.name.as_str() {
        "material" => print_json(&material_schema()),
        "case" => print_json(&case_schema()),
        other => Err(unknown("schema", other, &["material", "case"])),
    }
}
