//! The vector-Jacobian product of one mesh step, input by input, against differences of the step.

mod common;

use common::{
    cloth::{
        CELL, Dice, Input, Objective, Specimen, check, crumpled, difference, dot, elastic_setup,
        largest, one, parameters, pinned, remembering_setup, run, sheet, solver, sub, tensile,
    },
    cpu,
};
use rumple::{
    experiment::checked_laws,
    material::{Dimension, StrainMeasure},
    mesh::generate::Pattern,
    numeric::{Compute, Field, Gate, Precision},
    solve::Solver,
    step::{Cloth, Contact, Damping, Drive, Obstacle, Parameters, Pose, Setup, StepGradient},
};

/// The tolerance against central differences in f64.
const TOLERANCE: f64 = 1e-5;
/// The range of the Taylor slope about 2.
const SLOPE: f64 = 0.1;

/// Bending whose thresholds lie among the curvatures of a crumpled sheet (some 70 1/m).
const BENDING: [f64; 9] = [6e-6, 9e-6, 10.0, 70.0, 5.0, 50.0, 3e-6, 0.6, 20.0];

/// Centre of the ball \[m\].
const BALL: [f64; 3] = [0.02, 0.015, -0.0295];

/// A ball under the middle of the sheet whose top reaches into it.
fn ball() -> Contact {
    Contact {
        obstacle: Obstacle::Sphere { radius: 0.03 },
        thickness: 2e-3,
        stiffness: 20.0,
        friction: 0.4,
    }
}

