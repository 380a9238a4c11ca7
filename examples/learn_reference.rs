use rumple::{learn::reference::*, learn::*, numeric::*};
fn mean(v: &[f64]) -> f64 {
    v.iter().map(|x| x.abs()).sum::<f64>() / v.len() as f64
}
fn top(v: &[f64]) -> f64 {
    let mut a: Vec<f64> = v.iter().map(|x| x.abs()).collect();
    a.sort_by(|a, b| b.total_cmp(a));
    let n = a.len() / 10;
    a[..n].iter().sum::<f64>() / n as f64
}
fn env(name: &str, d: f64) -> f64 {
    std::env::var(name)
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(d)
}
fn main() -> rumple::error::Result<()> {
    let seed = env("SEED", 1.0) as u64;
    let mut scene = if env("TORSO", 0.0) > 0.0 {
        Scene::torso(seed)?
    } else {
        Scene::arm(seed)?
    };
    if env("TORSO", 0.0) == 0.0 {
        let imp = Imperfection {
            height: env("HEIGHT", 0.004),
            wavelength: 0.06,
            seed,
        };
        scene.garment = Garment::sleeve(&scene.body, imp)?;
    }
    for s in &mut scene.garment.springs {
        s.stiffness = env("CUFF", s.stiffness);
    }
    let compute = Compute::cpu(Precision::F64);
    let mut config = LossConfig::default();
    config.materials.gravity = [env("GX", 0.0), env("GY", 0.0), env("GZ", -9.81)];
    let loss = Loss::new(config)?;
    let motion = Motion::canonical(&scene.body);
    let accuracy = Accuracy {
        step: env("STEP", 1e-5),
        iterations: env("ITER", 100.0) as usize,
    };
    let degs: Vec<f64> = std::env::var("DEG")
        .unwrap_or("30,60,90,1000".into())
        .split(',')
        .map(|s| s.parse().unwrap())
        .collect();
    for deg in degs {
        let start = std::time::Instant::now();
        let out = simulate(
            &scene,
            &motion,
            &loss,
            &Plasticity::degrees(deg),
            accuracy,
            &compute,
            &mut |f| {
                if env("V", 0.0) > 0.0 {
                    eprintln!("{f} {:.2}", start.elapsed().as_secs_f64())
                }
                Ok(())
            },
        )?;
        let t = &out.track;
        println!(
            "yield {deg}: {:.1}s iterations {} unfinished {:?}; final mean |ep| {:.4}; mean over all {:.4}; top eps: before {:.4} peak {:.4} after {:.4}",
            start.elapsed().as_secs_f64(),
            out.iterations.iter().sum::<usize>(),
            out.unfinished,
            mean(&t.plastic[94]),
            t.plastic.iter().map(|p| mean(p)).sum::<f64>() / 95.0,
            top(&t.strain[7]),
            top(&t.strain[40]),
            top(&t.strain[94])
        );
        println!("   iterations {:?}", out.iterations);
        if let Ok(f) = std::env::var("OBJ") {
            for frame in [7, 40, 94] {
                let mut m = scene.garment.mesh.clone();
                let n = m.positions.len();
                for v in 0..n {
                    m.positions[v] = std::array::from_fn(|a| t.positions[frame][a * n + v]);
                }
                rumple::mesh::write_obj(
                    std::path::Path::new(&format!("{f}_{deg}_{frame}.obj")),
                    &m,
                )?;
            }
        }
    }
    Ok(())
}
