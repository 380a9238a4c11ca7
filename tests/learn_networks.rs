//! E-Net and P-Net: seeds, what they may know, and that the loss trains them.

mod common;

use burn::optim::{AdamConfig, GradientsParams};
use common::{cloth::Dice, cpu};
use rumple::{
    element::Vector,
    learn::{
        Body, ElasticInput, ElasticNet, ElasticSize, Features, Garment, HingeGraph, Imperfection,
        Loss, LossConfig, Materials, Motion, PlasticFrame, PlasticNet, PlasticSize, Scene, Sheet,
        Track,
    },
    numeric::Field,
};

fn small() -> Scene {
    let body = Body::arm();
    let place = |[x, y, z]: [f64; 3]| [y, -z, -x];
    let waves = Imperfection::seeded(1);
    let garment = Garment::tube("small", &body, waves, [0.06, 0.44], [8, 10], place).unwrap();
    Scene { body, garment }
}

fn values(field: &Field) -> Vec<f64> {
    cpu().values(field.clone().inner()).unwrap()
}

fn input(scene: &Scene, motion: &Motion) -> ElasticInput {
    let features = Features::new(&scene.body.skeleton, motion, [0.0, 0.0, -1.0]);
    let hinges = scene.garment.topology.hinges.len();
    ElasticInput::new(&features, 2, cpu().zeros([motion.frames(), hinges]), &cpu())
}

/// The same on a tape.
fn taped(input: &ElasticInput) -> ElasticInput {
    ElasticInput {
        standing: input.standing.clone().autodiff(),
        moving: input.moving.clone().autodiff(),
        plastic: input.plastic.clone().autodiff(),
    }
}

#[test]
fn a_seed_is_a_network_and_a_body_at_rest_has_no_memory() {
    let scene = small();
    let network = |seed| ElasticNet::new(&scene, &ElasticSize::small(), seed, &cpu()).unwrap();
    let moving = taped(&input(&scene, &Motion::canonical(&scene.body)));
    let offsets = |seed| values(&network(seed).forward(&moving).z);
    let first = offsets(1);
    assert_eq!(first.len(), 95 * 80);
    assert_eq!(first, offsets(1));
    assert_ne!(first, offsets(2));
    let still = taped(&input(&scene, &Motion::still(&scene.body, 5)));
    let rows = values(&network(1).forward(&still).z);
    assert!(rows.chunks(80).all(|row| row == &rows[..80]));
    assert!(
        rows.iter().any(|z| *z != 0.0) && rows.iter().all(|z| z.abs() < 0.05),
        "small at first"
    );
    let text = ElasticNet::new(
        &scene,
        &ElasticSize {
            joint: 0,
            ..ElasticSize::small()
        },
        1,
        &cpu(),
    );
    assert!(text.unwrap_err().to_string().contains("joint is 0"));
}

#[test]
fn the_loss_trains_the_network_through_its_own_gradient() {
    let scene = small();
    let compute = cpu();
    let motion = Motion::canonical(&scene.body);
    let frames = 10..34;
    let mut cut = motion.clone();
    cut.turns = motion.turns[frames.clone()].to_vec();
    cut.root = motion.root[frames].to_vec();
    let count = cut.frames();
    let poses = scene.poses(&cut, 0..count).unwrap();
    let skinned = scene.skinned(&poses, &compute);
    let sheet = Sheet::new(&scene.garment, count, &compute);
    let loss = Loss::new(LossConfig::default()).unwrap();
    let told = taped(&input(&scene, &cut));
    let mut network = ElasticNet::new(&scene, &ElasticSize::small(), 3, &compute).unwrap();
    let mut adam = AdamConfig::new().init();
    let on_tape = |v: &Vector| v.map(|c| c.clone().inner());
    let mut losses = Vec::new();
    for _ in 0..60 {
        let offsets = network.forward(&told);
        let positions = skinned.offset(&on_tape(&offsets));
        let track = track(&sheet, &positions);
        let given = track.given(&scene, &cut, 0..count, &compute).unwrap();
        let here = loss.linearized(&sheet, &positions, &given).unwrap();
        losses.push(here.value);
        // d(loss) = Σ gradient·d(positions): only the network is on the tape.
        let placed = skinned.autodiff().offset(&offsets);
        let gradients = (placed * here.gradient.autodiff()).sum().backward();
        let gradients = GradientsParams::from_grads(gradients, &network);
        network = adam.step(1e-3, network, gradients);
    }
    let (first, last) = (losses[0], losses[59]);
    // The gravity term has no zero of its own: compare the decrease with the elastic part.
    assert!(last < first - 0.3 * first.abs(), "{first} {last}");
}

