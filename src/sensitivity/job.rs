//! A study from beginning to end in a folder: begun, stopped, gone on with, cut into shards and merged.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    analysis::{self, Subject, analyse},
    factor::groups,
    input::{Opened, SensitivityJob, hold, open},
    model::Model,
    result::Sensitivity,
    study::{Method, Runs, Study, StudyPlan},
};
use crate::{
    error::{Error, Result, bad_input, readable},
    numeric::Compute,
    study::{self, Folder, JOURNAL, Shards, Watcher, journal::Journal},
};

/// Base samples of the first round; each round doubles them.
const FIRST: usize = 256;
/// Most runs of a study: its journal must be readable again.
const MOST_RUNS: usize = 5_000_000;

/// A finished study.
pub struct SensitivityFindings {
    model: Box<dyn Model>,
    plan: StudyPlan,
    /// Its runs.
    pub runs: Runs,
    /// Indices with intervals.
    pub result: Sensitivity,
}

impl SensitivityFindings {
    /// What was computed.
    pub fn study(&self) -> Result<Study<'_>> {
        Study::new(self.model.as_ref(), self.plan.clone())
    }
}

impl SensitivityJob {
    /// Runs what is missing in a folder. The same call goes on with a study that was stopped. None where other shards
    /// have a part. Everything that can be wrong is found before the folder is made.
    pub fn run(
        &self,
        folder: &Path,
        compute: &Compute,
        watch: &mut Watcher,
    ) -> Result<Option<SensitivityFindings>> {
        let (opened, plan) = self.open(compute)?;
        self.finish((opened, plan), folder, watch)
    }

    /// Joins the folders of shards into one and finishes their study.
    pub fn merge(
        &self,
        folders: &[PathBuf],
        out: &Path,
        compute: &Compute,
        watch: &mut Watcher,
    ) -> Result<Option<SensitivityFindings>> {
        let (opened, plan) = self.open(compute)?;
        let shards = Shards::open(folders)?;
        let folder = Folder::new(out);
        self.hold(&folder)?;
        let study = Study::new(opened.model.as_ref(), plan.clone())?;
        let mut journal = Journal::open(&folder.file(JOURNAL))?;
        study::merge(&study, &shards, &mut journal)?;
        drop((study, journal));
        self.finish((opened, plan), out, watch)
    }

    fn open(&self, compute: &Compute) -> Result<(Opened, StudyPlan)> {
        let opened = open(compute, self)?;
        let plan = plan(&opened, self)?;
        Ok((opened, plan))
    }

    /// Runs what is missing of an opened study.
    fn finish(
        &self,
        opened: (Opened, StudyPlan),
        folder: &Path,
        watch: &mut Watcher,
    ) -> Result<Option<SensitivityFindings>> {
        let clock = Instant::now();
        let folder = Folder::new(folder);
        self.hold(&folder)?;
        let path = folder.path();
        let on = format!("the same command then goes on in {}", path.display());
        let found = self.rounds(opened, path, watch);
        let found = found.map_err(|e| e.with_remedy(&on))?;
        Ok(found.map(|mut found| {
            found.result.run.seconds = clock.elapsed().as_secs_f64();
            found
        }))
    }

    /// Puts inputs and options into a folder, or refuses one of another study.
    fn hold(&self, folder: &Folder) -> Result<()> {
        folder.make()?;
        hold(&self.inputs, folder)?;
        self.write(folder)
    }

    /// Runs in rounds of doubled samples until the intervals are narrow enough.
    fn rounds(
        &self,
        (opened, plan): (Opened, StudyPlan),
        folder: &Path,
        watch: &mut Watcher,
    ) -> Result<Option<SensitivityFindings>> {
        let (most, width) = (plan.samples, self.width);
        let adaptive =
            width > 0.0 && self.shard.is_whole() && plan.methods.contains(&Method::Sobol);
        let mut samples = if adaptive { FIRST.min(most) } else { most };
        loop {
            let plan = StudyPlan {
                samples,
                ..plan.clone()
            };
            let study = Study::new(opened.model.as_ref(), plan)?;
            let Some(results) = study::run(&study, self.shard, folder, watch)? else {
                return Ok(None);
            };
            let runs = study.gather(&results)?;
            drop(results);
            let widest = match adaptive {
                true => analysis::widest(&analysis::sobol_outputs(&study, &runs)),
                false => f64::INFINITY,
            };
            if samples >= most || widest <= width {
                let stopped = match widest <= width {
                    true => format!("no interval of a total is wider than {}", readable(width)),
                    false => format!("all {most} base samples that were allowed are taken"),
                };
                let result = analyse(&study, &runs, &subject(&opened), stopped);
                let plan = study.plan;
                return Ok(Some(SensitivityFindings {
                    model: opened.model,
                    plan,
                    runs,
                    result,
                }));
            }
            samples = (2 * samples).min(most);
        }
    }
}

fn subject(opened: &Opened) -> Subject {
    Subject {
        name: opened.name.clone(),
        synthetic: opened.synthetic,
        notes: opened.notes.clone(),
        command: study::command().join(" "),
    }
}

/// How large a study is, by what was asked for and what is dear.
fn plan(opened: &Opened, job: &SensitivityJob) -> Result<StudyPlan> {
    let mut asked = Vec::new();
    for text in &job.group {
        let Some((name, members)) = text.split_once('=') else {
            return bad_input(format!(
                "--group {text}: there is no '='; give GROUP=NAME,NAME,…"
            ));
        };
        let members = members.split(',').map(|m| m.trim().to_string());
        asked.push((name.trim().to_string(), members.collect()));
    }
    let mut methods: Vec<Method> = match job.methods.is_empty() {
        true if opened.is_scene => vec![Method::Local, Method::Morris],
        true => Method::ALL.to_vec(),
        false => {
            let names = job.methods.iter();
            let found: Result<Vec<Method>> =
                names.map(|m| Method::find("method", m.trim())).collect();
            found.map_err(|e| Error::BadInput(format!("--methods: {e}")))?
        }
    };
    methods.sort_unstable();
    methods.dedup();
    // Roll-outs of a mesh are dear.
    let few = |laboratory: usize, scene: usize| match opened.is_scene {
        true => scene,
        false => laboratory,
    };
    let plan = StudyPlan {
        groups: groups(opened.model.factors(), &asked)?,
        methods,
        seed: job.seed.unwrap_or(1),
        samples: job.samples.unwrap_or(few(4096, 64)),
        trajectories: job.trajectories.unwrap_or(few(64, 8)),
        points: few(1024, 16),
    };
    check(&plan)?;
    Ok(plan)
}

fn check(plan: &StudyPlan) -> Result<()> {
    if plan.samples < 16 {
        return bad_input(format!(
            "--samples {} are too few for an interval; give 16 or more (1024 are usual)",
            plan.samples
        ));
    }
    if plan.trajectories < 2 {
        return bad_input(format!(
            "--trajectories {} have no spread; give 2 or more (10 to 50 are usual)",
            plan.trajectories
        ));
    }
    let most = plan.samples.max(plan.trajectories);
    let runs = most.saturating_mul(plan.groups.len() + 2);
    if runs > MOST_RUNS {
        return bad_input(format!(
            "{runs} runs are too many for one study; give fewer --samples or --trajectories (at most {MOST_RUNS} runs)"
        ));
    }
    Ok(())
}
