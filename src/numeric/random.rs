//! A seeded generator.

/// A small seeded generator (SplitMix64), so that a seed means the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(pub u64);

impl Random {
    /// The next number, even in \[0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The next number of 0 to `count` − 1, all equally likely.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.uniform() * count as f64) as usize
    }

    /// Puts items into a random order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for k in (1..items.len()).rev() {
            items.swap(k, self.below(k + 1));
        }
    }

    /// One of many streams of a seed.
    pub(crate) fn stream(seed: u64, number: u64) -> Random {
        let mut random = Random(seed ^ number.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        random.uniform();
        random
    }

    /// The next number with a standard normal distribution (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }
}
