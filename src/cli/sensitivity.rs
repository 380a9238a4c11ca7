//! `rumple sensitivity`

mod input;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::input::{Files, Opened, Options, open};
use super::{Common, count, interrupted, print, say};
use crate::{
    error::{Error, Result, bad_input, readable},
    report,
    sensitivity::{
        analysis::{self, Subject, analyse},
        factor::groups,
        model::Model,
        result::Sensitivity,
        study::{Method, Runs, Study, StudyPlan},
    },
    study::{self, Progress, Shard, Shards, Wish as Watch, journal::Journal},
};

/// Which parameter moves which reading: local and global sensitivity with intervals
#[derive(Debug, Args)]
pub struct Arguments {
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
    #[arg(
        long,
        value_name = "WIDTH",
        default_value_t = 0.1,
        allow_negative_numbers = true
    )]
    width: f64,
    /// Morris' trajectories, each of one run more than there are parameters [default: 64, 8 for a scene]
    #[arg(long, value_name = "N", value_parser = count)]
    trajectories: Option<usize>,
    /// Run share i of n of the tasks; `rumple merge` joins the shares. All samples are then taken
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
}

/// Base samples of the first round; each round doubles them.
const FIRST: usize = 256;
/// Most runs of a study: its journal must be readable again.
const MOST_RUNS: usize = 5_000_000;

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let (files, scene_folder) = Files::gather(&arguments.inputs, arguments.around.as_deref())?;
    let options = arguments.options(common, scene_folder);
    if arguments.width.is_nan() || arguments.width < 0.0 {
        return bad_input(format!(
            "--width {} is no width; give 0 to take all samples, or 0.1 for example",
            arguments.width
        ));
    }
    // Everything that can be wrong is found before a folder is made.
    let opened = open(common, &files, &options)?;
    plan(common, &opened, &options)?;
    let folder = arguments.folder(&opened);
    std::fs::create_dir_all(&folder).map_err(|e| Error::writing(&folder, e))?;
    files.write(&folder)?;
    options.write(&folder)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    // Shards cannot know what the others find: they take all samples.
    let width = if shard.is_whole() {
        arguments.width
    } else {
        0.0
    };
    finish(common, &folder, &opened, &options, shard, width)
}

/// Joins shards into a folder and finishes their study.
pub(super) fn merge(common: &Common, first: &Path, shards: &Shards, out: &Path) -> Result<()> {
    let (files, options) = (Files::read(first)?, Options::read(first)?);
    let opened = open(common, &files, &options)?;
    std::fs::create_dir_all(out).map_err(|e| Error::writing(out, e))?;
    files.write(out)?;
    options.write(out)?;
    let study = Study::new(opened.model.as_ref(), plan(common, &opened, &options)?)?;
    let mut journal = Journal::open(&out.join(study::JOURNAL))?;
    study::merge(&study, shards, &mut journal)?;
    drop(journal);
    finish(common, out, &opened, &options, Shard::WHOLE, 0.0)
}

/// Runs what is missing, and writes and prints the result.
fn finish(
    common: &Common,
    folder: &Path,
    opened: &Opened,
    options: &Options,
    shard: Shard,
    width: f64,
) -> Result<()> {
    let clock = Instant::now();
    let on = format!("the same command then goes on in {}", folder.display());
    let subject = Subject {
        name: opened.name.clone(),
        synthetic: opened.synthetic,
        notes: opened.notes.clone(),
        command: std::env::args().collect::<Vec<_>>().join(" "),
    };
    let plan = plan(common, opened, options)?;
    let found = watched(opened.model.as_ref(), plan, shard, folder, width, &subject);
    let Some((study, runs, mut result)) = found.map_err(|e| e.with_remedy(&on))? else {
        say(&format!(
            "share {shard} is done: {}; when all are, `rumple merge DIR… --out DIR` joins them",
            folder.display()
        ));
        return Ok(());
    };
    result.run.seconds = clock.elapsed().as_secs_f64();
    report::sensitivity::folder::save(folder, &study, &runs, &result)
        .map_err(|e| e.with_remedy(&on))?;
    if common.json {
        print(&format!(
            "{}\n",
            report::sensitivity::folder::to_json(&result)?
        ))?;
    } else {
        print(&report::sensitivity::text::terminal(&result))?;
    }
    say(&format!(
        "results: {} (report.html, indices.csv, samples.csv, sensitivity.json, plots)",
        folder.display()
    ));
    Ok(())
}

/// Runs in rounds of doubled samples until the intervals are narrow enough; none where other shards have a part.
fn watched<'a>(
    model: &'a dyn Model,
    plan: StudyPlan,
    shard: Shard,
    folder: &Path,
    width: f64,
    subject: &Subject,
) -> Result<Option<(Study<'a>, Runs, Sensitivity)>> {
    let most = plan.samples;
    let adaptive = width > 0.0 && plan.methods.contains(&Method::Sobol);
    let mut samples = if adaptive { FIRST.min(most) } else { most };
    loop {
        let study = Study::new(
            model,
            StudyPlan {
                samples,
                ..plan.clone()
            },
        )?;
        let results = evaluate(&study, shard, folder)?;
        let Some(results) = results else {
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
            let result = analyse(&study, &runs, subject, stopped);
            return Ok(Some((study, runs, result)));
        }
        samples = (2 * samples).min(most);
    }
}

/// The tasks of this share, with a bar, stopped by Ctrl-C.
fn evaluate(study: &Study, shard: Shard, folder: &Path) -> Result<Option<Vec<serde_json::Value>>> {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} tasks, {eta} left  {msg}");
    let progress = ProgressBar::new(0);
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    progress.set_message(format!("{} runs", study.size()));
    // Listens from here on: the first task may be a long one.
    interrupted();
    let mut first = true;
    let results = study::run(study, shard, folder, &mut |Progress { done, all }| {
        progress.set_length(all as u64);
        progress.set_position(done as u64);
        if std::mem::take(&mut first) {
            progress.reset_eta();
        }
        if interrupted() {
            Watch::Stop
        } else {
            Watch::GoOn
        }
    });
    progress.finish_and_clear();
    results
}

impl Arguments {
    fn options(&self, common: &Common, scene_folder: PathBuf) -> Options {
        Options {
            methods: self.methods.clone(),
            vary: self.vary.clone(),
            only: self.only.clone(),
            group: self.group.clone(),
            samples: self.samples,
            trajectories: self.trajectories,
            seed: common.seed,
            scene_folder,
        }
    }

    /// The folder asked for, or one of the study's name.
    fn folder(&self, opened: &Opened) -> PathBuf {
        self.out.clone().unwrap_or_else(|| {
            let word = |c: char| if c.is_alphanumeric() { c } else { '-' };
            let stem: String = opened.name.chars().map(word).collect();
            PathBuf::from(format!("{stem}-sensitivity"))
        })
    }
}

/// How large a study is, by its options and what is dear.
fn plan(common: &Common, opened: &Opened, options: &Options) -> Result<StudyPlan> {
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
            let found: Result<Vec<Method>> = names.map(|m| Method::find(m.trim())).collect();
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
        seed: options.seed.unwrap_or(common.seed()),
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
