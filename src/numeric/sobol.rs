//! Sobol's sequence: points that fill a box more evenly than random ones. Direction numbers are those of Joe and
//! Kuo (2008), from the `sobol` crate.

use sobol::{Sobol, SobolParams, params::JoeKuoD6};

use super::Random;
use crate::error::{Result, bad_input};

/// Bits of a coordinate, and so direction numbers of a dimension.
const BITS: usize = 32;

/// Direction numbers of each dimension.
fn directions(dimensions: usize) -> Result<Vec<Vec<u32>>> {
    let table = JoeKuoD6::standard();
    let most = table.max_dims();
    if dimensions > most {
        return bad_input(format!(
            "{dimensions} dimensions, but Sobol's sequence is known for at most {most}; vary fewer parameters \
             (Sobol' indices take two dimensions each, starts and averages of derivatives one)"
        ));
    }
    Ok(Sobol::<u32>::init_direction_vals(dimensions, BITS, &table))
}

/// The first `count` points in [0, 1)^`dimensions`, shifted digit by digit with the seed.
///
/// # Errors
/// [`Error::BadInput`](crate::error::Error::BadInput) beyond 1000 dimensions.
pub(crate) fn sobol(count: usize, dimensions: usize, seed: u64) -> Result<Vec<Vec<f64>>> {
    let mut random = Random(seed);
    let scale = 1.0 / (1u64 << BITS) as f64;
    let mut points = vec![Vec::with_capacity(dimensions); count];
    for v in directions(dimensions)? {
        let shift = (random.uniform() / scale) as u32;
        let mut state = shift;
        for (i, point) in points.iter_mut().enumerate() {
            // The middle of the cell: 0 itself would be a corner of the box.
            point.push((f64::from(state) + 0.5) * scale);
            state ^= v[(i + 1).trailing_zeros() as usize];
        }
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dyadic_interval_holds_its_share_in_every_dimension() {
        // 2^k points: each interval of length 2^-k has exactly one, whatever the seed.
        for seed in [1, 7] {
            let points = sobol(64, 1000, seed).unwrap();
            for d in 0..1000 {
                let mut cells: Vec<usize> = points.iter().map(|p| (64.0 * p[d]) as usize).collect();
                cells.sort_unstable();
                assert_eq!(cells, (0..64).collect::<Vec<_>>(), "dimension {d}");
            }
        }
    }

    #[test]
    fn pairs_of_the_first_dimensions_are_even_too() {
        // A (t, 2, 2)-net: each quarter square holds a quarter of 64 points, within what t allows.
        let points = sobol(256, 8, 3).unwrap();
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
            let v = &directions(d + 1).unwrap()[d];
            assert_eq!(f64::from(v[0]) / 4_294_967_296.0, 0.5);
            assert_eq!(f64::from(v[0] ^ v[1]) / 4_294_967_296.0, expected);
        }
    }

    // Recorded from a program with a table of its own, which ended at 21 dimensions. What the seed shifts is taken
    // out, so that the test is about the sequence alone.
    #[test]
    fn the_hundredth_point_is_where_it_always_was() {
        const RECORDED: [u32; 21] = [
            1241513984, 3791650816, 2785017856, 2583691264, 3254779904, 3724541952, 2785017856,
            3657433088, 33554432, 1375731712, 3590324224, 2382364672, 3657433088, 3120562176,
            1912602624, 1577058304, 2382364672, 2650800128, 1979711488, 3053453312, 570425344,
        ];
        let points = sobol(100, 30, 3).unwrap();
        let word = |x: f64| (x * 4_294_967_296.0) as u32;
        for (d, recorded) in RECORDED.into_iter().enumerate() {
            let moved = word(points[99][d]) ^ word(points[0][d]);
            assert_eq!(moved, recorded, "dimension {d}");
        }
    }

    #[test]
    fn too_many_dimensions_are_refused_with_the_limit() {
        let text = sobol(4, 1001, 1).unwrap_err().to_string();
        for part in ["1001 dimensions", "at most 1000", "vary fewer parameters"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
