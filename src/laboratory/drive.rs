//! A law over a strain history, as it is: one update a row, no specimen and no release.

use std::{ops::ControlFlow, path::Path};

use crate::{
    error::{Error, Result, bad_input, readable},
    files::Table,
    material::ReadyMaterial,
    numeric::{Compute, Field},
    rollout::{HingeReading, Rollout, Schedule, Step, sweep},
    study::{Watcher, tell},
};

/// A strain that stands for a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrainStep {
    /// How long \[s\].
    pub seconds: f64,
    /// In the measure of the material: curvature \[1/m\] or angle \[rad\].
    pub strain: f64,
}

/// What a law says after one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveRow {
    /// Since the start \[s\].
    pub time: f64,
    /// As given, rounded to the precision of the device.
    pub strain: f64,
    /// Moment per width \[N·m/m\] for curvature.
    pub stress: f64,
    /// The variables of [`DriveRow::HISTORY`]; none for those that the law does not have. With a population of yarns they
    /// are means over the yarns.
    pub history: [Option<f64>; 6],
}

impl DriveRow {
    /// Names of the history variables of all laws.
    pub const HISTORY: [&'static str; 6] = [
        "anchor",
        "stick_time",
        "plastic",
        "accumulated_plastic",
        "flow_time",
        "yield_strain",
    ];
}

impl StrainStep {
    /// Reads the columns `dt` \[s\] and `strain` of a table; other columns are left alone.
    pub fn read(path: &Path) -> Result<Vec<StrainStep>> {
        let table = Table::read(path)?;
        let (times, strains) = (table.numbers("dt")?, table.numbers("strain")?);
        if let Some((line, dt)) = times.iter().find(|(_, dt)| *dt < 0.0) {
            return bad_input(format!(
                "{}: dt = {dt} is negative; give 0 or a positive number of seconds",
                table.at(*line)
            ));
        }
        let step = |((_, seconds), (_, strain))| StrainStep { seconds, strain };
        Ok(times.into_iter().zip(strains).map(step).collect())
    }
}

impl ReadyMaterial {
    /// Runs the law over a strain history, and says what it finds after each step.
    ///
    /// A slip resets the dwell and plastic flow lags one step. So a hold is given as several steps, the last of 0 s, and not as a
    /// long one.
    ///
    /// # Errors
    /// [`Error::BadInput`] where a number is too extreme for the precision; [`Error::Interrupted`] where the watcher stops it.
    pub fn drive(
        &self,
        steps: &[StrainStep],
        compute: &Compute,
        watch: &mut Watcher,
    ) -> Result<Vec<DriveRow>> {
        let law = &self.law;
        let prescribed = |step: &StrainStep| Step::prescribe(step.strain, step.seconds);
        let rollout = Rollout {
            law: law.clone(),
            gate: self.gate,
            schedule: Schedule {
                steps: steps.iter().map(prescribed).collect(),
                readings: Vec::new(),
                reading: HingeReading::Stress,
            },
            points: 1,
            hinges: 1,
            amplitude: vec![1.0],
            duration: vec![0.0],
        };
        rollout.check()?;
        let mut rows = Vec::with_capacity(steps.len());
        let mut time = 0.0;
        let mut ended = Ok(());
        let parameters = rollout.shared_parameters(compute, &self.values);
        sweep::trace(&rollout, compute, parameters, |k, parameters, state| {
            time += steps[k].seconds;
            let read = |field: Field| finite(compute, field, k, &steps[k]);
            let row = || -> Result<DriveRow> {
                let strain = read(state.strain.clone())?;
                let stress = read(law.stress(parameters, &state.history, &state.strain))?;
                let mut history = [None; 6];
                for (value, name) in history.iter_mut().zip(DriveRow::HISTORY) {
                    let variable = law.variable(&state.history, name);
                    *value = variable.map(read).transpose()?;
                }
                Ok(DriveRow {
                    time,
                    strain,
                    stress,
                    history,
                })
            };
            ended = row().and_then(|row| {
                rows.push(row);
                match tell(watch, k + 1, steps.len(), String::new()) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(()) => Err(Error::Interrupted(format!(
                        "interrupted after step {k} of {}; nothing was written",
                        steps.len()
                    ))),
                }
            });
            match ended {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        ended.map(|()| rows)
    }
}

/// The number of a field, or which step made it infinite.
fn finite(compute: &Compute, field: Field, k: usize, step: &StrainStep) -> Result<f64> {
    match compute.values(field)?[0] {
        value if value.is_finite() => Ok(value),
        value => bad_input(format!(
            "step {k}: strain {} over {} s gives {value}; a number is too extreme for {}",
            readable(step.strain),
            readable(step.seconds),
            compute.precision().name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::Precision;

    #[test]
    fn a_drive_says_every_step_and_stops_when_it_is_told() {
        let ready = ReadyMaterial::hard("cotton broad").unwrap();
        let compute = Compute::cpu(Precision::F64);
        let steps = [0.0, 10.0, 200.0].map(|strain| StrainStep {
            seconds: 2.0,
            strain,
        });
        let rows = ready
            .drive(&steps, &compute, &mut |_| ControlFlow::Continue(()))
            .unwrap();
        let times: Vec<f64> = rows.iter().map(|row| row.time).collect();
        assert_eq!(times, [2.0, 4.0, 6.0]);
        assert!(rows[2].stress > rows[1].stress && rows[1].stress > 0.0);
        assert_eq!(rows[2].strain, 200.0);
        let stopped = ready.drive(&steps, &compute, &mut |_| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(Error::Interrupted(_))));
    }
}
