//! Hinges against the law of paper 1, taken step by step in steps too small to matter.

use super::{CreasePoint, Events, Fabric, Hinges};
use crate::{material::population::YARNS, numeric::Random};

/// A number between two, evenly on a logarithmic scale.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.uniform())
}

struct SteppedYarn {
    weight: f64,
    thresholds: [f64; 2],
    dwell: f64,
    flow: f64,
    anchor: f64,
    stick: f64,
    plastic: f64,
    accumulated: f64,
    flowed: f64,
    direction: f64,
    surface: f64,
}

struct SteppedHinge<'a> {
    fabric: &'a Fabric<f64>,
    yarns: Vec<SteppedYarn>,
    branches: Vec<f64>,
    strain: f64,
}

impl SteppedHinge<'_> {
    fn new(fabric: &Fabric<f64>) -> SteppedHinge<'_> {
        let [_, _, initial, saturated, dwell, yields, _, _, flow] = fabric.base;
        let [times, thresholds, flows] = fabric.spreads.unwrap_or([0.0; 3]);
        let yarn = |(place, weight): (f64, f64)| SteppedYarn {
            weight,
            thresholds: [initial, saturated].map(|t| t * (thresholds * place).exp()),
            dwell: dwell * (times * place).exp(),
            flow: flow * (flows * place).exp(),
            anchor: 0.0,
            stick: 0.0,
            plastic: 0.0,
            accumulated: 0.0,
            flowed: 0.0,
            direction: 0.0,
            surface: yields,
        };
        SteppedHinge {
            fabric,
            yarns: match fabric.spreads {
                Some(_) => YARNS.into_iter().map(yarn).collect(),
                None => vec![yarn((0.0, 1.0))],
            },
            branches: vec![0.0; fabric.branches.len()],
            strain: 0.0,
        }
    }

    fn stiffness(&self) -> f64 {
        let branches: f64 = self.fabric.branches.iter().map(|b| b[0]).sum();
        self.fabric.base[0] + self.fabric.base[1] + branches
    }

    /// Gives way to this share of the moment.
    fn give(&mut self, share: f64, seconds: f64) {
        let [bending, friction, ..] = self.fabric.base;
        let of = |yarn: &SteppedYarn| {
            let (elastic, held) = (self.strain - yarn.plastic, self.strain - yarn.anchor);
            yarn.weight * (bending * elastic + friction * held)
        };
        let yarns: f64 = self.yarns.iter().map(of).sum();
        let branches = self.fabric.branches.iter().zip(&self.branches);
        let branches: f64 = branches.map(|(b, q)| b[0] * (self.strain - q)).sum();
        let strain = self.strain - share / self.stiffness() * (yarns + branches);
        self.go_to(strain, seconds);
    }

    fn go_to(&mut self, strain: f64, seconds: f64) {
        let [bending, _, _, _, _, yields, hardening, drop, _] = self.fabric.base;
        self.strain = strain;
        for yarn in &mut self.yarns {
            let [initial, saturated] = yarn.thresholds;
            let threshold = saturated - (saturated - initial) * (-yarn.stick / yarn.dwell).exp();
            let offset = strain - yarn.anchor;
            // A yarn that rests on its threshold does not slip by rounding.
            if offset.abs() > threshold * (1.0 + 1e-11) {
                yarn.anchor += offset.signum() * (offset.abs() - threshold);
                yarn.stick = 0.0;
            } else {
                yarn.stick += seconds;
            }
            let elastic = strain - yarn.plastic;
            let excess = elastic.abs() - yarn.surface;
            yarn.flowed += seconds;
            if excess > 0.0 && elastic.signum() != yarn.direction {
                yarn.flowed = 0.0;
            }
            let modulus = hardening * (1.0 - drop * (1.0 - (-yarn.flowed / yarn.flow).exp()));
            if excess > 0.0 {
                let flows = bending / (bending + modulus) * excess;
                yarn.direction = elastic.signum();
                yarn.accumulated += flows;
                yarn.plastic += yarn.direction * flows;
            }
            yarn.surface = yields + yarn.accumulated * modulus / bending;
        }
        for (q, [_, time]) in self.branches.iter_mut().zip(&self.fabric.branches) {
            *q = strain + (*q - strain) * (-seconds / time).exp();
        }
    }

    /// Fold, hold, release and creep.
    fn kept(mut self, curvature: f64, point: &CreasePoint, steps: usize) -> f64 {
        let log_times = |last: f64, count: usize| {
            let time = move |k| last * 1e-6_f64.powf(1.0 - k as f64 / count as f64);
            (0..=count).scan(0.0, move |before, k| {
                let step = time(k) - *before;
                *before = time(k);
                Some(step)
            })
        };
        self.go_to(curvature * (1.0 + 1e-7), 0.0);
        for seconds in log_times(point.press, 200) {
            self.go_to(curvature, seconds);
        }
        self.go_to(curvature, 0.0);
        for _ in 0..steps {
            self.give(20.0 / steps as f64, 0.0);
        }
        for seconds in log_times(point.read, steps) {
            self.give(0.5, seconds);
        }
        self.strain
    }
}

