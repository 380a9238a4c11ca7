//! The bars of an ablation: one for all runs, and one for each that is trained now.

use std::path::Path;

use indicatif::MultiProgress;

use crate::{
    cli::{
        learn::{pictures, train::STEPS},
        watch::{Shown, bar},
    },
    error::Result,
    learn::ablate::{Trained, Variant, Watchers, train},
    numeric::Compute,
    study::{News, Progress, Watcher},
};

/// Trains what is left of all runs, with bars, stopped by Ctrl-C.
pub(super) fn trained(
    folder: &Path,
    chosen: &[(u64, Vec<Variant>)],
    compute: &Compute,
) -> Result<Vec<Trained>> {
    let bars = &MultiProgress::new();
    let all = bars.add(bar("{pos}/{len} {prefix}{msg}"));
    let run = |label: &str| {
        let bar = bars.add(bar(STEPS));
        bar.set_prefix(label.to_string());
        let mut shown = Shown::new(bar);
        Box::new(move |news: News| shown.hear(news)) as Box<Watcher>
    };
    let overall = |what: &str, progress: &Progress| {
        all.set_prefix(what.to_string());
        all.set_length(progress.all as u64);
        all.set_position(progress.done as u64);
        all.set_message(progress.text.clone());
    };
    let watchers = Watchers {
        run: &run,
        overall: &overall,
        finished: &pictures::of_run,
    };
    let trained = train(folder, chosen, compute, &watchers);
    all.finish_and_clear();
    trained
}
