//! How this process was asked to compute, for records and reports.

use std::sync::OnceLock;

static COMMAND: OnceLock<Vec<String>> = OnceLock::new();

/// Tells the library the command line of the program, once at the start. Journals keep it, so that a merge can say how a
/// missing share is made, and reports print it.
///
/// It belongs to the process and not to a computation, so it is no argument of one. The library does not ask the
/// operating system: within Python the answer would be Python's own command line.
pub(crate) fn set_command(words: impl IntoIterator<Item = String>) {
    // Later calls change nothing: a process has one command line.
    let _ = COMMAND.set(words.into_iter().collect());
}

/// The words of [`set_command`]; none where nobody told them.
pub(crate) fn command() -> &'static [String] {
    COMMAND.get().map_or(&[], Vec::as_slice)
}
