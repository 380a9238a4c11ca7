//! The runs of an ablation, trained side by side.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::Bench;
use crate::{
    cli::learn::{
        pictures,
        train::{teach, words},
    },
    error::{Error, Result},
    learn::{LearnCase, ablate::Variant, run::Run},
    numeric::Compute,
};

/// A run, which variants that differ in the number of cycles share.
pub(super) struct Trained {
    folder: PathBuf,
    /// Name of the first variant that is trained so.
    home: String,
    /// Of its bar.
    label: String,
    case: LearnCase,
    /// The folder whose first turn it begins with.
    leader: Option<PathBuf>,
    /// Why it could not be trained.
    pub(super) failed: Option<String>,
}

impl Trained {
    pub(super) fn is(&self, home: &str, seed: u64) -> bool {
        self.home == home && self.case.seed == seed
    }

    /// Says whether there was anything left to learn.
    fn train(
        &self,
        enough: &dyn Fn(&Run) -> bool,
        bars: &MultiProgress,
        compute: &Compute,
    ) -> Result<bool> {
        let mut run = Run::open(&self.folder, &self.case, compute, false)?;
        if let Some(leader) = &self.leader {
            run.begin_as(leader)?;
        }
        let is_left = !run.finished() && !enough(&run);
        teach(&mut run, enough, bars, &self.label)?;
        if run.finished() {
            pictures::of_run(&self.folder, &self.case)?;
        }
        Ok(is_left)
    }
}

/// How many runs are done, and how long all others will take.
struct Overall {
    bar: ProgressBar,
    runs: usize,
    threads: usize,
    /// Those that learned in this session, and their time together \[ms\]; others were done before.
    learned: AtomicUsize,
    milliseconds: AtomicU64,
}

impl Overall {
    /// A line above the bars of single runs.
    fn new(bars: &MultiProgress, what: &str, runs: usize, threads: usize) -> Overall {
        let bar = bars.add(ProgressBar::new(runs as u64));
        let style = ProgressStyle::with_template("{pos}/{len} {prefix}{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(what.to_string());
        Overall {
            bar,
            runs,
            threads,
            learned: AtomicUsize::new(0),
            milliseconds: AtomicU64::new(0),
        }
    }

    /// One more is done.
    fn add(&self, time: Duration, has_learned: bool) {
        if has_learned {
            let milliseconds = time.as_millis() as u64;
            self.milliseconds.fetch_add(milliseconds, Ordering::Relaxed);
            self.learned.fetch_add(1, Ordering::Relaxed);
        }
        self.bar.inc(1);
        let left = time_left(
            self.milliseconds.load(Ordering::Relaxed) as f64 / 1e3,
            self.learned.load(Ordering::Relaxed),
            self.runs.saturating_sub(self.bar.position() as usize),
            self.threads,
        );
        let said = left.map_or(String::new(), |left| {
            format!(", about {} left", words(left))
        });
        self.bar.set_message(said);
    }
}

/// Time left of all runs \[s\], if the others take as long as those that have learned so far, as many side by side as there
/// are threads; nothing before the first.
fn time_left(seconds: f64, learned: usize, left: usize, threads: usize) -> Option<f64> {
    (learned > 0).then(|| seconds / learned as f64 * left as f64 / threads.max(1) as f64)
}

impl Bench {
    /// Trains what is left of all runs. E-Net's first turns come first, those that others can begin with; then as many runs
    /// side by side as there are threads, since a run alone cannot keep all of them busy.
    pub(super) fn train(&self, chosen: &[(u64, Vec<Variant>)]) -> Result<Vec<Trained>> {
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
                    folder: self.home(variant, *seed),
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
        let mut all = self.side_by_side(leaders, Run::has_first_turn, &what)?;
        all.extend(others);
        self.side_by_side(all, Run::finished, "runs trained")
    }

    /// Trains runs until each has learned `enough`. One that cannot be trained says why; what ends the whole command, such as a
    /// full disk, stops the others too. `what` is what their number counts.
    fn side_by_side(
        &self,
        runs: Vec<Trained>,
        enough: fn(&Run) -> bool,
        what: &str,
    ) -> Result<Vec<Trained>> {
        let threads = match self.compute.is_cpu() {
            true => rayon::current_num_threads().min(runs.len()),
            false => 1,
        };
        let bars = MultiProgress::new();
        let overall = Overall::new(&bars, what, runs.len(), threads);
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
                    None => run.train(&enough, &bars, &self.compute),
                };
                overall.add(clock.elapsed(), matches!(outcome, Ok(true)));
                let ends_all =
                    matches!(&outcome, Err(error) if !matches!(error, Error::BadInput(_)));
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
        overall.bar.finish_and_clear();
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
        let overall = Overall::new(&MultiProgress::new(), "runs", 6, 2);
        overall.add(Duration::from_millis(3), false);
        assert_eq!(overall.bar.message(), "");
        overall.add(Duration::from_secs(60), true);
        assert_eq!(overall.bar.position(), 2);
        assert_eq!(overall.bar.message(), ", about 2 min left");
    }
}
