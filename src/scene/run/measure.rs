//! What is read off the cloth after a step.

use super::Simulation;
use crate::{
    error::Result,
    mesh::{hinge_angles, vector::dot},
    reading::Reading,
    scene::PreparedScene,
    solve::SolveStatistics,
    step::{Cloth, Drive, State},
};

/// Energies of a cloth \[J\].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Energies {
    /// Of motion.
    pub kinetic: f64,
    /// Of height, 0 at the start of the run.
    pub gravity: f64,
    /// What hinges would give back if their history stayed as it is.
    pub bending: f64,
    /// What triangles would give back, likewise.
    pub membrane: f64,
}

/// The measures of one step.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SceneRow {
    /// Steps done.
    pub step: usize,
    /// \[s\]
    pub time: f64,
    /// Age of the material \[s\].
    pub material_time: f64,
    /// Largest |θ| \[rad\].
    pub max_angle: f64,
    /// Root mean square of θ \[rad\].
    pub rms_angle: f64,
    /// Hinges whose friction anchor moved in the step.
    pub slipping: usize,
    /// Hinges whose plastic strain changed in the step.
    pub yielding: usize,
    /// Largest stretch of a yarn direction of a triangle, signed.
    pub max_stretch: f64,
    pub energies: Energies,
    /// Readings of the scene, in its order.
    pub readings: Vec<f64>,
    /// Of the linear solve; none for the start.
    pub statistics: Option<SolveStatistics>,
}

impl SceneRow {
    /// Measures a run after a step from the state `before`.
    pub(crate) fn of(
        simulation: &Simulation,
        before: &State,
        statistics: Option<SolveStatistics>,
    ) -> Result<SceneRow> {
        let Simulation {
            prepared, state, ..
        } = simulation;
        let cloth = &prepared.cloth;
        let positions = cloth.vertex_values(&state.positions)?;
        let (max_angle, rms_angle) = angle_sizes(cloth, &positions);
        // The drive of the step that led here. At the start handles are where the cloth is: those of the first
        // step have moved on already, and a stiff one would report a pull that never acts.
        let mut drive = prepared.drive(simulation.step.saturating_sub(1));
        if simulation.step == 0 {
            drive.anchors = state.positions.clone();
        }
        let stretched = prepared.cloth.stretches(&positions);
        Ok(SceneRow {
            step: simulation.step,
            time: simulation.time(),
            material_time: simulation.material_time,
            max_angle,
            rms_angle,
            slipping: changed(prepared, before, state, "anchor")?,
            yielding: changed(prepared, before, state, "plastic")?,
            max_stretch: stretched
                .into_iter()
                .fold(0.0, |m, s| if s.abs() > f64::abs(m) { s } else { m }),
            energies: energies(prepared, state, &drive, &positions)?,
            readings: read_all(prepared, state, &drive)?,
            statistics,
        })
    }
}

/// The readings of the scene after the step with this drive, in their order.
pub(crate) fn read_all(prepared: &PreparedScene, state: &State, drive: &Drive) -> Result<Vec<f64>> {
    let all = prepared.readings.iter();
    all.map(|r| read(prepared, r, state, drive)).collect()
}

/// Largest and root mean square |θ| of a cloth at some positions \[rad\].
pub(crate) fn angle_sizes(cloth: &Cloth, positions: &[[f64; 3]]) -> (f64, f64) {
    let angles = hinge_angles(positions, &cloth.topology.hinges);
    let squares: f64 = angles.iter().map(|a| a * a).sum();
    let largest = angles.iter().fold(0.0, |m: f64, a| m.max(a.abs()));
    (largest, (squares / angles.len() as f64).sqrt())
}

/// The largest |θ| of the hinges at each vertex \[rad\].
pub(crate) fn vertex_angles(prepared: &PreparedScene, positions: &[[f64; 3]]) -> Vec<f64> {
    let hinges = &prepared.cloth.topology.hinges;
    let mut largest = vec![0.0_f64; positions.len()];
    for (hinge, angle) in hinges.iter().zip(hinge_angles(positions, hinges)) {
        for vertex in &hinge.vertices[..2] {
            largest[*vertex] = largest[*vertex].max(angle.abs());
        }
    }
    largest
}

/// Changes below this share of a value are rounding: a hinge that has slipped sits on its threshold.
const ROUNDING: f64 = 1e-9;

/// How many hinges have another value of a history variable than before; 0 for a law that has none.
fn changed(prepared: &PreparedScene, before: &State, after: &State, name: &str) -> Result<usize> {
    let law = &prepared.cloth.setup.law;
    let of = |state: &State| law.variable(&state.bending, name);
    let (Some(old), Some(new)) = (of(before), of(after)) else {
        return Ok(0);
    };
    let values = |field| prepared.cloth.compute.values::<2>(field);
    let (old, new) = (values(old)?, values(new)?);
    let moved = |(a, b): &(&f64, &f64)| (*a - *b).abs() > ROUNDING * a.abs().max(b.abs());
    Ok(old.iter().zip(&new).filter(moved).count())
}

fn energies(
    prepared: &PreparedScene,
    state: &State,
    drive: &Drive,
    positions: &[[f64; 3]],
) -> Result<Energies> {
    let cloth = &prepared.cloth;
    let starts = positions.iter().zip(&cloth.mesh.positions);
    let places = prepared.masses.iter().zip(starts);
    let gravity = prepared.scene.gravity;
    let rise =
        |p: &[f64; 3], start: &[f64; 3]| dot(gravity, std::array::from_fn(|i| p[i] - start[i]));
    Ok(Energies {
        kinetic: read(prepared, &Reading::KineticEnergy, state, drive)?,
        gravity: -places
            .map(|(m, (p, start))| m * rise(p, start))
            .sum::<f64>(),
        bending: read(prepared, &Reading::BendingEnergy, state, drive)?,
        membrane: membrane(prepared, state, drive)?,
    })
}

fn read(prepared: &PreparedScene, reading: &Reading, state: &State, drive: &Drive) -> Result<f64> {
    reading.value(&prepared.cloth, state, &prepared.parameters, drive)
}

/// Stored by the triangles: ½·(stress of the elastic part)·(elastic strain) + the same for friction.
fn membrane(prepared: &PreparedScene, state: &State, drive: &Drive) -> Result<f64> {
    if state.tensile.is_empty() {
        return read(prepared, &Reading::StretchEnergy, state, drive);
    }
    let cloth = &prepared.cloth;
    let strain = cloth.incidence.columns(&state.positions).strain();
    let stiffness = &prepared.parameters.membrane;
    let elastic = strain.clone() - state.tensile[2].clone();
    let sticking = strain - state.tensile[0].clone();
    let stored = stiffness.stress(&elastic) * elastic;
    let rows = &prepared.parameters.tensile[0];
    // The shear counts twice, as in the stress.
    let twice = cloth.compute.tensor(&[1.0, 1.0, 2.0], [3, 1]);
    let held = rows.clone() * twice * sticking.clone() * sticking;
    let energy = ((stored + held) * cloth.area.clone()).sum() * 0.5;
    Ok(cloth.compute.values(energy)?[0])
}
