//! Column names that are not known but look like a measured quantity. Passing them over would lose a
//! gap or a time without a word, so they are refused; names that look like nothing we know are remarks.

use super::{Concept, accepted, columns, concepts};
use crate::error::{Result, bad_input, edit_distance, nearest};

/// How names of spreads begin.
pub(super) const SPREADS: &[&[&str]] = &[
    &["sd"],
    &["std"],
    &["stdev"],
    &["standard", "deviation"],
    &["se"],
    &["sem"],
    &["cv"],
];

/// Words that make a name a remark whatever it begins with, as in `gap_material` or `press_time_note`.
const REMARK_WORDS: &[&str] = &[
    "note",
    "notes",
    "comment",
    "comments",
    "remark",
    "remarks",
    "source",
    "method",
    "material",
    "evidence",
    "device",
    "instrument",
    "operator",
    "side",
    "type",
    "id",
    "name",
    "date",
    "of",
];

/// Shorter names are near to everything.
const SHORTEST_TYPING_ERROR: usize = 5;

/// Refuses an unknown column that looks like a known one.
pub(super) fn check_unknown(name: &str, header: &str) -> Result<()> {
    let Some(concepts) = resembles(name) else {
        return Ok(());
    };
    bad_input(format!(
        "{header}: the column '{name}' is not known; name it {} so that its unit is clear, or 'note_{name}' where it is a remark",
        accepted(&concepts)
    ))
}

/// What the author of `name` may have meant.
fn resembles(name: &str) -> Option<Vec<&'static Concept>> {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let begins =
        |beginning: &&[&str]| words.starts_with(beginning) && !is_remark(&words[beginning.len()..]);
    let matches = concepts().flat_map(|c| c.beginnings().iter().copied().filter(begins));
    if let Some(longest) = matches.map(<[&str]>::len).max() {
        let meant = |c: &&Concept| {
            let mut all = c.beginnings().iter().copied().filter(begins);
            all.any(|beginning| beginning.len() == longest)
        };
        return Some(concepts().filter(meant).collect());
    }
    // Angles have many first names: crease_angle, recovery_angle_deg …
    if words.iter().any(|w| matches!(*w, "angle" | "angles")) && !is_remark(&words) {
        return Some(concepts().filter(|c| c.id == "angle").collect());
    }
    // The same letters with other marks between them, or other capitals.
    let known = || columns().filter(|(c, _)| **c != super::REMARK);
    let letters = |text: &str| {
        text.to_lowercase()
            .replace(|c: char| !c.is_alphanumeric(), "")
    };
    if let Some((same, _)) = known().find(|(_, c)| letters(c.name) == letters(name)) {
        return Some(vec![same]);
    }
    let near = nearest(name, known().map(|(_, c)| c.name))?;
    let length = name.chars().count();
    let allowed = if length < 8 { 1 } else { 2 };
    if length < SHORTEST_TYPING_ERROR || edit_distance(name, near) > allowed {
        return None;
    }
    known()
        .find(|(_, c)| c.name == near)
        .map(|(concept, _)| vec![concept])
}

fn is_remark(words: &[&str]) -> bool {
    words.iter().any(|word| REMARK_WORDS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_like_known_ones_are_refused_and_others_are_remarks() {
        for (name, remedy) in [
            ("angle", "angle_deg, angle_rad or recovery_pct"),
            ("angle_degrees", "angle_deg"),
            ("Angle_Deg", "angle_deg"),
            ("angel_deg", "angle_deg"),
            ("angle (deg)", "angle_deg"),
            ("crease_angle_deg", "angle_deg"),
            ("recovery", "recovery_pct"),
            ("recovery_percent", "recovery_pct"),
            ("press_time", "press_time_s, press_time_min or press_time_h"),
            ("press_time_minutes", "press_time_min"),
            ("pres_time_s", "press_time_s"),
            ("PressTime(s)", "press_time_s"),
            ("recovery_time", "recovery_time_h"),
            ("time_s", "recovery_time_s"),
            ("gap", "gap_mm, gap_cm or gap_m"),
            ("gap_um", "gap_mm"),
            ("thickness", "thickness_mm"),
            ("sd", "sd_deg"),
            ("stdev_deg", "sd_deg"),
            ("B", "B_gf_cm2_per_cm"),
            ("2HB", "2HB_Nm_per_m"),
            ("dwell_min", "dwell_s"),
            ("moment", "moment_gf_cm_per_cm"),
            ("N", "name it n so"),
            ("n_specimens", "name it n so"),
            ("Fabric", "name it fabric so"),
            ("directoin", "name it direction so"),
        ] {
            let error = check_unknown(name, "t line 1").unwrap_err().to_string();
            assert!(
                error.contains(&format!("t line 1: the column '{name}'")),
                "{error}"
            );
            assert!(error.contains(remedy), "{error}");
        }
        for name in [
            "operator",
            "lab",
            "drape_pct",
            "weight",
            "batch",
            "brand",
            "standard",
            "pressure_kPa",
            "gap_material",
            "note_angle",
            "time_of_day",
            "fabric_id",
            "weave",
            "yarn_tex",
            "force_N",
            "temp_c",
            "machine",
            "",
        ] {
            assert!(check_unknown(name, "t line 1").is_ok(), "{name}");
        }
    }
}
