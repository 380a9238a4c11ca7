//! Reference simulations, which are slow, kept as files that are named by what they depend on.

mod identity;
mod kept;

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

pub(super) use self::identity::other_energy;
use self::{
    identity::{energy, identity, plasticity},
    kept::{load, part_of, read, read_part, save},
};
use crate::{
    error::{Error, Result},
    files::fingerprint,
    learn::{
        BodyMotion, BodyScene, GarmentLoss, GarmentMotion, LearnCase,
        reference::{Accuracy, ReferenceSimulation},
    },
    numeric::{Compute, Precision},
    study::{Folder, Heard, Watcher, side_by_side, tell},
};

/// A reference and how long it took.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    /// The motion of the garment.
    pub track: GarmentMotion,
    /// Of the whole simulation, when it was made \[s\].
    pub seconds: f64,
    /// Frames that were not minimised to the end.
    pub unfinished: usize,
    /// Whether it was made in this run, not read.
    pub made_now: bool,
}

/// What yields in a reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Yields {
    /// At the case's yield strain, by the hard rule whichever rule the networks learned from.
    AsInCase,
    /// Never: what a simulation without rest bending does.
    Never,
}

/// What the progress of references counts.
const COUNTED: &str = "frames of references";

/// What is said when a watcher wants no more.
pub(super) fn stopped() -> Error {
    Error::Interrupted(
        "interrupted; references that are done are kept, and the same command goes on".into(),
    )
}

/// A folder of references.
#[derive(Debug, Clone)]
pub(crate) struct References {
    folder: Folder,
    compute: Compute,
}

/// One simulation: a motion, and what yields.
pub(crate) type ReferenceJob<'a> = (&'a BodyMotion, Yields);

impl References {
    /// References are kept in `folder`, and always simulated in double precision on the CPU.
    pub(crate) fn new(folder: &Path) -> References {
        References {
            folder: Folder::new(folder),
            compute: Compute::cpu(Precision::F64),
        }
    }

    /// Frames that are yet to be simulated.
    pub(crate) fn missing_frames(
        &self,
        case: &LearnCase,
        scene: &BodyScene,
        jobs: &[ReferenceJob],
    ) -> usize {
        let missing = |job: &ReferenceJob| {
            let path = self.file(case, scene, *job);
            if path.is_file() {
                return 0;
            }
            let begun = load(&part_of(&path)).map_or(0, |(outcome, _)| outcome.track.frames());
            job.0.frames().saturating_sub(begun)
        };
        jobs.iter().map(missing).sum()
    }

    /// References of some jobs, in their order. The first is simulated on its own, for its time; the others side by
    /// side. `watch` is called for every frame that is simulated.
    pub(crate) fn of(
        &self,
        case: &LearnCase,
        scene: &BodyScene,
        jobs: &[ReferenceJob],
        watch: &mut Watcher,
    ) -> Result<Vec<Reference>> {
        self.folder.make()?;
        let (mut done, all) = (0, self.missing_frames(case, scene, jobs));
        let mut told = |frames: usize| {
            done += frames;
            tell(watch, done, all, COUNTED.into())
        };
        if all > 0 && told(0).is_break() {
            return Err(stopped());
        }
        let Some((first, others)) = jobs.split_first() else {
            return Ok(Vec::new());
        };
        let mut references = vec![self.one(case, scene, *first, &mut || told(1))?];
        let mut found: Vec<Option<Reference>> = vec![None; others.len()];
        side_by_side(
            rayon::current_num_threads(),
            others.len(),
            |k, told| self.one(case, scene, others[k], &mut || told()),
            &mut |heard| match heard {
                Heard::Step => Ok(told(1)),
                Heard::Done(k, reference) => {
                    found[k] = Some(reference);
                    Ok(ControlFlow::Continue(()))
                }
            },
        )?;
        references.extend(found.into_iter().flatten());
        Ok(references)
    }

