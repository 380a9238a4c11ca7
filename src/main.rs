use rumple::{experiment::HingeBench, numeric::{Compute, Precision}};
use std::time::Instant;
fn main() {
    for p in [Precision::F64, Precision::F32] {
        let c = Compute::cpu(p);
        for n in [100usize, 10_000, 1_000_000] {
            let b = HingeBench::new(&c, n, 300).unwrap();
            let reps = if n > 100_000 { 2 } else { 20 };
            let mut tf = f64::MAX; let mut tb = f64::MAX; let mut l=0.; let mut out=(0.,[0.;8]);
            for _ in 0..reps { let t = Instant::now(); l = b.loss(&c).unwrap(); tf = tf.min(t.elapsed().as_secs_f64());
             let t = Instant::now(); out = b.loss_and_gradient(&c).unwrap(); tb = tb.min(t.elapsed().as_secs_f64()); }
            println!("{} n={n} fwd {:.3} ms  fb {:.3} ms  ns/hs {:.2} {:.2} loss {l} {:?}", p.name(), tf*1e3, tb*1e3, tf*1e9/(n as f64*300.), tb*1e9/(n as f64*300.), out);
            if n <= 100 { println!("plain {:?}", b.plain_loss_and_gradient(&c).unwrap()); }
        }
    }
}
