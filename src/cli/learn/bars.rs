//! What long commands show: a bar over the steps of a run, over the frames of an evaluation, and several for an ablation.

use std::path::Path;

use indicatif::MultiProgress;

use crate::{
    cli::watch::{Shown, bar},
    error::Result,
    learn::{AblationOptions, Ablations, Evaluated, LearnCase, Watchers, ablate},
    numeric::Compute,
    study::{News, Progress, Watcher},
};

/// Bar over the steps of a run; what a run says of itself has the time left.
const STEPS: &str = "{prefix}{bar:30} {pos}/{len} steps  {msg}";
/// Bar over frames; an evaluation says of what.
const FRAMES: &str = "{bar:30} {pos}/{len} {msg}, {eta} left";

/// For a run.
pub(super) fn steps() -> Shown {
    Shown::new(bar(STEPS))
}

/// For an evaluation.
pub(super) fn frames() -> Shown {
    Shown::new(bar(FRAMES))
}

/// An ablation with a bar for all runs, and one for each that is trained now. Stopped by Ctrl-C.
pub(super) fn ablations(
    case: &LearnCase,
    folder: &Path,
    options: &AblationOptions,
    compute: &Compute,
) -> Result<Ablations> {
    let bars = &MultiProgress::new();
    let all = bars.add(bar("{pos}/{len} {prefix}{msg}"));
    let run = |label: &str| {
        let bar = bars.add(bar(STEPS));
        bar.set_prefix(label.to_string());
        watcher(Shown::new(bar))
    };
    let overall = |what: &str, progress: &Progress| {
        all.set_prefix(what.to_string());
        all.set_length(progress.all as u64);
        all.set_position(progress.done as u64);
        all.set_message(progress.text.clone());
    };
    let evaluation = || {
        all.finish_and_clear();
        watcher(frames())
    };
    let watchers = Watchers {
        run: &run,
        overall: &overall,
        trained: &|folder, case| case.draw(folder),
        evaluation: &evaluation,
        judged: &Evaluated::draw,
    };
    let found = ablate(case, folder, options, compute, &watchers);
    all.finish_and_clear();
    found
}

fn watcher<'a>(mut shown: Shown) -> Box<Watcher<'a>> {
    Box::new(move |news: News| shown.hear(news))
}
