//! Cloth in motion and at rest: momentum, convergence in time, and strips against the elastica.

use std::f64::consts::{FRAC_PI_2, TAU};

use crate::inside::common::{
    cloth::{
        Dice, add, cross, crumpled, elastic_setup, largest, membrane, parameters, pinned,
        remembering_setup, run, sheet, sub,
    },
    cpu,
};
use rumple::{
    mesh::generate::{Pattern, strip},
    step::{Cloth, ClothSetup, Damping, Parameters, State},
};

/// Bending of the law that remembers, its thresholds among the curvatures of a crumpled sheet (70 1/m).
const REMEMBERING: [f64; 9] = [6e-6, 9e-6, 10.0, 70.0, 5.0, 50.0, 3e-6, 0.6, 20.0];

/// A crumpled sheet that flies and spins, with nothing around it.
fn flying(stiffness: f64) -> (Cloth, Parameters, State) {
    let mut dice = Dice::new(8);
    let mesh = sheet(4, 3, Pattern::Irregular { seed: 3 });
    let shape = crumpled(&mesh, &mut dice, [5e-4, 5e-4, 1e-3]);
    let spin = |p: &[f64; 3]| add(cross([3.0, -5.0, 20.0], *p), [0.3, 0.2, -0.1]);
    let motion: Vec<[f64; 3]> = shape.iter().map(spin).collect();
    let cloth = Cloth::new(mesh, remembering_setup(), &cpu()).unwrap();
    let mut fabric = parameters(&REMEMBERING);
    fabric.membrane = membrane([1.0, 0.1, 0.8, 0.6].map(|k| k * stiffness));
    let mut state = cloth.start(&fabric);
    state.positions = cloth.vertex_tensor(&shape);
    state.velocities = cloth.vertex_tensor(&motion);
    (cloth, fabric, state)
}

/// Σ m·v \[kg·m/s\] and Σ x × m·v \[kg·m²/s\].
fn momenta(cloth: &Cloth, state: &State) -> ([f64; 3], [f64; 3]) {
    let positions = cloth.vertex_values(&state.positions).unwrap();
    let velocities = cloth.vertex_values(&state.velocities).unwrap();
    let (mut linear, mut angular) = ([0.0; 3], [0.0; 3]);
    for ((x, v), area) in positions
        .iter()
        .zip(&velocities)
        .zip(&cloth.rest.vertex_area)
    {
        let momentum = v.map(|c| 0.06 * area * c);
        linear = add(linear, momentum);
        angular = add(angular, cross(*x, momentum));
    }
    (linear, angular)
}

/// Largest change over the size of what it was.
fn drift(before: [f64; 3], after: [f64; 3]) -> f64 {
    largest(&sub(after, before)) / largest(&before)
}

/// A free sheet that bends, stretches, slips and yields keeps its linear momentum, up to the solver's residual
/// of 1e-13 a step; how strongly it was deformed shows in its shape.
#[test]
fn linear_momentum_is_kept() {
    let (cloth, fabric, start) = flying(50.0);
    let end = run(&cloth, &start, &fabric, &cloth.free_drive(2e-3), 30);
    let error = drift(momenta(&cloth, &start).0, momenta(&cloth, &end).0);
    println!("drift of linear momentum {error:.1e}");
    assert!(error < 1e-11, "{error:e}");
    let flown = sub(
        cloth.vertex_values(&end.positions).unwrap()[0],
        cloth.vertex_values(&start.positions).unwrap()[0],
    );
    assert!(largest(&flown) > 1e-3, "it must have moved");
}

