//! The time-dependent friction and plasticity law of paper 1.

use super::{
    Dahl, DeterminedBy, HardeningPlastic, Law, LawForm, Parameter, ParameterRole, Source, parameter,
};
use crate::numeric::{Field, Gate, indicator, sign};

/// When the flow timer t_p runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Timer {
    /// As the authors' program: always, reset only when yielding in a new direction; K_h and ε_Y are
    /// recomputed every step, so a held fold creeps.
    Authors,
    /// As printed (Eq. 14): only while yielding along ε_p, else reset to zero; K_h and ε_Y change
    /// only while yielding. The return mapping lands on the yield surface, the next test is false,
    /// and a held fold never creeps.
    Printed,
}

/// Paper 1, sections 3.2 and 3.3, in the form of the authors' program.
///
/// ```text
/// plasticity  ε_e = ε − ε_p;  yielding = |ε_e| > ε_Y
///             t_p ← t_p + h;  if yielding in a new direction: t_p ← 0
///             K_h = K_h0·(1 − g·(1 − exp(−t_p/τ_p)))                            Eq. 10
///             if yielding: Δ = K_b/(K_b + K_h)·(|ε_e| − ε_Y); ε_hp += Δ;        Eq. 11
///                          ε_p += sign(ε_e)·Δ; d = sign ε_e                     Eq. 12
///             ε_Y = ε_Y0 + ε_hp·K_h/K_b                                         Eq. 13
/// friction    thres = ε_inf − (ε_inf − ε_0)·exp(−t_s/τ_f)                       Eq. 8
///             if |ε − ε̄| > thres: ε̄ += sign(ε − ε̄)·(|ε − ε̄| − thres), t_s ← 0   Algorithm 1
///             else t_s += h
/// branches    q_i ← ε + (q_i − ε)·exp(−h/τ_i)                                   exact for held ε
/// stress      σ = K_b·(ε − ε_p) + K_f·(ε − ε̄) + Σ K_i·(ε − q_i)
/// ```
///
/// Limits: K_f = 0 and ε_Y0 → ∞ is elastic; g = 0 is hardening plasticity without time; ε_0 = ε_inf
/// is friction without dwell. Not smooth at |ε_e| = ε_Y and |ε − ε̄| = thres, except as the gate
/// smooths them; the printed timer also where ε_p changes sign. Departures from print are listed in docs/MODEL.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeDependent {
    /// When the flow timer runs.
    pub timer: Timer,
    /// How many linear relaxation branches (beyond the papers). Without one there is no delayed
    /// recovery.
    pub branches: usize,
}

/// Parameters before the branches.
const PARAMETERS: usize = 9;
/// History variables before the branches.
const HISTORY: usize = 7;

impl Default for TimeDependent {
    fn default() -> Self {
        TimeDependent {
            timer: Timer::Authors,
            branches: 0,
        }
    }
}

impl TimeDependent {
    /// The strain at which a hinge of this history slips.
    fn threshold(p: &[Field], s: &[Field]) -> Field {
        let (initial, saturated, dwell, stick_time) = (&p[2], &p[3], &p[4], &s[1]);
        // In exactly this form: a hinge that has just slipped sits on the threshold, and another
        // order of operations decides that tie differently from the reference program.
        let fresh = (stick_time.clone() / dwell.clone()).neg().exp();
        saturated.clone() - (saturated.clone() - initial.clone()) * fresh
    }

    /// Friction: new anchor and stick time.
    fn friction(p: &[Field], s: &[Field], strain: &Field, dt: &Field, gate: &Gate) -> [Field; 2] {
        let (anchor, stick_time) = (&s[0], &s[1]);
        let offset = strain.clone() - anchor.clone();
        let (direction, excess) = gate.excess(&offset, Self::threshold(p, s));
        let slip = gate.open(&excess);
        [
            anchor.clone() + direction * slip.ramp,
            (slip.weight * -1.0 + 1.0) * (stick_time.clone() + dt.clone()),
        ]
    }

    /// exp(−h/τ_i) of branch `i`, counted from 0.
    fn kept(p: &[Field], i: usize, dt: &Field) -> Field {
        (dt.clone() / p[PARAMETERS + 2 * i + 1].clone()).neg().exp()
    }

