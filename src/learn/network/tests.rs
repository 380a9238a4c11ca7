use burn::{
    module::Module,
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Tensor},
};

use super::*;
use crate::{
    learn::{DYNAMIC, STATIC},
    mesh::{Mesh, Topology, generate},
    numeric::{Compute, Precision, Random},
};

fn compute() -> Compute {
    Compute::cpu(Precision::F32)
}

fn device() -> Device {
    compute().device().clone().autodiff()
}

fn patch() -> (Mesh, Topology) {
    let mesh = generate::rectangle(0.06, 0.05, 6, 5, generate::Pattern::Alternating).unwrap();
    let topology = mesh.check().unwrap();
    (mesh, topology)
}

#[test]
fn neighbours_share_a_triangle_and_are_mutual() {
    let (mesh, topology) = patch();
    let graph = HingeGraph::new(&mesh, &topology, &compute());
    let near = |h: usize| graph.places()[4 * h..4 * h + 4].iter().flatten();
    for hinge in 0..graph.hinges() {
        for &other in near(hinge) {
            assert!(near(other).any(|&back| back == hinge));
            let shared = |t: &usize| topology.hinges[other].triangles.contains(t);
            assert!(topology.hinges[hinge].triangles.iter().any(shared));
        }
    }
    // The mean of what the neighbours hold, and not of empty places.
    let own: Vec<f64> = (0..graph.hinges()).map(|h| (h * h) as f64).collect();
    let (_, other) = graph.ends(&compute().tensor(&own, [own.len(), 1]));
    let means = compute().values(graph.mean(other)).unwrap();
    for (hinge, mean) in means.iter().enumerate() {
        let all: Vec<f64> = near(hinge).map(|&n| own[n]).collect();
        let expected = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - expected).abs() <= 1e-5 * expected.max(1.0));
    }
}

fn inputs(hinges: usize, random: &mut Random) -> (Tensor<2>, Tensor<2>) {
    let mut draw = |count: usize, width: usize| {
        let values: Vec<f64> = (0..count * width).map(|_| random.normal()).collect();
        compute().tensor(&values, [count, width]).autodiff()
    };
    (draw(hinges, NODE_INPUTS), draw(4 * hinges, EDGE_INPUTS))
}

#[test]
fn parameters_depend_on_the_seed_alone_and_survive_a_file() {
    let (mesh, topology) = patch();
    let graph = HingeGraph::new(&mesh, &topology, &compute());
    let (nodes, edges) = inputs(graph.hinges(), &mut Random(3));
    let run = |net: &PlasticNet| {
        let out = net.step(&graph, nodes.clone(), &edges, Memory::default()).0;
        compute().values(out.inner()).unwrap()
    };
    let new = |seed| {
        let net = PlasticNet::new(Size::Small, PlasticKind::default(), &device());
        seeded(net, seed)
    };
    let first = run(&new(1));
    device().seed(99);
    assert_eq!(first, run(&new(1)));
    assert_ne!(first, run(&new(2)));
    let path = std::env::temp_dir().join(format!("rumple-net-{}.bpk", std::process::id()));
    new(1).save_file(&path).unwrap();
    let loaded = new(2).try_load_file(&path).unwrap();
    assert_eq!(first, run(&loaded));
    std::fs::remove_file(&path).unwrap();
}

/// All kinds learn a return mapping from single steps: the error falls to a small share of that of zero.
#[test]
fn every_kind_learns_to_yield() {
    let (mesh, topology) = patch();
    let graph = HingeGraph::new(&mesh, &topology, &compute());
    let hinges = graph.hinges();
    let sample = |random: &mut Random| {
        let yields = 0.5;
        let mut rows = Vec::new();
        let mut target = Vec::new();
        for _ in 0..hinges {
            let (before, angle) = (0.3 * random.normal(), 0.8 * random.normal());
            let elastic: f64 = angle - before;
            rows.extend([before, before, 0.9 * angle, angle]);
            target.push((elastic.abs() - yields).max(0.0) * elastic.signum());
        }
        let nodes = compute().tensor(&rows, [hinges, NODE_INPUTS]).autodiff();
        (nodes, compute().tensor(&target, [hinges, 1]).autodiff())
    };
    let edges = inputs(hinges, &mut Random(5)).1 * 0.1;
    for kind in [PlasticKind::Graph(1), PlasticKind::Rnn, PlasticKind::Lstm] {
        let mut net = seeded(PlasticNet::new(Size::Small, kind, &device()), 4);
        let mut adam = AdamConfig::new().init();
        let mut random = Random(8);
        for _ in 0..300 {
            let (nodes, target) = sample(&mut random);
            let (out, _) = net.step(&graph, nodes, &edges, Memory::default());
            let loss = (out - target).powi_scalar(2).mean();
            let gradients = GradientsParams::from_grads(loss.backward(), &net);
            net = adam.step(3e-3, net, gradients);
        }
        let (nodes, target) = sample(&mut Random(77));
        let (out, _) = net.step(&graph, nodes, &edges, Memory::default());
        let size =
            |t: Tensor<2>| compute().values(t.inner().powi_scalar(2).mean().unsqueeze::<1>());
        let share = size(out - target.clone()).unwrap()[0] / size(target).unwrap()[0];
        assert!(share < 0.1, "{kind:?}: {share}");
    }
}

