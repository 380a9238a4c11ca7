//! The two ways of a roll-out.

/// Which implementation runs a roll-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RolloutPath {
    /// The law over burn tensors, step by step, on any device.
    Plain,
    /// One operation for the whole roll-out.
    Fused,
}

impl RolloutPath {
    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            RolloutPath::Plain => "plain",
            RolloutPath::Fused => "fused",
        }
    }
}
