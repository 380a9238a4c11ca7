//! The matrix of the mesh step: symmetric, positive semi-definite, and what it leaves out of −∂f/∂x.

use crate::inside::common::{
    cloth::{
        self, Dice, difference, elastic_setup, membrane, parameters, remembering_setup, sheet,
        tensile,
    },
    cpu,
    crumpled::{CURVATURE, Crumpled, PATTERNS, dense},
};
use rumple::{
    element::{Columns, HingeSpan},
    mesh::generate::Pattern,
    numeric::Field,
    solve::Tangent,
};

/// The stiffness is symmetric and positive semi-definite in stretched, compressed, slipping and yielding
/// states alike, to rounding of its largest eigenvalue; its diagonal blocks are those that the
/// preconditioner takes.
#[test]
fn the_tangent_is_symmetric_and_positive_semidefinite() {
    for (squeeze, with_tensile) in [(1.0, false), (0.8, false), (0.8, true), (1.1, true)] {
        for pattern in PATTERNS {
            let mut fabric = parameters(&CURVATURE);
            if with_tensile {
                fabric.tensile = tensile();
            }
            let mut crumpled = Crumpled::new(sheet(4, 3, pattern), remembering_setup(), fabric, 4);
            let shape: Vec<[f64; 3]> = crumpled
                .positions()
                .iter()
                .map(|p| [p[0] * squeeze, p[1] * squeeze, p[2]])
                .collect();
            crumpled.state.positions = crumpled.cloth.vertex_tensor(&shape);
            let stress = crumpled.respond(&crumpled.state.positions).triangles.stress;
            let compressed = crumpled
                .values(&stress)
                .iter()
                .filter(|s| **s < 0.0)
                .count();
            assert!(compressed > 3, "some stress must be compressive");
            let tangent = crumpled.stiffness();
            let matrix = dense(&crumpled.cloth, &tangent);
            let asymmetry = (&matrix - matrix.transpose()).amax() / matrix.amax();
            assert!(asymmetry < 1e-14, "{asymmetry:e}");
            let eigenvalues = matrix.symmetric_eigenvalues();
            let (low, high) = (eigenvalues.min(), eigenvalues.max());
            assert!(low > -1e-13 * high && high > 1.0, "{low:e} {high:e}");
            let count = crumpled.cloth.vertices();
            let blocks = crumpled.values(&tangent.diagonal(&crumpled.cloth.incidence));
            let places = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)];
            for (row, (a, b)) in places.into_iter().enumerate() {
                for v in 0..count {
                    let gap = blocks[row * count + v] - matrix[(a * count + v, b * count + v)];
                    assert!(gap.abs() < 1e-13 * high, "{gap:e}");
                }
            }
        }
    }
}

/// −(f(x + s·w) − f(x − s·w))/2s, to fourth order.
fn force_slope(crumpled: &Crumpled, w: &Field, step: f64) -> Vec<f64> {
    let at = |s: f64| crumpled.forces(&(crumpled.state.positions.clone() + w.clone() * s));
    let [a, b, c, d] = [step, -step, 2.0 * step, -2.0 * step].map(at);
    let slope = |i: usize| (8.0 * (b[i] - a[i]) - (d[i] - c[i])) / (12.0 * step);
    (0..a.len()).map(slope).collect()
}

/// A flat sheet stretched along warp and weft without shear: no term was left out of the tangent, so it is
/// the derivative of the force.
#[test]
fn the_tangent_is_exact_in_a_flat_stretched_sheet() {
    for pattern in PATTERNS {
        let mut crumpled = Crumpled::new(
            sheet(4, 3, pattern),
            elastic_setup(),
            parameters(&[2e-3]),
            4,
        );
        let mesh = &crumpled.cloth.mesh;
        let shape: Vec<[f64; 3]> = mesh
            .positions
            .iter()
            .map(|p| [1.1 * p[0], 1.05 * p[1], 0.0])
            .collect();
        crumpled.state.positions = crumpled.cloth.vertex_tensor(&shape);
        let mut dice = Dice::new(5);
        let w = dice.field(&cpu(), [3, shape.len()], (-1.0, 1.0));
        let image = crumpled.stiffness().apply(&crumpled.cloth.incidence, &w);
        let image = crumpled.cloth.vertex_values(&image).unwrap().concat();
        // Fourth order in a step of 1e-5 m over heights of a centimetre, and rounding of the forces.
        let error = difference(&image, &force_slope(&crumpled, &w, 1e-5));
        assert!(error < 1e-9, "{error:e}");
    }
}