/// A law and a fold: half of them with yarns that turn, two in three with branches.
fn drawn(random: &mut Random) -> (Fabric<f64>, CreasePoint, f64) {
    let turns = random.below(2) == 1;
    let (stiffest, yields) = match turns {
        true => (2.0, [50.0, 300.0]),
        false => (15.0, [400.0, 1500.0]),
    };
    let bending = 1e-5;
    let base = [
        bending,
        bending * between(random, 0.05, stiffest),
        between(random, 10.0, 80.0),
        between(random, 400.0, 1500.0),
        between(random, 5.0, 1000.0),
        between(random, yields[0], yields[1]),
        bending * between(random, 0.3, stiffest),
        0.5 + 0.49 * random.uniform(),
        between(random, 5.0, 2000.0),
    ];
    let spreads = (random.below(2) == 1).then(|| {
        let flows = if turns { 1.0 } else { 0.0 };
        [
            random.uniform(),
            0.6 * random.uniform(),
            flows + random.uniform(),
        ]
    });
    let branches = (0..random.below(3))
        .map(|_| {
            [
                bending * between(random, 0.1, 2.0),
                between(random, 1.0, 1e4),
            ]
        })
        .collect();
    let fabric = Fabric {
        base,
        spreads,
        branches,
    };
    let point = CreasePoint {
        gap: between(random, 0.3e-3, 2e-3),
        press: between(random, 1.0, 1e5),
        read: between(random, 1.0, 1e4),
    };
    let curvature = super::super::CREST_CURVATURE / point.gap * random.uniform();
    (fabric, point, curvature)
}

#[test]
fn a_hinge_is_the_limit_of_small_steps() {
    let mut random = Random(7);
    let (mut worst, mut turned, mut slipped_up) = (0.0f64, 0, 0);
    for k in 0..400 {
        let (fabric, point, curvature) = drawn(&mut random);
        let mut events = Events::new();
        let growth = 1.6;
        let kept = match (fabric.spreads.is_some(), fabric.branches.len()) {
            (false, 0) => {
                Hinges::<f64, 1, 0>::new(&fabric, &point, growth).kept(curvature, &mut events)
            }
            (false, _) => {
                Hinges::<f64, 1, 2>::new(&fabric, &point, growth).kept(curvature, &mut events)
            }
            (true, 0) => {
                Hinges::<f64, 7, 0>::new(&fabric, &point, growth).kept(curvature, &mut events)
            }
            (true, _) => {
                Hinges::<f64, 7, 2>::new(&fabric, &point, growth).kept(curvature, &mut events)
            }
        };
        let kept = kept.expect("every hinge has an end");
        let met = |event| (0..YARNS.len()).any(|y| events.has_met(event, y));
        turned +=
            usize::from(met(super::events::Event::Turns) || met(super::events::Event::TurnsLater));
        slipped_up += usize::from(met(super::events::Event::SlipsUp));
        let stepped = SteppedHinge::new(&fabric).kept(curvature, &point, 10_000);
        let apart = (kept - stepped).abs() / curvature;
        worst = worst.max(apart);

        assert!(apart < 3e-3, "{k}: {kept} {stepped}");
    }
    println!("{worst:.1e} of the fold; {turned} turned, {slipped_up} slipped the other way");
    assert!(turned > 20 && slipped_up > 0);
}
