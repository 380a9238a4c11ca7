//! `rumple sensitivity`

mod input;

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use self::input::{Opened, open};
use super::{Common, count, interrupted, print, say};
use crate::{
    error::{Error, Result, bad_input, readable},
    fit::multistart::Wish as Watch,
    report::{sensitivity_folder, sensitivity_text},
    sensitivity::{
        analysis::{self, Subject, analyse},
        factor::groups,
        model::Model,
        result::Sensitivity,
        study::{Method, Plan, Runs, Study},
    },
    tasks::{self, Progress, Shard},
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
    #[arg(long, value_name = "WIDTH", default_value_t = 0.1, allow_negative_numbers = true)]
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
    let clock = Instant::now();
    let opened = open(common, &arguments.inputs, &arguments.wishes()?)?;
    let model = opened.model.as_ref();
    let plan = arguments.plan(common, &opened)?;
    let folder = arguments.folder(&opened)?;
    let shard = arguments.shard.unwrap_or(Shard::WHOLE);
    let on = format!("the same command then goes on in {}", folder.display());
    let subject = Subject {
        name: opened.name.clone(),
        synthetic: opened.synthetic,
        notes: opened.notes.clone(),
        command: std::env::args().collect::<Vec<_>>().join(" "),
    };
    let found = watched(model, plan, shard, &folder, arguments.width, &subject);
    let Some((study, runs, mut result)) = found.map_err(|e| e.with_remedy(&on))? else {
        say(&format!(
            "share {shard} is done: {}; when all shares are, `rumple merge` joins their folders",
            folder.display()
        ));
        return Ok(());
    };
    result.run.seconds = clock.elapsed().as_secs_f64();
    sensitivity_folder::save(&folder, &study, &runs, &result).map_err(|e| e.with_remedy(&on))?;
    if common.json {
        print(&format!("{}\n", sensitivity_folder::to_json(&result)?))?;
    } else {
        print(&sensitivity_text::terminal(&result))?;
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
    plan: Plan,
    shard: Shard,
    folder: &Path,
    width: f64,
    subject: &Subject,
) -> Result<Option<(Study<'a>, Runs, Sensitivity)>> {
    let most = plan.samples;
    // Shards cannot know what the others find: they take all samples.
    let adaptive = shard.is_whole() && plan.methods.contains(&Method::Sobol);
    let mut samples = if adaptive { FIRST.min(most) } else { most };
    loop {
        let study = Study::new(model, Plan { samples, ..plan.clone() });
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
    let results = tasks::run(study, shard, folder, &mut |Progress { done, all }| {
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
    fn wishes(&self) -> Result<input::Wishes> {
        let pair = |option: &str, text: &String| -> Result<(String, String)> {
            match text.split_once('=') {
                Some((name, rest)) if !name.trim().is_empty() => {
                    Ok((name.trim().into(), rest.trim().into()))
                }
                _ => bad_input(format!("{option} {text}: there is no name before '='; give NAME=…")),
            }
        };
        let mut vary = Vec::new();
        for text in &self.vary {
            let (name, shape) = pair("--vary", text)?;
            let shape = crate::sensitivity::laboratory::Vary::parse(&shape)
                .map_err(|e| Error::BadInput(format!("--vary {name}: {e}")))?;
            vary.push((name, shape));
        }
        Ok(input::Wishes {
            vary,
            only: self.only.clone(),
            around: self.around.clone(),
        })
    }

    fn plan(&self, common: &Common, opened: &Opened) -> Result<Plan> {
        let mut asked = Vec::new();
        for text in &self.group {
            let Some((name, members)) = text.split_once('=') else {
                return bad_input(format!("--group {text}: there is no '='; give GROUP=NAME,NAME,…"));
            };
            let members = members.split(',').map(|m| m.trim().to_string());
            asked.push((name.trim().to_string(), members.collect()));
        }
        let mut methods: Vec<Method> = match self.methods.is_empty() {
            true if opened.is_scene => vec![Method::Local, Method::Morris],
            true => Method::ALL.to_vec(),
            false => {
                let found: Result<Vec<Method>> =
                    self.methods.iter().map(|m| Method::find(m.trim())).collect();
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
        let plan = Plan {
            groups: groups(opened.model.factors(), &asked)?,
            methods,
            seed: common.seed(),
            samples: self.samples.unwrap_or(few(4096, 64)),
            trajectories: self.trajectories.unwrap_or(few(64, 8)),
            points: few(1024, 16),
        };
        self.check(&plan)?;
        Ok(plan)
    }

    fn check(&self, plan: &Plan) -> Result<()> {
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
        let runs = plan.samples.max(plan.trajectories).saturating_mul(plan.groups.len() + 2);
        if runs > MOST_RUNS {
            return bad_input(format!(
                "{runs} runs are too many for one study; give fewer --samples or --trajectories (at most {MOST_RUNS} runs)"
            ));
        }
        if self.width.is_nan() || self.width < 0.0 {
            return bad_input(format!(
                "--width {} is no width; give 0 to take all samples, or 0.1 for example",
                self.width
            ));
        }
        Ok(())
    }

    /// The folder asked for, or one of the study's name.
    fn folder(&self, opened: &Opened) -> Result<PathBuf> {
        let folder = self.out.clone().unwrap_or_else(|| {
            let word = |c: char| if c.is_alphanumeric() { c } else { '-' };
            let stem: String = opened.name.chars().map(word).collect();
            PathBuf::from(format!("{stem}-sensitivity"))
        });
        std::fs::create_dir_all(&folder).map_err(|e| Error::writing(&folder, e))?;
        Ok(folder)
    }
}
