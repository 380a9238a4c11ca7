//! Sobol's sequence: points that fill a box more evenly than random ones.

use super::Random;

/// Primitive polynomials and first direction numbers of dimensions 2 to 21 (Joe and Kuo 2008):
/// degree, inner coefficients, odd numbers.
const DIRECTIONS: [(u32, u32, &[u32]); 20] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// Direction numbers v_1 … v_32 of a dimension, counted from 0.
fn directions(dimension: usize) -> [u32; 32] {
    let mut v = [0u32; 32];
    if dimension == 0 {
        for (i, v) in v.iter_mut().enumerate() {
            *v = 1 << (31 - i);
        }
        return v;
    }
    let (degree, inner, first) = DIRECTIONS[dimension - 1];
    let s = degree as usize;
    for i in 0..32 {
        if i < s {
            v[i] = first[i] << (31 - i);
        } else {
            v[i] = v[i - s] ^ (v[i - s] >> s);
            for k in 1..s {
                if (inner >> (s - 1 - k)) & 1 == 1 {
                    v[i] ^= v[i - k];
                }
            }
        }
    }
    v
}

/// The first `count` points in [0, 1)^`dimensions`, shifted digit by digit with the seed. Dimensions
/// beyond the 21st are random.
pub fn sobol(count: usize, dimensions: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random(seed);
    let scale = 1.0 / (1u64 << 32) as f64;
    let mut points = vec![Vec::with_capacity(dimensions); count];
    for d in 0..dimensions {
        if d > DIRECTIONS.len() {
            points.iter_mut().for_each(|p| p.push(random.uniform()));
            continue;
        }
        let v = directions(d);
        let shift = (random.uniform() / scale) as u32;
        let mut state = shift;
        for (i, point) in points.iter_mut().enumerate() {
            // The middle of the cell: 0 itself would be a corner of the box.
            point.push((f64::from(state) + 0.5) * scale);
            state ^= v[(i + 1).trailing_zeros() as usize];
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dyadic_interval_holds_its_share_in_every_dimension() {
        // 2^k points: each interval of length 2^-k has exactly one, whatever the seed.
        for seed in [1, 7] {
            let points = sobol(64, 21, seed);
            for d in 0..21 {
                let mut cells: Vec<usize> = points.iter().map(|p| (64.0 * p[d]) as usize).collect();
                cells.sort_unstable();
                assert_eq!(cells, (0..64).collect::<Vec<_>>(), "dimension {d}");
            }
        }
    }

    #[test]
    fn pairs_of_the_first_dimensions_are_even_too() {
        // A (t, 2, 2)-net: each quarter square holds a quarter of 64 points, within what t allows.
        let points = sobol(256, 8, 3);
        for a in 0..8 {
            for b in 0..a {
                let mut cells = [0; 16];
                for p in &points {
                    cells[(4.0 * p[a]) as usize * 4 + (4.0 * p[b]) as usize] += 1;
                }
                assert!(cells.iter().all(|c| *c == 16), "{a} {b} {cells:?}");
            }
        }
    }

    #[test]
    fn the_unshifted_sequence_is_the_published_one() {
        // Second and third points of dimensions 1 to 4: (½,½,½,½), (¾,¼,¼,¼) in Gray-code order.
        for (d, expected) in [(0, 0.75), (1, 0.25), (2, 0.25), (3, 0.25)] {
            let v = directions(d);
            assert_eq!(f64::from(v[0]) / 4_294_967_296.0, 0.5);
            assert_eq!(f64::from(v[0] ^ v[1]) / 4_294_967_296.0, expected);
        }
    }
}
