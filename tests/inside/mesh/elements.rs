//! Hinges and triangles: forces against energies, rigid motions, the patch test.

use crate::inside::common::{
    cloth::{
        CELL, Dice, add, cross, crumpled, difference, dot, elastic_setup, largest, membrane, one,
        parameters, remembering_setup, sheet, sub, tensile, turned,
    },
    cpu,
    crumpled::{ANGLE, CURVATURE, PATTERNS, crumpled_cloths},
};
use rumple::{
    material::StrainMeasure,
    mesh::generate::Pattern,
    numeric::Field,
    step::{Cloth, ClothSetup},
};

/// The angle of a hinge from the normals of its triangles; 0 is flat, a valley positive.
fn dihedral([i, j, k, l]: [[f64; 3]; 4]) -> f64 {
    let edge = sub(j, i);
    let (first, second) = (cross(edge, sub(k, i)), cross(sub(i, j), sub(l, j)));
    let unit = |v: [f64; 3]| v.map(|c| c / dot(v, v).sqrt());
    let (first, second, edge) = (unit(first), unit(second), unit(edge));
    let opening = dot(cross(second, first), edge).atan2(dot(first, second));
    assert!(
        opening.abs() < 3.0,
        "too close to a closed fold for differences"
    );
    opening
}

/// Σ ½·K·κ²·l·H̄ with κ = (θ − θ₀)/H̄, or Σ ½·3K·(l/H̄)·(θ − θ₀)² with angles as strain, written from the mesh.
/// `held` gives stiffness and the strain at which it is at rest, hinge by hinge; the weft's share of a hinge
/// is stiffer by `weft_ratio`.
fn bending_energy(
    cloth: &Cloth,
    shape: &[[f64; 3]],
    weft_ratio: f64,
    held: &[(f64, Vec<f64>)],
) -> f64 {
    let mut sum = 0.0;
    for (n, hinge) in cloth.topology.hinges.iter().enumerate() {
        let angle = |shape: &[[f64; 3]]| dihedral(hinge.vertices.map(|v| shape[v]));
        let rest_angle = if cloth.setup.rest_is_curved {
            angle(&cloth.mesh.positions)
        } else {
            0.0
        };
        let rest = &cloth.rest.hinges[n];
        let bend = angle(shape) - rest_angle;
        let (strain, weight) = match cloth.setup.strain {
            StrainMeasure::Curvature => (bend / rest.height, rest.length * rest.height),
            StrainMeasure::Angle => (bend, 3.0 * rest.length / rest.height),
        };
        let stiffer = rest.warp_share + weft_ratio * (1.0 - rest.warp_share);
        for (stiffness, relaxed) in held {
            sum += 0.5 * stiffness * stiffer * (strain - relaxed[n]).powi(2) * weight;
        }
    }
    sum
}

/// Σ A·(½k11·ε_uu² + k12·ε_uu·ε_vv + ½k22·ε_vv² + k33·ε_uv²) over the terms in `held`: stiffness and the
/// strain at which it is at rest, `[3, triangles]`.
fn membrane_energy(cloth: &Cloth, shape: &[[f64; 3]], held: &[([f64; 4], Vec<f64>)]) -> f64 {
    let count = cloth.mesh.triangles.len();
    let mut sum = 0.0;
    for (n, triangle) in cloth.mesh.triangles.iter().enumerate() {
        let [a, b, c] = triangle.map(|v| shape[v]);
        let [p, q, r] = cloth.mesh.material_corners(n);
        // x = a + F·(m − p) on the triangle, solved for the columns of F.
        let [s, t] = [[q[0] - p[0], q[1] - p[1]], [r[0] - p[0], r[1] - p[1]]];
        let (x, y) = (sub(b, a), sub(c, a));
        let determinant = s[0] * t[1] - s[1] * t[0];
        let u: [f64; 3] = std::array::from_fn(|i| (x[i] * t[1] - y[i] * s[1]) / determinant);
        let v: [f64; 3] = std::array::from_fn(|i| (y[i] * s[0] - x[i] * t[0]) / determinant);
        let strain = [
            0.5 * (dot(u, u) - 1.0),
            0.5 * (dot(v, v) - 1.0),
            0.5 * dot(u, v),
        ];
        for ([k11, k12, k22, k33], relaxed) in held {
            let [uu, vv, uv] = std::array::from_fn(|i| strain[i] - relaxed[i * count + n]);
            let density = 0.5 * k11 * uu * uu + k12 * uu * vv + 0.5 * k22 * vv * vv + k33 * uv * uv;
            sum += 0.5 * determinant.abs() * density;
        }
    }
    sum
}

