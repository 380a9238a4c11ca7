//! Maps that make a search unconstrained.

/// A map between a parameter's range and all real numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Transform {
    /// value = exp(free): positive values.
    Log,
    /// value = low + (high − low)/(1 + exp(−free)): values inside an interval.
    Logit {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// value = low + (high − low)·free/4: a step of one is a quarter of the interval.
    Linear {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// value = lower + exp(free), where `lower` is another parameter of the same law: the pair
    /// stays ordered whatever the search does.
    Above(&'static str),
}

impl Transform {
    /// From a value to the free variable. `lower` is the value of the other parameter of
    /// [`Transform::Above`] and is not used otherwise.
    pub(crate) fn to_free(self, value: f64, lower: f64) -> f64 {
        match self {
            Transform::Log => value.ln(),
            Transform::Logit { low, high } => ((value - low) / (high - value)).ln(),
            Transform::Linear { low, high } => 4.0 * (value - low) / (high - low),
            Transform::Above(_) => (value - lower).ln(),
        }
    }

    /// From the free variable to a value; the inverse of [`Transform::to_free`].
    pub(crate) fn to_value(self, free: f64, lower: f64) -> f64 {
        match self {
            Transform::Log => free.exp(),
            Transform::Logit { low, high } => low + (high - low) / (1.0 + (-free).exp()),
            Transform::Linear { low, high } => low + 0.25 * (high - low) * free,
            Transform::Above(_) => lower + free.exp(),
        }
    }

    /// ∂value/∂free.
    pub(crate) fn slope(self, free: f64) -> f64 {
        match self {
            Transform::Log | Transform::Above(_) => free.exp(),
            Transform::Logit { low, high } => {
                let s = 1.0 / (1.0 + (-free).exp());
                (high - low) * s * (1.0 - s)
            }
            Transform::Linear { low, high } => 0.25 * (high - low),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_invert_and_their_slope_is_the_derivative() {
        for (transform, value, lower) in [
            (Transform::Log, 3.0, 0.0),
            (
                Transform::Logit {
                    low: 0.0,
                    high: 1.0,
                },
                0.3,
                0.0,
            ),
            (
                Transform::Linear {
                    low: -1.0,
                    high: 2.0,
                },
                0.3,
                0.0,
            ),
            (Transform::Above("friction_threshold_initial"), 3.0, 1.0),
        ] {
            let free = transform.to_free(value, lower);
            assert!((transform.to_value(free, lower) - value).abs() < 1e-14);
            let step = 1e-6;
            let difference = (transform.to_value(free + step, lower)
                - transform.to_value(free - step, lower))
                / (2.0 * step);
            assert!((difference - transform.slope(free)).abs() < 1e-8);
        }
    }
}