    /// The new history, given its friction part.
    fn with_friction(
        &self,
        friction: [Field; 2],
        p: &[Field],
        s: &[Field],
        strain: &Field,
        dt: &Field,
        gate: &Gate,
    ) -> Vec<Field> {
        let mut new = friction.to_vec();
        new.extend(self.plasticity(p, s, strain, dt, gate));
        for i in 0..self.branches {
            let lag = s[HISTORY + i].clone() - strain.clone();
            new.push(strain.clone() + lag * Self::kept(p, i, dt));
        }
        new
    }

    /// Plasticity: new plastic strain, accumulated plastic strain, flow time, direction, yield strain.
    fn plasticity(
        &self,
        p: &[Field],
        s: &[Field],
        strain: &Field,
        dt: &Field,
        gate: &Gate,
    ) -> [Field; 5] {
        let (bending, yield_initial, hardening, drop, flow) = (&p[0], &p[5], &p[6], &p[7], &p[8]);
        let [
            plastic,
            accumulated,
            flow_time,
            flow_direction,
            yield_strain,
        ] = [&s[2], &s[3], &s[4], &s[5], &s[6]];
        let (direction, excess) =
            gate.excess(&(strain.clone() - plastic.clone()), yield_strain.clone());
        let yielding = gate.open(&excess);
        let open = &yielding.weight;
        let aged = flow_time.clone() + dt.clone();
        let new_flow_time = match self.timer {
            Timer::Authors => {
                let reset = open.clone() * gate.novelty(&direction, flow_direction);
                aged * (reset * -1.0 + 1.0)
            }
            Timer::Printed => {
                let along = indicator(&(direction.clone() * sign(plastic)));
                aged * (open.clone() * along)
            }
        };
        let relaxed = (new_flow_time.clone() / flow.clone()).neg().exp() * -1.0 + 1.0;
        let modulus = hardening.clone() * (drop.clone() * relaxed * -1.0 + 1.0);
        let flowed = bending.clone() / (bending.clone() + modulus.clone()) * yielding.ramp;
        let new_accumulated = accumulated.clone() + flowed.clone();
        let surface = yield_initial.clone() + new_accumulated.clone() * modulus / bending.clone();
        let new_yield = match self.timer {
            Timer::Authors => surface,
            Timer::Printed => {
                yield_strain.clone() + open.clone() * (surface - yield_strain.clone())
            }
        };
        [
            plastic.clone() + direction.clone() * flowed,
            new_accumulated,
            new_flow_time,
            flow_direction.clone() + open.clone() * (direction - flow_direction.clone()),
            new_yield,
        ]
    }
}

