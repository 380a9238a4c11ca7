//! What data files leave out, and how tests are simulated: the sections `tests` and `twist` of a case. Every test
//! declares its own settings ([`super::Test::declared`]); reading, writing and schema follow from that.

use serde_json::{Map, Value, json};

use super::{CaseSection, TESTS, TwistTest};
use crate::{
    error::{Result, bad_input},
    files::json::JsonObject,
};

/// A setting as a test declares it, a field of `T`.
pub(crate) struct Setting<T: 'static = TestSettings> {
    /// Its name in files.
    pub key: &'static str,
    /// What it is, with its unit and with what it is where it is absent.
    pub meaning: &'static str,
    /// What it can be.
    pub kind: SettingKind,
    /// Its value in the unit of the key; none where it is not written.
    pub get: fn(&T) -> Option<f64>,
    /// Sets it to a value in the unit of the key.
    pub set: fn(&mut T, f64),
    /// Why a value does not go with the settings before it, where it does not.
    pub refuse: fn(&T, f64) -> Option<&'static str>,
}

/// What a setting can be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SettingKind {
    /// A number in a range.
    Number(f64, f64),
    /// A whole number in a range.
    Whole(f64, f64),
    /// One of a few words; the value is its place among them.
    Word(&'static [&'static str]),
}

impl<T> Setting<T> {
    /// A number in a range.
    pub(crate) const fn number(
        key: &'static str,
        (low, high): (f64, f64),
        meaning: &'static str,
        get: fn(&T) -> Option<f64>,
        set: fn(&mut T, f64),
    ) -> Setting<T> {
        Setting {
            key,
            meaning,
            kind: SettingKind::Number(low, high),
            get,
            set,
            refuse: |_, _| None,
        }
    }

    /// A whole number in a range.
    pub(crate) const fn whole(
        key: &'static str,
        (low, high): (f64, f64),
        meaning: &'static str,
        get: fn(&T) -> Option<f64>,
        set: fn(&mut T, f64),
    ) -> Setting<T> {
        Setting {
            kind: SettingKind::Whole(low, high),
            ..Setting::number(key, (low, high), meaning, get, set)
        }
    }

    /// Reads it from a section of a file, where it is there.
    pub(super) fn read(&self, place: &str, section: &JsonObject, target: &mut T) -> Result<()> {
        let value = match self.kind {
            SettingKind::Number(low, high) => section.optional_number(self.key, (low, high))?,
            SettingKind::Whole(low, high) => {
                section.whole(self.key, (low, high))?.map(|v| v as f64)
            }
            SettingKind::Word(words) => {
                let word = section.optional_choice(self.key, words)?;
                word.and_then(|word| words.iter().position(|w| *w == word).map(|i| i as f64))
            }
        };
        let Some(value) = value else {
            return Ok(());
        };
        if let Some(why) = (self.refuse)(target, value) {
            let field = section.field(self.key);
            return bad_input(format!("{place}: {field} = {value} {why}"));
        }
        (self.set)(target, value);
        Ok(())
    }

    /// Its value as it is written; none where it is not.
    pub(super) fn written(&self, from: &T) -> Option<Value> {
        let value = (self.get)(from)?;
        Some(match self.kind {
            SettingKind::Number(..) => json!(value),
            SettingKind::Whole(..) => json!(value as usize),
            SettingKind::Word(words) => json!(words[value as usize]),
        })
    }

    /// Its JSON schema; `bound` says whether 0 is allowed.
    pub(super) fn schema(&self, bound: &str) -> Value {
        let kind = match self.kind {
            SettingKind::Word(words) => {
                return json!({ "enum": words, "description": self.meaning });
            }
            SettingKind::Whole(..) => "integer",
            SettingKind::Number(..) => "number",
        };
        json!({ "type": kind, bound: 0, "description": self.meaning })
    }
}

