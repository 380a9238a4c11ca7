//! `rumple materials`

use clap::Args;
use serde_json::json;

use super::{Common, print, print_json, table};
use crate::{error::Result, material::Material};

/// List the preset materials, or print one as a file to edit
#[derive(Debug, Args)]
pub(crate) struct MaterialsArguments {
    /// A preset, printed as a material file
    name: Option<String>,
}

pub(crate) fn run(common: &Common, arguments: &MaterialsArguments) -> Result<()> {
    if let Some(name) = &arguments.name {
        return print_json(&Material::preset(name)?.to_json());
    }
    let list = Material::presets();
    if common.json {
        let files: Vec<_> = list.iter().map(|m| m.to_json()).collect();
        return print_json(&json!({ "materials": files }));
    }
    let rows: Vec<Vec<String>> = list
        .iter()
        .map(|m| {
            let rigidity = m.value("bending_stiffness").unwrap_or(f64::NAN);
            vec![
                m.name.clone(),
                m.strain.name().into(),
                format!("{rigidity:.3e}"),
                m.density.map_or("-".into(), |d| format!("{d}")),
                m.sources.join("; "),
            ]
        })
        .collect();
    print(&table(
        &["name", "strain", "K_b [N·m]", "density [kg/m²]", "source"],
        &rows,
    ))?;
    print(
        "\n`rumple materials NAME` prints one as a file to edit; its notes say what is measured.\n",
    )
}
