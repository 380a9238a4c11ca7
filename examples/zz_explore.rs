use nalgebra::DVector;
use rumple::{
    calibrate::{case::*, dataset::*, defaults::complete, problem::*, simulate::*},
    experiment::CreasePoint,
    fit::{levenberg::*, multistart::*, uncertainty::*, *},
    material::*,
    numeric::*,
};
fn main() {
    let a: Vec<f64> = std::env::args()
        .nth(1)
        .unwrap_or("1.157e-5,2e-5,60,900,100,500,1.157e-5,0.7,1000".into())
        .split(',')
        .map(|s| s.parse().unwrap())
        .collect();
    let gaps: Vec<f64> = std::env::args()
        .nth(2)
        .unwrap_or("0.5,1,2,4".into())
        .split(',')
        .map(|s| s.parse().unwrap())
        .collect();
    let starts: usize = std::env::args()
        .nth(3)
        .unwrap_or("0".into())
        .parse()
        .unwrap();
    let kicks: usize = std::env::args()
        .nth(4)
        .unwrap_or("0".into())
        .parse()
        .unwrap();
    let step: f64 = std::env::args()
        .nth(5)
        .unwrap_or("0.5".into())
        .parse()
        .unwrap();
    let compute = Compute::cpu(Precision::F64);
    let times: Vec<f64> = (0..=10).map(|k| 10f64.powf(0.5 * k as f64)).collect();
    let mut rows = vec![];
    for g in &gaps {
        for t in &times {
            rows.push(Row {
                place: "x".into(),
                group: 0,
                condition: Condition::Recovery(CreasePoint {
                    gap: g * 1e-3,
                    press: *t,
                    read: std::env::var("READ")
                        .ok()
                        .and_then(|r| r.parse().ok())
                        .unwrap_or(300.0),
                }),
                value: 0.0,
                sd: 2.0,
                held_out: false,
            });
        }
    }
    let mut data = Dataset {
        rows,
        groups: vec!["c".into()],
        synthetic: true,
        assumed_sd: false,
        files: vec![],
        notes: vec![],
    };
    let case = Case {
        name: "x".into(),
        notes: vec![],
        data: vec![],
        law: LawName::TimeDependent,
        relaxation_branches: 0,
        parameters: vec![(
            "bending_stiffness".into(),
            Role::Fixed {
                value: a[0],
                why: "".into(),
            },
        )],
        tests: TestSettings::default(),
        loss: Loss::Squares,
        starts: 32,
        seed: 1,
        hold_out: Default::default(),
    };
    let case = complete(&case, &data).unwrap();
    for (n, r) in &case.parameters {
        println!("{n} {r:?}");
    }
    let law = case.build_law();
    let cond = conditions(data.rows.iter());
    let run = |hinges: usize, width: Option<f64>| {
        Tests::new(
            &compute,
            law.clone(),
            Resolution {
                hinges,
                width,
                bending_rate: 50.0,
            },
            &cond,
        )
        .unwrap()
        .run(&compute, &[vec![a.clone()]], false)
        .unwrap()
        .remove(0)
        .values
    };
    let hard = run(4096, None);
    for (h, w) in [
        (64, 0.1),
        (128, 0.03),
        (256, 0.03),
        (256, 0.02),
        (256, 0.01),
        (512, 0.01),
        (2048, 0.003),
        (8192, 0.001),
    ] {
        let s = run(h, Some(w));
        let e = s
            .iter()
            .zip(&hard)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        println!(
            "hinges {h} width {w}: max bias {e:.3} {:?}",
            s.iter()
                .zip(&hard)
                .map(|(a, b)| format!("{:.2}", a - b))
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
    for (i, g) in gaps.iter().enumerate() {
        println!(
            "gap {g}: {}",
            hard[i * 11..(i + 1) * 11]
                .iter()
                .map(|v| format!("{v:6.1}"))
                .collect::<String>()
        );
    }
    let smooth = run(256, Some(0.02));
    for (r, v) in data.rows.iter_mut().zip(&smooth) {
        r.value = *v;
    }
    let cal = Calibration::new(compute.clone(), &case, &data).unwrap();
    // truth point
    let n = cal.unknowns.len();
    let mut x = DVector::zeros(n);
    for (k, u) in cal.unknowns.iter().enumerate() {
        let lower = if let Transform::Above(_) = u.transform {
            a[2]
        } else {
            0.0
        };
        x[k] = u.transform.to_free(a[u.parameter], lower);
    }
    let at = cal.linearized(2, &[x.clone()]).unwrap().remove(0);
    println!("chi2 at truth {}", at.residuals.norm_squared());
    let u = Uncertainty::new(&at, cal.bounds(), 1.0);
    println!("singular {:?}", u.singular_values);
    for k in 0..n {
        let (v, g) = cal.quantity(k, &x);
        println!(
            "{:32} {:10.4} se {:.3}",
            cal.unknowns[k].name,
            v.exp(),
            u.std_error(&g)
        );
    }
    // gradient check
    let h = 1e-5;
    let mut worst = 0.0f64;
    for k in 0..n {
        let mut p = x.clone();
        p[k] += h;
        let mut m = x.clone();
        m[k] -= h;
        let r = cal.linearized(2, &[p, m]).unwrap();
        let d = (&r[0].residuals - &r[1].residuals) / (2.0 * h);
        let e = (&d - at.jacobian.column(k)).amax() / at.jacobian.amax();
        worst = worst.max(e);
    }
    println!("gradient error {worst:e}");
    if starts > 0 {
        let plan = Plan {
            levenberg: Levenberg {
                longest_step: step,
                ..Default::default()
            },
            rounds: std::env::var("ROUNDS")
                .ok()
                .and_then(|r| r.parse().ok())
                .unwrap_or(80),
            kicks,
            kick: 0.5,
            seed: 1,
        };
        let pts = sobol(starts, n, 1)
            .into_iter()
            .map(|p| {
                p.iter()
                    .zip(cal.bounds())
                    .map(|(s, (l, h))| l + s * (h - l))
                    .collect()
            })
            .collect();
        let t = std::time::Instant::now();
        let mut last = (usize::MAX, 0.0);
        let end = search(&cal, &plan, Progress::new(&plan, pts), &mut |p| {
            if p.stage != last.0 {
                println!(
                    "stage {} at {:.2}s rounds {}",
                    p.stage,
                    t.elapsed().as_secs_f64(),
                    p.trace.len()
                );
                last.0 = p.stage;
                if p.walkers.iter().any(|w| w.cost.is_some()) {
                    let mut c: Vec<f64> = p.walkers.iter().filter_map(|w| w.cost).collect();
                    c.sort_by(f64::total_cmp);
                    println!(
                        "   {:?}",
                        c.iter().map(|v| format!("{v:.3}")).collect::<Vec<_>>()
                    );
                }
            }
            Ok(Wish::GoOn)
        })
        .unwrap();
        println!(
            "search {:.2}s {} batches",
            t.elapsed().as_secs_f64(),
            end.trace.len()
        );
        let mut list: Vec<_> = end.walkers.iter().collect();
        list.sort_by(|a, b| a.cost.unwrap_or(9e99).total_cmp(&b.cost.unwrap_or(9e99)));
        for w in list {
            println!(
                "{:10.2e} {:?} {} | {}",
                w.cost.unwrap_or(f64::NAN),
                w.outcome.unwrap(),
                w.rounds,
                cal.group_values(0, &DVector::from_column_slice(&w.point))
                    .iter()
                    .map(|v| format!("{v:9.3e} "))
                    .collect::<String>()
            );
        }
    }
}
