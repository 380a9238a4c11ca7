//! A study from beginning to end in a folder: begun, stopped, gone on with, cut into shards and merged.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    analysis::{self, Subject, analyse},
    factor::groups,
    input::{Opened, SensitivityOptions, gather, hold, inputs_of, open},
    result::Sensitivity,
    study::{Method, Runs, Study, StudyPlan},
};
use crate::{
    error::{Error, Result, bad_input, readable},
    material::Material,
    numeric::Compute,
    study::{self, Folder, Inputs, JOURNAL, Shard, Shards, Watcher, journal::Journal},
};

/// Base samples of the first round; each round doubles them.
const FIRST: usize = 256;
/// Most runs of a study: its journal must be readable again.
const MOST_RUNS: usize = 5_000_000;

/// What is to be studied, checked and ready.
pub struct SensitivityJob {
    opened: Opened,
    inputs: Inputs,
    options: SensitivityOptions,
    plan: StudyPlan,
    /// Stop when no 95 % interval of a Sobol' total is wider; 0 takes all samples.
    pub width: f64,
    /// The share of the tasks that is run. Shares take all samples: they cannot know what the others find.
    pub shard: Shard,
}

/// A finished study.
pub struct SensitivityFindings<'a> {
    /// What was computed.
    pub study: Study<'a>,
    /// Its runs.
    pub runs: Runs,
    /// Indices with intervals.
    pub result: Sensitivity,
}

impl SensitivityJob {
    /// Reads a case or data, the folder of a fit, or a scene; finds everything that can be wrong.
    pub fn new(
        paths: &[PathBuf],
        around: Option<&Material>,
        options: SensitivityOptions,
        compute: &Compute,
    ) -> Result<SensitivityJob> {
        let (inputs, scene_folder) = gather(paths, around)?;
        let options = SensitivityOptions {
            scene_folder,
            ..options
        };
        SensitivityJob::of(inputs, options, compute)
    }

    /// The study that a folder holds.
    pub fn read(folder: &Path, compute: &Compute) -> Result<SensitivityJob> {
        let folder = Folder::new(folder);
        SensitivityJob::of(
            inputs_of(&folder)?,
            SensitivityOptions::read(&folder)?,
            compute,
        )
    }

    fn of(
        inputs: Inputs,
        options: SensitivityOptions,
        compute: &Compute,
    ) -> Result<SensitivityJob> {
        let opened = open(compute, &inputs, &options)?;
        Ok(SensitivityJob {
            plan: plan(&opened, &options)?,
            opened,
            inputs,
            options,
            width: 0.0,
            shard: Shard::WHOLE,
        })
    }

    /// Name of what is studied.
    pub fn name(&self) -> &str {
        &self.opened.name
    }

    /// Runs what is missing in a folder. The same call goes on with a study that was stopped. None where other shards
    /// have a part.
    pub fn run(
        &self,
        folder: &Path,
        watch: &mut Watcher,
    ) -> Result<Option<SensitivityFindings<'_>>> {
        let clock = Instant::now();
        let folder = Folder::new(folder);
        self.hold(&folder)?;
        let path = folder.path();
        let on = format!("the same command then goes on in {}", path.display());
        let found = self.rounds(path, watch).map_err(|e| e.with_remedy(&on))?;
        Ok(found.map(|mut found| {
            found.result.run.seconds = clock.elapsed().as_secs_f64();
            found
        }))
    }

    /// Joins the folders of shards into one and finishes their study.
    pub fn merge(
        &self,
        folders: &[PathBuf],
        out: &Path,
        watch: &mut Watcher,
    ) -> Result<Option<SensitivityFindings<'_>>> {
        let shards = Shards::open(folders)?;
        let folder = Folder::new(out);
        self.hold(&folder)?;
        let study = Study::new(self.opened.model.as_ref(), self.plan.clone())?;
        let mut journal = Journal::open(&folder.file(JOURNAL))?;
        study::merge(&study, &shards, &mut journal)?;
        drop(journal);
        self.run(out, watch)
    }

    /// Puts inputs and options into a folder, or refuses one of another study.
    fn hold(&self, folder: &Folder) -> Result<()> {
        folder.make()?;
        hold(&self.inputs, folder)?;
        self.options.write(folder)
    }

    /// Runs in rounds of doubled samples until the intervals are narrow enough.
    fn rounds(
        &self,
        folder: &Path,
        watch: &mut Watcher,
    ) -> Result<Option<SensitivityFindings<'_>>> {
        let (most, width) = (self.plan.samples, self.width);
        let adaptive =
            width > 0.0 && self.shard.is_whole() && self.plan.methods.contains(&Method::Sobol);
        let mut samples = if adaptive { FIRST.min(most) } else { most };
        loop {
            let plan = StudyPlan {
                samples,
                ..self.plan.clone()
            };
            let study = Study::new(self.opened.model.as_ref(), plan)?;
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
                let result = analyse(&study, &runs, &self.subject(), stopped);
                return Ok(Some(SensitivityFindings {
                    study,
                    runs,
                    result,
                }));
            }
            samples = (2 * samples).min(most);
        }
    }

    fn subject(&self) -> Subject {
        Subject {
            name: self.opened.name.clone(),
            synthetic: self.opened.synthetic,
            notes: self.opened.notes.clone(),
            command: study::command().join(" "),
        }
    }
}

/// How large a study is, by its options and what is dear.
fn plan(opened: &Opened, options: &SensitivityOptions) -> Result<StudyPlan> {
    let mut asked = Vec::new();
    for text in &options.group {
        let Some((name, members)) = text.split_once('=') else {
            return bad_input(format!(
                "--group {text}: there is no '='; give GROUP=NAME,NAME,…"
            ));
        };
        let members = members.split(',').map(|m| m.trim().to_string());
        asked.push((name.trim().to_string(), members.collect()));
    }
    let mut methods: Vec<Method> = match options.methods.is_empty() {
        true if opened.is_scene => vec![Method::Local, Method::Morris],
        true => Method::ALL.to_vec(),
        false => {
            let names = options.methods.iter();
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
        seed: options.seed.unwrap_or(1),
        samples: options.samples.unwrap_or(few(4096, 64)),
        trajectories: options.trajectories.unwrap_or(few(64, 8)),
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
