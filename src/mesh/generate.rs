//! Meshes made to measure: rectangles and strips in the plane z = 0, open cylinders and tubes.
//!
//! All are grids of cells cut into two triangles each. In the flat ones the material is the plane
//! itself: u = x, v = y, and the front looks along +z.

mod pattern;

use std::f64::consts::{PI, TAU};

pub(crate) use pattern::Pattern;

use pattern::{cells, moves};

use super::Mesh;
use crate::error::{Result, bad_input};

/// Most vertices of a generated mesh; a slip in a cell count must not fill the memory.
const MAX_VERTICES: usize = 20_000_000;

/// A strip of `length` along x (warp) and `width` along y \[m\], `nx` by `ny` cells.
pub(crate) fn strip(
    length: f64,
    width: f64,
    nx: usize,
    ny: usize,
    pattern: Pattern,
) -> Result<Mesh> {
    sizes("strip", [("length", length), ("width", width)])?;
    counts("strip", [("nx", nx, 1), ("ny", ny, 1)])?;
    Ok(grid([length, width], [nx, ny], pattern))
}

/// A rectangle of `width` along x (warp) and `height` along y \[m\], `nx` by `ny` cells.
pub(crate) fn rectangle(
    width: f64,
    height: f64,
    nx: usize,
    ny: usize,
    pattern: Pattern,
) -> Result<Mesh> {
    sizes("rectangle", [("width", width), ("height", height)])?;
    counts("rectangle", [("nx", nx, 1), ("ny", ny, 1)])?;
    Ok(grid([width, height], [nx, ny], pattern))
}

/// An open cylinder around the y axis from y = 0 to `height` \[m\], its front outside.
///
/// The material is the unrolled prism, u around and v along: one cell is a chord 2·R·sin(π/around)
/// wide, so that a regular cylinder is free of strain. An irregular one is strained by up to about
/// 10/around² (2e-4 at 27 000 vertices), since its triangles cut the circle unevenly. The first
/// column, at the largest z, is the seam: each of its vertices has a material point near u = 0 and
/// another one turn further. Vertices are in rows of `around`.
pub(crate) fn cylinder(
    radius: f64,
    height: f64,
    around: usize,
    along: usize,
    pattern: Pattern,
) -> Result<Mesh> {
    sizes("cylinder", [("radius", radius), ("height", height)])?;
    // Two cells around would be a flat bag whose triangles share two edges.
    counts("cylinder", [("around", around, 3), ("along", along, 1)])?;
    let chord = 2.0 * radius * (PI / around as f64).sin();
    let row_height = height / along as f64;
    let moves = moves(pattern, around, along + 1, |_, iy| iy > 0 && iy < along);
    let place = |ix: usize, iy: usize| {
        let [du, dv] = moves[iy * around + ix % around];
        [ix as f64 + du, iy as f64 + dv]
    };
    let on_circle = |[column, row]: [f64; 2]| {
        let (sin, cos) = (TAU * column / around as f64).sin_cos();
        [radius * sin, row * row_height, radius * cos]
    };
    let rows = || 0..=along;
    Ok(Mesh {
        positions: rows()
            .flat_map(|iy| (0..around).map(move |ix| (ix, iy)))
            .map(|(ix, iy)| on_circle(place(ix, iy)))
            .collect(),
        triangles: cells([around, along], pattern, |ix, iy| iy * around + ix % around),
        material: rows()
            .flat_map(|iy| (0..=around).map(move |ix| (ix, iy)))
            .map(|(ix, iy)| place(ix, iy))
            .map(|[column, row]| [column * chord, row * row_height])
            .collect(),
        material_triangles: cells([around, along], pattern, |ix, iy| iy * (around + 1) + ix),
    })
}

/// A [`cylinder`] that lies: its axis runs along x from 0 to `length` \[m\]. The material is the
/// same, u around and v along the axis, and the seam is at the largest z.
pub(crate) fn tube(
    radius: f64,
    length: f64,
    around: usize,
    along: usize,
    pattern: Pattern,
) -> Result<Mesh> {
    sizes("tube", [("radius", radius), ("length", length)])?;
    counts("tube", [("around", around, 3), ("along", along, 1)])?;
    let mut mesh = cylinder(radius, length, around, along, pattern)?;
    for position in &mut mesh.positions {
        // A quarter turn about z: the front stays outside.
        let [x, y, z] = *position;
        *position = [y, -x, z];
    }
    Ok(mesh)
}

