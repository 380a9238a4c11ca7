//! One error type. Every message names the thing, its value and what to do about it.

mod not_converged;

use std::path::Path;

pub(crate) use not_converged::{NotConverged, Residual};

/// Anything that can go wrong on a path that input can reach.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value, file or option that cannot be used; the text names it and the remedy.
    #[error("{0}")]
    BadInput(String),
    /// The operating system refused to read or write.
    #[error("{path}: {source}; {remedy}")]
    Io {
        /// The file or folder.
        path: String,
        /// What the system said.
        source: std::io::Error,
        /// What the user can do.
        remedy: String,
    },
    /// A device that this build or machine does not have.
    #[error("{0}")]
    Device(String),
    /// Ctrl-C ended the work early; what was done is kept.
    #[error("{0}")]
    Interrupted(String),
    /// A check that ran and did not hold (`gradcheck`).
    #[error("{0}")]
    CheckFailed(String),
    /// A linear solve that ended above its tolerance.
    #[error("{0}")]
    NotConverged(Box<NotConverged>),
    /// A time step that gave positions that are not finite or beyond all bounds; the text names the step, a
    /// vertex, the worst elements before the step and the remedy.
    #[error("{0}")]
    Diverged(String),
}

/// The result of everything fallible in this crate.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Could not read `path`.
    pub fn reading(path: &Path, source: std::io::Error) -> Self {
        Error::Io {
            path: path.display().to_string(),
            source,
            remedy: "check that the file exists and can be read".into(),
        }
    }

    /// Could not write `path`.
    pub fn writing(path: &Path, source: std::io::Error) -> Self {
        Error::Io {
            path: path.display().to_string(),
            source,
            remedy: "check that the folder exists, can be written and has room, or choose another with --out or --plot".into(),
        }
    }

    /// The same with a further remedy where the system refused: a full disk loses nothing, and `further` says how
    /// to go on.
    pub fn with_remedy(self, further: &str) -> Self {
        match self {
            Error::Io {
                path,
                source,
                remedy,
            } => Error::Io {
                path,
                source,
                remedy: format!("{remedy}; {further}"),
            },
            other => other,
        }
    }

    /// The same with the place where it happened, such as "step 12"; an
    /// outer caller's place stands in front of an inner one's.
    pub fn at(self, place: &str) -> Self {
        match self {
            Error::BadInput(text) => Error::BadInput(format!("{place}: {text}")),
            Error::NotConverged(mut failure) => {
                failure.place = Some(match failure.place {
                    Some(inner) => format!("{place}, {inner}"),
                    None => place.into(),
                });
                Error::NotConverged(failure)
            }
            other => other,
        }
    }

    /// The same with a further sentence, given without its final stop, where a step failed; other errors stay as
    /// they are.
    pub fn with_note(self, further: &str) -> Self {
        match self {
            Error::NotConverged(mut failure) => {
                failure.note = Some(match failure.note {
                    Some(note) => format!("{note}. {further}"),
                    None => further.into(),
                });
                Error::NotConverged(failure)
            }
            Error::Diverged(text) => Error::Diverged(format!("{text}. {further}")),
            other => other,
        }
    }

    /// Whether the simulation itself failed, so that other parameters, motions or time steps may succeed. All
    /// other errors concern the input or the machine, and would come again.
    pub fn is_failed_run(&self) -> bool {
        matches!(self, Error::NotConverged(_) | Error::Diverged(_))
    }
}

/// Shorthand for [`Error::BadInput`].
pub(crate) fn bad_input<T>(message: impl Into<String>) -> Result<T> {
    Err(Error::BadInput(message.into()))
}

/// The candidate closest to `word`, where one is close enough to be a likely typing error.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .min_by_key(|(distance, _)| *distance)
        // Beyond half of the word a suggestion misleads more than it helps.
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().div_ceil(2))
        .map(|(_, candidate)| candidate)
}

/// "unknown KIND 'word'", with the nearest candidate and the whole list.
pub(crate) fn unknown(kind: &str, word: &str, candidates: &[&str]) -> Error {
    let hint = nearest(word, candidates.iter().copied())
        .map(|name| format!("; did you mean '{name}'?"))
        .unwrap_or_default();
    Error::BadInput(format!(
        "unknown {kind} '{word}'{hint} (known: {})",
        candidates.join(", ")
    ))
}

/// A number for people: as it is where that is short, else with an exponent.
pub(crate) fn readable(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}

/// Levenshtein distance, ignoring case.
pub(crate) fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_finds_its_neighbour_and_noise_does_not() {
        let known = ["dwell_time_s", "stiffness_Nm"];
        assert_eq!(nearest("dwel_time_s", known), Some("dwell_time_s"));
        assert_eq!(nearest("colour", known), None);
    }
}
