//! `rumple sensitivity`

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Common, Shown, count, say};
use crate::{
    error::{Result, bad_input},
    material::ReadyMaterial,
    report,
    sensitivity::{SensitivityFindings, SensitivityJob},
    study::{Folder, Shard},
};

/// Which parameter moves which reading: local and global sensitivity with intervals
#[derive(Debug, Args)]
pub(crate) struct SensitivityArguments {
    /// A case (.json), measurement files (.csv), the folder of a fit, whose errors are then the ranges, or a
    /// scene (.json) [default: the shipped synthetic Levison-like cotton set]
    #[arg(value_name = "CASE|DATA|FIT|SCENE")]
    inputs: Vec<PathBuf>,
    /// Folder of the results; the same command goes on with a study that was stopped [default:
    /// NAME-sensitivity here]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// local, dgsm, morris, sobol [default: all; local,morris for a scene]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    methods: Vec<String>,
    /// Half to twice the values of this material, instead of the whole range of the case's search
    #[arg(long, value_name = "FILE|PRESET")]
    around: Option<String>,
    /// Distribution of a parameter: NAME=log:LOW:HIGH, uniform:LOW:HIGH, normal:MEAN:SD or fixed:VALUE; may be
    /// given again
    #[arg(long, value_name = "NAME=SHAPE")]
    vary: Vec<String>,
    /// Vary these parameters only
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
    /// Parameters that are moved together: GROUP=NAME,NAME,…; may be given again
    #[arg(long, value_name = "GROUP=NAME,…")]
    group: Vec<String>,
    /// Most base samples of Sobol' indices, each of as many runs as there are parameters and two more
    /// [default: 4096, 64 for a scene]
    #[arg(long, value_name = "N", value_parser = count)]
    samples: Option<usize>,
    /// Stop when no 95 % interval of a Sobol' total is wider
    #[arg(long, value_name = "WIDTH", default_value_t = 0.1)]
    width: f64,
    /// Morris' trajectories, each of one run more than there are parameters [default: 64, 8 for a scene]
    #[arg(long, value_name = "N", value_parser = count)]
    trajectories: Option<usize>,
    /// Run share i of n of the tasks; `rumple merge` joins the shares. All samples are then taken
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
}

pub(crate) fn run(common: &Common, arguments: &SensitivityArguments) -> Result<()> {
    if arguments.width.is_nan() || arguments.width < 0.0 {
        return bad_input(format!(
            "--width {} is no width; give 0 to take all samples, or 0.1 for example",
            arguments.width
        ));
    }
    let around = arguments.around.as_deref();
    let around = around.map(|name| Ok(ReadyMaterial::hard(name)?.material));
    let around = around.transpose()?;
    let compute = common.compute()?;
    let mut job = SensitivityJob::new(&arguments.inputs, around.as_ref())?;
    job.methods = arguments.methods.clone();
    job.vary = arguments.vary.clone();
    job.only = arguments.only.clone();
    job.group = arguments.group.clone();
    job.samples = arguments.samples;
    job.trajectories = arguments.trajectories;
    job.seed = common.seed;
    job.width = arguments.width;
    job.shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let folder = match &arguments.out {
        Some(folder) => Folder::new(folder),
        None => Folder::named(job.name(), "sensitivity"),
    };
    let mut shown = Shown::bar("tasks");
    let found = job.run(folder.path(), &compute, &mut |news| shown.hear(news))?;
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

/// Joins shards into a folder and finishes their study.
pub(super) fn merge(common: &Common, shards: &[PathBuf], out: &Path) -> Result<()> {
    let compute = common.compute()?;
    let job = SensitivityJob::read(&shards[0])?;
    let mut shown = Shown::bar("tasks");
    let found = job.merge(shards, out, &compute, &mut |news| shown.hear(news))?;
    drop(shown);
    found.map_or(Ok(()), |found| report(common, out, &found))
}

/// Writes and prints the result.
fn report(common: &Common, folder: &Path, found: &SensitivityFindings) -> Result<()> {
    let on = format!("the same command then goes on in {}", folder.display());
    found.save(folder).map_err(|e| e.with_remedy(&on))?;
    let result = &found.result;
    common.answer(|| result, || report::sensitivity::text::terminal(result))?;
    say(&format!(
        "results: {} (report.html, indices.csv, samples.csv, sensitivity.json, plots)",
        folder.display()
    ));
    Ok(())
}
