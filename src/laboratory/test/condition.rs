//! A reading of a test with its settings.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use super::Test;

/// One reading of a test, with all that decides its value. In SI units.
#[derive(Clone, Copy)]
pub struct Condition {
    /// The test.
    pub(crate) test: &'static dyn Test,
    /// Which of the test's readings it is. The test numbers them.
    pub(crate) reading: usize,
    /// Settings of the test, in the order that the test chooses. A setting that a data file leaves out is NaN until
    /// `Test::complete` fills it in.
    pub(crate) numbers: [f64; 4],
}

impl PartialEq for Condition {
    /// Bit by bit, so that open settings are equal to each other.
    fn eq(&self, other: &Self) -> bool {
        let bits = |c: &Condition| c.numbers.map(|x| (x + 0.0).to_bits());
        (self.test.name(), self.reading, bits(self))
            == (other.test.name(), other.reading, bits(other))
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{} {} {:?}",
            self.test.name(),
            self.reading,
            self.numbers
        )
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Condition", 3)?;
        fields.serialize_field("test", self.test.name())?;
        fields.serialize_field("reading", &self.reading)?;
        fields.serialize_field("numbers", &self.numbers)?;
        fields.end()
    }
}

impl Condition {
    /// How long the specimen is held \[s\].
    pub fn held(&self) -> f64 {
        self.test.held(self)
    }

    /// A setting by its name in results, such as `gap_mm`.
    pub fn setting(&self, name: &str) -> Option<f64> {
        let settings = self.test.settings(self);
        settings.iter().find(|s| s.0 == name).map(|s| s.1)
    }
}
