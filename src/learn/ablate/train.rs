//! The runs of an ablation, trained side by side.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use super::Variant;
use crate::{
    error::{Error, Result},
    learn::{LearnCase, evaluate::Evaluated, run::TrainingRun},
    numeric::Compute,
    study::{self, Heard, Progress, Watcher, time_in_words},
};

/// A run, which variants that differ in the number of cycles share.
pub(super) struct Trained {
    folder: PathBuf,
    /// Name of the first variant that is trained so.
    home: String,
    /// For people.
    label: String,
    case: LearnCase,
    /// The folder whose first turn it begins with.
    leader: Option<PathBuf>,
    /// Why it could not be trained.
    pub failed: Option<String>,
}

/// Who watches an ablation.
///
/// An ablation has one watcher for each run and not one in all: runs are trained side by side, and each shows how far it is
/// from the thread that trains it.
pub(crate) struct Watchers<'a> {
    /// Makes the watcher of a run, by its label.
    pub run: &'a (dyn Fn(&str) -> Box<Watcher<'a>> + Sync),
    /// Hears how many runs are done of those that its first argument names.
    pub overall: &'a dyn Fn(&str, &Progress),
    /// Does what is to be done with a run that is trained to its end, such as drawing its charts.
    pub trained: &'a (dyn Fn(&Path, &LearnCase) -> Result<()> + Sync),
    /// Makes the watcher of an evaluation.
    pub evaluation: &'a dyn Fn() -> Box<Watcher<'a>>,
    /// Does what is to be done with a finished evaluation.
    pub judged: &'a dyn Fn(&Evaluated) -> Result<()>,
}

/// The folder in which a variant is trained, within that of an ablation.
pub(super) fn home(folder: &Path, variant: &Variant, seed: u64) -> PathBuf {
    folder.join(format!("{}-seed{seed}", variant.home))
}

impl Trained {
    /// Whether it is the run of this home and seed.
    pub(super) fn is(&self, home: &str, seed: u64) -> bool {
        self.home == home && self.case.seed == seed
    }

    /// Says whether there was anything left to learn.
    fn train<'a>(
        &self,
        enough: &dyn Fn(&TrainingRun) -> bool,
        watcher: &dyn Fn(&str) -> Box<Watcher<'a>>,
        trained: &dyn Fn(&Path, &LearnCase) -> Result<()>,
        compute: &Compute,
    ) -> Result<bool> {
        let mut run = TrainingRun::open(&self.folder, &self.case, compute, false)?;
        if let Some(leader) = &self.leader {
            run.begin_as(leader)?;
        }
        let is_left = !run.finished() && !enough(&run);
        run.teach(enough, &mut *watcher(&self.label))?;
        if run.finished() {
            trained(&self.folder, &self.case)?;
        }
        Ok(is_left)
    }
}

/// How many runs are done, and how long all others will take.
#[derive(Default)]
struct Overall {
    runs: usize,
    threads: usize,
    done: usize,
    /// Those that learned in this session, and their time together \[s\]; others were done before.
    learned: usize,
    seconds: f64,
}

impl Overall {
    /// How far all are, now that one more is done.
    fn add(&mut self, time: Duration, has_learned: bool) -> Progress {
        if has_learned {
            self.seconds += time.as_secs_f64();
            self.learned += 1;
        }
        self.done += 1;
        let left = self.runs.saturating_sub(self.done);
        let left = time_left(self.seconds, self.learned, left, self.threads);
        let text = left.map(|left| format!(", about {} left", time_in_words(left)));
        Progress {
            done: self.done,
            all: self.runs,
            text: text.unwrap_or_default(),
        }
    }
}

/// Time left of all runs \[s\], if the others take as long as those that have learned so far, as many side by side as there
/// are threads; nothing before the first.
fn time_left(seconds: f64, learned: usize, left: usize, threads: usize) -> Option<f64> {
    (learned > 0).then(|| seconds / learned as f64 * left as f64 / threads.max(1) as f64)
}