    fn one(
        &self,
        case: &LearnCase,
        scene: &BodyScene,
        job: ReferenceJob,
        told: &mut dyn FnMut() -> ControlFlow<()>,
    ) -> Result<Reference> {
        let path = self.file(case, scene, job);
        let broken = |e: Error| {
            Error::BadInput(format!(
                "{e}; remove the file, and it is simulated again by the same command"
            ))
        };
        if path.is_file() {
            return read(&path, scene, job.0).map_err(broken);
        }
        let loss = GarmentLoss::new(energy(case))?;
        let plasticity = plasticity(case, job.1);
        let simulation = ReferenceSimulation {
            scene,
            motion: job.0,
            loss: &loss,
            plasticity: &plasticity,
            accuracy: Accuracy::default(),
            compute: &self.compute,
        };
        // A long one is kept part by part.
        let part = part_of(&path);
        let (mut outcome, mut seconds) = match part.is_file() {
            true => read_part(&part, scene, job.0).map_err(broken)?,
            false => Default::default(),
        };
        loop {
            let clock = std::time::Instant::now();
            simulation.go_on(&mut outcome, &mut |_| match told() {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(()) => Err(stopped()),
            })?;
            seconds += clock.elapsed().as_secs_f64();
            if outcome.track.frames() == job.0.frames() {
                break;
            }
            save(&part, &outcome, seconds)?;
        }
        save(&path, &outcome, seconds)?;
        if part.is_file() {
            std::fs::remove_file(&part).map_err(|e| Error::writing(&part, e))?;
        }
        Ok(Reference {
            track: outcome.track,
            seconds,
            unfinished: outcome.unfinished,
            made_now: true,
        })
    }

    /// Named by everything that the numbers depend on.
    fn file(&self, case: &LearnCase, scene: &BodyScene, job: ReferenceJob) -> PathBuf {
        let (motion, yields) = job;
        let identity = identity(case, scene, job).to_string();
        let yields = match yields {
            Yields::AsInCase => format!("yield{:.0}", case.plasticity.yield_strain.to_degrees()),
            Yields::Never => "elastic".into(),
        };
        let number = fingerprint(identity.into_bytes());
        let name = motion.file_stem();
        let seed = case.seed;
        self.folder
            .file(&format!("{name}-seed{seed}-{yields}-{number:x}.npz"))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{learn::evaluate::long_motion, study::News};

    #[test]
    fn a_reference_is_named_by_its_garment_and_body_too() {
        let case = LearnCase {
            grid: [6, 4],
            ..LearnCase::default()
        };
        let references = References::new(Path::new("references"));
        let named = |change: &dyn Fn(&mut BodyScene)| {
            let mut scene = case.scene().unwrap();
            change(&mut scene);
            let motion = BodyMotion::canonical(&scene.body);
            references.file(&case, &scene, (&motion, Yields::AsInCase))
        };
        let same = named(&|_| {});
        assert_eq!(named(&|_| {}), same);
        let changes: [&dyn Fn(&mut BodyScene); 7] = [
            &|s| s.garment.mesh.positions[9][1] += 1e-9,
            &|s| s.garment.mesh.material[9][1] += 1e-9,
            &|s| s.garment.mesh.triangles[3].rotate_left(1),
            &|s| s.garment.weights[1][9] += 1e-9,
            &|s| s.garment.pinned.truncate(3),
            &|s| s.garment.springs[2].stiffness += 1e-9,
            &|s| s.body.bones[1].radii[0] += 1e-9,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            assert_ne!(named(change), same, "change {number}");
        }
    }

    /// Frames that are done.
    fn counted(news: News) -> usize {
        match news {
            News::Progress(progress) => progress.done,
            News::Remark(text) => panic!("{text}"),
        }
    }

    #[test]
    fn a_long_reference_that_is_stopped_goes_on_with_the_same_bits() {
        let case = LearnCase {
            grid: [6, 4],
            ..LearnCase::default()
        };
        let scene = case.scene().unwrap();
        let motion = long_motion(&scene.body, 620);
        let folder = std::env::temp_dir().join(format!("rumple-references-{}", std::process::id()));
        let of = |name: &str, watch: &mut Watcher| {
            let references = References::new(&folder.join(name));
            references.of(&case, &scene, &[(&motion, Yields::AsInCase)], watch)
        };
        let whole = of("whole", &mut |_| ControlFlow::Continue(())).unwrap();
        let frames = Cell::new(0);
        let mut stop = |news: News| {
            // The first news is that nothing is done yet.
            frames.set(frames.get() + usize::from(counted(news) > 0));
            match frames.get() {
                601 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        };
        let bent = &whole[0].track.plastic[499];
        assert!(bent.iter().any(|p| *p != 0.0), "it is creased by then");
        let stopped = of("parts", &mut stop).unwrap_err();
        assert!(matches!(stopped, Error::Interrupted(_)), "{stopped}");
        frames.set(0);
        let resumed = of("parts", &mut stop).unwrap();
        assert_eq!(frames.get(), 120, "the first part was kept");
        assert!(resumed[0].track == whole[0].track);
        let left = std::fs::read_dir(folder.join("parts")).unwrap().count();
        assert_eq!(left, 1, "no part is left behind");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
