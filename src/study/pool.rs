//! Tasks side by side, results taken down one by one.

use std::{
    ops::ControlFlow,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
};

use serde_json::Value;

use super::{Task, Work};
use crate::error::Result;

/// What tasks that run side by side tell the calling thread.
pub(crate) enum Heard<T> {
    /// One of them has come further.
    Step,
    /// This one is done.
    Done(usize, T),
}

/// Runs tasks 0 to `count` − 1 on so many threads. `run` is given a function that it may call as it comes further, and that
/// says whether it is to stop. `hear` is called on this thread, so that it needs no locks.
///
/// After a failure, of a task or of `hear`, or a wish to stop, no further task begins, those that run are heard, and the
/// first failure is returned.
pub(crate) fn side_by_side<T: Send>(
    threads: usize,
    count: usize,
    run: impl Fn(usize, &dyn Fn() -> ControlFlow<()>) -> Result<T> + Sync,
    hear: &mut dyn FnMut(Heard<T>) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    // The channel has no buffer: a thread starts its next task only after its last result has been received, so that a
    // stop takes effect soon.
    let (sender, receiver) = mpsc::sync_channel(0);
    let mut failure = None;
    // Threads of our own, not rayon's: a task uses rayon itself, and its threads steal no second task.
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            let (sender, next, stop, run) = (sender.clone(), &next, &stop, &run);
            scope.spawn(move || {
                let stopped = || stop.load(Ordering::Relaxed);
                let further = || {
                    let heard = sender.send(Ok(Heard::Step)).is_ok();
                    match heard && !stopped() {
                        true => ControlFlow::Continue(()),
                        false => ControlFlow::Break(()),
                    }
                };
                while !stopped() {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = run(index, &further);
                    if sender.send(result.map(|r| Heard::Done(index, r))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for heard in receiver {
            match heard.and_then(&mut *hear) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => stop.store(true, Ordering::Relaxed),
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    failure = failure.take().or(Some(error));
                }
            }
        }
    });
    failure.map_or(Ok(()), Err)
}

/// Runs the chosen tasks of a work on as many threads as rayon has; `done` is called on this thread as each ends.
pub(super) fn each(
    work: &dyn Work,
    tasks: &[Task],
    chosen: &[usize],
    done: &mut dyn FnMut(usize, Value) -> Result<ControlFlow<()>>,
) -> Result<()> {
    side_by_side(
        rayon::current_num_threads(),
        chosen.len(),
        |k, _| work.run(&tasks[chosen[k]], chosen[k]),
        &mut |heard| match heard {
            Heard::Step => Ok(ControlFlow::Continue(())),
            Heard::Done(k, value) => done(chosen[k], value),
        },
    )
}
