//! A training from beginning to end in its folder, stopped and gone on with.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::{Network, TrainingRun};
use crate::{
    error::{Error, Result},
    learn::LearnCase,
    numeric::Compute,
    study::{News, Watcher, tell, time_in_words},
};

/// Time between two checkpoints; those at the end of a half cycle come besides.
const SAVE_EVERY: Duration = Duration::from_secs(60);

impl LearnCase {
    /// Trains both networks in a folder. The same call goes on with a training that was stopped, and ends with the
    /// same bits. `fresh` throws an earlier run away.
    ///
    /// # Errors
    /// [`Error::Interrupted`] where the watcher stops it; [`Error::BadInput`] for a case that cannot be trained and a folder of
    /// something else.
    pub fn train(
        &self,
        folder: &Path,
        compute: &Compute,
        fresh: bool,
        watch: &mut Watcher,
    ) -> Result<()> {
        let mut run = TrainingRun::open(folder, self, compute, fresh)?;
        let (done, all): (usize, usize) = (run.done().iter().sum(), run.steps().iter().sum());
        if (1..all).contains(&done) {
            let folder = folder.display();
            let _ = watch(News::Remark(&format!(
                "{folder}: going on after step {done} of {all}"
            )));
        }
        run.teach(&TrainingRun::finished, watch)
    }
}

impl TrainingRun {
    /// The steps that are left until the run has learned `enough`.
    pub(crate) fn teach(
        &mut self,
        enough: &dyn Fn(&TrainingRun) -> bool,
        watch: &mut Watcher,
    ) -> Result<()> {
        let on = format!("the same command then goes on in {}", self.folder.display());
        self.take_steps(enough, watch)
            .map_err(|e| e.with_remedy(&on))
    }

    fn take_steps(
        &mut self,
        enough: &dyn Fn(&TrainingRun) -> bool,
        watch: &mut Watcher,
    ) -> Result<()> {
        let all: usize = self.steps().iter().sum();
        let mut pace = Pace::default();
        let mut saved = Instant::now();
        let mut text = String::new();
        while !self.finished() {
            if enough(self) {
                return self.save();
            }
            let done = self.done().iter().sum();
            if tell(watch, done, all, text).is_break() {
                self.save()?;
                return Err(Error::Interrupted(format!(
                    "interrupted after step {done} of {all} ({}); the same command goes on",
                    self.folder.display()
                )));
            }
            let place = self.place();
            let clock = Instant::now();
            let loss = self.advance()?;
            pace.add(place.network, clock.elapsed());
            text = format!(
                "cycle {} {}, loss {loss:.3e}, {} left",
                place.cycle + 1,
                match place.network {
                    Network::Elastic => "E-Net",
                    Network::Plastic => "P-Net",
                },
                time_in_words(pace.left(self.steps(), self.done()))
            );
            if saved.elapsed() > SAVE_EVERY {
                self.save()?;
                saved = Instant::now();
            }
        }
        Ok(())
    }
}

/// How long steps of either network took in this session.
#[derive(Default)]
struct Pace {
    seconds: [f64; 2],
    steps: [usize; 2],
}

impl Pace {
    fn add(&mut self, network: Network, time: Duration) {
        let k = usize::from(network == Network::Plastic);
        self.seconds[k] += time.as_secs_f64();
        self.steps[k] += 1;
    }

    /// Time left of a whole run with so many steps of E-Net and P-Net, of which some are done \[s\]; a network that has not
    /// learned yet is taken to be as quick as the other.
    fn left(&self, all: [usize; 2], done: [usize; 2]) -> f64 {
        let one = |k: usize| (self.steps[k] > 0).then(|| self.seconds[k] / self.steps[k] as f64);
        let of = |k: usize| (all[k] - done[k]) as f64 * one(k).or(one(1 - k)).unwrap_or(0.0);
        of(0) + of(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_both_networks_at_their_own_pace() {
        let mut pace = Pace::default();
        assert_eq!(pace.left([10, 100], [0, 0]), 0.0, "nothing is known yet");
        pace.add(Network::Elastic, Duration::from_secs(1));
        pace.add(Network::Elastic, Duration::from_secs(3));
        // P-Net has not learned yet: 2 s for each of 8 and 100 steps.
        assert_eq!(pace.left([10, 100], [2, 0]), 216.0);
        pace.add(Network::Plastic, Duration::from_millis(500));
        assert_eq!(pace.left([10, 100], [2, 1]), 16.0 + 49.5);
        // Steps of an earlier session are done, though this one did not see them.
        assert_eq!(pace.left([10, 100], [9, 100]), 2.0);
        assert_eq!(pace.left([10, 100], [10, 100]), 0.0);
        // Without P-Net there is nothing left of it.
        assert_eq!(pace.left([10, 0], [5, 0]), 10.0);
    }
}
