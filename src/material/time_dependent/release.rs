//! Where a hinge comes to rest without a load.

use super::{TimeDependent, YARN_HISTORY, yarn::threshold};
use crate::{
    material::population::mean,
    numeric::{Field, Gate, indicator},
};

/// Whether a yarn slips on the way to a strain.
struct Decision {
    /// s·ε_0: the strain over which it holds its anchor back once it has slipped.
    held: Field,
    /// How far it is beyond its threshold.
    excess: Field,
}

impl Decision {
    /// This one where `settled` is 1, the other where it is 0.
    fn unless_settled(self, other: &Decision, settled: &Field) -> Decision {
        let open = settled.clone() * -1.0 + 1.0;
        let of = |old: &Field, new: Field| settled.clone() * old.clone() + open.clone() * new;
        Decision {
            held: of(&other.held, self.held),
            excess: of(&other.excess, self.excess),
        }
    }
}

impl TimeDependent {
    /// Strain without a moment, and anchor and stick time of every yarn.
    ///
    /// A hinge that can rest stops where it carries no moment. One that would slip on the way loses its
    /// dwell, its threshold falls to ε_0, and it slides to where that little friction balances the rest:
    ///
    /// ```text
    /// rest   ε_r = (K_b·ε_p + Σ k_i·q_i + K_f·ε̄)/(K_b + Σ k_i + K_f),  k_i = K_i·exp(−h/τ_i)
    /// slide  ε_s = (K_b·ε_p + Σ k_i·q_i − s·K_f·ε_0)/(K_b + Σ k_i),  ε̄_s = ε_s − s·ε_0,  s = sign(ε_r − ε̄)
    /// w = gate(|ε_r − ε̄| − thres);  ε̄ ← ε̄ + w·(ε̄_s − ε̄);  t_s ← (1 − w)·(t_s + h);  ε ← ε_r of the new ε̄
    /// ```
    ///
    /// This is what the law does in three steps of no duration, taken at once. A smooth gate that took
    /// them one by one would reset a share of the dwell, see the threshold fall, slip more, and so on:
    /// its band would shrink to nothing and the gradient with it. Here the mixture is at rest, because
    /// the threshold is concave in time. A hinge on its threshold ends at the same place either way, so
    /// no rounding decides.
    ///
    /// With a population the yarns that slip first lower the moment that holds the strain, and may take others with
    /// them. The yarns that slip are found round by round, with the hard gate whatever the gate is. A slip moves the
    /// strain further the way it goes, so no yarn has to be taken back. With S the yarns of earlier rounds,
    ///
    /// ```text
    /// ε_r = (K_b·Σ w·ε_p + Σ k_i·q_i + K_f·Σ_rest w·ε̄ − K_f·Σ_S w·s·ε_0)/(K_b + Σ k_i + K_f·Σ_rest w)
    /// ```
    ///
    /// decides about every other yarn. ε_s is this strain after the last round. A yarn that has not slipped by then only
    /// moves under a sigmoid, towards the ε_s of a hinge where all slip.
    ///
    /// Not smooth where a yarn begins to slip and takes others with it, whatever the gate.
    pub(super) fn unload(
        &self,
        p: &[Field],
        s: &[Field],
        dt: &Field,
        gate: &Gate,
    ) -> (Field, Vec<[Field; 2]>) {
        let (bending, friction) = (&p[0], &p[1]);
        let yarns = self.each_yarn(p);
        let states: Vec<&[Field]> = s.chunks(YARN_HISTORY).take(yarns.len()).collect();
        let mut slope = bending.clone();
        let mut pull = bending.clone() * self.mean_of(s, 2);
        for i in 0..self.branches {
            let stiffness = self.branch_stiffness(p, i).clone() * self.kept(p, i, dt);
            slope = slope + stiffness.clone();
            pull = pull + stiffness * s[self.branch_history() + i].clone();
        }
        let rest = |anchor: Field| {
            (pull.clone() + friction.clone() * anchor) / (slope.clone() + friction.clone())
        };
        let decide = |strain: &Field| {
            let each = yarns.iter().zip(&states).map(|(yarn, state)| {
                let offset = strain.clone() - state[0].clone();
                let (side, excess) = gate.excess(&offset, threshold(yarn, state));
                Decision {
                    held: side * yarn[2].clone(),
                    excess,
                }
            });
            each.collect::<Vec<_>>()
        };
        let mut decisions = decide(&rest(self.mean_of(s, 0)));
        let slips = |decisions: &[Decision]| -> Vec<Field> {
            decisions.iter().map(|d| indicator(&d.excess)).collect()
        };
        let mut slid = slips(&decisions);
        // The strain without a moment where the yarns that are marked have slid.
        let partly = |slid: &[Field], decisions: &[Decision]| {
            let each = slid.iter().zip(decisions).zip(&states);
            let anchored = each.map(|((slid, decision), state)| {
                let rests = slid.clone() * -1.0 + 1.0;
                rests * state[0].clone() - slid.clone() * decision.held.clone()
            });
            let anchored = mean(&anchored.collect::<Vec<_>>().iter().collect::<Vec<_>>());
            let resting = mean(&slid.iter().collect::<Vec<_>>()) * -1.0 + 1.0;
            (pull.clone() + friction.clone() * anchored)
                / (slope.clone() + friction.clone() * resting)
        };
        for _ in 1..yarns.len() {
            if !any(&slid) {
                break;
            }
            let next = decide(&partly(&slid, &decisions));
            let settled = slid.iter().zip(&decisions);
            decisions = next
                .into_iter()
                .zip(settled)
                .map(|(next, (slid, before))| next.unless_settled(before, slid))
                .collect();
            let now = slips(&decisions);
            let more = now.iter().zip(&slid).map(|(a, b)| a.clone() - b.clone());
            let more: Vec<Field> = more.collect();
            slid = now;
            if !any(&more) {
                break;
            }
        }
        let held: Vec<&Field> = decisions.iter().map(|d| &d.held).collect();
        let all_slide = (pull.clone() - friction.clone() * mean(&held)) / slope.clone();
        let some_slide = (yarns.len() > 1).then(|| partly(&slid, &decisions));
        let mut new = Vec::with_capacity(yarns.len());
        for ((state, decision), slid) in states.iter().zip(decisions).zip(&slid) {
            let (anchor, stick_time) = (&state[0], &state[1]);
            let slip = gate.open(&decision.excess).weight;
            let slide = match &some_slide {
                Some(some) => all_slide.clone() + slid.clone() * (some.clone() - all_slide.clone()),
                None => all_slide.clone(),
            };
            new.push([
                anchor.clone() + slip.clone() * (slide - decision.held - anchor.clone()),
                (slip * -1.0 + 1.0) * (stick_time.clone() + dt.clone()),
            ]);
        }
        let anchors: Vec<&Field> = new.iter().map(|[anchor, _]| anchor).collect();
        (rest(mean(&anchors)), new)
    }
}

/// Whether any number is positive.
fn any(fields: &[Field]) -> bool {
    fields.iter().any(|field| {
        let positive = field.clone().greater_scalar(0.0).any();
        // Another round changes nothing where none is needed.
        positive.try_into_scalar::<bool>().unwrap_or(true)
    })
}
