//! What a reference depends on, and where the networks of its case learn from something else.

use serde_json::{Value, json};

use super::{ReferenceJob, Yields};
use crate::{
    files::difference,
    learn::{BodyScene, Garment, LearnCase, LossConfig, Plasticity, Rule, reference::Accuracy},
};

/// Of the numbers in the files: raise it when the numbers of a reference change.
const REFERENCE_VERSION: u32 = 3;

/// More than any hinge can be bent \[rad\].
const NEVER: f64 = 1e3;

/// Everything that the numbers of a reference depend on.
pub(super) fn identity(
    case: &LearnCase,
    scene: &BodyScene,
    (motion, yields): ReferenceJob,
) -> Value {
    let accuracy = Accuracy::default();
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "reference_version": REFERENCE_VERSION,
        "scene": case.scene,
        "grid": case.grid,
        "seed": case.seed,
        "garment": garment(scene),
        "body": body(scene),
        "materials": case.loss.materials,
        "yield": plasticity(case, yields).yield_strain,
        "accuracy": [accuracy.step, accuracy.iterations as f64],
        "seconds": motion.seconds,
        "turns": motion.turns,
        "root": motion.root,
    })
}

/// The garment itself: the same names, grid and seed may one day make another.
fn garment(scene: &BodyScene) -> Value {
    let Garment {
        mesh,
        weights,
        pinned,
        springs,
        ..
    } = &scene.garment;
    let springs: Vec<(usize, f64)> = springs.iter().map(|s| (s.vertex, s.stiffness)).collect();
    json!({
        "positions": mesh.positions,
        "triangles": mesh.triangles,
        "material": mesh.material,
        "material_triangles": mesh.material_triangles,
        "weights": weights,
        "pinned": pinned,
        "springs": springs,
    })
}

fn body(scene: &BodyScene) -> Value {
    let body = &scene.body;
    let joints = body.skeleton.joints().iter();
    let joints: Vec<(Option<usize>, [f64; 3])> = joints.map(|j| (j.parent, j.place)).collect();
    let bones = body.bones.iter();
    let bones: Vec<(usize, [[f64; 3]; 3])> =
        bones.map(|b| (b.joint, [b.from, b.to, b.radii])).collect();
    let skin = body.skin.as_ref().map(|skin| {
        let skin = skin.skin();
        (&skin.rest, &skin.triangles, &skin.weights)
    });
    json!({"joints": joints, "bones": bones, "skin": skin})
}

/// The energy itself, without what a case adds to the loss of the networks.
pub(super) fn energy(case: &LearnCase) -> LossConfig {
    LossConfig {
        materials: case.loss.materials,
        ..LossConfig::default()
    }
}

/// The hard rule, whichever the networks learn from.
pub(super) fn plasticity(case: &LearnCase, yields: Yields) -> Plasticity {
    Plasticity {
        yield_strain: match yields {
            Yields::AsInCase => case.plasticity.yield_strain,
            Yields::Never => NEVER,
        },
        rule: Rule::ReturnMapping,
    }
}

/// Where the networks of a case learn from something else than its reference has: weights, reductions, forms, regressions,
/// the plastic rule; nothing where they do not.
pub(in crate::learn::evaluate) fn other_energy(case: &LearnCase) -> Option<String> {
    let mut plain = energy(case);
    // The frames of a batch do not hear of each other.
    plain.frames = case.loss.frames;
    // What is off has no reduction.
    let regressions = [
        (&mut plain.regression, case.loss.regression),
        (&mut plain.crease_regression, case.loss.crease_regression),
    ];
    for (plain, own) in regressions {
        if own.weight == 0.0 {
            *plain = own;
        }
    }
    let said = |loss: LossConfig, rule: Rule| json!({"loss": loss, "plasticity": {"rule": rule}});
    let own = said(case.loss, case.plasticity.rule);
    let what = difference(&own, &said(plain, Rule::ReturnMapping))?;
    Some(format!(
        "The case trains with another energy or plastic rule than the reference uses, so the errors contain this difference; case against \
         reference: {what}."
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{GravityForm, Reduction};

    type IdentityChange = fn(&mut LearnCase);

    #[test]
    fn what_the_reference_has_not_is_said() {
        let said = |change: IdentityChange| {
            let mut case = LearnCase::default();
            change(&mut case);
            other_energy(&case)
        };
        let same: [IdentityChange; 5] = [
            |_| (),
            |c| c.loss.materials.bending *= 2.0,
            |c| c.loss.frames = Reduction::Sum,
            |c| c.loss.regression.over = Reduction::Sum,
            |c| c.plasticity.yield_strain = 1.0,
        ];
        for (number, change) in same.into_iter().enumerate() {
            assert_eq!(said(change), None, "change {number}");
        }
        let others: [(IdentityChange, &str); 5] = [
            (
                |c| c.loss.bending.weight = 2.0,
                "loss.bending.weight: 2.0 against 1.0.",
            ),
            (
                |c| c.loss.shear.over = Reduction::Mean,
                "loss.shear.over: \"mean\" against \"sum\".",
            ),
            (
                |c| c.loss.forms.gravity = GravityForm::Printed,
                "loss.forms.gravity: \"printed\"",
            ),
            (
                |c| c.loss.crease_regression.weight = 1.0,
                "loss.crease_regression.weight: 1.0 against 0.0.",
            ),
            (
                |c| c.plasticity.rule = Rule::Printed { gain: 10.0 },
                "plasticity.rule: {\"printed\"",
            ),
        ];
        for (change, words) in others {
            let text = said(change).unwrap();
            assert!(text.contains(words), "{words}: {text}");
        }
    }
}