/// Cells `(nx, ny)` of a flat mesh with nearly square cells and about `vertices` vertices.
pub(crate) fn rectangle_cells(width: f64, height: f64, vertices: usize) -> Result<(usize, usize)> {
    sizes("rectangle", [("width", width), ("height", height)])?;
    counts("rectangle", [("vertices", vertices, 4)])?;
    // (w/s + 1)·(h/s + 1) = n for the number of cells per metre 1/s.
    let (sum, product) = (width + height, width * height);
    let missing = vertices as f64 - 1.0;
    let per_metre = (-sum + (sum * sum + 4.0 * product * missing).sqrt()) / (2.0 * product);
    let nx = ((width * per_metre).round() as usize).clamp(1, vertices / 2 - 1);
    let ny = nearest_count(vertices, nx + 1);
    Ok((nx, ny))
}

/// Cells `(around, along)` of a cylinder or tube with nearly square cells and about `vertices`
/// vertices. `around` is even, so that alternating diagonals close up.
pub(crate) fn cylinder_cells(radius: f64, height: f64, vertices: usize) -> Result<(usize, usize)> {
    sizes("cylinder", [("radius", radius), ("height", height)])?;
    counts("cylinder", [("vertices", vertices, 8)])?;
    // around·(along + 1) = n with along = around·height/perimeter.
    let ratio = height / (TAU * radius);
    let exact = (-1.0 + (1.0 + 4.0 * vertices as f64 * ratio).sqrt()) / (2.0 * ratio);
    let half = ((0.5 * exact).round() as usize).clamp(2, vertices / 4);
    let around = 2 * half;
    Ok((around, nearest_count(vertices, around)))
}

/// Rows of cells such that rows of `per_row` vertices come closest to `vertices`.
fn nearest_count(vertices: usize, per_row: usize) -> usize {
    let rows = (vertices as f64 / per_row as f64).round() as usize;
    rows.saturating_sub(1).max(1)
}

fn sizes<const N: usize>(shape: &str, named: [(&str, f64); N]) -> Result<()> {
    for (name, value) in named {
        if !(value.is_finite() && value > 0.0) {
            return bad_input(format!(
                "{shape}: {name} is {value} m; give a positive, finite number of metres"
            ));
        }
    }
    Ok(())
}

fn counts<const N: usize>(shape: &str, named: [(&str, usize, usize); N]) -> Result<()> {
    for (name, value, least) in named {
        if value < least {
            return bad_input(format!("{shape}: {name} is {value}; give {least} or more"));
        }
    }
    let vertices = named
        .iter()
        .try_fold(1_usize, |product, (_, value, _)| {
            product.checked_mul(value.checked_add(1)?)
        })
        .filter(|&vertices| vertices <= MAX_VERTICES);
    match vertices {
        Some(_) => Ok(()),
        None => bad_input(format!(
            "{shape}: {} make more than {MAX_VERTICES} vertices; give fewer",
            named
                .map(|(name, value, _)| format!("{name} = {value}"))
                .join(", ")
        )),
    }
}

