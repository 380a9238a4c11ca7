//! `rumple bench sensitivity`

use std::{ops::ControlFlow, time::Instant};

use serde_json::json;

use crate::{
    cli::{Common, print},
    error::{Error, Result, bad_input},
    fit::Measurements,
    sensitivity::{
        analysis::sobol_outputs,
        factor::groups,
        laboratory::{Laboratory, RangeWish},
        model::Model,
        study::{Method, Study, StudyPlan},
    },
    study::{self, Shard},
};

/// Some minutes.
const MOST_RUNS: usize = 1_000_000;

/// Runs with a journal, as a study does, then indices of every output with intervals.
pub(super) fn run(common: &Common, runs: usize) -> Result<()> {
    let measurements = Measurements::read(&[])?;
    let data = measurements.check()?;
    let compute = common.compute()?;
    let model = Laboratory::new(&compute, &measurements.case, &data, &RangeWish::default())?;
    let groups = groups(model.factors(), &[])?;
    let each = groups.len() + 2;
    if !(16 * each..=MOST_RUNS).contains(&runs) {
        return bad_input(format!(
            "--runs {runs} cannot be timed; give {} to {MOST_RUNS}",
            16 * each
        ));
    }
    let plan = StudyPlan {
        methods: vec![Method::Sobol],
        groups,
        seed: common.seed(),
        samples: runs / each,
        trajectories: 0,
        points: 0,
    };
    let begin = Instant::now();
    let study = Study::new(&model, plan)?;
    let folder = std::env::temp_dir().join(format!("rumple-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| Error::writing(&folder, e))?;
    let results = study::run(&study, Shard::WHOLE, &folder, &mut |_| {
        ControlFlow::Continue(())
    });
    let ran = begin.elapsed().as_secs_f64();
    let _ = std::fs::remove_dir_all(&folder);
    let gathered = study.gather(&results?.unwrap_or_default())?;
    let outputs = sobol_outputs(&study, &gathered);
    let all = begin.elapsed().as_secs_f64();
    let line = json!({
        "workload": "sensitivity",
        "data": "synthetic",
        "device": compute.describe(),
        "threads": rayon::current_num_threads(),
        "parameters": model.factors().len(),
        "outputs": outputs.len(),
        "runs": study.size(),
        "runs_s": ran,
        "indices_s": all - ran,
        "seconds": all,
        "peak_mib": super::peak_mib(),
    });
    print(&format!("{line}\n"))
}
