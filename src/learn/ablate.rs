//! The ablations of paper 2 that fit: named cases that differ from a given one in one thing.

mod judge;
mod train;

pub(crate) use judge::{AblationOptions, Ablations, ablate};
pub(crate) use judge::{AblationRow, REMEDY};
pub(crate) use train::Watchers;

use super::{LearnCase, RestBending, Rule, network::PlasticKind};
use crate::error::{Result, unknown};

/// A case with a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variant {
    /// For options and tables.
    pub name: String,
    /// What is different.
    pub about: String,
    /// What is trained.
    pub case: LearnCase,
    /// The first variant that is trained in the same way, but perhaps for another number of cycles; both share its
    /// folder.
    pub home: String,
}

/// Name of the case itself.
pub(crate) const CASE: &str = "case";
/// Name of the baseline without rest bending.
pub(crate) const ZERO: &str = "zero";

/// k_p of the printed rule \[1/rad\].
const PRINTED_GAIN: f64 = 10.0;
/// Weight of the two extra losses \[J/rad²\]: as a mean over hinges about twice all bending, whose k_b·l²/(8a)
/// add up to some 0.4 J/rad² on the sleeve. The weight in the released program is not known.
const REGRESSION: f64 = 1.0;
/// Most cycles of the ablation.
const CYCLES: usize = 6;
/// Yield angles \[deg\] and strains \[rad\], rounded as the paper rounds the first.
const YIELDS: [(u32, f64); 3] = [(30, 0.52), (60, 1.05), (90, 1.57)];

/// All ablations of a case; the case itself comes first.
pub(crate) fn variants(case: &LearnCase) -> Vec<Variant> {
    let mut all: Vec<Variant> = Vec::new();
    let mut add = |name: String, about: String, change: &dyn Fn(&mut LearnCase)| {
        let mut changed = case.clone();
        change(&mut changed);
        let same = |v: &&Variant| {
            LearnCase {
                cycles: changed.cycles,
                ..v.case.clone()
            } == changed
        };
        let home = all
            .iter()
            .find(same)
            .map_or(name.clone(), |v| v.home.clone());
        all.push(Variant {
            name,
            about,
            case: changed,
            home,
        });
    };
    add(CASE.into(), "as given".into(), &|_| ());
    add(ZERO.into(), "E-Net alone, no rest bending".into(), &|c| {
        c.rest_bending = RestBending::None;
    });
    for steps in 1..=3 {
        let about = format!("P-Net with {steps} steps of messages");
        add(format!("graph{steps}"), about, &|c| {
            c.plastic_net = PlasticKind::Graph(steps);
        });
    }
    add(
        "rnn".into(),
        "P-Net as an RNN, hinge by hinge".into(),
        &|c| {
            c.plastic_net = PlasticKind::Rnn;
        },
    );
    add(
        "lstm".into(),
        "P-Net as an LSTM, hinge by hinge".into(),
        &|c| {
            c.plastic_net = PlasticKind::Lstm;
        },
    );
    for (degrees, strain) in YIELDS {
        let about = format!("yield at {strain} rad");
        add(format!("yield{degrees}"), about, &|c| {
            c.plasticity.yield_strain = strain;
        });
    }
    for cycles in 1..=CYCLES {
        add(
            format!("cycles{cycles}"),
            format!("{cycles} cycles"),
            &|c| {
                c.cycles = cycles;
            },
        );
    }
    let about = format!("angles pulled to the rest bending, weight {REGRESSION}");
    add("regression".into(), format!("{about}, all hinges"), &|c| {
        c.loss.regression.weight = REGRESSION;
    });
    add(
        "crease_regression".into(),
        format!("{about}, creased hinges"),
        &|c| {
            c.loss.crease_regression.weight = REGRESSION;
        },
    );
    add("regressions".into(), format!("{about}, both ways"), &|c| {
        c.loss.regression.weight = REGRESSION;
        c.loss.crease_regression.weight = REGRESSION;
    });
    add(
        "once".into(),
        "rest bending changes once a cycle, as in paper 2".into(),
        &|c| {
            c.training.renew = false;
        },
    );
    add(
        "gradient".into(),
        "E-Net along the plain gradient of the loss, as in paper 2".into(),
        &|c| {
            c.training.minimiser_steps = 0;
        },
    );
    add(
        "printed".into(),
        "plastic rule as printed, which drifts".into(),
        &|c| {
            c.plasticity.rule = Rule::Printed { gain: PRINTED_GAIN };
        },
    );
    all
}

/// Those that are named, in the order of [`variants`]; all for no name.
pub(crate) fn choose(case: &LearnCase, names: &[String]) -> Result<Vec<Variant>> {
    let all = variants(case);
    let known: Vec<&str> = all.iter().map(|v| v.name.as_str()).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(&n.as_str())) {
        return Err(unknown("ablation", name, &known));
    }
    let wanted = |v: &Variant| names.is_empty() || names.contains(&v.name);
    Ok(all.clone().into_iter().filter(wanted).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_trained_in_the_same_way_shares_a_folder() {
        let all = variants(&LearnCase::default());
        let home = |name: &str| {
            let found = all.iter().find(|v| v.name == name).unwrap();
            found.home.as_str()
        };
        // The default has three steps of messages and yields at 30°.
        for name in ["case", "graph3", "yield30", "cycles1", "cycles6"] {
            assert_eq!(home(name), "case", "{name}");
        }
        let different = all.iter().filter(|v| v.home == v.name).count();
        assert_eq!(
            different,
            all.len() - 8,
            "graph3, yield30 and six numbers of cycles"
        );
        assert_eq!(home("yield60"), "yield60");
    }

    #[test]
    fn the_extra_losses_are_on_one_by_one_and_together() {
        let all = variants(&LearnCase::default());
        for (name, weights) in [
            ("case", [0.0, 0.0]),
            ("regression", [REGRESSION, 0.0]),
            ("crease_regression", [0.0, REGRESSION]),
            ("regressions", [REGRESSION, REGRESSION]),
        ] {
            let found = all.iter().find(|v| v.name == name).unwrap();
            let loss = &found.case.loss;
            let found_weights = [loss.regression.weight, loss.crease_regression.weight];
            assert_eq!((found_weights, found.home.as_str()), (weights, name));
        }
    }

    #[test]
    fn unknown_names_are_refused_with_their_neighbour() {
        let names = ["zero".to_string(), "grph2".to_string()];
        let error = choose(&LearnCase::default(), &names)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("'grph2'") && error.contains("'graph2'"),
            "{error}"
        );
    }
}