/// Trains what is left of all runs. E-Net's first turns come first, those that others can begin with; then as many runs
/// side by side as there are threads, since a run alone cannot keep all of them busy.
pub(super) fn train(
    folder: &Path,
    chosen: &[(u64, Vec<Variant>)],
    compute: &Compute,
    watchers: &Watchers,
) -> Result<Vec<Trained>> {
    let mut all: Vec<Trained> = Vec::new();
    for (seed, variants) in chosen {
        for variant in variants {
            if all.iter().any(|run| run.is(&variant.home, *seed)) {
                continue;
            }
            let sharing = variants.iter().filter(|v| v.home == variant.home);
            let cycles = sharing.map(|v| v.case.cycles).max();
            let case = LearnCase {
                cycles: cycles.unwrap_or(variant.case.cycles),
                ..variant.case.clone()
            };
            let mut earlier = all.iter();
            let leader = earlier.find(|run| case.begins_as(&run.case));
            all.push(Trained {
                leader: leader.map(|run| run.folder.clone()),
                folder: home(folder, variant, *seed),
                home: variant.home.clone(),
                label: format!("{}: {} seed {seed}  ", all.len() + 1, variant.name),
                case,
                failed: None,
            });
        }
    }
    let (leaders, others): (Vec<Trained>, Vec<Trained>) =
        all.into_iter().partition(|run| run.leader.is_none());
    let runs = leaders.len() + others.len();
    let what = format!("first turns of E-Net, which {runs} runs begin with");
    let mut all = side_by_side(
        leaders,
        TrainingRun::has_first_turn,
        &what,
        compute,
        watchers,
    )?;
    all.extend(others);
    side_by_side(
        all,
        TrainingRun::finished,
        "runs trained",
        compute,
        watchers,
    )
}

/// Trains runs until each has learned `enough`. One that cannot be trained says why; what ends the whole command, such as a
/// full disk, stops the others too. `what` is what their number counts.
fn side_by_side(
    mut runs: Vec<Trained>,
    enough: fn(&TrainingRun) -> bool,
    what: &str,
    compute: &Compute,
    watchers: &Watchers,
) -> Result<Vec<Trained>> {
    let threads = match compute.is_cpu() {
        true => rayon::current_num_threads().min(runs.len()),
        false => 1,
    };
    let mut overall = Overall {
        runs: runs.len(),
        threads,
        ..Overall::default()
    };
    // Runs are long: those that go on when all is over must end before their time.
    let is_over = AtomicBool::new(false);
    let enough = |run: &TrainingRun| is_over.load(Ordering::Relaxed) || enough(run);
    let (watcher, trained) = (watchers.run, watchers.trained);
    let train = |number: usize| match &runs[number].failed {
        Some(_) => Ok(false),
        None => runs[number].train(&enough, watcher, trained, compute),
    };
    let mut failed = Vec::new();
    let mut ends_all = None;
    study::side_by_side(
        threads,
        runs.len(),
        |number, _| {
            let clock = Instant::now();
            // One that fails is no failure of all, so it is told as a result.
            Ok((train(number), clock.elapsed()))
        },
        &mut |heard| {
            let Heard::Done(number, (outcome, time)) = heard else {
                return Ok(ControlFlow::Continue(()));
            };
            let progress = overall.add(time, matches!(outcome, Ok(true)));
            (watchers.overall)(what, &progress);
            match outcome {
                Ok(_) => return Ok(ControlFlow::Continue(())),
                Err(Error::BadInput(why)) => {
                    failed.push((number, why));
                    return Ok(ControlFlow::Continue(()));
                }
                // Ctrl-C says less than anything else that went wrong.
                Err(Error::Interrupted(_)) if ends_all.is_some() => (),
                Err(other) => ends_all = Some(other),
            }
            is_over.store(true, Ordering::Relaxed);
            Ok(ControlFlow::Break(()))
        },
    )?;
    for (number, why) in failed {
        runs[number].failed = Some(why);
    }
    ends_all.map_or(Ok(runs), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_of_all_is_that_of_runs_so_far() {
        assert_eq!(time_left(0.0, 0, 9, 2), None, "nothing is known yet");
        // Three took 100 s each, and four are left, two at a time.
        assert_eq!(time_left(300.0, 3, 4, 2), Some(200.0));
        assert_eq!(time_left(300.0, 3, 0, 2), Some(0.0));
    }

    #[test]
    fn runs_that_were_done_before_say_nothing_about_the_pace() {
        let mut overall = Overall {
            runs: 6,
            threads: 2,
            ..Overall::default()
        };
        let before = overall.add(Duration::from_millis(3), false);
        assert_eq!(before.text, "");
        let learned = overall.add(Duration::from_secs(60), true);
        assert_eq!((learned.done, learned.all), (2, 6));
        assert_eq!(learned.text, ", about 2 min left");
    }
}
