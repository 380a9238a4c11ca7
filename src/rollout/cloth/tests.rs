use super::*;
use crate::{
    numeric::{Compute, Field, Precision},
    verify::ClothBench,
};

const STEPS: usize = 6;

fn bench() -> ClothBench {
    ClothBench::square(6, STEPS, &Compute::cpu(Precision::F64)).unwrap()
}

fn rollout<'a>(bench: &'a ClothBench, drive: &'a dyn Fn(usize) -> Drive) -> ClothRollout<'a> {
    ClothRollout {
        cloth: &bench.cloth,
        drive,
        steps: STEPS,
        memory: MEMORY,
    }
}

fn bits(cloth: &Cloth, state: &State) -> Vec<u64> {
    let all = state.list().into_iter();
    let values = all.flat_map(|f: &Field| cloth.compute.values(f.clone()).unwrap());
    values.map(f64::to_bits).collect()
}

/// What a failed solve says: its place, and the residual that it names above the tolerance.
fn failed_at<T>(result: Result<T>, place: &str, method: &str) {
    let Err(error) = result else {
        panic!("a solve that cannot converge passed")
    };
    assert!(error.is_failed_run(), "{error}");
    let text = error.to_string();
    let Error::NotConverged(failure) = error else {
        panic!("{text}")
    };
    assert_eq!(failure.place.as_deref(), Some(place), "{text}");
    assert_eq!(failure.method, method, "{text}");
    let residual = failure.residual.expect("a residual");
    assert!(residual.reached > residual.tolerance, "{text}");
    let reached = format!("residual {:.3e}", residual.reached);
    for word in [
        place,
        &reached,
        "above the tolerance of",
        "smaller time step",
    ] {
        assert!(text.contains(word), "no '{word}': {text}");
    }
}

/// Conjugate gradients that end at their limit are an error with step and residual, forward and backward; the
/// same steps pass where the limit is the usual one.
#[test]
fn a_tensor_solve_that_ends_at_its_limit_names_step_and_residual() {
    let bench = bench();
    let drive = |k: usize| bench.drive(k);
    let (rollout, fabric) = (rollout(&bench, &drive), &bench.parameters);
    let start = bench.cloth.start(fabric);
    let mut solver = Solver::conjugate(&bench.cloth.compute, 1e-10);
    let mut third = None;
    let recording = rollout.record(&mut solver, &start, fabric, |passed| {
        if passed.done == 3 {
            third = Some(passed.state.clone());
        }
        Ok(())
    });
    let (recording, third) = (recording.unwrap(), third.unwrap());
    let mut limited = solver.clone().limited_to(8);
    let ended = rollout.go_on(&mut limited, (3, &third), fabric, |_| Ok(()));
    failed_at(ended, "step 3", "conjugate gradients");
    let watches = [bench.watch()];
    let back = rollout.reverse(&mut limited, &recording, fabric, &watches, |_, _| Ok(()));
    failed_at(back, "step 5 of the reverse sweep", "conjugate gradients");
    let back = rollout.reverse(&mut solver, &recording, fabric, &watches, |_, _| Ok(()));
    assert!(back.unwrap().values[0] != 0.0);
}

/// A coupling of warp and weft beyond what their stiffnesses allow makes the matrix indefinite: the factorisation
/// finds out, and the error names step, residual and the worst elements before the step.
#[test]
fn a_direct_solve_of_an_indefinite_matrix_names_step_and_residual() {
    let mut bench = bench();
    let good = bench.cloth.start(&bench.parameters);
    bench.parameters.membrane.coupling = bench.parameters.membrane.coupling.clone() * 6.0;
    let drive = |k: usize| bench.drive(k);
    let rollout = rollout(&bench, &drive);
    let mut solver = bench.solver().unwrap();
    let ended = rollout.go_on(&mut solver, (4, &good), &bench.parameters, |_| Ok(()));
    let text = ended.as_ref().unwrap_err().to_string();
    for word in ["not positive definite at vertex", "In the state before it"] {
        assert!(text.contains(word), "no '{word}': {text}");
    }
    failed_at(ended, "step 4", "sparse Cholesky");
}

