//! What the command line changes in a case.

use clap::Args;

use crate::{error::Result, fit::case::Case, optimize::RobustLoss};

/// What the command line changes in a case.
#[derive(Debug, Default, Args)]
pub(super) struct Changes {
    /// Law: time_dependent, hardening_plastic, …
    #[arg(long)]
    law: Option<String>,
    /// Relaxation branches of the time-dependent law
    #[arg(long, value_name = "N")]
    branches: Option<usize>,
    /// Only this fabric of the data
    #[arg(long)]
    fabric: Option<String>,
    /// Only this direction of the data, such as warp
    #[arg(long)]
    direction: Option<String>,
    /// Gap where the data give none
    #[arg(long, value_name = "MM")]
    gap_mm: Option<f64>,
    /// Gaps that are predicted, not fitted
    #[arg(long, value_delimiter = ',', value_name = "MM,…")]
    hold_out_gap_mm: Vec<f64>,
    /// squares, huber or cauchy
    #[arg(long)]
    loss: Option<String>,
    /// Starts of the search
    #[arg(long, value_name = "N")]
    starts: Option<usize>,
}

impl Changes {
    pub(super) fn any(&self) -> bool {
        self.law.is_some()
            || self.branches.is_some()
            || self.fabric.is_some()
            || self.direction.is_some()
            || self.gap_mm.is_some()
            || !self.hold_out_gap_mm.is_empty()
            || self.loss.is_some()
            || self.starts.is_some()
    }

    pub(super) fn apply(&self, case: &mut Case) -> Result<()> {
        if let Some(name) = &self.law {
            case.set_law("--law", name)?;
        }
        if let Some(branches) = self.branches {
            case.relaxation_branches = branches;
        }
        if let Some(name) = &self.loss {
            case.loss = RobustLoss::find("--loss", name)?;
        }
        for source in &mut case.data {
            source.fabric = self.fabric.clone().or(source.fabric.take());
            source.direction = self.direction.clone().or(source.direction.take());
        }
        case.tests.gap_mm = self.gap_mm.or(case.tests.gap_mm);
        case.starts = self.starts.unwrap_or(case.starts);
        case.hold_out.gap_mm.extend(&self.hold_out_gap_mm);
        // The checks of a case file apply to the command line too.
        *case = Case::parse(&case.to_json().to_string(), "command line")?;
        Ok(())
    }
}