#[test]
fn an_elastic_net_gives_an_offset_to_every_vertex_of_every_frame() {
    let (joints, hinges, vertices) = (2, 7, 5);
    let net = ElasticNet::new(Size::Small, (joints, hinges, vertices), &device());
    let net = seeded(net, 1);
    let (motions, frames) = (2, 6);
    let mut random = Random(1);
    let mut draw = |count: usize| -> Vec<f64> { (0..count).map(|_| random.normal()).collect() };
    let still = draw(motions * frames * joints * STATIC);
    let moving = draw(motions * frames * joints * DYNAMIC);
    let bending = draw(motions * frames * hinges);
    let c = compute();
    let run = |moving: &[f64]| {
        let pose = PoseBatch {
            still: c
                .tensor(&still, [motions, frames, joints * STATIC])
                .autodiff(),
            moving: c
                .tensor(moving, [motions * frames, joints, DYNAMIC])
                .autodiff(),
        };
        let bending = c.tensor(&bending, [motions * frames, hinges]).autodiff();
        let out = net.decode(net.encode(&pose).flatten::<2>(0, 1), bending);
        assert_eq!(out.dims(), [motions * frames, 3 * vertices]);
        c.values(out.inner()).unwrap()
    };
    let before = run(&moving);
    // A change in the second motion's last frame touches nothing that came before it.
    let mut late = moving.clone();
    let count = late.len();
    late[count - 1] += 1.0;
    let after = run(&late);
    let last = before.len() - 3 * vertices;
    assert_eq!(before[..last], after[..last]);
    assert_ne!(before[last..], after[last..]);
}

// Appendix B: four layers to 512 in the static encoder, four of 512 in the decoder, P-Net of width 128.
#[test]
fn networks_of_the_papers_size_can_be_made_and_asked() {
    let (mesh, topology) = patch();
    let graph = HingeGraph::new(&mesh, &topology, &compute());
    let (hinges, vertices) = (graph.hinges(), mesh.positions.len());
    let elastic = ElasticNet::new(Size::Paper, (2, hinges, vertices), &device());
    let zeros = |shape: [usize; 3]| Tensor::<3>::zeros(shape, &device());
    let codes = elastic.encode(&PoseBatch {
        still: zeros([1, 5, 2 * STATIC]),
        moving: zeros([5, 2, DYNAMIC]),
    });
    assert_eq!(codes.dims(), [1, 5, 512]);
    let bent = compute().zeros([5, hinges]).autodiff();
    let offsets = elastic.decode(codes.reshape([5, 512]), bent);
    assert_eq!(offsets.dims(), [5, 3 * vertices]);
    let plastic = PlasticNet::new(Size::Paper, PlasticKind::default(), &device());
    let (nodes, edges) = inputs(hinges, &mut Random(1));
    let (increment, _) = plastic.step(&graph, nodes, &edges, Memory::default());
    assert_eq!(increment.dims(), [hinges, 1]);
    assert!(
        plastic.num_params()
            > 20 * PlasticNet::new(Size::Small, PlasticKind::default(), &device()).num_params()
    );
}

/// Offsets of size one as E-Net counts them \[m\].
const OFFSET: f64 = 0.01;

/// Rows of normal numbers of some size.
fn normal(random: &mut Random, shape: [usize; 2], size: f64) -> Tensor<2> {
    let count = shape[0] * shape[1];
    let values: Vec<f64> = (0..count).map(|_| size * random.normal()).collect();
    compute().tensor(&values, shape)
}

/// A network for a garment of `vertices`, and how many pose-space shapes it has.
fn elastic(vertices: usize) -> (ElasticNet, usize) {
    let net = ElasticNet::new(Size::Small, (2, 7, vertices), &device());
    (seeded(net, 1), Size::Small.decoder()[1])
}

