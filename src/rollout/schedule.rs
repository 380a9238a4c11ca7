//! What happens to a hinge, step by step: a pure description that laws, devices and the fused code
//! share.

/// How the strain of a step is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum StepKind {
    /// strain = fraction · amplitude of the hinge.
    Prescribe {
        /// Share of the amplitude.
        fraction: f64,
    },
    /// [`crate::material::Law::release`]: the overdamped release, implicit in time, in the limit of no
    /// viscosity. Unconditionally stable.
    Release,
    /// One explicit step of the overdamped release: strain −= mobility·stress.
    Creep {
        /// Step over viscosity \[strain/stress\].
        mobility: f64,
    },
}

/// One step: a motion, then a history update over a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    /// How the strain is found.
    pub motion: StepKind,
    /// Fixed part of the step's time \[s\].
    pub seconds: f64,
    /// Share of the hinge's duration that this step takes, added to `seconds`.
    pub share: f64,
}

impl Step {
    /// A prescribed strain with a fixed time.
    pub(crate) fn prescribe(fraction: f64, seconds: f64) -> Step {
        Step {
            motion: StepKind::Prescribe { fraction },
            seconds,
            share: 0.0,
        }
    }

    /// A prescribed strain that takes a share of the hinge's duration.
    pub(crate) fn dwell(fraction: f64, share: f64) -> Step {
        Step {
            motion: StepKind::Prescribe { fraction },
            seconds: 0.0,
            share,
        }
    }

    /// A release step with a fixed time.
    pub(crate) fn release(seconds: f64) -> Step {
        Step {
            motion: StepKind::Release,
            seconds,
            share: 0.0,
        }
    }
}

/// The quantity that a roll-out reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HingeReading {
    /// Strain after the step.
    Strain,
    /// Stress after the step.
    Stress,
}

/// Steps and the places where they are read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Indices of the steps after which a reading is taken, increasing.
    pub readings: Vec<usize>,
    /// What is read.
    pub reading: HingeReading,
}

impl Schedule {
    /// Position of step `k` among the readings.
    pub(crate) fn reading_at(&self, k: usize) -> Option<usize> {
        self.readings.binary_search(&k).ok()
    }
}

/// `count` times after `first` up to and including `last`, evenly spaced in log time; none where
/// `last` is not after `first`.
pub(crate) fn log_times(first: f64, last: f64, count: usize) -> Vec<f64> {
    if last <= first {
        return Vec::new();
    }
    let ratio = last / first;
    let between = (1..count).map(|k| first * ratio.powf(k as f64 / count as f64));
    between.chain([last]).collect()
}

/// The steps to keep on the way forward so that the way back can be recomputed in pieces: every
/// k-th, k = ⌈√steps⌉, a pure function of the number of steps. At most 2·⌈√steps⌉ states are alive.
pub(crate) fn checkpoints(steps: usize) -> Vec<usize> {
    let stride = (1..).find(|k| k * k >= steps).unwrap_or(1).max(1);
    (0..steps).step_by(stride).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_start_at_zero_and_need_about_twice_the_root() {
        for steps in [1usize, 2, 9, 10, 300, 1000] {
            let kept = checkpoints(steps);
            assert_eq!(kept[0], 0);
            let longest = kept
                .iter()
                .zip(kept.iter().skip(1).chain([&steps]))
                .map(|(a, b)| b - a)
                .max()
                .unwrap();
            assert!(kept.len() + longest <= 2 * (steps as f64).sqrt().ceil() as usize);
        }
    }

    #[test]
    fn log_times_are_even_in_the_logarithm_and_end_exactly() {
        assert_eq!(log_times(0.1, 10.0, 1), vec![10.0]);
        assert_eq!(log_times(0.0, 0.0, 3), Vec::<f64>::new());
        let times = log_times(0.1, 10.0, 2);
        assert!((times[0] - 1.0).abs() < 1e-14 && times[1] == 10.0);
    }
}
