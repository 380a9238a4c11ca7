//! Presets: paper 1's tables, and fabrics built from KES measurements.

use super::{LawName, Material, StrainMeasure};
use crate::error::{Result, unknown};

/// One row of paper 1's Tables 2 and 3: density, 3K_b, K11, K22, K12, K33, 3K_friction, ε_0, ε_inf,
/// τ_f, K_H0, g, τ_p, ε_Y0. Stiffnesses in SI units, thresholds in radians.
type PaperRow = (&'static str, [f64; 14]);

const TABLE_2: [PaperRow; 3] = [
    (
        "cotton",
        [
            0.06, 5e-6, 50.0, 50.0, 0.2, 30.0, 1e-5, 0.1, 1.7, 30.0, 5e-6, 0.99, 30.0, 1.8,
        ],
    ),
    (
        "denim",
        [
            0.25, 1.2e-4, 100.0, 100.0, 0.2, 20.0, 5e-5, 0.1, 1.8, 30.0, 1.2e-4, 0.99, 30.0, 2.0,
        ],
    ),
    (
        "polyester",
        [
            0.18, 1.2e-4, 50.0, 50.0, 0.2, 30.0, 1e-7, 0.01, 0.1, 30.0, 1.2e-4, 0.99, 30.0, 3.0,
        ],
    ),
];

const TABLE_3: [PaperRow; 3] = [
    (
        "cotton trousers",
        [
            0.1, 1e-6, 200.0, 200.0, 0.2, 20.0, 4e-6, 0.1, 1.2, 30.0, 1e-6, 0.99, 30.0, 1.5,
        ],
    ),
    (
        "denim trousers",
        [
            0.2, 3e-5, 200.0, 200.0, 0.2, 150.0, 6e-5, 0.2, 1.2, 30.0, 3e-5, 0.99, 30.0, 1.2,
        ],
    ),
    (
        "polyester trousers",
        [
            0.15, 1e-6, 100.0, 100.0, 0.2, 20.0, 7e-7, 0.1, 0.1, 30.0, 1e-6, 0.99, 30.0, 3.1,
        ],
    ),
];

/// Fabric, B \[N·m\], 2HB \[N·m/m\], weight \[kg/m²\], thickness \[mm\].
const KES: [(&str, f64, f64, f64, f64); 4] = [
    ("cotton broad", 1.157e-5, 1.216e-3, 0.1238, 0.497),
    ("wool tropical", 6.57e-6, 3.24e-4, 0.1629, 0.407),
    ("polyester tropical", 7.55e-6, 2.84e-4, 0.1165, 0.340),
    ("polyester faille", 1.86e-6, 6.9e-5, 0.1043, 0.226),
];

impl Material {
    /// All presets, in the order in which they are listed.
    pub fn presets() -> Vec<Material> {
        let paper = |rows: &[PaperRow], table: u8| -> Vec<Material> {
            rows.iter().map(|row| from_paper(row, table)).collect()
        };
        let mut list: Vec<Material> = KES.into_iter().map(from_kes).collect();
        list.extend(paper(&TABLE_2, 2));
        list.extend(paper(&TABLE_3, 3));
        list
    }

    /// The preset of that name; case, spaces, hyphens and underscores do not matter.
    pub fn preset(name: &str) -> Result<Material> {
        let plain = |text: &str| text.to_lowercase().replace(['-', '_'], " ");
        let list = Material::presets();
        let names: Vec<&str> = list.iter().map(|m| m.name.as_str()).collect();
        match names.iter().position(|n| *n == plain(name)) {
            Some(i) => Ok(list[i].clone()),
            None => Err(unknown("preset", name, &names)),
        }
    }
}

fn parameters(values: [f64; 9]) -> Vec<(String, f64)> {
    super::format::PLACES
        .iter()
        .map(|p| (p.parameter)().name)
        .zip(values)
        .collect()
}

fn from_paper((name, row): &PaperRow, table: u8) -> Material {
    let [
        density,
        bending,
        warp,
        weft,
        coupling,
        shear,
        friction,
        initial,
        saturated,
        dwell,
        hardening,
        drop,
        flow,
        yields,
    ] = *row;
    let mut notes = vec![
        "thresholds are dihedral angles in radians of the paper's own meshes; give --hinge-height-mm to use them in curvature".into(),
        "the paper prints 3·K_b and 3·K_friction; here all stiffnesses are divided by 3, K_H0 too, since only K_H0/K_b acts".into(),
        "chosen by the authors for looks, not measured".into(),
    ];
    if yields >= 3.0 {
        notes.push(format!("yield at {yields} rad: no fold below that yields"));
    }
    Material {
        name: name.to_string(),
        strain: StrainMeasure::Angle,
        law: LawName::TimeDependent,
        parameters: parameters([
            bending / 3.0,
            friction / 3.0,
            initial,
            saturated,
            dwell,
            yields,
            hardening / 3.0,
            drop,
            flow,
        ]),
        relaxation: Vec::new(),
        membrane: Some([warp, weft, coupling, shear]),
        density: Some(density),
        notes,
        sources: vec![format!(
            "Gong et al. 2025, time-dependent persistent wrinkles, Appendix C, Table {table}"
        )],
    }
}

/// Ratio K_f/K_b assumed where a KES sheet gives only B and 2HB: paper 1's cotton.
const ASSUMED_FRICTION_RATIO: f64 = 2.0;
/// ε_inf and ε_Y0 \[1/m\] assumed for want of data: reached in folds tighter than about 2.7 mm.
const ASSUMED_THRESHOLD: f64 = 900.0;
/// τ_f and τ_p \[s\] assumed for want of data: creasing grows over the first five to ten minutes of load
/// (nine fabrics, JIS method). With paper 1's 30 s yarns would lock during the KES cycle itself, and the
/// simulated loop would no longer show the measured B.
const ASSUMED_TIME: f64 = 300.0;

fn from_kes(
    (name, rigidity, hysteresis, density, thickness): (&str, f64, f64, f64, f64),
) -> Material {
    let friction = ASSUMED_FRICTION_RATIO * rigidity;
    Material {
        name: name.to_string(),
        strain: StrainMeasure::Curvature,
        law: LawName::TimeDependent,
        parameters: parameters([
            rigidity,
            friction,
            0.5 * hysteresis / friction,
            ASSUMED_THRESHOLD,
            ASSUMED_TIME,
            ASSUMED_THRESHOLD,
            rigidity,
            0.99,
            ASSUMED_TIME,
        ]),
        relaxation: Vec::new(),
        membrane: None,
        density: Some(density),
        notes: vec![
            format!("measured: B = {rigidity} N·m is bending_stiffness; 2HB = {hysteresis} N·m/m fixes the product friction_stiffness·friction_threshold_initial; density; thickness {thickness} mm"),
            "assumed: friction_stiffness = 2·bending_stiffness (a loop's slope after reversal would measure it)".into(),
            "assumed: saturated threshold, yield, hardening and both times (no dwell and no recovery data); hardening_drop and the ratio of hardening to bending as in paper 1".into(),
        ],
        sources: vec![
            "B, 2HB, weight, thickness: Matsudaira et al. 2015, J. Text. Eng. 61(6), Table 1, seen in a transcription".into(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_survives_its_own_file() {
        for preset in Material::presets() {
            let text = preset.to_json().to_string();
            let again = Material::parse(&text, "preset").expect("a preset must be valid");
            assert_eq!(again, preset);
        }
        assert_eq!(Material::presets().len(), 10);
    }

    #[test]
    fn names_are_forgiving() {
        assert_eq!(
            Material::preset("Cotton-Broad").unwrap().name,
            "cotton broad"
        );
        assert!(
            Material::preset("coton")
                .unwrap_err()
                .to_string()
                .contains("'cotton'")
        );
    }
}
