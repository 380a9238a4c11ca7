//! The first time at which something rises through zero.

/// A value and how fast it changes; not a number where nobody knows how fast.
pub(super) type Excess = (f64, f64);

/// What an excess does between two times.
pub(super) struct Rise {
    /// When it rises through zero.
    pub at: Option<f64>,
    /// When it is highest, and its value, where it stays below.
    pub peak: (f64, f64),
}

/// How closely a crossing is found, as a share of the time after the release.
const CLOSE: f64 = 1e-13;
/// Most rounds of a search.
const ROUNDS: usize = 100;

/// Looks for a rise between two times at which the excess is known. What is above −`tiny` and rises is there already.
/// A peak between the two is found where the excess rises at first and falls in the end; it is looked for only if it
/// can be positive or if `asked`.
pub(super) fn rise(
    excess: impl Fn(f64) -> Excess,
    (start, first): (f64, Excess),
    (end, last): (f64, Excess),
    tiny: f64,
    asked: bool,
) -> Rise {
    let highest = match first.0 > last.0 {
        true => (start, first.0),
        false => (end, last.0),
    };
    let known = !first.1.is_nan();
    if (known && first.0 >= -tiny && first.1 > 0.0) || (!known && first.0 > 0.0) {
        let at = Some(start);
        return Rise { at, peak: highest };
    }
    let mut peak = highest;
    if first.1 > 0.0 && last.1 < 0.0 {
        // The tangents at both ends meet above the peak.
        let before = (last.0 - first.0 - last.1 * (end - start)) / (first.1 - last.1);
        if asked || first.0 + first.1 * before > 0.0 {
            peak = summit(&excess, (start, first.1), (end, last.1));
        }
    }
    let at = (peak.1 > 0.0 && peak.0 > start).then(|| zero(&excess, start, peak.0, known));
    Rise { at, peak }
}

/// The highest value between a time at which it rises and one at which it falls.
fn summit(
    excess: &impl Fn(f64) -> Excess,
    mut rises: (f64, f64),
    mut falls: (f64, f64),
) -> (f64, f64) {
    let mut best = (rises.0, f64::NEG_INFINITY);
    let mut side = 0;
    for _ in 0..ROUNDS {
        let time = rises.0 + (falls.0 - rises.0) * rises.1 / (rises.1 - falls.1);
        let (value, rate) = excess(time);
        let near = (time - best.0).abs() <= 1e-9 * time;
        if value > best.1 {
            best = (time, value);
        }
        if near || rate == 0.0 {
            break;
        }
        // A side that stays twice counts half, so that both close in.
        if rate > 0.0 {
            rises = (time, rate);
            if side == 1 {
                falls.1 *= 0.5;
            }
            side = 1;
        } else {
            falls = (time, rate);
            if side == -1 {
                rises.1 *= 0.5;
            }
            side = -1;
        }
    }
    best
}

/// Where an excess is zero between a time at which it is negative and one at which it is positive. Without known
/// rates the time returned is one at which it is positive.
fn zero(excess: &impl Fn(f64) -> Excess, mut low: f64, mut high: f64, known: bool) -> f64 {
    let mut time = match known {
        true => high,
        false => 0.5 * (low + high),
    };
    for _ in 0..ROUNDS {
        let (value, rate) = excess(time);
        match value > 0.0 {
            true => high = time,
            false => low = time,
        }
        let newton = time - value / rate;
        let next = match newton > low && newton < high {
            true => newton,
            false => 0.5 * (low + high),
        };
        if (known && (next - time).abs() <= CLOSE * high) || high - low <= CLOSE * high {
            break;
        }
        time = next;
    }
    match known {
        true => time,
        false => high,
    }
}
