//! `rumple learn train`

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{
    compute,
    evaluate::{EVALUATION, LONG, REFERENCES, Request, report},
    out_folder,
    pictures::{self, PLOTS},
    read_case,
};
use crate::{
    cli::{Common, interrupted, say},
    error::{Error, Result},
    learn::{
        evaluate::References,
        run::{Network, Run},
    },
};

/// Train both networks and judge them on unseen motions; the same command goes on with a run that was stopped
#[derive(Debug, Args)]
pub struct Arguments {
    /// A case (`rumple schema learn`) [default: the arm scene at the small size]
    #[arg(value_name = "CASE.json")]
    case: Option<PathBuf>,
    /// Folder of the run [default: the case's file name and -learn, here; arm-learn without a case]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Throw away what the folder holds of an earlier run
    #[arg(long)]
    fresh: bool,
}

/// Time between two checkpoints; those at the end of a half cycle come besides.
const SAVE_EVERY: Duration = Duration::from_secs(60);

pub fn run(common: &Common, arguments: &Arguments) -> Result<()> {
    let compute = compute(common)?;
    let case = read_case(common, arguments.case.as_deref())?;
    let folder = out_folder(&arguments.out, arguments.case.as_deref(), "learn");
    let mut run = Run::open(&folder, &case, &compute, arguments.fresh)?;
    let (done, all): (usize, usize) = (run.done().iter().sum(), run.steps().iter().sum());
    if (1..all).contains(&done) {
        let folder = folder.display();
        say(&format!("{folder}: going on after step {done} of {all}"));
    }
    teach(&mut run, &Run::finished, &MultiProgress::new(), "")?;
    drop(run);
    pictures::of_run(&folder, &case)?;
    say(&format!(
        "trained: {} (networks, elastic.csv, plastic.csv, cycles.csv, {PLOTS}); now unseen motions",
        folder.display()
    ));
    let out = folder.join(EVALUATION);
    let request = Request {
        folder: &folder,
        out: &out,
        baseline: None,
        cycle: Some(case.cycles),
        frames: Some(LONG),
        long_reference: false,
    };
    let references = References::new(&folder.join(REFERENCES));
    let evaluation = request.judge(&references, &compute)?;
    report(common, &out, &evaluation)
}

/// The steps that are left until a run has learned `enough`, with a bar over the whole run among the `bars`, stopped by
/// Ctrl-C; `label` stands before the bar.
pub(super) fn teach(
    run: &mut Run,
    enough: &dyn Fn(&Run) -> bool,
    bars: &MultiProgress,
    label: &str,
) -> Result<()> {
    let on = format!("the same command then goes on in {}", run.folder.display());
    let outcome = watched(run, enough, bars, label);
    outcome.map_err(|e| e.with_remedy(&on))
}

fn watched(
    run: &mut Run,
    enough: &dyn Fn(&Run) -> bool,
    bars: &MultiProgress,
    label: &str,
) -> Result<()> {
    let all: usize = run.steps().iter().sum();
    let progress = bars.add(ProgressBar::new(all as u64));
    let style = ProgressStyle::with_template("{prefix}{bar:30} {pos}/{len} steps  {msg}");
    progress.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    progress.set_prefix(label.to_string());
    interrupted();
    let mut pace = Pace::default();
    let mut saved = Instant::now();
    let outcome = loop {
        if run.finished() {
            break Ok(());
        }
        if enough(run) {
            break run.save();
        }
        if interrupted() {
            break run.save().and_then(|()| {
                Err(Error::Interrupted(format!(
                    "interrupted after step {} of {all} ({}); the same command goes on",
                    run.done().iter().sum::<usize>(),
                    run.folder.display()
                )))
            });
        }
        let place = run.place();
        let clock = Instant::now();
        let loss = match run.advance() {
            Ok(loss) => loss,
            Err(error) => break Err(error),
        };
        pace.add(place.network, clock.elapsed());
        progress.set_position(run.done().iter().sum::<usize>() as u64);
        progress.set_message(format!(
            "cycle {} {}, loss {loss:.3e}, {} left",
            place.cycle + 1,
            match place.network {
                Network::Elastic => "E-Net",
                Network::Plastic => "P-Net",
            },
            words(pace.left(run.steps(), run.done()))
        ));
        if saved.elapsed() > SAVE_EVERY {
            if let Err(error) = run.save() {
                break Err(error);
            }
            saved = Instant::now();
        }
    };
    progress.finish_and_clear();
    outcome
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

/// A time left, as exact as one knows it.
pub(super) fn words(seconds: f64) -> String {
    match seconds as u64 {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7200 => format!("{} min", s / 60),
        s => format!("{:.1} h", s as f64 / 3600.0),
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

    #[test]
    fn times_are_said_in_seconds_minutes_or_hours() {
        for (seconds, text) in [
            (0.4, "0 s"),
            (119.9, "119 s"),
            (120.0, "2 min"),
            (7199.0, "119 min"),
            (7200.0, "2.0 h"),
            (12_600.0, "3.5 h"),
        ] {
            assert_eq!(words(seconds), text);
        }
    }
}
