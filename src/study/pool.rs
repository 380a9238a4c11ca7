//! Tasks side by side, results taken down one by one.

use std::sync::{
    atomic::{AtomicBool, AtomicUsize, Ordering},
    mpsc,
};

use serde_json::Value;

use super::{Task, Work};
use crate::{error::Result, study::Wish};

/// Runs the given tasks on as many threads as rayon has; `done` is called on this thread as each ends. After
/// a failure, of a task or of `done`, or a wish to stop, no further task begins, those that run are taken
/// down, and the first failure is returned.
pub(super) fn each(
    work: &dyn Work,
    tasks: &[Task],
    chosen: &[usize],
    done: &mut dyn FnMut(usize, Value) -> Result<Wish>,
) -> Result<()> {
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Without room: nobody runs ahead of what is taken down, so that a stop is soon felt.
    let (sender, receiver) = mpsc::sync_channel(0);
    // Threads of our own, not rayon's: a task uses rayon itself, and its threads steal no second task.
    let threads = rayon::current_num_threads().min(chosen.len());
    let mut failure = None;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let Some(&index) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        break;
                    };
                    let result = work.run(&tasks[index], index);
                    if sender.send((index, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (index, result) in receiver {
            match result.and_then(|value| done(index, value)) {
                Ok(Wish::GoOn) => {}
                Ok(Wish::Stop) => stop.store(true, Ordering::Relaxed),
                Err(error) => {
                    stop.store(true, Ordering::Relaxed);
                    failure = failure.take().or(Some(error));
                }
            }
        }
    });
    failure.map_or(Ok(()), Err)
}
