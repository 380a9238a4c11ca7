//! Where a study runs its model: points of the unit cube, one coordinate a factor. A coordinate is the share
//! of the factor's distribution that lies below.
//!
//! Every design is a pure function of its size and the seed, and a longer one begins with the shorter: a study
//! that wants more samples keeps those it has.

use super::factor::{Factor, Group};
use crate::{
    error::Result,
    numeric::{Random, sobol},
};

/// Levels of a Morris trajectory.
pub(crate) const LEVELS: usize = 4;
/// Length of its steps: with an even number of levels every level is met equally often (Morris 1991).
pub(crate) const STEP: f64 = LEVELS as f64 / (2 * (LEVELS - 1)) as f64;
/// A normal distribution has no ends to step to: its levels begin and end at this share.
const TAIL: f64 = 0.005;

/// Streams of the seed.
const SALTELLI: u64 = 1;
const MORRIS: u64 = 2;
const EVEN: u64 = 3;

fn stream(seed: u64, design: u64) -> u64 {
    let mut random = Random::stream(seed, design);
    (random.uniform() * (1u64 << 53) as f64) as u64
}

/// Saltelli's design: for each base sample the rows A, A with each group taken from B, and B; SALib's order
/// without second-order rows. A and B are the halves of a Sobol sequence of twice as many dimensions.
pub(crate) fn saltelli(
    factors: usize,
    groups: &[Group],
    samples: usize,
    seed: u64,
) -> Result<Vec<Vec<f64>>> {
    let points = sobol(samples, 2 * factors, stream(seed, SALTELLI))?;
    let mut rows = Vec::with_capacity(samples * (groups.len() + 2));
    for point in points {
        let (a, b) = point.split_at(factors);
        rows.push(a.to_vec());
        for group in groups {
            let mut mixed = a.to_vec();
            for &member in &group.members {
                mixed[member] = b[member];
            }
            rows.push(mixed);
        }
        rows.push(b.to_vec());
    }
    Ok(rows)
}

/// Points that fill the cube evenly, for averages of derivatives.
pub(crate) fn even(factors: usize, samples: usize, seed: u64) -> Result<Vec<Vec<f64>>> {
    sobol(samples, factors, stream(seed, EVEN))
}

/// A Morris trajectory: its points, and the group that moves from each to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// One more than there are groups.
    pub points: Vec<Vec<f64>>,
    /// Which group moves, and whether its first member goes up.
    pub moves: Vec<(usize, bool)>,
}

/// Morris' trajectories: from a random point of the grid of levels each group moves once, in random order, by
/// [`STEP`] up or down, whichever stays inside.
pub(crate) fn trajectories(
    factors: &[Factor],
    groups: &[Group],
    count: usize,
    seed: u64,
) -> Vec<Trajectory> {
    let seed = stream(seed, MORRIS);
    let one = |number: usize| {
        // A generator each, so that a longer design begins with the shorter one.
        let mut random = Random::stream(seed, number as u64);
        let mut levels: Vec<usize> = factors.iter().map(|_| random.below(LEVELS)).collect();
        let mut order: Vec<usize> = (0..groups.len()).collect();
        random.shuffle(&mut order);
        let place = |levels: &[usize]| -> Vec<f64> {
            let pairs = levels.iter().zip(factors);
            pairs.map(|(level, factor)| share(*level, factor)).collect()
        };
        let mut points = vec![place(&levels)];
        let mut moves = Vec::new();
        for group in order {
            let members = &groups[group].members;
            let rises = |level: usize| level < LEVELS / 2;
            moves.push((group, rises(levels[members[0]])));
            for &member in members {
                let level = &mut levels[member];
                *level = match rises(*level) {
                    true => *level + LEVELS / 2,
                    false => *level - LEVELS / 2,
                };
            }
            points.push(place(&levels));
        }
        Trajectory { points, moves }
    };
    (0..count).map(one).collect()
}

fn share(level: usize, factor: &Factor) -> f64 {
    use super::distribution::Distribution::{LogNormal, Normal};
    let even = level as f64 / (LEVELS - 1) as f64;
    match factor.distribution {
        Normal { .. } | LogNormal { .. } => TAIL + (1.0 - 2.0 * TAIL) * even,
        _ => even,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sensitivity::{distribution::Distribution, factor::groups};

    fn factors(count: usize) -> Vec<Factor> {
        let factor = |i: usize| Factor {
            name: format!("x{i}"),
            symbol: format!("x{i}"),
            unit: "1".into(),
            distribution: Distribution::Uniform {
                low: 0.0,
                high: 1.0,
            },
            nominal: 0.5,
        };
        (0..count).map(factor).collect()
    }

    #[test]
    fn longer_designs_begin_with_shorter_ones() {
        let factors = factors(3);
        let groups = groups(&factors, &[]).unwrap();
        let saltelli = |samples, seed| saltelli(3, &groups, samples, seed).unwrap();
        let long = saltelli(64, 7);
        assert_eq!(long[..16 * 5], saltelli(16, 7));
        assert_ne!(long[..16 * 5], saltelli(16, 8));
        assert_eq!(even(3, 64, 7).unwrap()[..16], even(3, 16, 7).unwrap());
        let long = trajectories(&factors, &groups, 9, 7);
        assert_eq!(long[..4], trajectories(&factors, &groups, 4, 7));
    }

    #[test]
    fn mixed_rows_differ_from_the_first_in_their_group_only() {
        let factors = factors(4);
        let asked = [("pair".to_string(), vec!["x1".to_string(), "x3".to_string()])];
        let groups = groups(&factors, &asked).unwrap();
        let rows = saltelli(4, &groups, 8, 1).unwrap();
        for block in rows.chunks_exact(groups.len() + 2) {
            for (group, row) in groups.iter().zip(&block[1..]) {
                for i in 0..4 {
                    let from = if group.members.contains(&i) {
                        groups.len() + 1
                    } else {
                        0
                    };
                    assert_eq!(row[i], block[from][i]);
                }
            }
        }
    }

    #[test]
    fn trajectories_step_once_in_every_group_and_meet_all_levels() {
        let factors = factors(3);
        let groups = groups(&factors, &[]).unwrap();
        let mut met = [0usize; LEVELS];
        for trajectory in trajectories(&factors, &groups, 200, 3) {
            let mut moved: Vec<usize> = trajectory.moves.iter().map(|m| m.0).collect();
            for (pair, (group, up)) in trajectory.points.windows(2).zip(&trajectory.moves) {
                let steps = pair[0].iter().zip(&pair[1]).map(|(a, b)| b - a);
                for (i, step) in steps.enumerate() {
                    let expected = match (i == *group, up) {
                        (false, _) => 0.0,
                        (true, true) => STEP,
                        (true, false) => -STEP,
                    };
                    assert!((step - expected).abs() < 1e-12);
                }
            }
            moved.sort_unstable();
            assert_eq!(moved, [0, 1, 2]);
            for point in &trajectory.points {
                met[(point[0] * 3.0).round() as usize] += 1;
            }
        }
        // 800 points: 200 a level, give or take four standard deviations.
        assert!(met.iter().all(|m| (120..280).contains(m)), "{met:?}");
    }
}
