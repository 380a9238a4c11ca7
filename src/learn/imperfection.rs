//! A seeded waviness of a tube. A perfect one would have no reason to buckle here rather than there, and
//! rounding would decide.

use std::f64::consts::TAU;

use crate::numeric::Random;

/// Waves of one length in all directions of a tube's surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Imperfection {
    /// Largest deviation along the radius \[m\].
    pub height: f64,
    /// \[m\]
    pub wavelength: f64,
    /// The same seed gives the same waves.
    pub seed: u64,
}

impl Imperfection {
    /// 4 mm high, 6 cm long, for a sleeve.
    pub fn seeded(seed: u64) -> Imperfection {
        Imperfection {
            height: 0.004,
            wavelength: 0.06,
            seed,
        }
    }

    /// The same waves so many times as large.
    pub fn grown(self, times: f64) -> Imperfection {
        Imperfection {
            height: times * self.height,
            wavelength: times * self.wavelength,
            ..self
        }
    }

    /// Deviation along the radius \[m\] at places (angle around \[rad\], way along \[m\]) of a tube of `radius`
    /// \[m\]. Waves with n periods around have the wave number √(k² − (n/r)²) along; each has its own phases.
    pub fn deviations(&self, radius: f64, places: &[[f64; 2]]) -> Vec<f64> {
        let k = TAU / self.wavelength;
        let mut random = Random::stream(self.seed, 0);
        let mut modes = Vec::new();
        for around in 0..=(k * radius) as usize {
            let across = around as f64 / radius;
            // Rounding may leave a little less than nothing.
            let along = (k * k - across * across).max(0.0).sqrt();
            for sign in [1.0, -1.0] {
                modes.push((
                    around as f64,
                    sign * along,
                    TAU * random.uniform(),
                    random.normal(),
                ));
            }
        }
        let wave = |&[angle, way]: &[f64; 2]| -> f64 {
            let parts = modes.iter();
            let part = |&(n, k, phase, size): &(f64, f64, f64, f64)| {
                size * (n * angle + k * way + phase).sin()
            };
            parts.map(part).sum()
        };
        let raw: Vec<f64> = places.iter().map(wave).collect();
        let largest = raw.iter().fold(f64::MIN_POSITIVE, |m, d| m.max(d.abs()));
        raw.iter().map(|d| d / largest * self.height).collect()
    }
}
