//! A look beyond the ends of a profile: where the cost has several minima, the lowest one at a value need not be the one
//! that the profile has followed there.

use nalgebra::DVector;

use super::{BETTER, ProfileSide, ProfileTask};
use crate::{
    error::Result,
    numeric::Random,
    optimize::levenberg::{Batch, Perturbation, Pin, Walker},
};

/// How far beyond its end a side is looked at, as shares of its length.
const SHARES: [f64; 2] = [0.05, 0.5];
/// Rounds of the search at each place.
const ROUNDS: usize = 15;
/// Starts of the search at a place that are drawn around the optimum.
const DRAWN: usize = 2;

/// Where a search beyond an end begins.
struct Place {
    side: usize,
    target: f64,
    stiffness: f64,
    start: DVector<f64>,
}

/// Looks once beyond every end that may still be looked beyond. Sides that go on are opened again. Returns a point that
/// is better than the optimum, where one turns up.
pub(super) fn look(task: &ProfileTask, sides: &mut [ProfileSide]) -> Result<Option<Vec<f64>>> {
    let mut places = Vec::new();
    for (i, side) in sides.iter().enumerate() {
        if let Some(end) = side.end(side.threshold).filter(|_| side.looks > 0) {
            places.extend(starts(task, sides, i, end));
        }
    }
    for side in sides.iter_mut() {
        side.looks = side.looks.saturating_sub(1);
    }
    if places.is_empty() {
        return Ok(None);
    }
    let walker = |place: &Place| Walker::new(place.start.as_slice().to_vec(), 0, ROUNDS);
    let perturbation = |place: &Place| Perturbation {
        offset: task.offset.clone(),
        pin: Some(Pin {
            quantity: sides[place.side].quantity,
            target: place.target,
            stiffness: place.stiffness,
        }),
    };
    let mut settings = task.levenberg;
    settings.tolerance = settings.tolerance.max(1e-4);
    let mut batch = Batch::perturbed(
        task.problem,
        settings,
        task.problem.stages() - 1,
        places.iter().map(walker).collect(),
        places.iter().map(perturbation).collect(),
    );
    batch.run()?;
    for (k, place) in places.iter().enumerate() {
        let Some(delta) = task.delta(&batch, k) else {
            continue;
        };
        let side = &mut sides[place.side];
        let point = batch.walkers[k].point.clone();
        if delta < -BETTER * side.threshold && task.may_be_better {
            return Ok(Some(point));
        }
        let at = DVector::from_column_slice(&point);
        let (q, _) = task.problem.quantity(side.quantity, &at);
        let end = side.end(side.threshold);
        let beyond = end.is_some_and(|end| (q - end) * side.direction > 0.0);
        if delta < side.threshold && beyond {
            side.go_on_from(q, delta, point);
        }
    }
    Ok(None)
}

/// Where to begin beyond the end of a side: with its own unknown moved alone, along the valley of the optimum, at the
/// nearest point of another side, and around the optimum.
fn starts(task: &ProfileTask, sides: &[ProfileSide], i: usize, end: f64) -> Vec<Place> {
    let side = &sides[i];
    let (from, gradient) = task.problem.quantity(side.quantity, &task.best);
    let follow = task.uncertainty.follow(&gradient);
    let spread = task.uncertainty.covariance.clone().cholesky();
    let bounds = task.problem.bounds();
    let mut places = Vec::new();
    for (s, share) in SHARES.into_iter().enumerate() {
        let target = (end + share * (end - from)).clamp(side.range.0, side.range.1);
        let mut own = task.best.clone();
        // Most quantities are an unknown on some scale.
        own[side.quantity] += target - from;
        let mut list = vec![own, &task.best + &follow * (target - from)];
        list.extend(nearest(task, sides, i, target));
        for k in 0..DRAWN {
            let number = ((side.looks * sides.len() + i) * SHARES.len() + s) * DRAWN + k;
            let mut random = Random::stream(task.seed, number as u64);
            let even = DVector::from_fn(bounds.len(), |_, _| random.normal());
            if let Some(spread) = &spread {
                let drawn = &task.best + spread.l() * even;
                let (q, gradient) = task.problem.quantity(side.quantity, &drawn);
                list.push(drawn + task.uncertainty.follow(&gradient) * (target - q));
            }
        }
        let stiffness = 30.0 / (share * (end - from)).abs().max(1e-9);
        places.extend(list.into_iter().map(|mut start| {
            for (x, (low, high)) in start.iter_mut().zip(bounds) {
                *x = x.clamp(*low, *high);
            }
            Place {
                side: i,
                target,
                stiffness,
                start,
            }
        }));
    }
    places
}

/// The point of another quantity's profile at which that of a side is nearest to a target.
fn nearest(
    task: &ProfileTask,
    sides: &[ProfileSide],
    i: usize,
    target: f64,
) -> Option<DVector<f64>> {
    let others = sides.iter().filter(|s| s.quantity != sides[i].quantity);
    let points = others.flat_map(|s| s.points.iter().zip(&s.path));
    let low = points.filter(|(_, (_, delta))| *delta < 2.0 * sides[i].threshold);
    let apart = low.map(|(point, _)| {
        let point = DVector::from_column_slice(point);
        let (q, _) = task.problem.quantity(sides[i].quantity, &point);
        ((q - target).abs(), point)
    });
    let nearest = apart.min_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map(|(_, point)| point)
}

impl ProfileSide {
    /// Goes on outwards from a point below the threshold.
    fn go_on_from(&mut self, q: f64, delta: f64, point: Vec<f64>) {
        let nearer = |known: &&(f64, f64)| (q - known.0) * self.direction > 0.0;
        let kept = self.path.iter().take_while(nearer).count();
        self.path.truncate(kept);
        self.points.truncate(kept);
        self.path.push((q, delta));
        self.points.push(point);
        self.done = false;
    }
}
