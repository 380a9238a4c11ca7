//! What a law is, for computations that know its formulas.

/// What a law is, for computations that know its formulas. One is made for each call, so its size does not matter.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum LawForm {
    /// The time-dependent law or a special case of it.
    TimeDependent {
        /// Its nine parameters.
        base: [Source; 9],
        /// Spreads of the friction times, the friction thresholds and the flow times over the yarns, where the law has a
        /// population of them.
        spreads: Option<[Source; 3]>,
        /// Stiffness and time of every relaxation branch.
        branches: Vec<[Source; 2]>,
    },
    /// Dahl's friction; its parameters in their order.
    Dahl,
}

impl LawForm {
    /// Whether whole folds have a closed form: one yarn and no relaxation branches.
    pub(crate) fn has_closed_form(&self) -> bool {
        match self {
            LawForm::TimeDependent {
                spreads, branches, ..
            } => spreads.is_none() && branches.is_empty(),
            LawForm::Dahl => false,
        }
    }

    /// Whether the creep of a whole fold is taken in steps, which takes longer.
    pub(crate) fn has_branches(&self) -> bool {
        match self {
            LawForm::TimeDependent { branches, .. } => !branches.is_empty(),
            LawForm::Dahl => false,
        }
    }

    /// A law with one yarn and no branches.
    pub(super) fn special_case(base: [Source; 9]) -> LawForm {
        LawForm::TimeDependent {
            base,
            spreads: None,
            branches: Vec::new(),
        }
    }
}

/// Where the time-dependent law's parameter comes from in a law that is a special case of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Source {
    /// A parameter of the special case, by its place.
    Parameter(usize),
    /// The same for every fabric.
    Constant(f64),
}

impl Source {
    /// The number, given the special case's parameters.
    pub(crate) fn value(self, parameters: &[f64]) -> f64 {
        match self {
            Source::Parameter(p) => parameters[p],
            Source::Constant(value) => value,
        }
    }

    /// A yield strain, a threshold or a time that nothing reaches.
    pub(super) const NEVER: Source = Source::Constant(1e30);
    pub(super) const NONE: Source = Source::Constant(0.0);

    /// A law without friction: rigidity, yield strain, hardening.
    pub(super) fn without_friction(yields: Source, hardening: Source) -> [Source; 9] {
        let (never, none) = (Source::NEVER, Source::NONE);
        [
            Source::Parameter(0),
            none,
            never,
            never,
            never,
            yields,
            hardening,
            none,
            never,
        ]
    }
}
