//! Progress and cancellation: what a long job tells its caller, and whether the caller stops it.

use std::ops::ControlFlow;

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Steps, tasks, starts or sides of profiles that are done.
    pub done: usize,
    /// How many there are.
    pub all: usize,
    /// How it goes, for people; may be empty.
    pub text: String,
}

/// What a job tells its watcher.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum News<'a> {
    /// How far it is: at the start, and after each step, round or task.
    Progress(&'a Progress),
    /// A sentence that is said once, such as where a stopped run goes on.
    Remark(&'a str),
}

/// Shows the news of a job and may stop it. Fits, bootstraps, profiles, sensitivity studies, simulations and trainings
/// take one. After [`ControlFlow::Break`] no further round begins; what is done is kept, and the same job goes on from
/// there. `&mut |_| ControlFlow::Continue(())` lets a job run to its end.
pub type Watcher<'a> = dyn FnMut(News) -> ControlFlow<()> + 'a;

/// A time left, as exact as one knows it.
pub(crate) fn time_in_words(seconds: f64) -> String {
    match seconds as u64 {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7200 => format!("{} min", s / 60),
        s => format!("{:.1} h", s as f64 / 3600.0),
    }
}

/// Tells a watcher how far a job is.
pub(crate) fn tell(watch: &mut Watcher, done: usize, all: usize, text: String) -> ControlFlow<()> {
    watch(News::Progress(&Progress { done, all, text }))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(time_in_words(seconds), text);
        }
    }
}