/// Hinges alone keep the angular momentum exactly: their forces have no moment, and their tangent, made of
/// ∇θ, gives none to any motion. So do triangles, but for the turning of tension in the tangent, which drags
/// on a spin: a drift that halves with the step.
#[test]
fn angular_momentum_is_kept_to_first_order() {
    let (cloth, fabric, start) = flying(0.0);
    let end = run(&cloth, &start, &fabric, &cloth.free_drive(1e-3), 30);
    let exact = drift(momenta(&cloth, &start).1, momenta(&cloth, &end).1);
    assert!(exact < 1e-11, "{exact:e}");
    let (cloth, fabric, start) = flying(1.0);
    let drifts = [40u32, 80, 160].map(|steps| {
        let drive = cloth.free_drive(0.006 / f64::from(steps));
        let end = run(&cloth, &start, &fabric, &drive, steps as usize);
        drift(momenta(&cloth, &start).1, momenta(&cloth, &end).1)
    });
    println!("hinges alone {exact:.1e}; drifts {drifts:?}");
    for pair in drifts.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((1.8..2.2).contains(&ratio), "{drifts:?}");
    }
    assert!(drifts[2] > 1e-6 && drifts[0] < 0.1, "{drifts:?}");
}

/// Half the step, half the error: positions of a falling, pinned sheet after a given time.
#[test]
fn the_step_converges_to_first_order() {
    let mesh = sheet(4, 3, Pattern::Irregular { seed: 3 });
    let pins: Vec<(usize, [f64; 3])> = (0..5).map(|v| (v, mesh.positions[v])).collect();
    let setup = ClothSetup {
        gravity: [0.0, 0.0, -9.8],
        ..elastic_setup()
    };
    let cloth = Cloth::new(mesh, setup, &cpu()).unwrap();
    let mut fabric = parameters(&[2e-7]);
    fabric.membrane = membrane([1.0, 0.1, 0.8, 0.6]);
    let ends = [25u32, 50, 100, 200].map(|steps| {
        let drive = pinned(&cloth, 0.03 / f64::from(steps), &pins);
        let end = run(
            &cloth,
            &cloth.start(&fabric),
            &fabric,
            &drive,
            steps as usize,
        );
        cloth.vertex_values(&end.positions).unwrap().concat()
    });
    let gaps: Vec<f64> = ends
        .windows(2)
        .map(|pair| {
            let gaps: Vec<f64> = pair[0].iter().zip(&pair[1]).map(|(a, b)| a - b).collect();
            largest(&gaps)
        })
        .collect();
    let ratios: Vec<f64> = gaps.windows(2).map(|pair| pair[0] / pair[1]).collect();
    println!("gaps {gaps:?} m, ratios {ratios:.3?}");
    assert!(ratios.iter().all(|r| (1.8..2.2).contains(r)), "{ratios:?}");
    let fallen = ends[3]
        .iter()
        .skip(2)
        .step_by(3)
        .fold(0.0f64, |m, z| m.max(-z));
    assert!(fallen > 1e-3 && gaps[0] > 1e-6, "{fallen}");
}

/// Rigidity of a strip with alternating diagonals that finds its own shape over the stiffness of its hinges:
/// a zigzag of the columns gives the diagonals a share of the bend, see `mesh_rigidity.rs`.
const RIGIDITY: f64 = 0.8;

/// A strip one cell wide.
struct Strip {
    cloth: Cloth,
    fabric: Parameters,
    cells: usize,
}

impl Strip {
    fn new(cells: usize, cell: f64, rigidity: f64, gravity: f64) -> Strip {
        let mesh = strip(cells as f64 * cell, cell, cells, 1, Pattern::Alternating).unwrap();
        let setup = ClothSetup {
            gravity: [0.0, 0.0, -gravity],
            damping: Damping {
                stiffness: 0.0,
                mass: 2.0,
            },
            ..elastic_setup()
        };
        let mut fabric = parameters(&[rigidity / RIGIDITY]);
        // Stiff enough not to stretch by more than 1e-3.
        fabric.membrane = membrane([200.0, 0.0, 200.0, 100.0]);
        Strip {
            cloth: Cloth::new(mesh, setup, &cpu()).unwrap(),
            fabric,
            cells,
        }
    }

    /// Both vertices of a column.
    fn column(&self, column: usize) -> [usize; 2] {
        [column, self.cells + 1 + column]
    }

