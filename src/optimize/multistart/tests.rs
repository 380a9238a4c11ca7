use std::ops::ControlFlow;

use nalgebra::{DMatrix, DVector};

use super::*;
use crate::optimize::Linearized;

/// A bowl with ripples, x² + 4·sin² 6x in every unknown: the best minimum is at 0.
struct Ripples([(f64, f64); 2]);

impl Problem for Ripples {
    fn bounds(&self) -> &[(f64, f64)] {
        &self.0
    }

    fn data(&self) -> usize {
        4
    }

    fn stages(&self) -> usize {
        2
    }

    fn linearized(&self, _: usize, points: &[DVector<f64>]) -> Result<Vec<Linearized>> {
        let at = |p: &DVector<f64>| {
            let (sin, cos) = (p.map(|x| (6.0 * x).sin()), p.map(|x| 6.0 * (6.0 * x).cos()));
            Linearized {
                residuals: DVector::from_vec(vec![p[0], 2.0 * sin[0], p[1], 2.0 * sin[1]]),
                jacobian: DMatrix::from_row_slice(
                    4,
                    2,
                    &[1.0, 0.0, 2.0 * cos[0], 0.0, 0.0, 1.0, 0.0, 2.0 * cos[1]],
                ),
            }
        };
        Ok(points.iter().map(at).collect())
    }
}

const PLAN: SearchPlan = SearchPlan {
    levenberg: Levenberg {
        tolerance: 1e-8,
        longest_step: 0.5,
        most_damping: 1e12,
        loss: crate::optimize::RobustLoss::Squares,
    },
    rounds: 20,
    shakes: 0,
    stragglers: usize::MAX,
    kick_rounds: 1000,
    seed: 1,
    first: 0,
};
const PROBLEM: Ripples = Ripples([(-4.0, 4.0); 2]);

fn begin() -> SearchProgress {
    let starts = [[3.0, -2.0], [-3.5, 1.0], [1.2, 3.9]];
    SearchProgress::new(&PLAN, starts.iter().map(|s| s.to_vec()).collect())
}

#[test]
fn kicks_lead_every_start_out_of_its_ripple() {
    let mut go_on = |_: &SearchProgress| Ok(ControlFlow::Continue(()));
    let still = SearchPlan {
        kick_rounds: 0,
        ..PLAN
    };
    let stuck = search(&PROBLEM, &still, begin(), &mut go_on).unwrap();
    let end = search(&PROBLEM, &PLAN, begin(), &mut go_on).unwrap();
    for (walker, stuck) in end.walkers.iter().zip(&stuck.walkers) {
        let [stuck, kicked] = [stuck, walker].map(|w| w.cost.unwrap());
        assert!(stuck > 0.5 && kicked < 0.5 * stuck, "{stuck} {kicked}");
    }
}

#[test]
fn a_search_that_is_stopped_at_every_round_ends_with_the_same_bits() {
    let whole = search(&PROBLEM, &PLAN, begin(), &mut |_| {
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    let mut progress = begin();
    while progress.stage < PROBLEM.stages() {
        let stopped = search(&PROBLEM, &PLAN, progress, &mut |_| {
            Ok(ControlFlow::Break(()))
        })
        .unwrap();
        let text = serde_json::to_string(&stopped).unwrap();
        progress = serde_json::from_str(&text).unwrap();
    }
    assert!(whole.trace.len() > 50);
    assert_eq!(whole, progress);
}

// One group is itself; of two, starts that joined another still point to it, and the trace is the better of
// both, round by round.
#[test]
fn groups_join_in_order() {
    let whole = search(&PROBLEM, &PLAN, begin(), &mut |_| {
        Ok(ControlFlow::Continue(()))
    })
    .unwrap();
    assert_eq!(SearchProgress::joined(vec![whole.clone()]), whole);
    let mut pair = begin();
    pair.walkers[2].outcome = Some(WalkerEnd::Joined(1));
    pair.trace = vec![Round {
        stage: 0,
        alive: 3,
        best: f64::MAX,
    }];
    let joined = SearchProgress::joined(vec![whole.clone(), pair]);
    assert_eq!(joined.stage, 0);
    assert_eq!(joined.walkers.len(), 6);
    assert_eq!(joined.walkers[5].outcome, Some(WalkerEnd::Joined(4)));
    assert_eq!(joined.trace.len(), whole.trace.len());
    assert_eq!(joined.trace[0].alive, whole.trace[0].alive + 3);
    assert_eq!(joined.trace[0].best, whole.trace[0].best);
    assert_eq!(joined.trace[1], whole.trace[1]);
}

// Two searches of parts make one whose best start is the best of both, whatever their places were.
#[test]
fn parts_join_side_by_side() {
    let search = |plan: &SearchPlan| {
        search(&PROBLEM, plan, begin(), &mut |_| {
            Ok(ControlFlow::Continue(()))
        })
    };
    let still = SearchPlan {
        kick_rounds: 0,
        ..PLAN
    };
    let (kicked, stuck) = (search(&PLAN).unwrap(), search(&still).unwrap());
    let parts = vec![(vec![1, 3], kicked.clone()), (vec![0, 2], stuck.clone())];
    let whole = SearchProgress::side_by_side(4, parts);
    assert_eq!((whole.stage, whole.walkers.len()), (2, 3));
    let (start, cost) = whole.best().unwrap();
    let [best, other] = [&kicked, &stuck].map(|p| p.best().unwrap());
    assert_eq!((start, cost), (0, best.1 + other.1));
    let point = &whole.walker(0).point;
    let [a, b] = [kicked.walker(best.0), stuck.walker(other.0)].map(|w| w.point.clone());
    assert_eq!(point, &vec![b[0], a[0], b[1], a[1]]);
    assert_eq!(whole.trace[0].alive, 6);
    let costs: Vec<f64> = whole.walkers.iter().map(|w| w.cost.unwrap()).collect();
    assert!(costs.is_sorted() && costs[2] > costs[0], "{costs:?}");
}
