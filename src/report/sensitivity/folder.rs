//! The folder of a study: everything that is drawn from its result.

use std::path::Path;

use crate::report::{
    fit::folder::write,
    sensitivity::{document::report, plots::pictures, tables},
};
use crate::{error::Result, sensitivity::SensitivityFindings, study::Folder};

/// Name of the result in its folder.
pub(crate) const RESULT: &str = "sensitivity.json";

/// Writes the result first, then tables, plots and reports.
pub(crate) fn save(path: &Path, found: &SensitivityFindings) -> Result<()> {
    let folder = Folder::new(path);
    let result = &found.result;
    folder.write_json(RESULT, result)?;
    folder.write("indices.csv", &tables::indices(result)?)?;
    let samples = tables::samples(&found.study()?, &found.runs, result)?;
    folder.write("samples.csv", &samples)?;
    write(&folder, &report(result), pictures(result))
}