    /// The strip at rest from a first shape, with pins: steps long enough to take the swing out.
    fn settled(&self, shape: &[[f64; 3]], pins: &[(usize, [f64; 3])], steps: usize) -> State {
        let mut start = self.cloth.start(&self.fabric);
        start.positions = self.cloth.vertex_tensor(shape);
        let drive = pinned(&self.cloth, 0.05, pins);
        let end = run(&self.cloth, &start, &self.fabric, &drive, steps);
        let speed = largest(&self.cloth.compute.values(end.velocities.clone()).unwrap());
        println!("speed left {speed:.1e} m/s");
        assert!(speed < 1e-5, "not at rest: {speed:e} m/s");
        end
    }
}

/// Angle below the horizontal at the tip of a heavy cantilever that starts with curvature `start`, and its
/// shape: B·ψ'' = −w·(L − s)·cos ψ, ψ(0) = 0, by the classical Runge-Kutta rule. Returns ψ'(L) and (x, z) at
/// `points` + 1 equal steps of arc length.
fn heavy_elastica(
    start: f64,
    length: f64,
    weight_over_rigidity: f64,
    points: usize,
) -> (f64, Vec<[f64; 2]>) {
    const FINE: usize = 40;
    let step = length / (points * FINE) as f64;
    let slope = |s: f64, y: [f64; 4]| {
        [
            y[1],
            -weight_over_rigidity * (length - s) * y[0].cos(),
            y[0].cos(),
            -y[0].sin(),
        ]
    };
    let mut y = [0.0, start, 0.0, 0.0];
    let mut shape = vec![[0.0, 0.0]];
    for n in 0..points * FINE {
        let s = n as f64 * step;
        let ahead = |k: [f64; 4], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
        let a = slope(s, y);
        let b = slope(s + 0.5 * step, ahead(a, 0.5 * step));
        let c = slope(s + 0.5 * step, ahead(b, 0.5 * step));
        let d = slope(s + step, ahead(c, step));
        y = std::array::from_fn(|i| y[i] + step / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
        if (n + 1) % FINE == 0 {
            shape.push([y[2], y[3]]);
        }
    }
    (y[1], shape)
}

/// Where f changes sign between `low` and `high`.
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let rising = f(high) > 0.0;
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if (f(middle) > 0.0) == rising {
            high = middle;
        } else {
            low = middle;
        }
    }
    0.5 * (low + high)
}

/// Largest distance of a sagging strip of `cells` cells from the heavy elastica, and the sag of its tip,
/// both over its length. A clamp holds the first cell; as a hinge stands for half a cell on either side, the
/// elastica starts in the middle of that cell. `load` is w·L³/B.
fn sag(cells: usize, load: f64) -> (f64, f64) {
    let (density, gravity) = (0.06, 9.8);
    let cell = 0.1 / cells as f64;
    let length = (cells as f64 - 0.5) * cell;
    let strip = Strip::new(
        cells,
        cell,
        density * gravity * length.powi(3) / load,
        gravity,
    );
    let rest = strip.cloth.mesh.positions.clone();
    let clamped = [strip.column(0), strip.column(1)].concat();
    let pins: Vec<(usize, [f64; 3])> = clamped.into_iter().map(|v| (v, rest[v])).collect();
    let end = strip.settled(&rest, &pins, 100);
    let ours = strip.cloth.vertex_values(&end.positions).unwrap();
    // Points at every half cell, so that every column has one.
    let (ratio, points) = (load / length.powi(3), 2 * cells - 1);
    let start = root(0.0, load / length, |k| {
        heavy_elastica(k, length, ratio, points).0
    });
    let shape = heavy_elastica(start, length, ratio, points).1;
    let mut worst = 0.0f64;
    for column in 1..=cells {
        let [x, z] = shape[2 * column - 1];
        for v in strip.column(column) {
            worst = worst.max((ours[v][0] - x - 0.5 * cell).hypot(ours[v][2] - z));
        }
    }
    (worst / length, -shape[points][1] / length)
}

/// A strip clamped at one end sags like the heavy elastica with B = 4/5·K_b; the clamp, which does not
/// zigzag, is stiffer by a share that falls with the number of cells.
#[test]
fn a_cantilever_sags_like_the_elastica() {
    for load in [2.0, 15.0] {
        let [(coarse, _), (fine, tip)] = [20, 40].map(|cells| sag(cells, load));
        println!(
            "load {load}: tip {tip:.4} of the length, off by {coarse:.1e} and {fine:.1e} of it"
        );
        assert!(tip > 0.2, "it must sag");
        assert!(coarse < 0.012 && fine < 0.6 * coarse, "{coarse} {fine}");
    }
}

