//! The runs of an ablation, trained side by side.

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use super::Variant;
use crate::{
    error::{Error, Result},
    learn::{LearnCase, run::Run},
    numeric::Compute,
    study::{Progress, Watcher, time_in_words},
};

/// A run, which variants that differ in the number of cycles share.
pub(crate) struct Trained {
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

/// Who watches an ablation, each from the thread that trains a run.
pub(crate) struct Watchers<'a> {
    /// Makes the watcher of a run, by its label.
    pub run: &'a (dyn Fn(&str) -> Box<Watcher<'a>> + Sync),
    /// Hears how many runs are done of those that its first argument names.
    pub overall: &'a (dyn Fn(&str, &Progress) + Sync),
    /// Does what is to be done with a finished run, such as drawing its charts.
    pub finished: &'a (dyn Fn(&Path, &LearnCase) -> Result<()> + Sync),
}

/// The folder in which a variant is trained, within that of an ablation.
pub(crate) fn home(folder: &Path, variant: &Variant, seed: u64) -> PathBuf {
    folder.join(format!("{}-seed{seed}", variant.home))
}

impl Trained {
    /// Whether it is the run of this home and seed.
    pub(crate) fn is(&self, home: &str, seed: u64) -> bool {
        self.home == home && self.case.seed == seed
    }

    /// Says whether there was anything left to learn.
    fn train(
        &self,
        enough: &dyn Fn(&Run) -> bool,
        watchers: &Watchers,
        compute: &Compute,
    ) -> Result<bool> {
        let mut run = Run::open(&self.folder, &self.case, compute, false)?;
        if let Some(leader) = &self.leader {
            run.begin_as(leader)?;
        }
        let is_left = !run.finished() && !enough(&run);
        run.teach(enough, &mut *(watchers.run)(&self.label))?;
        if run.finished() {
            (watchers.finished)(&self.folder, &self.case)?;
        }
        Ok(is_left)
    }
}

/// How many runs are done, and how long all others will take.
struct Overall {
    runs: usize,
    threads: usize,
    done: AtomicUsize,
    /// Those that learned in this session, and their time together \[ms\]; others were done before.
    learned: AtomicUsize,
    milliseconds: AtomicU64,
}

impl Overall {
    fn new(runs: usize, threads: usize) -> Overall {
        Overall {
            runs,
            threads,
            done: AtomicUsize::new(0),
            learned: AtomicUsize::new(0),
            milliseconds: AtomicU64::new(0),
        }
    }

    /// How far all are, now that one more is done.
    fn add(&self, time: Duration, has_learned: bool) -> Progress {
        if has_learned {
            let milliseconds = time.as_millis() as u64;
            self.milliseconds.fetch_add(milliseconds, Ordering::Relaxed);
            self.learned.fetch_add(1, Ordering::Relaxed);
        }
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let left = time_left(
            self.milliseconds.load(Ordering::Relaxed) as f64 / 1e3,
            self.learned.load(Ordering::Relaxed),
            self.runs.saturating_sub(done),
            self.threads,
        );
        Progress {
            done,
            all: self.runs,
            text: left.map_or(String::new(), |left| {
                format!(", about {} left", time_in_words(left))
            }),
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
pub(crate) fn train(
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
    let mut all = side_by_side(leaders, Run::has_first_turn, &what, compute, watchers)?;
    all.extend(others);
    side_by_side(all, Run::finished, "runs trained", compute, watchers)
}

/// Trains runs until each has learned `enough`. One that cannot be trained says why; what ends the whole command, such as a
/// full disk, stops the others too. `what` is what their number counts.
fn side_by_side(
    runs: Vec<Trained>,
    enough: fn(&Run) -> bool,
    what: &str,
    compute: &Compute,
    watchers: &Watchers,
) -> Result<Vec<Trained>> {
    let threads = match compute.is_cpu() {
        true => rayon::current_num_threads().min(runs.len()),
        false => 1,
    };
    let overall = Overall::new(runs.len(), threads);
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let enough = |run: &Run| over.load(Ordering::Relaxed) || enough(run);
    let worker = || {
        let mut done = Vec::new();
        while !over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(run) = runs.get(number) else {
                break;
            };
            let clock = Instant::now();
            let outcome = match run.failed {
                Some(_) => Ok(false),
                None => run.train(&enough, watchers, compute),
            };
            let progress = overall.add(clock.elapsed(), matches!(outcome, Ok(true)));
            (watchers.overall)(what, &progress);
            let ends_all = matches!(&outcome, Err(error) if !matches!(error, Error::BadInput(_)));
            over.fetch_or(ends_all, Ordering::Relaxed);
            done.push((number, outcome));
        }
        done
    };
    let outcomes = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().flat_map(join).collect::<Vec<_>>()
    });
    let mut runs = runs;
    let mut ends_all = None;
    for (number, outcome) in outcomes {
        match outcome {
            Ok(_) => (),
            Err(Error::BadInput(why)) => runs[number].failed = Some(why),
            // Ctrl-C says less than anything else that went wrong.
            Err(Error::Interrupted(why)) if ends_all.is_none() => {
                ends_all = Some(Error::Interrupted(why));
            }
            Err(Error::Interrupted(_)) => (),
            Err(other) => ends_all = Some(other),
        }
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
        let overall = Overall::new(6, 2);
        let before = overall.add(Duration::from_millis(3), false);
        assert_eq!(before.text, "");
        let learned = overall.add(Duration::from_secs(60), true);
        assert_eq!((learned.done, learned.all), (2, 6));
        assert_eq!(learned.text, ", about 2 min left");
    }
}