impl Law for TimeDependent {
    fn name(&self) -> &'static str {
        "time_dependent"
    }

    fn parameters(&self) -> Vec<Parameter> {
        let mut list = vec![
            parameter::bending_stiffness(),
            parameter::friction_stiffness(),
            parameter::friction_threshold_initial(),
            parameter::friction_threshold_saturated(),
            parameter::dwell_time(),
            parameter::yield_strain(),
            parameter::hardening_stiffness(),
            parameter::hardening_drop(),
            parameter::flow_time(),
        ];
        for i in 1..=self.branches {
            list.extend([parameter::branch_stiffness(i), parameter::branch_time(i)]);
        }
        list
    }

    /// Friction as in Dahl's law, the rest as in plasticity with hardening, besides what takes time.
    fn determined_by(&self, role: ParameterRole) -> DeterminedBy {
        use ParameterRole::*;
        match role {
            FrictionStiffness | InitialThreshold => Dahl.determined_by(role),
            SaturatedThreshold => DeterminedBy::Slips {
                open_above: "no fold slips after a long dwell; a smaller gap (a sharper fold) would",
                open_below: "every fold slips however long it is held; a wider gap or a KES cycle with a dwell would tell",
            },
            DwellTime => DeterminedBy::Dwells("yarns lock"),
            HardeningDrop | FlowTime => DeterminedBy::Dwells("the flow go on"),
            BranchStiffness | BranchTime => DeterminedBy::Test(
                "readings at two times after the release (15 s and 5 min) would tell",
            ),
            BendingStiffness | YieldStrain | HardeningStiffness => {
                HardeningPlastic.determined_by(role)
            }
        }
    }

    fn history(&self) -> Vec<String> {
        let fixed = [
            "anchor",
            "stick_time",
            "plastic",
            "accumulated_plastic",
            "flow_time",
            "flow_direction",
            "yield_strain",
        ];
        let branches = (1..=self.branches).map(|i| format!("branch_{i}_strain"));
        fixed
            .into_iter()
            .map(String::from)
            .chain(branches)
            .collect()
    }

    fn start(&self, parameters: &[Field], like: &Field) -> Vec<Field> {
        let zero = like.zeros_like();
        let mut history = vec![zero.clone(); HISTORY + self.branches];
        history[6] = zero + parameters[5].clone();
        history
    }

    fn update(
        &self,
        parameters: &[Field],
        history: &[Field],
        strain: &Field,
        dt: &Field,
        gate: &Gate,
    ) -> Vec<Field> {
        let friction = Self::friction(parameters, history, strain, dt, gate);
        self.with_friction(friction, parameters, history, strain, dt, gate)
    }

    fn plastic(&self) -> Option<usize> {
        Some(2)
    }

    fn stress(&self, parameters: &[Field], history: &[Field], strain: &Field) -> Field {
        let elastic = parameters[0].clone() * (strain.clone() - history[2].clone());
        let friction = parameters[1].clone() * (strain.clone() - history[0].clone());
        (0..self.branches).fold(elastic + friction, |sum, i| {
            let stiffness = parameters[PARAMETERS + 2 * i].clone();
            sum + stiffness * (strain.clone() - history[HISTORY + i].clone())
        })
    }

    fn stiffness(&self, parameters: &[Field]) -> Field {
        (0..self.branches).fold(parameters[0].clone() + parameters[1].clone(), |sum, i| {
            sum + parameters[PARAMETERS + 2 * i].clone()
        })
    }

    fn elapse(&self, history: &[Field], seconds: f64) -> Vec<Field> {
        let mut history = history.to_vec();
        history[1] = history[1].clone() + seconds;
        history[4] = history[4].clone() + seconds;
        history
    }

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
    fn release(
        &self,
        parameters: &[Field],
        history: &[Field],
        _: &Field,
        dt: &Field,
        gate: &Gate,
    ) -> (Field, Vec<Field>) {
        let (bending, friction, initial) = (&parameters[0], &parameters[1], &parameters[2]);
        let (anchor, stick_time) = (&history[0], &history[1]);
        let mut slope = bending.clone();
        let mut pull = bending.clone() * history[2].clone();
        for i in 0..self.branches {
            let stiffness = parameters[PARAMETERS + 2 * i].clone() * Self::kept(parameters, i, dt);
            slope = slope + stiffness.clone();
            pull = pull + stiffness * history[HISTORY + i].clone();
        }
        let rest = |anchor: &Field| {
            (pull.clone() + friction.clone() * anchor.clone()) / (slope.clone() + friction.clone())
        };
        let offset = rest(anchor) - anchor.clone();
        let (side, excess) = gate.excess(&offset, Self::threshold(parameters, history));
        let slip = gate.open(&excess).weight;
        let held = side * initial.clone();
        let slide = (pull.clone() - friction.clone() * held.clone()) / slope.clone();
        let anchor = anchor.clone() + slip.clone() * (slide - held - anchor.clone());
        let strain = rest(&anchor);
        let stick_time = (slip * -1.0 + 1.0) * (stick_time.clone() + dt.clone());
        let new = self.with_friction([anchor, stick_time], parameters, history, &strain, dt, gate);
        (strain, new)
    }

    /// The printed timer never sees a held fold flow, so its modulus never falls.
    fn form(&self) -> LawForm {
        let mut base = std::array::from_fn(Source::Parameter);
        if self.timer == Timer::Printed {
            base[7] = Source::Constant(0.0);
        }
        let branch = |i| [0, 1].map(|k| Source::Parameter(PARAMETERS + 2 * i + k));
        LawForm::TimeDependent {
            base,
            spreads: None,
            branches: (0..self.branches).map(branch).collect(),
        }
    }

    fn has_fused_form(&self) -> bool {
        self.timer == Timer::Authors && self.branches == 0
    }
}
