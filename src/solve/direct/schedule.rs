//! When a kept factor is replaced.
//!
//! A factor costs about as much as ten iterations (measured from 1 000 to 27 000 vertices, see
//! [`FACTOR_COST`]), and the older it is the more iterations a solve takes. With n_k iterations in the
//! k-th solve since the factor was made, the mean cost (FACTOR_COST + n_1 + … + n_k)/k first falls and
//! then grows; it is smallest when the next solve costs more than the mean. A cloth that moves fast wears a
//! factor out in one step; to find that out costs [`PATIENCE`] iterations, so after each such failure more
//! solves begin with a new factor. The rule counts iterations and reads no clock, so that a run can be
//! repeated bit by bit.

/// Cost of a factor in iterations: 6 at 1 000 vertices, 10 to 12 from 2 000 to 27 000 (single
/// precision, two cores).
const FACTOR_COST: usize = 10;

/// Iterations with an old factor after which a solve goes on with a new one.
pub(crate) const PATIENCE: usize = FACTOR_COST;

/// Solves that begin with a new factor after the first failure of an old one; twice as many after each
/// further one.
const FIRST_DISTRUST: usize = 4;
/// At most that many.
const LONGEST_DISTRUST: usize = 64;

/// Counts since the last factor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FactorSchedule {
    solves: usize,
    iterations: usize,
    worn: bool,
    /// Solves for which no old factor is tried.
    distrust: usize,
    /// Length of the last distrust; 0 after a success.
    penalty: usize,
}

impl FactorSchedule {
    /// A factor has just been made.
    pub(crate) fn restart(&mut self) {
        *self = Self {
            distrust: self.distrust,
            penalty: self.penalty,
            ..Self::default()
        };
    }

    /// Whether the next matrix is factored anew.
    pub(crate) fn is_worn(&self) -> bool {
        self.worn || self.distrust > 0
    }

    /// An old factor was tried in vain.
    pub(crate) fn note_failure(&mut self) {
        self.penalty = (2 * self.penalty).clamp(FIRST_DISTRUST, LONGEST_DISTRUST);
        self.distrust = self.penalty;
    }

    /// An old factor served.
    pub(crate) fn note_success(&mut self) {
        self.penalty = 0;
    }

    /// A matrix was solved with a factor of its own.
    pub(crate) fn note_fresh(&mut self) {
        self.distrust = self.distrust.saturating_sub(1);
    }

    /// Takes note of a solve.
    pub(crate) fn note(&mut self, iterations: usize) {
        self.solves += 1;
        self.iterations += iterations;
        self.worn = iterations * self.solves >= FACTOR_COST + self.iterations;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Solves of slowly growing cost: the factor is kept while the mean cost falls.
    #[test]
    fn a_factor_is_replaced_when_the_mean_cost_begins_to_grow() {
        let mut schedule = FactorSchedule::default();
        let costs = [2, 4, 5, 7, 8, 10];
        let mean = |k: usize| (10 + costs[..k].iter().sum::<usize>()) as f64 / k as f64;
        let mut kept = 0;
        for cost in costs {
            schedule.note(cost);
            kept += 1;
            if schedule.is_worn() {
                break;
            }
        }
        assert!((2..=6).contains(&kept), "kept for {kept}");
        assert!(mean(kept) <= mean(kept - 1) + 0.1 && mean(kept) < mean(1));
        schedule.restart();
        assert!(!schedule.is_worn());
    }
}
