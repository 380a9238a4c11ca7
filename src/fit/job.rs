//! Fits from beginning to end in a folder: begun, stopped, gone on with, refined, cut into shards and merged.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    folder::{FitFolder, FitJob, begin_whole, copy_fit, finished, save},
    result::FitResult,
    run::Fit,
};
use crate::{
    error::{Error, Result, bad_input},
    numeric::Compute,
    study::{self, Folder, JOURNAL, Shard, Shards, Watcher, journal::Journal},
};

/// Key of the number of samples that were asked for last.
const SAMPLES: &str = "bootstrap/samples";
/// Beyond this a bootstrap's journal would not be read again.
const MOST_SAMPLES: usize = 100_000;

impl FitJob {
    /// Fits a case in a folder: `case.json`, `data/`, `journal.jsonl`, `result.json`, materials and exports. The same call
    /// goes on with a fit that was stopped, and ends with the same bits. `None` where the job is a share of the starts.
    ///
    /// A fit that the watcher stops after its first rounds returns what it has, with [`FitResult::interrupted`] set.
    ///
    /// # Examples
    ///
    /// A fit that a watcher stops after ten rounds, and that goes on later:
    ///
    /// ```no_run
    /// use std::{
    ///     ops::ControlFlow,
    ///     path::{Path, PathBuf},
    /// };
    ///
    /// use rumple::{
    ///     fit::FitJob,
    ///     numeric::{Compute, Precision},
    ///     study::News,
    /// };
    ///
    /// # fn main() -> rumple::error::Result<()> {
    /// let case = PathBuf::from("fits/levison_cotton/case.json");
    /// let job = FitJob::new(&[case], &Compute::cpu(Precision::F64))?;
    /// let folder = Path::new("cotton-fit");
    /// let mut rounds = 0;
    /// let begun = job.run(folder, &mut |news| {
    ///     if let News::Progress(progress) = news {
    ///         println!("{}", progress.text);
    ///         rounds += 1;
    ///     }
    ///     if rounds < 10 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    /// });
    /// println!("stopped: {:?}", begun.map(|result| result.map(|r| r.interrupted)));
    /// let result = job.run(folder, &mut |_| ControlFlow::Continue(()))?;
    /// for parameter in result.iter().flat_map(|r| &r.parameters) {
    ///     println!("{} = {:?} {}", parameter.name, parameter.value, parameter.unit);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Interrupted`] where the watcher stops a fit before there is anything to report, or a share of one;
    /// [`Error::BadInput`] for a case that cannot be fitted and a folder of something else.
    pub fn run(&self, folder: &Path, watch: &mut Watcher) -> Result<Option<FitResult>> {
        FitFolder::begin(self, folder)?.run(watch)
    }

    /// Goes on with the fit that was begun in a folder, as [`FitJob::run`] does. `compute` is the device where it was
    /// begun. The CPU also goes on with what a GPU began.
    pub fn resume(
        folder: &Path,
        compute: &Compute,
        watch: &mut Watcher,
    ) -> Result<Option<FitResult>> {
        FitFolder::open(folder, compute)?.run(watch)
    }
}

impl FitFolder {
    /// Goes on with the fit to its end, or to the end of its share, as [`FitJob::run`] does.
    pub(crate) fn run(self, watch: &mut Watcher) -> Result<Option<FitResult>> {
        self.run_after(|_, _| Ok(()), watch)
    }

    /// [`FitFolder::run`] after a first look at the journal.
    fn run_after(
        self,
        first: impl FnOnce(&Fit, &mut Journal) -> Result<()>,
        watch: &mut Watcher,
    ) -> Result<Option<FitResult>> {
        let clock = Instant::now();
        let (folder, shard) = (self.folder.clone(), self.shard());
        let (device, command) = self.origin();
        let path = folder.path();
        let on = format!("`rumple fit --resume {}` then goes on", path.display());
        let result = self.with(|fit, journal| {
            first(fit, journal)?;
            if !shard.is_whole() {
                let searched = fit.search_groups(&fit.groups(), journal, shard, watch)?;
                return match searched.stopped {
                    false => Ok(None),
                    true => Err(Error::Interrupted(format!(
                        "interrupted; the same command, or `rumple fit --resume {}`, goes on",
                        path.display()
                    ))),
                };
            }
            let mut result = fit.run(journal, watch)?;
            result.run.command = command;
            let (asked, last) = (fit.problem.compute(), fit.problem.fine());
            result.run.device = match (asked.is_cpu(), asked.describe() == device) {
                (true, true) => device,
                (true, false) => format!("{device}, then {}", asked.describe()),
                (false, _) => format!(
                    "{device} for the stages before the last; {} for the last stage and the error bars",
                    last.describe()
                ),
            };
            result.run.seconds = clock.elapsed().as_secs_f64();
            if let Ok(before) = FitResult::load(path) {
                result.bootstrap = before.bootstrap;
                if !before.interrupted {
                    // Those of [`FitJob::profile`] are finer.
                    result.profiles = before.profiles;
                }
            }
            save(path, result).map(Some)
        });
        result.map_err(|e| e.with_remedy(&on))
    }