/// In any state the tangent of the triangles lacks exactly this: the turning term of compression, (σ − T)·B Bᵀ,
/// and that of shear, σ_uv·½(B_u B_vᵀ + B_v B_uᵀ).
#[test]
fn the_tangent_of_triangles_lacks_compression_and_shear_only() {
    let crumpled = Crumpled::new(
        sheet(4, 3, Pattern::Irregular { seed: 7 }),
        elastic_setup(),
        parameters(&[1e-30]),
        4,
    );
    let (incidence, tangent) = (&crumpled.cloth.incidence, crumpled.stiffness());
    let mut dice = Dice::new(5);
    let w = dice.field(&cpu(), [3, crumpled.cloth.vertices()], (-1.0, 1.0));
    let stress = crumpled.respond(&crumpled.state.positions).triangles.stress;
    let signed = Tangent {
        tension: stress.clone().narrow(0, 0, 2),
        ..tangent.clone()
    };
    let half_shear = stress.narrow(0, 2, 1) * 0.5;
    let along = incidence.columns(&w);
    let sheared = Columns {
        u: along.v.times(&half_shear),
        v: along.u.times(&half_shear),
    };
    let span = incidence.spans(&w.zeros_like());
    let no_span = HingeSpan {
        edge: span.edge,
        wings: span.wings,
    };
    let whole = signed.apply(incidence, &w) + incidence.assemble_parts(&no_span, &sheared);
    let flat = |f: &Field| crumpled.cloth.vertex_values(f).unwrap().concat();
    let slope = force_slope(&crumpled, &w, 1e-5);
    let (error, lacking) = (
        difference(&flat(&whole), &slope),
        difference(&flat(&tangent.apply(incidence, &w)), &slope),
    );
    println!("whole {error:.1e}, ours lacks {lacking:.2}");
    assert!(error < 1e-9, "{error:e}");
    assert!(lacking > 1e-3, "something must lack");
}

/// The hinges' tangent lacks moment·∇²θ, so it comes to the derivative of the force as fast as the sheet
/// comes to be flat: a tenth of the bend, a tenth of the gap.
#[test]
fn the_tangent_of_hinges_is_exact_where_they_carry_no_moment() {
    let gap = |amplitude: f64| {
        let mut fabric = parameters(&[2e-6]);
        fabric.membrane = membrane([0.0; 4]);
        let mesh = sheet(4, 3, Pattern::Irregular { seed: 7 });
        let mut crumpled = Crumpled::new(mesh, elastic_setup(), fabric, 4);
        let mut dice = Dice::new(6);
        let shape = cloth::crumpled(&crumpled.cloth.mesh, &mut dice, [0.0, 0.0, amplitude]);
        crumpled.state.positions = crumpled.cloth.vertex_tensor(&shape);
        let w = dice.field(&cpu(), [3, shape.len()], (-1.0, 1.0));
        let image = crumpled.stiffness().apply(&crumpled.cloth.incidence, &w);
        let image = crumpled.cloth.vertex_values(&image).unwrap().concat();
        difference(&image, &force_slope(&crumpled, &w, 1e-5))
    };
    let [large, small, none] = [1e-3, 1e-4, 0.0].map(gap);
    println!("gaps {large:.2e} {small:.2e} {none:.1e}");
    assert!((large / small - 10.0).abs() < 3.0, "{large} {small}");
    assert!(none < 1e-8 && small > 1e-4);
}
