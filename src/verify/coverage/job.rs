//! A study from beginning to end in a folder: begun, stopped, gone on with, cut into shards and merged.

use std::{path::Path, time::Instant};

use serde::Deserialize;
use serde_json::Value;

use super::{Coverage, CoveragePlan, CoverageStudy, DataSet, summary::CoverageRun};
use crate::{
    error::{Error, Result},
    numeric::Compute,
    study::{self, Folder, JOURNAL, Shard, Shards, Tasks, Watcher, journal::Journal},
};

/// The plan of the study in its folder.
const PLAN: &str = "plan.json";

/// What is to be drawn and fitted, checked and ready.
pub(crate) struct CoverageJob {
    study: CoverageStudy,
    /// The share of the data sets that is fitted.
    pub shard: Shard,
}

impl CoverageJob {
    /// Checks a plan.
    pub(crate) fn new(plan: CoveragePlan, compute: &Compute) -> Result<CoverageJob> {
        Ok(CoverageJob {
            study: CoverageStudy::new(plan, compute.clone())?,
            shard: Shard::WHOLE,
        })
    }

    /// The study that a folder holds.
    pub(crate) fn read(folder: &Path, compute: &Compute) -> Result<CoverageJob> {
        let folder = Folder::new(folder);
        let plan = serde_json::from_str(&folder.read(PLAN)?).map_err(|e| {
            Error::BadInput(format!(
                "{}: not the plan of a study by this version: {e}; run the study again",
                folder.file(PLAN).display()
            ))
        })?;
        CoverageJob::new(plan, compute)
    }

    /// Fits the data sets that are missing in a folder. The same call goes on with a study that was stopped, also with more
    /// laws or other noise. None where other shards have a part.
    pub(crate) fn run(&self, folder: &Path, watch: &mut Watcher) -> Result<Option<Coverage>> {
        let clock = Instant::now();
        let path = folder;
        let mut journal = self.hold(path)?;
        let on = format!("the same command then goes on in {}", path.display());
        let results = study::run_in(&self.study, self.shard, &mut journal, watch);
        let results = results.map_err(|e| e.with_remedy(&on))?;
        let seconds = || clock.elapsed().as_secs_f64();
        results
            .map(|all| self.study.gathered(&all, seconds()))
            .transpose()
    }

    /// Joins shards into a folder.
    pub(crate) fn merge(
        &self,
        shards: &Shards,
        out: &Path,
        watch: &mut Watcher,
    ) -> Result<Option<Coverage>> {
        let mut journal = self.hold(out)?;
        study::merge(&self.study, shards, &mut journal)?;
        drop(journal);
        self.run(out, watch)
    }

    /// Opens the journal of a folder and puts the plan into it, or refuses one of another study.
    fn hold(&self, path: &Path) -> Result<Journal> {
        let folder = Folder::new(path);
        if folder.has(PLAN) {
            let there = CoverageJob::read(path, &self.study.compute)?.study;
            let (there, here) = (there.identity(), self.study.identity());
            folder.check_input("plan", &there, &here, "give another --out")?;
        } else if !folder.names()?.is_empty() {
            return folder.refuse(
                "there are files in it that are no study of error bars; give another --out",
            );
        }
        folder.make()?;
        // The plan first: a folder with a journal alone would belong to nobody. And again once nobody else writes there.
        if !folder.has(PLAN) {
            folder.write_json(PLAN, &self.study.plan)?;
        }
        let journal = Journal::open(&folder.file(JOURNAL))?;
        folder.write_json(PLAN, &self.study.plan)?;
        Ok(journal)
    }
}

impl CoverageStudy {
    /// The summary of the results of all tasks.
    pub(crate) fn gathered(&self, results: &[Value], seconds: f64) -> Result<Coverage> {
        let sets = results.iter().map(|value| {
            DataSet::deserialize(value).map_err(|e| {
                Error::BadInput(format!(
                    "a data set in the journal cannot be read: {e}; start again in another folder"
                ))
            })
        });
        let run = CoverageRun {
            version: env!("CARGO_PKG_VERSION").into(),
            device: self.compute.describe(),
            command: study::command().join(" "),
            seconds,
        };
        Ok(Coverage::new(&self.plan, sets.collect::<Result<_>>()?, run))
    }
}