/// −∂energy/∂x of every coordinate by central differences of eighth order: with steps of 0.3 % of a
/// cell the truncation is below 1e-12 in the thinnest triangles, and so is the rounding.
fn minus_slope(shape: &[[f64; 3]], energy: impl Fn(&[[f64; 3]]) -> f64) -> Vec<f64> {
    const WEIGHTS: [f64; 4] = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let step = 0.003 * CELL;
    let mut shape = shape.to_vec();
    let mut slopes = Vec::new();
    for vertex in 0..shape.len() {
        for axis in 0..3 {
            let centre = shape[vertex][axis];
            let mut at = |offset: f64| {
                shape[vertex][axis] = centre + offset;
                let value = energy(&shape);
                shape[vertex][axis] = centre;
                value
            };
            let pairs = WEIGHTS.iter().enumerate();
            let slope: f64 = pairs
                .map(|(n, w)| {
                    let offset = (n + 1) as f64 * step;
                    w * (at(offset) - at(-offset))
                })
                .sum();
            slopes.push(-slope / step);
        }
    }
    slopes
}

/// The tolerance for f64.
const ENERGY: f64 = 1e-10;

/// Forces of hinges are minus the gradient of ½·K·κ²·l·H̄, elastic and with friction and plasticity held.
#[test]
fn hinges_push_down_their_energy() {
    let (mut worst, mut checked) = (0.0f64, 0);
    for weft_ratio in [1.0, 0.4] {
        let remembering = |strain: StrainMeasure| {
            let values = if strain == StrainMeasure::Angle {
                ANGLE
            } else {
                CURVATURE
            };
            let setup = ClothSetup {
                strain,
                rest_is_curved: weft_ratio == 1.0,
                ..remembering_setup()
            };
            (setup, parameters(&values))
        };
        let elastic = |strain: StrainMeasure| {
            let setup = ClothSetup {
                strain,
                ..elastic_setup()
            };
            (setup, parameters(&[6e-6]))
        };
        for mut crumpled in crumpled_cloths(remembering)
            .into_iter()
            .chain(crumpled_cloths(elastic))
        {
            crumpled.parameters.membrane = membrane([0.0; 4]);
            crumpled.parameters.weft_ratio = one(weft_ratio);
            let response = crumpled.respond(&crumpled.state.positions);
            let hinges = crumpled.cloth.topology.hinges.len();
            let held = match &response.hinges.history[..] {
                [] => vec![(6e-6, vec![0.0; hinges])],
                history => vec![
                    (6e-6, crumpled.values(&history[2])),
                    (9e-6, crumpled.values(&history[0])),
                ],
            };
            let energy =
                |shape: &[[f64; 3]]| bending_energy(&crumpled.cloth, shape, weft_ratio, &held);
            let expected = minus_slope(&crumpled.positions(), energy);
            let error = difference(&crumpled.forces(&crumpled.state.positions), &expected);
            worst = worst.max(error);
            checked += 1;
            assert!(error < ENERGY, "{error:e}");
        }
    }
    println!("{checked} cloths, worst {worst:.1e}");
    assert_eq!(checked, 32);
}