/// Positions `[3, frames·vertices]` as a track without rest bending.
fn track(sheet: &Sheet, positions: &Field) -> Track {
    let rows = values(&positions.clone().autodiff());
    let (frames, vertices) = (sheet.frames, sheet.vertices);
    let frame = |f: usize| -> Vec<f64> {
        (0..3)
            .flat_map(|axis| {
                let first = (axis * frames + f) * vertices;
                rows[first..first + vertices].to_vec()
            })
            .collect()
    };
    Track {
        positions: (0..frames).map(frame).collect(),
        strain: vec![vec![0.0; sheet.hinges]; frames],
        plastic: vec![vec![0.0; sheet.hinges]; frames],
    }
}

#[test]
fn neighbours_are_mutual_and_inner_hinges_have_four() {
    let scene = small();
    let graph = HingeGraph::new(&scene.garment.topology);
    for (hinge, row) in graph.neighbours.iter().enumerate() {
        for other in &row[..graph.counts[hinge]] {
            let back = &graph.neighbours[*other][..graph.counts[*other]];
            assert!(back.contains(&hinge) && *other != hinge);
        }
    }
    let four = graph.counts.iter().filter(|c| **c == 4).count();
    assert!(four > graph.counts.len() / 2 && graph.counts.iter().all(|c| (2..=4).contains(c)));
    let sums = graph.shares();
    assert!(
        sums.chunks(4)
            .all(|s| (s.iter().sum::<f64>() - 1.0).abs() < 1e-15)
    );
}

/// Increments of a crumpled sleeve that is moved by `shift`; the strain of one hinge is changed by `change`.
fn increments(steps: usize, shift: f64, change: Option<usize>) -> Vec<f64> {
    let scene = small();
    let compute = cpu();
    let mut dice = Dice::new(5);
    let hinges = scene.garment.topology.hinges.len();
    let mut field = |size: f64| dice.field(&compute, [1, hinges], (-size, size));
    let (before, now, earlier, strain) = (field(0.2), field(0.2), field(0.8), field(0.8));
    let mut strain = values(&strain.autodiff());
    if let Some(hinge) = change {
        strain[hinge] += 0.5;
    }
    let strain = compute.tensor(&strain, [1, hinges]).autodiff();
    let points = &scene.garment.mesh.positions;
    let rows: Vec<f64> = (0..3)
        .flat_map(|a| points.iter().map(move |p| p[a] + shift * (a as f64 + 1.0)))
        .collect();
    let positions = compute.tensor(&rows, [3, points.len()]);
    let frame = PlasticFrame::new(&scene.garment, &Materials::default(), 0.52, &compute).autodiff();
    let size = PlasticSize {
        steps,
        ..PlasticSize::small()
    };
    let network = PlasticNet::new(size, 7, &compute).unwrap();
    let (before, now, earlier) = (before.autodiff(), now.autodiff(), earlier.autodiff());
    let out = network.forward(
        &frame,
        [&before, &now],
        [&earlier, &strain],
        &positions.autodiff(),
    );
    values(&out)
}

#[test]
fn rest_bending_does_not_depend_on_where_the_garment_is() {
    let (here, there) = (increments(3, 0.0, None), increments(3, 50.0, None));
    let largest = here.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(largest > 1e-5);
    // 50 m of shift cost 1e-14 of position, over millimetres of midpoints.
    for (a, b) in here.iter().zip(&there) {
        assert!((a - b).abs() < 1e-9 * largest, "{a} {b}");
    }
}

#[test]
fn messages_reach_as_far_as_there_are_steps() {
    let graph = HingeGraph::new(&small().garment.topology);
    let source = 100;
    for steps in 1..=3 {
        let mut reached = vec![source];
        for _ in 0..steps {
            let next: Vec<usize> = reached.iter().flat_map(|h| graph.neighbours[*h]).collect();
            reached.extend(next);
            reached.sort_unstable();
            reached.dedup();
        }
        let (plain, changed) = (
            increments(steps, 0.0, None),
            increments(steps, 0.0, Some(source)),
        );
        let moved: Vec<usize> = (0..plain.len())
            .filter(|h| plain[*h] != changed[*h])
            .collect();
        assert!(moved.contains(&source) && moved.iter().all(|h| reached.contains(h)));
        assert!(
            2 * moved.len() > reached.len(),
            "{} of {}",
            moved.len(),
            reached.len()
        );
    }
}