/// A flat grid of `[nx, ny]` cells over `[x, y]` metres.
fn grid(size: [f64; 2], [nx, ny]: [usize; 2], pattern: Pattern) -> Mesh {
    let inside = |ix: usize, iy: usize| ix > 0 && ix < nx && iy > 0 && iy < ny;
    let moves = moves(pattern, nx + 1, ny + 1, inside);
    let material: Vec<[f64; 2]> = moves
        .iter()
        .enumerate()
        .map(|(vertex, [du, dv])| {
            let [ix, iy] = [vertex % (nx + 1), vertex / (nx + 1)];
            // Multiplied before divided: the last column lies exactly at the size.
            [
                (ix as f64 + du) * size[0] / nx as f64,
                (iy as f64 + dv) * size[1] / ny as f64,
            ]
        })
        .collect();
    let positions = material.iter().map(|&[u, v]| [u, v, 0.0]).collect();
    let triangles = cells([nx, ny], pattern, |ix, iy| iy * (nx + 1) + ix);
    Mesh::seamless(positions, material, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Rest, vector::minus};

    const PATTERNS: [Pattern; 3] = [
        Pattern::Alternating,
        Pattern::OneSided,
        Pattern::Irregular { seed: 11 },
    ];

    #[test]
    fn flat_meshes_are_discs_with_the_right_area() {
        for pattern in PATTERNS {
            let mesh = rectangle(0.3, 0.2, 6, 5, pattern).unwrap();
            let topology = mesh.check().unwrap();
            assert_eq!(topology.euler_characteristic(), 1);
            assert_eq!(topology.boundary.len(), 22);
            let area = Rest::new(&mesh, &topology).area();
            assert!((area - 0.06).abs() < 1e-14, "{area}");
            assert_eq!(mesh.positions[6], [0.3, 0.0, 0.0]);
            assert_eq!(mesh, strip(0.3, 0.2, 6, 5, pattern).unwrap());
        }
    }

    #[test]
    fn cylinders_and_tubes_are_open_with_a_seam_and_their_front_outside() {
        let (radius, height) = (0.04, 0.11);
        let area = 12.0 * 2.0 * radius * (PI / 12.0).sin() * height;
        for pattern in PATTERNS {
            let upright = cylinder(radius, height, 12, 7, pattern).unwrap();
            let lying = tube(radius, height, 12, 7, pattern).unwrap();
            for (mesh, axis) in [(upright, 1), (lying, 0)] {
                let topology = mesh.check().unwrap();
                assert_eq!(topology.euler_characteristic(), 0);
                assert_eq!(topology.boundary.len(), 24);
                assert_eq!(
                    (mesh.positions.len(), mesh.material.len()),
                    (12 * 8, 13 * 8)
                );
                for row in mesh.material.chunks(13) {
                    let [du, dv] = minus(row[12], row[0]);
                    assert!(
                        (du * height - area).abs() < 1e-14 && dv == 0.0,
                        "the seam fits"
                    );
                }
                let rest = Rest::new(&mesh, &topology);
                assert!((rest.area() - area).abs() < 1e-14);
                let turn: f64 = rest.hinges.iter().map(|hinge| hinge.angle).sum();
                assert!(turn < 0.0, "ridges seen from outside");
                let ends = mesh.positions.iter().map(|p| p[axis]).fold(0.0, f64::max);
                assert!((ends - height).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn a_target_number_of_vertices_gives_nearly_square_cells() {
        for target in [8, 100, 2_000, 7_000, 27_000, 100_000] {
            let (around, along) = cylinder_cells(0.04, 0.11, target).unwrap();
            let (nx, ny) = rectangle_cells(0.3, 0.2, target).unwrap();
            if target >= 2_000 {
                let share = |count: usize| count as f64 / target as f64;
                assert!((share(around * (along + 1)) - 1.0).abs() < 0.02);
                assert!((share((nx + 1) * (ny + 1)) - 1.0).abs() < 0.02);
                let aspect = TAU * 0.04 / around as f64 / (0.11 / along as f64);
                assert!((aspect - 1.0).abs() < 0.06, "{around} x {along}: {aspect}");
                let aspect = 0.3 / nx as f64 / (0.2 / ny as f64);
                assert!((aspect - 1.0).abs() < 0.06, "{nx} x {ny}: {aspect}");
            }
            assert!(around % 2 == 0 && around >= 4 && along >= 1 && nx >= 1 && ny >= 1);
        }
        // Shapes far from square stay possible.
        assert_eq!(cylinder_cells(1.0, 1e-6, 8).unwrap(), (4, 1));
        assert_eq!(rectangle_cells(1.0, 1e-6, 4).unwrap(), (1, 1));
    }

    #[test]
    fn impossible_measures_are_refused_by_name() {
        let regular = Pattern::default();
        let message = |result: Result<Mesh>| result.unwrap_err().to_string();
        let text = message(rectangle(-1.0, 1.0, 1, 1, regular));
        assert!(text.starts_with("rectangle: width is -1 m"), "{text}");
        let text = message(strip(1.0, f64::NAN, 1, 1, regular));
        assert!(text.starts_with("strip: width is NaN m"), "{text}");
        let text = message(cylinder(1.0, 1.0, 2, 1, regular));
        assert!(
            text.starts_with("cylinder: around is 2; give 3 or more"),
            "{text}"
        );
        let text = message(tube(1.0, 1.0, 3, 0, regular));
        assert!(text.starts_with("tube: along is 0"), "{text}");
        let text = message(rectangle(1.0, 1.0, usize::MAX, 7, regular));
        assert!(text.contains("make more than 20000000 vertices"), "{text}");
        assert!(cylinder_cells(1.0, 1.0, 7).is_err() && rectangle_cells(1.0, 0.0, 9).is_err());
    }
}
