//! What all written reports share: how numbers are written, and lines for a terminal.

pub(crate) mod layout;
pub(crate) mod number;