    /// Draws the samples of a shard after a first look at the journal; none where other shards have the rest.
    fn draw(
        self,
        samples: usize,
        shard: Shard,
        first: impl FnOnce(&Fit, &mut Journal) -> Result<()>,
        watch: &mut Watcher,
    ) -> Result<Option<FitResult>> {
        let folder = self.folder.clone();
        let result = finished(folder.path())?;
        let drawn = self.with(|fit, journal| {
            first(fit, journal)?;
            journal.put(SAMPLES, &samples)?;
            fit.bootstrap(journal, samples, shard, watch)
        })?;
        let with = |drawn| FitResult {
            bootstrap: Some(drawn),
            ..result
        };
        drawn.map(|d| save(folder.path(), with(d))).transpose()
    }
}

impl FitJob {
    /// Finer and wider profile likelihoods of the finished fit in a folder, to 99.7 %; its result then holds them.
    pub fn profile(folder: &Path, compute: &Compute, watch: &mut Watcher) -> Result<FitResult> {
        let opened = FitFolder::open(folder, compute)?;
        let result = finished(folder)?;
        let profiles = opened.with(|fit, journal| fit.fine_profiles(journal, watch))?;
        match profiles {
            Some(profiles) => save(folder, FitResult { profiles, ..result }),
            None => Err(Error::Interrupted(format!(
                "interrupted; `rumple profile {}` goes on where it stopped",
                folder.display()
            ))),
        }
    }

    /// Parametric bootstrap of the finished fit in a folder; its result then holds the intervals.
    pub fn bootstrap(
        folder: &Path,
        compute: &Compute,
        samples: usize,
        watch: &mut Watcher,
    ) -> Result<FitResult> {
        let opened = FitFolder::open(folder, compute)?;
        check_samples(samples)?;
        let drawn = opened.draw(samples, Shard::WHOLE, |_, _| Ok(()), watch)?;
        drawn.map_or_else(|| finished(folder), Ok)
    }

    /// A share of the samples of [`FitJob::bootstrap`], in a folder of its own: a copy of the fit.
    pub fn bootstrap_share(
        (folder, out): (&Path, &Path),
        compute: &Compute,
        samples: usize,
        shard: Shard,
        watch: &mut Watcher,
    ) -> Result<Option<FitResult>> {
        check_samples(samples)?;
        finished(folder)?;
        copy_fit(&Folder::new(folder), &Folder::new(out))?;
        FitFolder::open(out, compute)?.draw(samples, shard, |_, _| Ok(()), watch)
    }

    /// Joins the shards of a fit, or of a bootstrap, into a folder and finishes it: the same bits as on one machine.
    pub fn merge(
        folders: &[PathBuf],
        out: &Path,
        compute: &Compute,
        watch: &mut Watcher,
    ) -> Result<FitResult> {
        let shards = Shards::open(folders)?;
        let Some(first) = folders.first() else {
            return bad_input("there is nothing to merge; give the folders of all shards");
        };
        let (first, whole) = (Folder::new(first), Folder::new(out));
        // The folder of a bootstrap holds its fit too.
        let result = if shards.holds("bootstrap") {
            let journal = Journal::read(&first.file(JOURNAL))?;
            let samples = journal.get::<usize>(SAMPLES)?.unwrap_or(0);
            copy_fit(&first, &whole)?;
            let join = |fit: &Fit, journal: &mut Journal| {
                study::merge(&fit.samples(journal, samples)?, &shards, journal)
            };
            FitFolder::open(out, compute)?.draw(samples, Shard::WHOLE, join, watch)?
        } else {
            begin_whole(&first, &whole)?;
            let join =
                |fit: &Fit, journal: &mut Journal| study::merge(&fit.groups(), &shards, journal);
            FitFolder::open(out, compute)?.run_after(join, watch)?
        };
        result.map_or_else(|| finished(out), Ok)
    }
}

