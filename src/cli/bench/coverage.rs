//! `rumple bench coverage`

use std::path::{Path, PathBuf};

use clap::Args;

use crate::{
    cli::{Common, Shown, count, say},
    error::Result,
    material::ReadyMaterial,
    report,
    study::{Folder, Shard, Shards},
    verify::coverage::{Coverage, CoverageJob, CoveragePlan},
};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// How many laws are drawn, each with a table for every noise
    #[arg(long, value_name = "N", default_value = "100", value_parser = count)]
    laws: usize,
    /// Standard deviations of the noise
    #[arg(long, value_delimiter = ',', value_name = "DEG,…", default_value = "2")]
    noise_deg: Vec<f64>,
    /// Refits of a parametric bootstrap of each fit: ranks of the truth within them are drawn as histograms [default: none]
    #[arg(long, value_name = "N", value_parser = count)]
    bootstrap: Option<usize>,
    /// All tables are of this material's law, instead of laws drawn at random
    #[arg(long, value_name = "FILE|PRESET")]
    material: Option<String>,
    /// Starts of each fit; a plain fit has 16
    #[arg(long, value_name = "N", default_value = "16", value_parser = count)]
    starts: usize,
    /// Folder of the results; the same command goes on with a study that was stopped, also with more laws or other noise
    #[arg(long, value_name = "DIR", default_value = "bench-coverage")]
    out: PathBuf,
    /// Fit share i of n of the tables; `rumple merge` joins the shares
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
}

pub(super) fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let material = arguments.material.as_deref();
    let material = material.map(|name| Ok(ReadyMaterial::hard(name)?.material.to_json()));
    let plan = CoveragePlan {
        laws: arguments.laws,
        noise_deg: arguments.noise_deg.clone(),
        refits: arguments.bootstrap,
        starts: arguments.starts,
        seed: common.seed(),
        material: material.transpose()?,
    };
    // Everything that can be wrong is found before a folder is made.
    let mut job = CoverageJob::new(plan, &common.compute()?)?;
    job.shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let folder = Folder::new(&arguments.out);
    let mut shown = Shown::bar("tables");
    let found = job.run(folder.path(), &mut |news| shown.hear(news))?;
    drop(shown);
    match found {
        Some(found) => report(common, folder.path(), &found),
        None => {
            say(&format!(
                "share {} is done: {}; when all are, `rumple merge DIR… --out DIR` joins them",
                job.shard,
                folder.path().display()
            ));
            Ok(())
        }
    }
}

/// Joins shards into a folder.
pub(in crate::cli) fn merge(common: &Common, folders: &[PathBuf], out: &Path) -> Result<()> {
    let shards = Shards::open(folders)?;
    let job = CoverageJob::read(&folders[0], &common.compute()?)?;
    let mut shown = Shown::bar("tables");
    let found = job.merge(&shards, out, &mut |news| shown.hear(news))?;
    drop(shown);
    found.map_or(Ok(()), |found| report(common, out, &found))
}

/// Writes and prints the result.
fn report(common: &Common, folder: &Path, found: &Coverage) -> Result<()> {
    report::coverage::save(folder, found)?;
    common.answer(
        || found.without_sets(),
        || report::coverage::terminal(found),
    )?;
    say(&format!(
        "results: {} (coverage.json, intervals.csv, plots)",
        folder.display()
    ));
    Ok(())
}
