//! The runs of an ablation, trained side by side.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use indicatif::MultiProgress;

use super::Bench;
use crate::{
    cli::learn::{pictures, train::teach},
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

    fn train(
        &self,
        enough: &dyn Fn(&Run) -> bool,
        bars: &MultiProgress,
        compute: &Compute,
    ) -> Result<()> {
        let mut run = Run::open(&self.folder, &self.case, compute, false)?;
        if let Some(leader) = &self.leader {
            run.begin_as(leader)?;
        }
        teach(&mut run, enough, bars, &self.label)?;
        match run.finished() {
            true => pictures::of_run(&self.folder, &self.case),
            false => Ok(()),
        }
    }
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
        let mut all = self.side_by_side(leaders, Run::has_first_turn)?;
        all.extend(others);
        self.side_by_side(all, Run::finished)
    }

    /// Trains runs until each has learned `enough`. One that cannot be trained says why; what ends the whole command, such as a
    /// full disk, stops the others too.
    fn side_by_side(&self, runs: Vec<Trained>, enough: fn(&Run) -> bool) -> Result<Vec<Trained>> {
        let threads = match self.compute.is_cpu() {
            true => rayon::current_num_threads().min(runs.len()),
            false => 1,
        };
        let bars = MultiProgress::new();
        let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let enough = |run: &Run| over.load(Ordering::Relaxed) || enough(run);
        let worker = || {
            let mut done = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(run) = runs.get(number) else {
                    break;
                };
                let outcome = match run.failed {
                    Some(_) => Ok(()),
                    None => run.train(&enough, &bars, &self.compute),
                };
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
        let mut runs = runs;
        let mut ends_all = None;
        for (number, outcome) in outcomes {
            match outcome {
                Ok(()) => (),
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
