//! A fit on several processes, by MPI: the first one searches, the others evaluate points for it.

use std::path::Path;

use super::{
    folder::{FitFolder, FitJob, problem_of},
    result::FitResult,
};
use crate::{
    error::{Error, Result},
    numeric::Compute,
    optimize::{Problem, ranks::Company},
    study::Watcher,
};

impl FitJob {
    /// [`FitJob::run`] on all processes of an MPI run, each of which makes this call. The first one fits and returns the
    /// result; the others evaluate points for it, and return `None` when it has ended. MPI starts here, so a process can
    /// call this once. Where there is one process only, it is [`FitJob::run`].
    pub fn run_by_mpi(&self, folder: &Path, watch: &mut Watcher) -> Result<Option<FitResult>> {
        let Some(company) = Company::join() else {
            return self.run(folder, watch);
        };
        if !company.leads() {
            FitFolder::follow(&company, Ok(self.compute.clone()));
            return Ok(None);
        }
        let mut opened = FitFolder::begin(self, folder)?;
        opened.lead(&company);
        opened.run(watch)
    }
}

impl FitFolder {
    /// On the process that leads: shares every batch of the fit with the others.
    pub(crate) fn lead(&mut self, company: &Company) {
        company.announce(self.folder.path());
        self.problem.ranks = Some(company.ranks());
    }

    /// On any other process: evaluates points of the fit that the first one leads, until it ends.
    pub(crate) fn follow(company: &Company, compute: Result<Compute>) {
        let Some(folder) = company.folder() else {
            return;
        };
        let problem = compute.and_then(|compute| problem_of(&folder, &compute));
        let problem = problem.as_ref().map(|p| p as &dyn Problem);
        company.serve(problem.map_err(|e| Error::Device(e.to_string())));
    }
}
