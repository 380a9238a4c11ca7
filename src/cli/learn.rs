//! `rumple learn`

mod ablate;
mod bars;
mod evaluate;
mod predict;
mod train;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::{Common, DeviceName, PrecisionName};
use crate::{
    error::{Result, bad_input},
    learn::LearnCase,
    numeric::{Compute, Precision},
};

/// Networks that learn creases: paper 2's self-supervised curriculum on synthetic bodies
#[derive(Debug, Args)]
pub(crate) struct LearnArguments {
    #[command(subcommand)]
    command: LearnCommand,
}

#[derive(Debug, Subcommand)]
enum LearnCommand {
    Train(train::TrainArguments),
    Predict(predict::PredictArguments),
    Evaluate(evaluate::EvaluateArguments),
    Ablate(ablate::AblateArguments),
}

pub(crate) fn run(common: &Common, arguments: &LearnArguments) -> Result<()> {
    match &arguments.command {
        LearnCommand::Train(a) => train::run(common, a),
        LearnCommand::Predict(a) => predict::run(common, a),
        LearnCommand::Evaluate(a) => evaluate::run(common, a),
        LearnCommand::Ablate(a) => ablate::run(common, a),
    }
}

/// Networks compute in single precision.
fn compute(common: &Common) -> Result<Compute> {
    if common.precision == Some(PrecisionName::F64) {
        return bad_input(
            "--precision f64: networks are trained in single precision, references are always simulated in double; \
             leave it out",
        );
    }
    match common.device {
        DeviceName::Cpu => Ok(Compute::cpu(Precision::F32)),
        DeviceName::Gpu => Compute::gpu(Precision::F32),
    }
}

/// The case of a file, or the default, with the seed that was asked for.
fn read_case(common: &Common, file: Option<&Path>) -> Result<LearnCase> {
    let mut case = match file {
        Some(file) => LearnCase::load(file)?,
        None => LearnCase::default(),
    };
    case.seed = common.seed.unwrap_or(case.seed);
    Ok(case)
}

/// The folder asked for, or one of the case's name.
fn out_folder(out: &Option<PathBuf>, case: Option<&Path>, ending: &str) -> PathBuf {
    out.clone().unwrap_or_else(|| {
        let stem = case.and_then(Path::file_stem).unwrap_or("arm".as_ref());
        PathBuf::from(format!("{}-{ending}", stem.to_string_lossy()))
    })
}