/// What is folded in a simulated recovery test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Specimen {
    /// Independent hinges: [`super::CreaseTest`].
    Hinges,
    /// A strip mesh with inertia and membrane: [`super::StripTest`].
    StripMesh,
}

impl Specimen {
    /// Their names in files.
    pub const NAMES: [&'static str; 2] = ["hinges", "strip_mesh"];
}

/// What data files leave out, and how tests are simulated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestSettings {
    /// What is folded in a recovery test.
    pub specimen: Specimen,
    /// Cells along the fold of a strip mesh.
    pub strip_cells: usize,
    /// Hinges along a fold; chosen to suit the law where none are given.
    pub hinges: Option<usize>,
    /// Gap where a file gives none \[mm\].
    pub gap_mm: Option<f64>,
    /// Pressing time where a file gives none \[s\].
    pub press_s: f64,
    /// Reading time where a file gives none \[s\].
    pub read_s: f64,
    /// Standard deviation of an angle where a file gives none \[degrees\].
    pub sd_deg: f64,
    /// Standard deviation of B and 2HB where a file gives none, as a share of the value.
    pub bending_sd_share: f64,
    /// Standard deviation of a loop's moments where a file gives none, as a share of the largest.
    pub moment_sd_share: f64,
    /// Largest curvature of a bending cycle that gives B and 2HB \[1/m\].
    pub max_curvature_per_m: f64,
    /// Speed of a bending cycle \[1/(m·s)\].
    pub rate_per_m_s: f64,
    /// Mass per area of the fabric where a file gives none \[g/m²\].
    pub areal_density: Option<f64>,
    /// The cylinder whose torque was measured.
    pub twist: Option<TwistTest>,
}

impl Default for TestSettings {
    fn default() -> Self {
        TestSettings {
            specimen: Specimen::Hinges,
            // Hinge after hinge slips: an angle jumps by about 4° a pair of them.
            strip_cells: 32,
            hinges: None,
            gap_mm: None,
            // ISO 2313 presses and waits for five minutes.
            press_s: 300.0,
            read_s: 300.0,
            // A good test spreads by 2 to 3°.
            sd_deg: 2.5,
            bending_sd_share: 0.05,
            moment_sd_share: 0.02,
            max_curvature_per_m: 250.0,
            rate_per_m_s: 50.0,
            areal_density: None,
            twist: None,
        }
    }
}

impl TestSettings {
    fn declared() -> impl Iterator<Item = &'static Setting> {
        TESTS.iter().flat_map(|test| test.declared())
    }

    /// Reads the sections `tests` and `twist` of a case, the contents of a JSON file; `place` is named in messages.
    pub fn read(place: &str, case: &Value) -> Result<TestSettings> {
        let mut settings = TestSettings {
            twist: TwistTest::read(place, case)?,
            ..TestSettings::default()
        };
        if let Some(value) = case.get("tests") {
            let section = JsonObject::new(place, "tests", value)?;
            let keys: Vec<&str> = TestSettings::declared().map(|s| s.key).collect();
            section.known(&keys)?;
            for setting in TestSettings::declared() {
                setting.read(place, &section, &mut settings)?;
            }
        }
        Ok(settings)
    }

    /// Writes the sections into a case.
    pub(crate) fn write(&self, case: &mut Value) {
        let fields = TestSettings::declared();
        let fields = fields.filter_map(|s| Some((s.key.to_string(), s.written(self)?)));
        case["tests"] = Value::Object(Map::from_iter(fields));
        if let Some(twist) = &self.twist {
            case["twist"] = twist.to_json();
        }
    }

    /// The sections of a case that single tests declare.
    pub(crate) fn sections() -> impl Iterator<Item = CaseSection> {
        TESTS.iter().filter_map(|test| test.section())
    }

    /// JSON schema of the section `tests`.
    pub(crate) fn schema() -> Value {
        let fields = TestSettings::declared().map(|s| (s.key.to_string(), s.schema("minimum")));
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": Map::from_iter(fields),
        })
    }
}