/// A crumpled sheet in motion with a random history, two pinned and three held vertices.
fn specimen(
    setup: Setup,
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

/// The step's vector-Jacobian product of an objective.
fn pull_back(specimen: &Specimen, objective: &Objective) -> StepGradient {
    let after = specimen.advance();
    let mut solver = solver(&specimen.cloth);
    let states = (&specimen.state, &after);
    let (fabric, drive) = (&specimen.parameters, &specimen.drive);
    let adjoint = objective.adjoint(&after);
    specimen
        .cloth
        .pull_back(&mut solver, states, fabric, drive, &adjoint)
        .unwrap()
}

/// Checks the inputs of a step that `wanted` picks, along a random direction each; returns how many.
fn check_all(specimen: &Specimen, dice: &mut Dice, wanted: impl Fn(Input) -> bool) -> usize {
    let objective = Objective::new(specimen, dice);
    let all = pull_back(specimen, &objective);
    let (mut checked, mut failed) = (0, Vec::new());
    for (name, input) in specimen.inputs() {
        if !wanted(input) {
            continue;
        }
        let reach = match input {
            Input::Positions | Input::Anchors | Input::Center(_) => 0.1 * CELL,
            _ => largest(&specimen.values(&specimen.read(input))),
        };
        let verdict = check(specimen, &objective, &all, (input, reach), dice);
        let right = verdict.relative_error <= TOLERANCE
            && verdict.slope.is_some_and(|s| (s - 2.0).abs() <= SLOPE)
            && verdict.derivative != 0.0;
        let line = format!(
            "{name:36} {:12.4e}, error {:.1e}, slope {:.3?}",
            verdict.derivative, verdict.relative_error, verdict.slope
        );
        println!("{line}");
        if !right {
            failed.push(line);
        }
        checked += 1;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    checked
}

/// How many hinges (or components of triangles) keep their anchor, move it, and flow, each by more than
/// rounding.
fn branches(specimen: &Specimen, before: &[Field], after: &[Field]) -> [usize; 3] {
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
fn touching(specimen: &Specimen, contact: &Contact, center: [f64; 3]) -> usize {
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

/// The specimen in which everything happens.
fn everything(dice: &mut Dice) -> Specimen {
    let setup = Setup {
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

/// Every kind of input of a step in which hinges and triangles stick, slip and yield and vertices touch a
/// rough ball, are held and are pinned.
#[test]
fn every_input_of_a_step_has_its_gradient() {
    let mut dice = Dice::new(1);
    let specimen = everything(&mut dice);
    let after = specimen.advance();
    let hinges = branches(&specimen, &specimen.state.bending, &after.bending);
    let triangles = branches(&specimen, &specimen.state.tensile, &after.tensile);
    let touching = touching(&specimen, &ball(), BALL);
    println!("stick, slip, flow: hinges {hinges:?}, triangles {triangles:?}; touching {touching}");
    assert!(hinges.iter().chain(&triangles).all(|n| *n >= 3) && touching >= 3);
    let checked = check_all(&specimen, &mut dice, |_| true);
    assert_eq!(checked, 3 + 7 + 7 + 9 + 6 + 8 + 1);
}

/// A value for every element: their gradients add up to that of the common value, to rounding of the sums,
/// and each is right on its own.
#[test]
fn parameters_of_every_element_have_their_gradients() {
    let mut dice = Dice::new(2);
    let common = everything(&mut dice);
    let objective = Objective::new(&common, &mut dice);
    let of_common = pull_back(&common, &objective);
    let mut own = common.clone();
    let (hinges, triangles) = (
        common.cloth.topology.hinges.len(),
        common.cloth.mesh.triangles.len(),
    );
    let wide = |f: &Field, count: usize| f.clone().repeat_dim(1, count);
    let fabric = &mut own.parameters;
    fabric.bending.iter_mut().for_each(|f| *f = wide(f, hinges));
    fabric.weft_ratio = wide(&fabric.weft_ratio, hinges);
    fabric.membrane = fabric.membrane.map(|f| wide(f, triangles));
    fabric.density = wide(&fabric.density, common.cloth.vertices());
    fabric
        .tensile
        .iter_mut()
        .for_each(|f| *f = wide(f, triangles));
    let of_own = pull_back(&own, &objective);
    let pairs = of_own
        .parameters
        .list()
        .into_iter()
        .zip(of_common.parameters.list());
    for (own, common_value) in pairs {
        let sum = common.values(&own.clone().sum_dim(1));
        let whole = common.values(common_value);
        assert!(difference(&sum, &whole) < 1e-9, "{sum:?} {whole:?}");
    }
    let names = own.parameters.names(&own.cloth.setup.law);
    let place = |name: &str| Input::Parameter(names.iter().position(|n| n == name).unwrap());
    let chosen = [
        "yield_strain",
        "membrane_shear",
        "density",
        "tensile_dwell_time",
    ]
    .map(place);
    assert_eq!(
        check_all(&own, &mut dice, |input| chosen.contains(&input)),
        4
    );
}

/// Every obstacle, moved, and the cloth that it touches.
#[test]
fn every_obstacle_has_its_gradient() {
    let tilt = [0.48, 0.6, 0.64];
    let shapes = [
        (Obstacle::Plane { normal: tilt }, [0.02, 0.015, -0.001]),
        (
            Obstacle::Capsule {
                half_axis: [0.012, 0.004, 0.0],
                radius: 0.01,
            },
            [0.02, 0.015, -0.0105],
        ),
        (
            Obstacle::Cylinder {
                axis: [0.6, 0.8, 0.0],
                radius: 0.02,
                inside: false,
            },
            [0.02, 0.015, -0.0205],
        ),
        (
            Obstacle::Cylinder {
                axis: [0.6, 0.8, 0.0],
                radius: 0.02,
                inside: true,
            },
            [0.02, 0.015, 0.019],
        ),
        (
            Obstacle::Block {
                half: [0.013, 0.008, 0.004],
            },
            [0.021, 0.0157, -0.0045],
        ),
    ];
    for (number, (obstacle, center)) in shapes.into_iter().enumerate() {
        println!("{obstacle:?}");
        let mut dice = Dice::new(30 + number as u64);
        let contact = Contact { obstacle, ..ball() };
        let setup = Setup {
            contacts: vec![contact],
            ..elastic_setup()
        };
        let specimen = specimen(setup, parameters(&[2e-6]), &[center], &mut dice);
        let inputs = [Input::Positions, Input::Velocities, Input::Center(0)];
        let checked = check_all(&specimen, &mut dice, |input| inputs.contains(&input));
        assert_eq!(checked, 3);
    }
}

/// Every bending law, its thresholds as angles, on a sheet that is curved at rest.
#[test]
fn every_law_has_its_gradient() {
    for (number, checked) in checked_laws().into_iter().enumerate() {
        if checked.strain != 1.0 {
            continue;
        }
        println!("{}", checked.name);
        let mut dice = Dice::new(50 + number as u64);
        let setup = Setup {
            law: checked.law.clone(),
            strain: StrainMeasure::Angle,
            gate: Gate::Smoothstep { width: 0.2 },
            rest_is_curved: true,
            ..remembering_setup()
        };
        let mut values = checked.values.clone();
        let stiffnesses = checked.law.parameters().into_iter().enumerate();
        for (i, _) in stiffnesses.filter(|(_, p)| p.dimension == Dimension::Stiffness) {
            values[i] *= 3e-6;
        }
        let mut specimen = specimen(setup, parameters(&values), &[], &mut dice);
        let names = checked.law.history();
        for (name, field) in names.iter().zip(&mut specimen.state.bending) {
            let range = match name.as_str() {
                "stick_time" | "flow_time" => (0.0, 100.0),
                "yield_strain" => (0.05, 0.5),
                "accumulated_plastic" => (0.0, 0.3),
                _ => (-0.5, 0.5),
            };
            *field = dice.field(&cpu(), field.dims(), range);
        }
        let wanted = |input| {
            matches!(
                input,
                Input::Positions | Input::Bending(_) | Input::Parameter(0)
            )
        };
        let count = check_all(&specimen, &mut dice, wanted);
        assert_eq!(count, 2 + names.len());
    }
}

/// Three steps from virgin cloth: the chain of products, with the part that ε_Y0 has in the start.
#[test]
fn a_chain_of_steps_reaches_the_virgin_state() {
    let mut dice = Dice::new(3);
    let first = everything(&mut dice);
    let steps = 3;
    let roll = |fabric: &Parameters| {
        let mut state = first.cloth.start(fabric);
        state.positions = first.state.positions.clone();
        state.velocities = first.state.velocities.clone();
        let mut states = vec![state];
        for k in 0..steps {
            states.push(run(&first.cloth, &states[k], fabric, &first.drive, 1));
        }
        states
    };
    let states = roll(&first.parameters);
    let objective = Objective::new(&first, &mut dice);
    let compute = &first.cloth.compute;
    let mut adjoint = objective.adjoint(&states[steps]);
    let mut total = first.parameters.map(Field::zeros_like);
    let plus = |a: &Parameters, b: &Parameters| {
        let mut others = b.list().into_iter();
        a.map(|f| f.clone() + others.next().unwrap().clone())
    };
    for k in (0..steps).rev() {
        let mut solver = solver(&first.cloth);
        let pair = (&states[k], &states[k + 1]);
        let gradient = first
            .cloth
            .pull_back(&mut solver, pair, &first.parameters, &first.drive, &adjoint)
            .unwrap();
        total = plus(&total, &gradient.parameters);
        adjoint = gradient.state;
    }
    let without_start = total.clone();
    total = plus(
        &total,
        &first.cloth.pull_back_start(&first.parameters, &adjoint),
    );
    let names = total.names(&first.cloth.setup.law);
    for name in ["yield_strain", "tensile_yield_strain"] {
        let place = names.iter().position(|n| n == name).unwrap();
        let sum = |p: &Parameters| -> f64 { first.values(p.list()[place]).iter().sum() };
        let value = first.values(first.parameters.list()[place])[0];
        let at = |s: f64| {
            let moved = first.with(
                Input::Parameter(place),
                first.parameters.list()[place].clone() + s * value,
            );
            objective.value(compute, &roll(&moved.parameters)[steps]).0
        };
        let step = 1e-6;
        let numeric = (at(step) - at(-step)) / (2.0 * step * value);
        println!(
            "{name}: {} {numeric}, without the start {}",
            sum(&total),
            sum(&without_start)
        );
        assert!((sum(&total) / numeric - 1.0).abs() < TOLERANCE);
        assert!(
            (sum(&without_start) / numeric - 1.0).abs() > 1e-3,
            "the start must matter"
        );
    }
}

/// The factorised matrix and conjugate gradients over the elements give the same step, to the tolerance of
/// the solves times the condition of the matrix.
#[test]
fn both_solvers_give_the_same_step() {
    let specimen = everything(&mut Dice::new(4));
    let direct = specimen.advance();
    let mut conjugate = Solver::conjugate(&specimen.cloth.compute, 1e-13);
    let (fabric, drive) = (&specimen.parameters, &specimen.drive);
    let next = specimen
        .cloth
        .advance(&mut conjugate, &specimen.state, fabric, drive)
        .unwrap();
    let [ours, theirs] = [&direct, &next.state].map(|s| specimen.values(&s.velocities));
    assert!(difference(&ours, &theirs) < 1e-10);
    let objective = Objective::new(&specimen, &mut Dice::new(5));
    let states = (&specimen.state, &direct);
    let adjoint = objective.adjoint(&direct);
    let back = specimen
        .cloth
        .pull_back(&mut conjugate, states, fabric, drive, &adjoint)
        .unwrap();
    let [ours, theirs] =
        [&pull_back(&specimen, &objective), &back].map(|g| specimen.values(&g.state.positions));
    assert!(difference(&ours, &theirs) < 1e-10);
}

/// The same specimen in another precision.
fn in_precision(specimen: &Specimen, precision: Precision) -> Specimen {
    let compute = Compute::cpu(precision);
    let to = |f: &Field| compute.tensor(&specimen.values(f), f.dims());
    let Drive {
        grip,
        free,
        anchors,
        obstacles,
        ..
    } = &specimen.drive;
    let pose = |p: &Pose| Pose {
        center: to(&p.center),
        velocity: to(&p.velocity),
    };
    Specimen {
        cloth: Cloth::new(
            specimen.cloth.mesh.clone(),
            specimen.cloth.setup.clone(),
            &compute,
        )
        .unwrap(),
        state: specimen.state.map(to),
        parameters: specimen.parameters.map(to),
        drive: Drive {
            grip: to(grip),
            free: to(free),
            anchors: to(anchors),
            obstacles: obstacles.iter().map(pose).collect(),
            ..specimen.drive.clone()
        },
    }
}

/// In f32 step and gradient are those of f64 up to its rounding, 6e-8, times what strains of a few percent
/// (from U·U − 1) and stiff triangles make of it.
#[test]
fn single_precision_is_close() {
    let double = everything(&mut Dice::new(6));
    let single = in_precision(&double, Precision::F32);
    let objective = Objective::new(&double, &mut Dice::new(7));
    let [ours, theirs] = [&single, &double].map(|s| s.values(&s.advance().velocities));
    let step = difference(&ours, &theirs);
    let after = single.advance();
    let adjoint = {
        let exact = objective.adjoint(&double.advance());
        let compute = &single.cloth.compute;
        exact.map(|f| compute.tensor(&double.values(f), f.dims()))
    };
    let (states, fabric) = ((&single.state, &after), &single.parameters);
    let mut solver = solver(&single.cloth);
    let back = single
        .cloth
        .pull_back(&mut solver, states, fabric, &single.drive, &adjoint)
        .unwrap();
    let exact = pull_back(&double, &objective);
    let mut worst = 0.0f64;
    for (ours, theirs) in back.state.list().into_iter().zip(exact.state.list()) {
        worst = worst.max(difference(&single.values(ours), &double.values(theirs)));
    }
    for (ours, theirs) in back
        .parameters
        .list()
        .into_iter()
        .zip(exact.parameters.list())
    {
        worst = worst.max(difference(&single.values(ours), &double.values(theirs)));
    }
    println!("f32: step {step:.1e}, gradients {worst:.1e}");
    assert!(step < 1e-5 && worst < 1e-3);
}

/// At rest, where every roll-out starts, the hard clamp of the tension has no derivative by the positions and
/// the soft one has.
#[test]
fn the_start_at_rest_needs_a_soft_clamp() {
    let [hard, soft] = [0.0, 1e-3].map(|tension_softness| {
        let setup = Setup {
            gravity: [0.0, 0.0, -9.8],
            tension_softness,
            ..elastic_setup()
        };
        let mesh = sheet(4, 3, Pattern::Irregular { seed: 5 });
        let cloth = Cloth::new(mesh, setup, &cpu()).unwrap();
        let parameters = parameters(&[2e-6]);
        let pins = [0, 4].map(|v| (v, cloth.mesh.positions[v]));
        let specimen = Specimen {
            state: cloth.start(&parameters),
            drive: pinned(&cloth, 0.01, &pins),
            parameters,
            cloth,
        };
        let mut dice = Dice::new(8);
        let objective = Objective::new(&specimen, &mut dice);
        let all = pull_back(&specimen, &objective);
        let positions = (Input::Positions, 0.1 * CELL);
        let verdict = check(&specimen, &objective, &all, positions, &mut dice);
        let slope = verdict.slope.unwrap();
        println!(
            "softness {tension_softness}: error {:.1e}, slope {slope:.3}",
            verdict.relative_error
        );
        (verdict.relative_error, slope)
    });
    assert!(
        soft.0 <= TOLERANCE && (soft.1 - 2.0).abs() <= SLOPE,
        "{soft:?}"
    );
    assert!(hard.0 > 0.01 && hard.1 < 1.1, "{hard:?}");
}