/// A vertex beyond all bounds ends every kind of run in the same step, with the same words.
#[test]
fn a_run_that_leaves_all_bounds_names_step_and_vertex() {
    let mut bench = bench();
    bench.cloth.setup.gravity = [0.0, 0.0, -1e12];
    let drive = |k: usize| bench.drive(k);
    let (rollout, fabric) = (rollout(&bench, &drive), &bench.parameters);
    let start = bench.cloth.start(fabric);
    let solver = bench.solver().unwrap();
    let mut seen = 0;
    let forward = rollout.forward(&mut solver.clone(), &start, fabric, |passed| {
        seen = passed.done;
        Ok(())
    });
    let text = forward.unwrap_err().to_string();
    let step = format!("diverged in step {seen}: vertex ");
    for word in [step.as_str(), "In the state before it", "triangle"] {
        assert!(text.contains(word), "no '{word}': {text}");
    }
    let watches = [bench.watch()];
    let back = rollout.gradient(&mut solver.clone(), &start, fabric, &watches);
    assert_eq!(back.unwrap_err().to_string(), text);
}

/// The same bits come from one forward run, from a recorded one, from one that stops and goes on, and from the
/// states that the way back visits; a visitor's error ends the run where it is raised.
#[test]
fn every_way_forward_gives_the_same_bits() {
    let bench = bench();
    let drive = |k: usize| bench.drive(k);
    let (rollout, fabric) = (rollout(&bench, &drive), &bench.parameters);
    let start = bench.cloth.start(fabric);
    let solver = || bench.solver().unwrap().forgetting_every(2);
    let whole = rollout.forward(&mut solver(), &start, fabric, |_| Ok(()));
    let whole = bits(&bench.cloth, &whole.unwrap());
    let recording = rollout.record(&mut solver(), &start, fabric, |_| Ok(()));
    assert_eq!(bits(&bench.cloth, recording.unwrap().last()), whole);
    let mut reached = start.clone();
    let stop = rollout.forward(&mut solver(), &start, fabric, |passed| {
        reached = passed.state.clone();
        match passed.done {
            4 => Err(Error::Interrupted("enough".into())),
            _ => Ok(()),
        }
    });
    assert!(matches!(stop, Err(Error::Interrupted(_))));
    let end = rollout.go_on(&mut solver(), (4, &reached), fabric, |_| Ok(()));
    assert_eq!(bits(&bench.cloth, &end.unwrap()), whole);
    assert!(bits(&bench.cloth, &start) != whole);
}

/// A reading after more steps than there are is refused; without that it would be zero, and so its gradient.
#[test]
fn a_reading_after_the_end_is_refused() {
    let bench = bench();
    let drive = |k: usize| bench.drive(k);
    let (rollout, fabric) = (rollout(&bench, &drive), &bench.parameters);
    let start = bench.cloth.start(fabric);
    let watches = [WatchedReading {
        after: STEPS + 1,
        ..bench.watch()
    }];
    let mut solver = bench.solver().unwrap();
    let read = rollout.read(&mut solver, &start, fabric, &watches);
    let back = rollout.gradient(&mut solver, &start, fabric, &watches);
    for text in [read.unwrap_err().to_string(), back.unwrap_err().to_string()] {
        assert!(text.contains("after 7 steps of a roll-out of 6"), "{text}");
    }
}

/// Conjugate gradients in single precision, as a GPU runs them, reach their tolerance also where springs of 1e5 N/m
/// hold vertices of 1e-5 kg: what is an error elsewhere is none here.
#[test]
fn conjugate_gradients_in_single_precision_converge_with_stiff_handles() {
    let bench = ClothBench::twist(200, true, &Compute::cpu(Precision::F32)).unwrap();
    let drive = |k: usize| bench.drive(k);
    let (rollout, fabric) = (rollout(&bench, &drive), &bench.parameters);
    let start = bench.cloth.start(fabric);
    let mut solver = Solver::conjugate(&bench.cloth.compute, 1e-5);
    let watch = WatchedReading {
        after: STEPS,
        ..bench.watch()
    };
    let back = rollout.gradient(&mut solver, &start, fabric, &[watch]);
    assert!(back.unwrap().values[0] != 0.0);
}