/// Forces of triangles are minus the gradient of W, elastic and with friction and plasticity held.
#[test]
fn triangles_push_down_their_energy() {
    let mut worst = 0.0f64;
    for with_history in [false, true] {
        let cloths = crumpled_cloths(|strain| {
            let mut fabric = parameters(&[1e-30]);
            if with_history {
                fabric.tensile = tensile();
            }
            let setup = ClothSetup {
                strain,
                ..elastic_setup()
            };
            (setup, fabric)
        });
        for crumpled in cloths {
            let response = crumpled.respond(&crumpled.state.positions);
            let stiffness = [50.0, 5.0, 40.0, 30.0];
            let held = match &response.triangles.history[..] {
                [] => vec![(
                    stiffness,
                    vec![0.0; 3 * crumpled.cloth.mesh.triangles.len()],
                )],
                history => vec![
                    (stiffness, crumpled.values(&history[2])),
                    ([200.0, 0.0, 200.0, 5.0], crumpled.values(&history[0])),
                ],
            };
            let energy = |shape: &[[f64; 3]]| membrane_energy(&crumpled.cloth, shape, &held);
            let expected = minus_slope(&crumpled.positions(), energy);
            let error = difference(&crumpled.forces(&crumpled.state.positions), &expected);
            worst = worst.max(error);
            assert!(error < ENERGY, "{error:e}");
        }
    }
    println!("worst {worst:.1e}");
}

/// A cloth that was moved and turned as a whole is not strained and pushes nowhere, up to the rounding of
/// coordinates (1e-16 m over cells of a centimetre).
#[test]
fn rigid_motions_give_no_strain_and_no_force() {
    let turns = [
        ([0.0, 0.0, 1.0], std::f64::consts::FRAC_PI_2),
        ([1.0, 0.0, 0.0], std::f64::consts::FRAC_PI_2),
        ([0.3, -0.8, 0.5], 1.234),
        ([0.0, 1.0, 0.0], 0.0),
    ];
    for pattern in PATTERNS {
        let mesh = sheet(5, 4, pattern);
        let cloth = Cloth::new(mesh, elastic_setup(), &cpu()).unwrap();
        let fabric = parameters(&[6e-6]);
        let answer = |shape: &[[f64; 3]]| {
            let mut state = cloth.start(&fabric);
            state.positions = cloth.vertex_tensor(shape);
            let response = cloth.respond(&state, &fabric, &cloth.free_drive(0.01));
            let values = |f: Field| largest(&cloth.compute.values(f).unwrap());
            let strains = [
                response.triangles.columns.strain(),
                response.hinges.strain.clone(),
            ];
            (strains.map(values), values(response.forces(&cloth)))
        };
        for (axis, angle) in turns {
            let place = |p: &[f64; 3]| add(turned(*p, axis, angle), [0.1, -0.2, 0.3]);
            let shape: Vec<[f64; 3]> = cloth.mesh.positions.iter().map(place).collect();
            let ([stretch, curvature], force) = answer(&shape);
            assert!(
                stretch < 1e-13 && curvature < 1e-9,
                "{stretch:e} {curvature:e}"
            );
            // 50 N/m on a cell of a centimetre.
            assert!(force < 1e-13 * 50.0 * CELL * 10.0, "{force:e}");
        }
        let mut dice = Dice::new(1);
        let ([stretch, curvature], force) = answer(&crumpled(&cloth.mesh, &mut dice, [1e-3; 3]));
        assert!(
            stretch > 0.01 && curvature > 10.0 && force > 0.01,
            "the measure must see strain"
        );
    }
}

