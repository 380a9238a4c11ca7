//! `rumple bench reference`

use std::time::Instant;

use serde_json::{Value, json};

use crate::{
    cli::{Common, print},
    error::{Error, Result},
    learn::{
        BodyMotion, BodyScene, GarmentLoss, GarmentMotion, JointBend, LossConfig, Plasticity,
        evaluate::{mean_size, top},
        metrics::{compare, most_creased},
        reference::{Accuracy, ReferenceRun, ReferenceSimulation},
    },
    numeric::Compute,
};

/// Yield strains \[deg\]; the last is never reached.
const YIELDS: [f64; 4] = [30.0, 60.0, 90.0, 1000.0];
/// Peaks of bends that hardly differ from 90° \[deg\].
const NEARLY: [f64; 2] = [90.0001, 88.0];
/// Before, during and after the bend.
const SHOWN: [usize; 3] = [8, 40, 94];

/// Simulates a bend of 90° for every yield strain, prints what stays and how far it can be repeated, and checks
/// that more stays where the garment yields earlier.
pub(super) fn run(common: &Common, scene: &BodyScene) -> Result<()> {
    let compute = common.compute()?;
    let config = LossConfig::default();
    let loss = GarmentLoss::new(config)?;
    let motion = BodyMotion::canonical(&scene.body);
    let last = motion.frames() - 1;
    let mut kept: Vec<f64> = Vec::new();
    let mut first: Option<ReferenceRun> = None;
    for yields in YIELDS {
        let start = Instant::now();
        let run = simulate(scene, &motion, &loss, yields, &compute)?;
        let track = &run.track;
        let all: f64 =
            track.plastic.iter().map(|p| mean_size(p)).sum::<f64>() / track.frames() as f64;
        let [before, during, after] = SHOWN.map(|frame| top(&track.strain[frame], 0.1));
        kept.push(mean_size(&track.plastic[last]));
        line(&json!({
            "workload": "reference",
            "data": "synthetic",
            "body": scene.body.name,
            "garment": scene.garment.name,
            "seed": common.seed(),
            "frames": last + 1,
            "yield_deg": yields,
            "seconds": start.elapsed().as_secs_f64(),
            "newton_steps": run.iterations.iter().sum::<usize>(),
            "unfinished_frames": run.unfinished,
            "mean_plastic_rad": all,
            "last_plastic_rad": kept[kept.len() - 1],
            "largest_tenth_of_strain_rad": { "before": before, "during": during, "after": after },
        }))?;
        if yields == YIELDS[3] {
            // An elastic garment as the prediction of the one that yields first: the zero baseline.
            let reference = first.as_ref().map_or(track, |run| &run.track);
            let creased = most_creased(&[reference]);
            let against = |track: &GarmentMotion| {
                let materials = config.materials;
                compare(
                    scene, &motion, track, reference, &creased, materials, &compute,
                )
            };
            let named = against(track)?.named();
            let metrics = named.map(|(name, unit, value)| json!([name, unit, value]));
            line(&json!({ "elastic_against_yield_deg": YIELDS[0], "metrics": metrics }))?;
            for degrees in NEARLY {
                let bend = JointBend {
                    peak: degrees.to_radians(),
                    ..JointBend::canonical()
                };
                let other = BodyMotion::bends("nearly", &scene.body, &[bend], last + 1);
                let other = simulate(scene, &other, &loss, YIELDS[0], &compute)?;
                let error = against(&other.track)?.plastic_error;
                line(&json!({ "bend_deg": degrees, "against_90_deg_PE_rad": error }))?;
            }
        }
        first.get_or_insert(run);
    }
    // Buckling is rough: docs/explanation/curriculum.md has the spread over seeds.
    match kept[0] > kept[1] && kept[1] > kept[2] && kept[3] == 0.0 {
        true => Ok(()),
        false => Err(Error::CheckFailed(format!(
            "rest bending out of order: {kept:?}"
        ))),
    }
}

/// Prints one line.
fn line(value: &Value) -> Result<()> {
    print(&format!("{value}\n"))
}

/// One simulation that yields at some angle \[deg\].
fn simulate(
    scene: &BodyScene,
    motion: &BodyMotion,
    loss: &GarmentLoss,
    yields: f64,
    compute: &Compute,
) -> Result<ReferenceRun> {
    let simulation = ReferenceSimulation {
        scene,
        motion,
        loss,
        plasticity: &Plasticity::degrees(yields),
        accuracy: Accuracy::default(),
        compute,
    };
    simulation.run(&mut |_| Ok(()))
}
