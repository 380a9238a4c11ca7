//! A fit on several processes, by MPI: the first one searches, the others evaluate points for it.

use super::folder::{FitFolder, problem_of};
use crate::{
    error::{Error, Result},
    numeric::Compute,
    optimize::{Problem, ranks::Company},
};

impl FitFolder {
    /// On the process that leads: shares every batch of the fit with the others.
    pub fn lead(&mut self, company: &Company) {
        company.announce(self.folder.path());
        self.problem.ranks = Some(company.ranks());
    }

    /// On any other process: evaluates points of the fit that the first one leads, until it ends.
    pub fn follow(company: &Company, compute: Result<Compute>) {
        let Some(folder) = company.folder() else {
            return;
        };
        let problem = compute.and_then(|compute| problem_of(&folder, &compute));
        let problem = problem.as_ref().map(|p| p as &dyn Problem);
        company.serve(problem.map_err(|e| Error::Device(e.to_string())));
    }
}