// Half the squared error is a quadratic form of the shares, so that differences are exact for steps of any length; what is left is
// rounding in sums over 512 shapes, far below 1e-4 of it in single precision.
#[test]
fn the_pull_on_shares_is_the_slope_of_half_the_squared_error() {
    let (frames, vertices) = (3, 5);
    let (net, width) = elastic(vertices);
    let net = net.valid();
    let mut random = Random(2);
    let shares = normal(&mut random, [frames, width], 1.0);
    let missing = normal(&mut random, [frames, 3 * vertices], OFFSET);
    // The first vertex is pinned, and what it misses pulls at nothing.
    let free = compute().tensor(&[0.0, 1.0, 1.0, 1.0, 1.0], [1, vertices]);
    let (squares, pull) = net.pull(missing.clone(), &free);
    let error = |step: &Tensor<2>, share: f64| -> f64 {
        let there = net.offsets(shares.clone() + step.clone() * share);
        let moved = there - net.offsets(shares.clone());
        let left = (missing.clone() - moved) * free.clone().repeat_dim(1, 3);
        let left = compute().values(left * (1.0 / OFFSET)).unwrap();
        left.iter().map(|x| 0.5 * x * x).sum()
    };
    let sum = |field: Tensor<2>| -> f64 { compute().values(field).unwrap().iter().sum() };
    let along = pull.clone() * 0.5;
    let anywhere = normal(&mut random, [frames, width], 0.3);
    for (step, downhill) in [(along, true), (anywhere, false)] {
        let [ahead, here, behind] = [1.0, 0.0, -1.0].map(|share| error(&step, share));
        let slope = -sum(pull.clone() * step.clone());
        let bend = sum(step.clone().matmul(squares.clone()) * step);
        assert!(here > 1.0 && bend > 0.01 * here, "{here} {bend}");
        assert!(slope < -0.1 * here || !downhill, "{slope} of {here}");
        let gaps = [
            0.5 * (ahead - behind) - slope,
            ahead + behind - 2.0 * here - bend,
        ];
        assert!(
            gaps.iter().all(|gap| gap.abs() < 1e-4 * here),
            "{gaps:?} of {here}"
        );
    }
}

// Random shares of a few frames are far apart: of what is missing the ridge, 2e-3 of the shares' mean square, keeps back some 1e-4.
#[test]
fn shapes_are_completed_to_what_is_missing_as_far_as_frames_count() {
    let (frames, vertices) = (12, 5);
    let (net, width) = elastic(vertices);
    let mut random = Random(6);
    let rows = |field: Tensor<2>| -> Vec<Vec<f64>> {
        let columns = field.dims()[1];
        let values = compute().values(field).unwrap();
        values.chunks(columns).map(<[f64]>::to_vec).collect()
    };
    let all = normal(&mut random, [frames, width], 1.0);
    let missing = normal(&mut random, [frames, 3 * vertices], OFFSET);
    let added = |shares: &Tensor<2>, missing: &Tensor<2>, weights: &[f64]| {
        let weights = compute().tensor(weights, [frames, 1]);
        let done = net
            .clone()
            .complete(shares.clone(), missing.clone(), weights, &compute());
        let offsets = |net: &ElasticNet| net.valid().offsets(shares.clone());
        rows(offsets(&done.unwrap()) - offsets(&net))
    };
    let near = |a: &[f64], b: &[f64], share: f64| {
        let gaps = a.iter().zip(b).map(|(a, b)| (a - share * b).abs());
        gaps.fold(0.0, f64::max) < 1e-3 * OFFSET
    };
    let wanted = rows(missing.clone());
    let largest = wanted
        .iter()
        .flatten()
        .fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(largest > OFFSET, "something is missing");
    let whole = added(&all, &missing, &[1.0; 12]);
    for (frame, (got, wanted)) in whole.iter().zip(&wanted).enumerate() {
        assert!(near(got, wanted, 1.0), "{frame}: {got:?} {wanted:?}");
    }

    // Two frames that look the same, of which one misses nothing and counts a fifth: squares of weights are 1 and 0.04.
    let twice = Tensor::cat(vec![all.clone().narrow(0, 0, 1); 2], 0);
    let shares = Tensor::cat(vec![twice, all.narrow(0, 2, frames - 2)], 0);
    let first = missing.clone().narrow(0, 0, 1);
    let both = Tensor::cat(vec![first.clone(), first.zeros_like()], 0);
    let missing = Tensor::cat(vec![both, missing.narrow(0, 2, frames - 2)], 0);
    let mut weights = [1.0; 12];
    weights[1] = 0.2;
    let parted = added(&shares, &missing, &weights);
    for frame in [0, 1] {
        assert!(near(&parted[frame], &wanted[0], 1.0 / 1.04), "{parted:?}");
    }
    assert!(near(&parted[5], &wanted[5], 1.0), "{parted:?}");
}
