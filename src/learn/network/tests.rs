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
        let pose = Pose {
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
    let codes = elastic.encode(&Pose {
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
