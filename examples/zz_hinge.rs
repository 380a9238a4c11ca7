use rumple::{experiment::*, material::*, numeric::*};
fn main() {
    let a = [1.157e-5, 2e-5, 60., 900., 100., 500., 1.157e-5, 0.7, 1000.];
    let c = Compute::cpu(Precision::F64);
    let law = LawName::TimeDependent.law(Timer::Authors, 0);
    let n = 128;
    let s = CREST_CURVATURE / 0.5e-3;
    let b: Vec<f64> = a
        .iter()
        .enumerate()
        .map(|(i, v)| if [2, 3, 5].contains(&i) { v / s } else { *v })
        .collect();
    let pts = [CreasePoint {
        gap: CREST_CURVATURE,
        press: 10f64.powf(2.5),
        read: 300.0,
    }];
    let t = CreaseTest {
        hinges: n,
        ..Default::default()
    };
    let run = |g: Gate| {
        let r = t.rollout(law.clone(), g, &pts).unwrap();
        let p = r.shared_parameters(&c, &b);
        c.values(r.forward(&c, p)).unwrap()
    };
    let h = run(Gate::Hard);
    let w = run(Gate::Smoothstep { width: 0.003 });
    let v = run(Gate::Smoothstep { width: 0.0003 });
    let k = fold_curvatures(CREST_CURVATURE, n);
    for i in 0..n / 2 {
        let eb = (k[i] - b[2]).max(0.0);
        println!(
            "{i} k {:.4} hard {:.4} smooth {:.4} {:.4} anchor {:.4}",
            k[i],
            h[i] / k[i],
            w[i] / k[i],
            v[i] / k[i],
            eb
        );
    }
}