/// Complete elliptic integrals K and E of modulus k, by the arithmetic-geometric mean.
fn elliptic(k: f64) -> (f64, f64) {
    let (mut a, mut b, mut c) = (1.0f64, (1.0 - k * k).sqrt(), k);
    let (mut sum, mut power) = (0.5 * c * c, 1.0);
    for _ in 0..40 {
        (a, b, c) = (0.5 * (a + b), (a * b).sqrt(), 0.5 * (a - b));
        sum += 0.5 * power * 2.0 * c * c;
        power *= 2.0;
    }
    let complete = FRAC_PI_2 / a;
    (complete, complete * (1.0 - sum))
}

/// Height and push of a strip of `cells` cells whose clamped ends are pushed together by a share of its
/// length, over the elastica's: of four equal arcs, span/L = 2E/K − 1, height/L = k/K, P = B·(4K/L)². Then
/// the push over Euler's 4π²·B/L².
fn buckle(cells: usize, shortening: f64) -> [f64; 3] {
    let (cell, rigidity) = (0.12 / cells as f64, 3e-5);
    let length = (cells as f64 - 1.0) * cell;
    let strip = Strip::new(cells, cell, rigidity, 0.0);
    let rest = strip.cloth.mesh.positions.clone();
    let place = |p: &[f64; 3]| {
        let s = (p[0] - 0.5 * cell) / length;
        let bump = 0.5 * (1.0 - (TAU * s.clamp(0.0, 1.0)).cos());
        let height = 0.6 * shortening.sqrt() * length * bump;
        [0.5 * cell + (1.0 - shortening) * length * s, p[1], height]
    };
    let mut shape: Vec<[f64; 3]> = rest.iter().map(place).collect();
    let mut pins = Vec::new();
    for column in [0, 1, cells - 1, cells] {
        let shift = if column > 1 { shortening * length } else { 0.0 };
        for v in strip.column(column) {
            shape[v] = [rest[v][0] - shift, rest[v][1], 0.0];
            pins.push((v, shape[v]));
        }
    }
    let end = strip.settled(&shape, &pins, 100);
    let ours = strip.cloth.vertex_values(&end.positions).unwrap();
    let height = ours.iter().fold(0.0f64, |m, p| m.max(p[2]));
    let response = strip
        .cloth
        .respond(&end, &strip.fabric, &strip.cloth.free_drive(0.05));
    let forces = strip
        .cloth
        .vertex_values(&response.forces(&strip.cloth))
        .unwrap();
    let held = [strip.column(cells - 1), strip.column(cells)].concat();
    let push: f64 = held.into_iter().map(|v| forces[v][0]).sum();
    let modulus = root(1e-3, 0.99, |k| {
        let (complete, second) = elliptic(k);
        2.0 * second / complete - 2.0 + shortening
    });
    let (complete, _) = elliptic(modulus);
    let load = |wave: f64| rigidity * (wave / length).powi(2) * cell;
    [
        height * complete / (modulus * length),
        push / load(4.0 * complete),
        push / load(TAU),
    ]
}

/// A strip whose ends are pushed together buckles like the elastica with B = 4/5·K_b: little above Euler's
/// load at first, well above it later.
#[test]
fn a_compressed_strip_buckles_like_the_elastica() {
    for (shortening, above_euler) in [(0.05, 1.02), (0.3, 1.15)] {
        let [coarse, fine] = [24, 48].map(|cells| buckle(cells, shortening));
        println!(
            "shortened by {shortening}: height and push over the elastica's {coarse:.4?}, {fine:.4?}"
        );
        let off = |ratios: [f64; 3]| [ratios[0] - 1.0, ratios[1] - 1.0].map(f64::abs);
        assert!(off(coarse).iter().all(|o| *o < 0.02), "{coarse:?}");
        assert!(off(fine).iter().all(|o| *o < 0.01), "{fine:?}");
        assert!(fine[2] > above_euler, "{fine:?}");
    }
}
