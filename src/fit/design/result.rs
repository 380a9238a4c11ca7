//! What a design found: the contents of `design.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Criterion, Design, Gain, candidate::rigidity_is_assumed};
use crate::{laboratory::TESTS, material::StrainMeasure};

/// Candidates, a plan, and what it would do to the error bars.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DesignResult {
    pub name: String,
    /// Whether the fit is of synthetic data.
    pub synthetic: bool,
    /// What the plan makes small: `d` or `a`.
    pub criterion: Criterion,
    /// What a reader should know.
    pub notes: Vec<String>,
    /// All that could be measured, best first.
    pub candidates: Vec<CandidateResult>,
    /// What to measure, in order.
    pub plan: Vec<StepResult>,
    /// Free parameters with their errors now and after the plan.
    pub parameters: Vec<ParameterForecast>,
}

/// A measurement and what it alone would teach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateResult {
    /// Place by the criterion, from 1.
    pub rank: usize,
    /// In words.
    pub measurement: String,
    /// Fabric and direction.
    pub group: String,
    /// Kind of its readings, such as `crease` or `kes_loop`.
    pub test: String,
    /// Gap of the fold \[mm\].
    pub gap_mm: Option<f64>,
    /// Pressing time, or dwell at the reversal \[s\].
    pub press_s: f64,
    /// Reading time after the release \[s\].
    pub read_s: Option<f64>,
    /// Further settings that all its readings share, such as `angle_deg`.
    #[serde(flatten)]
    pub settings: BTreeMap<String, f64>,
    /// How many numbers it gives.
    pub readings: usize,
    /// Their standard deviation, in the unit of the readings.
    pub sd: f64,
    /// The angle that the fitted law expects \[degrees\].
    pub expected_deg: Option<f64>,
    /// D: expected information \[bits\].
    pub bits: f64,
    /// A: share of the sum of the parameters' relative variances that would go.
    pub variance_cut: f64,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepResult {
    /// From 1.
    pub step: usize,
    /// In words.
    pub measurement: String,
    pub rank: usize,
    /// What it adds to the steps before \[bits\].
    pub bits: f64,
    /// Share of the variance that the steps before leave and this one takes.
    pub variance_cut: f64,
}

/// A parameter and how well it will be known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ParameterForecast {
    pub name: String,
    pub unit: String,
    /// Value at the optimum.
    pub value: f64,
    /// Whether the fit's profile determines it now; where not, the error before is that of the box.
    pub determined: bool,
    /// Standard error now and after each step of the plan.
    pub std_errors: Vec<f64>,
}

impl CandidateResult {
    /// A setting by its name.
    pub(crate) fn setting(&self, name: &str) -> Option<f64> {
        match name {
            "gap_mm" => self.gap_mm,
            "press_s" => Some(self.press_s),
            "read_s" => self.read_s,
            other => self.settings.get(other).copied(),
        }
    }
}

impl Design<'_> {
    /// Ranks, plans and forecasts. `determined[k]` is whether the fit determines unknown k.
    pub(crate) fn result(
        &self,
        criterion: Criterion,
        budget: usize,
        determined: &[bool],
    ) -> DesignResult {
        let gains = self.ranking();
        let mut order: Vec<usize> = (0..gains.len()).collect();
        order.sort_by(|&a, &b| gains[b].by(criterion).total_cmp(&gains[a].by(criterion)));
        let mut ranks = vec![0; order.len()];
        for (place, &candidate) in order.iter().enumerate() {
            ranks[candidate] = place + 1;
        }
        let plan = self.plan(criterion, budget);
        let mut errors = vec![self.errors(&self.after(&[]))];
        errors.extend(plan.iter().map(|choice| choice.errors.clone()));
        let step = |(i, choice): (usize, &super::Choice)| StepResult {
            step: i + 1,
            measurement: self.words(choice.candidate),
            rank: ranks[choice.candidate],
            bits: choice.gain.bits,
            variance_cut: choice.gain.variance_cut,
        };
        DesignResult {
            name: self.fit.case.name.clone(),
            synthetic: self.fit.data.synthetic,
            criterion,
            notes: self.notes(),
            candidates: order
                .iter()
                .map(|&c| self.candidate_result(c, ranks[c], gains[c]))
                .collect(),
            plan: plan.iter().enumerate().map(step).collect(),
            parameters: self.forecasts(&errors, determined),
        }
    }

    fn forecasts(&self, errors: &[Vec<f64>], determined: &[bool]) -> Vec<ParameterForecast> {
        let problem = &self.fit.problem;
        let law = problem.law().parameters();
        let unknowns = problem.unknowns.iter().enumerate();
        let forecast = |(k, unknown): (usize, &crate::fit::problem::Unknown)| ParameterForecast {
            name: unknown.name.clone(),
            unit: law[unknown.parameter]
                .dimension
                .unit(StrainMeasure::Curvature)
                .into(),
            value: problem.parameter(k, &self.optimum.point).0,
            determined: determined.get(k).copied().unwrap_or(true),
            std_errors: errors.iter().map(|of_step| of_step[k]).collect(),
        };
        unknowns.map(forecast).collect()
    }

    fn candidate_result(&self, candidate: usize, rank: usize, gain: Gain) -> CandidateResult {
        let one = &self.candidates[candidate];
        let first = one.first();
        let own = ["gap_mm", "press_s", "read_s"];
        let all = first.test.settings(first).into_iter();
        let shared = all.filter(|(name, value)| {
            let mut readings = one.conditions.iter();
            !own.contains(name) && readings.all(|c| c.setting(name) == Some(*value))
        });
        let is_angle = first.test.quantity(first).is_none();
        CandidateResult {
            rank,
            measurement: self.words(candidate),
            group: self.fit.data.groups[one.group].clone(),
            test: first.test.kind(first).into(),
            gap_mm: first.setting("gap_mm"),
            press_s: first.held(),
            read_s: first.setting("read_s"),
            settings: shared.map(|(name, value)| (name.into(), value)).collect(),
            readings: one.expected.len(),
            sd: one.sd,
            expected_deg: one.expected.first().copied().filter(|_| is_angle),
            bits: gain.bits,
            variance_cut: gain.variance_cut,
        }
    }

    fn words(&self, candidate: usize) -> String {
        let one = &self.candidates[candidate];
        let what = one.first().test.measurement(one.first());
        match self.fit.data.groups.len() {
            1 => what,
            _ => format!("{}: {what}", self.fit.data.groups[one.group]),
        }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Predicted from the Fisher information at the optimum: as good as the fit's standard errors.".to_string(),
        ];
        for test in TESTS {
            let mut candidates = self.candidates.iter();
            if candidates.any(|one| one.first().test.name() == test.name()) {
                notes.push(test.planned().into());
            }
        }
        if rigidity_is_assumed(self.fit) {
            notes.push("The bending stiffness is assumed, so only the shape of a KES loop counts, not its size.".into());
        }
        notes
    }
}
