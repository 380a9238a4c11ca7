//! Crumpled sheets in which everything happens in one step.

use rumple::{
    contact::{Contact, Obstacle, Pose},
    mesh::generate::Pattern,
    numeric::{Field, Gate},
    step::{Cloth, ClothSetup, Damping, Parameters},
};

use crate::inside::common::{
    cloth::{
        Dice, Specimen, crumpled, dot, one, parameters, remembering_setup, sheet, sub, tensile,
    },
    cpu,
};

/// Bending whose thresholds lie among the curvatures of a crumpled sheet (some 70 1/m).
const BENDING: [f64; 9] = [6e-6, 9e-6, 10.0, 70.0, 5.0, 50.0, 3e-6, 0.6, 20.0];

/// Centre of the ball \[m\].
pub const BALL: [f64; 3] = [0.02, 0.015, -0.0295];

/// A ball under the middle of the sheet whose top reaches into it.
pub fn ball() -> Contact {
    Contact {
        obstacle: Obstacle::Sphere { radius: 0.03 },
        thickness: 2e-3,
        stiffness: 20.0,
        friction: 0.4,
    }
}

/// A crumpled sheet in motion with a random history, two pinned and three held vertices.
pub fn specimen(
    setup: ClothSetup,
    parameters: Parameters,
    centers: &[[f64; 3]],
    dice: &mut Dice,
) -> Specimen {
    let compute = cpu();
    let mut mesh = sheet(4, 3, Pattern::Irregular { seed: 5 });
    let positions = crumpled(&mesh, dice, [4e-4, 4e-4, 2e-3]);
    if setup.rest_is_curved {
        mesh.positions = crumpled(&mesh, dice, [0.0, 0.0, 1e-3]);
    }
    let cloth = Cloth::new(mesh, setup, &compute).unwrap();
    let count = cloth.vertices();
    let motion: Vec<[f64; 3]> = (0..count).map(|_| dice.vector([0.1; 3])).collect();
    let mut start = cloth.start(&parameters);
    start.positions = cloth.vertex_tensor(&positions);
    start.velocities = cloth.vertex_tensor(&motion);
    let mut drive = cloth.free_drive(0.01);
    drive.material_seconds = 0.5;
    drive.elapse = 2.0;
    let (mut grip, mut free) = (vec![0.0; count], vec![1.0; count]);
    let mut anchors = vec![[0.0; 3]; count];
    for held in [3, 9, 17] {
        grip[held] = 20.0;
    }
    for pinned in [0, 4] {
        free[pinned] = 0.0;
    }
    for (anchor, position) in anchors.iter_mut().zip(&positions) {
        let moved = dice.vector([1e-3; 3]);
        *anchor = std::array::from_fn(|a| position[a] + moved[a]);
    }
    drive.grip = compute.tensor(&grip, [1, count]);
    drive.pinned = true;
    drive.free = compute.tensor(&free, [1, count]);
    drive.anchors = cloth.vertex_tensor(&anchors);
    drive.obstacles = centers
        .iter()
        .map(|c| Pose {
            center: compute.tensor(c, [3, 1]),
            velocity: compute.tensor(&dice.vector([0.03; 3]), [3, 1]),
        })
        .collect();
    Specimen {
        cloth,
        state: start,
        parameters,
        drive,
    }
}

/// A history of the law that remembers, for strains of about `strain`: anchors and plastic strains on both
/// sides, all ages, all flow directions.
fn used_history(list: &mut [Field], strain: f64, dice: &mut Dice) {
    let ranges = [
        (-strain, strain),
        (0.0, 10.0),
        (-0.3 * strain, 0.3 * strain),
        (0.0, 0.3 * strain),
        (0.0, 30.0),
        (-1.0, 1.0),
        (0.2 * strain, strain),
    ];
    for (field, range) in list.iter_mut().zip(ranges) {
        *field = dice.field(&cpu(), field.dims(), range);
    }
}

/// The specimen in which everything happens.
pub fn everything(dice: &mut Dice) -> Specimen {
    let setup = ClothSetup {
        gate: Gate::Smoothstep { width: 20.0 },
        tensile_gate: Gate::Smoothstep { width: 0.02 },
        gravity: [0.0, 0.0, -9.8],
        damping: Damping {
            stiffness: 2e-3,
            mass: 1.5,
        },
        contacts: vec![ball()],
        ..remembering_setup()
    };
    let mut fabric = parameters(&BENDING);
    fabric.weft_ratio = one(0.6);
    fabric.tensile = tensile();
    let mut specimen = specimen(setup, fabric, &[BALL], dice);
    used_history(&mut specimen.state.bending, 100.0, dice);
    used_history(&mut specimen.state.tensile, 0.08, dice);
    specimen
}

/// How many hinges (or components of triangles) keep their anchor, move it, and flow, each by more than
/// rounding.
pub fn branches(specimen: &Specimen, before: &[Field], after: &[Field]) -> [usize; 3] {
    let moved = |i: usize| specimen.values(&(after[i].clone() - before[i].clone()));
    let count = |list: &[f64], test: fn(f64) -> bool| list.iter().filter(|v| test(**v)).count();
    let (anchor, flow) = (moved(0), moved(3));
    let moves: fn(f64) -> bool = |v| v.abs() > 1e-9;
    [
        count(&anchor, |v| v == 0.0),
        count(&anchor, moves),
        count(&flow, moves),
    ]
}

/// Vertices within reach of the ball.
pub fn touching(specimen: &Specimen, contact: &Contact, center: [f64; 3]) -> usize {
    let Obstacle::Sphere { radius } = contact.obstacle else {
        return 0;
    };
    let positions = specimen
        .cloth
        .vertex_values(&specimen.state.positions)
        .unwrap();
    let distance = |p: &[f64; 3]| dot(sub(*p, center), sub(*p, center)).sqrt() - radius;
    positions
        .iter()
        .filter(|p| distance(p) < contact.thickness)
        .count()
}