fn check_samples(samples: usize) -> Result<()> {
    match (2..=MOST_SAMPLES).contains(&samples) {
        true => Ok(()),
        false => bad_input(format!(
            "--samples {samples} cannot be drawn; give 2 to {MOST_SAMPLES} (200 are usual)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::{
        fit::{Measurements, case::Case},
        numeric::Precision,
        study::News,
    };

    const CASE: &str = r#"{"name": "tiny", "data": ["data.csv"], "starts": 2, "seed": 4, "tests": {"hinges": 128}}"#;
    const DATA: &str = "fabric,gap_mm,press_time_s,recovery_time_s,angle_deg,sd_deg,n
a,1,1,300,150,2,1\na,1,10,300,140,2,1\na,1,100,300,125,2,1\na,1,1e3,300,108,2,1\na,1,1e4,300,95,2,1
a,2,1,300,160,2,1\na,2,10,300,152,2,1\na,2,100,300,140,2,1\na,2,1e3,300,126,2,1\na,2,1e4,300,115,2,1\n";

    fn job() -> FitJob {
        let measurements = Measurements {
            case: Case::parse(CASE, "case.json").unwrap(),
            texts: vec![("data.csv".into(), DATA.into())],
        };
        FitJob::of(measurements, Compute::cpu(Precision::F64))
    }

    /// Everything but how long it took and where.
    fn written(result: &FitResult, run: &FitResult) -> String {
        let mut result = result.clone();
        result.run = run.run.clone();
        serde_json::to_string(&result).unwrap()
    }

    // A fit that its watcher stops in the search and later ends with the bits of one that nobody stopped; its folder
    // takes no other case, optimizer or device.
    #[test]
    fn a_fit_stopped_by_its_watcher_goes_on_to_the_same_bits() {
        let name = format!("rumple-fit-job-{}", std::process::id());
        let home = Folder::new(std::env::temp_dir().join(name));
        home.remove("").unwrap();
        let mut all = 0;
        let whole = job().run(&home.file("whole"), &mut |_| {
            all += 1;
            ControlFlow::Continue(())
        });
        let whole = whole.unwrap().unwrap();
        assert!(all > 20 && !whole.interrupted, "{all} rounds");
        assert!(whole.parameters.iter().any(|p| p.free && p.best > 0.0));
        let stopped = home.file("stopped");
        for most in [1, all / 4, all / 4] {
            let mut rounds = 0;
            let result = job().run(&stopped, &mut |news| {
                rounds += usize::from(matches!(news, News::Progress(_)));
                match rounds < most {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            });
            match result {
                Ok(result) => assert!(result.unwrap().interrupted),
                Err(error) => assert!(matches!(error, Error::Interrupted(_)), "{error}"),
            }
        }
        let said = finished(&stopped).unwrap_err().to_string();
        assert!(said.contains("was interrupted"), "{said}");
        let mut again = 0;
        let result = FitFolder::open(&stopped, &job().compute)
            .unwrap()
            .run(&mut |_| {
                again += 1;
                ControlFlow::Continue(())
            });
        let result = result.unwrap().unwrap();
        assert!(again < all, "{again} rounds after the stops, {all} without");
        assert_eq!(written(&result, &whole), written(&whole, &whole));
        assert_eq!(
            written(&FitResult::load(&stopped).unwrap(), &whole),
            written(&whole, &whole)
        );
        type CaseChange = fn(&mut FitJob);
        let changes: [(CaseChange, &str); 3] = [
            (|job| job.measurements.case.seed = 5, "seed: 4 against 5"),
            (
                |job| job.optimizer = crate::fit::run::SearchMethod::Adam,
                "Levenberg-Marquardt, not Adam",
            ),
            (
                |job| job.compute = Compute::cpu(Precision::F32),
                "begun on cpu, f64",
            ),
        ];
        for (change, fragment) in changes {
            let mut other = job();
            change(&mut other);
            let said = other.run(&stopped, &mut |_| ControlFlow::Continue(()));
            let said = said.unwrap_err().to_string();
            assert!(said.contains(fragment), "{said}");
        }
        home.remove("").unwrap();
    }
}
