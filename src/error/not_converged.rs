//! What an error of a linear solve says.

use super::Error;

/// A linear solve that ended above its tolerance: what failed, where, and how near it came.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "{}the linear solve by {method} did not converge: {why}{}; take a smaller time step or another solver, and \
     check stiffnesses, masses and handles{}",
    place.as_ref().map_or(String::new(), |place| format!("{place}: ")),
    residual.map_or(String::new(), |residual| format!("; {residual}")),
    note.as_ref().map_or(String::new(), |note| format!(". {note}"))
)]
pub struct NotConverged {
    /// Which step of which computation, such as "step 12"; none until a caller adds it ([`Error::at`]).
    pub place: Option<String>,
    /// The method.
    pub method: &'static str,
    /// Why it ended.
    pub why: String,
    /// How near it came; none where the matrix cannot be used at all.
    pub residual: Option<Residual>,
    /// Further sentences without a final stop ([`Error::with_note`]).
    pub note: Option<String>,
}

/// How near a linear solve came.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "relative residual {reached:.3e} after {iterations} iterations, above the tolerance of {tolerance:e}"
)]
pub struct Residual {
    /// |b − A·x|/|b| where it ended.
    pub reached: f64,
    /// What was asked for.
    pub tolerance: f64,
    /// Iterations done.
    pub iterations: usize,
}

impl NotConverged {
    /// A failure that nobody has placed yet.
    pub(crate) fn error(
        method: &'static str,
        why: impl Into<String>,
        residual: Option<Residual>,
    ) -> Error {
        Error::NotConverged(Box::new(NotConverged {
            place: None,
            method,
            why: why.into(),
            residual,
            note: None,
        }))
    }
}