/// A cloth with a history turned as a whole pushes as before, turned; its forces have no resultant and no
/// moment.
#[test]
fn forces_turn_with_the_cloth_and_balance() {
    for crumpled in crumpled_cloths(|strain| {
        let values = if strain == StrainMeasure::Angle {
            ANGLE
        } else {
            CURVATURE
        };
        let mut fabric = parameters(&values);
        fabric.tensile = tensile();
        let setup = ClothSetup {
            strain,
            ..remembering_setup()
        };
        (setup, fabric)
    }) {
        let shape = crumpled.positions();
        let rows = |values: Vec<f64>| -> Vec<[f64; 3]> {
            values.chunks(3).map(|c| [c[0], c[1], c[2]]).collect()
        };
        let forces = rows(crumpled.forces(&crumpled.state.positions));
        let size = largest(&forces.concat());
        let turn = |p: &[f64; 3]| turned(*p, [0.3, -0.8, 0.5], 1.234);
        let moved: Vec<[f64; 3]> = shape
            .iter()
            .map(|p| add(turn(p), [0.01, 0.02, -0.03]))
            .collect();
        let again = crumpled.forces(&crumpled.cloth.vertex_tensor(&moved));
        let expected: Vec<[f64; 3]> = forces.iter().map(turn).collect();
        assert!(difference(&again, &expected.concat()) < 1e-11);
        let resultant = forces.iter().fold([0.0; 3], |sum, f| add(sum, *f));
        let moments = shape.iter().zip(&forces).map(|(p, f)| cross(*p, *f));
        let moment = moments.fold([0.0; 3], add);
        // Sums of some thirty forces, at arms of up to five cells.
        assert!(largest(&resultant) < 1e-13 * size, "{resultant:?} {size}");
        assert!(largest(&moment) < 1e-13 * size * CELL, "{moment:?} {size}");
        assert!(size > 1e-3);
    }
}

/// A uniform strain of an irregular sheet, tilted in space: one stress in all triangles, no force inside,
/// and on the right edge the traction of that stress.
#[test]
fn patch_test() {
    let (nx, ny) = (6, 5);
    let mesh = sheet(nx, ny, Pattern::Irregular { seed: 9 });
    let fabric = parameters(&[6e-6]);
    let cloth = Cloth::new(mesh, elastic_setup(), &cpu()).unwrap();
    let (u, v) = ([1.06, 0.02, 0.0], [-0.03, 0.95, 0.0]);
    let turn = |p: [f64; 3]| turned(p, [0.3, -0.8, 0.5], 1.234);
    let place = |p: &[f64; 3]| turn(std::array::from_fn(|i| u[i] * p[0] + v[i] * p[1]));
    let shape: Vec<[f64; 3]> = cloth.mesh.positions.iter().map(place).collect();
    let mut state = cloth.start(&fabric);
    state.positions = cloth.vertex_tensor(&shape);
    let response = cloth.respond(&state, &fabric, &cloth.free_drive(0.01));
    let strain = [
        0.5 * (dot(u, u) - 1.0),
        0.5 * (dot(v, v) - 1.0),
        0.5 * dot(u, v),
    ];
    let stress = [
        50.0 * strain[0] + 5.0 * strain[1],
        5.0 * strain[0] + 40.0 * strain[1],
        2.0 * 30.0 * strain[2],
    ];
    let count = cloth.mesh.triangles.len();
    let ours = cloth
        .compute
        .values(response.triangles.stress.clone())
        .unwrap();
    for (row, expected) in stress.into_iter().enumerate() {
        for (n, triangle) in cloth.rest.triangles.iter().enumerate() {
            let error = ours[row * count + n] / triangle.area - expected;
            // Rounding of coordinates of 0.1 m over cells of 0.01 m, times 50 N/m.
            assert!(error.abs() < 1e-11, "{error:e}");
        }
    }
    let forces = cloth.vertex_values(&response.forces(&cloth)).unwrap();
    let at = |ix: usize, iy: usize| forces[iy * (nx + 1) + ix];
    for (ix, iy) in (1..nx).flat_map(|ix| (1..ny).map(move |iy| (ix, iy))) {
        assert!(largest(&at(ix, iy)) < 1e-13, "{:?}", at(ix, iy));
    }
    let right = (0..=ny).fold([0.0; 3], |sum, iy| add(sum, at(nx, iy)));
    // First Piola-Kirchhoff, F·S along the warp; what the upper and the lower edge pull at the corners cancels.
    let piola: [f64; 3] = std::array::from_fn(|i| stress[0] * u[i] + 0.5 * stress[2] * v[i]);
    let warp = turn(piola).map(|t| -t * ny as f64 * CELL);
    assert!(difference(&right, &warp) < 1e-11, "{right:?} {warp:?}");
}
